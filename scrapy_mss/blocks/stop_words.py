"""The commonest words of many languages, by which running text differs from lists of names.

A text has them in every sentence, a menu or a list of headlines hardly any. A dozen or two of each
language are enough, since what is asked is whether there are many of them. The lists are pooled: a
word that is common in one language is rare in menus of another.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from scrapy_mss.blocks.page import Texts
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import HASH_SHIFT, Bools, Counts, TokenIds

_TABLE_SIZE = 1 << 18  # by a word's hash: one other word in five hundred is taken for a stop word

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
    found: Bools = _table()[_places(token_ids)]
    return found


def count_stop_words(texts: Texts) -> Counts:
    """int64[n]: how many of the commonest words each block has."""
    return texts.count(texts.is_word & is_stop_word(texts.token_id))


@cache
def _table() -> Bools:
    """The stop words, by the low bits of their hashes."""
    stops = tokenize(STOP_WORDS)
    marks = np.zeros(_TABLE_SIZE, np.bool_)
    marks[_places(stops.token_id[stops.is_word])] = True
    return marks


def _places(token_ids: TokenIds) -> TokenIds:
    return token_ids >> np.uint64(HASH_SHIFT) & np.uint64(_TABLE_SIZE - 1)
