from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from research.bench.resampling import Resampler, interval

SHARES = st.floats(0, 1)


@given(arrays(np.float64, 12, elements=SHARES), st.integers(1, 12))
def test_means_are_means(values: np.ndarray[tuple[int], np.dtype[np.float64]], sites: int) -> None:
    sample = Resampler([str(n % sites) for n in range(12)], resamples=50).sample(values)

    assert sample is not None
    assert sample.mean == pytest.approx(values.mean())
    assert (sample.resampled >= values.min() - 1e-9).all()
    assert (sample.resampled <= values.max() + 1e-9).all()


def test_pages_of_a_site_are_drawn_together() -> None:
    """Of two sites a resample has one twice or both: never a part of one."""
    values = np.array([0.0] * 3 + [1.0] * 3)

    sample = Resampler(["a"] * 3 + ["b"] * 3, resamples=200).sample(values)

    assert sample is not None
    assert set(sample.resampled) == {0.0, 0.5, 1.0}


def test_pages_without_a_value_do_not_count() -> None:
    sample = Resampler(["a", "b"], resamples=200).sample(np.array([np.nan, 1.0]))

    assert sample is not None
    assert sample.mean == 1
    assert interval(sample.resampled) == (1, 1)


def test_the_interval_is_as_wide_as_theory_has_it() -> None:
    """With a page a site, the mean of n values varies by their deviation over the root of n."""
    values = np.random.default_rng(0).normal(size=400)
    sample = Resampler([str(n) for n in range(400)], resamples=4000).sample(values)

    assert sample is not None
    low, high = interval(sample.resampled) or (0, 0)

    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.05)
