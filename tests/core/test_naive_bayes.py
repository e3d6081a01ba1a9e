from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.features import FAMILIES, LAYOUT, NAME_BITS, NAMES
from scrapy_mss.core.naive_bayes import LARGEST_COUNT, LAYOUT_SMOOTHING, NaiveBayes, logistic
from scrapy_mss.markup.attributes import words_of_tag
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.models.profiles import DEFAULT
from tests.core.oracle_bayes import DictionaryBayes, Feature, features_of
from tests.helpers.effort import examples
from tests.helpers.layouts import LAYOUTS, ODD, tag_of
from tests.helpers.news_pages import news_page

PAPER = ("trigram", "unclosed_tag")
CLEANEVAL = ("unigram", "unclosed_tag")

# Few different tokens, so that features come again, inside and outside.
PIECES = ["<p>", "</p>", "<b>", "</b>", "one ", "two ", "three ", ". ", "7 "]
PAGES = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@st.composite
def labelled(draw: st.DrawFn, pages: st.SearchStrategy[str] = PAGES) -> tuple[Tokens, Bools]:
    """A page with a label for each token."""
    tokens = tokenize(draw(pages))
    labels = draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)))
    return tokens, np.array(labels, np.bool_)


EXAMPLES = st.lists(labelled(), max_size=7)
NAMED = st.lists(labelled(LAYOUTS), max_size=4)


def learned(families: Sequence[str], pages: Sequence[tuple[Tokens, Bools]]) -> NaiveBayes:
    bayes = NaiveBayes(families)
    for tokens, inside in pages:
        bayes.learn(bayes.features(tokens), inside, names=bayes.names(tokens, inside))
    return bayes


def state(bayes: NaiveBayes) -> dict[str, object]:
    """All that a model knows: its filled buckets and its sums."""
    filled = {
        name: {i: counts[i].tolist() for i in np.flatnonzero(counts.view(np.uint64)).tolist()}
        for name, counts in bayes.counts.items()
    }
    return {"counts": filled, "tokens": bayes.tokens.tolist(), "pages": bayes.pages}


def assert_no_bucket_is_shared(families: Sequence[str], pages: Sequence[Tokens]) -> None:
    """Different features are in different buckets, so that the oracle must agree."""
    bayes = NaiveBayes(families)
    places: dict[tuple[int, int], Feature] = {}
    for tokens in pages:
        for family, row in enumerate(bayes.features(tokens).tolist()):
            for bucket, features in zip(row, features_of(tokens, families), strict=True):
                assert places.setdefault((family, bucket), features[family]) == features[family]


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("families", [PAPER, CLEANEVAL, ("trigram",)])
@given(pages=EXAMPLES, page=PAGES)
@examples(0.5)
def test_evidence_is_that_of_exact_features_in_dictionaries(
    families: Sequence[str],
    neighbours: bool,  # noqa: FBT001
    pages: list[tuple[Tokens, Bools]],
    page: str,
) -> None:
    asked = tokenize(page)
    assert_no_bucket_is_shared(families, [asked, *(tokens for tokens, _ in pages)])
    bayes, oracle = learned(families, pages), DictionaryBayes(families)
    for tokens, inside in pages:
        oracle.learn(tokens, inside)

    odds = bayes.log_odds(bayes.features(asked), neighbours=neighbours)
    probability = bayes.probability(bayes.features(asked), neighbours=neighbours)

    np.testing.assert_allclose(odds, oracle.log_odds(asked, neighbours=neighbours), atol=1e-12)
    expected = oracle.probability(asked, neighbours=neighbours)
    np.testing.assert_allclose(probability, expected, atol=1e-12)


@pytest.mark.parametrize("n_chunks", [1, 2, 7])
@given(pages=EXAMPLES)
@examples(0.2)
def test_counts_are_the_same_in_any_number_of_portions(
    n_chunks: int, pages: list[tuple[Tokens, Bools]]
) -> None:
    at_once = learned(CLEANEVAL, pages)

    merged = NaiveBayes(CLEANEVAL)
    for chunk in range(n_chunks):
        merged.merge(learned(CLEANEVAL, pages[chunk::n_chunks]))

    assert state(merged) == state(at_once)


def test_tables_learned_in_portions_and_merged_are_identical() -> None:
    pages = [(page.tokens, page.inside) for page in map(news_page, range(14))]
    at_once = learned(PAPER, pages)

    for n_chunks in (1, 2, 7):
        merged = NaiveBayes(PAPER)
        for chunk in range(n_chunks):
            merged.merge(learned(PAPER, pages[chunk::n_chunks]))

        for name, counts in at_once.counts.items():
            assert np.array_equal(merged.counts[name], counts)
        assert merged.tokens.tolist() == at_once.tokens.tolist()


def test_a_model_that_became_another_holds_its_counts_and_no_more() -> None:
    page, other = news_page(1), news_page(2)
    goal = learned(PAPER, [(page.tokens, page.inside)])
    bayes = learned(PAPER, [(other.tokens, other.inside)])
    tables = list(bayes.counts.values())

    bayes.become(goal)

    assert state(bayes) == state(goal)
    assert all(one is table for one, table in zip(tables, bayes.counts.values(), strict=True))
    bayes.learn(bayes.features(other.tokens), other.inside)
    assert state(goal) == state(learned(PAPER, [(page.tokens, page.inside)]))


@given(pages=EXAMPLES)
@examples(0.2)
def test_pages_learned_as_one_batch_of_features_give_the_same_counts(
    pages: list[tuple[Tokens, Bools]],
) -> None:
    one_by_one = learned(PAPER, pages)

    batch = NaiveBayes(PAPER)
    features = [batch.features(tokens) for tokens, _ in pages]
    labels = [inside for _, inside in pages]
    if pages:
        batch.learn(np.concatenate(features, axis=1), np.concatenate(labels), pages=len(pages))

    assert state(batch) == state(one_by_one)


@given(pages=EXAMPLES)
@examples(0.2)
def test_the_order_of_pages_does_not_matter(pages: list[tuple[Tokens, Bools]]) -> None:
    assert state(learned(PAPER, pages)) == state(learned(PAPER, pages[::-1]))


def test_a_feature_counts_as_often_as_it_stands_in_a_page() -> None:
    bayes = NaiveBayes(["unigram"])
    tokens = tokenize("one one one two")

    bayes.learn(bayes.features(tokens), np.array([True, True, False, False]))

    first, *_, last = bayes.features(tokens)[0].tolist()
    assert bayes.counts["unigram"][first].tolist() == [1, 2]
    assert bayes.counts["unigram"][last].tolist() == [1, 0]
    assert bayes.tokens.tolist() == [2, 2]
    assert bayes.pages == 1


def test_evidence_of_a_feature_by_hand() -> None:
    bayes = NaiveBayes(["unigram"])
    tokens = tokenize("one one one two")
    bayes.learn(bayes.features(tokens), np.array([True, True, False, False]))

    one, two, new = bayes.log_odds(bayes.features(tokenize("one two new"))).tolist()

    # As many tokens inside as outside: the prior says nothing.
    assert one == pytest.approx(log(2.5 / 1.5))
    assert two == pytest.approx(log(0.5 / 1.5))
    assert new == 0


def test_the_prior_is_what_was_learned_of_each_side() -> None:
    bayes = NaiveBayes(["unigram"])
    tokens = tokenize("one " * 9)
    bayes.learn(bayes.features(tokens), np.arange(9) < 3)

    (odds,) = bayes.log_odds(bayes.features(tokenize("one"))).tolist()

    prior, likelihood = log(4 / 7), log(3.5 / 4) - log(6.5 / 7)
    assert odds == pytest.approx(prior + likelihood)


def test_a_token_of_which_nothing_was_seen_is_neutral() -> None:
    bayes = NaiveBayes(PAPER)
    tokens = tokenize("<p>one " * 9)
    bayes.learn(bayes.features(tokens), np.zeros(len(tokens), np.bool_))

    assert bayes.probability(bayes.features(tokenize("<div>two"))).tolist() == [0.5, 0.5]


def test_a_token_is_judged_by_the_features_that_were_seen() -> None:
    bayes = NaiveBayes(PAPER)
    tokens = tokenize("<p>one " * 9)
    bayes.learn(bayes.features(tokens), np.zeros(len(tokens), np.bool_))

    _, new_word = bayes.log_odds(bayes.features(tokenize("<p>two"))).tolist()

    prior, likelihood = log(1 / 19), log(0.5 / 1) - log(18.5 / 19)
    assert new_word == pytest.approx(prior + likelihood)


def test_an_unseen_token_takes_the_features_of_both_neighbours() -> None:
    bayes = NaiveBayes(["unigram"])
    tokens = tokenize("in in out out")
    bayes.learn(bayes.features(tokens), np.array([True, True, False, False]))
    seen_in = log(2.5 / 0.5)

    odds = bayes.log_odds(bayes.features(tokenize("in x in y out z")), neighbours=True)

    assert odds.tolist() == pytest.approx([seen_in, 2 * seen_in, seen_in, 0, -seen_in, -seen_in])


def test_an_unseen_token_beside_unseen_tokens_stays_neutral() -> None:
    bayes = NaiveBayes(["unigram"])
    bayes.learn(bayes.features(tokenize("in")), np.array([True]))

    odds = bayes.log_odds(bayes.features(tokenize("in a b c in")), neighbours=True)

    assert odds[2] == 0


@pytest.mark.parametrize("families", [PAPER, CLEANEVAL, ()])
def test_a_model_that_learned_nothing_is_neutral(families: Sequence[str]) -> None:
    bayes = NaiveBayes(families)

    probability = bayes.probability(bayes.features(tokenize("<p>one two")))

    assert probability.tolist() == [0.5, 0.5, 0.5]


def test_a_page_without_tokens_counts_as_a_page() -> None:
    bayes = NaiveBayes(PAPER)

    bayes.learn(bayes.features(tokenize("")), np.zeros(0, np.bool_))

    assert state(bayes) == {**state(NaiveBayes(PAPER)), "pages": 1}
    assert bayes.probability(bayes.features(tokenize(""))).tolist() == []


@given(st.lists(st.floats(allow_nan=False), max_size=9))
def test_logistic_never_overflows(odds: list[float]) -> None:
    probability = logistic(np.array(odds, np.float64))

    assert np.all((probability >= 0) & (probability <= 1))
    assert np.all(np.diff(probability[np.argsort(odds)]) >= 0)


def test_models_of_different_features_do_not_add_up() -> None:
    with pytest.raises(ValueError, match=r"this one has trigram, .*the other unigram"):
        NaiveBayes(PAPER).merge(NaiveBayes(["unigram"]))


@pytest.fixture
def nearly_full() -> NaiveBayes:
    """A model in which "one" was counted as often outside as a bucket can hold but two."""
    bayes = NaiveBayes(["unigram"])
    bucket = bayes.features(tokenize("one"))[0, 0]
    bayes.counts["unigram"][bucket, 0] = LARGEST_COUNT - 2
    return bayes


def test_learning_stops_before_a_count_runs_over(nearly_full: NaiveBayes) -> None:
    outside = np.zeros(3, np.bool_)
    page = nearly_full.features(tokenize("one one one"))
    before = state(nearly_full)

    with pytest.raises(OverflowError, match="go on with a new one"):
        nearly_full.learn(page, outside)

    assert state(nearly_full) == before
    nearly_full.learn(page[:, :2], outside[:2])
    assert nearly_full.counts["unigram"].max() == LARGEST_COUNT
    assert nearly_full.has_room(nearly_full.features(tokenize("two")))


def test_merging_stops_before_a_count_runs_over(nearly_full: NaiveBayes) -> None:
    inside = np.zeros(3, np.bool_)
    other = NaiveBayes(["unigram"])
    other.learn(other.features(tokenize("one one one")), inside)
    before = state(nearly_full)

    with pytest.raises(OverflowError, match="32 bits"):
        nearly_full.merge(other)

    assert state(nearly_full) == before


def test_memory_is_the_tables_whatever_is_learned() -> None:
    bayes = NaiveBayes(PAPER)
    tables = list(bayes.counts.values())
    expected = sum(2 * 4 << FAMILIES[name].bits for name in PAPER)

    tokens = tokenize(" ".join(f"w{n}" for n in range(1000)))
    bayes.learn(bayes.features(tokens), np.ones(1000, np.bool_))

    assert all(one is other for one, other in zip(tables, bayes.counts.values(), strict=True))
    assert sum(table.nbytes for table in tables) == expected


def name_bucket(word: str) -> int:
    """The bucket of a name, from a page that has it alone."""
    tokens = tokenize(f'<div class="{word}">x</div>')
    named = NaiveBayes([NAMES]).names(tokens, np.zeros(len(tokens), np.bool_))
    assert named is not None
    (bucket,) = named.buckets.tolist()
    return int(bucket)


def names_by_hand(pages: Sequence[tuple[Tokens, Bools]]) -> dict[str, list[int]]:
    """For each name how many tokens stand in elements of that name, outside and inside.

    Of an element's own tags the opening one stands in it.
    """
    counts: dict[str, list[int]] = {}
    for tokens, inside in pages:
        for at in range(len(tokens)):
            for opened in range(at + 1):
                closed, name = int(tokens.partner[opened]), tag_of(tokens, opened)
                if at < closed and tokens.kind[opened] == 0 and name in BLOCK_TAGS:
                    start, end = tokens.clean_start[opened], tokens.clean_end[opened]
                    for word in words_of_tag(tokens.clean[start:end]):
                        counts.setdefault(word, [0, 0])[int(inside[at])] += 1
    return counts


@given(pages=NAMED)
@examples(0.5)
def test_names_are_counted_for_each_token_of_each_element(
    pages: list[tuple[Tokens, Bools]],
) -> None:
    counts = learned(DEFAULT.families, pages).counts[NAMES]

    expected = {name_bucket(word): both for word, both in names_by_hand(pages).items()}
    filled = np.flatnonzero(counts.any(axis=1)).tolist()
    assert {bucket: counts[bucket].tolist() for bucket in filled} == expected


@pytest.mark.parametrize("n_chunks", [2, 3])
@given(pages=NAMED)
@examples(0.2)
def test_names_and_layout_are_the_same_in_any_number_of_portions(
    n_chunks: int, pages: list[tuple[Tokens, Bools]]
) -> None:
    merged = NaiveBayes(DEFAULT.families)
    for chunk in range(n_chunks):
        merged.merge(learned(DEFAULT.families, pages[chunk::n_chunks]))

    assert state(merged) == state(learned(DEFAULT.families, pages))


def test_names_are_counted_where_they_are_asked_for_alone() -> None:
    tokens, inside = news_page(0).tokens, news_page(0).inside

    assert NaiveBayes(PAPER).names(tokens, inside) is None
    assert NAMES not in NaiveBayes(PAPER).counts
    assert list(NaiveBayes(DEFAULT.families).counts) == list(DEFAULT.families)
    assert NaiveBayes(DEFAULT.families).counts[NAMES].shape == (1 << NAME_BITS, 2)


@pytest.mark.parametrize("family", sorted(LAYOUT))
def test_a_single_page_makes_no_layout_sure(family: str) -> None:
    """All words of a page stand in one element: they count as little as the doubt allows."""
    source = f"<div class=story>{'one ' * 30}</div>{'two ' * 29}"
    tokens = tokenize(source)
    bayes = learned([family], [(tokens, tokens.passages.of == 0)])
    bucket = np.flatnonzero(bayes.counts[family][:, 1])[-1:].astype(np.int32)

    (ratio,), (seen,) = bayes.ratio(family, bucket)

    outside, inside = bayes.counts[family][bucket[0]].tolist()
    doubt = LAYOUT_SMOOTHING
    balance = log((bayes.tokens[1] + 1) / (bayes.tokens[0] + 1))
    assert seen
    assert ratio == pytest.approx(log((inside + doubt) / (outside + doubt)) - balance)
    assert abs(ratio) < 0.25


def test_learning_stops_before_a_count_of_names_runs_over() -> None:
    tokens = tokenize("<div class=story>one two three</div>")
    bayes, inside = NaiveBayes([NAMES]), np.ones(5, np.bool_)
    features, names = bayes.features(tokens), bayes.names(tokens, inside)
    bayes.counts[NAMES][name_bucket("story"), 1] = LARGEST_COUNT - 3

    with pytest.raises(OverflowError, match="go on with a new one"):
        bayes.learn(features, inside, names=names)

    assert bayes.pages == 0
    bayes.counts[NAMES][name_bucket("story"), 1] = LARGEST_COUNT - 4
    bayes.learn(features, inside, names=names)
    assert bayes.counts[NAMES].max() == LARGEST_COUNT


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_are_learned(name: str) -> None:
    tokens = tokenize(ODD[name])
    inside = tokens.passages.of >= 0
    bayes = NaiveBayes(DEFAULT.families)

    bayes.learn(bayes.features(tokens), inside, names=bayes.names(tokens, inside))

    assert bayes.tokens.tolist() == [int((~inside).sum()), int(inside.sum())]
    assert np.isfinite(bayes.log_odds(bayes.features(tokens))).all()
