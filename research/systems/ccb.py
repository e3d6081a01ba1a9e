"""Content Code Blurring (Gottron, 2008): main text is where there is hardly any code around.

A page is a row of ones for content and zeros for code; blurred by a Gaussian, each place holds
how much of what is around it is content, and what is above a threshold is kept. This is the
paper's variant by tokens: a word or a sign is content, a tag is code, however long they are.

The paper blurs again and again until little changes. A Gaussian blurred by a Gaussian is a
wider one, so here one wide blur does it: the default reaches about as far as three of 25 tokens.
The paper was not at hand: radius and threshold are as we remember them, and measured. A radius
of 12 takes in more of menus, one of 70 loses more of texts' ends. Each end of the page is taken
to go on as it is.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.tokenwise import TokenSystem
from scrapy_mss.markup.tokens import Bools, Floats, Tokens

RADIUS: Final = 40  # tokens on each side; nearly 25 * sqrt(3)
DEVIATIONS: Final = 3  # of the Gaussian in a radius: .3 % of it lies outside
THRESHOLD: Final = 0.75


class ContentCodeBlurring(TokenSystem):
    """The tokens around which more than *threshold* is content."""

    def __init__(self, *, radius: int = RADIUS, threshold: float = THRESHOLD) -> None:
        if radius < 1:
            raise ValueError(f"the radius is {radius}; it must be a token at least")
        self.radius = radius
        self.threshold = threshold

    def kept(self, tokens: Tokens) -> Bools:
        content = (~tokens.is_tag).astype(np.float64)
        return np.greater(blurred(content, self.radius), self.threshold)


def blurred(values: Floats, radius: int) -> Floats:
    """float64[n]: the mean of *values* around each place, weighted by a Gaussian."""
    if not len(values):
        return values
    places = np.arange(-radius, radius + 1) * (DEVIATIONS / radius)
    weights = np.exp(-np.square(places) / 2)
    return np.convolve(np.pad(values, radius, mode="edge"), weights / weights.sum(), "valid")
