"""Sphinx: Markdown pages, and the version of the installed package."""

from importlib.metadata import version as installed_version

project = "scrapy-mss"
author = "scrapy-mss contributors"
project_copyright = f"2026, {author}"
release = version = installed_version("scrapy-mss")

extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"scrapy-mss {release}"
