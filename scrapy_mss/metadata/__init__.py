"""Title, authors, dates and the rest of what a page says about its article.

Strategy: one parsed tree is asked, place by place, in the order of the table `rows.ROWS`; the
first place that has a value decides, and the value keeps the name of the place. Nothing that a
page contains raises: broken JSON, addresses that are none and dates that do not exist are passed
over, and every read has a bound.

    metadata = read(response.selector.root, response.url)
    metadata.published            # 2024-03-05T10:00:00+01:00
    metadata.source("published")  # json-ld
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from lxml import etree

from scrapy_mss.metadata.page import Page
from scrapy_mss.metadata.rows import FINISH, field_of
from scrapy_mss.metadata.text import Element


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about its article; None and an empty list where it does not say."""

    title: str | None = None
    authors: list[str] = field(default_factory=list)
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    description: str | None = None
    site_name: str | None = None
    canonical_url: str | None = None
    main_image: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def source(self, name: str) -> str | None:
        """Where the value of the field *name* was found; None where it has no value."""
        if name not in FINISH:
            raise KeyError(f"no field {name!r}; the fields are {', '.join(FINISH)}")
        return self.sources.get(name)

    def fields(self) -> dict[str, Any]:
        """The fields that have a value, by name; the names are those of `items.Article`."""
        return {name: getattr(self, name) for name in FINISH if name in self.sources}


def read(root: Element, url: str | None = None) -> Metadata:
    """What the page that *root* is a part of says; the tree is left as it is."""
    page = Page(root, url)
    found = {name: value for name in FINISH if (value := field_of(page, name))}
    values: dict[str, Any] = {name: value.value for name, (value, _) in found.items()}
    return Metadata(**values, sources={name: source for name, (_, source) in found.items()})


def read_html(html: str, url: str | None = None) -> Metadata:
    """What the page *html* says; for those who have no tree yet."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        tree = etree.fromstring(html.encode("utf-8", "replace"), parser=parser)
    except etree.LxmlError:  # nothing that a tree could be made of
        return Metadata()
    root = cast("Element | None", tree)  # None for a page of comments alone
    return Metadata() if root is None else read(root, url)
