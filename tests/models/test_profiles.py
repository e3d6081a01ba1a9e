from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy_mss.core.constraints import HORIZONTAL_RULE

from scrapy_mss.core.cleaning import PAPER_RULES, UNCLEANED
from scrapy_mss.core.features import FAMILIES, NAMES
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.profiles import (
    CLEANEVAL,
    PAPER,
    PAPER_HR,
    PROFILES,
    TAG_PENALTY,
    simple_scores,
)
from tests.helpers.markup import SOUP


def test_the_profile_of_the_paper_is_the_paper() -> None:
    assert PAPER.families == ("trigram", "unclosed_tag")
    assert (PAPER.bias, PAPER.neighbours, PAPER.boundaries) == (0, False, ())
    assert PAPER.rules == PAPER_RULES


def test_the_profile_with_the_rule_differs_by_the_rule_alone() -> None:
    assert PAPER_HR.boundaries == (HORIZONTAL_RULE,)
    assert PAPER_HR.families == PAPER.families
    assert PAPER_HR.rules == PAPER.rules


def test_the_profile_for_cleaneval_is_the_paper_s() -> None:
    assert CLEANEVAL.families == ("unigram", "unclosed_tag")
    assert (CLEANEVAL.bias, CLEANEVAL.neighbours) == (0.14, True)
    assert CLEANEVAL.rules == UNCLEANED


@pytest.mark.parametrize("name", list(PROFILES))
def test_a_profile_is_found_by_its_name_and_asks_for_known_features(name: str) -> None:
    assert PROFILES[name].name == name
    assert set(PROFILES[name].families) <= {*FAMILIES, NAMES}


@given(SOUP, st.sampled_from([TAG_PENALTY, -1.0, 0.0]))
def test_simple_scores_are_1_but_for_tags(source: str, penalty: float) -> None:
    tokens = tokenize(source)

    scores = simple_scores(tokens, penalty)

    assert scores.tolist() == [penalty if is_tag else 1 for is_tag in tokens.is_tag.tolist()]
