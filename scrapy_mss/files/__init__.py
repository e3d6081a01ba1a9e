"""Files: Parquet, WARC, stored pages, encodings."""
