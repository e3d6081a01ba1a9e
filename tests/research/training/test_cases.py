"""What is learned from a page, by its type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.training.cases import case_of, lessons
from research.training.sets import OTHERS, TAUGHT_TYPES
from tests.research.bench.fakes import page


def test_of_an_article_and_of_some_other_types_the_text_is_learned() -> None:
    cases = [
        case_of("articles", page(0)),
        *(case_of(OTHERS, page(1, page_type=name)) for name in (*sorted(TAUGHT_TYPES), "listing")),
    ]

    found = lessons(cases)

    whole = [each for each in found.examples if not each.synthetic]
    assert [each.is_article for each in whole] == [True] + [False] * len(TAUGHT_TYPES)
    assert [each.inside.tolist() for each in whole] == [[False, True, True]] * len(whole)
    assert found.negatives == [cases[-1].page]
    assert all(case.page is each.page for case, each in zip(cases, whole, strict=False))


@pytest.mark.parametrize("dataset", ["articles", OTHERS])
def test_a_page_is_known_with_its_address(dataset: str) -> None:
    found = case_of(dataset, page(0, url="https://a.example/1", page_type="listing"))

    assert found.page.url == "https://a.example/1"


def test_other_pages_weigh_half_and_give_no_copies() -> None:
    pages = [page(number, page_type="service") for number in range(9)]

    articles = lessons([case_of("articles", each) for each in pages]).examples
    others = lessons([case_of(OTHERS, each) for each in pages]).examples

    assert any(each.synthetic for each in articles)
    assert not any(each.synthetic for each in others)
    for article, other in zip((one for one in articles if not one.synthetic), others, strict=True):
        assert (article.weights / 2).tolist() == other.weights.tolist()


def test_pages_without_a_site_are_each_their_own() -> None:
    found = [case_of("articles", replace(page(number), site="")) for number in range(2)]

    assert len({each.site for case in found for each in case.examples}) == 2
