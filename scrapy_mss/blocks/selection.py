"""From the blocks' probabilities to the article: threshold, span, rejoining, duplicates.

What readers lose by a missing paragraph and by a kept advertisement is measured by F1, the harmonic
mean of precision and recall. If p is the probability that a block belongs to the article, the
choice with the greatest expected F1 keeps all blocks above half of that very F1: near one half on a
page that is clear, lower on a page unlike all others, where no block is certain but some stand out.
That threshold is the zero of the scores. The article is their maximum subsequence, and what is
below the threshold inside it is removed. Tags score nothing: a box of many tags and few words must
not weigh more than its words do.

Where much junk splits an article, the maximum subsequence is its larger part. The other part is in
elements with the same tags and class words, all the way up, and is rejoined. A second copy of the
text is removed.

A data table is one thing: where some of its cells were chosen, it is kept or dropped as a whole, by
the sum of its scores. Without a cell, what stands in its row would be in the wrong column.
"""

from __future__ import annotations

from itertools import groupby
from operator import mul
from typing import NamedTuple

import numpy as np

from scrapy_mss.blocks.beside import beside
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.subsequence import EMPTY, Span, best_span
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.rendering import are_data
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import (
    Bools,
    Floats,
    Indices,
    Tokens,
    element_starts,
    mask_inside,
    mask_runs,
    prefix_sums,
    sum_inside,
)

# A sentence may occur twice in a text, as a refrain or in a quotation. Two or more blocks that
# recur in the same order, with a paragraph's words between them, are a second copy.
MIN_COPIED_BLOCKS = 2
MIN_COPIED_WORDS = 60  # of the blocks together
MIN_BLOCK_WORDS = 3  # a shorter block, a mark or a number, neither makes a copy nor ends one


class Selection(NamedTuple):
    """The chosen blocks, all of them inside the span, and what others were not chosen for."""

    of_blocks: Floats  # float64[n_blocks]: the score of each word and symbol of a block
    span: Span
    kept: Bools  # bool[n_blocks]
    above: Bools  # bool[n_blocks]: above the threshold, and no title
    copied: Bools  # bool[n_blocks]: a second copy
    others: Bools  # bool[n_blocks]: left out, whatever their probability
    threshold: float  # without the bias
    tables: Tables


class Tables(NamedTuple):
    """The data tables of which blocks were chosen: their tags, and which stay as a whole."""

    first: Indices
    last: Indices
    stays: Bools


_NO_TABLES = Tables(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.bool_))


def select(
    page: Page, probability: Floats, bias: float = 0.0, others: Bools | None = None
) -> Selection:
    """The article by the *probability* of each block; *bias* lowers the threshold.

    Blocks that are *others* (bool[n_blocks]) are left out: they neither count for the threshold
    nor part the article.
    """
    if others is None:
        others = np.zeros(len(probability), np.bool_)
    zero, of_blocks, above, inside = _scored(page, probability, others, bias)
    joined = rejoined(page, inside, above)
    copied = duplicates(page, joined)
    kept = joined > copied
    tables = _tables(page, kept, of_blocks)
    span = _span_of(page, kept, tables, of_blocks)
    return Selection(of_blocks, span, kept, above, copied, others, zero, tables)


@accelerated()
def _scored(
    page: Page, probability: Floats, others: Bools, bias: float
) -> tuple[float, Floats, Bools, Bools]:
    """The threshold, the scores of blocks, those above it, and those of them in the span."""
    zero = threshold(page, np.where(others, 0.0, probability))
    of_blocks = np.where(others, 0.0, probability - (zero - bias))
    above = (of_blocks > 0) & ~page.in_title
    return zero, of_blocks, above, in_span(of_blocks * page.blocks.n_texts, above)


def of_story(page: Page, chosen: Selection, probability: Floats, bias: float = 0.0) -> Selection:
    """*chosen* by *probability*, or the choice without text that stands beside the story."""
    others = beside(page, chosen.above)
    if True not in others.tobytes() or not np.count_nonzero(others & chosen.kept):
        return chosen
    return select(page, probability, bias, others)


def threshold(page: Page, probability: Floats) -> float:
    """Half of the expected F1, by words, of the best choice of blocks; 0 if there are none."""
    best_first = (-probability).argsort(kind="stable")
    words = page.words[best_first]
    hits = (probability[best_first] * words).cumsum()
    if not len(hits) or hits[-1] <= 0:
        return 0.0
    return float(np.maximum.reduce(hits / (words.cumsum() + hits[-1])))


def token_scores(page: Page, of_blocks: Floats) -> Floats:
    """float64[n_tokens]: the score of a token's block; 0 for tags and outside blocks."""
    scores = np.zeros(len(page.tokens))
    scores[page.blocks.text] = of_blocks.repeat(page.blocks.n_texts)
    return scores


def in_span(of_texts: Floats, above: Bools) -> Bools:
    """bool[n_blocks]: those *above* the threshold, where the scores *of_texts* sum up to most."""
    start, end, _ = best_span(of_texts)
    inside = np.zeros_like(above)
    inside[start:end] = above[start:end]
    return inside


def rejoined(page: Page, kept: Bools, above: Bools) -> Bools:
    """bool[n_blocks]: the *kept*, and those *above* the threshold in the same kind of container."""
    if above.tobytes() == kept.tobytes():
        return kept
    keys, around = np.append(page.attributes.key, np.uint32(0)), page.containers.around
    innermost, others = keys.take(around[0]), (above > kept).nonzero()[0]
    known = set(innermost[kept].tolist())
    others = others[[key in known for key in innermost[others].tolist()]]
    if not len(others):  # as on most pages that have others
        return kept
    paths = keys.take(around[:, np.append(others, kept.nonzero()[0])].T)
    rows = paths.view(f"V{paths.itemsize * paths.shape[1]}")[:, 0].tolist()
    known = set(rows[len(others) :])
    joined = kept.copy()
    joined[others] = [path in known for path in rows[: len(others)]]
    return joined


def duplicates(page: Page, kept: Bools) -> Bools:
    """bool[n_blocks]: those of the *kept* that are a copy of kept ones before them."""
    copied = np.zeros(len(page.blocks), np.bool_)
    texts = page.text_hashes[kept].tolist()
    if len(texts) - len(set(texts)) < MIN_COPIED_BLOCKS:  # as on most pages
        return copied
    blocks = (kept & (page.blocks.words >= MIN_BLOCK_WORDS)).nonzero()[0]
    texts = page.text_hashes[blocks].tolist()
    if len(texts) - len(set(texts)) < MIN_COPIED_BLOCKS:
        return copied
    words = page.blocks.words[blocks].tolist()
    firsts: dict[int, int] = {}  # the rank of the first block with each text
    behind = [rank - firsts.setdefault(text, rank) for rank, text in enumerate(texts)]
    again = [rank for rank, distance in enumerate(behind) if distance]
    # Blocks as far behind their originals as the one before follow one another as those do.
    for _, run in groupby(enumerate(again), lambda each: (behind[each[1]], each[1] - each[0])):
        copy = [rank for _, rank in run]
        if len(copy) >= MIN_COPIED_BLOCKS and sum(words[rank] for rank in copy) >= MIN_COPIED_WORDS:
            copied[blocks[copy]] = True
    return copied


def _tables(page: Page, kept: Bools, of_blocks: Floats) -> Tables:
    """The data tables with *kept* blocks; one stays if the sum of its scores is above 0."""
    if TAG_NUMBERS["table"] not in page.containers.tag.tobytes():  # as on most pages
        return _NO_TABLES
    blocks, tables, n_kept = page.blocks, page.tables, prefix_sums(kept)
    begin, end = blocks.last.searchsorted(tables[0]), blocks.first.searchsorted(tables[1])
    chosen = (n_kept[end] > n_kept[begin]).nonzero()[0]
    if not len(chosen):
        return _NO_TABLES
    chosen = chosen[are_data(page.tokens, tables, chosen)]
    first, last = (each[chosen] for each in tables)
    # By text: on the densest pages, whose blocks are joined, a table may begin inside of one.
    begin, end = (blocks.text.searchsorted(each) for each in (first, last))
    sums = np.append(0.0, of_blocks.repeat(blocks.n_texts).cumsum())
    return Tables(first, last, sums[end] > sums[begin])


def _span_of(page: Page, kept: Bools, tables: Tables, of_blocks: Floats) -> Span:
    """The span from the first block that is *kept*, or table that stays, to the last."""
    stays, blocks = kept.tobytes(), page.blocks
    if True not in stays:
        return EMPTY
    part = slice(stays.find(True), stays.rfind(True) + 1)
    start, end = int(blocks.first[part.start]), int(blocks.last[part.stop - 1]) + 1
    if not len(tables.first):
        scores = map(mul, of_blocks[part].tolist(), blocks.n_texts[part].tolist())
        return Span(start, end, sum(scores))
    start = int(tables.first[tables.stays].min(initial=start))
    end = int(tables.last[tables.stays].max(initial=end - 1)) + 1
    part = slice(*blocks.text.searchsorted((start, end)))
    return Span(start, end, float(np.add.reduce(of_blocks.repeat(blocks.n_texts)[part])))


def article_tokens(page: Page, chosen: Selection) -> Bools:
    """bool[n_tokens]: those of the *chosen* blocks, and all or nothing of each data table."""
    kept, tables = kept_tokens(page, chosen.kept), chosen.tables
    if not len(tables.first):
        return kept
    whole, dropped = (
        mask_runs(len(kept), tables.first[which], tables.last[which])
        for which in (tables.stays, ~tables.stays)
    )
    return whole | (kept & ~dropped)


@accelerated()
def kept_tokens(page: Page, kept: Bools) -> Bools:
    """bool[n_tokens]: the blocks *kept*, with the tags around and between them.

    An element that contains blocks, but none that is kept, is removed with its tags; one that
    contains no block, a picture or a rule, stays if it is between kept ones.
    """
    tokens, blocks = page.tokens, page.blocks
    between = np.zeros(len(tokens), np.bool_)
    at = kept.nonzero()[0]
    if not len(at):
        return between
    between[blocks.first[at[0]] : blocks.last[at[-1]] + 1] = True
    stays = blocks.spread(kept)
    removed = (blocks.of_token >= 0) & ~stays
    return between & ~(removed | _inside_emptied(tokens, removed, stays))


def _inside_emptied(tokens: Tokens, removed: Bools, kept: Bools) -> Bools:
    """bool[n_tokens]: the elements with tokens of blocks that are *removed*, and none of *kept*."""
    starts = np.flatnonzero(element_starts(tokens))
    n_removed, n_kept = (sum_inside(tokens, starts, each) for each in (removed, kept))
    emptied = np.zeros(len(tokens), np.bool_)
    emptied[starts] = (n_removed > 0) & (n_kept == 0)
    return mask_inside(tokens, emptied)


def kept_at(page: Page, kept: Bools, place: Bools, excluded: Bools) -> Bools:
    """bool[n_tokens]: the runs of *kept* tokens through *place*, without what is *excluded*.

    A rule may say where the article is and not what in there is text. Of what the model keeps, the
    blocks at the place stay, and those that follow one another without a gap from there: a
    headline's standfirst, or a last paragraph that the rule's element does not hold. What is kept
    elsewhere, with text between that is not kept, is dropped: comments, another story.
    """
    wanted = kept & ~excluded
    text = page.blocks.count(wanted & page.tokens.is_word) > 0
    at_place = page.blocks.count(place & ~page.tokens.is_tag) > 0
    run = np.cumsum(~text)
    passes = np.bincount(run, text & at_place) > 0
    return wanted & kept_tokens(page, text & passes[run])
