"""The language of an article by its text, where the page is silent or wrong (extra `language`).

py3langid tells it from sequences of bytes. It is asked about the beginning of the text alone: of
2,142 gold texts it read four otherwise by 300 characters than by all (`python -m
research.studies.whole_article`). It knows a hundred languages; what a page declares beyond these
stays. Languages that nobody can tell apart in a paragraph are left to the page. The library's way
over a text, a step of Python a byte, is a third of what a median page's HTML costs to parse: where
the compiled part is at hand, that goes it. Where the commonest words of a language already say that
the page is right, the library is not asked.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.lazy import lazy
from scrapy_mss.markup.compiled import AutomatonWalk, compiled_part
from scrapy_mss.metadata.common_words import has_common_words

logger = logging.getLogger(__name__)

ENOUGH: Final = 80  # bytes of letters for a page that is silent: a sentence, or a line of Chinese
CERTAIN: Final = 200  # for a page that says otherwise
READ: Final = 300  # characters: more take time and change nothing
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_NO_LETTERS: Final = bytes(n for n in range(128) if not _LETTERS.match(chr(n)))

# Of a language, what a page may call it instead: standards beside one another, and close relatives.
ALIKE: Final = ({"no", "nb", "nn"}, {"hr", "sr", "bs", "sh"}, {"id", "ms"}, {"zh", "yue", "wuu"})
N_LETTERS: Final = 2  # of its codes with three letters, the ones that it knows least from text


@lru_cache(1)
def detector() -> Callable[[str], str] | None:
    """What tells the language of a text; None without the library, or its model."""
    identifier = _identifier()
    return None if identifier is None else lambda text: str(identifier.classify(text)[0])


@lru_cache(1)
def _identifier() -> Any:  # noqa: ANN401 - of a library without types
    """The library's own, but that the compiled part walks over a text, where it is at hand."""
    try:
        from py3langid import langid
    except ImportError:
        return None

    class Identifier(langid.LanguageIdentifier):  # type: ignore[misc]
        """It is asked for the scores of a text, in bytes, whoever finds what is known in it."""

        @lazy
        def _walk(self) -> AutomatonWalk | None:
            compiled = compiled_part()
            return compiled and compiled.automata.Automaton(
                np.asarray(self.tk_nextmove, np.uint32),
                np.asarray(self.tk_row, np.uint16),
                np.asarray(self.tk_output, np.int32),
            )

        def _raw_score(self, text: bytes) -> object:
            compiled = compiled_part()
            walk = self._walk if compiled is not None else None
            features, times = walk.counts(text) if walk is not None else (None, ())
            if compiled is None or not features:  # Python alone, or nothing known in the text
                return super()._raw_score(text)
            shorts = self.nb_ptc.view(np.uint16)  # of floats of 16 bits
            rows = np.asarray(compiled.automata.floats(shorts, features, _floats_of_shorts()))
            counts = np.asarray(times, np.float32)
            return np.log1p(counts) @ rows.reshape(len(features), -1) + self.nb_pc

    try:
        return Identifier.from_model_file(langid.MODEL_FILE)
    except OSError as error:  # it unpacks 68 MB to a temporary file, and the disk is full
        logger.warning(
            "scrapy-mss: cannot load the model of py3langid: %s. Languages are those that pages "
            "declare. Free some space in the folder for temporary files (TMPDIR)",
            error,
        )
        return None


@lru_cache(1)
def _floats_of_shorts() -> NDArray[np.float32]:
    """float32[2**16]: the number that each 16 bits are."""
    return np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)


@lru_cache(1)
def known() -> frozenset[str]:
    """The languages that can be told from a text."""
    ranked = _identifier().rank("")
    return frozenset(language for language, _ in ranked if len(language) == N_LETTERS)


def language_of(text: str | None, declared: str | None) -> str | None:
    """The language of *text*, which its page has *declared*; that, where the text tells nothing."""
    read = (text or "")[:READ]
    if declared and has_common_words(read, declared):
        return declared
    return language_by_bytes(read, declared)


def language_by_bytes(read: str, declared: str | None) -> str | None:
    """The same by the library alone, of the beginning that is *read* of a text."""
    detect = detector()
    if detect is None or not _has_letters(read, CERTAIN if declared else ENOUGH):
        return declared
    if declared and declared not in known():
        return declared
    found = _named(detect(read))
    if declared and any(declared in names and found in names for names in ALIKE):
        return declared
    return found if found in known() else declared


def _has_letters(text: str, n_bytes: int) -> bool:
    """Whether the letters of *text* are so many bytes; most have as many that are plain."""
    plain = text.encode("ascii", "ignore").translate(None, _NO_LETTERS)
    return len(plain) >= n_bytes or len("".join(_LETTERS.findall(text)).encode()) >= n_bytes


def _named(language: str) -> str:
    """*language* under the name that pages use for it."""
    return "zh" if language in ("yue", "wuu") else language
