"""A click on a block makes the rule that was meant, on the page and on the others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scrapy_mss import Extractor
from scrapy_mss.extractor import Explanation
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.suggest import NoRuleError, places, suggest_of
from scrapy_mss.suggest.readings import SitePage, read_pages
from scrapy_mss.workbench.api import BOTH, MODEL, RULE, blocks_inside, by_model, differences
from scrapy_mss.workbench.editing import NOW_BODY, Click, Edit, EditError, edited
from scrapy_mss.workbench.saving import read_rule
from scrapy_mss.wrappers import Wrapper, WrapperError, css
from scrapy_mss.wrappers.schema import yaml_of
from tests.helpers.news_pages import news_page
from tests.helpers.suggested_sites import article, text_of

EXTRACTOR = Extractor()
HOST = "news.example"
PAGES = [article(number) for number in range(1, 6)]
READ = read_pages(PAGES, EXTRACTOR)
EXPLAINED = EXTRACTOR.explain(PAGES[0].html, PAGES[0].url)
WHOLE = Wrapper(site=HOST, body=(css("div.column"),))
TEXT = Wrapper(site=HOST, body=(css("div.story-text"),))
AROUND = Wrapper(site=HOST, around=(css("div.story-text"),))


def block_of(text: str, explanation: Explanation = EXPLAINED) -> int:
    """The block of the page's body that has *text*."""
    found = enumerate(explanation.blocks)
    return next(n for n, each in found if n and text in explanation.text_of(each))


def clicked(rule: Wrapper, text: str, level: int | None = None) -> Edit:
    block = EXPLAINED.blocks[block_of(text)]
    return edited(rule, READ, READ[0], Click(block, level=level))


def texts(rule: Wrapper, pages: Sequence[SitePage] = READ) -> list[str]:
    return [found.text if (found := page.by_rule(rule)) else "" for page in pages]


def test_a_click_takes_a_box_out_on_all_pages() -> None:
    assert all("Read also" in text for text in texts(TEXT))

    edit = clicked(TEXT, "Read also")

    for text in texts(edit.rule):
        assert "Read also" not in text
        assert "More on this" not in text
        assert len(text.split()) > 100
    assert len(edit.rule.exclude) == 1


def test_a_second_click_on_it_gives_the_rule_as_it_was() -> None:
    out = clicked(TEXT, "Read also").rule

    assert clicked(out, "More on this").rule == TEXT


def test_arrows_choose_an_element_around_the_block_and_back() -> None:
    smallest = clicked(TEXT, "Read also", level=0)
    around = clicked(TEXT, "Read also", level=1)

    assert "More on this" in texts(smallest.rule)[0]
    assert "Read also" not in texts(smallest.rule)[0]
    assert "More on this" not in texts(around.rule)[0]
    assert around.path == smallest.path
    assert around.path[around.level] == "div.related-box"
    assert clicked(TEXT, "Read also", level=0) == smallest


@pytest.mark.parametrize("rule", [TEXT, AROUND])
def test_a_click_never_takes_the_whole_article_out(rule: Wrapper) -> None:
    first = text_of(1)[:40]

    edit = clicked(rule, first)

    assert edit.rule.around == rule.around
    assert first not in texts(edit.rule)[0]
    assert len(texts(edit.rule)[0].split()) > 50


def test_a_click_on_a_place_outside_joins_it_to_the_body() -> None:
    assert "Ann" not in texts(TEXT)[0]

    edit = clicked(TEXT, "Ann")

    for text in texts(edit.rule):
        assert "Ann" in text
        assert len(text.split()) > 100
        assert ": report" not in text


def test_where_the_body_finds_nothing_a_click_adds_another() -> None:
    nowhere = Wrapper(site=HOST, body=(css("div.gone"),))

    edit = clicked(nowhere, text_of(1)[:40])

    assert edit.rule.body[0] == css("div.gone")
    assert all(len(text.split()) > 100 for text in texts(edit.rule))


def best_of_bad(pages: Sequence[SitePage]) -> Wrapper:
    """The rule around the best place of *pages*, none of which is good enough to be suggested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "MIN_AGREEMENT", 1.1)
        with pytest.raises(NoRuleError, match="no container agrees") as caught:
            suggest_of(HOST, pages)
    return Wrapper(site=HOST, around=caught.value.around)


def test_a_rule_to_begin_with_has_an_element_of_all_pages() -> None:
    def of_its_own(number: int) -> StoredPage:
        tag = ("div", "center")[number % 2]
        html = news_page(number).html.replace("<!-- article -->", f"<section class=t><{tag}>", 1)
        html = html.replace("<!-- /article -->", f"</{tag}></section>", 1)
        return StoredPage(f"https://{HOST}/{number}", html.replace('id="one-body"', ""))

    pages = read_pages([of_its_own(number) for number in range(1, 6)], EXTRACTOR)

    rule = best_of_bad(pages)

    assert [text.split()[-1] for text in texts(rule, pages)] == [
        page.extraction.text.split()[-1] for page in pages
    ]


@pytest.mark.parametrize(
    ("role", "text", "run", "found"),
    [
        ("title", "report 1", 0, "The library and the railway: report 1"),
        ("authors", "Ann", 1, ("Ann Miller",)),
        ("published", "2024-03", 0, "2024-03-02T08:00:00+00:00"),
    ],
)
def test_a_field_is_where_it_was_clicked(role: str, text: str, run: int, found: object) -> None:
    block = EXPLAINED.blocks[block_of(text)]
    edit = edited(TEXT, READ, READ[0], Click(block, role, run=run))
    label = READ[0].by_rule(edit.rule)

    assert getattr(label, role) == found


def test_a_page_that_is_no_page_cannot_be_clicked() -> None:
    empty = read_pages([StoredPage(f"https://{HOST}/9", "")], EXTRACTOR)[0]

    with pytest.raises(EditError):
        edited(TEXT, READ, empty, Click(EXPLAINED.blocks[0]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "one rule"),
        ("site: one.example\nbody: 'div['", "line 2"),
        ("site: one.example\nbody: p\n---\nsite: two.example\nbody: p\n", "one rule"),
        ("site: one.example\nwrappers:\n- body: p\n- body: div\n", "one rule"),
        ("x" * 200_000, "characters"),
    ],
    ids=lambda text: text[:20],
)
def test_a_rule_that_is_none_says_where_it_is_wrong(text: str, said: str) -> None:
    with pytest.raises(WrapperError, match=said):
        read_rule(text)


def test_blocks_and_differences_come_from_the_same_tokens() -> None:
    found = READ[0].by_rule(WHOLE)
    assert found is not None

    inside = blocks_inside(EXPLAINED.blocks, found.tokens, found.inside)
    runs = differences(found.tokens, found.inside, by_model(READ[0]))

    assert len(inside) == len(EXPLAINED.blocks)
    assert inside[block_of("report 1")] == "1"
    assert inside[block_of("Copyright")] == "0"
    assert {run.kind for run in runs} <= {BOTH, RULE, MODEL, "gap"}
    assert "report 1" in " ".join(run.text for run in runs if run.kind == RULE)


def test_a_page_without_differences_has_none() -> None:
    tokens = READ[0].extraction.tokens
    kept = by_model(READ[0])

    assert differences(tokens, kept, kept) == []
    assert {run.kind for run in differences(tokens, ~kept & False, kept)} == {MODEL}


def test_a_click_on_what_the_model_leaves_out_makes_the_place_the_body() -> None:
    edit = clicked(AROUND, "Read also")

    assert (edit.rule.body, edit.rule.around) == (AROUND.around, ())
    assert edit.effect == NOW_BODY
    assert "Read also" in texts(edit.rule)[0]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("x" * 150_000, "x" * 99),
        ("one\x7f two", "one two"),
        ('say "so"', 'say "so"'),
        ("\u2028line after", "line after"),
    ],
    ids=["long", "control", "quotes", "separator"],
)
def test_a_paragraph_without_a_name_and_with_odd_words_makes_a_rule_or_says_why(
    words: str, shown: str
) -> None:
    html = PAGES[0].html.replace("Read also", words).replace('class="related-box"', "")
    pages = read_pages([StoredPage(PAGES[0].url, html), *PAGES[1:]], EXTRACTOR)
    explanation = EXTRACTOR.explain(html, PAGES[0].url)
    block = explanation.blocks[block_of(shown, explanation)]

    try:
        edit = edited(TEXT, pages, pages[0], Click(block))
    except EditError:
        return

    assert read_rule(yaml_of(edit.rule)) == edit.rule
