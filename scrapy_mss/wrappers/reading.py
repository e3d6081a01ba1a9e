"""Rules and the model: on one page, on the pages that a rule was written for, and for training.

A rule with `around` labels a place. The article is what the model keeps there and onwards
(`blocks.runs`), without what the rule excludes. If the model keeps almost nothing at the place,
compared with the whole page, or is almost certain that the page is not an article, the rule is
not for this page: it counts as not matching, and the model reads the page without it.

labelling = read_by(wrapper, Page.of(html), Extractor())
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from scrapy_mss.blocks.explanation import Decision, ExplainedBlock
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.selection import kept_at
from scrapy_mss.core.labels import Rejection
from scrapy_mss.extractor import Explanation, Extraction, Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.markup.rendering import readable
from scrapy_mss.markup.tokens import Counts
from scrapy_mss.models.model import Example, Model, example_of
from scrapy_mss.pages.kinds import ARTICLE, Verdict
from scrapy_mss.wrappers.labeller import Labelling, Reason, label, unlabelled
from scrapy_mss.wrappers.registry import Registry
from scrapy_mss.wrappers.rules import Wrapper

MIN_SHARE: Final = 0.1  # of the words that the model keeps, below which the place is another one
# The rule says that its pages are articles. Of 671 articles of sites none is below it and of other
# pages a quarter; of .5, below which a page without a rule is no article, 28 and two thirds.
MIN_PROBABILITY: Final = 0.05

NO_PAGE = "no page"
LABELLED = "labelled"

NO_WRAPPER: Final = "no wrapper"


def read_by(wrapper: Wrapper, page: Page, extractor: Extractor) -> Labelling:
    """The article of *page* by *wrapper*, with the model of *extractor* if it leaves that to it."""
    found = label(wrapper, page.tokens)
    if wrapper.body or found.reason is not None:
        return found
    return read_at(found, page, extractor.extract_page(page))


def read_at(
    place: Labelling, page: Page, extraction: Extraction, least_probability: float = MIN_PROBABILITY
) -> Labelling:
    """The article at a *place* that a rule has labelled, by the *extraction* of the same page."""
    kept = kept_at(page, extraction.kept, place.inside, place.excluded)
    is_word = page.tokens.is_word
    n_kept = np.count_nonzero(extraction.kept & ~place.excluded & is_word)
    n_at_place = np.count_nonzero(kept & place.inside & is_word)
    is_article = extraction.probability >= least_probability
    if not is_article or n_at_place <= MIN_SHARE * n_kept:
        return unlabelled(place.wrapper, page.tokens, Reason.NOT_READ, place.failures)
    return replace(place, inside=kept, text=readable(page.tokens, kept))


def explained(explanation: Explanation, rule: Wrapper) -> Explanation:
    """An *explanation* of the model's reading with what *rule* changes, if it is for the page."""
    extraction = explanation.extraction
    page = Page(extraction.tokens, extraction.url)
    found = label(rule, page.tokens)
    if rule.around and found.reason is None:
        found = read_at(found, page, extraction)
    if found.reason is not None:
        return explanation
    by_rule = replace(extraction, text=found.text, kept=found.inside, probability=1.0, kind=ARTICLE)
    n_words = np.append(0, np.cumsum(found.inside & page.tokens.is_word))
    blocks = tuple(
        replace(block, decision=_decision(block, n_words)) for block in explanation.blocks
    )
    verdict = Verdict(ARTICLE, "the rule of its site", rule.id)
    return replace(explanation, extraction=by_rule, blocks=blocks, verdict=verdict)


def _decision(block: ExplainedBlock, n_words: Counts) -> Decision:
    """What was decided about a *block* with the rule, which keeps *n_words* before each token."""
    if n_words[block.last + 1] > n_words[block.first]:
        return Decision.KEPT
    return Decision.LEFT_OUT if block.decision is Decision.KEPT else block.decision


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one wrapper made of one of its test pages."""

    wrapper: str
    url: str
    status: str
    words: int = 0
    missing: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()  # fields of the wrapper whose selectors select nothing

    @property
    def good(self) -> bool:
        """Whether it is as it should be; a page may have nothing to exclude."""
        return self.status == LABELLED and not self.missing and not {*self.missed} - {"exclude"}


def checked(
    wrappers: Iterable[Wrapper], url: str, html: str, extractor: Extractor
) -> Iterator[Outcome]:
    """What each of the *wrappers* that has *url* among its test pages makes of the page."""
    page = Page.of(html, extractor.profile.stem, url)
    is_word = page.tokens.is_word
    for wrapper in wrappers:
        for example in wrapper.tests:
            if example.url == url:
                found = read_by(wrapper, page, extractor)
                status = found.reason.value if found.reason else LABELLED
                words = int((found.inside & is_word).sum())
                missing = tuple(part for part in example.contains if part not in found.text)
                yield Outcome(wrapper.id, url, status, words, missing, found.missed)


def example_on(page: StoredPage, wrappers: Registry, model: Model) -> Example | str:
    """What *model* learns from *page*, or why nothing."""
    wrapper = wrappers.find(page.url)
    if wrapper is None:
        return NO_WRAPPER
    if wrapper.around:
        return Rejection.READ_BY_MODEL.value
    labelling = label(wrapper, page.html)
    if labelling.reason is not None:
        return labelling.reason.value
    example = example_of(Page(labelling.tokens, page.url), labelling.inside, model)
    return example.value if isinstance(example, Rejection) else example
