"""Which sentences of an article are new, and how many are gone, by hashes of those it had.

A line of a text is a paragraph of its page. A sentence is new if neither it was in the article nor
its line on the page; it is gone if neither it is in the article nor its line on the page. So what
is read otherwise than before, of the same page, is neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final

import numpy as np

from scrapy_mss.seen.paragraphs import (
    ENDS,
    MAX_PARAGRAPHS,
    Paragraphs,
    hashes_of,
    normalized,
)

MAX_SENTENCES: Final = 10_000  # of a text, the first: 80 kB in the store; a long article has 1,000

# After a point that no abbreviation such as "St." ends with, or after another end of a sentence.
_BETWEEN: Final = re.compile(
    r"(?:(?<=[^\W_]{3}[.۔।])|(?<=[!?…؟]))[\"”’»)\]]{0,3}\s+"  # noqa: RUF001
    r"|(?<=[。！？])[\"”’」』）]{0,3}\s*"  # noqa: RUF001
)
_MARK: Final = re.compile(r"(?:-|\d{1,4}\.) ")  # of an item of a list


def sentences_of(line: str) -> list[str]:
    """The sentences of a *line* of text."""
    return [sentence for sentence, _ in _sentences(line)]


def _sentences(line: str) -> list[tuple[str, str]]:
    """The sentences of a *line* of text, and their words."""
    ends = [0, *(found.end() for found in _BETWEEN.finditer(line)), len(line)]
    parts = (line[start:end].strip() for start, end in pairwise(ends))
    return [(part, words) for part in parts if (words := normalized(part))]


def with_sentences(paragraphs: Paragraphs, text: str) -> Paragraphs:
    """*paragraphs* with the sentences of the *text* that is not one by itself of the page."""
    kept = set(paragraphs.kept.tolist())
    pairs = (
        (of_line, each)
        for of_line, _, hashes in _lines(text)
        if len(hashes) > 1 or of_line not in kept
        for each in hashes
    )
    return paragraphs.with_pairs([*islice(pairs, MAX_SENTENCES)])


def added(text: str, before: Paragraphs) -> list[str]:
    """The sentences of *text* that the article did not have *before*."""
    page, known = set(before.all.tolist()), _known(before)
    return [
        sentence
        for of_line, sentences, hashes in _lines(text)
        if of_line not in page
        for sentence, each in zip(sentences, hashes, strict=True)
        if each not in known
    ]


def n_removed(before: Paragraphs, now: Paragraphs) -> int:
    """How many sentences that the article had *before* it has no longer *now*."""
    lines, sentences = before.pairs.T
    alone = before.kept[~np.isin(before.kept, lines)]
    lines, sentences = np.append(lines, alone), np.append(sentences, alone)
    here = np.array([*_known(now)], np.uint32)
    gone = ~np.isin(lines, now.all) & ~np.isin(sentences, here)
    return len(np.unique(sentences[gone]))


def _known(paragraphs: Paragraphs) -> set[int]:
    return {*paragraphs.kept.tolist(), *paragraphs.pairs[:, 1].tolist()}


def _lines(text: str) -> Iterator[tuple[int, list[str], list[int]]]:
    """The hash of each line of *text*, its sentences, and their hashes."""
    for line in text.splitlines()[:MAX_PARAGRAPHS]:
        mark = _MARK.match(line)
        found = _sentences(line[mark.end() :] if mark else line)
        if not found:
            continue
        sentences, said = [each for each, _ in found], [words for _, words in found]
        if len(found) == 1 and not line.rstrip().endswith(ENDS):  # as the page has a short line
            said = [normalized(sentences[0], may_count=True)]
        of_line, *hashes = hashes_of([" ".join(said), *said]).tolist()
        yield of_line, sentences, hashes
