"""A labelled page of a set with what is learned from it, for fits and for what measures them.

Of some pages of other types than articles the text is learned as well: documentation, pages of
services and collections are written as articles are, in other templates, and who has learned their
text finds that of articles in unknown templates. They weigh half, and are not counted: a crawl adds
to the counts, and has articles alone. What is an article is learned from all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from research.datasets.pages import LabelledPage, examples
from research.training.examples import TrainingExample, training_examples
from research.training.sets import OTHERS, TAUGHT_TYPES
from scrapy_mss.blocks.page import Page


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A page of a set, tokenized, and what is learned from its text."""

    dataset: str
    labelled: LabelledPage
    page: Page
    examples: tuple[TrainingExample, ...]


class Lessons(NamedTuple):
    """What `fit` takes: the pages whose text is learned, and those that are only no articles."""

    examples: list[TrainingExample]
    negatives: list[Page]


def case_of(dataset: str, labelled: LabelledPage) -> Case:
    """The page is tokenized once, for its examples and for reading it."""
    is_article = dataset != OTHERS
    taught: tuple[TrainingExample, ...] = ()
    if is_article or labelled.page_type in TAUGHT_TYPES:
        found = (replace(each, site=each.site or labelled.id) for each in examples([labelled]))
        taught = tuple(training_examples(found, is_article=is_article))
    page = taught[0].page if taught else Page.of(labelled.html, url=labelled.url or "")
    return Case(dataset, labelled, page, taught)


def lessons(cases: Iterable[Case]) -> Lessons:
    """What is learned from the *cases*."""
    found = Lessons([], [])
    for case in cases:
        found.examples.extend(case.examples)
        if case.dataset == OTHERS and not case.examples:
            found.negatives.append(case.page)
    return found
