"""Which copies of an article are recognized, and which articles are taken for copies.

    python -m research.studies.stories --data FOLDER --out research/results

The article is what the bundled model finds on a page, as in a crawl. A copy is made from its gold
text, as another paper would: cut to a share of its sentences, from the end or anywhere, with a line
of the agency above, and below it a tenth of another page's text, as boxes are. Some are told in
another order, in some words are replaced, too. The thresholds of `scrapy_mss.seen.stories` were
chosen on the first sets; what is reported are others. Pages whose articles are taken for one story
are listed, since sets have such pages, too: whether they are, a reader has to say.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from research import command_line
from research.datasets.sets import load
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import write_atomically
from scrapy_mss.seen.stories import Likeness, Numbers, Stories, StoryStore, likeness, sketch
from scrapy_mss.storage.checkpoints import Checkpoints
from scrapy_mss.storage.opening import store_at

PROGRAM: Final = "python -m research.studies.stories"
CHOSEN_ON: Final = ("articles_wcxb", "articles_fundus", "articles_rules")
REPORTED: Final = (
    "articles_manual",
    "articles_world",
    "articles_l3s",
    "sites_ctf",
    "sites_daniel",
)
SPACELESS: Final = frozenset({"zh", "ja", "th"})
BOX: Final = 0.1  # of the length of a copy
DATELINE: Final = "LONDON, March 3 (Agency) - By a staff writer\n\n"
MINUTE: Final = 10**7
SHOWN: Final = 60  # characters of a text
COMMON: Final = 80  # pages: what more of them share is the footer of a site
NOTHING_SHARED: Final = Likeness(0, 0)
_SENTENCES: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")  # noqa: RUF001


class Edit(NamedTuple):
    """What is done to a text: the share of sentences kept, the order, the share of new words."""

    name: str
    kept: float
    reordered: bool = False
    replaced: float = 0.0


EDITS: Final = (
    Edit("95 % kept", 0.95),
    Edit("90 % kept", 0.9),
    Edit("80 % kept", 0.8),
    Edit("70 % kept", 0.7),
    Edit("80 % kept, reordered", 0.8, reordered=True),
    Edit("90 % kept, one word of 20 replaced", 0.9, replaced=0.05),
    Edit("90 % kept, one word of 10 replaced", 0.9, replaced=0.1),
)


@dataclass(frozen=True, slots=True)
class Article:
    """An article as a crawl has it, and as people wrote it down."""

    site: str
    language: str
    text: str
    gold: str


@dataclass(slots=True)
class Found:
    """What came of the articles of a set."""

    name: str
    articles: int
    recognized: dict[str, list[bool]] = field(default_factory=dict)  # copies, by edit
    spaceless: dict[str, list[bool]] = field(default_factory=dict)  # of them without spaces
    wrong: int = 0  # copies with the story of another article
    marked: list[tuple[Article, Article, Likeness]] = field(default_factory=list)
    nearest: Likeness = NOTHING_SHARED  # the most that articles share which are not marked


def articles(folder: Path, name: str, extractor: Extractor) -> list[Article]:
    """The articles that the model finds on the pages of a set."""
    found = []
    for page in load(f"jsonl:{folder / name}.jsonl.xz").pages:
        extraction = extractor.extract(page.html)
        if extraction.is_article:
            found.append(Article(page.site, page.language, extraction.text, page.golds[0]))
    return found


def copy(gold: str, edit: Edit, box: str, chance: random.Random) -> str:
    """What another paper makes of the text *gold*, with a part of the text *box* below."""
    kept = _cut(sentences(gold), edit.kept, chance)
    if edit.reordered:
        size = max(1, len(kept) // 4)
        parts = [kept[at : at + size] for at in range(0, len(kept), size)]
        chance.shuffle(parts)
        kept = [each for part in parts for each in part]
    words = " ".join(kept).split(" ")
    words = [chance.choice(words) if chance.random() < edit.replaced else each for each in words]
    text = " ".join(words)
    return f"{DATELINE}{text}\n\n{box[: round(BOX * len(text))]}"


def _cut(told: list[str], share: float, chance: random.Random) -> list[str]:
    """A *share* of the sentences: without the end, or without any."""
    count = max(1, round(share * len(told)))
    if chance.random() < 0.5:  # noqa: PLR2004 - either
        return told[:count]
    return [told[each] for each in sorted(chance.sample(range(len(told)), count))]


def sentences(text: str) -> list[str]:
    """The sentences of *text*."""
    return [each for each in _SENTENCES.split(text) if each and not each.isspace()]


def measured(name: str, told: Sequence[Article]) -> Found:
    """Tell the articles of a set, then ask for a copy of each by each edit."""
    found = Found(name, len(told))
    chance = random.Random(name)  # noqa: S311 - a choice of sentences, not of keys
    with tempfile.TemporaryDirectory() as folder:
        store = store_at(folder)
        stories = Stories(StoryStore(store), lambda: MINUTE)
        checkpoints = Checkpoints(store, [stories])
        names = []
        for number, article in enumerate(told):
            match = stories.match((number,), article.text)
            names.append(match.story)
            stories.add(match.emitted)
        for number, article in enumerate(told):
            peers = [each for each in told if each.language == article.language]
            for edit in EDITS:
                text = copy(article.gold, edit, chance.choice(peers).text, chance)
                match = stories.match((-1,), text)
                is_found = match.story == names[number]
                found.recognized.setdefault(edit.name, []).append(is_found)
                if article.language in SPACELESS and not edit.replaced:
                    found.spaceless.setdefault(edit.name, []).append(is_found)
                found.wrong += match.emitted.is_copy and not is_found
        checkpoints.close(finished=True)
    return found


def compared(found: Found, told: Sequence[Article]) -> None:
    """Note which pages are taken for one story, and what others share at most."""
    sketches = [sketch(article.text) for article in told]
    for one, other in sorted(_sharing(sketches)):
        first, second = sketches[one], sketches[other]
        assert first is not None
        assert second is not None
        alike = likeness(first, second)
        if alike.is_copy:
            found.marked.append((told[one], told[other], alike))
        else:
            found.nearest = max(found.nearest, alike)


def _sharing(sketches: Sequence[Numbers | None]) -> set[tuple[int, int]]:
    """The pairs that have a number in common."""
    having: dict[int, list[int]] = {}
    for at, numbers in enumerate(sketches):
        for number in () if numbers is None else numbers.tolist():
            having.setdefault(number, []).append(at)
    few = (each for each in having.values() if len(each) <= COMMON)
    return {pair for each in few for pair in combinations(each, 2)}


def recall_table(groups: Sequence[tuple[str, Sequence[Found]]]) -> str:
    """A row an edit, a column a group of sets."""
    lines = [
        f"| copies that are recognized | {' | '.join(title for title, _ in groups)} |",
        f"| --- |{' ---: |' * len(groups)}",
    ]
    for edit in EDITS:
        cells = (_recall(edit, sets, lambda each: each.recognized) for _, sets in groups)
        lines.append(f"| {edit.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _recall(edit: Edit, sets: Iterable[Found], of: Callable[[Found], dict[str, list[bool]]]) -> str:
    found = [each for one in sets for each in of(one).get(edit.name, ())]
    return f"{fmean(found):.1%}" if found else "-"


def spaceless_table(sets: Sequence[Found]) -> str:
    """A row an edit, for languages without spaces."""
    count = sum(len(each.spaceless.get(EDITS[0].name, ())) for each in sets)
    lines = [
        f"| of the others, {count} without spaces between words | recognized |",
        "| --- | ---: |",
    ]
    edits = [edit for edit in EDITS if not edit.replaced]  # there are no words to replace
    recalls = (_recall(edit, sets, lambda each: each.spaceless) for edit in edits)
    lines += [f"| {edit.name} | {each} |" for edit, each in zip(edits, recalls, strict=True)]
    return "\n".join(lines) + "\n"


def sets_table(sets: Sequence[Found]) -> str:
    """A row a set: what was taken for one story, and how near the others are."""
    titles = (
        "set",
        "articles",
        "pairs taken for one story",
        "copies given to another story",
        "the nearest pair of others: shared of both, of the shorter",
    )
    lines = [f"| {' | '.join(titles)} |", "| --- | ---: | ---: | ---: | ---: |"]
    for each in sets:
        nearest = f"{each.nearest.of_both:.2f}, {each.nearest.of_shorter:.2f}"
        lines.append(
            f"| {each.name} | {each.articles} | {len(each.marked)} | {each.wrong} | {nearest} |"
        )
    return "\n".join(lines) + "\n"


def pairs(sets: Iterable[Found]) -> Iterator[str]:
    """A line a pair of pages that were taken for one story."""
    for each in sets:
        for one, other, alike in each.marked:
            texts = (" ".join(article.text[:SHOWN].split()) for article in (one, other))
            shares = f"{alike.of_both:.2f} {alike.of_shorter:.2f}"
            yield f"{each.name} {shares} {one.site} | {other.site} | {' | '.join(texts)}"


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its tables."""
    extractor = Extractor()
    found = []
    for name in (*CHOSEN_ON, *REPORTED):
        told = articles(options.data, name, extractor)
        found.append(measured(name, told))
        compared(found[-1], told)
    chosen, reported = found[: len(CHOSEN_ON)], found[len(CHOSEN_ON) :]
    groups = [("sets that the thresholds were chosen on", chosen), ("others", reported)]
    tables = f"{recall_table(groups)}\n{spaceless_table(reported)}\n{sets_table(found)}"
    print("\n".join([tables, *pairs(found)]))
    write_atomically(options.out / "stories.md", tables.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run_study(PROGRAM, "Which copies of articles are found.", run, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
