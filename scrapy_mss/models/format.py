"""A model as bytes: a header that says what it is, the counts, and a checksum. No pickle.

    MAGIC | header length, 4 bytes | header, JSON | counts, a block a family | keys of learned pages
    | lessons | what was learned beside a classifier, itself a model | weights | BLAKE2b

The header names every part in the order of the file: families with the length of their blocks,
arrays of the block classifier with their shapes, and the inputs with which the classifier was
trained (`classifier_inputs`). A block has only the filled buckets, so that a file is as large as
what was learned: their numbers as differences (small numbers compress well) and their out and in
counts, compressed with zlib. The keys are stored in the same way, with their generations; a model
that knows no page has none. Lessons are their keys, in the same way, and their sums.

Each family has the version of its computation and the number of pages that were counted by it. A
family stored under another version starts from zero, and the stored counts are kept beside it: a
file can be shared by two versions of this library, and each reads its own counts. A classifier
trained with other inputs is left out, and the first difference is kept as the reason.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import zip_longest
from math import prod
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.classifier import (
    INPUTS,
    NETWORKS,
    POOLINGS,
    BlockClassifier,
    block_evidence,
    block_inputs,
)
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.lessons import MAX_ROWS, N_SUMS, Lessons
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import (
    CONFIDENCE_FEATURES,
    ReadPage,
    confidence_features,
    page_feature_names,
    page_features,
)
from scrapy_mss.blocks.selection import threshold
from scrapy_mss.core.naive_bayes import DIGEST_BITS, MAX_TOTAL, Observation, Table
from scrapy_mss.markup.tokens import Floats, Ints
from scrapy_mss.models.model import MAX_KEYS, LearnedPages, Model, OtherFamily
from scrapy_mss.models.profiles import PROFILES, Profile

MAGIC = b"scrapy-mss model\n"
FORMAT = 2  # 1 had no names for the inputs of the classifier and no digest of the learned pages
DIGEST_SIZE = 16
MAX_HEADER = 2**20
COMPRESSION = 6  # zlib's middle: its hardest takes thrice as long for one part in fifty
MAX_BUCKETS = 2**24  # of a family that this version does not know
MAX_DIGEST = 2**DIGEST_BITS - 1
# What earlier commits wrote, by profile, in place of version 1 of all its families.
FIRST_VERSIONS = frozenset(
    (
        "1cf02f28d104d5234cfbb246f90f32fe",
        "4240b7a3f9ec189add7e9a9a14784a79",
        "a4a22cb1d93eeac22720c13b4ec3666d",
        "bb046879884c4912987bfb08eb8da167",
    )
)

_LENGTH = struct.Struct("<I")
# The columns of blocks: buckets, out and in counts; keys, generations; keys, sums.
COUNTS = ("<u4", "<u4", "<u4")
KEYS = ("<u8", "<u4")
LESSONS = ("<u8", *N_SUMS * ("<i8",))


class ModelError(ValueError):
    """A model that cannot be used; the message says what is wrong and what to do."""


def to_bytes(model: Model) -> bytes:
    """*model* in the form that ``from_bytes`` reads; equal models give equal bytes."""
    bayes, classifier = model.bayes, model.classifier
    families, blocks = _packed_families(model)
    header = {
        "format": FORMAT,
        "profile": model.profile.name,
        "pages": bayes.pages,
        "tokens": bayes.tokens.tolist(),
        "digest": bayes.digest,
        "families": families,
        "classifier": _classifier_header(classifier) if classifier else None,
    }
    keys = lessons = b""
    if n_keys := len(model.learned_pages):
        keys = _pack(KEYS, *model.learned_pages.arrays())
        header["learned_pages"] = {"count": n_keys, "bytes": len(keys)}
    if taught := len(model.lessons):
        lessons = _pack(LESSONS, model.lessons.keys, *model.lessons.sums.T)
        row = {"count": taught, "bytes": len(lessons), "reader": model.lessons.reader}
        header["lessons"] = row
    beside = model.learned
    has_learned = classifier and (beside.bayes.pages or len(beside.learned_pages))
    learned = to_bytes(beside) if has_learned else b""
    if learned:
        header["learned"] = {"bytes": len(learned)}
    head = json.dumps(header, sort_keys=True).encode()
    weights = [a.astype("<f4").tobytes() for a in classifier.arrays.values()] if classifier else []
    body = b"".join(
        (MAGIC, _LENGTH.pack(len(head)), head, *blocks, keys, lessons, learned, *weights)
    )
    return body + blake2b(body, digest_size=DIGEST_SIZE).digest()


def _packed_families(model: Model) -> tuple[list[dict[str, Any]], list[bytes]]:
    """A row of the header and a block of counts for each family, those of other versions last.

    Counts of versions older than the one before this version's are dropped.
    """
    total, rows, blocks = model.bayes.total(), [], []
    oldest = {family.name: family.version - 1 for family in model.bayes.families}
    for family in model.bayes.families:
        buckets, counts = total.counts[family.name]
        blocks.append(_pack(COUNTS, buckets, *counts.T))
        row = {"name": family.name, "filled": len(buckets), "bytes": len(blocks[-1])}
        rows.append({**row, "version": family.version, "pages": model.pages_of(family.name)})
    for (name, version), other in sorted(model.other_families.items()):
        if version < oldest.get(name, 0):
            continue
        blocks.append(_pack(COUNTS, other.buckets, *other.counts.T))
        row = {"name": name, "filled": len(other.buckets), "bytes": len(blocks[-1])}
        rows.append({**row, "version": version, "pages": other.pages})
    return rows, blocks


def _classifier_header(classifier: BlockClassifier) -> dict[str, Any]:
    return {
        "inputs": classifier_inputs(),
        "arrays": [
            {"name": name, "shape": list(array.shape)} for name, array in classifier.arrays.items()
        ],
    }


def from_bytes(data: bytes, *, is_bundled: bool = False) -> Model:
    """The model behind *data*; a ``ModelError`` names what is wrong with it otherwise.

    The inputs of the bundled one are not compared: that takes a page to be read, and six megabytes.
    """
    header, position = read_header(data)
    body, digest = data[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if blake2b(body, digest_size=DIGEST_SIZE).digest() != digest:
        raise ModelError(
            "the model is damaged: its checksum does not match its content. Use a copy of it, "
            "or remove it and train again"
        )
    try:
        return _from_parts(header, memoryview(body)[position:], is_bundled=is_bundled)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, zlib.error) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(
            f"the model's header and counts do not agree: {error!r}. Train it again"
        ) from error


def read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header of a model and where the counts begin; the counts are not read."""
    if not data.startswith(MAGIC):
        raise ModelError(
            f"this is not a scrapy-mss model: it begins with {data[:16]!r}, a model begins with "
            f"{MAGIC!r}. Give the path of a file that scrapy-mss has written"
        )
    start = len(MAGIC) + _LENGTH.size
    try:
        (length,) = _LENGTH.unpack(data[len(MAGIC) : start])
        header = json.loads(data[start : start + min(length, MAX_HEADER)])
        version = _count(header["format"])
    except (struct.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(
            f"the model is damaged: its header cannot be read: {error}. Use a copy of it, or "
            "remove it and train again"
        ) from error
    if version < FORMAT:
        raise ModelError(
            f"the model has format {version}, this version of scrapy-mss reads format {FORMAT}: "
            "its counts are for other features. Train it again, or use the version that made it"
        )
    if version > FORMAT:
        raise ModelError(
            f"the model has format {version}, this version of scrapy-mss reads up to "
            f"{FORMAT}. Update scrapy-mss, or train a model with this version"
        )
    return header, start + length


def _from_parts(header: dict[str, Any], parts: memoryview, *, is_bundled: bool) -> Model:
    profile = _profile(header)
    model = Model(profile)
    pages, digest = _count(header["pages"], MAX_TOTAL), _count(header["digest"], MAX_DIGEST)
    tokens = np.array([_count(number, MAX_TOTAL) for number in header["tokens"]])
    counts, parts = _read_families(model, header, parts)
    model.bayes.add(Observation(counts, tokens, digest, pages))
    if "learned_pages" in header:
        row = header["learned_pages"]
        block, parts = _split(parts, row)
        model.learned_pages = _unpack_keys(block, _count(row["count"], MAX_KEYS))
    if "lessons" in header:
        row = header["lessons"]
        block, parts = _split(parts, row)
        keys, *sums = _unpack(LESSONS, block, _count(row["count"], MAX_ROWS))
        reader = _count(row["reader"], MAX_DIGEST)
        model.lessons = Lessons(keys, np.stack(sums, axis=1).astype(np.int64), reader)
    if "learned" in header:
        block, parts = _split(parts, header["learned"])
        model.learned = from_bytes(bytes(block))
    if header["classifier"] is not None:
        _read_classifier(model, header["classifier"], parts, is_bundled=is_bundled)
    elif parts:
        raise ValueError(f"{len(parts)} bytes after the counts of a model without a classifier")
    return model


def _split(parts: memoryview, row: Mapping[str, Any]) -> tuple[memoryview, memoryview]:
    """The block of a *row* of the header, and the parts after it."""
    size = _count(row["bytes"])
    return parts[:size], parts[size:]


def _read_families(
    model: Model, header: dict[str, Any], parts: memoryview
) -> tuple[dict[str, tuple[Ints, Table]], memoryview]:
    """The counts of the families of *model*, which gets the others, and what follows in *parts*."""
    own = {family.name: family for family in model.bayes.families}
    counts, n_pages = dict[str, tuple[Ints, Table]](), header["pages"]
    version_of_all = int(header.get("fingerprint") in FIRST_VERSIONS)
    model.uncounted = Counter(dict.fromkeys(own, n_pages))
    read = set()
    for row in header["families"]:
        block, parts = _split(parts, row)
        name, version = str(row["name"]), _count(row.get("version", version_of_all))
        pages, filled = _count(row.get("pages", n_pages), n_pages), _count(row["filled"])
        family = own.get(name)
        if (name, version) in read:
            raise ValueError(f"two blocks of counts for version {version} of {name!r}")
        read.add((name, version))
        if family is not None and version == family.version:
            counts[name] = _unpack_counts(block, filled, 1 << family.bits)
            model.uncounted[name] -= pages
        else:
            counted = OtherFamily(pages, *_unpack_counts(block, filled, MAX_BUCKETS))
            model.other_families[name, version] = counted
    return counts, parts


def _profile(header: dict[str, Any]) -> Profile:
    profile = PROFILES.get(header["profile"])
    if profile is None:
        raise ModelError(
            f"the model is for the profile {header['profile']!r}, which is unknown here; known "
            f"are {', '.join(PROFILES)}. Train it again with this version of scrapy-mss"
        )
    return profile


def _read_classifier(
    model: Model, header: dict[str, Any], data: memoryview, *, is_bundled: bool
) -> None:
    """Give *model* the block classifier whose weights are *data*, or the reason why it has none."""
    shapes = {row["name"]: tuple(map(_count, row["shape"])) for row in header["arrays"]}
    if not is_bundled:
        model.unusable_classifier = _why_unusable(model, header["inputs"], shapes)
    if not model.unusable_classifier:
        model.classifier = _classifier(shapes, data)


def _why_unusable(model: Model, inputs: Inputs, shapes: Mapping[str, object]) -> str:
    """Why this version cannot use a block classifier; an empty string if it can."""
    if model.restarted:
        return f"it was trained with other counts of {', '.join(model.restarted)}"
    if other := difference(inputs, classifier_inputs()):
        return f"it was trained with other inputs: {other}"
    names = _shapes(dict.fromkeys(NETWORKS, (1,))).keys()
    if shapes.keys() != names:
        found = ", ".join(shapes) or "none"
        return f"it has other parts: its weights are {found}; expected were {', '.join(names)}"
    return ""


def _classifier(shapes: Mapping[str, tuple[int, ...]], data: memoryview) -> BlockClassifier:
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
    n_inputs = len(INPUTS)
    shapes: dict[str, tuple[int, ...]] = {"evidence_weights": (len(POOLINGS) + 1,)}
    for name, (n_hidden_and_bias,) in outputs.items():
        shapes[f"{name}_mean"] = shapes[f"{name}_scale"] = (n_inputs,)
        shapes[f"{name}_hidden"] = (n_inputs + 1, n_hidden_and_bias - 1)
        shapes[f"{name}_output"] = (n_hidden_and_bias,)
    shapes["page_weights"] = (len(page_feature_names()) + 1,)
    shapes["confidence_weights"] = (len(CONFIDENCE_FEATURES) + 1,)
    return shapes


def _count(number: object, limit: float = float("inf")) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= limit:
        raise ValueError(f"{number!r} where a count up to {limit} was expected")
    return number


def _pack(types: Sequence[str], *columns: NDArray[Any]) -> bytes:
    """A block of *columns* as these *types*; the first ascends, and is stored as differences."""
    ascending, *others = columns
    rows = (np.diff(ascending, prepend=ascending.dtype.type(0)), *others)
    raw = b"".join(row.astype(kind).tobytes() for kind, row in zip(types, rows, strict=True))
    return zlib.compress(raw, COMPRESSION)


def _unpack(types: Sequence[str], block: memoryview, n_rows: int) -> tuple[NDArray[Any], ...]:
    """The columns that were packed as *block*; no more than *n_rows* are unpacked."""
    ends = np.cumsum([n_rows * np.dtype(kind).itemsize for kind in types]).tolist()
    raw = zlib.decompressobj().decompress(block, ends[-1] + 1)
    if len(raw) != ends[-1]:
        raise ValueError(f"{len(raw)} bytes where {ends[-1]} were announced")
    starts = zip(types, [0, *ends], strict=False)
    differences, *others = (np.frombuffer(raw, kind, n_rows, start) for kind, start in starts)
    return np.cumsum(differences, dtype=np.uint64), *others


def _unpack_counts(block: memoryview, filled: int, n_buckets: int) -> tuple[Ints, Table]:
    if filled > n_buckets:
        raise ValueError(f"{filled} buckets for a table of {n_buckets}")
    buckets, outside, inside = _unpack(COUNTS, block, filled)
    if filled and buckets[-1] >= n_buckets:
        raise ValueError(f"bucket {buckets[-1]} in a table of {n_buckets}")
    counts = np.stack((outside, inside), axis=1).astype(np.uint32, copy=False)
    return buckets.astype(np.int32), counts


def _unpack_keys(block: memoryview, n_keys: int) -> LearnedPages:
    keys, generations = _unpack(KEYS, block, n_keys)
    if not n_keys or not (keys[1:] > keys[:-1]).all():
        raise ValueError("keys of pages that are not in ascending order")
    return LearnedPages(keys, generations.astype(np.uint32))


Inputs: TypeAlias = dict[str, list[list[str]]]  # of each part of a classifier: (name, digest)

# Values are compared in thousandths: machines differ in the last bit of a logarithm.
PRECISION = 1000

PROBE_URL = "https://news.example/tag/2024/05/06/the-ferry-sails-again-123"
# A page on which no two features have the same values, if they are not always the same.
PROBE = """<!DOCTYPE html><html><head><title>The ferry sails again this Monday</title>
<meta name="description" content="The ferry sails again this Monday after four years.">
<script type="application/ld+json">{"@type": "NewsArticle", "author": "A"}</script></head><body>
<nav class="menu main"><ul><li><a href="/">Home</a></li><li><a href="/n">News</a></li></ul></nav>
<main><h1>The ferry sails again</h1><article class="story-body" id="s1"><p>After four years, the
ferry sails again: 12 passengers came on Monday. "We waited," said Ann.</p><h2>Rolls</h2>
<blockquote><p>A baker brought rolls; nobody paid!</p></blockquote><p>Read
<a href="/more">more on ferries</a> here.</p><div hidden>Not shown</div><table><tr><td>Six
minutes</td></tr></table><ol><li>One way: 40 minutes</li></ol><figure><figcaption>The
ferry</figcaption></figure><pre>x = 1</pre><section><p>The end?</p></section></article></main>
<aside><h3>More</h3><form><button>Subscribe now</button><select><option>Daily</option></select>
</form></aside><section><div class="story-text"><p>The harbour was empty for most of the year,
and nobody knew when a ship would come, or whether one would come at all: that is what Ann told us
when we met her on the pier. She had a table, a lamp and a book in which she wrote who came, and it
had been blank since the spring before last, when the last of the old crew had gone home for good.
</p><p>Twelve names, now.</p></div><ul><li>Crew: Bell, Carr, Dunn, Earl, Ford</li></ul></section>
<h1>Fares</h1><p>One way is four, and both ways are six.</p><footer><dl><dd>Imprint</dd></dl>
<p>Home</p></footer></body></html>"""


@cache
def classifier_inputs() -> Inputs:
    """The inputs that this version computes: their names, and a digest of their values on a page.

    The weights of a classifier are valid only with the inputs with which it was trained: one that
    was added, removed, moved or computed differently under the same name is recognized and named.
    """
    page = Page.of(PROBE, url=PROBE_URL)
    blocks = len(page.blocks)
    evidence = np.sin(np.arange(len(POOLINGS) * blocks)).reshape(len(POOLINGS), blocks)
    inputs = block_inputs(page, evidence, evidence[0])
    probability = np.linspace(0.1, 0.9, blocks)
    kept = probability > 0.4  # noqa: PLR2004
    read = ReadPage(page, inputs, probability, kept, threshold(page, probability))
    of_page = zip(page_feature_names(), page_features(read), strict=True)
    of_confidence = zip(CONFIDENCE_FEATURES, confidence_features(read), strict=True)
    counts = new_counts(list(dict.fromkeys(pooling.family for pooling in POOLINGS)))
    counts.learn(page, page.blocks.of_token % 2 == 1)  # half of the page is an article
    rows = zip(POOLINGS, block_evidence(page, counts), strict=True)
    return {
        "evidence": [[pooling.name, _digest(row)] for pooling, row in rows],
        "blocks": [[name, _digest(column)] for name, column in inputs.columns.items()],
        "pages": [[name, _digest(value)] for name, value in of_page],
        "confidence": [[name, _digest(value)] for name, value in of_confidence],
    }


def _digest(values: Floats) -> str:
    rounded = np.round(values * PRECISION).astype("<i8")
    return f"{crc32(rounded.tobytes()):08x}"


def difference(stored: Inputs, computed: Inputs) -> str:
    """The first input of a file that is not the same in this version; empty if all are."""
    for part in dict.fromkeys((*computed, *stored)):
        pairs = zip_longest(stored.get(part, []), computed.get(part, []), fillvalue=["nothing", ""])
        for number, (there, here) in enumerate(pairs, 1):
            if there != here:
                ours = "but computed in another way" if there[0] == here[0] else f"here {here[0]}"
                return f"input {number} of its {part} is {there[0]}, {ours}"
    return ""
