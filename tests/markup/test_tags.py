from __future__ import annotations

from scrapy_mss.markup.tags import (
    BLOCK_TAGS,
    LINE_BREAK_TAGS,
    TAG_NAMES,
    TAG_NUMBERS,
    UNKNOWN_TAG,
    VOID_TAGS,
    numbers,
)
from scrapy_mss.markup.tokens import CLOSE, TAG_MASK, tag_id


def test_every_name_has_its_own_number_and_fits() -> None:
    assert len(TAG_NUMBERS) == len(TAG_NAMES) <= TAG_MASK + 1
    assert all(TAG_NAMES[number] == name for name, number in TAG_NUMBERS.items())


def test_numbers_in_stored_models_stay_what_they_were() -> None:
    """A name may be appended, none moved: counts are by number."""
    assert len(TAG_NAMES) >= 156
    assert TAG_NAMES[UNKNOWN_TAG] == "unknown"
    for number, name in {1: "a", 37: "div", 94: "p", 125: "table", 155: "use"}.items():
        assert TAG_NAMES[number] == name


def test_facts_are_about_known_tags() -> None:
    assert TAG_NUMBERS.keys() >= VOID_TAGS | BLOCK_TAGS | LINE_BREAK_TAGS
    assert not BLOCK_TAGS & LINE_BREAK_TAGS


def test_numbers_are_ascending() -> None:
    assert numbers(frozenset({"div", "a"})) == (TAG_NUMBERS["a"], TAG_NUMBERS["div"])


def test_symbols_of_tags_tell_opening_from_closing_and_unknown_from_known() -> None:
    assert len({tag_id("p"), tag_id("p", CLOSE), tag_id("nosuch")}) == 3
    assert tag_id("nosuch") == tag_id("other") == tag_id("unknown")
