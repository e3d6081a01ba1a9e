from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_mss.blocks.families import FAMILIES, new_counts
from scrapy_mss.core.cleaning import CODE_ONLY, HORIZONTAL_RULE, PAPER_RULES
from scrapy_mss.markup.stemming import porter, porter_nltk
from scrapy_mss.models.profiles import (
    CLEANEVAL,
    DEFAULT,
    PAPER,
    PAPER_HR,
    PROFILES,
    TRIGRAM,
    Profile,
)


def test_the_paper_profile_is_the_paper() -> None:
    assert PAPER.families == ("trigram", "unclosed_tag")
    assert (PAPER.bias, PAPER.neighbours, PAPER.boundaries) == (0, False, ())
    assert PAPER.rules == PAPER_RULES
    assert PAPER.max_tag_share == 0.2


def test_the_other_profiles_of_the_paper_differ_from_it_as_the_paper_says() -> None:
    assert replace(PAPER, name="paper-hr", boundaries=(HORIZONTAL_RULE,)) == PAPER_HR
    assert replace(PAPER, name="trigram", families=("trigram",)) == TRIGRAM
    assert (
        replace(
            PAPER,
            name="cleaneval",
            families=("unigram", "unclosed_tag"),
            bias=0.14,
            neighbours=True,
            rules=CODE_ONLY,
        )
        == CLEANEVAL
    )


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_the_profiles_of_the_paper_have_the_stemmer_that_they_are_reproducible_with(
    profile: Profile,
) -> None:
    assert profile.stem is (porter if profile is DEFAULT else porter_nltk)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_found_by_its_name_and_its_families_can_be_counted(name: str) -> None:
    profile = PROFILES[name]

    bayes = new_counts(profile.families)

    assert profile.name == name
    assert tuple(family.name for family in bayes.families) == profile.families


def test_families_are_found_by_their_names() -> None:
    assert all(family.name == name for name, family in FAMILIES.items())
