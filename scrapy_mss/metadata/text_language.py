"""The language of an article by its text, where the page is silent or wrong (extra `language`).

py3langid tells it from sequences of bytes. It is asked about the beginning of the text alone: of
2,142 gold texts it read four otherwise by 300 characters than by all (`python -m
research.studies.whole_article`). It knows a hundred languages; what a page declares beyond these
stays. Languages that nobody can tell apart in a paragraph are left to the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

ENOUGH: Final = 80  # bytes of letters for a page that is silent: a sentence, or a line of Chinese
CERTAIN: Final = 200  # for a page that says otherwise
READ: Final = 300  # characters: more take time and change nothing
_LETTERS: Final = re.compile(r"[^\W\d_]+")

# Of a language, what a page may call it instead: standards beside one another, and close relatives.
ALIKE: Final = ({"no", "nb", "nn"}, {"hr", "sr", "bs", "sh"}, {"id", "ms"}, {"zh", "yue", "wuu"})
N_LETTERS: Final = 2  # of its codes with three letters, the ones that it knows least from text


@lru_cache(1)
def detector() -> Callable[[str], str] | None:
    """What tells the language of a text; None if the library is not installed."""
    try:
        from py3langid import classify
    except ImportError:
        return None
    return lambda text: str(classify(text)[0])


@lru_cache(1)
def known() -> frozenset[str]:
    """The languages that can be told from a text."""
    from py3langid import rank

    return frozenset(language for language, _ in rank("") if len(language) == N_LETTERS)


def language_of(text: str | None, declared: str | None) -> str | None:
    """The language of *text*, which its page has *declared*; that, where the text tells nothing."""
    detect, read = detector(), (text or "")[:READ]
    n_bytes = len("".join(_LETTERS.findall(read)).encode())
    if detect is None or n_bytes < (CERTAIN if declared else ENOUGH):
        return declared
    if declared and declared not in known():
        return declared
    found = _named(detect(read))
    if declared and any(declared in names and found in names for names in ALIKE):
        return declared
    return found if found in known() else declared


def _named(language: str) -> str:
    """*language* under the name that pages use for it."""
    return "zh" if language in ("yue", "wuu") else language
