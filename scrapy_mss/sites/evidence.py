"""What the memory of a site says about the blocks of a page, as log-odds to be added.

Repetition
    Text that is on other pages of the site belongs to the site, not to this article. If the
    reading is certain of a text, it must be on more of them. If most of the article itself is
    repeated, as on a second copy of a page, only text that is repeated more often counts.
Labels
    How blocks in such containers were labelled on labelled pages.
Novelty
    If most of the article is in containers that are frequent on the site, a block in a container
    that it never had is hardly part of it.
Comments
    Text below a heading of comments that many of the site's pages have is not the article,
    even if it looks like one.
Hints
    Evidence only for uncertain blocks: the words around them in such containers are repeated;
    they follow a text that the article always precedes, or precede one that it always follows; or
    in such containers blocks were the article less often than in the article's own. Hints spare the
    article's lead, a paragraph in a container of its own that looks like the text of a box.

All except labels are negative evidence. An empty memory says nothing. The constants were chosen on
one set of sites and verified on another: `python -m research.studies.site_memory`,
research/notes/site-memory.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import log
from typing import Final

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.naive_bayes import log_odds, logistic
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tokens import Bools, Floats, TokenIds
from scrapy_mss.sites.memory import BlockKeys, SiteMemory

MIN_PAGES = 3.0  # below that, shares of pages say nothing
REPETITION = 2.0  # log-odds for each unit of log(1 + STEEPNESS * share of pages)
STEEPNESS = 30.0  # one page in ten then counts two fifths of what all pages do
LABELS = 1.5  # how much the log-odds of labelled blocks count
MAX_LABELS = 4.0  # log-odds by labels of one container
NOVELTY = 2.0  # log-odds of a container that is new
OFTEN = 0.1  # share of pages
MANY_PAGES = 10.0  # that make novelty count half
COMMENTS = 6.0  # log-odds of what is below their heading, as of what labels are certain of
ABOVE_COMMENTS = 0.25  # share of what looks like the article: a link at its top has less above it
NEIGHBOURS = 1.0  # as REPETITION, by the mean share of the other words in such containers
ANCHORS = 2.5  # log-odds for each unit of log of the share of the article on that side
PLENTY, FEW = 0.3, 0.03  # shares: from the first on an anchor says nothing; the second is added
UNSETTLED = 3.0  # log-odds for each unit of log-odds that a container is below the article's
SETTLED = 0.8  # of the mean of the article's containers: from that on, one is like them
MAX_UNSETTLED = 4.0  # log-odds
LEAD_WORDS = 20  # with fewer, what is above an article is a byline or a caption as often
ABOVE_LEAD = 0.1  # share of the likely article
EVERYWHERE = 0.9  # share of the pages: what is on more is a notice, not another copy of an article
SURELY_MOST = 0.51  # of the likely words are not repeated: the median is 0 however they are added
MAX_LOG_ODDS = 9.0  # of a mean, as certain as one in 8,000
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
    texts: Floats
    containers: Floats

    @classmethod
    def of(cls, memory: SiteMemory, keys: BlockKeys) -> Recalled:
        """What *memory* knows of the blocks with these *keys*."""
        texts = memory.texts.find(keys.texts)
        return cls(keys, memory.pages, texts, memory.containers.find(keys.containers))


def block_evidence(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n]: the log-odds that are added to each block."""
    usual = usual_share(recalled, probability)
    counted = _counted(recalled, probability, usual)
    return counted + comments(recalled, probability) + labels(recalled)


def _numbers() -> tuple[Floats]:
    """The constants that `_counted` uses, as the compiled part has them."""
    of_texts = (REPETITION, STEEPNESS, NOVELTY, OFTEN, MANY_PAGES, NEIGHBOURS, ANCHORS)
    of_places = (MIN_PAGES, PLENTY, FEW, UNSETTLED, SETTLED, MAX_UNSETTLED)
    return (np.array([*of_texts, *of_places, LEAD_WORDS, ABOVE_LEAD, EVEN]),)


@accelerated(_numbers)
def _counted(recalled: Recalled, probability: Floats, usual: float) -> Floats:
    """float64[n], 0 or less: what counts tell of the blocks, labels apart."""
    doubt = 4 * probability * (1 - probability)
    repeated = repeated_share(recalled, usual)
    hints = neighbours(recalled.keys, repeated) + anchors(recalled)
    hints += unsettled(recalled, probability)
    hints *= doubt * ~leads(recalled, probability)
    by_itself = repetition(repeated, probability, doubt) + novelty(recalled, probability)
    return by_itself + hints


def usual_share(recalled: Recalled, probability: Floats) -> float:
    """The median share of the site's pages with the texts of the likely article, by words.

    It is 0 where that is next to all of the pages: these are no copies of one article.
    """
    pages, likely = recalled.texts[0], recalled.keys.words * probability * (probability > EVEN)
    if float(likely @ (pages == 0)) > SURELY_MOST * float(np.add.reduce(likely)):
        return 0.0
    ascending = np.argsort(pages, kind="stable")
    through = np.cumsum(likely[ascending])
    middle = int(np.searchsorted(through, through[-1] / 2))
    usual = float(pages[ascending][min(middle, len(pages) - 1)] / recalled.pages)
    return usual if usual < EVERYWHERE else 0.0


def repeated_share(recalled: Recalled, usual: float) -> Floats:
    """float64[n]: the share of the site's pages with the text, beyond what is *usual* here."""
    beyond: Floats = np.maximum(recalled.texts[0] / recalled.pages - usual, 0.0)
    return beyond


def repetition(repeated: Floats, probability: Floats, doubt: Floats) -> Floats:
    """float64[n], 0 or less: by the share of the pages that have the text."""
    return -REPETITION * _strength(
        np.where(probability > EVEN, repeated * np.sqrt(doubt), repeated)
    )


def neighbours(keys: BlockKeys, repeated: Floats) -> Floats:
    """float64[n], 0 or less: by how much the other words in such containers are repeated."""
    of_block, weighted = keys.by_container.of_block, keys.words * repeated
    others = np.bincount(of_block, keys.words)[of_block] - keys.words
    total = np.bincount(of_block, weighted)[of_block] - weighted
    mean: Floats = np.maximum(total, 0.0) / np.maximum(others, 1.0)
    return -NEIGHBOURS * _strength(mean * (others > 0))


def _strength(share: Floats) -> Floats:
    return np.log1p(STEEPNESS * share)


def leads(recalled: Recalled, probability: Floats) -> Bools:
    """bool[n]: the paragraphs of the page's own at the beginning of what looks like the article."""
    words = recalled.keys.words
    expected = words * probability
    through = expected.cumsum()
    is_above = through - expected < ABOVE_LEAD * through[-1]
    is_lead: Bools = is_above & (words >= LEAD_WORDS) & (recalled.texts[0] == 0)
    return is_lead


def labels(recalled: Recalled) -> Floats:
    """float64[n]: by what was labelled as the article in such containers."""
    _, _, labelled, votes = recalled.containers
    if not np.count_nonzero(labelled):
        return np.zeros(len(labelled))
    share = (votes + 0.5) / (labelled + 1)
    evidence = log_odds(share, MAX_LOG_ODDS) * np.abs(2 * share - 1)
    bounded: Floats = np.clip(evidence, -MAX_LABELS, MAX_LABELS)
    return LABELS * bounded


def unsettled(recalled: Recalled, probability: Floats) -> Floats:
    """float64[n], 0 or less: by containers that were the article less often than its own."""
    pages, votes, labelled, _ = recalled.containers
    weight = recalled.keys.words * probability**2 * (pages > 0)
    total = float(weight.sum())
    if not total:
        return np.zeros(len(probability))
    mean = (votes + EVEN) / (pages + 1)
    like_the_article = SETTLED * min(float(np.sum(weight * mean)) / total, 1.0)
    odds = np.log((votes + EVEN) / (np.maximum(pages - votes, 0.0) + EVEN))
    below = np.minimum(odds - log(like_the_article / (1 - like_the_article)), 0.0)
    evidence: Floats = np.maximum(UNSETTLED * below, -MAX_UNSETTLED) * pages
    evidence /= (pages + 2) * (labelled + 1)
    return evidence


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
    if _headings().isdisjoint(recalled.keys.texts.tolist()):  # as on most pages
        return below
    pages, once, before, _ = recalled.texts
    often = (pages > OFTEN * recalled.pages) & (pages >= MIN_PAGES)
    at = often[:-1].nonzero()[0]
    at = at[are_comment_headings(recalled.keys.texts[at])]
    is_above = (probability[at + 1] > EVEN) & ~often[at + 1]
    is_once = recalled.keys.once[at] & (once[at] >= MIN_PAGES)
    headings = at[is_above & is_once & (before[at] >= ABOVE_COMMENTS * once[at])]
    if len(headings):
        below[headings[0] :] = -COMMENTS
    return below


# Headings of readers' comments, as newspapers print them above a thread. The reading of a single
# page mistakes comments in markup without telling names for the article, and so does the memory of
# a site, which counts such readings. A heading is recognized by the whole text of its block.
HEADINGS: Final = """
comments, reader comments, readers' comments, your comments, letters, letters to the editor
kommentare, leserkommentare, kommentare zum artikel, lesermeinungen, leserbriefe
commentaires, vos commentaires, commentaires des lecteurs, réactions, vos réactions
comentarios, comentarios de los lectores, comentários, comentários dos leitores, comentaris
commenti, i commenti, commenti dei lettori, comentarii, reacties, lezersreacties
kommentarer, läsarkommentarer, kommentit, lukijoiden kommentit, kommentaarid
komentarze, komentarze czytelników, komentáře, komentari, komentáre, hozzászólások, yorumlar
комментарии, комментариев, комментария, комментарии читателей, коментарі, коментарів, коментари
σχόλια, σχόλια αναγνωστών, تعليقات, التعليقات, תגובות
评论, 条评论, 网友评论, 評論, 網友評論, 讀者回應, コメント, 件のコメント, 댓글, bình luận
"""
_FORMS: Final = (
    *("{}", "{}:", "{} (1)", "{}: 1", "{} 1", "1 {}", "({}) 1", "{} [1]"),
    *("(1) {}", "{}\N{FULLWIDTH LEFT PARENTHESIS}1\N{FULLWIDTH RIGHT PARENTHESIS}"),
    *(form for n in ("1,1", "1.1", "1 1") for form in (f"{{}} ({n})", f"{{}} [{n}]", f"{n} {{}}")),
)
_APOSTROPHE: Final = "\N{RIGHT SINGLE QUOTATION MARK}"


def are_comment_headings(texts: TokenIds) -> Bools:
    """bool[n]: which of the hashes of blocks' *texts* (uint64[n]) are headings of comments."""
    known = _headings()
    return np.array([text in known for text in texts.tolist()], np.bool_)


@cache
def _headings() -> frozenset[int]:
    """The hashes of all headings in all forms; any number counts as 1."""
    names = HEADINGS.strip().replace("\n", ", ").split(", ")
    spelled = {form for name in names for form in (name, name.replace("'", _APOSTROPHE))}
    # A page each: one of a thousand short blocks is not read block by block.
    lines = ("".join(f"<p>{form.format(name)}</p>" for form in _FORMS) for name in spelled)
    return frozenset(text for each in lines for text in Page.of(each).text_hashes.tolist())
