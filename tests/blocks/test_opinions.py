"""What each opinion keeps of a page that it was made for, and of the page's near miss."""

from __future__ import annotations

from itertools import combinations
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given

from scrapy_mss.blocks.opinions import OPINIONS, WORDS, Role, opinions, role_counts
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.texts import is_stop_word
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.classifiers import columns_of
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES

NAMES = [opinion.name for opinion in OPINIONS]
SENTENCE = "It was said that the ferry is to sail again, and all of us were there when it did. "
MENU = "<ul class='menu'>" + "<li><a href='/x'>Home News</a></li>" * 12 + "</ul>"
ARTICLE = "<article>" + f"<p>{SENTENCE * 2}</p>" * 4 + "</article>"
ASIDE = f"<div class='newsletter-box'><p>{SENTENCE * 2}</p></div>"
PAGE = f"<body>{MENU}<h1>The ferry</h1>{ARTICLE}{ASIDE}<p><a href='/y'>More stories here</a></p>"


def kept(source: str, name: str) -> list[str]:
    """The first word of each block that the opinion *name* keeps."""
    page = Page.of(source)
    found = opinions(page)[name]
    tokens = page.tokens
    firsts = page.blocks.first[found].tolist()
    return [tokens.clean[tokens.clean_start[at] : tokens.clean_end[at]].strip() for at in firsts]


@pytest.mark.parametrize("name", NAMES)
def test_every_opinion_keeps_the_text_of_a_plain_page(name: str) -> None:
    found = kept(PAGE, name)

    assert found[-5:].count("It") >= 4
    assert "Home" not in found
    assert "More" not in found


@pytest.mark.parametrize("name", [name for name in NAMES if name != "densest_run"])
def test_what_is_named_a_newsletter_is_beside_the_text(name: str) -> None:
    assert len(kept(PAGE, name)) <= 5
    assert kept(PAGE, name).count("It") == 4


@pytest.mark.parametrize("name", [name for name in NAMES if name != "named_body"])
def test_a_text_in_an_element_that_is_named_a_newsletter_is_still_the_text(name: str) -> None:
    renamed = PAGE.replace("<article>", "<div class='newsletter-body'>").replace(
        "</article>", "</div>"
    )

    assert kept(renamed, name).count("It") >= 4


@pytest.mark.parametrize("name", [name for name in NAMES if name != "densest_run"])
@pytest.mark.parametrize(
    ("line", "is_text"),
    [
        ("<p>Sunday 5 May 2024</p>", False),
        ("<div>By Ann Bell, on Sunday 5 May</div>", False),
        ("<p class='post-date'>Sunday was when it was said, and so on.</p>", False),
        ("<p>Sunday was when it was said that it would.</p>", True),
        ("<h2>Sunday</h2>", True),
        ("<ul><li>Sunday</li></ul>", True),
    ],
)
def test_names_and_dates_are_no_lines_of_a_text(name: str, line: str, *, is_text: bool) -> None:
    first = f"<p>{SENTENCE * 2}</p>"

    found = kept(PAGE.replace(first, first + line, 1), name)

    assert (len(found) == len(kept(PAGE, name)) + 1) == is_text


def test_votes_take_in_a_sibling_of_the_same_height() -> None:
    half = f"<div><p>{SENTENCE * 3}</p><p>{SENTENCE * 3}</p></div>"
    low = "<div><p>Thanks for all of it, we say.</p></div>"

    assert len(kept(f"<main>{half}{half}</main>{MENU}", "paragraph_votes")) == 4
    assert "Thanks" not in kept(f"<main>{half}{MENU}{low}</main>", "paragraph_votes")


def test_a_body_by_its_name_comes_before_a_longer_text() -> None:
    body = f"<div class='story-body'><p>{SENTENCE * 5}</p></div>"
    longer = f"<div><p>Though {SENTENCE * 9}</p></div>"

    assert kept(longer + body, "named_body") == ["It"]
    # A teaser may say so, too, and is too short to be believed.
    teaser = "<div class='story-body'><p>It was short, as they say.</p></div>"
    assert kept(f"<main><p>Though {SENTENCE * 9}</p></main>{teaser}", "named_body") == ["Though"]


def test_the_first_of_two_stories_of_one_name_is_the_page_s() -> None:
    one, other = (f"<div class='story-body'><p>{word} {SENTENCE * 5}</p></div>" for word in "AB")

    assert kept(one + other, "named_body") == ["A"]


def test_a_second_main_heading_ends_what_is_below_the_headline() -> None:
    story = f"<h1>The {{}} sails</h1><p>{SENTENCE * 4}</p>"
    title = "<title>The ferry sails</title>"

    two = title + "<main>" + story.format("ferry") + story.format("train") + "</main>"
    assert kept(two, "below_headline") == ["It"]
    subheads = two.replace("<h1>The train sails</h1>", "<h2>The train sails</h2>")
    assert kept(subheads, "below_headline") == ["It", "The", "It"]


def test_there_is_no_opinion_below_a_headline_that_is_not_there() -> None:
    assert kept(f"<main><p>{SENTENCE * 5}</p></main>", "below_headline") == []


def test_stop_words_tell_a_text_from_a_list_of_names() -> None:
    names = "Ann Bell Carl Dunn Emma Ford Greg Hall Iris Jones Kate Lang Mark Nunn " * 4
    text = f"<div><p>{SENTENCE}</p></div>"

    assert kept(f"<section><div><p>{names}</p></div></section>{text}", "stop_words") == ["It"]
    assert kept(f"<section><div><p>{names}</p></div></section>{text}", "densest_run")[0] == "Ann"


@given(PAGES)
@examples(2)
def test_shares_and_agreements_are_those_of_the_blocks_that_are_kept(source: str) -> None:
    page = Page.of(source)
    columns = columns_of(page)
    words = page.blocks.words
    found = opinions(page)
    spoken = {name: blocks for name, blocks in found.items() if words[blocks].sum()}

    for name, blocks in found.items():
        share = words[blocks].sum() / max(words.sum(), 1)
        np.testing.assert_allclose(columns[f"share_of_{name}"], share)
        mean = np.mean(list(spoken.values()) or [blocks], axis=0)
        said = blocks if name in spoken else mean
        np.testing.assert_allclose(columns[f"opinion_{name}"], said)
    for (one, mine), (other, theirs) in combinations(spoken.items(), 2):
        f1 = 2 * words[mine & theirs].sum() / (words[mine].sum() + words[theirs].sum())
        np.testing.assert_allclose(columns[f"agreement_of_{one}_and_{other}"], f1)


def test_an_opinion_that_keeps_nothing_contradicts_none() -> None:
    page = Page.of(PAGE.replace("<h1>The ferry</h1>", ""))

    columns = columns_of(page)

    # Without a headline nothing is below it; the other opinions are of one mind.
    assert not columns["share_of_below_headline"].any()
    for name in NAMES:
        assert columns[f"opinion_{name}"].sum() >= 4
    agreements = [row[0] for name, row in columns.items() if name.startswith("agreement")]
    assert min(agreements) > 0.8


def roles_of(tag: str) -> dict[Role, int]:
    """How many words of the class in *tag* have each role."""
    counts = role_counts(Page.of(f"<div {tag}>One line.</div>").attributes)
    return {role: int(counts[role, 0]) for role in Role if counts[role, 0]}


def test_words_say_what_an_element_is() -> None:
    assert roles_of('itemprop="articleBody"') == {Role.SUBJECT: 1, Role.BODY: 1, Role.LIKELY: 2}
    assert roles_of('class="related-stories" id="newsletter_3"') == {Role.BESIDE: 2}


def test_words_that_only_begin_alike_say_nothing() -> None:
    assert roles_of('class="commentary shareholder bodywork"') == {}


def test_a_word_whose_hash_ends_alike_is_not_taken_for_another() -> None:
    known = {crc32(word.encode()) & 0xFFFF for words in WORDS.values() for word in words}
    letters = "abcdefghijklmnopqrstuvwxyz"
    made = (a + b + c + d for a in letters for b in letters for c in letters for d in letters)
    alike = [word for word in made if crc32(word.encode()) & 0xFFFF in known]
    real = {word for words in WORDS.values() for word in words}
    strangers = [word for word in alike if word not in real][:50]

    assert strangers
    assert all(roles_of(f'class="{word}"') == {} for word in strangers)


@pytest.mark.parametrize(
    "text",
    [
        "She said that it was not all there would be.",
        "Der Zug ist nicht in die Stadt gekommen, und es ist auch nicht mehr das, was es war.",
        "Он сказал, что это не так, как на самом деле.",
        "Ella dijo que no es lo que se ve en la foto del periódico.",
    ],
)
def test_running_text_has_many_stop_words(text: str) -> None:
    tokens = tokenize(text)

    assert is_stop_word(tokens.token_id[tokens.is_word]).mean() > 0.3


def test_a_menu_has_few_stop_words() -> None:
    tokens = tokenize("Home News Sports Weather Business Travel Contact Imprint Privacy Archive")

    assert is_stop_word(tokens.token_id[tokens.is_word]).mean() < 0.1
