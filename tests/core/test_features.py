from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from scrapy_mss.core.features import FAMILIES, LAYOUT, NAME_BITS, NAMES, name_buckets
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Ints
from tests.helpers.markup import SOUP

WORDS = [f"w{n}" for n in range(300)]


def buckets(name: str, source: str) -> Ints:
    family = FAMILIES[name]
    return family.buckets(tokenize(source), family.bits)


@pytest.mark.parametrize("name", list(FAMILIES))
@given(source=SOUP)
def test_buckets_are_one_a_token_and_in_the_table(name: str, source: str) -> None:
    found = buckets(name, source)

    assert found.dtype == np.int32
    assert len(found) == len(tokenize(source))
    assert not len(found) or 0 <= found.min() <= found.max() < 1 << FAMILIES[name].bits


def test_trigrams_are_a_token_and_the_two_after_it() -> None:
    found = buckets("trigram", "a b c d a b c e").tolist()

    assert found[0] == found[4]
    assert len(set(found)) == len(found) - 1


def test_the_order_in_a_trigram_matters() -> None:
    orders = ["x y z", "x z y", "y x z", "y z x", "z x y", "z y x", "x x y", "x y x", "y x x"]

    assert len({int(buckets("trigram", order)[0]) for order in orders}) == len(orders)


def test_behind_the_end_of_the_page_stands_nothing() -> None:
    assert buckets("trigram", "x y")[0] != buckets("trigram", "x y z")[0]
    assert buckets("trigram", "x y")[1] == buckets("trigram", "y")[0]


def test_unigrams_are_the_token_alone() -> None:
    found = buckets("unigram", "a b a <p> a </p> <p>").tolist()

    assert found[0] == found[2] == found[4]
    assert found[3] == found[6]
    assert len(set(found)) == 4


def test_stems_numbers_and_case_share_a_feature() -> None:
    found = buckets("unigram", "Running runs 1984 7 <P CLASS=x> <p>").tolist()

    assert len(set(found)) == 3


def test_the_bucket_of_the_unclosed_tag_is_its_number_and_the_last_stands_for_none() -> None:
    found = buckets("unclosed_tag", "x <div> x <nosuch> x </nosuch> </div> x")

    div, none = TAG_NUMBERS["div"], (1 << FAMILIES["unclosed_tag"].bits) - 1
    assert found.tolist() == [none, div, div, 0, 0, div, none, none]


@pytest.mark.parametrize("name", ["trigram", "unigram"])
def test_few_features_share_a_bucket(name: str) -> None:
    """No more than chance has it: n features in b buckets share one n / 2b of the time."""
    found = buckets(name, " ".join(f"{word}x{n}" for word in WORDS for n in range(7)))

    shared = 1 - len(np.unique(found)) / len(found)

    assert shared <= 4 * len(found) / 2 / 2 ** FAMILIES[name].bits


def test_buckets_in_stored_models_stay_what_they_were() -> None:
    """Written down: a change would make every stored model useless, and refused."""
    bare = "Running <p> dogs !"
    nested = "<article class=story><p>Running dogs <a>!</a></p></article>"

    found = {name: buckets(name, nested if name in LAYOUT else bare).tolist() for name in FAMILIES}
    found[NAMES] = name_buckets(tokenize(nested).passages.names, NAME_BITS).tolist()

    assert found == {
        "trigram": [394134, 1806762, 3556403, 710638],
        "unclosed_tag": [511, 94, 94, 94],
        "unigram": [437566, 446744, 20756, 990002],
        "element": [0, 0, 156707, 156707, 156707, 156707, 0, 0, 0],
        "shape": [0, 0, 9418, 9418, 9418, 9418, 0, 0, 0],
        "names": [42886],
    }
