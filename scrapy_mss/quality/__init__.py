"""How well each site is read, by day: counts that add up, what has fallen, a page of them."""
