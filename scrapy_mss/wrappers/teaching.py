"""Teaches a model a stored page that rules label, or says why it is rejected."""

from __future__ import annotations

from typing import Final

from scrapy_mss.core.labels import Rejection
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.examples import Example, example_of
from scrapy_mss.models.learned_pages import generation_after
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.wrappers import Registry, label

ALREADY_LEARNED: Final = Rejection.ALREADY_LEARNED.value
NO_WRAPPER: Final = "no wrapper"
_EMPTY: Final = Model(DEFAULT)  # says what is counted


def example_on(page: StoredPage, wrappers: Registry) -> Example | str:
    """What is to be learned of *page*, or why nothing is."""
    wrapper = wrappers.find(page.url)
    if wrapper is None:
        return NO_WRAPPER
    if wrapper.around:
        return Rejection.READ_BY_MODEL.value
    labelling = label(wrapper, page.html, tokenize(page.html))
    if labelling.reason is not None:
        return labelling.reason.value
    example = example_of(labelling.tokens, labelling.inside, page.url, _EMPTY)
    return example.value if isinstance(example, Rejection) else example


def learn(example: Example | str, stored: Model, learned: Model) -> str:
    """Add *example* to what was *learned*; the reason if it is none, or is in either model."""
    if isinstance(example, str):
        return example
    if example.key in stored.learned_pages or example.key in learned.learned_pages:
        return ALREADY_LEARNED
    learned.bayes.add(example.observation)
    generation = generation_after(stored.bayes.pages + learned.bayes.pages)
    learned.learned_pages.add(example.key, generation)
    return ""
