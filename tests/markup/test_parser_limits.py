from __future__ import annotations

from functools import partial

import pytest
from lxml import etree

from scrapy_mss.markup.parser_limits import MAX_ATTRIBUTES, without_surplus_attributes
from scrapy_mss.metadata import read_html
from tests.helpers.news_pages import news_page
from tests.helpers.timing import FACTOR, grows_linearly


def tag(n_attributes: int, form: str = "a%d='>'") -> str:
    return f"<p {' '.join(form % n for n in range(n_attributes))}>one</p>"


@pytest.mark.parametrize("form", ["a%d", "a%d=1", "a%d='>'", 'a%d = ">"'])
def test_a_tag_keeps_its_first_attributes(form: str) -> None:
    source = without_surplus_attributes(tag(1000, form))

    element = etree.fromstring(source, etree.HTMLParser())[0][0]
    assert list(element.attrib) == [f"a{n}" for n in range(MAX_ATTRIBUTES)]
    assert element.text == "one"


@pytest.mark.parametrize("before", ["<title-bar>", "<scripted>", "<Styles>"])
def test_a_tag_counts_after_one_whose_name_begins_as_that_of_raw_text(before: str) -> None:
    assert len(without_surplus_attributes(before + tag(1000))) < len(
        before + tag(MAX_ATTRIBUTES + 1)
    )


@pytest.mark.parametrize(
    "source",
    [
        news_page(0).html,
        tag(MAX_ATTRIBUTES),
        "<p title='" + "word " * 5000 + "'>one",
        f"<!-- {tag(1000)} -->",
        f"<script>{tag(1000)}</script>",
        "<p>one",
    ],
)
def test_other_sources_are_left_alone(source: str) -> None:
    assert without_surplus_attributes(source) == source


def test_metadata_of_a_tag_of_attributes_take_linear_time() -> None:
    small, large = (partial(read_html, tag(n, "a%d")) for n in (5000, FACTOR * 5000))
    assert grows_linearly(small, large)
