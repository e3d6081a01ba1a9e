"""A stored page and the rules -> a model that has learned it, or why it has not."""

from __future__ import annotations

from typing import Final

from scrapy_mss.core.labels import Rejection
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.learned_pages import generation_after, page_key
from scrapy_mss.models.model import Model
from scrapy_mss.stored_pages import StoredPage
from scrapy_mss.wrappers import Registry, label

ALREADY_LEARNED: Final = Rejection.ALREADY_LEARNED.value


def learn(page: StoredPage, wrappers: Registry, stored: Model, learned: Model) -> str:
    """Add *page* to what was *learned* if it is not in *stored*; the reason if not, else empty."""
    wrapper = wrappers.find(page.url)
    if wrapper is None:
        return "no wrapper"
    labelling = label(wrapper, page.html, tokenize(page.html))
    if labelling.reason is not None:
        return labelling.reason.value
    key = page_key(page.url, labelling.tokens, labelling.inside)
    if key in stored.learned_pages or key in learned.learned_pages:
        return ALREADY_LEARNED
    rejection = Extractor(learned).learn(labelling.tokens, labelling.inside)
    if rejection is not None:
        return rejection.value
    learned.learned_pages.add(key, generation_after(stored.bayes.pages + learned.bayes.pages))
    return ""
