"""Reads a page with a rule and the model: the rule says where, the model what is text.

A rule with `around` labels a place. The article is what the model keeps there and onwards
(`blocks.runs`), without what the rule excludes. If the model keeps almost nothing at the place,
compared with the whole page, or is almost certain that the page is not an article, the rule is
not for this page: it counts as not matching, and the model reads the page without it.

labelling = read_by(wrapper, Page.of(html), Extractor())
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from scrapy_mss.blocks.explanation import Decision, ExplainedBlock
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.runs import kept_at
from scrapy_mss.extractor import Explanation, Extraction, Extractor, Site
from scrapy_mss.markup.elements import Counts
from scrapy_mss.markup.rendering import readable
from scrapy_mss.markup.tokens import Tokens
from scrapy_mss.wrappers import Labelling, Reason, Wrapper, label

LEAST_SHARE: Final = 0.1  # of the words that the model keeps, below which the place is another one
# The rule says that its pages are articles. Of 671 articles of sites none is below it and of other
# pages a quarter; of .5, below which a page without a rule is none, 28 and two thirds.
LEAST_PROBABILITY: Final = 0.05


def read_by(
    wrapper: Wrapper, page: Page, extractor: Extractor, site: Site | None = None
) -> Labelling:
    """The article of *page* by *wrapper*, with the model of *extractor* if it leaves that to it."""
    found = label(wrapper, page.tokens.source, page.tokens)
    if wrapper.body or found.reason is not None:
        return found
    return read_at(found, page, extractor.extract_page(page, site))


def read_tokens(wrapper: Wrapper, tokens: Tokens, url: str, extractor: Extractor) -> Labelling:
    """The same of the *tokens* of the page at *url*."""
    return read_by(wrapper, Page(tokens, url), extractor)


def read_at(
    place: Labelling,
    page: Page,
    extraction: Extraction,
    least_probability: float = LEAST_PROBABILITY,
) -> Labelling:
    """The article at a *place* that a rule has labelled, by the *extraction* of the same page."""
    kept = kept_at(page, extraction.kept, place.inside, place.excluded)
    is_word = page.tokens.is_word
    n_kept = np.count_nonzero(extraction.kept & ~place.excluded & is_word)
    n_at_place = np.count_nonzero(kept & place.inside & is_word)
    is_article = extraction.probability >= least_probability
    if not is_article or n_at_place <= LEAST_SHARE * n_kept:
        nothing = np.zeros_like(kept)
        return Labelling(
            place.wrapper, page.tokens, nothing, nothing, Reason.NOT_READ, failures=place.failures
        )
    return replace(place, inside=kept, text=readable(page.tokens, kept))


def explained(explanation: Explanation, rule: Wrapper) -> Explanation:
    """An *explanation* of the model's reading with what *rule* changes, if it is for the page."""
    extraction = explanation.extraction
    page = Page(extraction.tokens, extraction.url)
    found = label(rule, page.tokens.source, page.tokens)
    if rule.around and found.reason is None:
        found = read_at(found, page, extraction)
    if found.reason is not None:
        return explanation
    by_rule = replace(
        extraction, text=found.text, kept=found.inside, probability=1.0, is_article=True
    )
    n_words = np.append(0, np.cumsum(found.inside & page.tokens.is_word))
    blocks = tuple(
        replace(block, decision=_decision(block, n_words)) for block in explanation.blocks
    )
    return replace(explanation, extraction=by_rule, blocks=blocks)


def _decision(block: ExplainedBlock, n_words: Counts) -> Decision:
    """What was decided about a *block* with the rule, which keeps *n_words* before each token."""
    if n_words[block.last + 1] > n_words[block.first]:
        return Decision.KEPT
    return Decision.LEFT_OUT if block.decision is Decision.KEPT else block.decision
