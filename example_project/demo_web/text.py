"""Made-up sentences, the same for the same seed.

The patterns are in ``words/LANGUAGE.yaml``: lists of words, and blocks of text with a pattern a
line. In a pattern ``(a|b)`` is a choice, ``{name}`` an entry of the list of that name, ``{Name}``
the same with a capital, ``{name.1}`` the second of the forms that an entry separates by ``/``, and
``{3-9}`` a number. What is listed under ``facts`` is drawn once: a story keeps to one place.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

WORDS = Path(__file__).parent / "words"
CHOICE = re.compile(r"\(([^()]*)\)")
SLOT = re.compile(r"\{(?:(\d+)-(\d+)|(\w+)(?:\.(\d))?)\}")


@cache
def vocabulary(language: str, topic: str = "") -> Mapping[str, Any]:
    """The words of *language*; those of *topic*, if one is named, are added to the general ones."""
    general = _read(language)
    special = general["topics"].get(topic, {"facts": {}})
    return {**general, **special, "facts": {**general["facts"], **special["facts"]}}


@cache
def _read(language: str) -> dict[str, Any]:
    words = yaml.safe_load((WORDS / f"{language}.yaml").read_text(encoding="utf-8"))
    return _with_lines(words)


def _with_lines(words: dict[str, Any]) -> dict[str, Any]:
    """*words* with each block of text as the list of its lines."""
    lists: dict[str, Any] = {}
    for name, value in words.items():
        if isinstance(value, dict):
            lists[name] = _with_lines(value)
        elif isinstance(value, str) and value.endswith("\n"):
            lists[name] = value.splitlines()
        else:
            lists[name] = value
    return lists


def capital(text: str) -> str:
    """*text* with a capital as its first letter."""
    return text[:1].upper() + text[1:]


class Writer:
    """Writes about one event: its place, its subject and two people stay the same."""

    def __init__(self, words: Mapping[str, Any], seed: str, **facts: str) -> None:
        self.random = random.Random(seed)
        self._words = words
        self._decks: dict[str, list[str]] = {}
        self._facts = {name: self.random.choice(values) for name, values in words["facts"].items()}
        for letter in "ab":
            person = self.draw("people")
            self._facts |= {letter: person.split()[-1], f"{letter}_full": person}
            self._facts[f"{letter}_role"] = self.draw("role")
        self._facts |= facts

    def write(self, name: str) -> str:
        """A sentence, or what else an entry of the list *name* makes."""
        return capital(self._fill(self.draw(name)).strip())

    def several(self, name: str, count: int) -> tuple[str, ...]:
        """*count* of them."""
        return tuple(self.write(name) for _ in range(count))

    def draw(self, name: str) -> str:
        """An entry of the list *name*; none comes again before all have come."""
        deck = self._decks.get(name)
        if not deck:
            deck = self._decks[name] = list(self._words[name])
            self.random.shuffle(deck)
        return deck.pop()

    def _fill(self, pattern: str) -> str:
        while CHOICE.search(pattern):
            pattern = CHOICE.sub(lambda match: self.random.choice(match[1].split("|")), pattern)
        return SLOT.sub(self._slot, pattern)

    def _slot(self, match: re.Match[str]) -> str:
        low, high, name, form = match.groups()
        if low:
            return str(self.random.randint(int(low), int(high)))
        key = name.lower()
        entry = self._facts[key] if key in self._facts else self.draw(key)
        text = self._fill(entry.split("/")[int(form or 0)])
        return text if name == key else capital(text)
