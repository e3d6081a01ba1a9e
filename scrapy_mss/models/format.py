"""A model as bytes: a header that says what it is, the counts, and a checksum. No pickle.

    MAGIC | header length, 4 bytes | header, JSON | counts, a block a family | keys of learned pages
    | weights | BLAKE2b

The header names every part in the order of the file: families with the length of their blocks,
arrays of the block classifier with their shapes, and the inputs with which the classifier was
trained (`inputs`). A block has only the filled buckets, so that a file is as large as what was
learned: their numbers as differences (small numbers compress well) and their out and in counts,
compressed with zlib. The keys are stored in the same way, with their generations; a model that
knows no page has none.

A file whose parts do not have the same meaning in this version as in the one that wrote it is
rejected. The fingerprint covers the features of a probe page, so counts of a different tokenizer
are recognized without version numbers; for the classifier's inputs the first difference is named.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.classifier import NETWORKS, POOLINGS, BlockClassifier
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.naive_bayes import DIGEST_BITS, MAX_TOTAL
from scrapy_mss.models.families import FAMILIES
from scrapy_mss.models.inputs import Inputs, classifier_inputs, difference
from scrapy_mss.models.learned_pages import MAX_KEYS, LearnedPages
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import PROFILES, Profile

MAGIC = b"scrapy-mss model\n"
FORMAT = 2  # 1 had no names for the inputs of the classifier and no digest of the learned pages
DIGEST_SIZE = 16
MAX_HEADER = 2**20
COMPRESSION = 6  # zlib's middle: its hardest takes thrice as long for one part in fifty

_LENGTH = struct.Struct("<I")
_PROBE = (
    "<!DOCTYPE html><title>Probe</title><body><div class=story-body><p>Running dogs, "
    "3 caf&eacute;s &amp; a <b>&ldquo;relational&rdquo;</b> test.<br>"
    "<foo>\u4e2d\u6587</foo></p></div><!-- c --></body>"
)


class ModelError(ValueError):
    """A model that cannot be used; the message says what is wrong and what to do."""


class UnreadableModelError(ModelError):
    """There are no bytes: the file is a folder or a device, or may not be read."""


class ForeignModelError(ModelError):
    """The bytes are not a model of scrapy-mss."""


class DamagedModelError(ModelError):
    """The bytes are a model that was cut off or changed."""


class NewerModelError(ModelError):
    """The bytes are of a later version of this library."""


class IncompatibleModelError(ModelError):
    """The counts are of features that this version does not compute."""


class FullModelError(ModelError):
    """The counts are so near their limit that nothing can be added to them."""


@cache
def fingerprint(profile: Profile) -> str:
    """Equal for two versions of this library if the families of *profile* give equal buckets."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    page = Page.of(_PROBE, profile.stem)
    for name in profile.families:
        family = FAMILIES[name]
        digest.update(name.encode())
        for array in family.values(page, family.bits):
            digest.update(array.astype("<i4").tobytes())
    return digest.hexdigest()


def to_bytes(model: Model) -> bytes:
    """*model* in the form that ``from_bytes`` reads; equal models give equal bytes."""
    bayes, classifier = model.bayes, model.classifier
    blocks = {family.name: _pack(bayes.counts[family.name]) for family in bayes.families}
    header = {
        "format": FORMAT,
        "profile": model.profile.name,
        "fingerprint": fingerprint(model.profile),
        "pages": bayes.pages,
        "tokens": bayes.tokens.tolist(),
        "digest": bayes.digest,
        "families": [
            {"name": name, "filled": filled, "bytes": len(block)}
            for name, (filled, block) in blocks.items()
        ],
        "classifier": _classifier_header(classifier) if classifier else None,
    }
    n_keys, keys = _pack_keys(model.learned_pages)
    if n_keys:
        header["learned_pages"] = {"count": n_keys, "bytes": len(keys)}
    head = json.dumps(header, sort_keys=True).encode()
    weights = [a.astype("<f4").tobytes() for a in classifier.arrays.values()] if classifier else []
    counts = (block for _, block in blocks.values())
    body = b"".join((MAGIC, _LENGTH.pack(len(head)), head, *counts, keys, *weights))
    return body + blake2b(body, digest_size=DIGEST_SIZE).digest()


def _classifier_header(classifier: BlockClassifier) -> dict[str, Any]:
    inputs = classifier_inputs()
    return {
        "inputs": inputs,
        "inputs_digest": _digest_of(inputs),
        "arrays": [
            {"name": name, "shape": list(array.shape)} for name, array in classifier.arrays.items()
        ],
    }


def _digest_of(inputs: Inputs) -> str:
    """A hash of *inputs* and of their order."""
    names = json.dumps(inputs, sort_keys=True).encode()
    return blake2b(names, digest_size=DIGEST_SIZE).hexdigest()


def from_bytes(data: bytes) -> Model:
    """The model behind *data*; a ``ModelError`` names what is wrong with it otherwise."""
    header, position = read_header(data)
    body, digest = data[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if blake2b(body, digest_size=DIGEST_SIZE).digest() != digest:
        raise DamagedModelError(
            "the model is damaged: its checksum does not match its content. Use a copy of it, "
            "or remove it and train again"
        )
    try:
        return _from_parts(header, body[position:])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, zlib.error) as error:
        if isinstance(error, ModelError):
            raise
        raise DamagedModelError(
            f"the model's header and counts do not agree: {error!r}. Train it again"
        ) from error


def read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header of a model and where the counts begin; the counts are not read."""
    if not data.startswith(MAGIC):
        raise ForeignModelError(
            f"this is not a scrapy-mss model: it begins with {data[:16]!r}, a model begins with "
            f"{MAGIC!r}. Give the path of a file that scrapy-mss has written"
        )
    start = len(MAGIC) + _LENGTH.size
    try:
        (length,) = _LENGTH.unpack(data[len(MAGIC) : start])
        header = json.loads(data[start : start + min(length, MAX_HEADER)])
        version = _count(header["format"])
    except (struct.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedModelError(
            f"the model is damaged: its header cannot be read: {error}. Use a copy of it, or "
            "remove it and train again"
        ) from error
    if version < FORMAT:
        raise IncompatibleModelError(
            f"the model has format {version}, this version of scrapy-mss reads format {FORMAT}: "
            "its counts are for other features. Train it again, or use the version that made it"
        )
    if version > FORMAT:
        raise NewerModelError(
            f"the model has format {version}, this version of scrapy-mss reads up to "
            f"{FORMAT}. Update scrapy-mss, or train a model with this version"
        )
    return header, start + length


def _from_parts(header: dict[str, Any], parts: bytes) -> Model:
    profile = _profile(header)
    model = Model(profile)
    bayes = model.bayes
    bayes.pages = _count(header["pages"], MAX_TOTAL)
    n_outside, n_inside = header["tokens"]
    bayes.tokens[:] = _count(n_outside, MAX_TOTAL), _count(n_inside, MAX_TOTAL)
    bayes.digest = _count(header["digest"], 2**DIGEST_BITS - 1)
    rows = header["families"]
    if [row["name"] for row in rows] != list(profile.families):
        raise ValueError(f"families {[row['name'] for row in rows]} for profile {profile.name}")
    for row in rows:
        block, parts = parts[: row["bytes"]], parts[row["bytes"] :]
        _unpack(block, _count(row["filled"]), bayes.counts[row["name"]])
    if "learned_pages" in header:
        row = header["learned_pages"]
        block, parts = parts[: row["bytes"]], parts[row["bytes"] :]
        model.learned_pages = _unpack_keys(block, _count(row["count"], MAX_KEYS))
    if header["classifier"] is not None:
        model.classifier = _classifier(header["classifier"], parts)
    elif parts:
        raise ValueError(f"{len(parts)} bytes after the counts of a model without a classifier")
    return model


def _profile(header: dict[str, Any]) -> Profile:
    """The profile that the counts are for, if they are of this version's features."""
    profile = PROFILES.get(header["profile"])
    if profile is None:
        raise IncompatibleModelError(
            f"the model is for the profile {header['profile']!r}, which is unknown here; known "
            f"are {', '.join(PROFILES)}. Train it again with this version of scrapy-mss"
        )
    if header["fingerprint"] != fingerprint(profile):
        raise IncompatibleModelError(
            "the model's counts are for other features than this version of scrapy-mss computes. "
            "Train it again, or use the version that made it"
        )
    return profile


def _classifier(header: dict[str, Any], data: bytes) -> BlockClassifier:
    """The block classifier whose weights are *data*."""
    inputs = header["inputs"]
    if header["inputs_digest"] != _digest_of(inputs):
        raise ValueError("names of inputs that do not match their digest")
    if inputs != classifier_inputs():
        raise IncompatibleModelError(
            "the model's block classifier was trained with other inputs than this version of "
            f"scrapy-mss computes: {difference(inputs, classifier_inputs())}. Train it again, or "
            "use the version that made it"
        )
    shapes = {row["name"]: tuple(map(_count, row["shape"])) for row in header["arrays"]}
    names = _shapes(dict.fromkeys(NETWORKS, (1,))).keys()
    if shapes.keys() != names:
        raise IncompatibleModelError(
            "the model's block classifier is of other parts than that of this version of "
            f"scrapy-mss: its weights are {', '.join(shapes) or 'none'}; expected were "
            f"{', '.join(names)}. Train it again, or use the version that made it"
        )
    expected = _shapes({name: shapes[f"{name}_output"] for name in NETWORKS})
    if shapes != expected:
        raise ValueError(f"weights of shapes {shapes} where {expected} were expected")
    sizes = [prod(shape) for shape in shapes.values()]
    if len(data) != 4 * sum(sizes):
        raise ValueError(f"{len(data)} bytes of weights where {4 * sum(sizes)} were announced")
    weights = np.split(np.frombuffer(data, "<f4").astype(np.float32), np.cumsum(sizes)[:-1])
    if not all(np.isfinite(array).all() for array in weights):
        raise ValueError("weights that are infinite or no numbers")
    rows = zip(shapes.items(), weights, strict=True)
    return BlockClassifier.from_arrays({name: row.reshape(shape) for (name, shape), row in rows})


def _shapes(outputs: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights, where those of the output layers of the networks are known."""
    n_inputs = len(classifier_inputs()["blocks"])
    shapes: dict[str, tuple[int, ...]] = {"evidence_weights": (len(POOLINGS) + 1,)}
    for name, (n_hidden_and_bias,) in outputs.items():
        shapes[f"{name}_mean"] = shapes[f"{name}_scale"] = (n_inputs,)
        shapes[f"{name}_hidden"] = (n_inputs + 1, n_hidden_and_bias - 1)
        shapes[f"{name}_output"] = (n_hidden_and_bias,)
    shapes["page_weights"] = (len(classifier_inputs()["pages"]) + 1,)
    shapes["confidence_weights"] = (len(classifier_inputs()["confidence"]) + 1,)
    return shapes


def _count(number: object, limit: float = float("inf")) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= limit:
        raise ValueError(f"{number!r} where a count up to {limit} was expected")
    return number


def _pack(counts: NDArray[np.uint32]) -> tuple[int, bytes]:
    filled = np.flatnonzero(counts.any(axis=1))
    numbers = np.diff(filled, prepend=0)
    columns = (numbers, counts[filled, 0], counts[filled, 1])
    raw = b"".join(column.astype("<u4").tobytes() for column in columns)
    return len(filled), zlib.compress(raw, COMPRESSION)


def _unpack(block: bytes, filled: int, counts: NDArray[np.uint32]) -> None:
    """Write a block of *filled* buckets into the empty *counts*."""
    if not 0 <= filled <= len(counts):
        raise ValueError(f"{filled} buckets for a table of {len(counts)}")
    raw = _inflated(block, 3 * 4 * filled, "counts")
    numbers, outside, inside = np.frombuffer(raw, "<u4").reshape(3, filled)
    at = np.cumsum(numbers, dtype=np.int64)
    if filled and at[-1] >= len(counts):
        raise ValueError(f"bucket {at[-1]} in a table of {len(counts)}")
    counts[at, 0], counts[at, 1] = outside, inside


def _pack_keys(pages: LearnedPages) -> tuple[int, bytes]:
    keys, generations = pages.arrays()
    if not len(keys):
        return 0, b""
    differences = np.diff(keys, prepend=np.uint64(0))
    raw = differences.astype("<u8").tobytes() + generations.astype("<u4").tobytes()
    return len(keys), zlib.compress(raw, COMPRESSION)


def _unpack_keys(block: bytes, n_keys: int) -> LearnedPages:
    raw = _inflated(block, (8 + 4) * n_keys, "keys")
    keys = np.cumsum(np.frombuffer(raw, "<u8", n_keys), dtype=np.uint64)
    if not n_keys or not (keys[1:] > keys[:-1]).all():
        raise ValueError("keys of pages that are not in ascending order")
    return LearnedPages(keys, np.frombuffer(raw, "<u4", n_keys, 8 * n_keys).astype(np.uint32))


def _inflated(block: bytes, size: int, what: str) -> bytes:
    """The *size* bytes that were packed as *block*; no more than that is unpacked."""
    raw = zlib.decompressobj().decompress(block, size + 1)
    if len(raw) != size:
        raise ValueError(f"{len(raw)} bytes of {what} where {size} were announced")
    return raw
