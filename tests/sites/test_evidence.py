from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.compiled import python_alone
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.sites import evidence as evidence_module
from scrapy_mss.sites.evidence import (
    LEAD_WORDS,
    MIN_PAGES,
    Recalled,
    adjusted,
    anchors,
    are_comment_headings,
    block_evidence,
    comments,
    labels,
    neighbours,
    novelty,
    repeated_share,
    repetition,
    unsettled,
    usual_share,
)
from scrapy_mss.sites.memory import BlockKeys, SiteMemory
from tests.helpers.layouts import PAGES

ENOUGH = int(MIN_PAGES)
OWN = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()


def article(n: int, after: str = "", before: str = "") -> str:
    """The n-th page of a site: three paragraphs of its own, and what stands around them."""
    paragraphs = "".join(
        f"<p>{OWN[n % 10]} {OWN[n // 10]} {k * 'so '} {'on ' * 20}</p>" for k in range(3)
    )
    return f"<main>{before}<div class=story>{paragraphs}</div>{after}</main>"


def remembered(pages: list[str], inside: list[float] | None = None) -> SiteMemory:
    """The memory of *pages*; the blocks of each have the probabilities *inside*, else one half."""
    read = [Page.of(html) for html in pages]
    votes = [np.array(inside or [0.5] * len(page.blocks)) for page in read]
    each = [
        SiteMemory.of_page(BlockKeys.of(page), vote, 1)
        for page, vote in zip(read, votes, strict=True)
    ]
    return reduce(SiteMemory.plus, each, SiteMemory())


def keys_of(html: str) -> BlockKeys:
    return BlockKeys.of(Page.of(html))


@given(st.lists(PAGES, max_size=ENOUGH - 1), PAGES)
def test_a_site_of_which_too_little_is_known_changes_nothing(known: list[str], html: str) -> None:
    page = Page.of(html)
    probability = np.linspace(0, 1, len(page.blocks))

    result = adjusted(remembered(known), BlockKeys.of(page), probability)

    assert result.tolist() == probability.tolist()


def test_a_page_of_which_nothing_is_known_stays_as_it_is() -> None:
    memory = remembered([article(n) for n in range(5)])
    keys = keys_of("<section class=other><p>Never seen</p><p>Nor this</p></section>")
    probability = np.array([0.9, 0.2])

    assert np.allclose(adjusted(memory, keys, probability), probability)


def by_repetition(pages: list[str], html: str, probability: list[float]) -> Floats:
    """What repetition says of the blocks themselves, and of their neighbours."""
    recalled = Recalled.of(remembered(pages), keys_of(html))
    likely = np.array(probability)
    repeated = repeated_share(recalled, usual_share(recalled, likely))
    by_itself = repetition(repeated, likely, 4 * likely * (1 - likely))
    return by_itself + neighbours(recalled.keys, repeated)


def test_text_of_other_pages_is_less_likely_the_more_pages_have_it() -> None:
    box = "<p class=box>Sign up here</p>"
    probability = [0.9, 0.9, 0.9, 0.9]

    rare = by_repetition(
        [article(1, box), *map(article, range(2, 8))], article(9, box), probability
    )
    common = by_repetition([article(n, box) for n in range(7)], article(9, box), probability)

    assert rare[:3].tolist() == common[:3].tolist() == [0, 0, 0]
    assert common[3] < rare[3] < 0


def test_text_in_containers_of_repeated_text_is_less_likely() -> None:
    def links(n: int) -> str:
        return f"<ul class=links><li>Most read</li><li>{OWN[n]} {OWN[n]}</li></ul>"

    pages = [article(n, links(n)) for n in range(6)]

    evidence = by_repetition(pages, article(9, links(9)), [0.9, 0.9, 0.9, 0.5, 0.5])

    assert evidence[4] < 0
    assert evidence[:3].tolist() == [0, 0, 0]


def test_a_notice_of_all_pages_is_no_copy_of_an_article_where_it_is_alone() -> None:
    notice = "<div class=notice><p>We store cookies on your device</p><p>Change that here</p></div>"
    pages = [article(n, notice) for n in range(10)]

    evidence = by_repetition(pages, f"<h1>Watch</h1>{notice}", [0.2, 0.9, 0.9])

    assert evidence[0] == 0
    assert np.all(evidence[1:] < -2)


def test_a_second_copy_of_a_page_keeps_its_article() -> None:
    box = "<p class=box>Sign up here</p>"
    pages = [article(n, box) for n in range(6)]

    evidence = by_repetition(pages, pages[2], [0.9, 0.9, 0.9, 0.6])

    assert evidence[:3].tolist() == [0, 0, 0]
    assert evidence[3] < 0


def test_what_the_reading_is_certain_of_has_to_be_repeated_more() -> None:
    box = "<p class=box>Sign up here</p>"
    pages = [article(n, box) for n in range(7)]

    either, clear = (
        by_repetition(pages, article(9, box), [0.9, 0.9, 0.9, p])[3] for p in (0.6, 0.999)
    )

    assert either < clear < 0


def test_short_neighbours_say_less_of_a_container_than_long_ones() -> None:
    def box(n: int, line: str) -> str:
        return f"<div class=box><p>{line}</p><p>{OWN[n]} {'on ' * 20}</p></div>"

    long, short = (
        by_repetition(
            [article(n, box(n, f"{line}</p><p>{OWN[n]} {n * 'so '}{'as ' * 9}")) for n in range(7)],
            article(9, box(9, f"{line}</p><p>{OWN[9]} {'as ' * 18}")),
            [0.9, 0.9, 0.9, 0.5, 0.5, 0.5],
        )
        for line in ("Most read on this site in the last hour", "0")
    )

    assert long[5] < short[5] < 0


def test_labels_are_for_what_was_labelled_and_against_what_was_not() -> None:
    evidence = labels(labelled_box([True, True, True, False]))

    assert (evidence[:3] > 1).all()
    assert evidence[3] < -1


def test_readings_are_no_labels() -> None:
    memory = remembered([boxed(n) for n in range(9)], [1.0, 1.0, 1.0, 0.0])

    assert not labels(Recalled.of(memory, keys_of(boxed(9)))).any()


def labelled_memory(inside: list[bool]) -> SiteMemory:
    """The memory of nine labelled pages with a box."""
    each = [
        SiteMemory.of_page(keys_of(boxed(n)), np.array(inside, float), 1, labelled=True)
        for n in range(9)
    ]
    return reduce(SiteMemory.plus, each, SiteMemory())


def labelled_box(inside: list[bool]) -> Recalled:
    """What is known of another page with a box, by those labels."""
    return Recalled.of(labelled_memory(inside), keys_of(boxed(9)))


def test_labels_of_a_container_that_differ_say_less_than_their_share() -> None:
    mixed = labels(labelled_box([True, False, False, False]))
    clear = labels(labelled_box([False, False, False, False]))

    assert clear[0] < 4 * mixed[0] < 0


def test_what_is_labelled_is_settled() -> None:
    likely = np.array([0.95, 0.95, 0.95, 0.5])
    read = remembered([boxed(n) for n in range(9)], [0.95, 0.95, 0.95, 0.5])
    labelled = read.plus(labelled_memory([True, True, True, True]))

    before, after = (
        unsettled(Recalled.of(each, keys_of(boxed(9))), likely) for each in (read, labelled)
    )

    assert before[3] < 5 * after[3] <= 0


def by_anchors(pages: list[str], html: str) -> Floats:
    n = len(Page.of(pages[0]).blocks)
    inside = [1.0, 1.0, 1.0] + [0.0] * (n - 3)
    return anchors(Recalled.of(remembered(pages, inside), keys_of(html)))


def test_what_is_after_a_text_that_the_article_is_always_before_is_less_likely() -> None:
    def end(n: int) -> str:
        return f"<p>Related stories</p><p>{OWN[n]} {OWN[n]} {OWN[n]}</p>"

    evidence = by_anchors([article(n, end(n)) for n in range(6)], article(9, end(9)))

    assert evidence[:4].tolist() == [0, 0, 0, 0]
    assert evidence[4] < -1


def test_a_text_that_occurs_twice_is_no_anchor() -> None:
    end = "<p>Related stories</p>"

    evidence = by_anchors([article(n, end) for n in range(6)], article(9, end, before=end))

    assert not evidence.any()


def test_a_text_inside_the_article_is_no_anchor() -> None:
    pages = [
        f"<p>{OWN[n]} {'so ' * 30}</p><p>Advertisement</p><p>{OWN[n]} {'on ' * 30}</p>"
        for n in range(7)
    ]
    memory = remembered(pages[:6], [1.0, 0.0, 1.0])

    assert not anchors(Recalled.of(memory, keys_of(pages[6]))).any()


BOX = "<div class=box><p>Two of the three boats are still in the harbour today</p></div>"


def boxed(n: int, box: str = BOX) -> str:
    return article(n, box.replace("boats", OWN[n % 10]))


def test_what_could_be_either_is_less_likely_in_containers_unlike_those_of_the_article() -> None:
    memory = remembered([boxed(n) for n in range(9)], [0.95, 0.95, 0.95, 0.5])
    likely = np.array([0.95, 0.95, 0.95, 0.5])

    evidence = unsettled(Recalled.of(memory, keys_of(boxed(9))), likely)

    assert evidence[:3].tolist() == [0, 0, 0]
    assert evidence[3] < -1


def test_a_block_that_is_clear_by_itself_stays_so_in_any_container() -> None:
    memory = remembered([boxed(n) for n in range(9)], [0.95, 0.95, 0.95, 0.6])
    recalled = Recalled.of(memory, keys_of(boxed(9)))

    either, clear = (
        block_evidence(recalled, np.array([0.95, 0.95, 0.95, p]))[3] for p in (0.6, 0.999)
    )

    assert either < 10 * clear <= 0


def with_lead(n: int, words: int = LEAD_WORDS) -> str:
    """An article with a paragraph of so many words above it, in a container of its own."""
    return article(n, before=f"<div class=lead><p>{OWN[n % 10]} {'go ' * (words - 1)}</p></div>")


def test_a_lead_in_a_container_of_its_own_is_spared_and_no_byline_or_repeated_one() -> None:
    likely = np.array([0.4, 0.95, 0.95, 0.95])
    memory = remembered([with_lead(n) for n in range(9)], likely.tolist())

    lead, byline, repeated = (
        block_evidence(Recalled.of(memory, keys_of(html)), likely)[0]
        for html in (with_lead(9), with_lead(9, LEAD_WORDS - 1), with_lead(8))
    )

    assert lead == 0
    assert byline < -1
    assert repeated < -1


@given(st.lists(PAGES, min_size=ENOUGH, max_size=6), PAGES, st.data())
def test_without_labels_all_evidence_is_against_a_block(
    known: list[str], html: str, data: st.DataObject
) -> None:
    recalled = Recalled.of(remembered(known), keys_of(html))
    n = len(recalled.keys.words)
    probability = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))

    assert n == 0 or np.all(block_evidence(recalled, probability) <= 0)


def test_where_all_containers_are_alike_none_is_below_the_article() -> None:
    memory = remembered([boxed(n) for n in range(9)], [0.6, 0.6, 0.6, 0.55])

    evidence = unsettled(Recalled.of(memory, keys_of(boxed(9))), np.array([0.6, 0.6, 0.6, 0.55]))

    assert evidence.tolist() == [0, 0, 0, 0]


def test_a_container_that_is_new_on_a_page_like_the_others_is_hardly_of_its_article() -> None:
    memory = remembered([article(n) for n in range(20)], [0.95, 0.95, 0.95])

    evidence = novelty(Recalled.of(memory, keys_of(boxed(21))), np.array([0.95, 0.95, 0.95, 0.6]))

    assert evidence[:3].tolist() == [0, 0, 0]
    assert evidence[3] < -1


def test_on_a_page_of_another_layout_new_containers_are_left_alone() -> None:
    memory = remembered([article(n) for n in range(20)], [0.95, 0.95, 0.95])
    other = article(21).replace("story", "other")

    evidence = novelty(Recalled.of(memory, keys_of(other)), np.array([0.95, 0.95, 0.95]))

    assert evidence.tolist() == [0, 0, 0]


def thread(heading: str, n: int) -> str:
    return f"<p>{heading}</p><p>Peter: not {OWN[n]} again, who pays for {OWN[n]}</p>"


def below_a_heading(heading: str, known: str, probability: list[float]) -> Floats:
    """The evidence on a page with *heading* above its comments, where others have *known*."""
    memory = remembered([article(n, thread(known, n)) for n in range(6)])
    recalled = Recalled.of(memory, keys_of(article(9, thread(heading, 9))))
    return comments(recalled, np.array(probability))


def test_what_is_below_a_heading_of_comments_is_less_likely() -> None:
    evidence = below_a_heading("12 Comments", "1 Comments", [0.9, 0.9, 0.9, 0.4, 0.9])

    assert evidence[:3].tolist() == [0, 0, 0]
    assert evidence[4] < -3


def test_only_a_heading_that_other_pages_have_is_one_of_comments() -> None:
    probability = [0.9, 0.9, 0.9, 0.4, 0.9]

    assert not below_a_heading("Comments", "More news", probability).any()
    assert not below_a_heading("More news", "More news", probability).any()
    assert not below_a_heading(
        "Comments on this are few", "Comments on this are few", probability
    ).any()


def test_a_link_to_comments_is_no_heading() -> None:
    assert not below_a_heading("Comments", "Comments", [0.9, 0.9, 0.9, 0.4, 0.2]).any()
    link = "<p>Comments</p>"
    memory = remembered([article(n, before=link) for n in range(6)], [0.1, 0.9, 0.9, 0.9])
    recalled = Recalled.of(memory, keys_of(article(9, before=link)))
    assert not comments(recalled, np.array([0.4, 0.9, 0.9, 0.9])).any()


@pytest.mark.parametrize(
    "heading",
    [
        *("Comments", "Readers' comments", "Readers\N{RIGHT SINGLE QUOTATION MARK} comments"),
        *("Comments (7)", "Comments (1,234)", "Comments (1.234)", "Comments [1 234]"),
        *("1,234 Comments", "(3) Comments", "5 комментариев", "12条评论"),
        "评论\N{FULLWIDTH LEFT PARENTHESIS}12\N{FULLWIDTH RIGHT PARENTHESIS}",
    ],
)
def test_headings_of_comments_have_any_number_and_apostrophe(heading: str) -> None:
    page = Page.of(f"<p>{heading}</p><p>Comments were few.</p>")

    assert are_comment_headings(page.text_hashes).tolist() == [True, False]


TERMS = ("repetition", "neighbours", "anchors", "unsettled", "novelty", "comments", "labels")


@pytest.mark.parametrize("name", TERMS)
def test_each_kind_of_evidence_is_added(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    labelled = SiteMemory.of_page(keys_of(article(1)), np.ones(3), 1, labelled=True)
    memory = remembered([article(n) for n in range(6)]).plus(labelled)
    recalled = Recalled.of(memory, keys_of(article(9, before="<div>So it began</div>")))
    even = np.full(4, 0.5)
    term = getattr(evidence_module, name)

    with python_alone():
        before = block_evidence(recalled, even)
        monkeypatch.setattr(evidence_module, name, lambda *known: term(*known) - 1.0)
        after = block_evidence(recalled, even)

    assert np.allclose(after[2:], before[2:] - 1.0)  # the first of the text is its lead
