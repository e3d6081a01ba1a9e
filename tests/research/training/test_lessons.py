from __future__ import annotations

from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest

from research.datasets.pages import Example
from research.training.lessons import (
    BARE,
    FEWEST_WORDS,
    GIVEN,
    LARGEST_PIECE,
    MADE_WEIGHT,
    MOST_LEVELS,
    MOST_WORDS,
    PIECE,
    Lesson,
    lessons,
)
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.news_pages import news_page

N = 30


def examples(n: int = N, site: str = "one") -> list[Example]:
    pages = (news_page(number, site=site) for number in range(n))
    return [Example(page.html, page.text, site) for page in pages]


@pytest.fixture(scope="module")
def taken() -> list[Lesson]:
    """What the training takes from the pages of one site."""
    return list(lessons(examples()))


def test_each_page_is_a_lesson_of_the_passages_of_its_article(taken: list[Lesson]) -> None:
    whole = [lesson for lesson in taken if not lesson.made]

    assert [lesson.tokens.source for lesson in whole] == [one.html for one in examples()]
    for number, lesson in enumerate(whole):
        passages, inside = lesson.tokens.passages, news_page(number).inside
        assert lesson.inside.tolist() == inside[passages.first].tolist()


def test_tokens_are_labelled_as_their_passages_are(taken: list[Lesson]) -> None:
    for lesson in taken:
        of = lesson.tokens.passages.of.tolist()
        expected = [n >= 0 and bool(lesson.inside[n]) for n in of]
        assert lesson.token_labels.tolist() == expected


def made_of(taken: list[Lesson], kind: str) -> list[tuple[Lesson, Lesson]]:
    """The pages that gave a *kind*, each with what was made from it."""
    return [(page, made) for page, made in pairwise(taken) if made.made == kind]


def test_a_page_gives_a_piece_or_a_bare_copy_or_nothing(taken: list[Lesson]) -> None:
    pieces, copies = made_of(taken, PIECE), made_of(taken, BARE)

    assert len(pieces) + len(copies) == sum(bool(lesson.made) for lesson in taken)
    for kind, pairs in ((PIECE, pieces), (BARE, copies)):
        turn = GIVEN.index(kind)
        turns = {one.html for one in examples() if crc32(one.text.encode()) % len(GIVEN) == turn}
        assert 0 < len(pairs) <= len(turns) < N
        assert {page.tokens.source for page, _ in pairs} <= turns


def test_a_bare_copy_says_the_same_and_is_labelled_alike(taken: list[Lesson]) -> None:
    for page, made in made_of(taken, BARE):
        assert made.tokens.words() == page.tokens.words()
        assert made.site == page.site
        assert made.tokens.passages.names.word.size == 0
        inside = [one.tokens.is_word & one.token_labels for one in (page, made)]
        assert inside[0].sum() == inside[1].sum()


def test_a_piece_is_an_element_of_the_page_with_the_whole_article(taken: list[Lesson]) -> None:
    pairs = made_of(taken, PIECE)

    assert pairs
    for page, piece in pairs:
        source = piece.tokens.source
        assert source in page.tokens.source
        assert len(source) < LARGEST_PIECE * len(page.tokens.source)
        assert piece.tokens.partner[0] == len(piece.tokens) - 1
        assert piece.site == page.site
        words = [lesson.tokens.passages.words[lesson.inside].tolist() for lesson in (page, piece)]
        assert words[0] == words[1]


def test_pieces_are_cut_at_different_levels() -> None:
    article = "<p>One two three four.</p><p>Five six seven.</p>"
    boxes = ["<div class=inner>", "<section>", "<main>", "<body>"]
    beginnings = set()
    for number in range(40):
        text = f"One two three four.\n\nFive six seven.\n\nNumber {number} and no more."
        inner = f"{article}<p>Number {number} and no more.</p>"
        menu, closed = f"<ul><li>{'menu ' * 40}</ul>", "</div></section></main></body>"
        html = f"{menu}{''.join(boxes[::-1])}{inner}{closed}"
        _, *made = lessons([Example(html, text)])
        pieces = [one.tokens.source for one in made if one.tokens.source in html]
        beginnings |= {piece.partition(">")[0] + ">" for piece in pieces}

    assert beginnings == set(boxes[:MOST_LEVELS])


def test_a_page_that_is_hardly_more_than_its_article_gives_no_piece() -> None:
    texts = [f"{'One two three four. ' * 50}{number}." for number in range(12)]

    taken = list(lessons(Example(f"<div><p>{text}</p></div>", text) for text in texts))

    assert not made_of(taken, PIECE)


def test_all_pages_weigh_the_same_and_their_passages_by_words(taken: list[Lesson]) -> None:
    for lesson in taken:
        assert lesson.weights.sum() == pytest.approx(MADE_WEIGHT if lesson.made else 1.0)
    long = MOST_WORDS + 50
    page = tokenize(f"<p>{'one ' * long}<p>{'one ' * MOST_WORDS}<p>one")

    weights = Lesson(page, np.ones(3, np.bool_), "").weights

    assert weights[0] == weights[1]
    assert weights[2] / weights[0] == pytest.approx(
        (1 + FEWEST_WORDS) / (MOST_WORDS + FEWEST_WORDS)
    )


def test_pages_of_a_site_stand_together(taken: list[Lesson]) -> None:
    sites = [Lesson(tokenize("one"), np.ones(1, np.bool_), f"site{n}") for n in range(50)]

    assert len({lesson.part for lesson in taken}) == len({lesson.half for lesson in taken}) == 1
    assert {lesson.half for lesson in sites} == {0, 1}
    assert {lesson.part % 5 for lesson in sites} == set(range(5))


def test_pages_without_a_site_are_each_their_own() -> None:
    one, two = lessons([Example("<p>one two three", "one"), Example("<p>two three", "")])

    assert one.site != two.site
    assert one.inside.tolist() == [False]
    assert two.inside.tolist() == [False]


@pytest.mark.parametrize("html", ["", "<p>", "...", "<!-- one -->", "\ud800"])
def test_a_page_without_a_passage_is_no_lesson(html: str) -> None:
    assert list(lessons([Example(html, "one"), Example(html, "\ud800")])) == []
