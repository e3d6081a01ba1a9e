"""What a page counts, and what follows from counts that were added up."""

from __future__ import annotations

import random
import re
from collections import Counter
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.items import Article
from scrapy_mss.quality.counts import (
    ARTICLES,
    CONFIDENCE,
    KNOWN,
    MAX_COUNTED,
    MAX_NAMES,
    OPEN,
    PAGES,
    PLACE,
    WORDS,
    added,
    bounded,
    n_words,
    of_page,
    of_place,
)

FULL = Article(
    "http://a.example/1",
    title="Rain",
    text="It fell on Monday.",
    authors=["Ada"],
    published="2026-03-01",
    main_image="http://a.example/1.png",
    confidence=0.93,
)


def test_an_article_counts_what_it_has() -> None:
    bare = Article("http://a.example/2", text="It fell.")

    assert of_page(FULL) == {
        PAGES: 1,
        ARTICLES: 1,
        "title": 1,
        "authors": 1,
        "published": 1,
        "main_image": 1,
        f"words/{WORDS.bucket(4)}": 1,
        "confidence/18": 1,
    }
    assert of_page(bare) == {PAGES: 1, ARTICLES: 1, f"words/{WORDS.bucket(2)}": 1}
    assert of_page(None) == {PAGES: 1}


@given(
    st.text(max_size=40) | st.text(st.sampled_from("a_ é1-\u0301漢字\ud800\U0001f600\U00020000"))
)
def test_words_are_runs_of_letters_digits_and_underscores(text: str) -> None:
    assert n_words(text) == len(re.findall(r"\w+", text))


@pytest.mark.parametrize(
    ("kind", "n_articles", "n_open"),
    [("article", 1, 1), ("live_blog", 1, 1), ("teaser", 0, 1), ("consent", 0, 0), ("shell", 0, 0)],
)
def test_an_item_of_another_kind_is_a_page_and_no_article(
    kind: str, n_articles: int, n_open: int
) -> None:
    counts = of_page(FULL, kind)

    assert counts[ARTICLES] == counts["title"] == n_articles
    assert (counts[f"kind/{kind}"], counts[KNOWN], counts[OPEN]) == (1, 1, n_open)


def test_a_median_is_near_that_of_the_numbers() -> None:
    chance = random.Random(1)
    for _ in range(50):
        numbers = [chance.lognormvariate(6, 1) for _ in range(200)]
        counts = Counter(f"words/{WORDS.bucket(number)}" for number in numbers)

        assert WORDS.quantile(counts, 0.5) == pytest.approx(median(numbers), rel=1 / 6)


def test_a_number_is_in_its_bucket() -> None:
    numbers = {CONFIDENCE: [0.0, 0.05, 0.15, 0.9, 0.95, 1.0], WORDS: range(1, 3000, 7)}
    for scale, inside in numbers.items():
        for number in inside:
            bucket = scale.bucket(number)
            assert scale.start(bucket) <= number + 1e-6
            assert number < scale.start(bucket + 1)


def test_nothing_has_no_median() -> None:
    assert WORDS.quantile({}, 0.5) is None
    assert WORDS.quantile({"words/3": 0, "words/x": 9, "words/99999": 1}, 0.5) is None


def test_what_pages_can_name_is_bounded() -> None:
    total: Counter[str] = Counter()
    for number in range(1000):
        total = added(total, of_place(number))
        total = added(total, of_place(0))
    places = {name for name in total if name.startswith(PLACE)}
    assert len(places) == MAX_COUNTED
    assert sum(name.startswith(PLACE) for name in bounded(total)) == MAX_NAMES
    assert total[f"{PLACE}00000000"] == 1001


def test_a_place_that_is_new_in_the_course_of_a_day_is_counted() -> None:
    total: Counter[str] = Counter()
    for number in [*range(MAX_NAMES), *range(MAX_NAMES), *([99] * 10)]:
        total = added(total, of_place(number))

    assert bounded(total)[f"{PLACE}{99:08x}"] == 10
