"""Where on the page the evidence is: how much of it each block's containers have.

The text of an article is together, in one element of the page or in elements of one name. A block
that is certain speaks for the blocks in the same kind of container, whatever the names are: so each
page tells the container of its own article from those of comments and teasers. Only evidence for
the article counts. It is weighed by words, and everything is a share of the page's whole. What
opinions keep is summed in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.features import Columns
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import groups, mix
from scrapy_mss.markup.tokens import Floats, TokenIds

Group: TypeAlias = NDArray[np.intp]  # equal numbers for blocks that are alike

PATH_LENGTH = 5  # tags of a block's path, innermost first
KEY_LEVELS = 3  # ancestors whose key is compared with those of other blocks
ELEMENT_LEVELS = 5  # ancestors whose own content is looked at
PER_WORDS = 100  # a density is a share of the evidence for so many words
EPSILON = 1e-9  # words of evidence on a page without any


def container_features(page: Page, masses: Mapping[str, Floats]) -> Columns:
    """Shares of each of the *masses*, and the sizes of what they are shares of.

    A mass (float64[n]) is each block's share of something; its key begins the names of its columns.
    """
    n = len(page.blocks)
    # The groups of each level have numbers of their own: one sum is the sum of each level.
    keys = np.stack([groups(page.ancestor_keys[k]) + k * n for k in range(KEY_LEVELS)])
    path = groups(_tag_paths(page))
    words = _group_sum(page.blocks.words, keys)
    columns: Columns = {}
    for prefix, mass in masses.items():
        running = np.cumsum(mass)
        shares = {"mass_before": running - mass, "mass_after": 1.0 - running}
        shares |= _same_keys(mass, keys, words) | _same_elements(page, mass)
        shares["same_path_mass"] = _group_sum(mass, path)
        columns |= {f"{prefix}{name}": column for name, column in shares.items()}
    return columns | _sizes(page, keys, words)


def evidence_mass(page: Page, score: Floats) -> tuple[Floats, float]:
    """Each block's share of the page's evidence for the article, and how much there is."""
    mass = np.maximum(score, 0.0) * page.blocks.words
    total = float(mass.sum()) + EPSILON
    return mass / total, total


def ancestor_mass(level: int) -> str:
    """The feature that is the share of the evidence inside each block's ancestor at *level*."""
    return f"ancestor_{level}_mass"


def _same_keys(mass: Floats, keys: Group, words: Floats) -> Columns:
    """What is in elements with the same tag and class words, some levels out."""
    shared = _group_sum(mass, keys)
    rows = {"mass": shared, "density": shared / np.maximum(words, 1.0) * PER_WORDS}
    return {f"same_key_{k}_{name}": row[k] for k in range(KEY_LEVELS) for name, row in rows.items()}


def _sizes(page: Page, keys: Group, words: Floats) -> Columns:
    """How large elements with the same tag and class words are together, and how linked."""
    rows = {
        "blocks": np.log1p(np.bincount(keys.ravel())[keys]),
        "words": np.log1p(words),
        "link_share": _group_sum(page.blocks.linked_words, keys) / np.maximum(words, 1.0),
    }
    return {f"same_key_{k}_{name}": row[k] for k in range(KEY_LEVELS) for name, row in rows.items()}


def _same_elements(page: Page, mass: Floats) -> Columns:
    """What is in each of the block's own ancestors."""
    words = page.blocks.words.astype(np.float64)
    share = _inside(page, mass, 1.0)
    length = _inside(page, words, float(words.sum()))
    density = share / np.maximum(length, 1.0) * PER_WORDS
    columns = {}
    for level in range(ELEMENT_LEVELS):
        columns[ancestor_mass(level)] = share[level]
        columns[f"ancestor_{level}_density"] = density[level]
    return columns


def _tag_paths(page: Page) -> TokenIds:
    """uint64[n]: a hash of the tags of the innermost block elements around each block."""
    return mix(list(page.ancestor_tags[:PATH_LENGTH] + np.uint64(1)))


def _group_sum(values: NDArray[np.generic], group: Group) -> Floats:
    """float64 of the shape of *group*: the sum of *values* over each block's group.

    *group* has a row for each way to group the blocks, or is the only one.
    """
    weights = np.broadcast_to(values, group.shape).astype(np.float64).ravel()
    sums: Floats = np.bincount(group.ravel(), weights)[group].astype(np.float64)
    return sums


def _inside(page: Page, values: Floats, outside: float) -> Floats:
    """float64[ELEMENT_LEVELS, n]: the sum of *values* in each block's ancestors.

    It is *outside* where there is none.
    """
    tokens, starts = page.tokens, page.blocks.ancestors[:ELEMENT_LEVELS]
    before = np.zeros(len(tokens) + 1)
    before[page.blocks.first + 1] = values
    before = np.cumsum(before)
    return np.where(starts >= 0, before[tokens.partner[starts]] - before[starts], outside)
