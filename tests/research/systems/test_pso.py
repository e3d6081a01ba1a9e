from __future__ import annotations

from research.datasets.pages import Example
from research.systems.pso import Pruned, Pso
from tests.helpers.news_pages import news_page

SMALL = {"particles": 20, "generations": 10}


def examples(n: int = 3) -> list[Example]:
    return [Example(page.html, page.text) for page in map(news_page, range(n))]


def test_what_was_learned_separates_an_article_from_its_page() -> None:
    system = Pso(**SMALL)
    page = news_page(9)

    system.fit(examples())

    assert system.extract(page.html) == page.text
    assert Pruned().extract(page.html) != page.text
