"""What a labelled set is: pages, the records that could not be read, and a hash of the pages.

A `LabelledPage` keeps what every layout can give; what a layout does not have is None. A record
that cannot be used becomes a `Broken` with file, field and reason: it is counted, not raised. An
`Example` is the part of a page that systems learn from.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from tldextract import TLDExtract


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page whose main text is known; golds[0] is the main text alone."""

    id: str
    site: str
    html: str
    golds: tuple[str, ...]
    url: str | None = None
    lang: str | None = None
    page_type: str | None = None
    group: str | None = None
    title: str | None = None
    authors: tuple[str, ...] = ()
    date: str | None = None

    @property
    def language(self) -> str:
        """The language without its region: `en` for `en-US`."""
        return re.split(r"[-_]", (self.lang or "").strip().lower())[0] or "unknown"

    @property
    def source(self) -> bytes:
        """The bytes that the page's size, its speed and lxml's time are measured on."""
        return self.html.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that was skipped, and why."""

    where: str
    field: str
    reason: str

    def __str__(self) -> str:
        """Name the file, the field and the error."""
        return f"{self.where}: {self.field}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Example:
    """A page whose main text is known, as systems learn from it."""

    html: str
    text: str
    site: str = ""
    url: str = ""


def examples(pages: Iterable[LabelledPage]) -> Iterator[Example]:
    """The *pages* with their short golds."""
    return (Example(page.html, page.golds[0], page.site, page.url or "") for page in pages)


@dataclass(frozen=True)
class Dataset:
    """The pages of one set, in the order of its files."""

    name: str
    spec: str
    pages: tuple[LabelledPage, ...]
    broken: tuple[Broken, ...] = ()

    @cached_property
    def sha256(self) -> str:
        """A hash over ids, pages and golds: the same hash, the same set."""
        digest = hashlib.sha256()
        for page in self.pages:
            digest.update(len(page.golds).to_bytes(8, "big"))
            for text in (page.id, page.html, *page.golds):
                data = text.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest()


def site_of(url: str | None, fallback: str) -> str:
    """The registered domain of *url*, its host where it has none, else *fallback*."""
    if not url:
        return fallback
    parts = _domain_extractor()(url)
    name = f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else parts.domain
    return name.lower() or fallback


@cache
def _domain_extractor() -> TLDExtract:
    """What splits a URL by the bundled Public Suffix List; nothing is fetched."""
    return TLDExtract(suffix_list_urls=(), cache_dir=None)
