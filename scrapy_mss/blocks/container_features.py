"""Where on the page the evidence is: how much of it each block's containers have.

The text of an article is together, in one element of the page or in elements of one name. A block
that is certain speaks for the blocks in the same kind of container, whatever the names are: so each
page tells the container of its own article from those of comments and teasers. Only evidence for
the article counts. It is weighed by words, and everything is a share of the page's whole. What
opinions keep is summed in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.features import Columns
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import mix
from scrapy_mss.markup.tokens import Floats, TokenIds

Group: TypeAlias = NDArray[np.intp]  # intp[n]: equal numbers for blocks that are alike

PATH_LENGTH = 5  # tags of a block's path, innermost first
KEY_LEVELS = 3  # ancestors whose key is compared with those of other blocks
ELEMENT_LEVELS = 5  # ancestors whose own content is looked at
PER_WORDS = 100  # a density is a share of the evidence for so many words
EPSILON = 1e-9  # words of evidence on a page without any


def container_features(page: Page, masses: Mapping[str, Floats]) -> Columns:
    """Shares of each of the *masses*, and the sizes of what they are shares of.

    A mass (float64[n]) is each block's share of something; its key begins the names of its columns.
    """
    keys = [_groups(page.ancestor_keys[level]) for level in range(KEY_LEVELS)]
    path = _groups(_tag_paths(page))
    columns: Columns = {}
    for prefix, mass in masses.items():
        shares = _shares(page, mass, keys)
        shares["same_path_mass"] = _group_sum(mass, path)
        columns |= {f"{prefix}{name}": column for name, column in shares.items()}
    for level, group in enumerate(keys):
        columns |= _sizes(page, level, group)
    return columns


def _shares(page: Page, mass: Floats, keys: Sequence[Group]) -> Columns:
    """What of *mass* is before and after each block, and in what is around it."""
    running = np.cumsum(mass)
    columns = {"mass_before": running - mass, "mass_after": 1.0 - running}
    for level, group in enumerate(keys):
        columns |= _same_key(page, mass, level, group)
    for level in range(ELEMENT_LEVELS):
        columns |= _same_element(page, mass, level)
    return columns


def evidence_mass(page: Page, score: Floats) -> tuple[Floats, float]:
    """Each block's share of the page's evidence for the article, and how much there is."""
    mass = np.maximum(score, 0.0) * page.blocks.words
    total = float(mass.sum()) + EPSILON
    return mass / total, total


def mass_inside(page: Page, mass: Floats, level: int) -> Floats:
    """float64[n]: the share of the evidence inside each block's ancestor at *level*."""
    return _inside(page, mass, level, 1.0)


def _same_key(page: Page, mass: Floats, level: int, group: Group) -> Columns:
    """What is in elements with the same tag and class words, *level* levels out."""
    shared, words = _group_sum(mass, group), _group_sum(page.blocks.words, group)
    return {
        f"same_key_{level}_mass": shared,
        f"same_key_{level}_density": shared / np.maximum(words, 1.0) * PER_WORDS,
    }


def _sizes(page: Page, level: int, group: Group) -> Columns:
    """How large elements with the same tag and class words are together, and how linked."""
    words = _group_sum(page.blocks.words, group)
    linked = _group_sum(page.blocks.linked_words, group)
    return {
        f"same_key_{level}_blocks": np.log1p(np.bincount(group)[group]),
        f"same_key_{level}_words": np.log1p(words),
        f"same_key_{level}_link_share": linked / np.maximum(words, 1.0),
    }


def _same_element(page: Page, mass: Floats, level: int) -> Columns:
    """What is in the block's own ancestor at *level*."""
    words = page.blocks.words.astype(np.float64)
    share = _inside(page, mass, level, 1.0)
    length = _inside(page, words, level, float(words.sum()))
    return {
        f"ancestor_{level}_mass": share,
        f"ancestor_{level}_density": share / np.maximum(length, 1.0) * PER_WORDS,
    }


def _tag_paths(page: Page) -> TokenIds:
    """uint64[n]: a hash of the tags of the innermost block elements around each block."""
    return mix(list(page.ancestor_tags[:PATH_LENGTH] + np.uint64(1)))


def _groups(keys: TokenIds) -> Group:
    """intp[n]: equal numbers for equal *keys*."""
    groups: Group = np.unique(keys, return_inverse=True)[1]
    return groups


def _group_sum(values: NDArray[np.generic], group: Group) -> Floats:
    """float64[n]: the sum of *values* over each block's group."""
    sums: Floats = np.bincount(group, values.astype(np.float64))[group].astype(np.float64)
    return sums


def _inside(page: Page, values: Floats, level: int, outside: float) -> Floats:
    """float64[n]: the sum of *values* in each block's ancestor; *outside* if there is none."""
    tokens, starts = page.tokens, page.blocks.ancestors[level]
    before = np.zeros(len(tokens) + 1)
    before[page.blocks.first + 1] = values
    before = np.cumsum(before)
    return np.where(starts >= 0, before[tokens.partner[starts]] - before[starts], outside)
