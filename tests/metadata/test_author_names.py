from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata.names import (
    MAX_AUTHORS,
    MAX_NAME,
    is_person,
    labelled,
    names,
    persons,
    turned,
    without_sites,
)

NAMES = [
    ("Ann Lee", ["Ann Lee"]),
    ("  Ann\n Lee ", ["Ann Lee"]),
    ("By Ann Lee", ["Ann Lee"]),
    ("by: Ann Lee", ["Ann Lee"]),
    ("Von Anna Groß", ["Anna Groß"]),
    ("Por Ana Núñez", ["Ana Núñez"]),
    ("Author: By Ann Lee", ["Ann Lee"]),
    ("Written by Ann Lee", ["Ann Lee"]),
    ("Ann Lee and Bo Ek", ["Ann Lee", "Bo Ek"]),
    ("Ann Lee, Bo Ek & Cy Fox", ["Ann Lee", "Bo Ek", "Cy Fox"]),
    ("Anna Groß und Bo Ek", ["Anna Groß", "Bo Ek"]),
    ("Ann Lee; Bo Ek", ["Ann Lee", "Bo Ek"]),
    ("Ann Lee | Bo Ek", ["Ann Lee", "Bo Ek"]),
    ("田中宏昌、中村真子", ["田中宏昌", "中村真子"]),
    ("Ann Lee, MD, PhD", ["Ann Lee"]),
    ("Ann Lee, Staff Writer", ["Ann Lee"]),
    ("Ann Lee, Senior Reporter", ["Ann Lee"]),
    ("Ann Lee (Chicago)", ["Ann Lee"]),
    ("Ann Lee ann.lee@example.com", ["Ann Lee"]),
    ("ann.lee@example.com (Ann Lee)", []),  # what is in brackets is mostly no name
    ("Ann Lee https://example.com/ann", ["Ann Lee"]),
    ("Ann Lee | March 5, 2024", ["Ann Lee"]),
    ("Ann Lee | 5 Hours Ago", ["Ann Lee"]),
    ("Ann Lee &amp; Bo Ek", ["Ann Lee", "Bo Ek"]),
    ("Ann O&#039;Hara", ["Ann O'Hara"]),
    ("<a href='/ann'>Ann Lee</a>", ["Ann Lee"]),
    ("Ann Lee, staff writer for the paper", ["Ann Lee"]),
    ("Reuters", ["Reuters"]),
    ("The Associated Press", ["The Associated Press"]),
]
NOBODY = [
    "",
    "https://www.facebook.com/example",
    "//example.com/ann",
    "www.example.com",
    "/authors/ann-lee.html",
    "ann.lee@example.com",
    "@annlee",
    "admin",
    "Administrator",
    "Staff",
    "Staff Writer",
    "Editorial Team",
    "Our Editors",
    "Redaktion",
    "unknown",
    "null",
    "Updated 5 Hours Ago",
    "10:30 Uhr",
    "March 5, 2024",
    "2024-03-05",
    "5 min read",
    "Sign up for our newsletter",
    "© Example",
    "Special to Example",
    "MD, PhD",
    "x" * (MAX_NAME + 1),
    "This sentence is about somebody and it is long",
]
NEAR_MISSES = [  # what looks like a label, a degree, a job, and is a name
    ("Von Miller", ["Von Miller"]),
    ("Byron Lee", ["Byron Lee"]),
    ("Andy Ek", ["Andy Ek"]),
    ("April March", ["April March"]),
    ("Ma Yun", ["Ma Yun"]),
    ("Portia Lee", ["Portia Lee"]),
    ("Ann Minuteman", ["Ann Minuteman"]),
    ("Adminah Lee", ["Adminah Lee"]),
]
PERSONS = [
    "Ann Lee",
    "Ludwig van Beethoven",
    "Ann O'Hara",
    "J. R. Ewing",
    "JOHN SMITH",
    "中村 真子",
]
NO_PERSONS = [
    "Ann",
    "Privacy Policy 2",
    "read more",
    "Ann Lee writes",
    "News Desk",
    "van Beethoven",
]
LABELLED = [
    (["By Ann Lee"], ["Ann Lee"]),
    (["By", "Ann Lee", "March 5, 2024"], ["Ann Lee"]),
    (["By", "Ann Lee", ",", "Bo Ek", "and", "Cy Fox", "Sept. 19"], ["Ann Lee , Bo Ek and Cy Fox"]),
    (["Von Anna Groß", "Uhr"], ["Anna Groß"]),
    (["By"], [""]),
    (["Bylaws are discussed"], []),
]


@pytest.mark.parametrize(("text", "wanted"), NAMES + NEAR_MISSES)
def test_names_are_freed_of_what_stands_around_them(text: str, wanted: list[str]) -> None:
    assert names([text]) == wanted


@pytest.mark.parametrize("text", NOBODY)
def test_what_names_nobody_is_dropped(text: str) -> None:
    assert names([text]) == []


def test_each_name_comes_once_in_the_order_of_the_page() -> None:
    assert names(["Bo Ek", "Ann Lee, Bo Ek", "ANN LEE"]) == ["Bo Ek", "Ann Lee"]


def test_the_number_of_names_is_bounded() -> None:
    assert len(names(f"Ann L{'e' * n}" for n in range(2 * MAX_AUTHORS))) == MAX_AUTHORS


def test_the_names_of_the_site_can_be_left_out() -> None:
    known = frozenset({"dailynews"})

    assert without_sites(["Ann Lee", "Daily News", "Daily Newsom"], known) == [
        "Ann Lee",
        "Daily Newsom",
    ]


@pytest.mark.parametrize("name", PERSONS)
def test_a_person_has_two_words_and_capitals(name: str) -> None:
    assert is_person(name)


@pytest.mark.parametrize("name", NO_PERSONS)
def test_other_words_are_no_person(name: str) -> None:
    assert not is_person(name)


def test_capitals_beside_other_names_are_a_button() -> None:
    assert persons(["Ann Lee | WATCH LIVE"]) == ["Ann Lee"]
    assert persons(["ANN LEE"]) == ["ANN LEE"]


@pytest.mark.parametrize(("lines", "wanted"), LABELLED)
def test_a_labelled_name_may_go_on_in_the_next_lines(lines: list[str], wanted: list[str]) -> None:
    assert list(labelled(lines)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"), [("Lee, Ann", "Ann Lee"), ("Ann Lee", "Ann Lee"), ("A, B, C", "A, B, C")]
)
def test_names_of_libraries_are_turned(text: str, wanted: str) -> None:
    assert turned(text) == wanted


@given(st.lists(st.text(max_size=80), max_size=5))
def test_any_texts_give_names_without_markup(texts: list[str]) -> None:
    for name in names(texts):
        assert 0 < len(name) <= MAX_NAME
        assert name == name.strip()
        assert "@" not in name


@pytest.mark.parametrize("piece", ["a", " ", "(", "@", "/", ", ", " and ", "By ", "a.", "x" * 63])
def test_long_texts_take_no_time(piece: str) -> None:
    start = perf_counter()

    names([piece * 20_000] * 20)

    assert perf_counter() - start < 2
