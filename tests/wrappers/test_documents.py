"""Wrappers as plain values: what is read back is what was written."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from scrapy_mss.wrappers import (
    Between,
    SamplePage,
    UrlPattern,
    Wrapper,
    class_or_id,
    css,
    load_wrappers,
    xpath,
)
from scrapy_mss.wrappers.rules import ROLES
from scrapy_mss.wrappers.schema import KEYS, document_of, read_document

LEAST = Wrapper(site="example.com", body=(css("article"),))
MOST = Wrapper(
    site="*.example.com",
    body=(css("article.story"), xpath("//main"), Between(css("h1"), class_or_id("footer"))),
    name="stories",
    url=(UrlPattern("glob", "/news/*?page=*"), UrlPattern("regex", r"/\d+\.html$")),
    exclude=(class_or_id("teaser"), css("aside")),
    title=(css("h1::text"), xpath("//h2")),
    authors=(css(".by"),),
    published=(css("time::attr(datetime)"),),
    next_page=(css("a.more"), xpath("//link[@rel='next']/@href")),
    valid_from=date(2020, 2, 29),
    valid_until=date(2024, 12, 31),
    priority=-3,
    drop_misses=True,
    tests=(
        SamplePage("https://a.example.com/news/1"),
        SamplePage("https://a.example.com/2", ("x", "y")),
    ),
)
AROUND = replace(MOST, body=(), around=MOST.body, drop_misses=False, train_only=True)


@pytest.mark.parametrize("wrapper", [LEAST, MOST, AROUND])
def test_a_wrapper_comes_back_through_json(wrapper: Wrapper) -> None:
    (back,) = read_document(json.loads(json.dumps(document_of(wrapper))), "here")

    assert back == wrapper


@pytest.mark.parametrize(
    "name", [*ROLES, "url", "name", "tests", "priority", "drop_misses", "valid_from"]
)
def test_each_field_alone_comes_back(name: str) -> None:
    body = {} if name == "around" else {"body": LEAST.body}
    fields = {"site": LEAST.site, **body, name: getattr(AROUND if body == {} else MOST, name)}

    (back,) = read_document(document_of(Wrapper(**fields)), "here")

    assert back == Wrapper(**fields)


def test_every_key_of_the_schema_is_written() -> None:
    assert document_of(MOST).keys() | document_of(AROUND).keys() == KEYS.keys()


def test_what_is_not_said_is_not_written() -> None:
    assert document_of(LEAST) == {"site": "example.com", "body": "article"}


def test_a_rule_of_third_parties_comes_back() -> None:
    config = "body: //div[@id='a']\nstrip_id_or_class: ad\nauthor: //b\ntest_url: http://x.org/1\n"
    from scrapy_mss.wrappers.ftr import ImportReport, read_site_config

    (wrapper,) = read_site_config(config, "x.org.txt", ImportReport())

    assert list(load_wrappers(document_of(wrapper))) == [wrapper]
