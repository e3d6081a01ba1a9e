"""Where sentences begin, by punctuation alone.

A sentence ends at a full stop, question or exclamation mark with a blank behind it, quotes and
brackets closing in between, or at an ideographic one; and with its paragraph, headline or list
item, or the entries of a menu would be one long sentence. A sentence has a word in it. The dots of
abbreviations end sentences, too: that takes a little from the average length on every page alike.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.blocks import Blocks
from scrapy_mss.markup.tags import BLOCK_TAGS, tag_numbers
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Floats, Indices, TokenIds, Tokens, prefix_sums

_STOPS: Final = tokenize(". ! ? …").token_id
_IDEOGRAPHIC: Final = tokenize("\N{IDEOGRAPHIC FULL STOP} ！ ？ ．").token_id  # noqa: RUF001
_CLOSING: Final = tokenize("\" ' ) ] } » « › ‹ ” “ ’ ‘ 」 』 ）").token_id  # noqa: RUF001
_BREAKS: Final = tag_numbers(BLOCK_TAGS | {"hr"})
_BLANKS: Final = tag_numbers(frozenset({"br"}))


def sentences(tokens: Tokens, blocks: Blocks) -> Floats:
    """float64[n_blocks]: how many sentences each block has."""
    text = np.flatnonzero(blocks.inside & ~tokens.is_tag)
    block = blocks.number[text]
    blank = tokens.blank_before | (tokens.is_tag & np.isin(tokens.tag, _BLANKS))
    broken = tokens.is_tag & np.isin(tokens.tag, _BREAKS)
    before = _before_closing(tokens.token_id[text])
    begins = np.diff(block, prepend=-1) > 0
    begins |= _since_last(broken, text)
    begins |= np.isin(before, _IDEOGRAPHIC)
    begins |= np.isin(before, _STOPS) & _since_last(blank, text)
    sentence = np.cumsum(begins)
    words = tokens.is_word[text]
    first = np.diff(sentence[words], prepend=0) > 0
    return np.bincount(block[words][first], minlength=len(blocks)).astype(np.float64)


def _since_last(flags: Bools, at: Indices) -> Bools:
    """bool[len(at)]: whether a flag is set at the place or between it and the one before."""
    return np.diff(prefix_sums(flags)[at + 1], prepend=0) > 0


def _before_closing(symbols: TokenIds) -> TokenIds:
    """uint64[n]: for each symbol the last one before it that closes no quote; at first 0."""
    places = np.where(np.isin(symbols, _CLOSING), 0, np.arange(1, len(symbols) + 1))
    last = np.maximum.accumulate(np.append(0, places)[:-1]) if len(symbols) else places
    return np.append(np.uint64(0), symbols)[last]
