"""A labelled page as a training example: what it adds to a model, and its key.

It contains everything that depends only on the page, so that it can be made in another process.
Whether the page was learned before and whether there is room depend on the model and are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection, check_example
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.models.learned_pages import page_key
from scrapy_mss.models.model import Model


@dataclass(frozen=True, slots=True)
class Example:
    """A page to learn: its key among the learned pages, and what it adds to the counts."""

    key: int
    observation: Observation


def example_of(tokens: Tokens, inside: Bools, address: str, model: Model) -> Example | Rejection:
    """The page of *address* for a model like *model*; why it is rejected, if it is.

    ``inside`` is bool[n_tokens], the tokens of the article. The counts of *model* do not matter.
    """
    rejection = check_example(tokens, inside, model.profile.max_tag_share)
    if rejection is not None:
        return rejection
    key = page_key(address, tokens, inside)
    return Example(key, model.bayes.observe(Page(tokens), inside))
