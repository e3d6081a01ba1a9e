"""Site config files of Full-Text RSS, the public rules of `ftr-site-config` -> wrappers.

They were written by hand for some two thousand sites, and are here to be compared with. A file is
for the host in its name; each of its lines is a directive. Directives without a row in `DIRECTIVES`
and selectors that cannot be used are left out, and so is a file without a body.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from scrapy_mss.wrappers import Registry, Selector, Wrapper, WrapperError, load_wrappers, xpath
from scrapy_mss.wrappers.rules import WILDCARD, check_selector

SUFFIX: Final = ".txt"
_DIRECTIVE: Final = re.compile(r"([a-zA-Z_]+)(?:\s*\([^)]*\))?\s*:")
_NOTE: Final = re.compile(r"\s#.*")


def _of_substring(text: str) -> Selector:
    """The elements with *text*, up to a note, anywhere in their class or id."""
    plain = _NOTE.sub("", text).rstrip().replace('"', "").replace("'", "")
    return xpath(f"//*[contains(@class, '{plain}') or contains(@id, '{plain}')]")


# The wrapper's field that a directive adds to, and how its value becomes a selector.
DIRECTIVES: Final[dict[str, tuple[str, Callable[[str], Selector]]]] = {
    "body": ("body", xpath),
    "strip": ("exclude", xpath),
    "strip_id_or_class": ("exclude", _of_substring),
    "title": ("title", xpath),
    "author": ("authors", xpath),
    "date": ("published", xpath),
}


def load_rules(path: Path) -> Registry:
    """The rules in *path*: a folder of site config files, or what a crawl loads."""
    files = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else []
    if not files:
        return load_wrappers(path)
    found = (site_config(file.read_text("utf-8-sig", "replace"), file.name) for file in files)
    return Registry(rule for rule in found if rule is not None)


def site_config(text: str, name: str) -> Wrapper | None:
    """The wrapper in *text*, the content of the file *name*; None if it has no body, or no host."""
    fields: dict[str, Any] = {field: () for field, _ in DIRECTIVES.values()}
    for line in text.splitlines():
        start = _DIRECTIVE.match(line.strip())
        if start and start[1].lower() in DIRECTIVES:
            field, read = DIRECTIVES[start[1].lower()]
            with suppress(WrapperError):
                selector = read(line.strip()[start.end() :].lstrip())
                check_selector(field, selector)
                fields[field] += (selector,)
    with suppress(WrapperError):
        return Wrapper(site=site_of_file(name), origin=name, **fields)
    return None


def site_of_file(name: str) -> str:
    """The site that a file is for: `.example.com.txt` is for the subdomains of example.com."""
    host = name.removesuffix(SUFFIX)
    return WILDCARD + host[1:] if host.startswith(".") else host
