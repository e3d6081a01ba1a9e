"""Where a crawl keeps what must last: a folder with an SQLite database, or a Redis server."""
