"""What labelled pages teach: sums of sites, corrections by them, and the proof of their worth."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_mss.blocks import lessons
from scrapy_mss.blocks.lessons import (
    UNTAUGHT,
    Gain,
    Lessons,
    Readings,
    ScriptLesson,
    SiteSums,
    corrected,
    fitted,
)
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.places import N_PLACES, BlocksRead, places
from scrapy_mss.blocks.scripts import ARABIC, CYRILLIC, GREEK, HAN, KANA, LATIN, script_of
from scrapy_mss.blocks.traits import FIRST_TRAIT
from scrapy_mss.markup.tokens import Bools, Floats, Indices

N_BLOCKS = 12
TRAITS = np.uint64(2**24 - 1)  # the bits of a row's key


def page_of(site: str, words: int = 20, number: int = 0) -> Page:
    """A page of paragraphs, the last of which is a line that its site has below each article."""
    lines = [f"word{number} " * words for _ in range(N_BLOCKS - 1)]
    paragraphs = "".join(f"<p>{line}</p>" for line in [*lines, "Our newsletter comes at noon."])
    return Page.of(f"<article>{paragraphs}</article>", url=f"https://{site}/{number}")


ALL_BUT_LAST = np.arange(N_BLOCKS) < N_BLOCKS - 1
ALIKE = np.full(N_BLOCKS, 0.9)  # how the classifier reads all of its blocks


def lesson(
    page: Page, inside: Bools, alone: Floats = ALIKE, known: Lessons | None = None
) -> Lessons:
    return (known or Lessons()).of_page(inside, Readings(BlocksRead(page, alone), alone))


def taught(n_sites: int, n_pages: int = 2, inside: Bools = ALL_BUT_LAST) -> Lessons:
    """What pages of so many sites teach, each of whose articles is the blocks *inside*."""
    known = Lessons()
    for site in range(n_sites):
        for number in range(n_pages):
            page = page_of(f"site{site}.example", number=number)
            known.add(lesson(page, inside, known=known))
    return known


def rows_of(known: Lessons) -> tuple[list[int], list[list[int]]]:
    return known.keys.tolist(), known.sums.tolist()


LABELS = st.lists(st.booleans(), min_size=N_BLOCKS, max_size=N_BLOCKS)
PAGES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 70), LABELS), max_size=8)


@settings(max_examples=30)
@given(PAGES, st.randoms())
def test_sums_do_not_depend_on_the_order_of_pages_or_on_how_they_are_grouped(
    pages: list[tuple[int, int, list[bool]]], random: st.DataObject
) -> None:
    each = [
        lesson(page_of(f"{site}.example", words), np.array(inside)) for site, words, inside in pages
    ]
    shuffled = each.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    middle = len(each) // 2
    grouped = (Lessons.total(shuffled[:middle]), Lessons.total(shuffled[middle:]))

    assert rows_of(Lessons.total(grouped)) == rows_of(Lessons.total(each))
    assert Lessons.total(each).pages == pytest.approx(len(each), abs=1e-3)


FLOATS = st.floats(-3, 3)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, N_PLACES - 1), FLOATS, st.booleans()), min_size=1))
def test_a_correction_lowers_the_loss_that_it_was_fitted_to_by_what_is_said_at_least(
    blocks: list[tuple[int, float, bool]],
) -> None:
    place = np.array([each for each, _, _ in blocks])
    odds = np.array([each for _, each, _ in blocks])
    label = np.array([each for _, _, each in blocks], float)
    table = SiteSums(place, np.ones(len(place)), label - corrected(np.full(len(place), 0.5), odds))
    correction = fitted(table.normal_equations())

    slope, curvature = table.gain(correction)
    weight = Gain(np.array([slope]), np.array([curvature])).weight

    before = np.logaddexp(0, odds) - label * odds
    after_odds = odds + weight * correction[place]
    after = np.logaddexp(0, after_odds) - label * after_odds
    bound = weight * slope - weight**2 / 2 * curvature
    assert bound >= 0
    assert before.sum() - after.sum() >= bound - 1e-9


def test_the_fit_to_sums_of_sites_is_that_to_all_of_their_blocks() -> None:
    rng = np.random.default_rng(1)
    place, weight = rng.integers(0, N_PLACES, 40), rng.random(40)
    residual = rng.normal(size=40)

    one, other = (
        SiteSums(place[half::2], weight[half::2], residual[half::2]).normal_equations()
        for half in (0, 1)
    )

    assert np.allclose(
        fitted(one + other), fitted(SiteSums(place, weight, residual).normal_equations())
    )


def test_a_site_that_has_blocks_at_all_places_is_fitted_in_little_memory() -> None:
    place, ones = np.arange(N_PLACES), np.ones(N_PLACES)
    tracemalloc.start()
    try:
        SiteSums(place, ones, ones).normal_equations()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 60e6  # bytes; all pairs of terms at once take 440 million


def test_what_all_sites_leave_out_is_left_out_on_another_site() -> None:
    page = page_of("other.example")

    found = taught(6).taught(BlocksRead(page, ALIKE))

    assert found is not None
    assert found.by_site is None
    assert found.by_others[-1] < -1
    assert (corrected(ALIKE, found.by_others)[:-1] > 0.85).all()


def test_a_thread_that_asks_while_another_works_them_out_gets_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, of_sites, meanwhile = taught(6), Lessons._by_sites, list[ScriptLesson]()  # noqa: SLF001

    def ask(self: Lessons, rows: Sequence[Indices]) -> ScriptLesson:
        if not meanwhile:
            meanwhile.append(UNTAUGHT)  # so that this is done once
            meanwhile[0] = self.of_script(LATIN)
        return of_sites(self, rows)

    monkeypatch.setattr(Lessons, "_by_sites", ask)
    found = known.of_script(LATIN)

    assert found.correction is not None
    assert found.correction.tolist() == meanwhile[0].correction.tolist()  # type: ignore[union-attr]


def test_fewer_sites_than_the_fewest_teach_others_nothing() -> None:
    known = taught(lessons.FEWEST_SITES - 1, n_pages=9)

    assert known.taught(BlocksRead(page_of("other.example"), ALIKE)) is None


def test_sites_of_one_script_teach_no_other() -> None:
    greek = Page.of("<p>" + "ευτυχισμένοι άνθρωποι ζούνε. " * 9, url="https://g.gr/")

    assert taught(6).taught(BlocksRead(greek, np.full(1, 0.9))) is None


def test_sites_that_do_not_agree_teach_others_nothing() -> None:
    known = Lessons()
    rng = np.random.default_rng(7)
    for site in range(12):
        inside = rng.random(N_BLOCKS) < 0.9  # as the classifier has it: nothing to learn
        known.add(lesson(page_of(f"site{site}.example"), inside))

    found = known.taught(BlocksRead(page_of("other.example"), ALIKE))

    assert found is None or np.abs(found.by_others).max() < 0.5


def test_a_site_learns_from_its_own_pages_what_no_other_has() -> None:
    known = taught(1, n_pages=lessons.FEWEST_PAGES)

    own = known.taught(BlocksRead(page_of("site0.example", number=99), ALIKE))

    assert own is not None
    assert own.by_site is not None
    assert corrected(ALIKE, own.by_site)[-1] < 0.3
    assert known.taught(BlocksRead(page_of("other.example"), ALIKE)) is None


def test_a_site_whose_pages_do_not_agree_learns_nothing_from_them() -> None:
    known = Lessons()
    for number in range(6):
        inside = ALL_BUT_LAST if number % 2 else ~ALL_BUT_LAST
        page = page_of("site0.example", number=number)
        known.add(lesson(page, inside, known=known))

    assert known.taught(BlocksRead(page_of("site0.example"), np.full(N_BLOCKS, 0.5))) is None


def test_a_page_without_an_address_teaches_nothing() -> None:
    page = Page.of("<p>A page of no site.</p>")

    assert not len(lesson(page, np.ones(1, np.bool_), np.full(1, 0.9)))


def test_no_more_sites_are_kept_than_there_is_room_for_and_those_with_most_pages_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lessons, "MAX_SITES", 3)
    known = taught(3, n_pages=2)

    known.add(lesson(page_of("new.example"), ALL_BUT_LAST))

    assert not known.knows("https://new.example/")
    assert all(known.knows(f"https://site{site}.example/") for site in range(3))


def test_of_too_many_traits_those_that_weigh_least_go(monkeypatch: pytest.MonkeyPatch) -> None:
    known = taught(2, n_pages=2)
    most = max(np.abs(known.sums[known.keys & TRAITS >= FIRST_TRAIT, 1]).tolist())
    monkeypatch.setattr(lessons, "MAX_TRAITS", 16)

    known.add(lesson(page_of("site0.example", number=9), ALL_BUT_LAST, known=known))

    traits_of = known.keys[known.keys & TRAITS >= FIRST_TRAIT] >> np.uint64(24)
    assert np.unique(traits_of, return_counts=True)[1].max() <= 16
    assert np.abs(known.sums[:, 1]).max() >= most
    assert known.pages == pytest.approx(5)


HELP = corrected(ALIKE, np.where(ALL_BUT_LAST, 1.0, -4.0))


@pytest.mark.parametrize(("counted", "least", "most"), [(HELP, 0.5, 1.0), (1 - HELP, 0.0, 0.0)])
def test_counts_are_used_where_they_were_right_on_the_first_pages_of_sites(
    counted: Floats, least: float, most: float
) -> None:
    known = Lessons.total(
        Lessons().of_page(ALL_BUT_LAST, Readings(BlocksRead(page, ALIKE), ALIKE, counted))
        for page in (page_of(f"site{site}.example") for site in range(6))
    )

    assert least <= known.of_script(LATIN).counts_weight <= most


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The ferry sails again", LATIN),
        ("άνθρωποι ζούνε", GREEK),
        ("Паром снова ходит", CYRILLIC),
        ("渡轮再次起航了", HAN),
        ("フェリーが再び運航する", KANA),
        ("تبحر العبارة مجددا", ARABIC),
        ("2024, 12:30", 0),
    ],
)
def test_the_script_of_a_page_is_that_of_most_letters(text: str, script: int) -> None:
    page = Page.of(f"<p>{text} 123</p>")

    assert script_of(page, np.ones(len(page.blocks), np.bool_)) == script


def test_a_place_tells_lengths_distances_and_tags_apart() -> None:
    page = Page.of("<h1>One</h1><p>" + "two " * 40 + "</p><p>three</p><p>four</p>")

    at = places(page, np.array([0.1, 0.9, 0.9, 0.1]))

    assert len(set(at.tolist())) == 4
    assert at.max() < N_PLACES


@pytest.mark.parametrize(
    "changes",
    [
        {"keys": [2**17 - 2**4, 2**20]},  # no place
        {"keys": [15 << 17, 2**23]},  # no script
        {"keys": [1, 1]},
        {"sums": [[-1, 0], [0, 0]]},
        {"sums": [[0, 2**60], [0, 0]]},
        {"sums": [[0, -(2**63)], [0, 0]]},
        {"sums": [[0], [0]]},
        {"reader": -1},
    ],
    ids=str,
)
def test_rows_that_no_pages_have_are_rejected(changes: dict[str, object]) -> None:
    sound = {"keys": [1, 2], "sums": [[0, 0], [0, 0]], "reader": 0}
    keys, sums, reader = (sound | changes).values()
    assert len(Lessons(np.array([1, 2], np.uint64), np.zeros((2, 2), np.int64)))

    with pytest.raises(ValueError, match="lessons"):
        Lessons(np.array(keys, np.uint64), np.array(sums, np.int64), reader)  # type: ignore[arg-type]


def test_sums_stay_within_what_can_be_stored() -> None:
    known = taught(1)
    known.sums[0] = lessons.MAX_SUM

    known.add(known)

    assert known.sums[0].tolist() == [lessons.MAX_SUM] * lessons.N_SUMS


def test_what_a_later_classifier_has_read_replaces_the_rest() -> None:
    known, later = taught(3), taught(2)
    assert known.of_script(LATIN).sites == 3
    later.reader = 1

    known.add(later)

    assert rows_of(known) == rows_of(later)
    assert (known.reader, known.of_script(LATIN).sites) == (1, 2)
