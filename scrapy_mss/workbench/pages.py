"""The pages from which rules are made, by host, with limits per host and in total.

A rule is for a host, or on request for all hosts of a domain: subdomains usually have layouts
of their own.

Pages may come from Scrapy's HTTP cache, in its default storage: a folder for each response. Scrapy
itself reads pickles there, which can run arbitrary code. Next to each is the same data as a Python
literal, which is read here instead.
"""

from __future__ import annotations

import gzip
from ast import literal_eval
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Final

from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.content_encodings import decode
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import LARGEST_PAGE, open_regular
from scrapy_mss.wrappers.rules import UrlParts

MAX_SITES: Final = 2_000
MAX_CHARACTERS: Final = 500_000_000  # of all pages, in memory

OK: Final = 200
META: Final = "meta"
BODY: Final = "response_body"
GZIP: Final = b"\x1f\x8b"
MAX_META: Final = 100_000  # bytes: an address and a few numbers
MAX_HEADERS: Final = 1_000_000


@dataclass(slots=True)
class Pages:
    """At most *most* pages by site, each address once; ``left_out`` counts those beyond a bound."""

    most: int
    by_site: dict[str, list[StoredPage]] = field(default_factory=dict)
    left_out: int = 0
    _seen: set[str] = field(default_factory=set)
    _characters: int = 0

    def add(self, pages: Iterable[StoredPage]) -> int:
        """Keep *pages*, those of one host together; how many there were."""
        n_pages = 0
        for n_pages, page in enumerate(pages, 1):  # noqa: B007 - the last number is their count
            parts = UrlParts.of(page.url)
            site = parts.host if parts else ""
            if not site or page.url in self._seen:
                continue
            if self._is_full(site, page):
                self.left_out += 1
                continue
            self._seen.add(page.url)
            self._characters += len(page.html)
            self.by_site.setdefault(site, []).append(page)
        return n_pages

    def _is_full(self, site: str, page: StoredPage) -> bool:
        of_site = self.by_site.get(site)
        if of_site is None and len(self.by_site) >= MAX_SITES:
            return True
        has_most = of_site is not None and len(of_site) >= self.most
        return has_most or self._characters + len(page.html) > MAX_CHARACTERS


def cached_pages(folder: Path, site: str = "") -> Iterator[StoredPage]:
    """The HTML pages in the cache *folder*; with a *site*, those of its host and subdomains alone.

    An entry that cannot be read is skipped, as Scrapy does.
    """
    for meta in sorted(folder.glob(f"*/??/*/{META}")):
        try:
            page = _page(meta.parent, site)
        except (OSError, EOFError, ValueError, SyntaxError, KeyError, RecursionError):
            continue
        if page is not None:
            yield page


def _page(entry: Path, site: str) -> StoredPage | None:
    known = literal_eval(_read(entry / META, MAX_META).decode("utf-8"))
    if not isinstance(known, dict) or known["status"] != OK:
        return None
    url = str(known["response_url"])
    if site and not _is_of(site.lower(), url):
        return None
    headers = BytesHeaderParser().parsebytes(_read(entry / "response_headers", MAX_HEADERS))
    kind = headers.get("Content-Type", "")
    if "html" not in kind:
        return None
    body = _read(entry / BODY, LARGEST_PAGE)
    packed = "gzip," * body.startswith(GZIP)  # by the cache, around what the server sent
    encodings = f"{headers.get('Content-Encoding', '')},{packed}"
    body = decode(body, encodings, LARGEST_PAGE)
    return StoredPage(url, decoded(body, kind))


def _is_of(site: str, url: str) -> bool:
    parts = UrlParts.of(url)
    return parts is not None and f".{parts.host}".endswith(f".{site.removeprefix('www.')}")


def _read(path: Path, most: int) -> bytes:
    """The start of a file, unpacked if the cache packs its files."""
    with open_regular(path) as file:
        if file.peek(2)[:2] != GZIP or path.name == BODY:  # type: ignore[attr-defined]
            return file.read(most)
        with gzip.open(file) as unpacked:
            return unpacked.read(most)
