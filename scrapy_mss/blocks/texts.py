"""The words and symbols of a page's blocks: which classes they are of, and which are stop words.

The classes of a text are those of its first character, but for the last, which all symbols are in.
They are bits of a byte, so that one look at a character tells all of them, and one walk over the
texts of a page counts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.segmentation import Blocks
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import (
    HASH_SHIFT,
    Bools,
    Bytes,
    Counts,
    Floats,
    Ints,
    TokenIds,
    Tokens,
)

SENTENCE_ENDS = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
COMMAS = ",;\u060c\u061b\u3001\uff0c"
QUOTES = "\"'\u00ab\u00bb\u2018\u2019\u201c\u201d\u201e\u300c\u300d"
CLOSERS = SENTENCE_ENDS + '"\u00bb\u201d:)'

LAST_CODE = 0xFFFF  # no character
_N_CODES = 0x2000  # letters with a case and digits are below, but for wide and rare forms
_CHARACTERS: dict[str, Iterable[str]] = {
    "capital": [chr(code) for code in range(_N_CODES) if chr(code).isupper()],
    "digit": [chr(code) for code in range(_N_CODES) if chr(code).isdigit()],
    "sentence_end": SENTENCE_ENDS,
    "comma": COMMAS,
    "quote": QUOTES,
    "closer": CLOSERS,
    "colon": ":",
}
CLASSES = (*_CHARACTERS, "symbol")
_EACH_BIT = np.uint8(1) << np.arange(len(CLASSES), dtype=np.uint8)
BITS: dict[str, np.uint8] = dict(zip(CLASSES, _EACH_BIT, strict=True))


_TABLE = np.zeros(LAST_CODE + 1, np.uint8)  # the bits of each character's classes
for _name, _characters in _CHARACTERS.items():
    _TABLE[[ord(character) for character in _characters]] |= BITS[_name]


COUNTS = (
    *CLASSES,  # words and symbols of each class
    "letters",  # the characters of the words
    "stop_words",  # the commonest words
    "title_words",  # words that the title has, too
    "description_pairs",  # `pairs_of` of words that the description has, too
)


class TextCounts(NamedTuple):
    """What is counted of the words and symbols of a page's blocks."""

    counts: Floats  # float64[len(COUNTS), n]
    hashes: TokenIds  # uint64[n]: of all words and symbols together
    first: Bytes  # uint8[n]: the classes of the first of each block
    last: Bytes  # uint8[n]

    def of(self, name: str) -> Floats:
        """float64[n]: the row of *name*."""
        row: Floats = self.counts[COUNTS.index(name)]
        return row


def text_counts(
    tokens: Tokens, blocks: Blocks, title: set[int], description: set[int]
) -> TextCounts:
    """The counts of *blocks*, and of what they share with a page's *title* and *description*."""
    return TextCounts(*_counts(tokens, blocks, title, description))


def _tables() -> tuple[object, ...]:
    return _TABLE, np.packbits(_stop_words(), bitorder="little")


@accelerated(_tables, "TextCounter")
def _counts(
    tokens: Tokens, blocks: Blocks, title: set[int], description: set[int]
) -> tuple[Floats, TokenIds, Bytes, Bytes]:
    """The columns of `TextCounts`."""
    text, first, last = blocks.text, blocks.first_text, blocks.first_text + blocks.n_texts - 1
    ids, is_word = tokens.token_id[text], tokens.is_word[text]
    codes = _character_codes(tokens.clean)[tokens.clean_start[text]]
    classes = _TABLE.take(codes, mode="clip") | ~is_word * BITS["symbol"]
    letters = (tokens.clean_end - tokens.clean_start)[text] * is_word
    of_title = np.isin(ids, np.array([*title], np.uint64)) & is_word
    of_texts = (
        *((classes & bit != 0) for bit in _EACH_BIT),
        *(letters, is_stop_word(ids) & is_word, of_title),
    )
    counts = [np.add.reduceat(each, first, dtype=np.int64) for each in of_texts]
    counts.append(
        _shared_pairs(ids[is_word], blocks.of_token[text[is_word]], description, len(first))
    )
    weights = np.arange(1, 2 * len(text), 2) - 2 * first.repeat(blocks.n_texts)
    hashes = np.add.reduceat(ids * weights.view(np.uint64), first)
    return np.array(counts, np.float64), hashes, classes[first], classes[last]


def _character_codes(text: str) -> NDArray[np.unsignedinteger[Any]]:
    """uint8[n] or uint32[n]: the code of each character of *text*."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


_FACTOR = 3  # any odd factor tells the pair (a, b) from (b, a)
_ID_MASK = (1 << 64) - 1


def pairs_of(ids: list[int]) -> set[int]:
    """A hash of each of *ids* (uint64) with the next."""
    return {(one * _FACTOR + other) & _ID_MASK for one, other in pairwise(ids)}


def _shared_pairs(ids: TokenIds, block: Ints, pairs: set[int], n: int) -> Counts:
    """int64[n]: how many pairs of the words *ids* of each *block* are among *pairs*."""
    hashes, last = ids[:-1] * np.uint64(_FACTOR) + ids[1:], block[1:]
    is_shared = (block[:-1] == last) & np.isin(hashes, np.array([*pairs], np.uint64))
    return np.bincount(last[is_shared], minlength=n)


# The commonest words of many languages, by which running text differs from lists of names: a text
# has them in every sentence, a menu or a list of headlines hardly any. The lists are pooled: a word
# that is common in one language is rare in menus of another.
#
# By a word's hash: one other word in five hundred is taken for a stop word.
_N_STOP_PLACES = 1 << 18

STOP_WORDS = """
the of and to in a is that for it on was with as at be this have from or by are not but they his her
she he we you which had their has will one all would there been if more when who
der die das und in zu den von mit ist des auf für im nicht ein eine als auch es an werden aus er hat
dass sie nach bei um am
le la les de des du et en un une que qui dans est pour pas sur au par avec ce il sont
el los las y del se una por con no para su al lo como más pero sus
o os as e do da em um uma com não mais na dos foi ao
di che per non sono della i le si
het een van is dat op te zijn voor met niet aan door ook
och att det som på är av för den till inte om de ett og er til ikke
w z nie się że jest jak za od po
и в не на что с по к а как из у за от это для но его та до що
ja on ei se että oli kun mutta ve bir bu için ile olarak çok daha
và của là có cho các được trong một những yang dan itu dengan untuk tidak ini dari dalam
και το να η του της με για από που σε τα των
في من على أن إلى التي عن ما لا مع של את לא זה עם
az és hogy nem egy v se že s je si să în cu pe nu este gli nel dei einer dem sich
的 了 在 是 不 和 有 他 我 这 中 上 一 为 也 着 の に は を が と た で も て し か な
का के में की है से और को 그 것 수 및 는 은 을 를 에 의
"""  # noqa: RUF001 - words of other alphabets


def is_stop_word(token_ids: TokenIds) -> Bools:
    """bool[n]: which of the tokens are among the commonest words."""
    # As signed numbers, which are indices as they are; others numpy would convert.
    found: Bools = _stop_words().take(_places_of(token_ids).view(np.int64))
    return found


@cache
def _stop_words() -> Bools:
    """The stop words, by the low bits of their hashes."""
    stops = tokenize(STOP_WORDS)
    marks = np.zeros(_N_STOP_PLACES, np.bool_)
    marks[_places_of(stops.token_id[stops.is_word])] = True
    return marks


def _places_of(token_ids: TokenIds) -> TokenIds:
    return token_ids >> np.uint64(HASH_SHIFT) & np.uint64(_N_STOP_PLACES - 1)
