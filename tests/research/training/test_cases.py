"""What is learned from a page, by its type."""

from __future__ import annotations

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
