"""Opinions about a page: which blocks are its text, by other ideas than the counts.

Each opinion is a small extractor of its own, after an idea of the literature, computed on the
page's arrays in some ten microseconds. None knows what was learned, so that they err on other pages
than the counts do, above all on sites unlike those of the training. The network sees for each
block which of them keep it, and for the page how much each of them keeps and how far they agree: an
opinion that stands alone is worth less than two of one mind.

``OPINIONS`` is the table of them. The constants were chosen by the F1 of each opinion alone; the
network weighs what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from scrapy_mss.blocks.class_roles import Role
from scrapy_mss.blocks.columns import Columns
from scrapy_mss.blocks.features import NO_LEVEL
from scrapy_mss.blocks.mlp import product
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.readings import Reading
from scrapy_mss.core.subsequence import best_span
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Bools, Bytes, Floats

LEAST_TEXT = 250  # letters of prose: with fewer, a container that says it is the text is a teaser

# Paragraphs that score their containers, after Readability
LEVEL_WEIGHTS = (1.0, 1 / 2, 1 / 6)  # of a paragraph's points for the elements around it
LETTERS_PER_POINT, MOST_LENGTH_POINTS = 100, 3
NAME_POINTS = 25.0  # for a class word that speaks for text, and against it
LEAST_SCORE = 10.0  # of a sibling that belongs to the best container
SIBLING_SHARE = 0.2  # of the best container's score
TAG_POINTS = {
    "article": 10.0,
    "div": 5.0,
    **dict.fromkeys(("pre", "td", "blockquote"), 3.0),
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3.0),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "th"), -5.0),
}
OUTWARD_GAIN = 1.1  # times the density that the element around it must have, to be chosen instead

MAIN_HEADING = NO_LEVEL - 1  # the rank of a heading of level one
SECOND_BODY = 0.5  # of the prose of the longest: a container that comes before it and has that much
HEADLINE_SHARE = 0.4  # of the prose below the headline, that its container has

WORDS_PER_TAG_IN_RUN = 1.0  # a run, which nothing but tags ends, needs a higher price than elements

_TAG_POINTS = np.zeros(256)
_TAG_POINTS[[TAG_NUMBERS[name] for name in TAG_POINTS]] = list(TAG_POINTS.values())


class Opinion(NamedTuple):
    """A row of the table: a name, the blocks that it keeps, and whose idea it is."""

    name: str
    of: Callable[[Reading], Bools]
    idea: str


def paragraph_votes(reading: Reading) -> Bools:
    """The container that paragraphs give most points, and its siblings with enough of them."""
    containers = reading.containers
    score = _paragraph_scores(reading)
    best = _outward(reading, int(score.argmax()))
    is_sibling = containers.parent[:-1] == containers.parent[best]
    is_sibling &= score >= max(LEAST_SCORE, SIBLING_SHARE * score[best])
    is_sibling &= ~reading.beside
    is_sibling[best] = True
    return containers.inside(is_sibling) & reading.is_text


def _paragraph_scores(reading: Reading) -> Floats:
    """float64[m]: the points of each element by its paragraphs, tag, names and links."""
    containers, element, points = reading.containers, reading.own_container, _points(reading)
    score = np.zeros(len(containers))
    for weight in LEVEL_WEIGHTS:
        score += np.bincount(element, points * weight, len(score) + 1)[:-1]
        element = containers.parent[element]
    has_any = score > 0
    of_element = _TAG_POINTS[containers.tag]
    of_element[reading.roles[Role.LIKELY] > 0] += NAME_POINTS
    of_element[reading.names_beside > 0] -= NAME_POINTS
    score += of_element
    letters, linked = reading.letters_inside
    unlinked = 1 - linked / np.maximum(letters, 1.0)
    scored: Floats = np.where(has_any, score * unlinked, -np.inf)
    return scored


def _points(reading: Reading) -> Floats:
    """float64[n]: what each paragraph gives, by its commas and its length."""
    length = np.minimum(reading.letters / LETTERS_PER_POINT, MOST_LENGTH_POINTS)
    points = (1 + reading.commas + length) * reading.is_long
    text = points * reading.is_unlinked
    outside = text * ~reading.inside_beside
    return next((each for each in (outside, text) if np.count_nonzero(each)), points)


def _outward(reading: Reading, row: int) -> int:
    """The element around *row*, as long as that adds more text than it adds tags."""
    parent, density = reading.containers.parent, reading.density_inside
    while parent[row] < len(density) and density[parent[row]] > OUTWARD_GAIN * density[row]:
        row = int(parent[row])
    return row


def named_body(reading: Reading) -> Bools:
    """The first container that says it is an article's body, else an article, else the main."""
    containers = reading.containers
    prose = reading.prose_inside
    subject, body = reading.roles[Role.SUBJECT], reading.roles[Role.BODY]
    is_body = (subject > 0) & (body > 0) & (subject + body > 1)
    for chosen in (is_body, _is_tag(containers.tag, "article"), _is_tag(containers.tag, "main")):
        rows = (chosen & ~reading.beside & (prose >= LEAST_TEXT)).nonzero()[0]
        if len(rows):
            first = rows[prose[rows] >= SECOND_BODY * prose[rows].max()][0]
            return _text_in(reading, int(first))
    return np.zeros(len(reading), np.bool_)


def below_headline(reading: Reading) -> Bools:
    """What follows the headline in the first element around it that has text below it."""
    below = reading.columns["below_headline"] > 0
    if not np.count_nonzero(below):
        return below
    headline = int(below.argmax()) - 1
    prose = reading.prose_of_text * below
    enough = max(LEAST_TEXT, HEADLINE_SHARE * float(np.add.reduce(prose)))
    total, around = reading.containers.total(prose), reading.containers.around[:, headline]
    around = around[around < len(total)]  # those that are there
    has_text = total[around] >= enough
    if np.count_nonzero(has_text):
        below &= reading.containers.run(int(around[has_text.argmax()]))
    if reading.columns["heading_rank"][headline] == MAIN_HEADING:
        below &= reading.columns["later_headings"] == 0
    return below & reading.is_text


def densest_run(reading: Reading) -> Bools:
    """The run of blocks with the most words in it and tags around it: body text extraction."""
    best = best_span(reading.values(WORDS_PER_TAG_IN_RUN))
    run = np.zeros(len(reading), np.bool_)
    run[best.start : best.end] = True
    return run & reading.is_unlinked


def densest_element(reading: Reading) -> Bools:
    """The element with the most words and the fewest tags and linked words in it."""
    return _text_in(reading, int(reading.density_inside.argmax()))


def stop_word_element(reading: Reading) -> Bools:
    """The element with more stop words than its other words outweigh."""
    return _text_in(reading, int(reading.stop_words_inside.argmax()))


def _is_tag(tags: Bytes, name: str) -> Bools:
    return np.equal(tags, TAG_NUMBERS[name])


def _text_in(reading: Reading, row: int) -> Bools:
    """The text of the element at *row*."""
    return reading.containers.run(row) & reading.is_text


OPINIONS: tuple[Opinion, ...] = (
    Opinion("paragraph_votes", paragraph_votes, "Readability (Arc90, 2009)"),
    Opinion("named_body", named_body, "trafilatura (Barbaresi, 2021): the container by its names"),
    Opinion("below_headline", below_headline, "the text follows the headline"),
    Opinion("densest_run", densest_run, "body text extraction (Finn and others, 2001)"),
    Opinion("densest_element", densest_element, "the same idea, of whole elements"),
    Opinion("stop_words", stop_word_element, "Goose (2011): running text has stop words"),
)


def opinions(reading: Reading) -> dict[str, Bools]:
    """The blocks that each opinion keeps, by its name: bool[n]."""
    if not len(reading.containers):
        return {opinion.name: np.zeros(len(reading), np.bool_) for opinion in OPINIONS}
    return {opinion.name: opinion.of(reading) for opinion in OPINIONS}


def opinion_columns(page: Page, features: Columns) -> Columns:
    """What the opinions say of each block, how much each keeps, and how far two of them agree."""
    rows = np.empty((len(OPINION_COLUMNS), len(page.blocks)))
    fill_opinions(page, features, rows)
    return Columns(OPINION_COLUMNS, rows)


def fill_opinions(page: Page, features: Columns, rows: Floats) -> None:
    """Fill *rows*, in the order of ``OPINION_COLUMNS``.

    An opinion that keeps nothing is silent: it does not contradict the others. What they say on
    average stands in its place.
    """
    k, words = len(OPINIONS), page.words
    kept, shares, agreements = rows[:k], rows[k + 1 : 2 * k + 1], rows[2 * k + 1 :]
    for row, blocks in zip(kept, opinions(Reading(page, features)).values(), strict=True):
        row[:] = blocks
    common = product(kept * words, kept.T)
    size = common.diagonal()
    speaks = size > 0
    if not speaks.all():
        kept[~speaks] = kept[speaks].mean(axis=0) if speaks.any() else 0.0
    np.divide(np.add.reduce(kept), k, out=rows[k])
    shares[:] = (size / max(page.total_words, 1.0))[:, np.newaxis]
    agreements[:] = _agreement(common, speaks)[:, np.newaxis]


def _agreement(common: Floats, speaks: Bools) -> Floats:
    """float64[n_pairs]: the F1 of what each two of the opinions keep; their mean, if one is silent.

    Two of them keep so many words in *common* (float64[k, k]), one alone as many as with itself.
    """
    size = common.diagonal()
    of_all = 2 * common / np.maximum(size[:, np.newaxis] + size, 1.0)
    f1: Floats = of_all.take(_FLAT_PAIRS)
    if not speaks.all():
        one, other = _PAIRS
        both = speaks[one] & speaks[other]
        f1[~both] = f1[both].mean() if both.any() else 0.0
    return f1


_NAMES = [opinion.name for opinion in OPINIONS]
_PAIRS = np.triu_indices(len(OPINIONS), 1)
_FLAT_PAIRS = np.ravel_multi_index(_PAIRS, (len(OPINIONS), len(OPINIONS)))
OPINION_COLUMNS = (
    *(f"opinion_{name}" for name in _NAMES),
    "opinions",
    *(f"share_of_{name}" for name in _NAMES),
    *(f"agreement_of_{one}_and_{other}" for one, other in combinations(_NAMES, 2)),
)
