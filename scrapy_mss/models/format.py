"""A model as bytes: a header that says what it is, the counts, and a checksum. No pickle.

    MAGIC | header length, 4 bytes | header, JSON | a block a family | judge | BLAKE2b of the rest

The judge, where a model has one, is the numbers of its arrays one after the other; the header
has their shapes. A block holds the filled buckets only, so that a file is as large as what was
learned: their numbers as differences (small numbers pack well) and their out and in counts,
packed by zlib.
The fingerprint in the header is of the features of a probe page: counts of another tokenizer
or of other features do not fit and are refused, without anybody counting versions.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.classifier import Judge, evidence_of
from scrapy_mss.blocks.mlp import Matrix, Network
from scrapy_mss.blocks.page_features import looks_of
from scrapy_mss.core.features import NAMES
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.models.profiles import PROFILES, Profile

MAGIC = b"scrapy-mss model\n"
FORMAT = 1
DIGEST_SIZE = 16
LARGEST_HEADER = 2**20
PACKING = 6  # zlib's middle: its hardest takes thrice as long for one part in fifty

_LENGTH = struct.Struct("<I")
_PROBE = (
    "<!DOCTYPE html><title>Probe</title><body><div class=story-body><p>Running dogs, "
    "3 caf&eacute;s &amp; a <b>&ldquo;relational&rdquo;</b> test.<br>"
    "<foo>\u4e2d\u6587</foo></p></div><!-- c --></body>"
)


class ModelError(ValueError):
    """A model's bytes that cannot be used; the message says what is wrong and what to do."""


class ForeignModelError(ModelError):
    """The bytes are not a model of ours."""


class DamagedModelError(ModelError):
    """The bytes were a model of ours once."""


class NewerModelError(ModelError):
    """The bytes are of a later version of this library."""


class IncompatibleModelError(ModelError):
    """The counts are of features that this version does not compute."""


@dataclass(slots=True)
class Model:
    """What was learned, and the profile that it is for."""

    profile: Profile
    judge: Judge | None = None
    bayes: NaiveBayes = field(init=False)

    def __post_init__(self) -> None:
        self.bayes = NaiveBayes(self.profile.families)

    @classmethod
    def of(cls, profile: Profile, bayes: NaiveBayes, judge: Judge | None = None) -> Model:
        """A model of counts that there are, and of their judge."""
        model = cls(profile, judge)
        model.bayes = bayes
        return model

    def learn(self, tokens: Tokens, inside: Bools) -> None:
        """Count a page whose article is *inside* (bool[n_tokens])."""
        self.bayes.learn_page(tokens, inside)


@cache
def fingerprint(families: tuple[str, ...]) -> str:
    """Equal for two versions of this library when *families* mean the same buckets in both."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    tokens = tokenize(_PROBE)
    bayes = NaiveBayes(families)
    for row, family in zip(bayes.features(tokens), bayes.families, strict=True):
        digest.update(family.name.encode() + row.astype("<i4").tobytes())
    names = bayes.names(tokens, np.zeros(len(tokens), np.bool_))
    if names is not None:
        digest.update(NAMES.encode() + names.buckets.astype("<i4").tobytes())
    return digest.hexdigest()


def to_bytes(model: Model) -> bytes:
    """*model* in the form that ``from_bytes`` reads; equal models give equal bytes."""
    bayes = model.bayes
    blocks = [_pack(counts) for counts in bayes.counts.values()]
    header = {
        "format": FORMAT,
        "profile": model.profile.name,
        "fingerprint": fingerprint(model.profile.families),
        "pages": bayes.pages,
        "tokens": bayes.tokens.tolist(),
        "families": [
            {"name": name, "filled": filled, "bytes": len(block)}
            for name, (filled, block) in zip(bayes.counts, blocks, strict=True)
        ],
        "judge": [list(array.shape) for array in _arrays(model.judge)],
    }
    head = json.dumps(header, sort_keys=True).encode()
    judge = (array.astype("<f4").tobytes() for array in _arrays(model.judge))
    counts = (block for _, block in blocks)
    body = b"".join((MAGIC, _LENGTH.pack(len(head)), head, *counts, *judge))
    return body + blake2b(body, digest_size=DIGEST_SIZE).digest()


def from_bytes(data: bytes) -> Model:
    """The model behind *data*; a ``ModelError`` names what is wrong with it otherwise."""
    header, position = read_header(data)
    body, digest = data[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if blake2b(body, digest_size=DIGEST_SIZE).digest() != digest:
        raise DamagedModelError(
            "the model is damaged: its checksum does not fit its content. Use a copy of it, "
            "or remove it and train again"
        )
    try:
        return _from_parts(header, body[position:])
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
        if isinstance(error, ModelError):
            raise
        raise DamagedModelError(
            f"the model's header and counts do not agree: {error!r}. Train it again"
        ) from error


def read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header of a model and where the counts begin; the counts are not looked at."""
    if not data.startswith(MAGIC):
        raise ForeignModelError(
            f"this is no scrapy-mss model: it begins with {data[:16]!r}, a model begins with "
            f"{MAGIC!r}. Give the path of a model that scrapy-mss wrote"
        )
    start = len(MAGIC) + _LENGTH.size
    try:
        (length,) = _LENGTH.unpack(data[len(MAGIC) : start])
        header = json.loads(data[start : start + min(length, LARGEST_HEADER)])
        newer = header["format"] > FORMAT
    except (struct.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedModelError(
            f"the model is damaged: its header cannot be read: {error}. Use a copy of it, or "
            "remove it and train again"
        ) from error
    if newer:
        raise NewerModelError(
            f"the model has format {header['format']}, this version of scrapy-mss reads up to "
            f"{FORMAT}. Update scrapy-mss, or train a model with this version"
        )
    return header, start + length


def _from_parts(header: dict[str, Any], blocks: bytes) -> Model:
    profile = PROFILES.get(header["profile"])
    if profile is None:
        raise IncompatibleModelError(
            f"the model is for the profile {header['profile']!r}; known here are "
            f"{', '.join(PROFILES)}. Train it again with this version of scrapy-mss"
        )
    if header["fingerprint"] != fingerprint(profile.families):
        raise IncompatibleModelError(
            "the model's counts are of other features than this version of scrapy-mss computes. "
            "Train it again, or use the version that made it"
        )
    model = Model(profile)
    bayes = model.bayes
    bayes.pages = _count(header["pages"])
    bayes.tokens[:] = [_count(number) for number in header["tokens"]]
    for row, counts in zip(header["families"], bayes.counts.values(), strict=True):
        block, blocks = blocks[: row["bytes"]], blocks[row["bytes"] :]
        _unpack(block, int(row["filled"]), counts)
    model.judge = _judge(header["judge"], blocks)
    if model.judge is not None:
        _check(model.judge, bayes)
    return model


def _check(judge: Judge, bayes: NaiveBayes) -> None:
    """Ask about the probe page: a judge of other numbers than we have does not fit them."""
    if not all(np.isfinite(array).all() for array in _arrays(judge)):
        raise ValueError("numbers of a judge that are none")
    passages = tokenize(_PROBE).passages
    try:
        evidence = evidence_of(bayes, passages)
        probability = judge.probabilities(evidence, passages)
        judge.article(looks_of(passages, judge.score(evidence), probability, probability > 0))
    except (ValueError, IndexError) as error:
        raise IncompatibleModelError(
            "the model's judge weighs other numbers than this version of scrapy-mss computes. "
            "Train it again, or use the version that made it"
        ) from error


def _arrays(judge: Judge | None) -> list[Matrix]:
    """What a judge consists of, in the order of a file."""
    if judge is None:
        return []
    network = judge.network
    parts = (network.mean, network.scale, network.hidden, network.output)
    return [judge.weights, judge.decision, *parts]


def _judge(shapes: list[list[int]], data: bytes) -> Judge | None:
    """The judge whose arrays have these *shapes*."""
    sizes = [prod(_count(length) for length in shape) for shape in shapes]
    if len(data) != 4 * sum(sizes):
        raise ValueError(f"{len(data)} bytes of a judge where {4 * sum(sizes)} were announced")
    if not shapes:
        return None
    numbers = np.split(np.frombuffer(data, "<f4").astype(np.float32), np.cumsum(sizes)[:-1])
    weights, decision, *parts = (n.reshape(s) for n, s in zip(numbers, shapes, strict=True))
    return Judge(weights, Network(*parts), decision)


def _count(number: object) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} where a count was expected")
    return number


def _pack(counts: NDArray[np.uint32]) -> tuple[int, bytes]:
    filled = np.flatnonzero(counts.any(axis=1))
    numbers = np.diff(filled, prepend=0)
    columns = (numbers, counts[filled, 0], counts[filled, 1])
    raw = b"".join(column.astype("<u4").tobytes() for column in columns)
    return len(filled), zlib.compress(raw, PACKING)


def _unpack(block: bytes, filled: int, counts: NDArray[np.uint32]) -> None:
    """Write a block of *filled* buckets into the empty *counts*."""
    if not 0 <= filled <= len(counts):
        raise ValueError(f"{filled} buckets for a table of {len(counts)}")
    size = 3 * 4 * filled
    raw = zlib.decompressobj().decompress(block, size + 1)
    if len(raw) != size:
        raise ValueError(f"{len(raw)} bytes of counts where {size} were announced")
    numbers, outside, inside = np.frombuffer(raw, "<u4").reshape(3, filled)
    at = np.cumsum(numbers, dtype=np.int64)
    if filled and at[-1] >= len(counts):
        raise ValueError(f"bucket {at[-1]} in a table of {len(counts)}")
    counts[at, 0], counts[at, 1] = outside, inside
