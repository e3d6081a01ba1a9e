"""Extraction quality of each site by day: additive counts, what has declined, and a report."""
