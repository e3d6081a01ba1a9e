"""Is this page an article, and how sure are we?

The paper's answer needs the text alone. An article has at least two paragraphs and eight
sentences; menus, galleries and teasers seldom do. How sure the classifier is of the span it chose
is the mean of its tokens' probabilities, which the scores give back: score = probability - 1/2.

A judge has learned its answer from articles and other pages: what it looks at are the passages
that were kept, how they stand out, and what the page says it is.
"""

from __future__ import annotations

import re

import numpy as np

from scrapy_mss.blocks import container_features as agreement
from scrapy_mss.blocks.segmentation import Passages
from scrapy_mss.blocks.selection import line
from scrapy_mss.core.subsequence import Span
from scrapy_mss.markup.tokens import Bools, Floats

FEWEST_PARAGRAPHS = 2
FEWEST_SENTENCES = 8
N_OF_TEXT = 16  # numbers that a judge decides by, those of the text alone
N_OPEN = 27  # with those of the headline and of what the page says
N_LOOKS = N_OPEN + N_OF_TEXT + 1  # with those of the text of a page that says nothing
AROUND = 1  # the element in which the text of an article stands together, if it is one
SAYING = slice(19, 24)  # what it is, and when it was written
EVEN = 0.5  # the probability from which a page is taken for an article

# What pages say they are: schema.org types and OpenGraph's og:type.
# Each begins with letters, which a search finds many times as fast as either of two quotes.
_SAID = (
    re.compile(r"""@type["']\s*:\s*(?:\[\s*)?["']([A-Za-z]{1,40})["']"""),
    re.compile(r"""og:type["']\s+content\s*=\s*["']([a-z.]{1,40})["']"""),
)
_NOTHING = np.zeros(N_OF_TEXT + 1)
_SHOP = frozenset({"Product", "Offer", "product", "SoftwareApplication", "LocalBusiness"})
_TALK = frozenset({"DiscussionForumPosting", "QAPage", "Question", "Comment", "Answer"})
_LIST = frozenset({"CollectionPage", "ItemList", "SearchResultsPage", "website"})
_DATED = ("published_time", "datePublished", "pubdate", "<time")
_SIGNED = ('"author"', "'author'", "byline", "article:author")
_PRICED = ('"price"', "add-to-cart", "add_to_cart", "addtocart")
_ANSWERED = ("forum", "thread", "reply")

_SENTENCE_END = re.compile(
    r"[.!?\u2026\u0964\u061f\u06d4](?=[\"'\u201d\u2019\u00bb)\]]*(?:\s|$))|[\u3002\uff01\uff1f]"
)


def is_article(text: str) -> bool:
    """Whether *text*, with paragraphs parted by empty lines, is long enough to be an article."""
    paragraphs = text.count("\n\n") + bool(text)
    return paragraphs >= FEWEST_PARAGRAPHS and count_sentences(text) >= FEWEST_SENTENCES


def count_sentences(text: str) -> int:
    """How often a sentence ends in *text*."""
    return sum(1 for _ in _SENTENCE_END.finditer(text))


def span_probability(scores: Floats, span: Span) -> float:
    """The mean probability of the span's tokens; 0 for an empty span."""
    if span.start == span.end:
        return 0.0
    mean = float(scores[span.start : span.end].mean())
    return min(1.0, max(0.0, mean + 0.5))


def looks_of(passages: Passages, score: Floats, probability: Floats, kept: Bools) -> Floats:
    """What a judge decides by, from the *score* and *probability* of passages: float64[n_looks].

    Pages of today say what they are, in data for search engines; those of sites that do not, old
    ones above all, must not be lost for that, and are decided by their text alone.
    """
    words = passages.words * kept
    size = max(float(words.sum()), 1.0)
    measured = passages.looks

    def mean(values: Floats) -> float:
        return float((values * words).sum() / size)

    n_kept, n_words = int(kept.sum()), max(float(passages.words.sum()), 1.0)
    sentences = float(np.expm1(measured["ends"])[kept].sum())
    looks = np.array(
        [
            np.log1p(size),
            np.log1p(n_kept),
            mean(probability),
            float(probability.max(initial=0.0)),
            2.0 * line(probability, passages),
            size / n_words,
            np.log1p(n_words),
            mean(passages.linked_words / np.maximum(passages.words, 1)),
            np.log1p(size / max(n_kept, 1)),
            np.log1p(sentences),
            sentences / size,
            mean(measured["is_li"]),
            mean(measured["closed"]),
            mean(measured["is_pre"]),
            mean(score),
            mean(agreement.held(passages, score, AROUND)),
            mean(measured["in_article"]),
            float(measured["headline_titled"].max(initial=0.0)),
            float(measured["main_headings"].max(initial=0.0)),
            *_said(passages.tokens.source),
        ]
    )
    return looks_of_silent(looks) if not looks[SAYING].any() else np.append(looks, _NOTHING)


def looks_of_silent(looks: Floats) -> Floats:
    """The same page as if it said nothing of itself."""
    return np.concatenate((np.zeros(N_OPEN), looks[:N_OF_TEXT], [1.0]))


def _said(source: str) -> tuple[float, ...]:
    """What the page says it is, and whether it has what articles, shops and forums have."""
    said = {kind for pattern in _SAID for kind in pattern.findall(source)}
    article = any(kind.lower().endswith(("article", "blogposting")) for kind in said)
    kinds = (_SHOP, _TALK, _LIST)
    signs = (_DATED, _SIGNED, _PRICED, _ANSWERED)
    return (
        float(article),
        *(float(not said.isdisjoint(kind)) for kind in kinds),
        *(np.log1p(sum(source.count(sign) for sign in group)) for group in signs),
    )
