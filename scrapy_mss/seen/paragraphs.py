"""Whether an article has changed, decided by its page and not by how the page was read.

Of each emitted article the hashes of the page's paragraphs are kept, and which of them made up the
article. When the page is read again, its text may differ because the model or the memory of the
site has learned in between. An article has changed only if

    a paragraph that it had is no longer on the page, or
    it has a paragraph now that was not on the page.

Two kinds of paragraphs count: those beside others of the article in the same element, as opposed to
an advertisement or a teaser that was kept by mistake, and those that were edited, so that an old
and a new one have most of their phrases in common. In a short line that is no headline, numbers and
the word after them do not count: "3 hours ago", "12 comments".

Sentences are compared in the same way. A line of a text is a paragraph of its page. A sentence is
new if neither it was in the article nor its line on the page; it is gone if neither it is in the
article nor its line on the page. So what is read otherwise than before, of the same page, is
neither.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from itertools import islice, pairwise
from struct import Struct
from typing import Any, Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.opinions import Role, role_counts
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import mix
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import CLOSE, Bools, Counts, Floats, Tokens

Hashes: TypeAlias = NDArray[np.uint32]
Phrases: TypeAlias = NDArray[np.uint16]

VERSION: Final = 2  # of what is hashed: of another version nothing can be compared
MAX_PARAGRAPHS: Final = 2000  # of a page, the first: of 5,100 pages the longest article had 1,100
N_PHRASES: Final = 6  # a sample; one edited word changes two of a paragraph's phrases
ALIKE: Final = 0.5  # share of the sample that an edited paragraph keeps
MAX_COMPARED: Final = 50  # edited paragraphs: where more are other ones, some of them are certain
SHORT: Final = 60  # characters of a line whose numbers may be a clock's or a counter's
ENDS: Final = (".", "!", "?", '"', "”", "。", "！", "？")  # noqa: RUF001 - of sentences
IDEOGRAPH: Final = 3  # characters that one of a script without spaces counts as
MIN_LETTERS: Final = 15  # below that a line is a label, such as "Comments"
MIN_BESIDE: Final = 2  # paragraphs of the article in the same kind of element, or
MIN_SHARE: Final = 0.2  # of its words: short articles have a single one
NEAR: Final = 3  # elements up, where an advertisement has its name
MOST: Final = 0.5  # of its words
CONTAINERS: Final = (2, 3)  # elements up, where editors of blocks have each paragraph in its own
PARAGRAPH: Final = TAG_NUMBERS["p"]
HEADLINES: Final = (TAG_NUMBERS["h1"], TAG_NUMBERS["title"])  # their numbers are news: "12 dead"
FEW_LINKS: Final = 0.5  # share of the words

# Letters, digits, and the marks that belong to letters but which \w leaves out.
_WORDS = re.compile(
    r"[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u0dff\u0e00-\u109f"
    r"\u1780-\u17d3]+"
)
_ASCII_WORDS: Final = re.sub(rb"[^0-9A-Za-z_]", b" ", bytes(range(256)))
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
_COUNTED = re.compile(r"\d[\d\W_]*(?:[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}|[^\W\d_]+)?")
_HEAD = Struct("<BHH")  # version, paragraphs of the article, other ones
_ROW = 4 + 1 + 2 * N_PHRASES
_PAIR = 4 + 4

# Of sentences.
MAX_SENTENCES: Final = 10_000  # of a text, the first: 80 kB in the store; a long article has 1,000

# After a point that no abbreviation such as "St." ends with, or after another end of a sentence: an
# end is looked for first, since the other pattern would be tried at each character.
_POINTS, _OTHER_ENDS, _WITHOUT_SPACE = ".۔।", "!?…؟", "。！？"  # noqa: RUF001
_END: Final = re.compile(f"[{_POINTS}{_OTHER_ENDS}{_WITHOUT_SPACE}]")
_BETWEEN: Final = re.compile(
    rf"(?:(?<=[^\W_]{{3}}[{_POINTS}])|(?<=[{_OTHER_ENDS}]))[\"”’»)\]]{{0,3}}\s+"  # noqa: RUF001
    rf"|(?<=[{_WITHOUT_SPACE}])[\"”’」』）]{{0,3}}\s*"  # noqa: RUF001
)
_MARK: Final = re.compile(r"(?:-|\d{1,4}\.) ")  # of an item of a list


@dataclass(frozen=True, slots=True, eq=False)
class Paragraphs:
    """The paragraphs of a page, as hashes, and those ``kept`` as its article."""

    kept: Hashes  # uint32[n]
    certain: Bools  # bool[n]: are text of the article, and no box that was kept by mistake
    phrases: Phrases  # uint16[n, N_PHRASES]: a sample of the phrases of each, 0 where it has fewer
    others: Hashes  # uint32[m]
    # uint32[k, 2]: lines of the text with several sentences, and each of these
    pairs: Hashes = field(default_factory=lambda: np.empty((0, 2), np.uint32))

    @classmethod
    def of_page(cls, page: Page, inside: Bools, *, certain: bool = False) -> Paragraphs:
        """Those of *page*, the tokens of whose article are *inside* (bool[n_tokens]).

        With *certain*, as if labelled by a rule, the article has no mistakes.
        """
        lines = paragraphs_of(page)
        hashes, is_said = hashes_of(lines), is_text(page, lines)
        kept = page.blocks.count(inside & page.tokens.is_word)[: len(lines)] * 2
        is_kept = kept > page.blocks.words[: len(lines)]
        at = is_kept.nonzero()[0]
        is_certain = is_kept if certain else is_said & beside(page, is_kept)
        # Links are exchanged, not edited.
        edited = is_kept if certain else is_said
        texts = [lines[each] if edited[each] else "" for each in at.tolist()]
        return cls(hashes[at], is_certain[at], _phrases(texts), hashes[~is_kept])

    @classmethod
    def of_text(cls, text: str, page: Paragraphs | None = None) -> Paragraphs:
        """Those of a *text* that the spider has chosen, without mistakes, and of its *page*."""
        lines = [normalized(line) for line in text.splitlines()[:MAX_PARAGRAPHS]]
        lines = [line for line in lines if line]
        others = np.empty(0, np.uint32) if page is None else page.all
        return cls(hashes_of(lines), np.ones(len(lines), np.bool_), _phrases(lines), others)

    @property
    def all(self) -> Hashes:
        """uint32[n+m]: all paragraphs of the page."""
        return np.concatenate((self.kept, self.others))

    def to_bytes(self) -> bytes:
        rows = (
            _HEAD.pack(VERSION, len(self.kept), len(self.others)),
            self.kept.astype("<u4").tobytes(),
            self.certain.tobytes(),
            self.phrases.astype("<u2").tobytes(),
            self.others.astype("<u4").tobytes(),
            self.pairs.astype("<u4").tobytes(),
        )
        return b"".join(rows)

    @classmethod
    def from_bytes(cls, data: bytes) -> Paragraphs | None:
        """Those in *data*; None if they are of another version, or damaged."""
        if len(data) < _HEAD.size:
            return None
        version, n, m = _HEAD.unpack_from(data)
        at = _HEAD.size
        rest = len(data) - at - n * _ROW - m * 4
        if version != VERSION or rest < 0 or rest % _PAIR:
            return None
        kept = np.frombuffer(data, "<u4", n, at)
        certain = np.frombuffer(data, "u1", n, at + 4 * n).astype(np.bool_)
        phrases = np.frombuffer(data, "<u2", n * N_PHRASES, at + 5 * n).reshape(n, N_PHRASES)
        others = np.frombuffer(data, "<u4", m, at + n * _ROW)
        pairs = np.frombuffer(data, "<u4", rest // 4, len(data) - rest).reshape(-1, 2)
        return cls(kept, certain, phrases, others, pairs)

    def differs_from(self, before: Paragraphs) -> bool:
        gone = ~np.isin(before.kept, self.all)
        new = ~np.isin(self.kept, before.all)
        if (gone & before.certain).any() or (new & self.certain).any():
            return True
        edited = (before.phrases[gone][:MAX_COMPARED], self.phrases[new][:MAX_COMPARED])
        return any(_are_alike(one, other) for one in edited[0] for other in edited[1])

    def found_on(self, page: Page) -> tuple[Bools, Bools, Bools]:
        """bool[n_blocks] each: blocks that the article had, new ones, and new ones beside it."""
        lines, n = paragraphs_of(page), len(page.blocks)
        hashes, found = hashes_of(lines), np.zeros((3, n), np.bool_)
        had, new = np.isin(hashes, self.kept), ~np.isin(hashes, self.all)
        found[:, : len(lines)] = had, new, new & is_text(page, lines) & beside(page, had)
        return found[0], found[1], found[2]

    def have(self, text: str) -> bool:
        """Whether most lines of *text* are on the page."""
        lines = [
            normalized(line, may_count=not line.rstrip().endswith(ENDS))
            for line in text.splitlines()[:MAX_PARAGRAPHS]
        ]
        hashes = hashes_of(filter(None, lines))
        return bool(2 * np.count_nonzero(np.isin(hashes, self.all)) > len(hashes))

    @property
    def page_key(self) -> int:
        """The key of all paragraphs of the page, whichever of them were kept."""
        digest = blake2b(np.unique(self.all).astype("<u4").tobytes(), digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)

    def emitted_as(self, before: Paragraphs) -> Paragraphs:
        """The same page with the article as it was *before*, which is not emitted again."""
        still = np.isin(before.kept, self.all)
        others = self.all[~np.isin(self.all, before.kept)]
        return Paragraphs(
            before.kept[still],
            before.certain[still],
            before.phrases[still],
            others,
            before.pairs,
        )

    def plus(self, further: Paragraphs, *, joined: bool) -> Paragraphs:
        """Those of both pages; the article of the *further* one counts only if it was *joined*."""
        if not joined:
            others = np.concatenate((self.others, further.all))
            return replace(self, others=others)
        arrays = ((getattr(self, each.name), getattr(further, each.name)) for each in fields(self))
        return Paragraphs(*map(np.concatenate, arrays))


def paragraphs_of(page: Page) -> list[str]:
    """The text of each of the first blocks of *page*, normalized."""
    tokens = page.tokens
    first, last = (each[:MAX_PARAGRAPHS] for each in (page.blocks.first, page.blocks.last))
    starts, ends = tokens.clean_start[first], tokens.clean_end[last]
    headlines = np.isin(page.ancestor_tags[0, :MAX_PARAGRAPHS], HEADLINES)
    columns = (column.tolist() for column in (starts, ends, first, last, headlines))
    lines = []
    for start, end, *of_tokens, is_headline in zip(*columns, strict=True):
        line = tokens.clean[start:end]
        if "<" in line:
            line = _text_between(tokens, *of_tokens)
        may_count = not is_headline and not line.rstrip().endswith(ENDS)
        lines.append(normalized(line, may_count=may_count))
    return lines


def _text_between(tokens: Tokens, first: int, last: int) -> str:
    """The texts from token to token, with a space where tags are."""
    columns = tokens.kind, tokens.clean_start, tokens.clean_end
    rows = zip(*(column[first : last + 1].tolist() for column in columns), strict=True)
    return " ".join([tokens.clean[start:end] for kind, start, end in rows if kind > CLOSE])


def words_of(text: str) -> list[str]:
    """The words of *text*; a clause is one where no spaces are between words."""
    if not text.isascii():
        return _WORDS.findall(text)
    return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii").split()


def has_no_spaces(text: str) -> int:
    """How many characters of *text* are of scripts without spaces between words."""
    return 0 if text.isascii() else len(_WITHOUT_SPACES.findall(text))


def normalized(line: str, *, may_count: bool = False) -> str:
    """The words of *line*, whatever is between them.

    One that *may_count* is without what a clock or a counter changes.
    """
    line = (html.unescape(line) if "&" in line else line).lower()
    if may_count and len(line) <= SHORT and _letters(line) <= SHORT:
        line = _COUNTED.sub(" ", line)
    return " ".join(words_of(line))


def hashes_of(lines: Iterable[str]) -> Hashes:
    """uint32[n]: a hash of each of the *lines*."""
    return np.array([*map(_hash, lines)], np.uint32)


def _hash(line: str) -> int:
    return crc32(line.encode("utf-8", "replace"))


def beside(page: Page, kept: Bools) -> Bools:
    """bool[n]: the first blocks in the kind of element where the article is, by which are *kept*.

    Paragraphs are elements in the same element, `p` or with the same tag and class words; or lines
    of the same element; or elements between the lines of the element around them; or the only ones
    of containers that are alike, if these have most of the article.
    """
    n = len(kept)
    element, around = page.blocks.ancestors[:2, :n]
    words = page.blocks.words[:n]
    names = page.ancestor_keys[0, :n].copy()
    names[page.ancestor_tags[0, :n] == PARAGRAPH] = 0  # a note has a class of its own
    of_article = _of_article(_groups(mix([around.astype(np.uint64), names])), kept, words)
    in_element = _of_article(_groups(element), kept, words)
    of_article |= in_element | np.isin(around, element[kept & in_element])
    for depth in CONTAINERS:
        above = page.blocks.ancestors[depth, :n].astype(np.uint64)
        alike = mix([names, *page.ancestor_keys[1:depth, :n], above])
        of_article |= _shares(_groups(alike), kept, words) > MOST
    found: Bools = of_article & ~_advertises(page, n)
    return found


def _groups(keys: NDArray[Any]) -> NDArray[np.intp]:
    """int[n]: the same number for each of the same *keys*."""
    return np.unique(keys, return_inverse=True)[1]


def is_text(page: Page, lines: list[str]) -> Bools:
    """bool[n]: the *lines* of *page* that are neither links nor labels."""
    n = len(lines)
    few = page.blocks.linked_words[:n] < FEW_LINKS * page.blocks.words[:n]
    long = np.fromiter(map(_letters, lines), np.intp) >= MIN_LETTERS
    found: Bools = few & long
    return found


def _of_article(group: NDArray[np.intp], kept: Bools, words: Counts) -> Bools:
    """bool[n]: blocks in whose *group* several are *kept*, or much of all that is."""
    enough: Bools = np.bincount(group, kept)[group] >= MIN_BESIDE
    return enough | (_shares(group, kept, words) >= MIN_SHARE)


def _shares(group: NDArray[np.intp], kept: Bools, words: Counts) -> Floats:
    """float64[n]: which share of all that is *kept* is in the *group* of each block."""
    shares: Floats = np.bincount(group, kept * words) / max(int((kept * words).sum()), 1)
    return shares[group]


def _advertises(page: Page, n: int) -> Bools:
    """bool[n]: blocks alone in an element whose class words say that it is beside a text.

    Paragraphs have such words without it: a correction is a notice.
    """
    elements = page.containers
    is_alone = (elements.end - elements.begin == 1) & (elements.tag != PARAGRAPH)
    is_alone &= role_counts(page.attributes)[Role.BESIDE] > 0
    advertises: Bools = np.logical_or.reduce(np.append(is_alone, False)[elements.around[:NEAR, :n]])
    return advertises


def _letters(line: str) -> int:
    return len(line) + (IDEOGRAPH - 1) * has_no_spaces(line)


def _phrases(lines: list[str]) -> Phrases:
    """uint16[n, N_PHRASES]: of each of the *lines* the phrases with the smallest hashes."""
    rows = np.zeros((len(lines), N_PHRASES), np.uint16)
    for row, line in zip(rows, lines, strict=True):
        found = sorted({code & 0xFFFF for code in map(crc32, _of(line))})
        row[: len(found)] = found[:N_PHRASES]
    return rows


def _of(line: str) -> Iterator[bytes]:
    """Two words each, or characters where no spaces are between words."""
    if 2 * has_no_spaces(line) > len(line):
        line = " ".join("".join(line.split()))
    return map(b" ".join, pairwise(line.encode("utf-8", "replace").split()))


def _are_alike(one: Phrases, other: Phrases) -> bool:
    shared = np.intersect1d(one[one > 0], other[other > 0])
    fewer = min(int(np.count_nonzero(one)), int(np.count_nonzero(other)))
    return fewer > 0 and len(shared) >= ALIKE * fewer


# --- sentences ------------------------------------------------------------------------------------


def sentences_of(line: str) -> list[tuple[str, str]]:
    """The sentences of a *line* of text, and their words."""
    between = (_BETWEEN.match(line, end.end()) for end in _END.finditer(line))
    ends = [0, *(found.end() for found in between if found), len(line)]
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
    kept_pairs = np.array([*islice(pairs, MAX_SENTENCES)], np.uint32).reshape(-1, 2)
    return replace(paragraphs, pairs=kept_pairs)


def added_sentences(text: str, before: Paragraphs) -> list[str]:
    """The sentences of *text* that the article did not have *before*."""
    page, known = set(before.all.tolist()), _known(before)
    return [
        sentence
        for of_line, sentences, hashes in _lines(text)
        if of_line not in page
        for sentence, each in zip(sentences, hashes, strict=True)
        if each not in known
    ]


def n_removed_sentences(before: Paragraphs, now: Paragraphs) -> int:
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
        found = sentences_of(line[mark.end() :] if mark else line)
        if not found:
            continue
        sentences, said = [each for each, _ in found], [words for _, words in found]
        if len(found) == 1 and not line.rstrip().endswith(ENDS):  # as the page has a short line
            said = [normalized(sentences[0], may_count=True)]
        yield _hash(" ".join(said)), sentences, [*map(_hash, said)]
