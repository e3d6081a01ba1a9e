"""Labels by a text that is said to be a page's, and when both agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.text_labels import (
    AGREEMENT,
    MAX_MARKUP,
    MAX_TEXT,
    agreed_tokens,
    label_blocks,
    plain_words,
)
from scrapy_mss.core.labels import Rejection, match_words, words_of
from scrapy_mss.markup.tokens import Bools

WORDS = st.lists(st.sampled_from(["a", "b", "c", "A"]), max_size=10)
PARAGRAPHS = tuple(" ".join(f"w{10 * part + n}" for n in range(10)) for part in range(10))
TEXT = " ".join(PARAGRAPHS)
MENU, BOX = "home sport culture", "subscribe to our letter"


def source(*paragraphs: str, headline: str = "A headline of five words") -> Page:
    body = "".join(f"<p>{each}</p>" for each in paragraphs)
    return Page.of(
        f"<title>{headline}</title><ul><li>{MENU}</ul><h1>{headline}</h1>{body}<div>{BOX}</div>"
    )


PAGE = source(*PARAGRAPHS)


def tokens_of(page: Page, *texts: str) -> Bools:
    """bool[n_tokens]: the blocks with one of these texts."""
    words = page.tokens.words()
    is_inside = np.zeros(len(page.blocks), np.bool_)
    number = 0
    for at, n_words in enumerate(page.blocks.words.tolist()):
        is_inside[at] = " ".join(words[number : number + n_words]) in texts
        number += n_words
    return page.blocks.spread(is_inside)


def inside_of(page: Page, text: str, read: Bools) -> list[str] | Rejection:
    """The texts of the blocks that *text* labels."""
    found = agreed_tokens(page, text, read)
    if isinstance(found, Rejection):
        return found
    labelled = found[page.tokens.is_word].tolist()
    return [word for word, inside in zip(page.tokens.words(), labelled, strict=True) if inside]


@given(st.lists(WORDS, max_size=5), WORDS)
def test_a_block_is_labelled_if_most_of_its_words_are_matched(
    blocks: list[list[str]], reference: list[str]
) -> None:
    page = Page.of("<p>".join(" ".join(words) for words in blocks))
    matched = match_words(page.tokens, " ".join(reference))
    hits = iter(matched[page.tokens.is_word].tolist())

    labels = label_blocks(page, " ".join(reference))

    counts = [sum(next(hits) for _ in words) for words in blocks]
    expected = [2 * n > len(words) for n, words in zip(counts, blocks, strict=True) if words]
    assert labels.tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.upper(),
        f"A headline of five words {TEXT}",
        f"{TEXT} The story appeared first here",
        f"{PARAGRAPHS[0]} caption {' '.join(PARAGRAPHS[1:])}",
    ],
)
@pytest.mark.parametrize(
    "read",
    [
        PARAGRAPHS,
        (*PARAGRAPHS, BOX),  # too much, and what is above the text
        (MENU, *PARAGRAPHS),
        PARAGRAPHS[:5],  # too little
    ],
)
def test_a_text_labels_its_own_paragraphs_whatever_is_read_beside(
    text: str, read: tuple[str, ...]
) -> None:
    assert inside_of(PAGE, text, tokens_of(PAGE, *read)) == TEXT.split()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", Rejection.NOT_FOUND),
        ("\u2026", Rejection.NOT_FOUND),
        (" ".join(f"x{n}" for n in range(100)), Rejection.NOT_FOUND),  # another page's
        (f"{TEXT} {' '.join(f'x{n}' for n in range(20))}", Rejection.NOT_FOUND),
        (PARAGRAPHS[0], Rejection.DISAGREES),  # a teaser
        (" ".join(PARAGRAPHS[:8]), Rejection.DISAGREES),
        (TEXT.rpartition(" ")[0], Rejection.DISAGREES),  # cut inside of a paragraph
        (" ".join(TEXT.split()[:94]), Rejection.DISAGREES),
    ],
)
def test_a_text_that_disagrees_labels_nothing(text: str, why: Rejection) -> None:
    assert inside_of(PAGE, text, tokens_of(PAGE, *PARAGRAPHS)) is why


def test_nothing_is_agreed_on_where_nothing_is_read() -> None:
    assert isinstance(agreed_tokens(PAGE, TEXT, tokens_of(PAGE)), Rejection)
    assert isinstance(agreed_tokens(Page.of(""), TEXT, np.zeros(0, np.bool_)), Rejection)


@given(
    st.lists(st.sampled_from(PARAGRAPHS), max_size=12),
    st.lists(st.sampled_from([*PARAGRAPHS, MENU, BOX, "other words"]), max_size=12),
    st.data(),
)
def test_page_and_reading_hold_nine_tenths_of_what_is_agreed_on(
    said: list[str], shown: list[str], data: st.DataObject
) -> None:
    page, text = source(*shown), " ".join(said)
    blocks = st.lists(st.booleans(), min_size=len(page.blocks), max_size=len(page.blocks))
    read = page.blocks.spread(np.array(data.draw(blocks), np.bool_))

    found = agreed_tokens(page, text, read)

    if isinstance(found, Rejection):
        return
    words, is_word = words_of(text), page.tokens.is_word
    matched = match_words(page.tokens, text)
    assert (matched & found).sum() >= AGREEMENT * len(words)
    for held in (found & is_word, read & is_word):
        assert (matched & held).sum() >= AGREEMENT * held.sum() > 0


def test_a_page_of_any_length_takes_no_longer_than_its_bound() -> None:
    long = source(*(f"{TEXT} " * 300,) * 20)

    found = agreed_tokens(long, "w1 " * (MAX_TEXT // 3), long.tokens.is_word)

    assert found is Rejection.NOT_FOUND


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p>One, <b>two</b>&nbsp;three.</p><script>four</script>", "One two three"),
        ("plain text", "plain text"),
        ("\u6b63\u6587", "\u6b63 \u6587"),
        ("", ""),
        ("w " * MAX_TEXT, ""),
        ("<p>w" * MAX_MARKUP, ""),
    ],
)
def test_words_of_markup(html: str, words: str) -> None:
    assert plain_words(html) == words
