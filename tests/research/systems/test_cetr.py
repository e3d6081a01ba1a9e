from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.cetr import Cetr, CetrKMeans, CetrThreshold, kernel, smooth
from research.systems.tag_ratios import LineSystem, line_ratios, outside_lowest, page_lines
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Floats

SYSTEMS: list[LineSystem] = [CetrThreshold(), CetrKMeans(), Cetr()]

# Few tags a line; the parts of a page are told apart by the words in them.
MENU = '<li><a href="/menu">menu</a></li>\n' * 60
ARTICLE = (
    "<p>A paragraph that says what happened, to whom, and what is going to be done.</p>\n" * 40
)
LIST = "<li>A short line.</li>\n" * 3

EXAMPLE = """\
<div id="storyPageContent2">
<div id="author">James Smith</div>
OKLAHOMA CITY - Police were told that
The Oklahoman reported Sunday.
<br><br> Jones had an article.
</div></div>
"""

RATIOS = st.lists(
    st.one_of(st.just(0.0), st.integers(0, 9).map(float), st.floats(0, 1e4)),
    min_size=1,
    max_size=40,
).map(lambda numbers: np.array(numbers, np.float64))


def ratios(source: str) -> list[float]:
    tokens = tokenize(source)
    at = np.arange(len(tokens))
    values: list[float] = line_ratios(tokens, at, page_lines(tokens, at)).tolist()
    return values


def test_the_tag_ratios_of_the_papers_example() -> None:
    """Characters outside tags over tags, or over one where there are none.

    A division alone; 11 characters and 2 tags; two lines of text; 22 characters, the blank behind
    the tags among them, and 2 tags; two tags alone.
    """
    assert ratios(EXAMPLE) == [0, 11 / 2, 37, 30, 22 / 2, 0]


@given(RATIOS)
def test_smoothing_is_the_sum_of_the_papers_formula(values: Floats) -> None:
    """Beyond the ends of the page there is nothing, however far the kernel reaches."""
    deviation = float(np.std(values))
    weights = kernel(deviation) if deviation else np.ones(1)
    reach = len(weights) // 2

    expected = [
        sum(weights[j + reach] * values[i - j] for j in range(-reach, reach + 1) if 0 <= i - j < n)
        for n in [len(values)]
        for i in range(n)
    ]

    assert smooth(values) == pytest.approx(expected, abs=1e-6)


def test_what_is_not_in_the_cluster_closest_to_the_origin_is_content() -> None:
    values = np.array([9.0, 1, 5, 0, 6, 9])

    assert outside_lowest(values, np.array([0, 2, 1, 2, 1, 0])).tolist() == [
        True, False, True, False, True, True,
    ]  # fmt: skip
    assert outside_lowest(values, np.array([1, 1, 1, 1, 1, 1])).all()


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_article_between_menus_is_found_with_its_short_lines(system: LineSystem) -> None:
    half = ARTICLE[: len(ARTICLE) // 2]

    text = system.extract(f"<body>{MENU}{half}{LIST}{half}{MENU}</body>")

    assert text.count("what happened") == 40
    assert text.count("A short line.") == 3
    assert text.count("menu") < 60
