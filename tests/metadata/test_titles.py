from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata.titles import MAX_SEPARATORS, headlines, matching_heading, without_site
from scrapy_mss.pages.text import spellings

SITE_NAMES = frozenset(
    each
    for name in ("The Daily News", "dailynews", "dailynews.example", "Börsen-Zeitung")
    for each in spellings(name)
)
TITLES = [
    ("Rain falls | The Daily News", "Rain falls"),
    ("Rain falls - dailynews.example", "Rain falls"),
    ("Rain falls – The Daily News", "Rain falls"),  # noqa: RUF001 - a typographic dash
    ("Rain falls\uff5cThe Daily News", "Rain falls"),  # the wide bar of East Asian typography
    ("Rain falls : The Daily News", "Rain falls"),
    ("Rain falls | The Daily News | The Daily News", "Rain falls"),
    ("Rain falls | The Daily News UK", "Rain falls"),
    ("Rain falls | THE DAILY NEWS | 05.03.2024", "Rain falls"),
    ("Rain falls | 05/03/2024", "Rain falls"),
    ("Kurse fallen | Börsen-Zeitung", "Kurse fallen"),
    ("Kurse fallen | boersenzeitung", "Kurse fallen"),
    ("The Daily News: Rain falls", "Rain falls"),
    ("The Daily News | Rain falls", "Rain falls"),
]
KEPT = [  # near misses: a colon, a dash, a short end, a name inside
    "Rain falls: what now",
    "Rain falls - and falls",
    "Rain falls | Weather",
    "What the Daily News wrote about rain",
    "Rain at 10:30",
    "The Daily News",
    "Rain | The Daily News wins prizes",
    "Rain | fell on The Daily News building and others",
    "|",
    "",
]
HEADINGS = [
    ("Rain falls in May", ["Rain falls in May"], "Rain falls in May"),
    ("Rain falls in May | Weather | News", ["News", "Rain falls in May"], "Rain falls in May"),
    ("Rain ‘falls’ in May - News", ["Rain 'falls' in May"], "Rain 'falls' in May"),  # noqa: RUF001
    ("Rain falls in May", ["Rain falls"], None),
    ("News | Rain falls in May", ["News"], None),
    ("Rain falls in May", [], None),
    (
        "気軽に新聞をスクラップできるペン\uff5c通信",
        ["気軽に新聞をスクラップできるペン"],
        "気軽に新聞をスクラップできるペン",
    ),
]


@pytest.mark.parametrize(("text", "expected"), [*TITLES, *((text, text) for text in KEPT)])
def test_site_names_and_dates_alone_are_removed(text: str, expected: str) -> None:
    assert without_site(text, SITE_NAMES) == expected


@pytest.mark.parametrize(("text", "headings", "expected"), HEADINGS)
def test_the_heading_that_a_title_begins_with_is_found(
    text: str, headings: list[str], expected: str | None
) -> None:
    assert matching_heading(text, headings) == expected


def test_a_heading_ends_at_one_of_the_first_separators() -> None:
    parts = [f"part {n}" for n in range(MAX_SEPARATORS + 2)]
    title = " | ".join(parts)
    headings = [" | ".join(parts[:-1]), " | ".join(parts[:-2])]

    assert matching_heading(title, headings[:1]) is None
    assert matching_heading(title, headings) == headings[1]


def test_headings_of_one_word_are_no_headlines() -> None:
    assert headlines(["News", "Rain falls", "新聞", "気軽に新聞をスクラップ"]) == [
        "Rain falls",
        "気軽に新聞をスクラップ",
    ]


@given(st.text(max_size=80), st.sets(st.text(max_size=10), max_size=3))
def test_a_title_is_a_part_of_the_text(text: str, names: set[str]) -> None:
    site_names = frozenset(each for name in names for each in spellings(name))

    title = without_site(text, site_names)

    assert title in text
    assert title or not text.strip()
