"""What the memory of its site says about the blocks of a page, as log-odds to be added to theirs.

Repetition
    Text that is on other pages of the site belongs to the site, not to this article; and so do,
    in part, blocks in the same kind of container as repeated text. Where most of the article
    itself is repeated, as on a second copy of a page, only what is repeated more counts.
Containers
    A block moves towards the mean of what blocks in such containers were on other pages: further,
    the more pages there are and the more these agree. Labelled pages speak louder. A block that
    could be either is not taken for the article where such containers were so less often than those
    of the article are; labels settle that.
Novelty
    Where most of the article is in containers that the site often has, what is in one that it never
    had is hardly part of it.
Anchors
    A text that the article is always before, or always after, says so on this page too.
Comments
    What is below a heading of comments that many of the site's pages have is not the article,
    however much it looks like that.

An empty memory says nothing. The constants were chosen on one set of sites and checked on
another: `python -m research.studies.site_memory`, docs/site-memory.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.naive_bayes import log_odds, logistic
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.sites.comment_headings import are_comment_headings
from scrapy_mss.sites.counts import Columns
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.observation import BlockKeys

MIN_PAGES = 3.0  # below that, shares of pages say nothing
REPETITION = 2.0  # log-odds for each unit of log(1 + STEEPNESS * share of pages)
NEIGHBOURS = 1.0  # the same, by the mean share of other blocks in such containers
STEEPNESS = 30.0  # one page in ten then counts two fifths of what all pages do
CONTAINERS = 0.5  # how far a block moves towards the mean of its kind of container
LABELLED_CONTAINERS = 1.0  # how much the log-odds of labelled blocks count
MAX_LABELLED = 4.0  # log-odds by labels of one container
UNSETTLED = 2.0  # log-odds for each unit of log-odds that a container is below the article's
SETTLED = 0.75  # of the mean of the article's containers: from that on, one is like them
MAX_UNSETTLED = 4.0  # log-odds
NOVELTY = 2.0  # log-odds of a container that is new
OFTEN = 0.1  # share of pages
MANY_PAGES = 10.0  # that make novelty count half
ANCHORS = 1.0  # log-odds for each unit of log of the share of the article on that side
SURELY_MOST = 0.51  # of the likely words are not repeated: the median is 0 however they are added
PLENTY, FEW = 0.3, 0.03  # shares: from the first on an anchor says nothing; the second is added
COMMENTS = 4.0  # log-odds of what is below their heading, as of what labels are certain of
ABOVE_COMMENTS = 0.25  # share of what looks like the article: a link at its top has less above it
MAX_LOG_ODDS = 9.0  # of a block and a mean that are compared, as certain as one in 8,000
EVEN = 0.5


def adjusted(memory: SiteMemory, keys: BlockKeys, probability: Floats) -> Floats:
    """The *probability* of each block (float64[n]) with what *memory* says."""
    if memory.pages < MIN_PAGES or not len(probability):
        return probability
    evidence = block_evidence(Recalled.of(memory, keys), probability)
    return logistic(log_odds(probability) + evidence)


@dataclass(frozen=True, slots=True, eq=False)
class Recalled:
    """What a memory knows of the blocks of a page."""

    keys: BlockKeys
    pages: float  # of the site
    texts: Columns
    containers: Columns

    @classmethod
    def of(cls, memory: SiteMemory, keys: BlockKeys) -> Recalled:
        """What *memory* knows of the blocks with these *keys*."""
        texts = memory.texts.find(keys.texts)
        return cls(keys, memory.pages, texts, memory.containers.find(keys.containers))


def block_evidence(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n]: the log-odds that are added to each block."""
    return (
        repetition(recalled, probability)
        + containers(recalled, probability)
        + unsettled(recalled, probability)
        + novelty(recalled, probability)
        + anchors(recalled)
        + comments(recalled, probability)
    )


def repetition(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n], 0 or less: by the share of the site's pages that have the block's text."""
    share = recalled.texts[0] / recalled.pages
    of_article = _share_of_article(share, _likely_words(recalled.keys, probability))
    share = np.maximum(share - of_article, 0.0)
    of_others = _mean_of_others(recalled.keys, share)
    return -REPETITION * _strength(share) - NEIGHBOURS * _strength(of_others)


def _strength(share: Floats) -> Floats:
    return np.log1p(STEEPNESS * share)


def _likely_words(keys: BlockKeys, probability: Floats) -> Floats:
    """float64[n]: the expected words of the blocks that are more likely in the article than not."""
    return keys.words * probability * (probability > EVEN)


def _share_of_article(share: Floats, words: Floats) -> float:
    """The median *share* by *words*: what half of the likely article is repeated at most."""
    total = float(words.sum())
    if float(words[share == 0].sum()) > SURELY_MOST * total:
        return 0.0
    ascending = np.argsort(share, kind="stable")
    through = np.cumsum(words[ascending])
    middle = int(np.searchsorted(through, through[-1] / 2))
    return float(share[ascending][min(middle, len(share) - 1)])


def _mean_of_others(keys: BlockKeys, values: Floats) -> Floats:
    """float64[n]: the mean of *values* over the other blocks in such containers, 0 if none."""
    of_block, sizes = keys.by_container.of_block, keys.by_container.sizes
    others = sizes[of_block] - 1
    mean: Floats = (np.bincount(of_block, values)[of_block] - values) / np.maximum(others, 1)
    return mean * (others > 0)


def containers(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n]: by what was the article in such containers on other pages."""
    pages, votes, labelled, labelled_votes = recalled.containers
    mean = (votes + probability) / (pages + 1)
    agreement = (2 * mean - 1) ** 2 * pages / (pages + 2)
    moved: Floats = CONTAINERS * agreement * (_log_odds(mean) - _log_odds(probability))
    if not labelled.any():
        return moved
    share = (labelled_votes + 0.5) / (labelled + 1)
    by_labels = _log_odds(share) * np.abs(2 * share - 1)
    return moved + LABELLED_CONTAINERS * np.clip(by_labels, -MAX_LABELLED, MAX_LABELLED)


def unsettled(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n], 0 or less: for what could be either, in containers unlike the article's."""
    pages, votes, labelled, _ = recalled.containers
    weight = recalled.keys.words * probability**2 * (pages > 0)
    total = float(weight.sum())
    if not total:
        return np.zeros(len(probability))
    mean = (votes + EVEN) / (pages + 1)
    like_the_article = np.array([SETTLED * float(np.sum(weight * mean)) / total])
    below = np.minimum(_log_odds(mean) - _log_odds(like_the_article), 0.0)
    could_be_either = 4 * probability * (1 - probability)
    evidence: Floats = np.maximum(UNSETTLED * below, -MAX_UNSETTLED) * could_be_either
    return evidence * pages / (pages + 2) / (labelled + 1)


def novelty(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n], 0 or less: containers that are new, where those of the article are not."""
    pages = recalled.containers[0]
    expected = recalled.keys.words * probability
    known = float(np.sum(expected * (pages > OFTEN * recalled.pages)))
    agreement = known / max(float(expected.sum()), 1.0)
    trust = max(2 * agreement - 1, 0.0) * recalled.pages / (recalled.pages + MANY_PAGES)
    return np.where(pages == 0, -NOVELTY * trust, 0.0)


def anchors(recalled: Recalled) -> Floats:
    """float64[n], 0 or less: by texts that the article is always before, or always after."""
    _, once, before, after = recalled.texts
    at = np.flatnonzero(recalled.keys.once & (once >= MIN_PAGES))
    seen = once[at] + 1
    below, above = np.ones((2, len(once) + 1))  # of the block before, and of the block after
    below[at + 1] = (after[at] + 0.5) / seen
    above[at] = (before[at] + 0.5) / seen
    below = np.minimum.accumulate(below[:-1])
    above = np.minimum.accumulate(above[:0:-1])[::-1]
    share = np.minimum(np.minimum(below, above), PLENTY)
    evidence: Floats = ANCHORS * np.log((share + FEW) / (PLENTY + FEW))
    return evidence


def comments(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n], 0 or less: by a heading of comments with a block below it that looks like text.

    A heading is on many pages, and once on each. What is right below a link to the comments, in the
    middle of an article or above it, is another link or a form.
    """
    below = np.zeros(len(probability))
    is_heading = are_comment_headings(recalled.keys.texts)
    if not is_heading.any():
        return below
    pages, once, before, _ = recalled.texts
    often = (pages > OFTEN * recalled.pages) & (pages >= MIN_PAGES)
    is_heading &= recalled.keys.once & often & (once >= MIN_PAGES)
    is_heading &= before >= ABOVE_COMMENTS * once
    is_heading[:-1] &= (probability[1:] > EVEN) & ~often[1:]
    headings = is_heading[:-1].nonzero()[0]
    if len(headings):
        below[headings[0] :] = -COMMENTS
    return below


def _log_odds(probability: Floats) -> Floats:
    return log_odds(probability, MAX_LOG_ODDS)
