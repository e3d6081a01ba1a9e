"""Where on the page the evidence is: how much of it each block's containers have.

The text of an article is together, in one element of the page or in elements of one name. A block
that is certain speaks for the blocks in the same kind of container, whatever the names are: so each
page tells the container of its own article from those of comments and teasers. Only evidence for
the article counts. It is weighed by words, and everything is a share of the page's whole. What
opinions keep is summed in the same way.

All that is summed, the masses and the sizes, is summed at once: the cost is that of calling numpy.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.containers import Containers
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import groups
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tokens import Floats, TokenIds

Group: TypeAlias = NDArray[np.intp]  # equal numbers for blocks that are alike

PATH_LENGTH = 5  # tags of a block's path, innermost first
KEY_LEVELS = 3  # ancestors whose key is compared with those of other blocks
ELEMENT_LEVELS = 5  # ancestors whose own content is looked at
PER_WORDS = 100  # a density is a share of the evidence for so many words
EPSILON = 1e-9  # words of evidence on a page without any

# What is said of each mass: what comes before and after, what is in elements with the same tag and
# class words, some levels out, in each of the block's own ancestors, and on the same path of tags.
_SHARES = (
    *("mass_before", "mass_after"),
    *(f"same_key_{k}_{name}" for k in range(KEY_LEVELS) for name in ("mass", "density")),
    *(f"ancestor_{k}_{name}" for k in range(ELEMENT_LEVELS) for name in ("mass", "density")),
    "same_path_mass",
)
_SIZES = ("blocks", "words", "link_share")  # of elements with the same tag and class words
_SUMMED = ("words", "linked_words", "blocks")
_SAME_KEY, _SAME_KEY_DENSITY = slice(2, 2 + 2 * KEY_LEVELS, 2), slice(3, 3 + 2 * KEY_LEVELS, 2)
_ANCESTOR = slice(2 + 2 * KEY_LEVELS, -1, 2)
_ANCESTOR_DENSITY = slice(3 + 2 * KEY_LEVELS, -1, 2)

# What tells the keys of one level from those of the others, above the bits of keys and paths.
_LEVELS = np.arange(KEY_LEVELS + 1, dtype=np.uint64)
_LEVEL_BITS = _LEVELS[:, np.newaxis] << np.uint64(8 * PATH_LENGTH)


def container_names(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """The names of what `fill_containers` finds of masses, whose columns begin with *prefixes*."""
    shares = (f"{prefix}{name}" for prefix in prefixes for name in _SHARES)
    sizes = (f"same_key_{k}_{name}" for k in range(KEY_LEVELS) for name in _SIZES)
    return (*shares, *sizes)


def fill_containers(page: Page, masses: Floats, rows: Floats) -> None:
    """Fill *rows* with the shares of *masses* (float64[k, n]), and the sizes of what they are of.

    A mass is each block's share of something.
    """
    (k, n), n_shares = masses.shape, len(masses) * len(_SHARES)
    of_blocks = np.empty((k + len(_SUMMED), n))
    of_blocks[:k], of_blocks[k], of_blocks[k + 1] = masses, page.words, page.blocks.linked_words
    of_blocks[k + 2] = 1.0
    sizes = rows[n_shares:].reshape(KEY_LEVELS, len(_SIZES), n)
    fill_shares(page, of_blocks, _alike(page), rows)
    counts = sizes[:, :2]
    np.log1p(counts, out=counts)


@accelerated()
def fill_shares(page: Page, of_blocks: Floats, alike: Group, rows: Floats) -> None:
    """Fill *rows* but for the logarithms, with *of_blocks*: masses, words, linked words, and 1.

    *alike* has equal numbers for blocks that are alike, with no number in two rows.
    """
    k, n = len(of_blocks) - len(_SUMMED), of_blocks.shape[1]
    n_shares, masses = k * len(_SHARES), of_blocks[:k]
    in_groups = group_sums(of_blocks, alike)
    around = _inside(page.containers, of_blocks[: k + 1], [1.0] * k + [page.total_words])
    words = np.maximum(in_groups[k], 1.0)
    sizes = rows[n_shares:].reshape(KEY_LEVELS, len(_SIZES), n)
    sizes[:, 0], sizes[:, 1] = in_groups[k + 2, :KEY_LEVELS], in_groups[k, :KEY_LEVELS]
    np.divide(in_groups[k + 1, :KEY_LEVELS], words[:KEY_LEVELS], out=sizes[:, 2])

    shares = rows[:n_shares].reshape(k, len(_SHARES), n)
    running = masses.cumsum(axis=1)
    np.subtract(running, masses, out=shares[:, 0])
    np.subtract(1.0, running, out=shares[:, 1])
    shares[:, _SAME_KEY] = in_groups[:k, :KEY_LEVELS]
    _fill_densities(in_groups[:k, :KEY_LEVELS], words[:KEY_LEVELS], shares[:, _SAME_KEY_DENSITY])
    shares[:, _ANCESTOR] = around[:k]
    _fill_densities(around[:k], np.maximum(around[k], 1.0), shares[:, _ANCESTOR_DENSITY])
    shares[:, -1] = in_groups[:k, KEY_LEVELS]


def _fill_densities(shares: Floats, words: Floats, densities: Floats) -> None:
    """Fill *densities* with the *shares* for so many *words*."""
    np.divide(shares, words, out=densities)
    densities *= PER_WORDS


def evidence_mass(page: Page, score: Floats) -> tuple[Floats, float]:
    """Each block's share of the page's evidence for the article, and how much there is."""
    mass = np.maximum(score, 0.0) * page.words
    total = float(np.add.reduce(mass)) + EPSILON
    return mass / total, total


def ancestor_mass(level: int) -> str:
    """The feature that is the share of the evidence inside each block's ancestor at *level*."""
    return f"ancestor_{level}_mass"


def _alike(page: Page) -> Group:
    """intp[KEY_LEVELS+1, n]: which blocks have an ancestor of the same key, or the same tags.

    No two rows have a number in common.
    """
    return groups(_path_keys(page).ravel()).reshape(KEY_LEVELS + 1, len(page.blocks))


def _path_keys(page: Page) -> TokenIds:
    """uint64[KEY_LEVELS+1, n]: the keys of each block's ancestors, and the path of its tags."""
    keys = np.empty((KEY_LEVELS + 1, len(page.blocks)), np.uint64)
    keys[:-1] = page.ancestor_keys[:KEY_LEVELS]
    keys[-1] = _tag_paths(page)
    keys |= _LEVEL_BITS
    return keys


def _tag_paths(page: Page) -> TokenIds:
    """uint64[n]: the tags of the innermost block elements around each block, a byte each."""
    tags = np.zeros((len(page.blocks), 8), np.uint8)
    tags[:, :PATH_LENGTH] = page.ancestor_tags[:PATH_LENGTH].T
    return tags.view(np.uint64)[:, 0]


def _inside(containers: Containers, values: Floats, outside: list[float]) -> Floats:
    """float64[k, ELEMENT_LEVELS, n]: the sums of *values* (float64[k, n]) in blocks' ancestors.

    They are *outside*, a number for each of the values, where there is none.
    """
    inside = np.empty((len(values), len(containers) + 1))
    inside[:, :-1] = containers.totals(values)
    inside[:, -1] = outside
    return inside.take(containers.around[:ELEMENT_LEVELS], axis=1)


def group_sums(values: Floats, alike: Group) -> Floats:
    """float64[k, g, n]: for each block the sum of *values* (float64[k, n]) over its group.

    *alike* (intp[g, n]) has a row for each way to group the blocks; the rows have no number in
    common, and all numbers together begin with 0 and leave none out.
    """
    flat, weights = alike.ravel(), np.empty(alike.shape)
    sums = np.empty((len(values), *alike.shape))
    for row, each in zip(sums, values, strict=True):
        weights[:] = each
        row[:] = np.bincount(flat, weights.ravel())[alike]
    return sums
