"""A labelled page of a set with what is learned from it, for measurements that fit and read it."""

from __future__ import annotations

from dataclasses import dataclass

from research.datasets.pages import LabelledPage, examples
from research.training.examples import TrainingExample, training_examples
from scrapy_mss.blocks.page import Page


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A page of a set, tokenized, and what is learned from it."""

    dataset: str
    labelled: LabelledPage
    page: Page
    examples: tuple[TrainingExample, ...]


def case_of(dataset: str, labelled: LabelledPage) -> Case:
    """The page is tokenized once, for its examples and for reading it."""
    taught = tuple(training_examples(examples([labelled])))
    return Case(dataset, labelled, taught[0].page if taught else Page.of(labelled.html), taught)
