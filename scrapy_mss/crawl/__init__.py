"""Shared by the components of a crawl: life cycle, training, reading pages, worker processes."""
