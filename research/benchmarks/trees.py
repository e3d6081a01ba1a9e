"""Which pages have other metadata by their tokens than by lxml's tree of them, field by field.

The two read the same sources of the same well-formed pages. They differ where markup is broken,
since libxml2 closes elements that browsers leave open; each difference is printed to be judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

from lxml import etree

from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from research.errors import UserError
from scrapy_mss import metadata
from scrapy_mss.markup.parser_limits import without_surplus_attributes
from scrapy_mss.metadata import Metadata
from scrapy_mss.metadata.field_sources import PARSERS
from scrapy_mss.metadata.lxml_tree import LxmlElement


class Difference(NamedTuple):
    """The values of a field, each with its source, by lxml's tree and by the tokens."""

    page: str
    field: str
    by_tree: str
    by_tokens: str


def differences(page: LabelledPage) -> Iterator[Difference]:
    by_tree, by_tokens = _by_tree(page), metadata.read_html(page.html, page.url)
    for field in PARSERS:
        values = [
            f"{getattr(each, field)!r} ({each.source(field)})" for each in (by_tree, by_tokens)
        ]
        if values[0] != values[1]:
            yield Difference(page.id, field, *values)


def _by_tree(page: LabelledPage) -> Metadata:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    source = without_surplus_attributes(page.html).encode("utf-8", "replace")
    try:
        root = cast("LxmlElement | None", etree.fromstring(source, parser))
    except etree.LxmlError:  # not even an empty tree
        return Metadata()
    # A page of comments alone has none.
    return Metadata() if root is None else metadata.read(root, page.url)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    options = parser.parse_args()
    n_pages, different = 0, set[str]()
    for file in sorted(options.data.glob("*.jsonl.xz")):
        try:
            pages = load(f"jsonl:{file}").pages
        except UserError as error:
            parser.error(str(error))
        n_pages += len(pages)
        for page in pages:
            for each in differences(page):
                different.add(each.page)
                print(f"{each.page}: {each.field} {each.by_tree}, by the tokens {each.by_tokens}")
    print(f"{len(different)} of {n_pages} pages have other metadata by their tokens")


if __name__ == "__main__":
    main()
