"""Hostile pages: a rule or a reason, at a cost that grows with the pages alone."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.suggest import NoRuleError, places, suggest, suggest_of
from scrapy_mss.suggest.readings import read_pages
from scrapy_mss.wrappers import load_wrappers
from tests.helpers.suggested_sites import article, paragraphs, text_of
from tests.helpers.timing import grows_linearly

HOST = "https://news.example"
TEXT = text_of(1).replace("\n\n", "</p><p>")
ODD = {
    "empty": "",
    "no markup": "words " * 500,
    "deep": "<div>" * 3000 + f"<p>{TEXT}</p>",
    "many classes": f"<div class='{' '.join(f'c{n}x' for n in range(20_000))}'><p>{TEXT}</p></div>",
    "long names": f"<div class='{'a' * 200_000}' id='{'b' * 200_000}'><p>{TEXT}</p></div>",
    "names that are CSS": f"<div class='a{{}} */ , :not(*)' id='\"]'><p>{TEXT}</p></div>",
    "unclosed": f"<table><tr><td><div><p>{TEXT}<table><td><p>{TEXT}",
    "nul and surrogates": f"<p>\0\ud800{TEXT}</p>",
    "numbers": f"<div _0_='5' _00_='7'><p>{TEXT}</p></div>",
    "many boxes": f"<div class=s><p>{TEXT}</p>{'<div class=b><a href=x>x</a></div>' * 3000}</div>",
}


@pytest.mark.parametrize("html", ODD.values(), ids=ODD.keys())
def test_odd_pages_give_a_rule_that_loads_or_a_reason(html: str, extractor: Extractor) -> None:
    pages = [StoredPage(f"{HOST}/{number}", html) for number in range(3)]
    with suppress(NoRuleError):
        assert len(load_wrappers(suggest(pages, extractor).rule)) == 1


def test_a_hostile_page_among_others_does_not_change_their_rule(extractor: Extractor) -> None:
    own = [article(number) for number in range(4)]
    odd = [StoredPage(f"{HOST}/odd/{name}", ODD[name]) for name in ("empty", "deep")]

    assert suggest([*own, *odd], extractor).rule.around == suggest(own, extractor).rule.around


def test_addresses_that_no_file_can_hold_are_no_tests(extractor: Extractor) -> None:
    pages = [StoredPage(f"{HOST}/{sign}", article(1).html) for sign in ("\u2028", "\ud800", "ok")]

    assert [test.url for test in suggest(pages, extractor).rule.tests] == [f"{HOST}/ok"]


def page_of(n_paragraphs: int) -> list[StoredPage]:
    texts = paragraphs(random.Random(1), n_paragraphs)  # noqa: S311
    boxes = "".join(
        f"<p>{text}</p><div class='b{n} box'><a href=x>Read on {n}</a></div>"
        for n, text in enumerate(texts)
    )
    html = f"<body><div class=menu>Home</div><div class=story>{boxes}</div></body>"
    return [StoredPage(f"{HOST}/{number}", html) for number in range(2)]


def test_the_cost_grows_with_the_length_of_pages(extractor: Extractor) -> None:
    few, many = page_of(30), page_of(120)

    assert grows_linearly(partial(suggest, few, extractor), partial(suggest, many, extractor))


def boxes_in_boxes(number: int) -> StoredPage:
    """A page with an article, and links in boxes that are in one another, each of another name."""
    texts = "".join(f"<p>{text}</p>" for text in paragraphs(random.Random(number), 60))  # noqa: S311
    names = [f"box-{a}{b}" for a in "abcde" for b in "abcdefghij"]
    boxes = "".join(f"<div class={name}><a href=x>{'Read on ' * 30}</a>" for name in names)
    html = f"<div class=story>{texts}<div class=more>{boxes}{'</div>' * len(names)}</div></div>"
    return StoredPage(f"{HOST}/{number}", html)


def peak_of(run: Callable[[], object]) -> int:
    """How many bytes a *run* takes at most."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_boxes_in_one_another_fill_no_memory(
    extractor: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_pages([boxes_in_boxes(number) for number in range(2)], extractor)
    peaks = []

    for most in (10**9, 8_000):
        monkeypatch.setattr(places, "MAX_EXCLUDED_WORDS", most)
        peaks.append(peak_of(partial(suggest_of, "news.example", read)))

    assert peaks[1] < peaks[0] / 2, peaks
