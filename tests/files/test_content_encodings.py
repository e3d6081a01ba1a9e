from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest

from scrapy_mss.files.warc import EncodingError, decode

BODY = b"<p>A page, and more of it.</p>" * 1000


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def brotli(body: bytes) -> bytes:
    module = pytest.importorskip("brotli", minversion="1.2")
    return bytes(module.compress(body))


def zstd(body: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(body))


PACKERS = [
    ("", bytes),
    ("identity", bytes),
    ("gzip", gzip.compress),
    ("X-GZIP", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("br", brotli),
    ("zstd", zstd),
    ("deflate, gzip", lambda body: gzip.compress(zlib.compress(body))),
]


@pytest.mark.parametrize(("name", "pack"), PACKERS)
def test_a_body_is_decoded(name: str, pack: Callable[[bytes], bytes]) -> None:
    assert decode(pack(BODY), name, 10**6) == BODY


@pytest.mark.parametrize(("name", "pack"), PACKERS[2:])
def test_a_body_is_decoded_up_to_the_bound(name: str, pack: Callable[[bytes], bytes]) -> None:
    found = decode(pack(b"x" * 10**7), name, 10**6)

    assert 10**6 <= len(found) <= 10**6 + 2**16


@pytest.mark.parametrize(("name", "pack"), PACKERS[2:4])
def test_a_body_that_breaks_off_is_decoded_up_to_there(
    name: str, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(BODY)

    found = decode(packed[: len(packed) // 2], name, 10**6)

    assert found
    assert BODY.startswith(found)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("gzip", b"\x1f\x8bno such thing"),
        ("deflate", b"no such thing"),
        ("br", b"no such thing"),
        ("zstd", b"\x28\xb5\x2f\xfdno such thing"),
        ("x, gzip", b"\x1f\x8bno such thing"),
    ],
)
def test_invalid_bodies_raise_one_kind_of_error(name: str, body: bytes) -> None:
    with pytest.raises(EncodingError):
        decode(body, name, 10**6)


@pytest.mark.parametrize("name", [name for name, _ in PACKERS] + ["utf-8", "\x00", "gzip, x"])
def test_a_body_that_is_decoded_already_is_left_unchanged(name: str) -> None:
    assert decode(BODY, name, 10**6) == BODY


def test_all_members_of_gzip_are_decoded_within_the_bound() -> None:
    members = [gzip.compress(part) for part in (BODY[:100], b"", BODY[100:])]

    assert decode(b"".join(members), "gzip", 10**6) == BODY
    assert decode(b"".join(members), "gzip", 150) == BODY[:150]
    assert decode(b"".join([*members, b"no member"]), "gzip", 10**6) == BODY
    assert decode(b"".join(members)[:-20], "gzip", 10**6).startswith(BODY[:100])
