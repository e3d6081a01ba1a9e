"""What counts as a change of an article: what its page says, not how the page was read."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.seen.paragraphs import (
    _BETWEEN,
    MAX_SENTENCES,
    Paragraphs,
    added_sentences,
    n_removed_sentences,
    sentences_of,
    with_sentences,
    words_of,
)
from tests.helpers.timing import grows_linearly

SENTENCES = (
    "The ferry between the two halves of the town sails again after four months of repairs.",
    "Passengers waited at the quay while the captain read out a speech about the engine.",
    "Tickets cost two crowns more than before, which the harbour office calls unavoidable.",
    "The next ship leaves at noon, and the mayor has promised to be on board with her family.",
)
NOTE = "Correction: an earlier version of this article gave the wrong price of a ticket."
COLUMN = '<div class="column"><a href="/1">The council votes on the bridge tonight</a></div>'


def page(*paragraphs: str, before: str = "", within: str = "", after: str = COLUMN) -> Page:
    body = "".join(f"<p>{each}</p>{within if not at else ''}" for at, each in enumerate(paragraphs))
    return Page.of(f"<title>Ferry</title>{before}<article>{body}</article>{after}")


def of_article(page: Page) -> Bools:
    """bool[n_tokens]: all that is in the article, whatever it is."""
    source = page.tokens.source
    inside: Bools = (page.tokens.start > source.index("<article>")) & (
        page.tokens.start < source.index("</article>")
    )
    return inside


def read(page: Page) -> Paragraphs:
    return Paragraphs.of_page(page, of_article(page))


@given(st.data())
def test_another_reading_of_the_same_page_is_no_change(data: st.DataObject) -> None:
    """Whatever blocks were kept before, and are kept now."""
    paragraphs = data.draw(
        st.lists(st.sampled_from((*SENTENCES, NOTE, "12 votes", "雨が降った。")))
    )
    same = page(*paragraphs, before=COLUMN)
    one, other = (
        Paragraphs.of_page(same, same.blocks.spread(np.array(kept, np.bool_)).astype(np.bool_))
        for kept in (
            data.draw(st.lists(st.booleans(), min_size=len(same.blocks), max_size=len(same.blocks)))
            for _ in range(2)
        )
    )

    assert not one.differs_from(other)
    assert one.page_key == other.page_key
    assert not other.differs_from(one.emitted_as(other))


@pytest.mark.parametrize(
    "changed",
    [
        page(SENTENCES[0].replace("four", "five"), *SENTENCES[1:]),
        page(SENTENCES[0].removesuffix(".") + ", and of waiting.", *SENTENCES[1:]),
        page(*SENTENCES[:2], SENTENCES[3]),
        page(*SENTENCES, NOTE),
        page(NOTE, *SENTENCES),
    ],
)
def test_an_edited_an_added_and_a_removed_paragraph_are_changes(changed: Page) -> None:
    assert read(changed).differs_from(read(page(*SENTENCES)))
    assert read(page(*SENTENCES)).differs_from(read(changed))


def test_paragraphs_in_containers_of_their_own_are_compared_too() -> None:
    """As editors of blocks have them; a box that was kept among them has its own kind."""
    blocks = "".join(f"<div class=block><div><p>{each}</p></div></div>" for each in SENTENCES)
    added = f"<div class=block><div><p>{NOTE}</p></div></div>"
    box = f"<div class=ad><p>{NOTE}</p></div>"

    then, now, beside = (
        read(Page.of(f"<article>{blocks}{more}</article>")) for more in ("", added, box)
    )

    assert now.differs_from(then)
    assert not beside.differs_from(then)


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"before": "<p>12 comments</p>"}, {"before": "<p>310 comments</p>"}),
        ({"within": "<div>3 hours ago</div>"}, {"within": "<div>2 days ago</div>"}),
        ({"within": "<div>3小时前</div>"}, {"within": "<div>1天前</div>"}),
        ({}, {"after": COLUMN.replace("council", "parliament")}),
        (
            {"within": "<div class=ad>Winter tyres for less, this week only.</div>"},
            {"within": "<div class=ad>Book a drive in the new car today, it is free.</div>"},
        ),
        (
            {"within": f"<div class=ad><p>{'Winter tyres for less, this week only. ' * 5}</div>"},
            {"within": f"<div class=ad><p>{'Book a drive in the new car, it is free. ' * 5}</div>"},
        ),
        (
            {"within": f"<div class=ad><p>{'Winter tyres for less, this week only. ' * 20}</div>"},
            {"within": f"<div class=ad><p>{'Book a drive in the new car for free. ' * 20}</div>"},
        ),
    ],
)
def test_clocks_counters_teasers_and_advertisements_are_no_changes(
    then: dict[str, str], now: dict[str, str]
) -> None:
    assert not read(page(*SENTENCES, **now)).differs_from(read(page(*SENTENCES, **then)))


@pytest.mark.parametrize("tag", ["h1", "title"])
def test_another_number_in_a_headline_makes_another_page(tag: str) -> None:
    """Of such a page the titles are compared."""
    then, now = (
        page(*SENTENCES, before=f"<{tag}>{number} hurt on the ferry</{tag}>") for number in (12, 15)
    )

    assert read(now).page_key != read(then).page_key
    assert not read(now).differs_from(read(then))


def test_numbers_of_sentences_and_of_a_spiders_lines_count() -> None:
    then, now = (f"The death toll rises to {number}." for number in (17, 19))

    assert read(page(*SENTENCES, now)).differs_from(read(page(*SENTENCES, then)))
    assert Paragraphs.of_text("19 dead").differs_from(Paragraphs.of_text("17 dead"))


def test_the_text_of_a_spider_is_compared_line_by_line() -> None:
    before, same, other = ("Rain fell.\n\nIt stopped.", "Rain  fell\nIt stopped.", "Rain fell.")

    assert not Paragraphs.of_text(same).differs_from(Paragraphs.of_text(before))
    assert Paragraphs.of_text(other).differs_from(Paragraphs.of_text(before))


def test_what_an_emitted_article_had_stays_and_what_is_new_beside_it_is_found() -> None:
    emitted = read(page(*SENTENCES))
    today = page(*SENTENCES[:3], NOTE, after=COLUMN.replace("council", "parliament"))

    had, new, added = emitted.found_on(today)

    assert had.sum() == 3
    assert new.sum() == 2
    assert added.sum() == 1
    assert (had | added).sum() == (of_article(today)[today.blocks.first]).sum()


def test_bytes_are_read_back_and_others_are_refused() -> None:
    paragraphs = read(page(*SENTENCES))
    data = paragraphs.to_bytes()

    again = Paragraphs.from_bytes(data)

    assert again is not None
    assert again.to_bytes() == data
    assert not again.differs_from(paragraphs)
    for damaged in (b"", data[:-1], data + b"\0", b"\xff" + data[1:]):
        assert Paragraphs.from_bytes(damaged) is None


# Sentences that a revision has got and lost

SHIPS = "ferry barge canoe yacht liner tug trawler raft dinghy cutter".split()
SAILINGS = [f"The {ship} sails again after months of repairs." for ship in SHIPS]
TEXTS = st.lists(st.lists(st.sampled_from(SAILINGS), min_size=1, max_size=4), max_size=5)
Text = list[list[str]]


def text_of(paragraphs: Text) -> str:
    return "\n\n".join(map(" ".join, paragraphs))


def read_text(paragraphs: Text) -> Paragraphs:
    shown = page(*map(" ".join, paragraphs))
    return with_sentences(Paragraphs.of_page(shown, of_article(shown)), text_of(paragraphs))


@given(TEXTS, TEXTS)
def test_sentences_that_came_and_went_are_told_exactly(then: Text, now: Text) -> None:
    before, after = (Paragraphs.from_bytes(read_text(each).to_bytes()) for each in (then, now))
    had, has = ({sentence for each in text for sentence in each} for text in (then, now))

    assert before is not None
    assert after is not None
    assert set(added_sentences(text_of(now), before)) == has - had
    assert n_removed_sentences(before, after) == len(had - has)


@given(TEXTS, st.integers(0, 5))
def test_what_is_read_otherwise_of_the_same_page_is_neither(text: Text, n_read: int) -> None:
    """Whether all of its article is read, or the first paragraphs alone."""
    shown = page(*map(" ".join, text))
    inside, some = of_article(shown), text_of(text[:n_read])
    end = shown.tokens.source.find(" ".join(text[n_read])) if n_read < len(text) else None
    part = inside if end is None else inside & (shown.tokens.start < end)
    whole = with_sentences(Paragraphs.of_page(shown, inside), text_of(text))
    less = with_sentences(Paragraphs.of_page(shown, part), some)

    assert added_sentences(text_of(text), less) == added_sentences(some, whole) == []
    assert n_removed_sentences(whole, less) == n_removed_sentences(less, whole) == 0


def test_marks_of_lists_and_rows_of_tables_are_known() -> None:
    text = "1. The ferry sails again. It is late.\n- One line\nMonday\tThree ships"
    before = with_sentences(Paragraphs.of_text(text.replace("1. ", "").replace("- ", "")), text)

    assert added_sentences(text, before) == []
    assert added_sentences("2. It is late. All are glad about that.", before) == [
        "All are glad about that."
    ]


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


@given(st.text("ab1 .!?…。」)'\"", max_size=30) | st.text(max_size=9))
def test_a_line_is_split_where_the_pattern_of_what_is_between_sentences_says(line: str) -> None:
    ends = [0, *(found.end() for found in _BETWEEN.finditer(line)), len(line)]
    parts = [line[start:end].strip() for start, end in pairwise(ends)]

    assert [sentence for sentence, _ in sentences_of(line)] == [
        part for part in parts if words_of(part)
    ]


@given(st.text(st.characters(max_codepoint=127)))
def test_words_in_ascii_are_those_of_all_letters(text: str) -> None:
    *words, _ = words_of(f"{text} \u00e9")

    assert words_of(text) == words


def test_what_is_kept_of_a_line_of_endless_sentences_is_bounded() -> None:
    endless = " ".join(f"Ship{number} sails." for number in range(MAX_SENTENCES + 10))

    assert len(with_sentences(Paragraphs.of_text(endless), endless).pairs) == MAX_SENTENCES


@pytest.mark.parametrize("worst", [".", ". ", "!” ", "abc.”", "。", " ", "?)))"])
def test_a_line_is_split_in_linear_time(worst: str) -> None:
    small, large = worst * 10_000, worst * 40_000

    assert grows_linearly(lambda: sentences_of(small), lambda: sentences_of(large))


def test_one_long_paragraph_among_many_takes_no_memory_for_each() -> None:
    source = page("long " * 20_000, *["A short one"] * 500)
    inside = of_article(source)
    tracemalloc.start()
    try:
        Paragraphs.of_page(source, inside)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 200 * len(source.tokens.source)  # bytes; an array of texts took thousands
