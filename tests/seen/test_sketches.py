"""What copies of a text are recognized by, and what other texts are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.seen.stories import KEYS, LONGEST, SIZE, Numbers, keys_of, likeness, sketch
from tests.helpers.agency_texts import sentences

CHINESE = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜"


def of(text: str) -> Numbers:
    found = sketch(text)
    assert found is not None
    return found


def share(one: str, other: str, length: int = 5) -> float:
    """Jaccard's index of the passages of two texts, as it is defined."""
    first, second = (
        {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}
        for words in (one.lower().replace(".", "").split(), other.lower().replace(".", "").split())
    )
    return len(first & second) / len(first | second)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.6, 0.9, 1.0])
def test_the_share_of_the_sketches_is_about_that_of_the_passages(kept: float) -> None:
    errors = []
    for seed in range(20):
        written = sentences(seed)
        count = round(kept * len(written))
        other = " ".join(written[:count] + sentences(seed + 100)[count:])
        whole = " ".join(written)
        found = likeness(of(whole), of(other)).of_both
        errors.append(found - share(whole, other))

    assert abs(np.mean(errors)) < 0.03
    assert np.std(errors) < 0.08  # sqrt(0.25 / SIZE) is 0.05


def test_texts_that_fit_into_the_sketch_are_compared_exactly() -> None:
    written = sentences(1, count=5)
    cut, whole = " ".join(written[:4]), " ".join(written)
    found = likeness(of(cut), of(whole))

    assert len(of(whole)) < SIZE
    assert found.of_both == pytest.approx(share(cut, whole))
    assert found.of_shorter == 1


@pytest.mark.parametrize("letters", ["", CHINESE])
def test_a_text_that_was_cut_edited_and_reordered_is_a_copy(letters: str) -> None:
    for seed in range(30):
        written = sentences(seed, letters=letters)
        copy = written[:32]
        copy = [*sentences(seed + 50, 2, letters), *copy[16:], *copy[:16]]
        text, copied = "\n".join(written), " ".join(copy)

        assert likeness(of(text), of(copied)).is_copy
        assert set(keys_of(of(text))) & set(keys_of(of(copied)))


@pytest.mark.parametrize("letters", ["", CHINESE])
def test_another_text_with_the_same_box_below_is_none(letters: str) -> None:
    box = sentences(999, 10, letters)
    for seed in range(30):
        one, other = (" ".join(sentences(seed + n, 30, letters) + box) for n in (0, 100))

        assert not likeness(of(one), of(other)).is_copy


def test_white_space_case_and_punctuation_do_not_count() -> None:
    written = sentences(3)
    plain, printed = " ".join(written), "\n\n".join(f"“{each.upper()}”" for each in written)

    assert of(plain).tolist() == of(printed).tolist()


def test_marks_belong_to_their_letters() -> None:
    assert len(of(" ".join(f"पु{number}लिस" for number in range(30)))) == 30 - 4


def test_numbers_are_the_same_on_every_machine_and_release() -> None:
    numbers = of(" ".join(f"word{number}" for number in range(30)))

    assert numbers[:3].tolist() == [220434565, 263913857, 310603602]


@pytest.mark.parametrize("text", ["", "Rain fell.", "rain " * 1000, "雨" * 1000])
def test_what_has_few_passages_has_no_sketch(text: str) -> None:
    assert sketch(text) is None


@given(st.text(max_size=400))
def test_any_text_has_a_sketch_or_none(text: str) -> None:
    found = sketch(text)

    if found is not None:
        assert 20 <= len(found) <= SIZE
        assert np.all(np.diff(found.astype(np.int64)) > 0)
        assert likeness(found, found) == (1, 1)
        assert len(keys_of(found)) == KEYS


def test_of_a_long_text_the_beginning_counts() -> None:
    long = " ".join(sentences(5, 2000))

    assert len(long) > 2 * LONGEST
    assert of(long).tolist() == of(long[:LONGEST]).tolist()
