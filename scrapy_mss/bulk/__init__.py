"""Extracts whole archives: read in pieces, extracted by processes, written as Parquet parts."""
