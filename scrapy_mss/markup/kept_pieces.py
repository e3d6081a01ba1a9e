"""Kept tokens as pieces, each a tag or all that stands between two, and what separates them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.elements import is_tag_of, prefix_sums, tag_table
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokens import Bools, Tokens

TEXT = 2  # the kind of a piece that is no tag
# What separates a piece from the one before: white space or a removed block, where tokens were left
# out or between neighbours. There it is the source's own, as preformatted text needs it.
APART, GAP = 1, 2

# Its kind, what separates it, the number of its tag, its first token and that token's partner, and
# where it begins and ends in the cleaned source; of text, tag and partner are 0 and -1.
Piece: TypeAlias = tuple[int, int, int, int, int, int, int]


def kept_pieces(tokens: Tokens, kept: Bools) -> list[Piece]:
    """The *kept* tags (bool[n_tokens]) and what is between them."""
    compiled = compiled_part()
    if compiled is None:
        return _in_python(tokens, kept)
    columns = tokens.kind, tokens.tag, kept
    places = tokens.clean_start, tokens.clean_end, tokens.partner
    return compiled.kept.pieces(
        tuple(each.tobytes() for each in columns),
        tuple(each.tobytes() for each in places),
        tag_table(BLOCK_TAGS),
    )


def _in_python(tokens: Tokens, kept: Bools) -> list[Piece]:
    in_text = kept & ~tokens.is_tag
    is_kept_tag = kept & tokens.is_tag
    no = np.zeros(1, np.bool_)
    first = np.flatnonzero(is_kept_tag | in_text & ~np.concatenate((no, in_text[:-1])))
    last = np.flatnonzero(is_kept_tag | in_text & ~np.concatenate((in_text[1:], no)))
    is_removed_block = ~kept & is_tag_of(tokens, BLOCK_TAGS)
    separators = prefix_sums(tokens.blank_before | is_removed_block)
    is_apart = separators[first[1:] + 1] > separators[last[:-1] + 1]
    is_next = first[1:] == last[:-1] + 1
    joint = np.where(is_apart, np.where(is_next, GAP, APART), 0)
    columns = (
        np.minimum(tokens.kind[first], TEXT),
        np.concatenate(([0], joint))[: len(first)],
        tokens.tag[first],
        first,
        tokens.partner[first],
        tokens.clean_start[first],
        tokens.clean_end[last],
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))
