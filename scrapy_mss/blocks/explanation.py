"""What was decided about each block of a page, and why.

A block is kept if its probability is above the threshold, it is in the article's span and of its
story, and it is no second copy; a data table is kept or left out as a whole. The reasons for its
probability are the changes in its log-odds without each group of inputs (``GROUPS``, by what inputs
are about).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.blocks.classifier import POOLINGS, ROWS_AT_ONCE, BlockClassifier, BlockInputs
from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.selection import Selection
from scrapy_mss.core.naive_bayes import portions
from scrapy_mss.markup.tokens import Bools, Floats

SCORE: Final = "score"  # the input that is the weighted sum of the evidence


class InputGroup(NamedTuple):
    """Inputs that are about one thing: a name, what it is called, and which they are."""

    name: str
    label: str
    pattern: str  # of the names of the inputs, whole


GROUPS: Final[tuple[InputGroup, ...]] = (
    InputGroup("words", "its words", r"evidence_unigram|score|page_evidence"),
    InputGroup("class_words", "class and id words around it", r"evidence_class_words_\w+"),
    InputGroup(
        "form",
        "its length and punctuation",
        r"evidence_shape|words|letters|word_length|capital_share|digit_share"
        r"|sentence_\w+|commas|quotes|symbol_share|ends_\w+|starts_with_capital",
    ),
    InputGroup("repetitions", "its text again on this page", "repetitions"),
    InputGroup("links", "links", r"link_share|all_linked|same_key_\d_link_share"),
    InputGroup("elements", "the elements around it", r"(is|in)_[a-z]+|depth"),
    InputGroup("hidden", "it is not shown", "hidden"),
    InputGroup(
        "position",
        "its place on the page",
        r"position|rank|words_before|words_after|page_words|mass_before|mass_after",
    ),
    InputGroup(
        "headline",
        "the headline",
        r"title_overlap|headline_title_overlap|words_from_headline|below_headline|later_headings",
    ),
    InputGroup(
        "headings",
        "headings",
        r"heading_rank|words_below_heading|rank_of_heading_above|main_headings"
        r"|score_of_heading_above",
    ),
    InputGroup(
        "description", "the page's description of itself", r"\w+_description|description_\w+"
    ),
    InputGroup("neighbours", "the blocks beside it", r"\w+\[[+-]\d\]"),
    InputGroup(
        "containers",
        "what else is in such containers",
        r"same_key_\d_(mass|density|blocks|words)|ancestor_\d_(mass|density)|same_path_mass",
    ),
    *(
        InputGroup(
            f"opinion_{opinion.name}",
            f"the opinion of {opinion.idea}",
            f"opinion_{opinion.name}|share_of_{opinion.name}",
        )
        for opinion in OPINIONS
    ),
    InputGroup("opinions", "how far opinions agree", r"opinions|opinions_\w+|agreement_of_\w+"),
)
SITE: Final = "site"  # the memory of sites, which is not an input of the network
LABELS: Final = {group.name: group.label for group in GROUPS} | {SITE: "the site's other pages"}


@cache
def group_of(name: str) -> InputGroup:
    """The group of the input *name*: the first whose pattern it is."""
    for group in GROUPS:
        if re.fullmatch(group.pattern, name):
            return group
    raise KeyError(f"no group has the input {name!r}; add it to GROUPS")


def group_effects(
    classifier: BlockClassifier, page: Page, inputs: BlockInputs
) -> dict[str, Floats]:
    """What each group says for a block of *page*, by its name, in log-odds: float64[n_blocks].

    A group is made neutral by giving its inputs the mean that they had in the training. How much
    the log-odds of a block fall by that is what the group says for it; where they rise, it speaks
    against it. Groups overlap in what they know, so what they say does not add up to the whole.
    """
    network = classifier.networks.of(page)
    names, matrix = list(inputs.columns), inputs.matrix
    columns: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        columns.setdefault(group_of(name).name, []).append(at)
    score = names.index(SCORE)
    whole = network.log_odds(matrix).astype(np.float64)
    effects = {group: np.empty(len(matrix)) for group in columns}
    parts = {group: _part_of_score(classifier, inputs, group) for group in columns}
    for rows in portions(len(matrix), ROWS_AT_ONCE):  # a copy of the whole would be large
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


MIN_EFFECT = 0.1  # log-odds: .5 becomes .525


class Decision(Enum):
    """What became of a block."""

    KEPT = "kept"
    IMPROBABLE = "below the threshold"
    BESIDE = "beside the story: comments, consent, hidden text or another story"
    OUTSIDE = "outside the article's span"
    COPY = "a second copy of text that is kept"
    TITLE = "the page's title, which no page shows"
    CLEANED = "left out with the rest of its table"
    LEFT_OUT = "left out by a rule of the site"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What speaks for a block, or against it where *effect*, in log-odds, is below 0."""

    name: str
    label: str
    effect: float


@dataclass(frozen=True, slots=True)
class ExplainedBlock:
    """A block: its first and last token, and what was decided."""

    first: int
    last: int
    probability: float
    decision: Decision
    _number: int
    _effects: Mapping[str, Floats] = field(repr=False, compare=False)  # float64[n] of all blocks

    @property
    def reasons(self) -> tuple[Contribution, ...]:
        """Why its ``probability`` is what it is, the weightiest first.

        They are made when asked for: those of all blocks take more than all else of a dense page.
        """
        effects = ((name, values.item(self._number)) for name, values in self._effects.items())
        weighty = (effect for effect in effects if abs(effect[1]) >= MIN_EFFECT)
        found = (Contribution(name, LABELS[name], effect) for name, effect in weighty)
        return tuple(sorted(found, key=lambda reason: -abs(reason.effect)))


def explained_blocks(
    page: Page, probability: Floats, found: Sequence[Decision], effects: Mapping[str, Floats]
) -> tuple[ExplainedBlock, ...]:
    """The blocks of *page* by their *probability* (float64[n]), and what became of each.

    *effects* are what each group of inputs said, by its name: float64[n].
    """
    first, last = page.blocks.first.tolist(), page.blocks.last.tolist()
    rows = zip(first, last, probability.tolist(), found, strict=True)
    return tuple(ExplainedBlock(*row, number, effects) for number, row in enumerate(rows))


def decisions(page: Page, chosen: Selection, kept: Bools) -> list[Decision]:
    """What became of each block: which were *chosen*, and which tokens were *kept* of those."""
    steps: tuple[tuple[Bools, Decision], ...] = (
        (page.blocks.count(kept & page.tokens.is_word) > 0, Decision.KEPT),
        (chosen.kept, Decision.CLEANED),
        (page.in_title, Decision.TITLE),
        (chosen.others, Decision.BESIDE),
        (~chosen.above, Decision.IMPROBABLE),
        (chosen.copied, Decision.COPY),
        (np.ones(len(page.blocks), np.bool_), Decision.OUTSIDE),
    )
    first = np.argmax([holds for holds, _ in steps], axis=0)
    return [steps[step][1] for step in first.tolist()]
