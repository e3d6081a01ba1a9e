"""What a revision has got and lost: sentences, by hashes of those that were there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.seen.paragraphs import (
    MAX_SENTENCES,
    WITHOUT_SENTENCES,
    Paragraphs,
    added,
    n_removed,
    sentences_of,
    with_sentences,
)
from tests.helpers.timing import grows_linearly
from tests.seen.test_paragraphs import of_article, page

SHIPS = "ferry barge canoe yacht liner tug trawler raft dinghy cutter".split()
SENTENCES = [f"The {ship} sails again after months of repairs." for ship in SHIPS]
TEXTS = st.lists(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), max_size=5)
Text = list[list[str]]


def text_of(paragraphs: Text) -> str:
    return "\n\n".join(map(" ".join, paragraphs))


def read(paragraphs: Text) -> Paragraphs:
    shown = page(*map(" ".join, paragraphs))
    return with_sentences(Paragraphs.of_page(shown, of_article(shown)), text_of(paragraphs))


@given(TEXTS, TEXTS)
def test_sentences_that_came_and_went_are_told_exactly(then: Text, now: Text) -> None:
    before, after = (Paragraphs.from_bytes(read(each).to_bytes()) for each in (then, now))
    had, has = ({sentence for each in text for sentence in each} for text in (then, now))

    assert before is not None
    assert after is not None
    assert set(added(text_of(now), before)) == has - had
    assert n_removed(before, after) == len(had - has)


@given(TEXTS, st.integers(0, 5))
def test_what_is_read_otherwise_of_the_same_page_is_neither(text: Text, n_read: int) -> None:
    """Whether all of its article is read, or the first paragraphs alone."""
    shown = page(*map(" ".join, text))
    inside, some = of_article(shown), text_of(text[:n_read])
    end = shown.tokens.source.find(" ".join(text[n_read])) if n_read < len(text) else None
    part = inside if end is None else inside & (shown.tokens.start < end)
    whole = with_sentences(Paragraphs.of_page(shown, inside), text_of(text))
    less = with_sentences(Paragraphs.of_page(shown, part), some)

    assert added(text_of(text), less) == added(some, whole) == []
    assert n_removed(whole, less) == n_removed(less, whole) == 0


def test_marks_of_lists_rows_of_tables_and_older_rows_are_known() -> None:
    text = "1. The ferry sails again. It is late.\n- One line\nMonday\tThree ships"
    before = with_sentences(Paragraphs.of_text(text.replace("1. ", "").replace("- ", "")), text)
    older = Paragraphs.of_text(text).to_bytes()

    assert added(text, before) == []
    assert added("2. It is late. All are glad about that.", before) == ["All are glad about that."]
    assert Paragraphs.from_bytes(bytes([WITHOUT_SENTENCES]) + older[1:]) is not None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("One is here. Two is there! Three", ["One is here.", "Two is there!", "Three"]),
        ("He said “it rains.” They left.", ["He said “it rains.”", "They left."]),
        ("Dr. Lee of St. Ives came.", ["Dr. Lee of St. Ives came."]),
        ("今天下雨。「大家都走了。」明天呢?", ["今天下雨。", "「大家都走了。」", "明天呢?"]),
        ("... !", []),
    ],
)
def test_a_line_is_split_at_the_ends_of_sentences(line: str, expected: list[str]) -> None:
    assert [sentence for sentence, _ in sentences_of(line)] == expected


def test_what_is_kept_of_a_line_of_endless_sentences_is_bounded() -> None:
    endless = " ".join(f"Ship{number} sails." for number in range(MAX_SENTENCES + 10))

    assert len(with_sentences(Paragraphs.of_text(endless), endless).pairs) == MAX_SENTENCES


@pytest.mark.parametrize("worst", [".", ". ", "!” ", "abc.”", "。", " ", "?)))"])
def test_a_line_is_split_in_linear_time(worst: str) -> None:
    small, large = worst * 10_000, worst * 40_000

    assert grows_linearly(lambda: sentences_of(small), lambda: sentences_of(large))
