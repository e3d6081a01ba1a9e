"""Lists of sites: in a file, one per line, or separated by commas.

After a site, further hosts may follow that its feeds, sitemaps and pages may name, and what is in
the meta of the requests for its pages, a value in JSON or a text:

    example.com feeds.example.org 10.0.0.7 playwright=true
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from scrapy_mss.crawl.hosts import is_ip
from scrapy_mss.crawl.pages import RECHECK, SKIP_EXTRACTION, SKIP_TRAINING, is_own

OURS = (RECHECK, SKIP_EXTRACTION, SKIP_TRAINING)  # of ours those that say what is wanted
# Names of functions: who names hosts need not be who names code.
OF_CODE = ("playwright_page_init_callback", "playwright_page_event_handlers")
TEXT_FILES = (".txt", ".csv", ".lst")  # no sites: there are no such domains


class SiteListError(ValueError):
    """A list of sites cannot be used; the message says what was expected."""


class Entry(NamedTuple):
    """A site in a list: its front page, hosts that its lists may name, and meta of its requests."""

    front: str
    hosts: tuple[str, ...] = ()
    meta: Mapping[str, Any] = {}


def sites_of(given: str | Iterable[str]) -> list[str]:
    """The front pages of the sites in *given*, which is as for `entries_of`."""
    return list(dict.fromkeys(entry.front for entry in entries_of(given)))


def entries_of(given: str | Iterable[str]) -> list[Entry]:
    """The sites in a list, in a text with commas, or in a file of that path."""
    parts = given.split(",") if isinstance(given, str) else map(str, given)
    names = [part.strip() for part in parts if part.strip()]
    listed = [line for name in names for line in (_lines(Path(name)) if _is_file(name) else [name])]
    return [*map(_entry, listed)]


def _entry(line: str) -> Entry:
    name, *rest = line.split()
    hosts = [each.lower() for each in rest if "=" not in each]
    pairs = (each.partition("=") for each in rest if "=" in each)
    meta = {key: _value(text) for key, _, text in pairs}
    for key in meta:
        if not key or (is_own(key) and key not in OURS) or key in OF_CODE:
            raise SiteListError(
                f"{line!r}: expected meta that requests may share, such as playwright=true, got "
                f"{key!r}"
            )
    for host in hosts:
        if not _is_host(host):
            raise SiteListError(
                f"{line!r}: expected a site such as example.com, and after it only meta such as "
                "playwright=true, and names or addresses of hosts, such as feeds.example.org, got "
                f"{host!r}"
            )
    return Entry(_front(name), tuple(hosts), meta)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is_file(name: str) -> bool:
    if "://" in name:
        return False
    is_one = False
    with suppress(OSError):  # longer than names of files can be, as meta may be
        is_one = Path(name).is_file()
    if name.endswith(TEXT_FILES) and not is_one:
        raise SiteListError(f"{name}: no such file, which should have a site on each line")
    return is_one


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SiteListError(f"{path}: the list of sites cannot be read: {error}") from error
    named = (line.partition("#")[0].strip() for line in lines)
    return [name for name in named if name]


def _front(name: str) -> str:
    """The address of a front page: `example.com` is `https://example.com/`."""
    url = name if "://" in name else f"https://{name}"
    if not _is_address(url):
        raise SiteListError(
            f"{name!r}: expected a site such as example.com or https://example.com/news/, or the "
            "path of a file with one on each line"
        )
    return url if urlsplit(url).path else f"{url}/"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return is_host and parts.scheme in ("http", "https") and not any(map(str.isspace, url))


def _is_host(text: str) -> bool:
    """Whether *text* is an IP address, or a name with a dot: single words are not hosts."""
    with suppress(ValueError):  # an unclosed bracket, and the like
        is_name = "." in text.strip(".") and urlsplit(f"//{text}").hostname == text
        return is_name or is_ip(text)
    return False
