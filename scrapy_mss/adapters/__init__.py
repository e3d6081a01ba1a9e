"""The extractor with the interfaces of other programs, one module for each."""
