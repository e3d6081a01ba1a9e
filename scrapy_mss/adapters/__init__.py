"""The extractor in the form that other programs take: each module is for one of them."""
