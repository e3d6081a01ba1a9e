from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.cetr import Cetr, CetrKMeans, CetrThreshold, kernel, slopes, smooth
from research.systems.clustering import kmeans
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


def lines_of(source: str) -> list[str]:
    """The first word or tag of each line of a page that is all shown."""
    tokens = tokenize(source)
    at = np.arange(len(tokens))
    firsts = np.flatnonzero(np.diff(page_lines(tokens, at), prepend=-1))
    return [tokens.clean[tokens.clean_start[i] : tokens.clean_end[i]] for i in firsts]


def ratios(source: str) -> list[float]:
    tokens = tokenize(source)
    at = np.arange(len(tokens))
    values: list[float] = line_ratios(tokens, at, page_lines(tokens, at)).tolist()
    return values


def content(system: LineSystem, values: Floats) -> list[int]:
    found: list[int] = np.flatnonzero(system.content(values)).tolist()
    return found


def test_the_tag_ratios_of_the_papers_example() -> None:
    """Characters outside tags over tags, or over one where there are none.

    A division alone; 11 characters and 2 tags; two lines of text; 22 characters, the blank behind
    the tags among them, and 2 tags; two tags alone.
    """
    assert ratios(EXAMPLE) == [0, 11 / 2, 37, 30, 22 / 2, 0]


def test_a_line_has_the_characters_that_it_shows() -> None:
    cases = [
        ("one two", 7),
        ("  one \t two  ", 7),
        ("<b>one</b> two", 7 / 2),
        ("<b>one</b>   <b>two</b>", 7 / 4),
        ("<b> one</b>", 4 / 2),
        ("<b>one </b>", 4 / 2),
        ("<br>", 0),
        ("&eacute;t\u00e9, \u4e2d\u6587", 7),
    ]

    # Lines beside it, lest it hold more than half of the page.
    found = [(line, ratios(f"{'x' * 40}\n{line}\n{'y' * 40}")) for line, _ in cases]

    assert found == [(line, [40, expected, 40]) for line, expected in cases]


def test_lines_end_at_line_breaks_and_empty_ones_do_not_count() -> None:
    doctype, comments = "\n<!doctype x>\n", "<!-- -->\n<!--\n-->\r\n"
    breaks = ["\n", "\r", "\r\n", "\n\n\n", "\n \t\n", comments, doctype]

    found = {each: ratios(f"{each}aaaa{each}bbb<br>{each}cccc{each}") for each in breaks}

    assert found == {each: [4, 3, 4] for each in breaks}


def test_a_tag_is_part_of_the_line_in_which_it_begins() -> None:
    source = f"{'a' * 30}\n<a\nhref='\n\n'\n>bbbb\n{'c' * 30}"

    assert ratios(source) == [30, 4, 30]


@pytest.mark.parametrize("code", ["<script>{}</script>", "<STYLE\n>{}</STYLE >", "<!--{}-->"])
def test_scripts_styles_and_comments_change_nothing(code: str) -> None:
    system = Cetr()
    hidden = code.format("\nword word word word word word word word word word word word\n" * 9)
    plain = MENU + ARTICLE + MENU

    assert system.extract(MENU + f"{hidden}\n" + ARTICLE + hidden + MENU) == system.extract(plain)


def test_a_page_in_one_line_is_broken_every_65_characters() -> None:
    # Words of four and a blank: 13 of them are 65 characters, so the 14th begins a line.
    source = " ".join(f"w{number:03}" for number in range(30)) + "<br>"

    assert lines_of(source) == ["w000", "w013", "w026"]


def test_lines_are_broken_behind_a_tag_or_a_word_if_at_all() -> None:
    cases = [
        # The tag at the 65th character is not broken, nor is a word; the next line then has 65.
        (f"{'a' * 60} <a href='{'x' * 30}'>b{'b' * 70} c", ["a" * 60, "b" * 71, "c"]),
        (f"{'a' * 60} {'b' * 20} {'c' * 60} d<br>", ["a" * 60, "c" * 60]),
        (f"{'a' * 60} {'b' * 20} {'c' * 70} d<br>", ["a" * 60, "c" * 70, "d"]),
        # Of 65 characters the last is the 64th behind the first.
        (f"{'a' * 63} b c<br>", ["a" * 63, "c"]),
        (f"{'a' * 64} b c<br>", ["a" * 64, "b"]),
        # More than half in one line: broken. Half: not.
        (f"aa\n{'b ' * 40}<br>", ["aa", "b"]),
        (f"{'a ' * 40}\n{'b ' * 40}<br>", ["a", "a", "b"]),
        (f"{'a' * 90}\n{'b' * 86}<br>", ["a" * 90, "b" * 86]),
    ]

    assert [(source, lines_of(source)) for source, _ in cases] == cases


@pytest.mark.parametrize("text", ["1 < 2\n\n& 3", "short\n" * 99 + "long " * 99])
def test_a_page_without_tags_is_all_text(text: str) -> None:
    system = Cetr()
    assert system.extract(text) == " ".join(text.split())
    assert system.extract(f"<script>var a</script>{text}") == " ".join(text.split())


@pytest.mark.parametrize("system", SYSTEMS)
def test_lines_that_nothing_tells_apart_are_all_text(system: LineSystem) -> None:
    assert system.extract("<p>one</p>") == "one"
    assert content(system, np.full(9, 7.0)) == list(range(9))


def test_a_kernel_is_a_normal_distribution_out_to_the_deviation() -> None:
    one, more = np.exp(-1 / 2), np.exp(-1 / 2 / 1.5**2)
    far = np.exp(-4 / 2 / 1.5**2)

    assert kernel(1.0) == pytest.approx(np.array([one, 1, one]) / (1 + 2 * one))
    assert kernel(1.5) == pytest.approx(
        np.array([far, more, 1, more, far]) / (1 + 2 * more + 2 * far)
    )


def test_smoothing_spreads_a_ratio_over_its_neighbours() -> None:
    # The deviation is 1, so each value takes 0.4519 of itself and 0.2741 of each neighbour.
    assert smooth(np.array([0.0, 2, 0, 2])) == pytest.approx(
        [0.54814, 0.90373, 1.09627, 0.90373], abs=1e-5
    )


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


def test_a_slope_is_the_mean_of_the_next_three_less_the_value() -> None:
    assert slopes(np.array([1.0, 2, 3, 4, 8])) == pytest.approx(
        [3 - 1, 5 - 2, 4 - 3, 8 / 3 - 4, 0 - 8]
    )


def test_the_threshold_is_a_multiple_of_the_deviation_of_the_smoothed_ratios() -> None:
    # Smoothed as above, mean 0.86282, deviation 0.19806.
    values = np.array([0.0, 2, 0, 2])

    assert content(CetrThreshold(), values) == [0, 1, 2, 3]
    assert content(CetrThreshold(factor=0.54 / 0.19806), values) == [0, 1, 2, 3]
    assert content(CetrThreshold(factor=0.56 / 0.19806), values) == [1, 2, 3]
    assert content(CetrThreshold(factor=1.09 / 0.19806), values) == [2]
    assert content(CetrThreshold(factor=1.10 / 0.19806), values) == []


@given(RATIOS, st.floats(0, 3), st.floats(0, 3))
def test_a_higher_factor_keeps_no_line_that_a_lower_one_drops(
    values: Floats, one: float, other: float
) -> None:
    low, high = sorted((one, other))

    kept = set(content(CetrThreshold(factor=high), values))

    assert kept <= set(content(CetrThreshold(factor=low), values))


def test_what_is_not_in_the_cluster_closest_to_the_origin_is_content() -> None:
    values = np.array([9.0, 1, 5, 0, 6, 9])

    assert outside_lowest(values, np.array([0, 2, 1, 2, 1, 0])).tolist() == [
        True, False, True, False, True, True,
    ]  # fmt: skip
    assert outside_lowest(values, np.array([1, 1, 1, 1, 1, 1])).all()


@pytest.mark.parametrize("seed", range(2))
def test_kmeans_keeps_both_clusters_above_the_lowest(seed: int) -> None:
    # Levels of 0, 100 and 200, wider than what smoothing takes from beside them.
    levels = np.repeat([0.0, 100, 0, 200, 0], 400)

    kept = content(CetrKMeans(seed=seed), levels)

    assert set(range(480, 720)) | set(range(1280, 1520)) <= set(kept)
    assert not set(kept) & {*range(240), *range(960, 1040), *range(1760, 2000)}


@pytest.mark.parametrize("seed", range(2))
def test_a_line_before_a_steep_rise_is_content_for_its_slope(seed: int) -> None:
    """The first of the five lines is 30; by their smoothed ratios alone 27 and 28 are too low."""
    values = np.repeat([0.0, 4, 0], [30, 5, 30])

    by_ratio = kmeans(smooth(values)[:, np.newaxis], 3, seed=seed, hold_origin=True)

    kept = content(Cetr(seed=seed), values)
    assert np.flatnonzero(by_ratio).tolist() == list(range(29, 36))
    assert kept == list(range(27, 36))


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_article_between_menus_is_found_with_its_short_lines(system: LineSystem) -> None:
    half = ARTICLE[: len(ARTICLE) // 2]

    text = system.extract(f"<body>{MENU}{half}{LIST}{half}{MENU}</body>")

    assert text.count("what happened") == 40
    assert text.count("A short line.") == 3
    assert text.count("menu") < 60


def test_kept_lines_are_paragraphs_as_a_browser_shows_them() -> None:
    system = Cetr()
    article = ARTICLE.replace("to whom,", "to &lt;whom&gt;,\n  <i>and</i>&nbsp; where,")

    text = system.extract(MENU + article + MENU)

    paragraph = (
        "A paragraph that says what happened, to <whom>, and where, and what is going to be done."
    )
    assert text.split("\n\n").count(paragraph) == 40


def test_kept_tokens_are_whole_lines() -> None:
    system = Cetr()
    located = system.locate(MENU + ARTICLE + MENU)

    tokens, kept = located.tokens, located.kept
    lines = page_lines(tokens, np.arange(len(tokens)))
    assert len(np.unique(lines)) == 160
    assert not set(lines[kept].tolist()) & set(lines[~kept].tolist())
    assert 0 < kept.sum() < len(tokens)
