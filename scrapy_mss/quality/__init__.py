"""Extraction quality of each site by day: additive counts, what has fallen, and a report."""
