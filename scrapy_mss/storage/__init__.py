"""Where a crawl keeps what must last: SQLite files or a Redis server."""
