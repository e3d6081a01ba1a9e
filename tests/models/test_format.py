from __future__ import annotations

import json
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrapy_mss.core import features
from scrapy_mss.core.features import Family
from scrapy_mss.extractor import Extractor
from scrapy_mss.models import format as model
from scrapy_mss.models.format import (
    DIGEST_SIZE,
    FORMAT,
    LARGEST_HEADER,
    MAGIC,
    DamagedModelError,
    ForeignModelError,
    IncompatibleModelError,
    Model,
    ModelError,
    NewerModelError,
    fingerprint,
    from_bytes,
    read_header,
    to_bytes,
)
from scrapy_mss.models.profiles import DEFAULT, PAPER, PROFILES, TRIGRAM, Profile
from tests.helpers.classifiers import learned, random_judge
from tests.helpers.news_pages import news_page, random_labels

REMEDIES = ("Give the path", "Use a copy", "Train it again", "train again", "Update scrapy-mss")


def trained(profile: Profile = PAPER, pages: int = 2, first: int = 0) -> Model:
    made = Model(profile)
    for number in range(first, first + pages):
        tokens = news_page(number).tokens
        made.bayes.learn(made.bayes.features(tokens), random_labels(tokens, number))
    return made


@pytest.fixture(scope="module")
def stored() -> bytes:
    """A model that learned two pages."""
    return to_bytes(trained())


def parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    """A model's header and blocks."""
    header, position = read_header(data)
    return header, data[position:-DIGEST_SIZE]


def assembled(header: object, blocks: bytes) -> bytes:
    """A file of the right form and with the right checksum, whatever is in it."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = MAGIC + struct.pack("<I", len(head)) + head + blocks
    return body + blake2b(body, digest_size=DIGEST_SIZE).digest()


def assert_refused(data: bytes, fault: type[ModelError] = ModelError) -> str:
    """The message; it says what is wrong and what to do."""
    with pytest.raises(fault) as caught:
        from_bytes(data)
    message = str(caught.value)
    assert any(remedy in message for remedy in REMEDIES), message
    return message


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_model_comes_back_as_it_was(profile: Profile) -> None:
    before = trained(profile)

    after = from_bytes(to_bytes(before))

    assert after.profile is profile
    assert after.bayes.pages == before.bayes.pages == 2
    assert after.bayes.tokens.tolist() == before.bayes.tokens.tolist()
    for name, counts in before.bayes.counts.items():
        assert np.array_equal(after.bayes.counts[name], counts)


def test_counts_at_both_ends_of_a_table_and_of_a_count_come_back() -> None:
    before = Model(TRIGRAM)
    before.bayes.counts["trigram"][[0, 1, -1]] = [[2**32 - 1, 0], [0, 1], [5, 2**32 - 1]]

    after = from_bytes(to_bytes(before))

    assert np.array_equal(after.bayes.counts["trigram"], before.bayes.counts["trigram"])


def test_equal_models_have_equal_bytes() -> None:
    at_once, merged = trained(pages=3), trained(pages=1)

    merged.bayes.merge(trained(pages=2, first=1).bayes)

    assert to_bytes(merged) == to_bytes(at_once)
    assert to_bytes(from_bytes(to_bytes(at_once))) == to_bytes(at_once)


def test_different_models_have_different_bytes() -> None:
    assert to_bytes(trained(pages=2)) != to_bytes(trained(pages=2, first=1))
    assert to_bytes(Model(PAPER)) != to_bytes(Model(TRIGRAM))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_model_that_learned_nothing_is_small(profile: Profile) -> None:
    data = to_bytes(Model(profile))

    assert len(data) < 2000
    assert from_bytes(data).bayes.pages == 0


def test_twice_the_pages_take_at_most_twice_the_bytes() -> None:
    sizes = [len(to_bytes(trained(pages=pages))) for pages in (4, 8, 16, 32)]

    assert all(large <= 2.2 * small for small, large in pairwise(sizes))


def test_nothing_is_pickled(stored: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    for name in ("load", "loads", "dump", "dumps", "Unpickler", "Pickler"):
        monkeypatch.setattr(f"pickle.{name}", refuse)

    assert to_bytes(from_bytes(stored)) == stored
    assert "pickle" not in Path(model.__file__).read_text(encoding="utf-8").replace("No pickle", "")


def test_every_truncation_is_refused(stored: bytes) -> None:
    header_ends = read_header(stored)[1]
    lengths = [*range(header_ends + 40), *range(header_ends + 40, len(stored), 97)]
    lengths += range(len(stored) - 40, len(stored))

    for length in lengths:
        assert_refused(stored[:length])


def test_every_flipped_byte_is_refused(stored: bytes) -> None:
    header_ends = read_header(stored)[1]
    places = [*range(header_ends + 40), *range(header_ends + 40, len(stored), 97)]
    places += range(len(stored) - 40, len(stored))

    for place in places:
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(stored)
            damaged[place] ^= flip
            assert_refused(bytes(damaged))


def test_bytes_behind_a_model_are_refused(stored: bytes) -> None:
    assert_refused(stored + b"\0", DamagedModelError)
    assert_refused(stored + stored, DamagedModelError)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"scrapy-mss",
        b"\x80\x04\x95\x10\x00\x00\x00",
        b"PK\x03\x04",
        b"<!DOCTYPE html>",
        b"\x00" * 4096,
        MAGIC.upper(),
        b" " + MAGIC,
    ],
)
def test_a_foreign_file_is_refused_by_what_it_begins_with(data: bytes) -> None:
    message = assert_refused(data, ForeignModelError)

    assert repr(data[:16]) in message


def test_a_model_of_a_later_format_is_refused(stored: bytes) -> None:
    header, blocks = parts(stored)

    message = assert_refused(assembled({**header, "format": FORMAT + 1}, blocks), NewerModelError)

    assert f"format {FORMAT + 1}" in message
    assert f"up to {FORMAT}" in message


def test_a_later_format_is_told_although_the_rest_means_nothing() -> None:
    assert_refused(assembled({"format": 99}, b"new things"), NewerModelError)


def test_a_model_of_other_features_is_refused(stored: bytes) -> None:
    header, blocks = parts(stored)
    other = "0" * len(header["fingerprint"])

    message = assert_refused(
        assembled({**header, "fingerprint": other}, blocks), IncompatibleModelError
    )

    assert "other features" in message


def test_a_model_of_an_unknown_profile_is_refused_by_its_name(stored: bytes) -> None:
    header, blocks = parts(stored)

    message = assert_refused(
        assembled({**header, "profile": "nosuch"}, blocks), IncompatibleModelError
    )

    assert "'nosuch'" in message
    assert "paper" in message


def test_a_change_of_a_feature_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint.__wrapped__(("trigram",))
    changed = Family("trigram", 22, features.unigram)

    monkeypatch.setitem(features.FAMILIES, "trigram", changed)

    assert fingerprint.__wrapped__(("trigram",)) != before


def test_each_choice_of_features_has_its_fingerprint() -> None:
    choices = {profile.families for profile in PROFILES.values()}

    assert len({fingerprint(families) for families in choices}) == len(choices)


def changed(header: dict[str, Any], **more: object) -> dict[str, Any]:
    """The header with another first family."""
    first, *rest = header["families"]
    return {**header, "families": [{**first, **more}, *rest]}


CRAFTED: dict[str, Callable[[dict[str, Any]], object]] = {
    "header of another type": lambda header: [header],
    "header of a number": lambda _: 7,
    "no header": lambda _: b"",
    "header that is no JSON": lambda _: b"{",
    "header that is no text": lambda _: b"\xff\xfe",
    "deep header": lambda _: b"[" * 200_000,
    "long number": lambda _: b'{"format": ' + b"1" * 5000 + b"}",
    "format of another type": lambda header: {**header, "format": "1"},
    "profile of another type": lambda header: {**header, "profile": ["paper"]},
    "no profile": lambda header: {k: v for k, v in header.items() if k != "profile"},
    "no families": lambda header: {**header, "families": []},
    "families of another type": lambda header: {**header, "families": 3},
    "one family too many": lambda header: {**header, "families": header["families"] * 2},
    "family of another type": lambda header: {**header, "families": [1, 2]},
    "pages of another type": lambda header: {**header, "pages": "two"},
    "pages without end": lambda header: {**header, "pages": float("inf")},
    "pages below zero": lambda header: {**header, "pages": -1},
    "no tokens": lambda header: {**header, "tokens": None},
    "too few tokens": lambda header: {**header, "tokens": []},
    "too many tokens": lambda header: {**header, "tokens": [1, 2, 3]},
    "tokens below zero": lambda header: {**header, "tokens": [-1, 2]},
    "tokens beyond 64 bits": lambda header: {**header, "tokens": [2**70, 2]},
    "filled below zero": lambda header: changed(header, filled=-1),
    "filled too few": lambda header: changed(header, filled=1),
    "filled none": lambda header: changed(header, filled=0),
    "filled too many": lambda header: changed(header, filled=2**22),
    "filled more than the table": lambda header: changed(header, filled=2**40),
    "filled of another type": lambda header: changed(header, filled="x"),
    "bytes below zero": lambda header: changed(header, bytes=-1),
    "bytes too few": lambda header: changed(header, bytes=5),
    "bytes too many": lambda header: changed(header, bytes=10**9),
    "bytes of another type": lambda header: changed(header, bytes="x"),
}


@pytest.mark.parametrize("fault", CRAFTED)
def test_a_file_whose_parts_do_not_agree_is_refused_though_its_checksum_fits(
    fault: str, stored: bytes
) -> None:
    header, blocks = parts(stored)

    assert_refused(assembled(CRAFTED[fault](header), blocks), DamagedModelError)


def single_block(raw: bytes, filled: int) -> bytes:
    """A model file with one block."""
    header, _ = parts(to_bytes(Model(TRIGRAM)))
    block = zlib.compress(raw)
    family = {"name": "trigram", "filled": filled, "bytes": len(block)}
    return assembled({**header, "families": [family]}, block)


def test_buckets_outside_the_table_are_refused() -> None:
    inside = np.array([2**22 - 1, 1, 0], "<u4").tobytes()
    outside = np.array([2**22, 1, 0], "<u4").tobytes()
    far = np.array([2**32 - 1, 2**32 - 1, 1, 1, 0, 0], "<u4").tobytes()

    assert from_bytes(single_block(inside, 1)).bayes.counts["trigram"][-1].tolist() == [1, 0]
    assert "bucket 4194304" in assert_refused(single_block(outside, 1), DamagedModelError)
    assert_refused(single_block(far, 2), DamagedModelError)


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
def test_a_block_that_unpacks_to_more_than_it_announces_is_not_unpacked() -> None:
    table = Model(TRIGRAM).bayes.counts["trigram"].nbytes
    bomb = single_block(b"\0" * 2**26, 3)
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()

    message = assert_refused(bomb, DamagedModelError)

    _, peak = tracemalloc.get_traced_memory()
    assert "where 36 were announced" in message
    assert peak - before < table + 10 * len(bomb)


def test_a_block_that_unpacks_to_less_than_it_announces_is_refused() -> None:
    message = assert_refused(single_block(b"\0" * 12, 2), DamagedModelError)

    assert "12 bytes of counts where 24 were announced" in message


def test_a_block_that_does_not_unpack_is_refused() -> None:
    header, blocks = parts(to_bytes(trained(TRIGRAM)))

    assert_refused(assembled(header, b"\xff" + blocks[1:]), DamagedModelError)


def test_a_header_longer_than_any_is_not_read() -> None:
    length = struct.pack("<I", 2**32 - 1)

    assert_refused(MAGIC + length + b" " * (LARGEST_HEADER + 99), DamagedModelError)


def test_a_header_can_be_read_without_the_counts(stored: bytes) -> None:
    header, position = read_header(stored)

    assert header["pages"] == 2
    assert header["profile"] == "paper"
    assert read_header(stored[:position]) == (header, position)


@pytest.fixture(scope="module")
def judged() -> bytes:
    """A model with a judge."""
    model = Model.of(DEFAULT, learned(2), random_judge())
    return to_bytes(model)


def test_a_judge_comes_back_as_it_was(judged: bytes) -> None:
    before, after = random_judge(), from_bytes(judged).judge

    assert after is not None
    for one, other in (
        (before.weights, after.weights),
        (before.decision, after.decision),
        (before.network.mean, after.network.mean),
        (before.network.scale, after.network.scale),
        (before.network.hidden, after.network.hidden),
        (before.network.output, after.network.output),
    ):
        assert other.dtype == np.float32
        assert np.array_equal(one, other)
    assert to_bytes(from_bytes(judged)) == judged


def test_a_model_with_a_judge_reads_pages_as_it_did_before(judged: bytes) -> None:
    model = Model.of(DEFAULT, learned(2), random_judge())
    page = news_page(9).html

    one, other = (Extractor(m).extract(page) for m in (model, from_bytes(judged)))

    assert (one.text, one.probability) == (other.text, other.probability)
    assert one.scores.tolist() == other.scores.tolist()


def test_a_judge_adds_its_numbers_to_the_counts(judged: bytes) -> None:
    header, _ = parts(judged)
    bare = Model.of(DEFAULT, learned(2))
    numbers = sum(int(np.prod(shape)) for shape in header["judge"])

    without, blocks = parts(to_bytes(bare))

    assert without["judge"] == []
    assert len(parts(judged)[1]) == len(blocks) + 4 * numbers
    assert from_bytes(to_bytes(bare)).judge is None


CRAFTED_JUDGES: dict[str, Callable[[list[list[int]]], object]] = {
    "none, though its numbers are there": lambda _: [],
    "of another type": lambda _: 3,
    "of texts": lambda shapes: [["9"], *shapes[1:]],
    "of numbers": lambda _: [1, 2, 3, 4, 5, 6],
    "one array too few": lambda shapes: shapes[:-1],
    "one array too many": lambda shapes: [*shapes, [0]],
    "an array larger": lambda shapes: [[shapes[0][0] + 1], *shapes[1:]],
    "an array below zero": lambda shapes: [[-1], *shapes[1:]],
    "larger than any memory": lambda shapes: [[2**40, 2**40], *shapes[1:]],
}


@pytest.mark.parametrize("fault", CRAFTED_JUDGES)
def test_a_judge_that_does_not_agree_with_the_header_is_refused(fault: str, judged: bytes) -> None:
    header, blocks = parts(judged)
    shapes = CRAFTED_JUDGES[fault](header["judge"])

    assert_refused(assembled({**header, "judge": shapes}, blocks), DamagedModelError)


def test_a_model_without_a_word_of_a_judge_is_refused(judged: bytes) -> None:
    header, blocks = parts(judged)
    del header["judge"]

    assert_refused(assembled(header, blocks), DamagedModelError)


def test_a_judge_of_other_numbers_than_we_have_is_refused() -> None:
    """Of other measures, say, of which the fingerprint knows nothing."""
    judge = random_judge()
    network = judge.network
    fewer_inputs = replace(
        network, mean=network.mean[1:], scale=network.scale[1:], hidden=network.hidden[1:]
    )
    for other in (
        replace(judge, network=fewer_inputs),
        replace(judge, weights=judge.weights[1:]),
        replace(judge, decision=judge.decision[1:]),
        replace(judge, network=replace(network, output=network.output[1:])),
        replace(judge, network=replace(network, hidden=network.hidden.ravel())),
    ):
        message = assert_refused(to_bytes(Model(DEFAULT, other)), IncompatibleModelError)
        assert "judge" in message


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_judge_with_numbers_that_are_none_is_refused(number: float) -> None:
    judge = random_judge()
    judge.network.hidden[2, 1] = number

    assert_refused(to_bytes(Model(DEFAULT, judge)), DamagedModelError)


def test_every_flipped_byte_of_a_judge_is_refused(judged: bytes) -> None:
    header, _ = parts(judged)
    size = 4 * sum(int(np.prod(shape)) for shape in header["judge"])

    for place in range(len(judged) - DIGEST_SIZE - size, len(judged) - DIGEST_SIZE, 97):
        damaged = bytearray(judged)
        damaged[place] ^= 0x01
        assert_refused(bytes(damaged), DamagedModelError)
