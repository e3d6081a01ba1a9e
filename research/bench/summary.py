"""From rows to numbers: means with intervals, differences of pairs, speed, and slices.

Strategy: a statistic is a row of `STATISTICS`: the columns of a page's score that it averages,
and what it makes of the averages. Every table goes through that one list, so a statistic that is
added there has an interval, a difference and a place in each slice. A statistic whose column is
nowhere known (ROUGE-LSum when not asked for) is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from research.bench.resampling import Resampler, interval
from research.bench.scoring import PageScore

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95 % interval, where there is one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Speed:
    """Time for a page, over the pages that did not fail; *times_lxml* is a median of ratios."""

    pages: int
    ms_median: float | None
    ms_mean: float | None
    ms_p95: float | None
    mb_per_s: float | None
    times_lxml: float | None


@dataclass(frozen=True, slots=True)
class Slice:
    """The scores of one language or site, without intervals: most are too small for one."""

    name: str
    pages: int
    failures: int
    metrics: dict[str, float | None]


Estimates = dict[str, Estimate | None]


def _itself(mean: Floats) -> Floats:
    return mean


def _harmonic(p: Floats, r: Floats) -> Floats:
    """F1 of two means; 0 where both are."""
    total = p + r
    return np.divide(2 * p * r, total, out=np.zeros_like(total), where=total != 0)


class Statistic(NamedTuple):
    """Columns of `PageScore` and what is made of their means."""

    columns: tuple[str, ...]
    combined: Callable[..., Floats] = _itself


STATISTICS: Final[Mapping[str, Statistic]] = {
    "p": Statistic(("p",)),
    "r": Statistic(("r",)),
    "f1": Statistic(("f1",)),
    "best_p": Statistic(("best_p",)),
    "best_r": Statistic(("best_r",)),
    "best_f1": Statistic(("best_f1",)),
    "shingle_p": Statistic(("shingle_p",)),
    "shingle_r": Statistic(("shingle_r",)),
    "shingle_f1": Statistic(("shingle_p", "shingle_r"), _harmonic),
    "cleaneval": Statistic(("cleaneval",)),
    "rouge": Statistic(("rouge",)),
    "position_p": Statistic(("position_p",)),
    "position_r": Statistic(("position_r",)),
    "position_f1": Statistic(("position_f1",)),
    "poor": Statistic(("poor",)),
}


class Draw(NamedTuple):
    """A statistic over all pages, and over the pages of each resample."""

    value: float
    resampled: Floats


Draws = Mapping[str, Draw | None]


def draws(rows: Sequence[PageScore], resampler: Resampler) -> Draws:
    """Compute every statistic of *rows* on every resample."""
    return {name: _draw(rows, resampler, each) for name, each in STATISTICS.items()}


def _draw(rows: Sequence[PageScore], resampler: Resampler, statistic: Statistic) -> Draw | None:
    samples = [resampler.sample(_column(rows, name)) for name in statistic.columns]
    known = [sample for sample in samples if sample is not None]
    if len(known) < len(samples):
        return None
    value = statistic.combined(*(np.array([sample.mean]) for sample in known))
    return Draw(float(value[0]), statistic.combined(*(sample.resampled for sample in known)))


def _column(rows: Sequence[PageScore], name: str) -> Floats:
    """One score of all pages, float64[n_pages]; nan where it is not known."""
    return np.array([getattr(row, name) for row in rows], dtype=np.float64)


def estimates(drawn: Draws) -> Estimates:
    """Value and interval of every statistic."""
    return {name: _estimate(each) for name, each in drawn.items()}


def differences(one: Draws, other: Draws) -> Estimates:
    """Return *one* minus *other*, paired: both sides saw the same resamples."""
    return {name: _estimate(_minus(one[name], other[name])) for name in STATISTICS}


def _minus(one: Draw | None, other: Draw | None) -> Draw | None:
    if one is None or other is None:
        return None
    return Draw(one.value - other.value, one.resampled - other.resampled)


def _estimate(draw: Draw | None) -> Estimate | None:
    if draw is None:
        return None
    return Estimate(draw.value, *(interval(draw.resampled) or (None, None)))


def slices(rows: Sequence[PageScore], key: str) -> list[Slice]:
    """The scores by `lang` or `site`, the one with most pages first."""
    groups: dict[str, list[PageScore]] = {}
    for row in rows:
        groups.setdefault(getattr(row, key), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_slice(name, group) for name, group in ordered]


def _slice(name: str, rows: Sequence[PageScore]) -> Slice:
    drawn = draws(rows, Resampler([""] * len(rows)))
    values = {key: draw.value if draw else None for key, draw in drawn.items()}
    return Slice(name, len(rows), failures(rows), values)


def failures(rows: Sequence[PageScore]) -> int:
    """Count the pages on which the system raised something."""
    return sum(row.error is not None for row in rows)


def first_errors(rows: Sequence[PageScore], count: int = 3) -> list[str]:
    """The first messages, each with its page."""
    return [f"{row.id}: {row.error}" for row in rows if row.error is not None][:count]


def speed(rows: Sequence[PageScore]) -> Speed:
    """How long a page took."""
    good = [row for row in rows if row.error is None]
    if not good:
        return Speed(0, None, None, None, None, None)
    ms = np.array([row.ms for row in good])
    ratios = [row.ms / row.lxml_ms for row in good if row.lxml_ms]
    size, seconds = sum(row.bytes for row in good) / 1e6, float(ms.sum()) / 1e3
    return Speed(
        pages=len(good),
        ms_median=float(np.median(ms)),
        ms_mean=float(ms.mean()),
        ms_p95=float(np.percentile(ms, 95)),
        mb_per_s=size / seconds if seconds else None,
        times_lxml=float(np.median(ratios)) if ratios else None,
    )
