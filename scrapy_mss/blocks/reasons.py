"""What weighs in a block's probability: the change in its log-odds without a group of inputs.

The network's inputs are grouped by what they are about (``GROUPS``, one table). A group is made
neutral by giving its inputs the mean that they had in the training. How much the log-odds of a
block fall by that is what the group says for it; where they rise, it speaks against it. These are
the numbers that decided, with one caution: groups overlap in what they know, so what they say does
not add up to the whole.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.blocks.classifier import POOLINGS, BlockClassifier, BlockInputs
from scrapy_mss.blocks.mlp import PORTION
from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Floats

SCORE: Final = "score"  # the input that is the weighted sum of the evidence


class Group(NamedTuple):
    """Inputs that are about one thing: a name, what it is called, and which they are."""

    name: str
    label: str
    pattern: str  # of the names of the inputs, whole


GROUPS: Final[tuple[Group, ...]] = (
    Group("words", "its words", r"evidence_unigram|score|page_evidence"),
    Group("class_words", "class and id words around it", r"evidence_class_words_\w+"),
    Group(
        "form",
        "its length and punctuation",
        r"evidence_shape|words|letters|word_length|capital_share|digit_share"
        r"|sentence_\w+|commas|quotes|symbol_share|ends_\w+|starts_with_capital",
    ),
    Group("repetitions", "its text again on this page", "repetitions"),
    Group("links", "links", r"link_share|all_linked|same_key_\d_link_share"),
    Group("elements", "the elements around it", r"(is|in)_[a-z]+|depth"),
    Group("hidden", "it is not shown", "hidden"),
    Group(
        "position",
        "its place on the page",
        r"position|rank|words_before|words_after|page_words|mass_before|mass_after",
    ),
    Group(
        "headline",
        "the headline",
        r"title_overlap|headline_title_overlap|words_from_headline|below_headline|later_headings",
    ),
    Group(
        "headings",
        "headings",
        r"heading_rank|words_below_heading|rank_of_heading_above|main_headings"
        r"|score_of_heading_above",
    ),
    Group("description", "the page's description of itself", r"\w+_description|description_\w+"),
    Group("neighbours", "the blocks beside it", r"\w+\[[+-]\d\]"),
    Group(
        "containers",
        "what else is in such containers",
        r"same_key_\d_(mass|density|blocks|words)|ancestor_\d_(mass|density)|same_path_mass",
    ),
    *(
        Group(
            f"opinion_{opinion.name}",
            f"the opinion of {opinion.idea}",
            f"opinion_{opinion.name}|share_of_{opinion.name}",
        )
        for opinion in OPINIONS
    ),
    Group("opinions", "how far opinions agree", r"opinions|opinions_\w+|agreement_of_\w+"),
)
SITE: Final = "site"  # the memory of sites, which is not an input of the network
LABELS: Final = {group.name: group.label for group in GROUPS} | {SITE: "the site's other pages"}


@cache
def group_of(name: str) -> Group:
    """The group of the input *name*: the first whose pattern it is."""
    for group in GROUPS:
        if re.fullmatch(group.pattern, name):
            return group
    raise KeyError(f"no group has the input {name!r}; add it to GROUPS")


def group_effects(
    classifier: BlockClassifier, page: Page, inputs: BlockInputs
) -> dict[str, Floats]:
    """What each group says for a block of *page*, by its name, in log-odds: float64[n_blocks]."""
    network = classifier.networks.of(page)
    names, matrix = list(inputs.columns), inputs.matrix
    columns: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        columns.setdefault(group_of(name).name, []).append(at)
    score = names.index(SCORE)
    whole = network.log_odds(matrix).astype(np.float64)
    effects = {group: np.empty(len(matrix)) for group in columns}
    parts = {group: _part_of_score(classifier, inputs, group) for group in columns}
    for start in range(0, len(matrix), PORTION):  # a copy of the whole would be large
        rows = slice(start, start + PORTION)
        for group, neutral in columns.items():
            without = matrix[rows].copy()
            others = [at for at in neutral if at != score]
            without[:, others] = network.mean[others]
            without[:, score] -= parts[group][rows]
            effects[group][rows] = whole[rows] - network.log_odds(without)
    return effects


def _part_of_score(classifier: BlockClassifier, inputs: BlockInputs, group: str) -> Floats:
    """float64[n_blocks]: what the evidence in *group* has added to the score."""
    part = np.zeros(len(inputs.score))
    for pooling, weight in zip(POOLINGS, classifier.evidence_weights.tolist(), strict=False):
        name = f"evidence_{pooling.name}"
        if group_of(name).name == group:
            part += weight * inputs.columns[name]
    return part
