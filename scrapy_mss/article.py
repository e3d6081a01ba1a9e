"""From a page's HTML and URL to its article: the one function for crawls, workers and commands.

    text of the article -> is it one? -> metadata of the page -> Article

Everything it needs is passed in, and its result can be sent between processes. The state of the
model that read the page is part of the result: it is taken with the model, before the page is read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from scrapy_mss import metadata
from scrapy_mss.blocks.fed_text import FedText, own_tokens
from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import MIN_ARTICLE_PROBABILITY, Extraction, Extractor
from scrapy_mss.items import FEED, PAGE, SOURCES, TEXT, WRAPPER, Article, values_of
from scrapy_mss.markup.rendering import readable, well_formed
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.metadata.authors import author_names
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.metadata.languages import language_of
from scrapy_mss.metadata.live_entries import LiveEntry
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.models.model import Model
from scrapy_mss.output.markdown import markdown
from scrapy_mss.output.media import IMAGE, kept_media, media_fields
from scrapy_mss.output.sanitizing import base_url, sanitized
from scrapy_mss.pages.addresses import absolute_url
from scrapy_mss.pages.kinds import ARTICLE, ARTICLE_KINDS, LIVE_BLOG, WITHOUT_TEXT
from scrapy_mss.pages.reservations import META, Reservation, stated
from scrapy_mss.pages.text import clean
from scrapy_mss.pages.tree import PageTree
from scrapy_mss.seen.paragraphs import Paragraphs, with_sentences
from scrapy_mss.sites.context import SiteContext

if TYPE_CHECKING:
    from scrapy_mss.wrappers import Labelling

logger = logging.getLogger(__name__)

# Why a page has no article.
NO_TEXT = "no_text"  # the page has no word at all
NO_SPAN = "no_span"  # no text was found
UNLIKELY = "unlikely"  # there is text, but the page is probably not an article
OTHER_KIND = "other_kind"  # a sign says that the page is of a kind that is not asked for

MODEL = "model"  # what read a page, beside a wrapper
MAX_LINE = 2_000  # characters of a title, or of a name, that a feed has


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model and the name of the state that it is in; a model that learns outlives many."""

    model: Model
    identifier: str

    @classmethod
    def of(cls, model: Model) -> ModelState:
        """The state that *model* is in now."""
        return cls(model, model.identifier)


@dataclass(frozen=True, slots=True)
class ArticleResult:
    """What came of reading a page: its article, or the reason why it has none.

    *source* is what read it, *model_state* names the state of the model where that did, and
    *certainty*, from 0 to 1, how certain it was. *kind* is what the page is, empty if it was not
    read or the result is not wanted whatever it is. *next_page* is where the article goes on,
    *paragraphs* those of the page, if they are asked for, as `Paragraphs` writes them.
    *reservations* are what it says on its use by machines.
    """

    article: Article | None = None
    reason: str = ""
    source: str = ""
    seconds: float = 0.0
    model_state: str = ""
    certainty: float | None = None
    kind: str = ""
    next_page: str = ""
    paragraphs: bytes = b""
    reservations: tuple[Reservation, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """The values for an item; for a page without an article its kind, and a probability of 0.

        Lists are copies: several items may be filled from one result.
        """
        if self.article is None:
            return {"kind": self.kind or None, "probability": 0.0}
        return values_of(self.article)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How pages are read.

    *fields* are those of the optional ones that articles are to have. Pages of the *kinds* alone
    are articles. *site* is what is known of the page's site, if sites are remembered. *requested*
    is the address that was asked for, if the page's is another. A *further* page of an article is
    one whatever it looks like: the last is often short. With *paragraphs*, the result has those of
    the page, by which its changes are recognized; *emitted* are those with which its article was
    emitted before.
    """

    fields: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ARTICLE_KINDS
    site: SiteContext | None = None
    requested: str = ""
    further: bool = False
    paragraphs: bool = False
    emitted: Paragraphs | None = None

    def paragraphs_of(
        self, page: Page, inside: Bools, text: str, *, certain: bool = False
    ) -> bytes:
        """The paragraphs of *page* whose article is *inside*, as *text*, if they are asked for."""
        if not self.paragraphs:
            return b""
        found = Paragraphs.of_page(page, inside, certain=certain)
        return with_sentences(found, text).to_bytes()


READ_OPTIONS = ReadOptions()


def read_article(
    page: str | Tokens, url: str, state: ModelState, options: ReadOptions = READ_OPTIONS
) -> ArticleResult:
    """The article in the *page* at *url*, by the model in *state*.

    A page is its HTML, or its tokens, with the stems of the model's profile, if they are at hand.
    """
    started = perf_counter()
    extractor = Extractor.of(state.model)
    tokens = tokenize(page, extractor.profile.stem) if isinstance(page, str) else page
    extraction = extractor.extract_page(Page(tokens, url, options.requested), options.site)
    result = article_of_extraction(extraction, state, options)
    return replace(result, seconds=perf_counter() - started)


def article_of_extraction(
    extraction: Extraction, state: ModelState, options: ReadOptions = READ_OPTIONS
) -> ArticleResult:
    """The article that the model in *state* has found in a page, if it is one."""
    url = extraction.url
    result = ArticleResult(
        source=MODEL,
        model_state=state.identifier,
        certainty=_certainty(extraction),
        kind=extraction.kind,
        paragraphs=options.paragraphs_of(extraction.page, extraction.kept, extraction.text),
    )
    if not (extraction.text and (options.further or extraction.kind in options.kinds)):
        is_lost = extraction.kind in WITHOUT_TEXT  # and may come by its feed
        said = stated(META, extraction.parsed.metas) if is_lost else ()
        return replace(result, reason=_reason(extraction), reservations=said)
    fields = page_metadata(extraction.parsed, extraction.kept, extraction.text)
    article = Article(
        url,
        text=extraction.text,
        **_shown(extraction.tokens, extraction.kept, url, options),
        kind=extraction.kind,
        probability=round(extraction.probability, 4),
        confidence=None if extraction.confidence is None else round(extraction.confidence, 4),
        extractor=f"mss:{state.identifier}",
        **_entries(extraction, result.paragraphs, options.emitted),
        **fields.values,
        **_on_request(fields, PAGE, options),
    )
    next_page, said = fields.next_page, fields.reservations
    return replace(result, article=article, next_page=next_page, reservations=said)


def _entries(
    extraction: Extraction, paragraphs: bytes, before: Paragraphs | None
) -> dict[str, Any]:
    """The entries of a live blog, and those that its *paragraphs* did not have *before*.

    An error in reading them does not cost the text.
    """
    if extraction.kind != LIVE_BLOG:
        return {}
    try:
        entries = [*dict.fromkeys(extraction.entries)]
    except MemoryError:  # which concerns the process
        raise
    except Exception:
        logger.exception("scrapy-mss: cannot read the entries of %s", extraction.url)
        return {}
    now, new = Paragraphs.from_bytes(paragraphs), list[LiveEntry]()
    if now is not None and before is not None:
        said = [(each, each.text or each.headline) for each in entries]
        new = [each for each, text in said if now.have(text) and not before.have(text)]
    return {
        "entries": [entry._asdict() for entry in entries],
        "new_entries": [entry._asdict() for entry in new],
    }


def _on_request(fields: metadata.Metadata, of_text: str, options: ReadOptions) -> dict[str, Any]:
    """Where the text and the other *fields* are from, and what the page reserves, if asked."""
    found, has = dict[str, Any](), fields.values
    if "sources" in options.fields:
        known = {name: each for name, each in fields.sources.items() if has.get(name) is not None}
        named = {name: each if each in SOURCES else PAGE for name, each in known.items()}
        found["sources"] = {"text": of_text, **named}
    if "reservations" in options.fields:
        found["reservations"] = [each._asdict() for each in fields.reservations]
    return found


def _shown(tokens: Tokens, kept: Bools, url: str, options: ReadOptions) -> dict[str, Any]:
    """The *kept* tokens as HTML, and in the other forms that are asked for."""
    shown = {"html": sanitized(tokens, kept, url)}
    if "raw_html" in options.fields:
        shown["raw_html"] = well_formed(tokens, kept)
    if "markdown" in options.fields:
        shown["markdown"] = markdown(shown["html"])
    return shown


def _certainty(extraction: Extraction) -> float:
    """How sure the model is of what the page is and, if that is an article, of its text."""
    of_kind = abs(2 * extraction.probability - 1)
    of_text = extraction.confidence if extraction.is_article else None
    return round(of_kind if of_text is None else min(of_kind, of_text), 4)


def _reason(extraction: Extraction) -> str:
    if extraction.text:
        return UNLIKELY if extraction.probability < MIN_ARTICLE_PROBABILITY else OTHER_KIND
    return NO_SPAN if extraction.tokens.is_word.any() else NO_TEXT


def article_of_labels(
    labelling: Labelling,
    url: str,
    options: ReadOptions = READ_OPTIONS,
    confidence: float | None = None,
) -> ArticleResult:
    """The article as a wrapper has labelled it, with the metadata of the page.

    *confidence* is that of the model, where the wrapper leaves the text to it.
    """
    started = perf_counter()
    tokens, inside = labelling.tokens, labelling.inside
    fields = labelled_metadata(labelling, url)
    article = Article(
        url,
        text=labelling.text,
        **_shown(tokens, inside, url, options),
        kind=ARTICLE,
        probability=1.0,
        confidence=None if confidence is None else round(confidence, 4),
        extractor=f"wrapper:{labelling.wrapper.id}",
        **fields.values,
        **_on_request(fields, PAGE if labelling.wrapper.around else WRAPPER, options),
    )
    named = absolute_url(labelling.next_page, base_url(tokens, url)) or fields.next_page
    paragraphs = options.paragraphs_of(Page(tokens, url), inside, labelling.text, certain=True)
    seconds = perf_counter() - started
    return ArticleResult(
        article,
        source=WRAPPER,
        seconds=seconds,
        kind=ARTICLE,
        next_page=named,
        paragraphs=paragraphs,
        reservations=fields.reservations,
    )


def article_of_feed(text: FedText, url: str, options: ReadOptions = READ_OPTIONS) -> ArticleResult:
    """The article at *url* by the *text* that its feed has, where its page cannot be had."""
    started = perf_counter()
    page = Page(tokenize(text.html), url)
    tokens, kept = page.tokens, own_tokens(page)
    said = readable(tokens, kept)
    values = {
        "title": _plain(text.title),
        "authors": author_names(map(_plain, text.authors)),
        "language": language_of(said, None),
    }
    known: dict[str, Any] = {name: value for name, value in values.items() if value}
    fields = metadata.Metadata(known, {**dict.fromkeys(known, FEED), "language": TEXT})
    article = Article(
        url,
        text=said,
        **known,
        **_shown(tokens, kept, url, options),
        **media_fields(kept_media(PageTree(tokens), kept, base_url(tokens, url))),
        **_on_request(fields, FEED, options),
        kind=ARTICLE,
        extractor=FEED,
    )
    return ArticleResult(article, source=FEED, seconds=perf_counter() - started, kind=ARTICLE)


def _plain(html: str) -> str:
    """*html*, which may be plain text, on one line."""
    tokens = tokenize(html[:MAX_LINE])
    return " ".join(readable(tokens, np.ones(len(tokens), np.bool_)).split())


def labelled_metadata(labelling: Labelling, url: str) -> metadata.Metadata:
    """The metadata of a page, where the wrapper has not found better."""
    page = page_metadata(ParsedPage(labelling.tokens, url), labelling.inside, labelling.text)
    found = {
        "title": clean(labelling.title),
        "authors": _names(labelling.authors),
        "published": labelling.published,
    }
    by_rule = {name: value for name, value in found.items() if value}
    return page._replace(
        values=_settled(page.values | by_rule),
        sources={**page.sources, **dict.fromkeys(by_rule, WRAPPER)},
    )


def _names(texts: Iterable[str]) -> list[str]:
    """The names in each of *texts*, such as a byline; one that seems to hold none is the name."""
    cleaned = filter(None, map(clean, texts))
    return list(dict.fromkeys(name for text in cleaned for name in author_names([text]) or [text]))


def page_metadata(page: ParsedPage, kept: Bools, text: str) -> metadata.Metadata:
    """The metadata of the *page* whose article is the *kept* tokens, and their *text*.

    Its media are those that the page declares and shows, its language is that of the text. An error
    in reading them does not cost the text.
    """
    try:
        found = metadata.read_page(page, text)
        shown = kept_media(page.tree, kept, page.base)
        images = [each for each in found.media if each.kind == IMAGE]
        others = [each for each in found.media if each.kind != IMAGE]
        values = _settled(found.values) | media_fields([*images, *shown, *others])
        declared = found.values.get("language")
        values["language"] = language_of(text, declared)
        by_text = {"language": TEXT} if values["language"] != declared else {}
        return found._replace(values=values, sources={**found.sources, **by_text})
    except MemoryError:  # which concerns the process
        raise
    except Exception:
        logger.exception("scrapy-mss: cannot read the metadata of %s", page.url)
        return metadata.Metadata({})


def _settled(values: dict[str, Any]) -> dict[str, Any]:
    """*values* with their moments as an item has them."""
    moments = Moments(values.get("published"), values.get("modified")).settled()
    return values | moments._asdict()
