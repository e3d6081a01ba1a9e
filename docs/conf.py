"""Sphinx: Markdown pages, reference from the docstrings, version from the installed package."""

from importlib.metadata import version as installed_version

project = "scrapy-mss"
author = "scrapy-mss contributors"
project_copyright = f"2026, {author}"
release = version = installed_version("scrapy-mss")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"scrapy-mss {release}"

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # the default as the source has it, by its name
autodoc_typehints = "description"
autodoc_class_signature = "separated"

# `-n` makes an unknown name in a signature an error. Names of these libraries are known to us
# but not to Sphinx, which could learn them only by fetching the libraries' indexes.
nitpick_ignore_regex = [
    ("py:.*", r"(collections|datetime|enum|os|pathlib|typing)\..*"),
    ("py:.*", r"(np|numpy|nltk|lxml|parsel|scrapy|zyte_common_items)\..*"),
    ("py:class", r"(bool|bytes|dict|float|int|list|object|set|str|tuple|type|None)"),
    ("py:exc", r"[A-Z]\w*(Error|Warning)"),
    ("py:class", r"(NDArray|Path|Self|Iterable|Iterator|Mapping|Sequence|Callable)"),
    # The public names are described in `api.md`, by hand; the others are private.
    ("py:class", r"scrapy_mss\.(blocks|core|extractor|items|markup|models|sites)\..*"),
    # What commands read, described with them, and what one function makes of it for another.
    ("py:class", r"scrapy_mss\.(files\.stored_pages\.StoredPage|suggest\.readings\.SitePage)"),
]
