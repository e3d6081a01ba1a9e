from __future__ import annotations

from research.datasets.pages import Example
from research.systems.mss import SelfTrainedMss
from tests.helpers.news_pages import news_page


def examples(n: int, site: str = "one") -> list[Example]:
    pages = (news_page(number, site=site) for number in range(n))
    return [Example(page.html, page.text, site) for page in pages]


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
