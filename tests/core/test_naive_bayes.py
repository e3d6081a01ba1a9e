from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.families import CLASS_WORDS, FAMILIES, LAYOUT_SMOOTHING, SHAPE, new_counts
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.features import UNIGRAM, Family
from scrapy_mss.core.naive_bayes import IN, MAX_COUNT, OUT, NaiveBayes, Observation, logistic
from scrapy_mss.crawl.processes import packed
from scrapy_mss.markup.tokens import Bools
from tests.core.oracle_bayes import DictionaryBayes, Feature, features_of
from tests.helpers.effort import examples
from tests.helpers.layouts import LAYOUTS, ODD

PAPER = ("trigram", "unclosed_tag")
CLEANEVAL = ("unigram", "unclosed_tag")
# All families, with tables so small that features share buckets.
SMALL = [replace(family, bits=12) for family in FAMILIES.values()]

Example: TypeAlias = tuple[Page, Bools]

# Few different tokens, so that features are repeated, inside and outside.
PIECES = ["<p>", "</p>", "<b>", "</b>", "one ", "two ", "three ", ". ", "7 "]
SOURCES = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@st.composite
def labelled(draw: st.DrawFn, sources: st.SearchStrategy[str] = SOURCES) -> Example:
    """A page with a label for each token."""
    page = Page.of(draw(sources))
    n = len(page.tokens)
    return page, np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)


EXAMPLES = st.lists(labelled(), max_size=7)
LAYOUT_EXAMPLES = st.lists(labelled(LAYOUTS), max_size=4)


def learned(families: Sequence[str | Family[Page]], pages: Sequence[Example]) -> NaiveBayes[Page]:
    bayes = NaiveBayes([FAMILIES[f] if isinstance(f, str) else f for f in families])
    for page, inside in pages:
        bayes.learn(page, inside)
    return bayes


def state(bayes: NaiveBayes[Page]) -> dict[str, object]:
    """All that a classifier knows: its counts that are not 0, its sums and its digest."""
    filled = {
        name: {i: counts[i].tolist() for i in np.flatnonzero(counts.view(np.uint64)).tolist()}
        for name, counts in bayes.counts.items()
    }
    return {
        "counts": filled,
        "tokens": bayes.tokens.tolist(),
        "pages": bayes.pages,
        "digest": bayes.digest,
    }


def unigrams(source: str, inside: Sequence[bool]) -> NaiveBayes[Page]:
    """What is learned from the words of one page."""
    return learned(["unigram"], [(Page.of(source), np.array(inside, np.bool_))])


def assert_no_bucket_is_shared(families: Sequence[str], pages: Sequence[Page]) -> None:
    """Different features are in different buckets, so that the oracle must agree."""
    features: dict[tuple[str, int], Feature] = {}
    for page in pages:
        exact = features_of(page.tokens, families)
        for column, name in enumerate(families):
            buckets = FAMILIES[name].values(page, FAMILIES[name].bits).bucket.tolist()
            for bucket, row in zip(buckets, exact, strict=True):
                assert features.setdefault((name, bucket), row[column]) == row[column]


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("families", [PAPER, CLEANEVAL, ("trigram",)])
@given(pages=EXAMPLES, source=SOURCES)
@examples(0.5)
def test_evidence_is_that_of_exact_features_in_dictionaries(
    families: Sequence[str], *, neighbours: bool, pages: list[Example], source: str
) -> None:
    page = Page.of(source)
    assert_no_bucket_is_shared(families, [page, *(learned_page for learned_page, _ in pages)])
    bayes, oracle = learned(families, pages), DictionaryBayes(families)
    for learned_page, inside in pages:
        oracle.learn(learned_page.tokens, inside)

    odds = bayes.log_odds(page, neighbours=neighbours)
    probability = bayes.probability(page, neighbours=neighbours)

    expected = oracle.log_odds(page.tokens, neighbours=neighbours)
    np.testing.assert_allclose(odds, expected, atol=1e-12)
    expected = oracle.probability(page.tokens, neighbours=neighbours)
    np.testing.assert_allclose(probability, expected, atol=1e-12)


def counted_one_by_one(family: Family[Page], pages: Sequence[Example]) -> dict[int, list[int]]:
    """The counts of a family, from its values, a token at a time."""
    counts: Counter[tuple[int, bool]] = Counter()
    for page, inside in pages:
        values = family.values(page, family.bits)
        for bucket, start, end in np.array(values).T.tolist():
            counts.update((bucket, is_inside) for is_inside in inside[start:end].tolist())
    return {
        bucket: [counts[bucket, False], counts[bucket, True]]
        for bucket in sorted({bucket for bucket, _ in counts})
    }


@given(pages=LAYOUT_EXAMPLES)
@examples(2)
def test_every_family_s_values_are_counted_for_each_of_their_tokens(pages: list[Example]) -> None:
    found = learned(SMALL, pages)

    expected = {family.name: counted_one_by_one(family, pages) for family in SMALL}
    labels = np.concatenate([np.zeros(0, np.bool_), *(inside for _, inside in pages)])
    assert state(found)["counts"] == expected
    assert found.tokens.tolist() == [int((~labels).sum()), int(labels.sum())]
    assert found.pages == len(pages)


@pytest.mark.parametrize("n_parts", [2, 7])
@given(pages=LAYOUT_EXAMPLES)
@examples(0.5)
def test_merged_parts_are_the_same_as_the_whole(n_parts: int, pages: list[Example]) -> None:
    merged = learned(SMALL, [])
    for part in range(n_parts):
        merged.merge(learned(SMALL, pages[part::n_parts]))

    assert state(merged) == state(learned(SMALL, pages))


@given(pages=st.lists(labelled(), min_size=1, max_size=4), data=st.data())
def test_the_digest_names_pages_and_labels(pages: list[Example], data: st.DataObject) -> None:
    digest = learned(["unigram"], pages).digest
    changed = data.draw(st.integers(0, len(pages) - 1))
    page, inside = pages[changed]
    others = [pages[:changed] + pages[changed + 1 :], [*pages, pages[changed]]]
    if len(inside):
        token = data.draw(st.integers(0, len(inside) - 1))
        relabelled = page, inside ^ (np.arange(len(inside)) == token)
        others.append([*pages[:changed], relabelled, *pages[changed + 1 :]])

    digests = [learned(["unigram"], other).digest for other in others]

    assert digest not in digests
    assert len(set(digests)) == len(digests)


@given(st.lists(labelled(LAYOUTS), max_size=5), st.integers(0, 5))
def test_tables_and_filled_buckets_are_the_same_counts(pages: list[Example], n: int) -> None:
    """Whether tables are made before, between or after what is learned."""
    bayes, without_tables = learned(SMALL, pages[:n]), learned(SMALL, pages)
    assert bayes.counts
    observed = [bayes.observe(page, inside) for page, inside in pages[n:]]
    for each in observed:
        bayes.add(each)

    totals = bayes.total(), without_tables.total()

    assert packed(totals[0]) == packed(totals[1])
    copy = NaiveBayes(SMALL)
    copy.add(totals[0])
    assert state(copy) == state(bayes) == state(without_tables)


def test_many_filled_buckets_become_tables() -> None:
    family = replace(UNIGRAM, bits=12)
    bayes, tables = learned([family], []), learned([family], [])
    assert tables.counts
    for number in range(70):
        page = Page.of(" ".join(f"w{n}" for n in range(30 * number, 30 * number + 40)))
        for each in (bayes, tables):
            each.learn(page, np.arange(40) % 2 == 0)

    (total, _), (expected, _) = (each.total().counts["unigram"] for each in (bayes, tables))

    assert total.tolist() == expected.tolist()
    assert len(total) > 2**9
    assert state(bayes) == state(tables)


def test_a_bucket_that_no_table_has_is_not_added() -> None:
    """Another process may have sent it."""
    bayes = learned(SMALL, [])
    counts = {"unigram": (np.array([2**12], np.int32), np.ones((1, 2), np.uint32))}

    with pytest.raises(IndexError, match="'unigram'"):
        bayes.add(Observation(counts, np.ones(2, np.int64), 0))

    assert state(bayes) == state(learned(SMALL, []))


def test_families_of_runs_have_no_scores_of_tokens() -> None:
    page = Page.of("<div class=story>one two</div>")
    bayes = learned(["class_words"], [(page, np.ones(4, np.bool_))])

    with pytest.raises(ValueError, match=r"'class_words' has 1 values for 4 tokens"):
        bayes.log_odds(page)


@pytest.mark.parametrize("family", [SHAPE, CLASS_WORDS], ids=lambda family: family.name)
def test_a_single_page_makes_no_layout_certain(family: Family[Page]) -> None:
    """All words of an article are in one element: the doubt counts as much as they do."""
    page = Page.of(f"<div class=story>{'one ' * 30}</div>{'two ' * 29}")
    bayes = learned([family], [(page, page.blocks.of_token == 0)])
    table = bayes.counts[family.name]
    bucket = np.flatnonzero(table[:, IN]).astype(np.int32)

    (ratio,), (seen,) = bayes.log_ratio(family, bucket)

    n_outside, n_inside = table[bucket[0]].tolist()
    prior = log((bayes.tokens[IN] + 1) / (bayes.tokens[OUT] + 1))
    expected = log((n_inside + LAYOUT_SMOOTHING) / (n_outside + LAYOUT_SMOOTHING)) - prior
    assert seen
    assert ratio == pytest.approx(expected)
    assert abs(ratio) < 0.25


@given(st.lists(st.floats(allow_nan=False), max_size=9))
def test_logistic_never_overflows(odds: list[float]) -> None:
    probability = logistic(np.array(odds, np.float64))

    assert np.all((probability >= 0) & (probability <= 1))
    assert np.all(np.diff(probability[np.argsort(odds)]) >= 0)


def test_counts_of_different_features_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match=r"this one has trigram, .*the other unigram"):
        new_counts(PAPER).merge(new_counts(["unigram"]))


@pytest.fixture(params=["tables", "filled buckets"])
def nearly_full(request: pytest.FixtureRequest) -> NaiveBayes[Page]:
    """Counts with room for two more occurrences of "one" outside."""
    bayes = new_counts(["unigram"])
    bucket = UNIGRAM.values(Page.of("one"), UNIGRAM.bits).bucket[:1]
    counts = np.array([[MAX_COUNT - 2, 0]], np.uint32)
    bayes.add(Observation({"unigram": (bucket, counts)}, np.zeros(2, np.int64), 0, 0))
    assert request.param != "tables" or bayes.counts
    return bayes


def test_no_count_overflows_by_learning_or_merging(nearly_full: NaiveBayes[Page]) -> None:
    outside = np.zeros(3, np.bool_)
    before = state(nearly_full)

    with pytest.raises(OverflowError, match="start a new one"):
        nearly_full.learn(Page.of("one one one"), outside)
    with pytest.raises(OverflowError, match="start a new one"):
        nearly_full.merge(unigrams("two one one one", [False] * 4))

    assert state(nearly_full) == before
    nearly_full.merge(unigrams("two one", [False] * 2))
    nearly_full.learn(Page.of("one"), outside[:1])
    assert nearly_full.counts["unigram"].max() == MAX_COUNT
    assert not nearly_full.has_room(nearly_full.observe(Page.of("one"), outside[:1]))
    assert nearly_full.has_room(nearly_full.observe(Page.of("two"), outside[:1]))


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_are_learned(name: str) -> None:
    page = Page.of(ODD[name])
    inside = page.blocks.of_token >= 0

    bayes = learned(SMALL, [(page, inside)])

    assert bayes.tokens.tolist() == [int((~inside).sum()), int(inside.sum())]
    assert bayes.pages == 1
    assert np.isfinite(learned(CLEANEVAL, [(page, inside)]).log_odds(page)).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_counts_of_its_own() -> None:
    bayes = NaiveBayes([UNIGRAM])
    pid = os.fork()
    if not pid:
        bayes.counts[UNIGRAM.name][7] = 1
        os._exit(0)
    os.waitpid(pid, 0)

    assert not bayes.counts[UNIGRAM.name].any()
