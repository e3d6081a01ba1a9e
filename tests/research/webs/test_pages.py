"""The made-up sites: what they promise to the studies that read them."""

from __future__ import annotations

from itertools import islice

from research import webs
from scrapy_mss.pages.kinds import KINDS

ONE_SITE = 170


def test_a_site_has_pages_of_all_kinds_at_different_addresses() -> None:
    pages = list(islice(webs.pages(), ONE_SITE))

    assert {page.kind for page in pages} == set(KINDS)


def test_pages_are_the_same_on_every_run() -> None:
    assert list(islice(webs.pages(), ONE_SITE)) == list(islice(webs.pages(), ONE_SITE))


def test_a_bare_address_says_nothing_of_the_page() -> None:
    pages = islice(zip(webs.pages(), webs.pages(bare=True), strict=True), ONE_SITE)

    for own, bare in pages:
        assert own.kind == bare.kind
        if own.kind == "article":
            assert own.url not in bare.html
