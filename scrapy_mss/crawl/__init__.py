"""What the components of a crawl share: life cycle, training, reading pages, worker processes."""
