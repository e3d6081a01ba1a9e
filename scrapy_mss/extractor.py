"""The path of a page through the product, from HTML to the article. Read it from top to bottom.

    html -> page -> evidence -> block probabilities [-> site] -> span -> Extraction

The bundled model classifies text blocks: Naive Bayes evidence, whose counts keep growing in a
crawl, and a small network on top of it give each block a probability, and the maximum
subsequence of the block scores is the article. A model of the paper's profiles scores tokens with
Naive Bayes only, and by the paper's untrained baseline before it has learned a page. The same page
and counts always give the same extraction. In a crawl, what other pages of the site tell may change
the probabilities of the blocks (`scrapy_mss.sites`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.blocks.explanation import (
    SITE,
    ExplainedBlock,
    decisions,
    explained_blocks,
    group_effects,
)
from scrapy_mss.blocks.lessons import corrected
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import (
    ReadPage,
    confidence_features,
    page_features,
    without_address,
)
from scrapy_mss.blocks.places import BlocksRead
from scrapy_mss.blocks.selection import (
    Selection,
    article_tokens,
    of_story,
    select,
    token_scores,
)
from scrapy_mss.core.cleaning import (
    cut_at_boundary,
    is_article,
    keep,
    remove,
    simple_scores,
    span_probability,
    trimmed,
)
from scrapy_mss.core.labels import MIN_SHARE, Rejection, align, has_words
from scrapy_mss.core.naive_bayes import log_odds
from scrapy_mss.core.subsequence import Span, best_span
from scrapy_mss.files.charsets import damage, decoded
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.rendering import readable, render, well_formed
from scrapy_mss.markup.tokens import Bools, Floats, Tokens
from scrapy_mss.models.files import bundled_model, is_complete, load_with_bundled, write_model
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PROFILES, Profile
from scrapy_mss.output.markdown import markdown
from scrapy_mss.output.sanitizing import sanitized
from scrapy_mss.pages.kinds import (
    ARTICLE,
    ARTICLE_KINDS,
    LIVE_BLOG,
    OTHER,
    REPEATED,
    Verdict,
    verdict_of,
)
from scrapy_mss.pages.page_facts import PageFacts

if TYPE_CHECKING:
    from typing_extensions import Self

    from scrapy_mss.metadata.completeness import Completeness
    from scrapy_mss.metadata.live_entries import LiveEntry
    from scrapy_mss.metadata.parsed_page import ParsedPage
    from scrapy_mss.sites.context import SiteContext

MIN_ARTICLE_PROBABILITY = 0.5  # from which the page classifier takes a page for an article


@dataclass(frozen=True, eq=False)
class Extraction:
    """A page's article and how it was found.

    ``probability`` is the probability that the page is an article. ``confidence`` is the expected
    F1 of the text if it is one; None if it cannot be estimated, as with profiles of the paper.
    ``kind`` is what the page is, one of `scrapy_mss.pages.kinds.KINDS`.
    ``page`` is the page with its ``tokens``; ``span`` is in tokens; ``kept`` is true for the tokens
    that make up ``text`` and ``html``.
    """

    text: str
    span: Span
    probability: float
    kind: str
    page: Page
    kept: Bools
    _scores: Callable[[], Floats] = field(repr=False)
    confidence: float | None = None

    @property
    def is_article(self) -> bool:
        """Whether the page is an article or a live blog."""
        return self.kind in ARTICLE_KINDS

    @property
    def tokens(self) -> Tokens:
        """The tokens of the page."""
        return self.page.tokens

    @lazy
    def scores(self) -> Floats:
        """float64[n_tokens]: how much each token speaks for being inside the article."""
        return self._scores()

    @property
    def url(self) -> str:
        """The page's address, if given."""
        return self.page.url

    @property
    def html(self) -> str:
        """The article's HTML, safe to show. Relative links are dropped without ``url``."""
        return sanitized(self.tokens, self.kept, self.url)

    @property
    def markdown(self) -> str:
        """The article as Markdown, from `html`."""
        return markdown(self.html)

    @lazy
    def parsed(self) -> ParsedPage:
        """The page in the views from which fields are read."""
        from scrapy_mss.metadata.parsed_page import ParsedPage  # which extracting does not need

        return ParsedPage(self.tokens, self.url)

    @property
    def is_complete(self) -> bool | None:
        """Whether the text is the whole article; None if the page does not say so."""
        return self._completeness.is_complete

    @property
    def incomplete_reason(self) -> str | None:
        """Why the text is not the whole article: ``paywall``, ``cut_end`` or ``word_count``."""
        return self._completeness.incomplete_reason

    @lazy
    def _completeness(self) -> Completeness:
        from scrapy_mss.metadata.completeness import completeness

        return completeness(self.parsed, self.text)

    @lazy
    def entries(self) -> list[LiveEntry]:
        """The entries of a live blog, in the order of the page; none of any other kind."""
        if self.kind != LIVE_BLOG:
            return []
        from scrapy_mss.metadata.live_entries import live_entries
        from scrapy_mss.metadata.parsed_page import ParsedPage

        # Not `parsed`: what was read of that before has spent visits.
        return live_entries(ParsedPage(self.tokens, self.url), self.kept)

    @property
    def raw_html(self) -> str:
        """The page's own source with cut tags opened and closed: not safe to show.

        It may contain scripts, event handlers, frames and forms.
        """
        return well_formed(self.tokens, self.kept)


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """An extraction, and the decision about each block of its page.

    A block is kept if its probability is above the ``threshold`` and it is in the article's span;
    a data table is kept or left out as a whole. ``verdict.reason`` is why the page is of its kind.
    """

    extraction: Extraction
    threshold: float
    blocks: tuple[ExplainedBlock, ...]
    verdict: Verdict

    def text_of(self, block: ExplainedBlock) -> str:
        """The text of one of the ``blocks``, on one line."""
        tokens = self.extraction.tokens.part(block.first, block.last + 1)
        return " ".join(render(tokens, ~tokens.is_tag).split())


class _Reading(NamedTuple):
    """A page as its blocks were read, and what was chosen by that.

    *alone* are the probabilities of its blocks by the bundled model alone: float64[n].
    *by_itself* is what was chosen before the memory of its site was asked, if it was.
    """

    page: ReadPage
    chosen: Selection
    article_probability: float
    alone: Floats
    by_itself: Selection | None = None


class Extractor:
    """Finds the article in a page, and learns from pages whose article is known.

    >>> Extractor().extract("<p>One line.</p>").text
    'One line.'
    """

    def __init__(
        self, model: str | os.PathLike[str] | None = None, *, profile: str | None = None
    ) -> None:
        """Use the bundled model, the one in the file *model*, or an empty one of a *profile*.

        What a crawl has written to a file is used beside the bundled model. The profiles of the
        paper begin with simple MSS, its untrained baseline.
        """
        if model is not None and profile is not None:
            raise ValueError("expected a model or a profile: a model has a profile of its own")
        if profile not in (None, *PROFILES):
            raise ValueError(f"expected a profile, one of {', '.join(PROFILES)}; got {profile!r}")
        if model is not None:
            self.model = load_with_bundled(model)
        else:
            is_bundled = profile in (None, DEFAULT.name)
            self.model = bundled_model() if is_bundled else Model(PROFILES[str(profile)])
        self.profile = self.model.profile

    @classmethod
    def of(cls, model: Model, profile: Profile | None = None) -> Self:
        """An extractor with *model* itself, used with its own profile or with *profile*."""
        profile = profile or model.profile
        if model.profile.families != profile.families:
            raise ValueError(
                f"a model of profile {model.profile.name!r} (features "
                f"{', '.join(model.profile.families)}) cannot be used as "
                f"{profile.name!r}, which needs {', '.join(profile.families)}"
            )
        extractor = cls.__new__(cls)
        extractor.model, extractor.profile = model, profile
        return extractor

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to the file *path*, replacing what was there."""
        write_model(path, self.model)

    def extract(self, html: str | bytes, url: str | None = None) -> Extraction:
        """The article in *html*, the source of the page at *url*, which makes links absolute.

        The encoding of bytes is found in them.
        """
        return self.extract_page(self._page(html, url))

    def extract_page(self, page: Page, site: SiteContext | None = None) -> Extraction:
        """The article in a tokenized page, using the memory of its *site*."""
        if self.model.classifier is None:
            return self._by_tokens(page)
        reading = self._read(page, self.model.classifier, site)
        extraction, _ = self._by_blocks(reading, self.model.classifier)
        return extraction

    def explain(self, html: str | bytes, url: str | None = None) -> Explanation:
        """The extraction of `extract` with the same arguments, explained block by block.

        This needs a model with a block classifier, such as the bundled one.
        """
        return self.explain_page(self._page(html, url))

    def explain_page(self, page: Page, site: SiteContext | None = None) -> Explanation:
        """The extraction of `extract_page` with the same arguments, explained block by block."""
        classifier = self.model.classifier
        if classifier is None:
            raise ValueError(
                "only a model with a block classifier can explain, such as that of Extractor(); "
                f"this extractor has the profile {self.profile.name!r}"
            )
        reading = self._read(page, classifier, site)
        extraction, verdict = self._by_blocks(reading, classifier)
        effects = group_effects(classifier, page, reading.page.inputs)
        if site is not None or len(self.model.learned.lessons):
            effects[SITE] = log_odds(reading.page.probability) - log_odds(reading.alone)
        found = decisions(page, reading.chosen, extraction.kept)
        zero = reading.chosen.threshold - self.profile.bias
        blocks = explained_blocks(page, reading.page.probability, found, effects)
        return Explanation(extraction, zero, blocks, verdict)

    def learn(self, html: str | bytes, text: str, url: str | None = None) -> str | None:
        """Learn the page at *url*, whose article is *text*; why it is rejected, or None.

        ``empty``: the text has no words. ``not_found``: the page has less than half of them in one
        place. ``already_learned``: the same text at the same address. ``model_full``: the counts
        have reached their limit.
        """
        page = self._page(html, url)
        inside, share = align(page.tokens, text)
        if not has_words(text):
            rejection: Rejection | None = Rejection.EMPTY
        elif share < MIN_SHARE:
            rejection = Rejection.NOT_FOUND
        else:
            rejection = self.model.learn_once(page, inside)
        return rejection.value if rejection else None

    def _page(self, html: str | bytes, url: str | None) -> Page:
        source = decoded(html) if isinstance(html, bytes) else html
        return Page.of(source, self.profile.stem, url or "")

    def _read(self, page: Page, classifier: BlockClassifier, site: SiteContext | None) -> _Reading:
        """What is known of the text blocks and decided by it: the bundled model's way."""
        inputs = classifier.inputs(page, self.model.bayes)
        untaught = classifier.networks.probabilities(page, inputs)
        alone, by_labels = self._taught(page, classifier, untaught)
        chosen = select(page, alone, self.profile.bias)
        read = ReadPage(page, inputs, alone, chosen.kept, chosen.threshold)
        features = page_features(read)
        likely = classifier.article_probability(features) if chosen.span.end else 0.0
        by_itself, probability, with_site = None, alone, likely
        if site is not None:
            # What is counted of addresses must not come from the page's address itself.
            without = classifier.article_probability(without_address(features))
            by_page = without if chosen.span.end else 0.0
            probability = site.block_probabilities(page, alone, by_page, by_labels)
        elif by_labels is not None:
            probability = corrected(alone, by_labels)
        if probability is not alone:  # as it is of a site of which nothing is known
            by_itself, chosen = chosen, select(page, probability, self.profile.bias)
            read = read.again(probability, chosen.kept, chosen.threshold)
            with_site = classifier.article_probability(page_features(read))
        if site is not None:
            likely = site.article_probability(likely, with_site)
        else:  # blocks can show that a page is no article, not that it is one
            likely = min(likely, with_site)
        # What stands beside a story also tells what is no article: a thread, a list. So that is
        # decided by the whole; only then is an article's text that of its story alone.
        if likely >= MIN_ARTICLE_PROBABILITY:
            whole, chosen = chosen, of_story(page, chosen, read.probability, self.profile.bias)
            if chosen is not whole:
                read = read.again(read.probability, chosen.kept, chosen.threshold)
        return _Reading(read, chosen, likely, untaught, by_itself)

    def _taught(
        self, page: Page, classifier: BlockClassifier, untaught: Floats
    ) -> tuple[Floats, Floats | None]:
        """The probability of each block with what sites teach, and what labels of its own add.

        *untaught* is that by the bundled model alone.
        """
        lessons = self.model.learned.lessons
        taught = lessons.taught(BlocksRead(page, untaught)) if len(lessons) else None
        if taught is None:
            return untaught, None
        correction = taught.by_others
        if taught.counts_weight:
            inputs = classifier.inputs(page, self.model.counted())
            counted = classifier.networks.probabilities(page, inputs)
            effect = log_odds(counted) - log_odds(untaught)
            correction = correction + taught.counts_weight * effect
        return corrected(untaught, correction), taught.by_site

    def _by_blocks(
        self, reading: _Reading, classifier: BlockClassifier
    ) -> tuple[Extraction, Verdict]:
        """The article as *reading* has chosen it, and why the page is of its kind."""
        page, chosen = reading.page.page, reading.chosen
        kept = self._kept(page, chosen)
        text = readable(page.tokens, kept)
        likely = reading.article_probability if text else 0.0
        facts = facts_of(reading.page, kept, text, likely)
        verdict = verdict_of(facts)
        if not verdict.sign and facts.is_short_article:
            verdict = self._verdict_by_itself(reading, kept) or verdict
        confidence = 0.0
        if text:  # words that were decoded wrongly are none of the article's
            expected = classifier.confidence(confidence_features(reading.page))
            confidence = expected * (1 - damage(text))
        extraction = Extraction(
            text=text,
            span=chosen.span,
            probability=likely,
            kind=verdict.kind,
            page=page,
            kept=kept,
            _scores=partial(token_scores, page, chosen.of_blocks),
            confidence=confidence,
        )
        return extraction, verdict

    def _verdict_by_itself(self, reading: _Reading, kept: Bools) -> Verdict | None:
        """What the page is, if its site's memory has taken away what says so; *kept* is left."""
        page, chosen = reading.page.page, reading.by_itself
        before = self._kept(page, chosen) if chosen is not None else kept
        if np.array_equal(before, kept):
            return None
        text = readable(page.tokens, before)
        facts = facts_of(reading.page, before, text, reading.article_probability)
        verdict = verdict_of(facts, REPEATED)
        return verdict if verdict.sign else None

    def _kept(self, page: Page, chosen: Selection) -> Bools:
        """bool[n_tokens]: the text of what was *chosen*, without what the rules leave out."""
        kept = article_tokens(page, chosen)
        remove(page.tokens, chosen.span, self.profile.rules, kept)
        return kept

    def _by_tokens(self, page: Page) -> Extraction:
        """The article by scores of tokens: the paper's way, section 6."""
        tokens, scores = page.tokens, self.scores(page)
        span = cut_at_boundary(best_span(scores), tokens, scores, self.profile.boundaries)
        span = trimmed(tokens, span)
        kept = keep(tokens, span, self.profile.rules)
        text = render(tokens, kept)
        probability = span_probability(scores, span)
        kind = ARTICLE if is_article(text) else OTHER
        return Extraction(text, span, probability, kind, page, kept, partial(np.asarray, scores))

    def scores(self, page: Page) -> Floats:
        """How much each token speaks for being inside the article: float64[n_tokens]."""
        if not is_complete(self.model):
            raise ValueError(
                f"a model of profile {self.model.profile.name!r} that has counts alone cannot "
                "extract: its counts are evidence for a block classifier. Save it and use "
                "Extractor(model=path), which adds the bundled model"
            )
        bayes, profile = self.model.bayes, self.profile
        if not bayes.pages:
            return simple_scores(page.tokens)
        return bayes.probability(page, neighbours=profile.neighbours) - 0.5 + profile.bias


def facts_of(read: ReadPage, kept: Bools, text: str, likely: float) -> PageFacts:
    """What tells of which kind a page is, whose *text* is that of the *kept* tokens."""
    page = read.page
    return PageFacts(
        page.tokens,
        kept,
        text,
        page.declarations,
        read.address,
        page.title,
        all_words=int(page.total_words),
        likely=likely >= MIN_ARTICLE_PROBABILITY,
        requested=page.requested,
    )
