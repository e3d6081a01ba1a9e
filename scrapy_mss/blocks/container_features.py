"""Where on the page the evidence is: how much of it each block's containers have.

The text of an article is together, in one element of the page or in elements of one name. A block
that is certain speaks for the blocks in the same kind of container, whatever the names are: so each
page tells the container of its own article from those of comments and teasers. Only evidence for
the article counts. It is weighed by words, and everything is a share of the page's whole. What
opinions keep is summed in the same way.

All that is summed, the masses and the sizes, is summed at once: the cost is that of calling numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.features import Columns
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.sums import group_sums
from scrapy_mss.core.hashing import groups
from scrapy_mss.markup.tokens import Floats, TokenIds

Group: TypeAlias = NDArray[np.intp]  # equal numbers for blocks that are alike

PATH_LENGTH = 5  # tags of a block's path, innermost first
KEY_LEVELS = 3  # ancestors whose key is compared with those of other blocks
ELEMENT_LEVELS = 5  # ancestors whose own content is looked at
PER_WORDS = 100  # a density is a share of the evidence for so many words
EPSILON = 1e-9  # words of evidence on a page without any

# What tells the keys of one level from those of the others, above the bits of keys and paths.
_LEVELS = np.arange(KEY_LEVELS + 1, dtype=np.uint64)
_LEVEL_BITS = _LEVELS[:, np.newaxis] << np.uint64(8 * PATH_LENGTH)


def container_features(page: Page, masses: Mapping[str, Floats]) -> Columns:
    """Shares of each of the *masses*, and the sizes of what they are shares of.

    A mass (float64[n]) is each block's share of something; its key begins the names of its columns.
    """
    blocks = page.blocks
    sizes = (blocks.words, blocks.linked_words, np.ones(len(blocks)))
    *alike, words, linked, counts = group_sums(np.array([*masses.values(), *sizes]), _alike(page))
    outside = [1.0] * len(masses) + [float(blocks.words.sum())]
    *around, length = _inside(page, np.array([*masses.values(), blocks.words]), outside)
    columns: Columns = {}
    for (prefix, mass), shared, inside in zip(masses.items(), alike, around, strict=True):
        running = mass.cumsum()
        shares = {"mass_before": running - mass, "mass_after": 1.0 - running}
        shares |= _same_keys(shared, words) | _same_elements(inside, length)
        shares["same_path_mass"] = shared[KEY_LEVELS]
        columns |= {f"{prefix}{name}": column for name, column in shares.items()}
    return columns | _sizes(words, linked, counts)


def evidence_mass(page: Page, score: Floats) -> tuple[Floats, float]:
    """Each block's share of the page's evidence for the article, and how much there is."""
    mass = np.maximum(score, 0.0) * page.blocks.words
    total = float(mass.sum()) + EPSILON
    return mass / total, total


def ancestor_mass(level: int) -> str:
    """The feature that is the share of the evidence inside each block's ancestor at *level*."""
    return f"ancestor_{level}_mass"


def _same_keys(shared: Floats, words: Floats) -> Columns:
    """What is in elements with the same tag and class words, some levels out."""
    rows = {"mass": shared, "density": shared / np.maximum(words, 1.0) * PER_WORDS}
    return {f"same_key_{k}_{name}": row[k] for k in range(KEY_LEVELS) for name, row in rows.items()}


def _sizes(words: Floats, linked: Floats, counts: Floats) -> Columns:
    """How large elements with the same tag and class words are together, and how linked."""
    rows = {
        "blocks": np.log1p(counts),
        "words": np.log1p(words),
        "link_share": linked / np.maximum(words, 1.0),
    }
    return {f"same_key_{k}_{name}": row[k] for k in range(KEY_LEVELS) for name, row in rows.items()}


def _same_elements(share: Floats, length: Floats) -> Columns:
    """What is in each of the block's own ancestors."""
    density = share / np.maximum(length, 1.0) * PER_WORDS
    columns = {}
    for level in range(ELEMENT_LEVELS):
        columns[ancestor_mass(level)] = share[level]
        columns[f"ancestor_{level}_density"] = density[level]
    return columns


def _alike(page: Page) -> Group:
    """intp[KEY_LEVELS+1, n]: which blocks have an ancestor of the same key, or the same tags.

    No two rows have a number in common.
    """
    keys = np.concatenate((page.ancestor_keys[:KEY_LEVELS], [_tag_paths(page)]))
    return groups((keys | _LEVEL_BITS).ravel()).reshape(keys.shape)


def _tag_paths(page: Page) -> TokenIds:
    """uint64[n]: the tags of the innermost block elements around each block, a byte each."""
    tags = np.zeros((len(page.blocks), 8), np.uint8)
    tags[:, :PATH_LENGTH] = page.ancestor_tags[:PATH_LENGTH].T
    return tags.view(np.uint64)[:, 0]


def _inside(page: Page, values: Floats, outside: list[float]) -> Floats:
    """float64[k, ELEMENT_LEVELS, n]: the sums of *values* (float64[k, n]) in blocks' ancestors.

    They are *outside*, a number for each of the values, where there is none.
    """
    containers = page.containers
    inside = np.empty((len(values), len(containers) + 1))
    inside[:, :-1] = containers.totals(values)
    inside[:, -1] = outside
    return inside.take(containers.around[:ELEMENT_LEVELS], axis=1)
