"""Naive Bayes over hashed counts: how often each feature occurred inside an article and outside.

The counts are the only state. Learning adds to them, so that pages in any order and any number of
portions, or two models merged, give the same tables; everything else is derived when asked, for
the features of one page, which is a few thousand look-ups and needs no table of logarithms to be
kept up to date.

For a token with features f the evidence is log P(in) / P(out), by how many tokens of each were
learned, and for each family

    log P(f | in) / P(f | out),   P(f | c) = (count of f in c + 1/2) / (tokens in c + 1)

where a family may set another smoothing than 1/2. A feature never seen is neutral: its ratio is 1,
as in the paper. So is a token of which no feature was ever seen: it has probability 1/2, or a
site's new words would all count as outside.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from math import exp
from typing import Generic, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.core.features import Family, PageT, Values
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tokens import Bools, Counts, Floats, Indices, Ints, Tokens, prefix_sums

# Where a bucket's 32-bit count would overflow, learning stops: at a hundred tokens of one kind
# a page that is after forty million pages, when there is nothing left to learn.
MAX_COUNT = 2**32 - 1
MAX_TOTAL = 2**54  # tokens or pages: as many as the counts of a full table of 2**22 buckets
CERTAIN = 30.0  # log-odds of a probability that is as good as 0 or 1
MAX_EXPONENT = 500.0  # of e: a probability beyond is 0 or 1, and no number overflows
DIGEST_BITS = 64

PORTION = 2**16  # rows; half a megabyte, which processors have in their caches
COUNTED = 2**13  # rows that are sorted at a time, with 50 bytes for each
# The buckets of a table are filled in no order, so all of its pages are: few large ones, which only
# Linux has, take a third of the time.
HUGE_PAGES: int | None = getattr(mmap, "MADV_HUGEPAGE", None)

OUT, IN = 0, 1

Table: TypeAlias = NDArray[np.uint32]
# Of each family the filled buckets and their (out, in) counts: int32[n] ascending, uint32[n, 2].
Filled: TypeAlias = Mapping[str, tuple[Ints, Table]]

ADDED_AT_ONCE = 32  # pages whose filled buckets are added up
# Of the buckets of all tables: as long as fewer are filled, adding up takes some milliseconds.
MOST_FILLED = 1 / 8


@dataclass(frozen=True, slots=True)
class Observation:
    """What labelled pages add, mostly one: buckets and (out, in) counts a family, tokens, a digest.

    A bucket is there once, however often it occurs in a page: what is added is as small as it can
    be, for it is sent between processes and added where nothing else may wait.
    """

    counts: Filled
    tokens: Counts  # int64[2]
    digest: int
    pages: int = 1
    highest: int = field(init=False)  # of the counts

    def __post_init__(self) -> None:
        """Check what another process may have sent."""
        highest = 0
        for bucket, counts in self.counts.values():
            if (*bucket.shape, 2) != counts.shape or bucket.ndim != 1:
                raise ValueError(f"expected counts of {bucket.shape} buckets, got {counts.shape}")
            if (bucket[:1] < 0).any() or (bucket[1:] <= bucket[:-1]).any():
                raise ValueError("expected buckets in ascending order, each once")
            highest = max(highest, int(counts.max(initial=0)))
        if self.tokens.shape != (2,) or self.tokens.min() < 0 or self.pages < 0:
            raise ValueError(f"expected two numbers of tokens, got {self.tokens}")
        object.__setattr__(self, "highest", highest)

    def uncounted(self) -> Observation:
        """What the same pages add that are learned without being counted: their digest."""
        return Observation({}, np.zeros(2, np.int64), self.digest, 0)


class NaiveBayes(Generic[PageT]):
    """In and out counts for each family of features.

    ``tokens`` is int64[2], the tokens learned. ``digest`` is the sum of the digests of all pages
    learned, so it names the counts whatever the order or the crawl in which the pages came.

    Until counts are looked up, only the filled buckets are kept, mostly a tenth of the tables: what
    is sent, stored or added up needs no more.
    """

    def __init__(self, families: Sequence[Family[PageT]]) -> None:
        self.families = tuple(families)
        self._sizes = {family.name: 1 << family.bits for family in families}
        # What was added, or tables of it. One attribute: threads may read with the same counts.
        self._added: list[Filled] | dict[str, Table] = []
        self._highest = 0  # what no count of a list exceeds
        self.tokens: NDArray[np.int64] = np.zeros(2, np.int64)
        self.pages = 0
        self.digest = 0

    def observe(self, page: PageT, inside: Bools) -> Observation:
        """What is learned from *page* if the tokens *inside* (bool[n_tokens]) are its article."""
        before = prefix_sums(inside).astype(np.uint32)
        counts = {
            family.name: _counted(family.values(page, family.bits), before)
            for family in self.families
        }
        n_inside = int(before[-1])
        tokens = np.array([len(inside) - n_inside, n_inside])
        return Observation(counts, tokens, page_digest(page.tokens, inside))

    @property
    def counts(self) -> dict[str, Table]:
        """Of each family uint32[buckets, 2], the (out, in) counts, in tables made when asked."""
        added = self._added
        if isinstance(added, dict):
            return added
        tables = {name: _new_table(size) for name, size in self._sizes.items()}
        for filled in added:
            _add_to(tables, filled)
        self._added = tables
        return tables

    def total(self) -> Observation:
        """All that was learned, as what adds it to none."""
        added = self._added
        if isinstance(added, dict):
            filled = {name: _filled_of(table) for name, table in added.items()}
        else:
            filled = {
                name: _sum_of([each[name] for each in added if name in each])
                for name in self._sizes
            }
            self._added = [filled]
        return Observation(filled, self.tokens.copy(), self.digest, self.pages)

    def has_room(self, observation: Observation) -> bool:
        """Whether no count would overflow by adding *observation*, of no more buckets than ours."""
        for name, (bucket, _) in observation.counts.items():
            if len(bucket) and bucket[-1] >= self._sizes[name]:
                raise IndexError(f"a bucket of {name!r} is not in a table of {self._sizes[name]}")
        totals = *(self.tokens + observation.tokens).tolist(), self.pages + observation.pages
        if max(totals) > MAX_TOTAL:
            return False
        if isinstance(self._added, list) and self._highest + observation.highest <= MAX_COUNT:
            return True
        return all(
            np.all(_counts_at(bucket, self.counts[name]) <= MAX_COUNT - more)
            for name, (bucket, more) in observation.counts.items()
        )

    def add(self, observation: Observation) -> None:
        """Count the pages that *observation* is of."""
        if not self.has_room(observation):
            raise OverflowError(_FULL)
        if isinstance(self._added, list) and len(self._added) >= ADDED_AT_ONCE:
            filled = self.total().counts.values()
            if sum(len(each) for each, _ in filled) > MOST_FILLED * sum(self._sizes.values()):
                _ = self.counts
        if isinstance(self._added, dict):
            _add_to(self._added, observation.counts)
        else:
            self._added.append(observation.counts)
            self._highest += observation.highest
        self.tokens += observation.tokens
        self.pages += observation.pages
        self.digest = _added(self.digest, observation.digest)

    def learn(self, page: PageT, inside: Bools) -> None:
        """Count *page*, whose article is the tokens *inside* (bool[n_tokens])."""
        self.add(self.observe(page, inside))

    def merge(self, other: NaiveBayes[PageT]) -> None:
        """Add what *other* has learned."""
        if self._sizes != other._sizes:
            raise ValueError(
                f"models of different features cannot be added: this one has "
                f"{', '.join(self._sizes)}, the other {', '.join(other._sizes)}"
            )
        if max(*(self.tokens + other.tokens).tolist(), self.pages + other.pages) > MAX_TOTAL:
            raise OverflowError(_TOO_MANY)
        self.add(other.total())

    def log_ratio(self, family: Family[PageT], bucket: Ints) -> tuple[Floats, Bools]:
        """log P(f | in) / P(f | out) of the features in *bucket*, and which were ever seen."""
        ratio = np.empty(len(bucket))
        for some in portions(len(bucket)):
            ratio[some] = _ratios(self.counts[family.name], bucket[some], family.smoothing)
        seen = ratio < np.inf
        np.log(ratio, out=ratio)
        ratio -= self.prior
        ratio[~seen] = 0.0
        return ratio, seen

    @property
    def prior(self) -> float:
        """log P(in) / P(out) of any token."""
        outside, inside = self.tokens.tolist()
        return float(np.log((inside + 1) / (outside + 1)))

    def log_odds(self, page: PageT, *, neighbours: bool = False) -> Floats:
        """The evidence that each token is inside, as a logarithm: float64[n_tokens].

        Each family must have one value a token. With *neighbours*, a token whose feature was never
        seen takes those of the token before and the token after it instead (the paper's smoothing
        for pages unlike the training's).
        """
        n_tokens = len(page.tokens)
        total, known = np.zeros(n_tokens), np.zeros(n_tokens, np.bool_)
        for family in self.families:
            ratio, seen = self.log_ratio(family, _one_a_token(family, page).bucket)
            total += _with_neighbours(ratio, seen) if neighbours else ratio
            known |= seen
        return np.where(known, total + self.prior, total)

    def probability(self, page: PageT, *, neighbours: bool = False) -> Floats:
        """The probability that each token is inside: float64[n_tokens]."""
        return logistic(self.log_odds(page, neighbours=neighbours))


_FULL = "a count would exceed 32 bits: this model cannot learn any more, start a new one"
_TOO_MANY = f"there would be more than {MAX_TOTAL} pages or tokens: one of the models is damaged"


def _new_table(n_buckets: int) -> Table:
    """Zeros uint32[n_buckets, 2] in memory of their own, which returns to the system with them.

    Tables are made at each checkpoint of a crawl, and malloc would keep the space of some of them.
    The access is that of a copy, or a process and those that it forks would share their counts.
    """
    size = 2 * n_buckets * np.dtype(np.uint32).itemsize
    buffer = mmap.mmap(-1, size, access=mmap.ACCESS_COPY)
    if HUGE_PAGES is not None:
        with suppress(OSError):  # a kernel that has none
            buffer.madvise(HUGE_PAGES)
    return np.frombuffer(buffer, np.uint32).reshape(n_buckets, 2)


def _add_to(tables: Mapping[str, Table], filled: Filled) -> None:
    """Add what is *filled* to *tables*, two counts as one number: neither exceeds its 32 bits."""
    for name, (bucket, more) in filled.items():
        tables[name].view(np.uint64)[bucket] += more.view(np.uint64)


def _filled_of(table: Table) -> tuple[Ints, Table]:
    # Of bools, which takes a quarter of the time.
    bucket = np.flatnonzero(table.reshape(-1).view(np.uint64) != 0).astype(np.int32)
    return bucket, _counts_at(bucket, table)


def _counts_at(bucket: Ints, table: Table) -> Table:
    """The rows of *bucket*, two counts at one look-up."""
    return table.reshape(-1).view(np.uint64).take(bucket).view(np.uint32).reshape(-1, 2)


def _sum_of(parts: Sequence[tuple[Ints, Table]]) -> tuple[Ints, Table]:
    """The buckets that are filled by any of *parts*."""
    if len(parts) == 1 and parts[0][1].any(axis=1).all():
        return parts[0]
    bucket, counts = map(np.concatenate, zip(_NO_COUNTS, *parts, strict=True))
    # Sorted runs, which a stable sort takes as they are.
    bucket, counts = _summed(bucket, counts, bucket.argsort(kind="stable"))
    is_filled = counts.any(axis=1)
    return bucket[is_filled], counts[is_filled]


_NO_COUNTS = np.zeros(0, np.int32), np.zeros((0, 2), np.uint32)


def portions(n: int, size: int = PORTION) -> Iterator[slice]:
    """All of *n* rows, so many at a time that what is computed of them is small."""
    return (slice(at, at + size) for at in range(0, n, size))


def _ratios(counts: Table, bucket: Ints, smoothing: float) -> Floats:
    """How often each feature was inside for each time outside, smoothed; inf if it was not seen."""
    both = counts.reshape(-1).view(np.uint64).take(bucket)  # two at one look-up
    smoothed = both.view(np.uint32).reshape(-1, 2) + smoothing
    return np.where(both > 0, smoothed[:, IN] / smoothed[:, OUT], np.inf)


def page_digest(tokens: Tokens, inside: Bools) -> int:
    """A hash of a labelled page: of its tokens, its attributes, and which tokens are *inside*."""
    digest = blake2b(tokens.token_id.astype("<u8").tobytes(), digest_size=DIGEST_BITS // 8)
    digest.update(tokens.clean.encode("utf-8", "surrogatepass"))  # class words are no tokens
    digest.update(np.packbits(inside).tobytes())
    return int.from_bytes(digest.digest(), "little")


@accelerated()
def logistic(log_odds: Floats) -> Floats:
    """The probability behind *log_odds*."""
    return 1.0 / (1.0 + np.exp(-np.minimum(np.maximum(log_odds, -MAX_EXPONENT), MAX_EXPONENT)))


def log_odds(probability: Floats, bound: float = CERTAIN) -> Floats:
    """float64[n]: the log-odds of *probability*, within *bound*."""
    least = 1 / (1 + exp(bound))
    bounded = np.minimum(np.maximum(probability, least), 1 - least)
    odds: Floats = np.log(bounded) - np.log1p(-bounded)
    return odds


def _added(one: int, other: int) -> int:
    """The sum of two digests, in as many bits as each has."""
    return (one + other) % (1 << DIGEST_BITS)


def _counted(values: Values, before: NDArray[np.uint32]) -> tuple[Ints, Table]:
    """Each bucket of *values* once, and how many tokens have it, (out, in).

    *before* is uint32[n_tokens + 1], the tokens inside before each. Values are counted in portions:
    for all at once a dense page would take more memory than for anything else.
    """
    parts = list[tuple[Ints, Table]]()
    for some in portions(len(values.bucket), COUNTED):
        bucket, start, end = (column[some] for column in values)
        both = np.empty((len(bucket), 2), np.uint32)
        both[:, IN] = before[end] - before[start]
        both[:, OUT] = end - start - both[:, IN]
        parts.append(_summed(bucket, both, bucket.argsort()))
    return parts[0] if len(parts) == 1 else _sum_of(parts)


def _summed(bucket: Ints, counts: Table, order: Indices) -> tuple[Ints, Table]:
    """Each bucket once, in *order*, and the sum of its *counts* (uint32[n, 2])."""
    if not len(bucket):
        return bucket, counts
    bucket = bucket[order]
    first = np.append(0, np.flatnonzero(bucket[1:] != bucket[:-1]) + 1)
    # Two counts as one number, of which no half overflows: rows take numpy ten times as long.
    pairs = counts.reshape(-1).view(np.uint64).take(order)
    return bucket[first], np.add.reduceat(pairs, first).view(np.uint32).reshape(-1, 2)


def _one_a_token(family: Family[PageT], page: PageT) -> Values:
    values = family.values(page, family.bits)
    if len(values.bucket) != len(page.tokens):
        raise ValueError(
            f"feature family {family.name!r} has {len(values.bucket)} values for "
            f"{len(page.tokens)} tokens; scores of tokens need one value a token"
        )
    return values


def _with_neighbours(ratio: Floats, seen: Bools) -> Floats:
    before = np.concatenate(([0.0], ratio[:-1]))
    after = np.concatenate((ratio[1:], [0.0]))
    return np.where(seen, ratio, before + after)
