"""One page to the fields of one article: the same function in the crawl's process and in workers.

What it needs is passed in, and what it gives can be sent between processes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scrapy_mss import metadata
from scrapy_mss.blocks.page_features import is_article
from scrapy_mss.core.cleaning import well_formed
from scrapy_mss.extractor import Extractor
from scrapy_mss.metadata.dates import find as find_date

if TYPE_CHECKING:
    from research.systems.base import TextExtractor
    from scrapy_mss.models.format import Model
    from scrapy_mss.wrappers import Labelling, Wrapper

logger = logging.getLogger(__name__)

NO_SPAN = "no_span"  # no run of tokens speaks for an article
UNLIKELY = "unlikely"  # there is text, but the page looks like none that is an article
TOO_SHORT = "too_short"  # the text has too few paragraphs or sentences for one
FAULT_LENGTH = 200  # characters of an exception's message that are worth a line of the log


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a page: *fields* of `items.Article`, or the *reason* why it is none.

    *fault* is the exception for which mss had to read the page in another system's place.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    probability: float = 0.0
    reason: str = ""
    seconds: float = 0.0
    fault: str = ""

    @property
    def is_article(self) -> bool:
        return not self.reason

    @property
    def offered(self) -> dict[str, Any]:
        """What an item is offered: of a page that is no article, only how improbable it is one."""
        if not self.is_article:
            return {"probability": 0.0}
        return {**self.fields, "probability": self.probability}


def read_page(model: Model, source: str, url: str, system: TextExtractor | None = None) -> Found:
    """The article in the page *source* at *url*: by *system*, else by *model*.

    A page that *system* fails on is read as if there were none.
    """
    started = perf_counter()
    found, fault = None, ""
    if system is not None:
        try:
            found = _read_by(system, source, url)
        except Exception as error:
            logger.debug("scrapy-mss: MSS_EXTRACTOR failed on %s", url, exc_info=True)
            fault = " ".join(f"{type(error).__name__}: {error}".split())[:FAULT_LENGTH]
    if found is None:
        found = replace(_read(model, source, url), fault=fault)
    return replace(found, seconds=perf_counter() - started)


def _read(model: Model, source: str, url: str) -> Found:
    """The article as *model* has it."""
    found = Extractor(model).extract(source)
    fields: dict[str, Any] = {"text": found.text}
    if found.is_article:
        fields |= told(source, url) | {"html": found.html}
    reason = "" if found.is_article else UNLIKELY if found.text else NO_SPAN
    return Found(fields, round(found.probability, 4), reason)


def _read_by(system: TextExtractor, source: str, url: str) -> Found:
    """The article as *system* has it, which gives neither HTML nor a probability."""
    text = system.extract(source)
    article = is_article(text)
    fields = {"text": text} | (told(source, url) if article else {})
    return Found(fields, float(article), _reason(text, article=article))


def _reason(text: str, *, article: bool) -> str:
    """Why *text* is no article, or nothing if it is one."""
    return "" if article else TOO_SHORT if text else NO_SPAN


def told(source: str, url: str) -> dict[str, Any]:
    """What the page says of itself; a fault in reading that must not cost the text."""
    try:
        return metadata.read_html(source, url or None).fields()
    except Exception:
        logger.exception("scrapy-mss: cannot read the metadata of %s", url)
        return {}


def read_labelled(labelling: Labelling, wrapper: Wrapper, url: str) -> Found:
    """The article as *wrapper* has it, with what else the page says of itself."""
    started = perf_counter()
    tokens = labelling.tokens
    fields = told(tokens.source, url)
    ruled = {
        "title": labelling.title,
        "authors": list(labelling.authors),
        "published": find_date(labelling.published),
    }
    fields |= {name: value for name, value in ruled.items() if value}
    fields |= {"text": labelling.text, "html": well_formed(tokens, labelling.inside)}
    fields["extractor"] = f"wrapper:{wrapper.id}"
    return Found(fields, 1.0, seconds=perf_counter() - started)
