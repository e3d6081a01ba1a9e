from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.models.format import FORMAT, MAGIC, MAX_HEADER, from_bytes, read_header, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import PAPER, PROFILES, TRIGRAM, Profile
from tests.helpers.model_files import assembled, parts_of, rejection_of, with_header
from tests.helpers.news_pages import news_page, random_labels


def trained(profile: Profile = PAPER, pages: int = 2, first: int = 0) -> Model:
    model = Model(profile)
    for number in range(first, first + pages):
        tokens = news_page(number).tokens
        model.bayes.learn(Page(tokens), random_labels(tokens, number))
    return model


@pytest.fixture(scope="module")
def stored() -> bytes:
    """A model that learned two pages."""
    return to_bytes(trained())


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_model_is_read_as_it_was_written(profile: Profile) -> None:
    before = trained(profile)

    after = from_bytes(to_bytes(before))

    assert after.profile is profile
    assert after.bayes.pages == before.bayes.pages == 2
    assert after.bayes.tokens.tolist() == before.bayes.tokens.tolist()
    assert after.bayes.digest == before.bayes.digest
    for name, counts in before.bayes.counts.items():
        assert np.array_equal(after.bayes.counts[name], counts)


def test_the_first_and_last_buckets_and_the_greatest_counts_are_kept() -> None:
    before = Model(TRIGRAM)
    before.bayes.counts["trigram"][[0, 1, -1]] = [[2**32 - 1, 0], [0, 1], [5, 2**32 - 1]]

    after = from_bytes(to_bytes(before))

    assert np.array_equal(after.bayes.counts["trigram"], before.bayes.counts["trigram"])


@given(st.data())
def test_bytes_that_were_changed_cut_off_or_appended_are_rejected(
    stored: bytes, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(stored) - 1) | st.integers(0, read_header(stored)[1]))
    changed = bytearray(stored)
    changed[place] ^= data.draw(st.integers(1, 255))

    for damaged in (bytes(changed), stored[:place], stored + changed[place:]):
        rejection_of(damaged)


@pytest.mark.parametrize(
    "data", [b"", b"scrapy-mss", b"\x80\x04\x95", b"PK\x03\x04", b"\0" * 4096, b" " + MAGIC]
)
def test_a_foreign_file_is_rejected_by_what_it_begins_with(data: bytes) -> None:
    message = rejection_of(data)

    assert repr(data[:16]) in message


def test_a_newer_format_is_rejected_with_the_advice_to_update(stored: bytes) -> None:
    other = assembled({"format": FORMAT + 1}, b"new things")

    for data in (other, with_header(stored, format=FORMAT + 1)):
        message = rejection_of(data)

        assert f"format {FORMAT + 1}" in message
        assert f"up to {FORMAT}" in message
        assert "Update scrapy-mss" in message


@pytest.mark.parametrize("old", range(FORMAT))
def test_an_older_format_is_rejected_with_the_advice_to_train_again(old: int) -> None:
    message = rejection_of(assembled({"format": old}, b"old things"))

    assert f"format {old}" in message
    assert f"reads format {FORMAT}" in message
    assert "Train it again" in message


def test_an_unknown_profile_is_rejected_by_its_name(stored: bytes) -> None:
    message = rejection_of(with_header(stored, profile="nosuch"))

    assert "'nosuch'" in message
    assert "paper" in message


def with_family(header: dict[str, Any], **changes: object) -> dict[str, Any]:
    """The header with another first family."""
    first, *rest = header["families"]
    return {**header, "families": [{**first, **changes}, *rest]}


CRAFTED: dict[str, Callable[[dict[str, Any]], object]] = {
    "no header": lambda _: b"",
    "header is no JSON": lambda _: b"{",
    "header is no text": lambda _: b"\xff\xfe",
    "deep header": lambda _: b"[" * 200_000,
    "long number": lambda _: b'{"format": ' + b"1" * 5000 + b"}",
    "one family too many": lambda header: {**header, "families": header["families"] * 2},
    "families in another order": lambda header: {**header, "families": header["families"][::-1]},
    "a family has more pages than the model": lambda header: with_family(header, pages=3),
    "tokens of one label": lambda header: {**header, "tokens": [5]},
    "tokens of three labels": lambda header: {**header, "tokens": [1, 2, 3]},
    "tokens exceed 64 bits": lambda header: {**header, "tokens": [2**70, 2]},
    "filled is too small": lambda header: with_family(header, filled=1),
    "filled is 0": lambda header: with_family(header, filled=0),
    "filled is the whole table": lambda header: with_family(header, filled=2**22),
    "filled exceeds the table": lambda header: with_family(header, filled=2**40),
    "bytes are too few": lambda header: with_family(header, bytes=5),
    "bytes are too many": lambda header: with_family(header, bytes=10**9),
}


@pytest.mark.parametrize("fault", CRAFTED)
def test_parts_that_do_not_agree_are_rejected_though_the_checksum_fits(
    fault: str, stored: bytes
) -> None:
    header, body = parts_of(stored)

    rejection_of(assembled(CRAFTED[fault](header), body))


WRONG: tuple[object, ...] = (None, True, -1, "2", [], {}, 2.0, float("inf"), float("nan"))


def others(node: Any) -> Iterator[object]:  # noqa: ANN401 - of a header
    """All that a header can be with a wrong value in one place; a family's name means nothing."""
    yield from (value for value in WRONG if value != node)
    if isinstance(node, list):
        for at, inner in enumerate(node):
            yield from ([*node[:at], other, *node[at + 1 :]] for other in others(inner))
    elif isinstance(node, dict):
        for key in node.keys() - {"name"}:
            yield from ({**node, key: other} for other in others(node[key]))


def test_wrong_and_missing_values_are_rejected(stored: bytes) -> None:
    header, body = parts_of(stored)
    shorter = ({key: header[key] for key in header.keys() - {name}} for name in header)

    for other in (*others(header), *shorter):
        rejection_of(assembled(other, body))


def test_bytes_after_the_counts_are_rejected(stored: bytes) -> None:
    header, body = parts_of(stored)

    message = rejection_of(assembled(header, body + b"\0\0"))

    assert "2 bytes after the counts" in message


def single_block(raw: bytes, filled: int) -> bytes:
    """A model file with one block."""
    block = zlib.compress(raw)
    header, _ = parts_of(to_bytes(Model(TRIGRAM)))
    family = {**header["families"][0], "filled": filled, "bytes": len(block)}
    return assembled({**header, "families": [family]}, block)


def test_buckets_outside_the_table_are_rejected() -> None:
    inside = np.array([2**22 - 1, 1, 0], "<u4").tobytes()
    outside = np.array([2**22, 1, 0], "<u4").tobytes()
    far = np.array([2**32 - 1, 2**32 - 1, 1, 1, 0, 0], "<u4").tobytes()

    assert from_bytes(single_block(inside, 1)).bayes.counts["trigram"][-1].tolist() == [1, 0]
    assert "bucket 4194304" in rejection_of(single_block(outside, 1))
    rejection_of(single_block(far, 2))


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
def test_a_block_is_unpacked_no_further_than_its_announced_size() -> None:
    table = Model(TRIGRAM).bayes.counts["trigram"].nbytes
    bomb = single_block(b"\0" * 2**26, 3)
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()

    message = rejection_of(bomb)

    _, peak = tracemalloc.get_traced_memory()
    assert "where 36 were announced" in message
    assert peak - before < table + 10 * len(bomb)


def test_a_block_that_cannot_be_unpacked_is_rejected() -> None:
    header, body = parts_of(to_bytes(trained(TRIGRAM)))

    rejection_of(assembled(header, b"\xff" + body[1:]))


def test_a_header_is_read_up_to_a_limit() -> None:
    length = struct.pack("<I", 2**32 - 1)

    rejection_of(MAGIC + length + b" " * (MAX_HEADER + 99))


# Keys of learned pages


def with_pages(keys: Iterable[int]) -> Model:
    model = Model(TRIGRAM)
    for key in keys:
        model.learned_pages.add(key, key % 5)
    return model


@pytest.mark.parametrize("keys", [[0], [2**64 - 1], [0, 1, 2**63, 2**64 - 1], range(2000)], ids=len)
def test_keys_of_learned_pages_are_read_as_they_were_written(keys: Sequence[int]) -> None:
    before = with_pages(keys)

    after = from_bytes(to_bytes(before))

    (read_keys, read_generations), (keys_before, generations) = (
        model.learned_pages.arrays() for model in (after, before)
    )
    assert np.array_equal(read_keys, keys_before)
    assert np.array_equal(read_generations, generations)
    assert read_keys.dtype == np.uint64
    assert read_generations.dtype == np.uint32
    assert to_bytes(after) == to_bytes(before) == to_bytes(with_pages(reversed(keys)))


DAMAGED_KEYS = {
    "equal keys": (2, [5, 0], [0, 0]),
    "keys beyond 64 bits": (2, [2**64 - 1, 2], [0, 0]),
    "no keys": (0, [], []),
    "fewer than announced": (2, [1], [0]),
    "more than announced": (1, [1, 1], [0, 0]),
    "more than the bound": (2**18 + 1, [1] * (2**18 + 1), [0] * (2**18 + 1)),
    "a count that is none": (True, [1], [0]),
}


@pytest.mark.parametrize("fault", DAMAGED_KEYS)
def test_damaged_keys_are_rejected(fault: str) -> None:
    count, differences, generations = DAMAGED_KEYS[fault]
    block = zlib.compress(
        np.array(differences, "<u8").tobytes() + np.array(generations, "<u4").tobytes()
    )
    header, body = parts_of(to_bytes(Model(TRIGRAM)))
    row = {"count": count, "bytes": len(block)}

    rejection_of(assembled({**header, "learned_pages": row}, body + block))


@pytest.mark.parametrize("total", [2**63 - 1, 2**54 + 1])
def test_absurd_totals_are_damage(stored: bytes, total: int) -> None:
    for changes in ({"tokens": [total, 5]}, {"tokens": [5, total]}, {"pages": total}):
        rejection_of(with_header(stored, **changes))
    rejection_of(with_header(stored, digest=2**64))


def test_the_greatest_totals_are_read_and_not_added_to(stored: bytes) -> None:
    model = from_bytes(with_header(stored, tokens=[2**54, 5], pages=2**54))

    assert not model.bayes.has_room(
        model.bayes.observe(Page(news_page(0).tokens), np.zeros(len(news_page(0).tokens), np.bool_))
    )
    with pytest.raises(OverflowError, match="damaged"):
        model.bayes.merge(from_bytes(stored).bayes)
    assert model.bayes.tokens.tolist() == [2**54, 5]
