from __future__ import annotations

import pytest

from research.bench import fields


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Rain “falls” – in May", 'RAIN "falls" - in May', True),  # noqa: RUF001
        ("Rain falls", "Rain fell", False),
        ("Café", "Cafe", False),
    ],
)
def test_titles_are_compared_by_letters(one: str, other: str, *, same: bool) -> None:
    assert (fields.title_key(one) == fields.title_key(other)) == same


def test_authors_are_compared_as_sets() -> None:
    cases = [
        (["Ann Lee", "Bo Ek"], {"ann lee", "bo ek"}),
        (["By ANN LEE, MD and Bo Ék"], {"ann lee", "bo ek"}),
        (["Ann Lee (https://x.example) | ann@x.example"], {"ann lee"}),
        ([""], set[str]()),
    ]

    assert [(texts, set(fields.author_keys(texts))) for texts, _ in cases] == cases


def test_a_day_is_that_of_the_place_or_of_utc() -> None:
    cases = [
        ("2024-03-05", {"2024-03-05"}),
        ("2024-03-05T23:30:00", {"2024-03-05"}),
        ("2024-03-05 23:30:00.123-05:00", {"2024-03-05", "2024-03-06"}),
        ("2024-03-05T23:30:00Z", {"2024-03-05"}),
        ("", set[str]()),
        ("in May", set[str]()),
    ]

    assert [(text, set(fields.days(text))) for text, _ in cases] == cases
