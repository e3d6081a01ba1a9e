"""What the bench asks of an extraction system.

A system turns a page into text. Those that learn also take examples; those that read
several pages of one site together take them all at once; those that work on our tokens
can say which tokens they kept, so that every word occurrence counts as distinct.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from research.datasets.pages import Example
from scrapy_mss.markup.tokens import Tokens


class Located(NamedTuple):
    """An extraction with the tokens it was cut from; *kept* is bool[n_tokens]."""

    text: str
    tokens: Tokens
    kept: NDArray[np.bool_]


@runtime_checkable
class TextExtractor(Protocol):
    """Any system: a page in, its main text out."""

    def extract(self, html: str) -> str: ...


@runtime_checkable
class Trainable(TextExtractor, Protocol):
    """A system that learns from labelled pages before it is asked."""

    def fit(self, examples: Iterable[Example]) -> None: ...


@runtime_checkable
class Pretrained(Protocol):
    """A system that a trained model comes with."""

    def load_bundled(self) -> None: ...


@runtime_checkable
class SiteExtractor(TextExtractor, Protocol):
    """A system that looks at all pages of one site together."""

    def extract_site(self, pages: Sequence[str]) -> list[str]: ...


@runtime_checkable
class TokenExtractor(TextExtractor, Protocol):
    """A system that knows which tokens of the page it kept."""

    def locate(self, html: str) -> Located: ...


@runtime_checkable
class Oracle(TextExtractor, Protocol):
    """What is told the text that is right: a bound for systems, and none itself."""

    def extract_best(self, html: str, gold: str) -> str: ...
