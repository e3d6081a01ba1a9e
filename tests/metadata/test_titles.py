from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata.text import spellings
from scrapy_mss.metadata.titles import heading_in, is_site, long_ones, title_of

SITES = frozenset(
    each
    for name in ("The Daily News", "dailynews", "dailynews.example", "Börsen-Zeitung")
    for each in spellings(name)
)
TITLES = [
    ("Rain falls | The Daily News", "Rain falls"),
    ("Rain falls - dailynews.example", "Rain falls"),
    ("Rain falls – The Daily News", "Rain falls"),  # noqa: RUF001 - a dash of typographers
    ("Rain falls\uff5cThe Daily News", "Rain falls"),  # the wide bar of East Asian typography
    ("Rain falls : The Daily News", "Rain falls"),
    ("Rain falls | The Daily News | The Daily News", "Rain falls"),
    ("Rain falls | The Daily News UK", "Rain falls"),
    ("Rain falls | THE DAILY NEWS | 05.03.2024", "Rain falls"),
    ("Kurse fallen | Börsen-Zeitung", "Kurse fallen"),
    ("Kurse fallen | boersenzeitung", "Kurse fallen"),
    ("The Daily News: Rain falls", "Rain falls"),
    ("The Daily News | Rain falls", "Rain falls"),
]
KEPT = [  # the near misses: a colon, a dash, a short end, a name inside
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


@pytest.mark.parametrize(("text", "wanted"), TITLES)
def test_the_name_of_the_site_is_cut_off(text: str, wanted: str) -> None:
    assert title_of(text, SITES) == wanted


@pytest.mark.parametrize("text", KEPT)
def test_what_is_not_the_name_of_the_site_stays(text: str) -> None:
    assert title_of(text, SITES) == text


@pytest.mark.parametrize(("text", "headings", "wanted"), HEADINGS)
def test_a_title_begins_with_a_heading(text: str, headings: list[str], wanted: str | None) -> None:
    assert heading_in(text, headings) == wanted


def test_a_site_is_known_by_its_spellings() -> None:
    assert is_site("the daily NEWS", SITES)
    assert not is_site("Rain", SITES)
    assert not is_site("", SITES)


def test_headings_of_a_word_are_no_headlines() -> None:
    assert long_ones(["News", "Rain falls", "新聞", "気軽に新聞をスクラップ"]) == [
        "Rain falls",
        "気軽に新聞をスクラップ",
    ]


@given(st.text(max_size=80), st.sets(st.text(max_size=10), max_size=3))
def test_a_title_is_a_part_of_the_text(text: str, names: set[str]) -> None:
    known = frozenset(each for name in names for each in spellings(name))

    title = title_of(text, known)

    assert title in text
    assert title or not text.strip()
