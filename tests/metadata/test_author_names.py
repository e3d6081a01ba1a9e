from __future__ import annotations

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata.authors import (
    _AND,
    _IN_URLS,
    _LABEL,
    _NOISE,
    _OF_NO_PERSON,
    _URL,
    DEGREES,
    MAX_AUTHORS,
    MAX_NAME,
    NOT_A_NAME,
    NameRule,
    author_names,
    in_direct_order,
    is_name,
    is_person,
    labelled_names,
    person_names,
    without_site_names,
)
from scrapy_mss.pages.text import folded
from tests.helpers.timing import FACTOR, grows_linearly

NAMES = [
    ("Ann Lee", ["Ann Lee"]),
    ("By Ann Lee", ["Ann Lee"]),
    ("by: Ann Lee", ["Ann Lee"]),
    ("Von Anna Groß", ["Anna Groß"]),
    ("Author: By Ann Lee", ["Ann Lee"]),
    ("Written by Ann Lee", ["Ann Lee"]),
    ("Ann Lee, Bo Ek & Cy Fox", ["Ann Lee", "Bo Ek", "Cy Fox"]),
    ("Ann Lee; Bo Ek", ["Ann Lee", "Bo Ek"]),
    ("Ann Lee | Bo Ek", ["Ann Lee", "Bo Ek"]),
    ("田中宏昌、中村真子", ["田中宏昌", "中村真子"]),
    ("Ann Lee, MD, PhD", ["Ann Lee"]),
    ("Ann Lee, Staff Writer", ["Ann Lee"]),
    ("Ann Lee (Chicago)", ["Ann Lee"]),
    ("Ann Lee ann.lee@example.com", ["Ann Lee"]),
    ("ann.lee@example.com (Ann Lee)", []),  # brackets mostly contain no name
    ("Ann Lee https://example.com/ann", ["Ann Lee"]),
    ("Ann Lee | March 5, 2024", ["Ann Lee"]),
    ("Ann Lee | 5 Hours Ago", ["Ann Lee"]),
    ("Ann Lee &amp; Bo Ek", ["Ann Lee", "Bo Ek"]),
    ("Ann O&#039;Hara", ["Ann O'Hara"]),
    ("<a href='/ann'>Ann Lee</a>", ["Ann Lee"]),
    ("Ann Lee, staff writer for the paper", ["Ann Lee"]),
    ("The Associated Press", ["The Associated Press"]),
]
NO_AUTHORS = [
    *("", "https://www.facebook.com/example", "//example.com/ann", "www.example.com"),
    *("/authors/ann-lee.html", "ann.lee@example.com", "@annlee", "admin", "Administrator", "Staff"),
    *("Staff Writer", "Editorial Team", "Our Editors", "Redaktion", "unknown", "null"),
    *("Updated 5 Hours Ago", "10:30 Uhr", "March 5, 2024", "2024-03-05", "5 min read"),
    *("Sign up for our newsletter", "© Example", "Special to Example", "MD, PhD"),
    *("x" * (MAX_NAME + 1), "This sentence is about somebody and it is long"),
]
# Names that look like a label, a degree or a job title.
NEAR_MISSES = [
    *("Von Miller", "Byron Lee", "Andy Ek", "April March", "Ma Yun"),
    *("Portia Lee", "Ann Minuteman", "Adminah Lee"),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [*NAMES, *((name, [name]) for name in NEAR_MISSES), *((text, []) for text in NO_AUTHORS)],
)
def test_names_are_stripped_of_what_surrounds_them(text: str, expected: list[str]) -> None:
    assert author_names([text]) == expected


# What the rules look for, and what they do not.
WORDS = sorted(
    {
        *re.findall("[a-z]{2,}", f"{_AND.pattern} {_LABEL.pattern} {_NOISE.pattern}"),
        *DEGREES,
        *_OF_NO_PERSON,
        *("ann", "lee", "march", "byron"),
    }
)


@given(st.lists(st.sampled_from(WORDS), min_size=2, max_size=3))
def test_a_plain_name_is_read_as_it_is_beside_others(words: list[str]) -> None:
    text = " ".join(words).title()

    assert author_names([text]) == author_names([f"· {text}"])


@pytest.mark.parametrize("rule", NOT_A_NAME, ids=lambda rule: rule.name)
def test_each_rule_alone_rejects_its_example(rule: NameRule) -> None:
    words = folded(rule.example).split()

    assert [each.name for each in NOT_A_NAME if each.applies(rule.example, words)] == [rule.name]
    assert not is_name(rule.example)


def test_each_name_is_kept_once_in_the_order_of_the_page() -> None:
    assert author_names(["Bo Ek", "Ann Lee, Bo Ek", "ANN LEE"]) == ["Bo Ek", "Ann Lee"]


def test_the_number_of_names_is_bounded() -> None:
    assert len(author_names(f"Ann L{'e' * n}" for n in range(2 * MAX_AUTHORS))) == MAX_AUTHORS


def test_the_names_of_the_site_can_be_removed() -> None:
    names = ["Ann Lee", "Daily News", "Daily Newsom"]

    assert without_site_names(names, frozenset({"dailynews"})) == ["Ann Lee", "Daily Newsom"]


@pytest.mark.parametrize("name", PERSONS + NO_PERSONS)
def test_a_person_has_several_capitalized_words(name: str) -> None:
    assert is_person(name) is (name in PERSONS)


def test_capitals_next_to_other_names_are_a_button() -> None:
    assert person_names(["Ann Lee | WATCH LIVE"]) == ["Ann Lee"]
    assert person_names(["ANN LEE"]) == ["ANN LEE"]


@pytest.mark.parametrize(("lines", "expected"), LABELLED)
def test_labelled_names_may_continue_on_the_next_lines(
    lines: list[str], expected: list[str]
) -> None:
    assert list(labelled_names(lines)) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("Lee, Ann", "Ann Lee"), ("Ann Lee", "Ann Lee"), ("A, B, C", "A, B, C")]
)
def test_inverted_names_are_put_in_direct_order(text: str, expected: str) -> None:
    assert in_direct_order(text) == expected


@given(st.lists(st.text(max_size=80), max_size=5))
def test_any_texts_give_bare_names(texts: list[str]) -> None:
    for name in author_names(texts):
        assert 0 < len(name) <= MAX_NAME
        assert name == name.strip()
        assert "@" not in name


@pytest.mark.parametrize("piece", ["a", " ", "(", "@", "/", ", ", " and ", "By ", "a.", "x" * 63])
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    small, large = ([piece * (n * 5_000)] * 20 for n in (1, FACTOR))

    assert grows_linearly(partial(author_names, small), partial(author_names, large))


@pytest.mark.parametrize("piece", ["()", "[]", "“”", "a@b.c "])
def test_what_is_taken_out_of_a_text_is_no_long_run_of_spaces(piece: str) -> None:
    small, large = ([f"a{piece * n}b"] for n in (80, 80 * FACTOR))

    assert grows_linearly(partial(author_names, small), partial(author_names, large))


@given(st.text(alphabet="htps:/w.W aé", max_size=12))
def test_no_url_is_without_the_marks_that_are_looked_for_first(text: str) -> None:
    assert not _URL.search(text) or not set(_IN_URLS).isdisjoint(text)


@pytest.mark.parametrize("copies", [1, 40])
def test_names_of_a_text_too_long_to_be_remembered_are_the_same(copies: int) -> None:
    text = "By Ann Lee, Bo Ek and Cy Fox; " * copies

    assert author_names([text, text]) == ["Ann Lee", "Bo Ek", "Cy Fox"]
