"""Sums and counts over blocks, compiled and not: against slow walks, and against each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.blocks.beside import _cues
from scrapy_mss.blocks.classifier import INPUTS, POOLINGS, block_evidence, block_inputs
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import ReadPage
from scrapy_mss.blocks.texts import (
    BITS,
    SENTENCE_ENDS,
    pairs_of,
    text_counts,
)
from scrapy_mss.core.naive_bayes import logistic
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.classifiers import counts_of, random_network
from tests.helpers.compiled import both
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_runs

WORDS = "one two three One \u4e2d \u00e9t\u00e9 7 , . \U0001f600".split()
BLOCKS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join))
COUNTS = counts_of()
SOURCES = BLOCKS.map(lambda texts: "".join(f"<p>{text}</p>" for text in texts))


@given(PAGES | SOURCES)
@example("<p>" + "One, 2. " * 200 + "<p>" + "One " * 255)  # more than are counted in a byte
@examples(2)
def test_texts_are_counted_by_their_first_characters(source: str) -> None:
    page = Page.of(source)
    tokens = page.tokens

    one, other = both(lambda: text_counts(tokens, page.blocks, set(), set()))

    assert [column.tobytes() for column in one] == [column.tobytes() for column in other]
    for block, run in enumerate(block_runs(tokens)):
        texts = [tokens.clean[tokens.clean_start[at] : tokens.clean_end[at]] for at in run]
        words = [text for at, text in zip(run, texts, strict=True) if tokens.is_word[at]]
        ends = sum(text.startswith(tuple(SENTENCE_ENDS)) for text in texts)
        assert one.of("capital")[block] == sum(text[0].isupper() for text in texts)
        assert one.of("digit")[block] == sum(text[0].isdigit() for text in texts)
        assert one.of("sentence_end")[block] == ends
        assert one.of("symbol")[block] == len(run) - len(words)
        assert one.of("letters")[block] == sum(map(len, words))
        assert bool(one.last[block] & BITS["symbol"]) == (not tokens.is_word[run[-1]])
        assert bool(one.first[block] & BITS["comma"]) == texts[0].startswith((",", ";"))


@given(SOURCES, st.lists(st.sampled_from(WORDS)))
@examples(2)
def test_shared_words_and_pairs_are_those_of_a_slow_walk(source: str, other: list[str]) -> None:
    page, tokens = Page.of(source), tokenize(" ".join(other))
    some = tokens.token_id[tokens.is_word]
    known = set(some.tolist())
    known_pairs = set(zip(some[:-1].tolist(), some[1:].tolist(), strict=True))
    ids, is_word = page.tokens.token_id.tolist(), page.tokens.is_word
    blocks = [[ids[at] for at in run if is_word[at]] for run in block_runs(page.tokens)]

    for found in both(
        lambda: text_counts(page.tokens, page.blocks, known, pairs_of(some.tolist()))
    ):
        n_words = [sum(word in known for word in words) for words in blocks]
        n_pairs = [sum(pair in known_pairs for pair in pairwise(words)) for words in blocks]
        assert found.of("title_words").tolist() == n_words
        assert found.of("description_pairs").tolist() == n_pairs


@given(PAGES, st.integers(0, 9))
@examples(2)
def test_evidence_inputs_and_probabilities_are_the_same_to_the_last_bit(
    source: str, seed: int
) -> None:
    network = random_network(len(INPUTS), n_hidden=seed + 1, seed=seed)

    def computed() -> dict[str, bytes]:
        page = Page.of(source)
        evidence = np.random.default_rng(seed).normal(size=(len(POOLINGS), len(page.blocks)))
        inputs = block_inputs(page, evidence, evidence.sum(axis=0))
        odds = network.log_odds(inputs.columns.rows.T)
        probability, kept = odds.astype(np.float64), odds > 0
        sums = ReadPage(page, inputs, probability, kept, 0.0).sums
        found = {name: column.tobytes() for name, column in inputs.columns.items()}
        others = {"evidence": block_evidence(page, COUNTS).tobytes(), "log-odds": odds.tobytes()}
        return found | others | {"sums": repr(sums).encode()}

    one, other = both(computed)

    assert list(one) == list(other)
    assert [name for name in one if one[name] != other[name]] == []


@given(st.lists(st.floats()))
@examples(2)
def test_probabilities_of_any_log_odds_are_the_same(odds: list[float]) -> None:
    one, other = both(lambda: logistic(np.array(odds)))

    assert np.array_equal(one, other, equal_nan=True)
    assert np.array_equal(one, logistic(np.repeat(odds, 2)[::2]), equal_nan=True)


_compiled = pytest.importorskip("scrapy_mss.markup._compiled", reason="it was not built")
TOKENS = tokenize("<p>one two</p>")


def segmented(**columns: object) -> object:
    """The blocks of a page whose tokens have other *columns*."""
    segmenter = _compiled.Segmenter(bytes(256), 2, 1, 1)
    return segmenter(SimpleNamespace(**{**vars(TOKENS), **columns}))


@pytest.mark.parametrize("name", ["kind", "tag", "start", "partner"])
def test_columns_of_other_tokens_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected \d values, got \d"):
        segmented(**{name: getattr(TOKENS, name)[1:].copy()})


@pytest.mark.parametrize(("text", "first"), [(9, 0), (0, 3)])
def test_texts_beyond_a_page_are_refused(text: int, first: int) -> None:
    blocks = SimpleNamespace(text=np.array([text], np.int32), first_text=np.array([first]))
    counter = _compiled.TextCounter(np.zeros(0x10000, np.uint8), np.zeros(1, np.uint8))

    with pytest.raises(IndexError):
        counter(TOKENS, blocks, set(), set())


def test_blocks_beyond_a_page_are_refused() -> None:
    blocks = SimpleNamespace(of_token=np.full(len(TOKENS), 1, np.int32))

    with pytest.raises(IndexError):
        _compiled.kept_tokens(SimpleNamespace(tokens=TOKENS, blocks=blocks), np.ones(1, np.bool_))


@pytest.mark.parametrize("name", ["begin", "end", "around", "parent"])
def test_containers_beyond_a_page_are_refused(name: str) -> None:
    page = Page.of("<div><p>one two</div><p>three")
    beyond = np.full_like(getattr(page.containers, name), 9)
    vars(page)["containers"] = replace(page.containers, **{name: beyond})
    evidence = np.zeros((len(POOLINGS), len(page.blocks)))

    with pytest.raises(IndexError):
        block_evidence(page, COUNTS)
    with pytest.raises(IndexError):
        block_inputs(page, evidence, evidence[0])


def test_blocks_that_begin_beyond_a_page_have_no_cues() -> None:
    page = Page.of("<p>one two")
    vars(page)["blocks"] = replace(page.blocks, first=np.array([9]))

    with pytest.raises(IndexError):
        _cues(page, np.ones(1, np.bool_))


def test_counts_that_are_no_power_of_two_are_refused() -> None:
    damaged = counts_of()
    damaged.counts["shape"] = np.zeros((3, 2), np.uint32)

    with pytest.raises(ValueError, match="expected 3 values, got 4"):
        block_evidence(Page.of("<p>one"), damaged)
