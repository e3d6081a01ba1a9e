"""The stem of a word, as the paper has it: Porter's, and "1" for every number.

Porter's rules are for English: a word with other letters than ASCII's stays as it is.
"""

from __future__ import annotations

from nltk.stem.porter import PorterStemmer

NUMBER = "1"

# Porter's conditions walk the word several times, in Python; what is longer than this is no
# word of a language but an identifier, a run of letters without spaces, or an attack.
LONGEST_STEMMED = 40

_PORTER = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)


def stem(word: str) -> str:
    """The stem of *word*, lower-cased; numbers are all one."""
    if word.isdigit():
        return NUMBER
    lowered = word.lower()
    if len(lowered) > LONGEST_STEMMED or not lowered.isascii():
        return lowered
    return str(_PORTER.stem(lowered, to_lowercase=False))
