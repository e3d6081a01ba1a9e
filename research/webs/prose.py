"""Sentences for the made-up sites: the demo's patterns, and what they lack.

The words of a language are those of the demo, if it has the language, and those in
``words/LANGUAGE.yaml``, which has the same form.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

EXAMPLE_PROJECT: Final = Path(__file__).resolve().parents[2] / "example_project"
sys.path.append(str(EXAMPLE_PROJECT))

from demo_web.newsroom import slug  # noqa: E402 - of the example project
from demo_web.text import Writer, vocabulary  # noqa: E402

__all__ = ["LANGUAGES", "Prose", "slug"]

WORDS: Final = Path(__file__).parent / "words"
LANGUAGES: Final = tuple(sorted(path.stem for path in WORDS.glob("*.yaml")))
WITHOUT_SPACES: Final = ("zh",)
CHARACTERS: Final = 2  # of a word, where no spaces are between words
# Kinds of sentences by how often news has them.
MIXTURE: Final = ("sentence", "sentence", "sentence", "detail", "quote")
_AFTER_CHINESE: Final = re.compile(r"(?<=[。！？”])\s")  # noqa: RUF001 - Chinese marks
_FULL_STOP: Final = re.compile(r"\.(?=\s|$)")


@cache
def words_of(language: str, topic: str) -> Mapping[str, Any]:
    """All words of a *language*, those of a *topic* of the demo among them."""
    own = yaml.safe_load((WORDS / f"{language}.yaml").read_text(encoding="utf-8"))
    lists = {
        name: value.splitlines() if isinstance(value, str) and value.endswith("\n") else value
        for name, value in own.items()
    }
    known = {} if "facts" in own else vocabulary(language, topic)
    return {**known, **lists}


class Prose(Writer):
    """Writes in one language about one event."""

    def __init__(self, language: str, seed: str) -> None:
        topic = ("council", "transport", "culture")[len(seed) % 3]
        self.language = language
        self.words = words_of(language, topic)
        self.labels = self.words["labels"]
        person = self.words["people"][len(seed) % len(self.words["people"])]
        super().__init__(self.words, f"{language}/{seed}", name=person, short=person.split()[-1])

    def title(self, name: str) -> str:
        """The title of a page of the site's own, or one of the list *name*."""
        own = self.words["titles"].get(name)
        return self.text(own) if own else self.write(name)

    def text(self, pattern: str) -> str:
        """The *pattern* with words."""
        return self.join((self._fill(pattern).strip(),))

    def some(self, name: str, count: int) -> tuple[str, ...]:
        """*count* entries of the list *name*, or all that it has."""
        return self.several(name, min(count, len(self.words[name])))

    def paragraph(self) -> str:
        """One to four sentences."""
        count = self.random.randint(1, 4)
        return self.join(self.write(self.random.choice(MIXTURE)) for _ in range(count))

    def join(self, sentences: Iterable[str]) -> str:
        """The *sentences* as one text."""
        text = " ".join(sentences)
        if self.language in WITHOUT_SPACES:
            text = _AFTER_CHINESE.sub("", _FULL_STOP.sub("。", text))
        return text

    def length(self, text: str) -> int:
        """About how many words the *text* has."""
        return len(text) // CHARACTERS if self.language in WITHOUT_SPACES else len(text.split())

    def first(self, text: str, n_words: int) -> str:
        """About the first *n_words* of the *text*."""
        if self.language in WITHOUT_SPACES:
            return text[: n_words * CHARACTERS]
        return " ".join(text.split()[:n_words])
