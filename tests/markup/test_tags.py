from __future__ import annotations

from zlib import crc32

from scrapy_mss.markup.tags import (
    BLOCK_TAGS,
    LINE_BREAK_TAGS,
    TAG_NAMES,
    TAG_NUMBERS,
    UNKNOWN_TAG,
    VOID_TAGS,
)
from scrapy_mss.markup.tokens import TAG_MASK

N_FIRST = 156  # names when the format of model files was fixed


def test_every_name_has_its_own_number_and_fits_into_a_token_id() -> None:
    assert len(TAG_NUMBERS) == len(TAG_NAMES) <= TAG_MASK + 1
    assert all(TAG_NAMES[number] == name for name, number in TAG_NUMBERS.items())


def test_numbers_in_stored_models_never_change() -> None:
    """A name may be appended, none moved or removed: counts are stored by number."""
    assert TAG_NAMES[UNKNOWN_TAG] == "unknown"
    assert crc32(" ".join(TAG_NAMES[:N_FIRST]).encode()) == 0xBCBDBE0D


def test_void_block_and_line_break_tags_are_known_tags() -> None:
    assert TAG_NUMBERS.keys() >= VOID_TAGS | BLOCK_TAGS | LINE_BREAK_TAGS
    assert not BLOCK_TAGS & LINE_BREAK_TAGS
