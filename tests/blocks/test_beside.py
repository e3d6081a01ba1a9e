"""Which of a page's texts are not its story; every block is taken for text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.beside import MIN_DATA, MIN_STORY, NAMES, _cues, beside
from scrapy_mss.blocks.page import Page
from tests.helpers.compiled import both
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES

URL = "https://paper.example/town/ferry"
TITLE = "The ferry gets a second deck"
HEAD = f"<title>{TITLE} - Paper</title>"
H1 = f"<h1>{TITLE}</h1>"


def text(word: str, count: int = 2 * MIN_STORY) -> str:
    """A paragraph of so many times one *word*."""
    return f"<p>{f'{word} ' * count}</p>"


def card(number: int, word: str = "teaser", host: str = "") -> str:
    link = f"<a href='{host}/other/{number}'>Of something else {number}</a>"
    return f"<div class=card><h3>{link}</h3>{text(word, 30)}</div>"


STORY = f"<main>{H1}{text('story')}</main>"
CARDS = "".join(map(card, range(4)))
NEXT = "<div class=page><header><h1>{}</h1></header>{}</div>"
LIVE_BLOG = '<script type="application/ld+json">{"@type": "LiveBlogPosting"}</script>'
DATA = '{"items": [' + '"word", ' * MIN_DATA + "]}"

BESIDE = {
    "an open list of a form": f"{STORY}<select><option>{'other ' * 60}</select>",
    "a template": f"{STORY}<template>{text('other')}</template>",
    "data for a script": f"{STORY}<div>{DATA.replace('word', 'other')}</div>",
    "comments": f"{STORY}<ol><li class='ThreadComment-body'>{text('other', 500)}</li></ol>",
    "consent": f"{STORY}<div id=onetrust-consent-sdk>{text('other', 500)}</div>",
    "a hidden note": f"{STORY}<div style='display: none'>{text('other', 20)}</div>",
    "as much hidden text as is shown": f"{text('story')}<div hidden>{text('other')}</div>",
    "the next story": NEXT.format(TITLE, text("story"))
    + NEXT.format("Bees on the roof", text("other", 500)),
    "an article behind that of the headline": f"<article>{H1}{text('story')}</article>"
    f"<article class=b><div><h1>Bees on the roof</h1></div>{text('other', 500)}</article>",
    "slides of a gallery": f"{H1}{text('story', 250)}"
    + "".join(f"<div><b>{n} of 6</b>{text('other', 50)}</div>" for n in range(1, 7)),
    "teasers": STORY + "".join(card(number, "other") for number in range(4)),
}
ALL_THE_STORY = {
    "a column that is called comment": f"{H1}<div class=comment>{text('story')}</div>",
    "comments that hold the headline": f"<div class=has-comments>{STORY}</div>",
    "most of the text hidden behind a paywall": f"{H1}{text('story')}"
    f"<div class=paywall hidden>{text('rest', 300)}</div>",
    "sections with main headings": f"{H1}{text('story')}<h1>Part two</h1>{text('rest')}",
    "code of data": f"{STORY}<pre>{DATA}</pre>",
    "a live blog": f"{LIVE_BLOG}{STORY}{CARDS}",
    "places with a page of their own, and text below": f"{STORY}{CARDS}{text('rest')}",
    "books of a shop elsewhere": STORY
    + "".join(card(number, "book", "https://shop.example.com") for number in range(4)),
    "a gallery below an introduction": f"{STORY}"
    + "".join(f"<div><b>{n} / 6</b>{text('slide', 50)}</div>" for n in range(1, 7)),
    "scores of one team": f"{STORY}"
    + "".join(f"<li>{n} : 2 {'goal ' * 50}</li>" for n in range(9)),
    "a list below a line": f"{H1}{text('line', 20)}{CARDS}",
}


def found(source: str) -> str:
    """The words of the page's texts that are not its story, each once."""
    page = Page.of(HEAD + source, url=URL)
    others = beside(page, ~page.in_title)
    ids = page.tokens.token_id[page.blocks.spread(others) & page.tokens.is_word]
    words = {
        "other": Page.of("other").tokens.token_id[0],
        "story": Page.of("story").tokens.token_id[0],
    }
    return " ".join(word for word, number in words.items() if number in ids)


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_beside_the_story_is_found(name: str) -> None:
    assert found(BESIDE[name]) == "other"


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_known(name: str) -> None:
    assert found(f"{STORY}<div class='new-{name}'>{text('other')}</div>") == "other"


@pytest.mark.parametrize("name", ALL_THE_STORY)
def test_a_page_of_one_story_has_nothing_beside_it(name: str) -> None:
    page = Page.of(HEAD + ALL_THE_STORY[name], url=URL)

    assert not beside(page, ~page.in_title).any()


@pytest.mark.parametrize("name", BESIDE)
def test_nothing_is_beside_too_little_text(name: str) -> None:
    page = Page.of(HEAD + BESIDE[name].replace("story ", ""), url=URL)

    assert not beside(page, ~page.in_title).any()


def test_a_list_counts_with_its_teasers_that_are_not_taken_for_text() -> None:
    page = Page.of(f"{HEAD}{CARDS}{STORY}{CARDS}", url=URL)
    two = (page.words == 30).nonzero()[0][-2:]
    taken = ~page.in_title & ~page.headline.below | (page.words == 100)
    taken[two] = True

    assert beside(page, taken)[two].all()


def test_a_hidden_copy_is_found_however_long() -> None:
    page = Page.of(f"{HEAD}{STORY}<div hidden>{text('story') * 3}</div>", url=URL)

    assert beside(page, ~page.in_title).tolist() == page.hidden.tolist()


@given(PAGES)
@examples(2)
def test_what_is_beside_the_story_is_text_and_leaves_a_story(source: str) -> None:
    page = Page.of(source)
    taken = ~page.in_title

    others = beside(page, taken)

    assert not (others & ~taken).any()
    assert not others.any() or page.words[taken & ~others].sum() >= MIN_STORY
    assert not beside(page, np.zeros_like(taken)).any()


@given(PAGES | st.sampled_from([*BESIDE.values(), *ALL_THE_STORY.values()]), st.integers(0, 9))
@examples(4)
def test_both_ways_find_the_same_cues(source: str, seed: int) -> None:
    page = Page.of(source)
    taken = np.random.default_rng(seed).random(len(page.blocks)) < 0.5

    one, other = both(lambda: _cues(page, taken))

    assert one == other
