"""What class words say of an element, and that no other word is taken for one of them."""

from __future__ import annotations

from zlib import crc32

from scrapy_mss.blocks.opinions import WORDS, Role, role_counts
from scrapy_mss.blocks.page import Page


def roles_of(tag: str) -> dict[Role, int]:
    """How many words of the class in *tag* have each role."""
    counts = role_counts(Page.of(f"<div {tag}>One line.</div>").attributes)
    return {role: int(counts[role, 0]) for role in Role if counts[role, 0]}


def test_words_say_what_an_element_is() -> None:
    assert roles_of('itemprop="articleBody"') == {Role.SUBJECT: 1, Role.BODY: 1, Role.LIKELY: 2}
    assert roles_of('class="related-stories" id="newsletter_3"') == {Role.BESIDE: 2}


def test_words_that_only_begin_alike_say_nothing() -> None:
    assert roles_of('class="commentary shareholder bodywork"') == {}


def test_a_word_whose_hash_ends_alike_is_not_taken_for_another() -> None:
    known = {crc32(word.encode()) & 0xFFFF for words in WORDS.values() for word in words}
    letters = "abcdefghijklmnopqrstuvwxyz"
    made = (a + b + c + d for a in letters for b in letters for c in letters for d in letters)
    alike = [word for word in made if crc32(word.encode()) & 0xFFFF in known]
    real = {word for words in WORDS.values() for word in words}
    strangers = [word for word in alike if word not in real][:50]

    assert strangers
    assert all(roles_of(f'class="{word}"') == {} for word in strangers)


def test_no_two_words_share_a_place_in_the_table() -> None:
    words = {word for words in WORDS.values() for word in words}

    assert len({crc32(word.encode()) & 0xFFFF for word in words}) == len(words)
