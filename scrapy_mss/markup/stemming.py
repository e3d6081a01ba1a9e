"""The normal form of a word, as the paper has it: its Porter stem, and "1" for every number.

Porter's rules are for English: a word with letters outside ASCII is only lower-cased. There are two
implementations: PyStemmer's, in C, for the default profile, and nltk's, the one that the ``paper``
profiles are reproducible with. They differ in words such as "trekked" and "revving", one in twenty
thousand: of two equal consonants before -ed or -ing, PyStemmer takes one only where English doubles
them (bb, dd, ff, gg, mm, nn, pp, rr, tt), nltk everywhere but in ll, ss and zz.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import Stemmer

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

Stem: TypeAlias = Callable[[str], str]  # of a word in lower-case ASCII letters and digits
Normalizer: TypeAlias = Callable[[str], str]  # a word's normal form

NUMBER = "1"

# What is longer than this is no word of a language but an identifier, a run of letters without
# spaces, or an attack, and nltk's conditions walk a word several times, in Python.
MAX_STEMMED = 40

# Those of PyStemmer that no thread has: one stems a word at a time.
_free: list[Stem] = []


def porter(word: str) -> str:
    """Porter's stem by PyStemmer, without a cache of its own: the tokenizer has one."""
    try:
        stem = _free.pop()
    except IndexError:
        stem = own_stemmer(porter)
    stemmed = stem(word)
    _free.append(stem)
    return stemmed


def own_stemmer(stem: Stem) -> Stem:
    """What gives the same as *stem*, in less time, to one thread alone."""
    return Stemmer.Stemmer("porter", 0).stemWord if stem is porter else stem


@cache
def normalizer(stem: Stem) -> Normalizer:
    """What gives a word in lower case and reduced to its *stem*; every number is the same number.

    A function made for the stemmer, since it is called for each word that was not seen before, of
    which a page may consist: with the stemmer as an argument each call costs a third more.
    """

    def normalized(word: str) -> str:
        if word.isdigit():
            return NUMBER
        lowered = word.lower()
        if len(lowered) > MAX_STEMMED or not lowered.isascii():
            return lowered
        return stem(lowered)

    return normalized


def porter_nltk(word: str) -> str:
    """Porter's stem by nltk, which is imported on first use: it takes a third of a second."""
    return str(_nltk_stemmer().stem(word, to_lowercase=False))


@cache
def _nltk_stemmer() -> PorterStemmer:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)
