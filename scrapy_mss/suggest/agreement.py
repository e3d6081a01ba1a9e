"""The agreement of a rule, suggested or edited by hand, with the model on pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrapy_mss.markup.tokens import CJK
from scrapy_mss.suggest.readings import SitePage
from scrapy_mss.wrappers.rules import Wrapper

# An ideograph is a word, as in the tokenizer: Chinese and Japanese write no spaces.
_WORD: Final = re.compile(rf"[^\W{CJK}]+|(?=\w)[{CJK}]")

UNKNOWN: Final = 0.5


@dataclass(frozen=True, slots=True)
class PageAgreement:
    """What the rule and the model make of a page; ``agreement`` is the F1 of their words, 0 to 1.

    ``model_text`` is empty where the model takes the page for no article, ``rule_text`` where the
    rule has not ``matched``.
    """

    url: str
    matched: bool
    agreement: float
    rule_text: str
    model_text: str


def agreements(rule: Wrapper, pages: Sequence[SitePage]) -> tuple[PageAgreement, ...]:
    """How far *rule* and the model agree on each of *pages*."""
    return tuple(_agreement(rule, page) for page in pages)


def _agreement(rule: Wrapper, page: SitePage) -> PageAgreement:
    found = page.by_rule(rule)
    text = found.text if found else ""
    model_text = page.model_text
    return PageAgreement(page.url, bool(text), word_f1(text, model_text), text, model_text)


def expected(total: float, n_seen: int) -> float:
    """The mean to expect after a *total* of *n_seen*, and of one more that tells nothing."""
    return (total + UNKNOWN) / (n_seen + 1)


def word_f1(one: str, other: str) -> float:
    """F1 of the words of two texts, in any order; 1 if both have none."""
    first, second = (Counter(_WORD.findall(text.lower())) for text in (one, other))
    n_words = first.total() + second.total()
    return 2 * (first & second).total() / n_words if n_words else 1.0
