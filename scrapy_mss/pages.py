"""One page to the fields of one article: the same function in the crawl's process and in workers.

What it needs is passed in, and what it gives can be sent between processes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scrapy_mss import metadata
from scrapy_mss.core.cleaning import well_formed
from scrapy_mss.core.extractor import Extractor
from scrapy_mss.core.profiles import MODERN_TAG_PENALTY
from scrapy_mss.metadata.dates import find as find_date

if TYPE_CHECKING:
    from scrapy_mss.core.model import Model
    from scrapy_mss.wrappers import Labelling, Wrapper

logger = logging.getLogger(__name__)

NO_SPAN = "no_span"  # no run of tokens speaks for an article
TOO_SHORT = "too_short"  # the text has too few paragraphs or sentences for one


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a page: *fields* of `items.Article`, or the *reason* why it is none."""

    fields: dict[str, Any] = field(default_factory=dict)
    probability: float = 0.0
    reason: str = ""
    seconds: float = 0.0

    @property
    def is_article(self) -> bool:
        return not self.reason

    @property
    def offered(self) -> dict[str, Any]:
        """What an item is offered: of a page that is no article, only how improbable it is one."""
        if not self.is_article:
            return {"probability": 0.0}
        return {**self.fields, "probability": self.probability}


def read_page(model: Model | None, source: str, url: str) -> Found:
    """The article in the page *source* at *url*, by *model* or, without one, by simple MSS."""
    started = perf_counter()
    extractor = Extractor(model, tag_penalty=MODERN_TAG_PENALTY)
    found = extractor.extract(source)
    fields: dict[str, Any] = {"text": found.text}
    if found.is_article:
        fields |= told(source, url) | {"html": found.html}
    reason = "" if found.is_article else TOO_SHORT if found.text else NO_SPAN
    return Found(fields, round(found.probability, 4), reason, perf_counter() - started)


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
