"""Timings of whole operations; `README.md` lists the commands."""
