"""Made-up news prose, the same on every run.

Strategy: the words and sentences stand in `words/<language>/*.txt`, `general.txt` for all subjects
and a file for each subject on top of it. A `Writer` draws from their sections with a seeded random
generator. Python promises the numbers of `random.Random(str).random()` for good, the other methods
only in practice, and `tests/demo_web` holds a checksum over all pages.

The files: `[name]` opens a section with an entry a line, `[name *]` one of entries parted by
commas, and `!` behind either means that a writer settles on one entry and keeps to it. In an entry
`(a|b|)` is a choice, `{name}` an entry of that section, `{Name}` the same with a capital,
`{name.2}` the third of the forms that an entry parts by `/`, `{3-9}` a number, and `{a}`, `{b}`,
`{c}` are people, who are introduced with their role where they are first named.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

WORDS = Path(__file__).parent / "words"

HEADER = re.compile(r"\[(\w+)( \*)?( ?!)?\]")
CHOICE = re.compile(r"\(([^()]*)\)")
SLOT = re.compile(r"\{(?:(\d+)-(\d+)|(\w+)(?:\.(\d))?)\}")

# A range that lies in these centuries is one of years, and years are written without separators.
FIRST_YEAR, LAST_YEAR = 1500, 2100
THOUSAND = 1000


class Section(NamedTuple):
    """The entries of one section."""

    entries: tuple[str, ...]
    settled: bool


Sections = Mapping[str, Section]


@dataclass(frozen=True, slots=True)
class Language:
    """What differs between languages beyond their words."""

    code: str
    separator: str  # between thousands
    feminine: str = ""  # what a woman's surname ends in
    plural_numbers: bool = False  # only numbers that ask for the genitive plural
    repairs: tuple[tuple[str, str], ...] = ()  # of what patterns cannot know, as (regex, new)


PUNCTUATION = (
    (r" +(?=[.,;:?!”])", ""),
    (r",+(?=[.,;:?!])", ""),
    (r"([.?!])\.(?=[\s”“»]|$)", r"\1"),
    (r"  +", " "),
)
LANGUAGES = {
    language.code: language
    for language in (
        Language(
            "en",
            ",",
            repairs=(
                *PUNCTUATION,
                (r"\b([Aa]) (?=[aeiou](?!ne\b|ni|se|uro))", r"\1n "),
            ),
        ),
        Language("de", ".", repairs=PUNCTUATION),
        Language(
            "ru",
            " ",
            feminine="а",
            plural_numbers=True,
            repairs=(*PUNCTUATION, (r"\b([Вв]) (?=вторник)", r"\1о ")),
        ),
    )
}


@cache
def sections(language: str, topic: str) -> Sections:
    """What a writer in *language* knows about *topic*."""
    folder = WORDS / language
    return _read(folder / "general.txt") | _read(folder / f"{topic}.txt")


@cache
def _read(path: Path) -> dict[str, Section]:
    """The sections of the file at *path*."""
    found: dict[str, tuple[re.Match[str], list[str]]] = {}
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        header = HEADER.fullmatch(line)
        if header:
            lines = []
            found[header[1]] = (header, lines)
        elif line and not line.startswith("#"):
            lines.extend(re.split(r", (?![^(]*\))", line) if found and _words(found) else [line])
    return {
        name: Section(tuple(entries), settled=bool(header[3]))
        for name, (header, entries) in found.items()
    }


def _words(found: dict[str, tuple[re.Match[str], list[str]]]) -> bool:
    """Whether the section read last is one of words, several a line."""
    header, _ = next(reversed(found.values()))
    return bool(header[2])


@cache
def labels(language: str) -> Mapping[str, str]:
    """What stands on buttons and above boxes."""
    entries = sections(language, "council")["ui"].entries
    return dict(entry.split(" = ") for entry in entries)


def capital(text: str) -> str:
    """*text* with a capital as its first letter."""
    return text[:1].upper() + text[1:]


class Writer:
    """Writes about one event: places, people and the matter itself stay the same."""

    def __init__(self, language: str, topic: str, seed: str) -> None:
        self.language = LANGUAGES[language]
        self.sections = sections(language, topic)
        self.chance = random.Random(seed)
        self.settled: dict[str, str] = {}
        self._decks: dict[str, list[str]] = {}
        self._introduced: set[str] = set()

    def write(self, section: str) -> str:
        """A sentence, or what else an entry of *section* makes."""
        return self.finish(self.expand(self.draw(section)))

    def several(self, section: str, count: int) -> str:
        """*count* of them, as one text."""
        return " ".join(self.write(section) for _ in range(count))

    def draw(self, section: str) -> str:
        """An entry of *section*; none comes again before all have come."""
        entries, settled = self.sections[section]
        if settled:
            if section not in self.settled:
                self.settled[section] = self.chance.choice(entries)
            return self.settled[section]
        deck = self._decks.get(section)
        if not deck:
            deck = list(entries)
            self.chance.shuffle(deck)
            self._decks[section] = deck
        return deck.pop()

    def expand(self, pattern: str) -> str:
        """*pattern* with its choices made and its slots filled."""
        while "(" in pattern:
            pattern = CHOICE.sub(self._choose, pattern)
        return SLOT.sub(self._fill, pattern)

    def finish(self, text: str) -> str:
        """*text* with a capital in front and what patterns cannot know put right."""
        for wrong, right in self.language.repairs:
            text = re.sub(wrong, right, text)
        return capital(text.strip())

    def person(self) -> str:
        """The full name of somebody new."""
        woman = self.chance.random() < 0.5  # noqa: PLR2004 - one in two
        first = self.draw("woman" if woman else "man")
        return f"{first} {self.draw('surname')}{self.language.feminine if woman else ''}"

    def named(self, letter: str) -> str:
        """The name of person *letter*; full, and with the role, where it comes first."""
        name, role = self._who(letter)
        if letter in self._introduced:
            return name.rpartition(" ")[2]
        self._introduced.add(letter)
        return f"{name}, {role},"

    def _who(self, letter: str) -> tuple[str, str]:
        if letter not in self.settled:
            self.settled[letter] = self.person()
            self.settled[f"{letter}_role"] = self.draw("role")
        return self.settled[letter], self.settled[f"{letter}_role"]

    def _choose(self, match: re.Match[str]) -> str:
        options: list[str] = match[1].split("|")
        return self.chance.choice(options)

    def _fill(self, match: re.Match[str]) -> str:
        low, high, slot, form = match.groups()
        if low:
            return self._number(int(low), int(high))
        name = slot.lower()
        text = self._value(name, int(form or 0))
        return text if slot == name else capital(text)

    def _value(self, name: str, form: int) -> str:
        if name in ("a", "b", "c"):
            return self.named(name)
        if name.endswith("_last"):
            return self._who(name[0])[0].rpartition(" ")[2]
        entry = self.settled[name] if name in self.settled else self.draw(name)
        forms = entry.split("/")
        return self.expand(forms[form] if len(forms) > 1 else entry)

    def _number(self, low: int, high: int) -> str:
        number = self.chance.randint(low, high)
        if low >= FIRST_YEAR and high <= LAST_YEAR:
            return str(number)
        if self.language.plural_numbers and number % 100 not in range(11, 15):
            number += max(0, 5 - number % 10) if number % 10 else 0
        if number < THOUSAND:
            return str(number)
        return f"{number:,}".replace(",", self.language.separator)
