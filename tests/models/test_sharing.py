from __future__ import annotations

from mmap import mmap

import numpy as np
import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PROFILES, Profile
from scrapy_mss.models.sharing import attach, move_into, size_of
from tests.helpers.classifiers import counts_of
from tests.helpers.news_pages import news_page


def model_of(profile: Profile, *numbers: int) -> Model:
    return Model(profile, None, counts_of(numbers, profile.families))


def assert_same_counts(one: Model, other: Model) -> None:
    assert one.bayes.tokens.tolist() == other.bayes.tokens.tolist()
    assert one.bayes.counts.keys() == other.bayes.counts.keys()
    for name, counts in one.bayes.counts.items():
        assert np.array_equal(counts, other.bayes.counts[name])


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_counts_that_moved_into_a_buffer_are_read_by_whoever_attaches(profile: Profile) -> None:
    writer, reader = model_of(profile, 1, 2), Model(profile)
    buffer = mmap(-1, size_of(writer))

    move_into(writer, buffer)
    attach(reader, buffer)

    assert_same_counts(writer, model_of(profile, 1, 2))
    assert_same_counts(reader, writer)


def test_what_is_learned_later_is_read_at_once() -> None:
    writer, reader = model_of(DEFAULT, 1), Model(DEFAULT)
    buffer = bytearray(size_of(writer))
    move_into(writer, buffer)
    attach(reader, buffer)
    page = news_page(2)

    writer.learn(Page(page.tokens), page.inside)

    assert_same_counts(reader, model_of(DEFAULT, 1, 2))


def test_a_buffer_that_is_too_small_is_rejected() -> None:
    model = Model(DEFAULT)

    with pytest.raises(TypeError, match="too small"):
        attach(model, bytearray(size_of(model) - 1))
