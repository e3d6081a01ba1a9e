from __future__ import annotations

from collections import Counter

import pytest

from research.datasets.pages import Example
from research.systems.mss import Mss, SelfTrainedMss
from scrapy_mss.models.profiles import DEFAULT, PROFILES
from tests.helpers.news_pages import news_page


def examples(n: int, site: str = "one") -> list[Example]:
    pages = (news_page(number, site=site) for number in range(n))
    return [Example(page.html, page.text, site) for page in pages]


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != DEFAULT.name])
def test_a_system_that_learned_a_site_finds_the_text_of_another_page(profile: str) -> None:
    system, page = Mss(profile=profile), news_page(99)

    system.fit(examples(4))

    located = system.locate(page.html)
    words, expected = Counter(located.text.split()), Counter(page.text.split())
    # To trigrams a last paragraph of new words is neutral: it may be missing.
    assert (words & expected).total() > 0.75 * expected.total()
    assert (words & expected).total() > 0.95 * words.total()
    assert system.extract(page.html) == located.text
    assert len(located.kept) == len(located.tokens)


def test_a_self_trained_system_learns_a_new_site_from_its_pages() -> None:
    system = SelfTrainedMss(iterations=3)
    system.fit(examples(4))
    pages = [news_page(number, site="two") for number in range(6)]

    rows = system.locate_site([page.html for page in pages])
    texts = system.extract_site([page.html for page in pages])

    assert len(rows) == 4
    assert [located.text for located in rows[-1]] == texts
    for page, text in zip(pages, texts, strict=True):
        assert page.text.removesuffix(".") in text
        assert len(text) < 1.05 * len(page.text)
