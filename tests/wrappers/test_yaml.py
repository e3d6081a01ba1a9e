"""Wrappers in YAML: the format, and every fault with its file and its path."""

from __future__ import annotations

from datetime import date

import pytest

from scrapy_mss.wrappers import Between, Example, UrlPattern, Wrapper, WrapperError, css, xpath
from scrapy_mss.wrappers.documents import read_document
from scrapy_mss.wrappers.selectors import class_or_id
from scrapy_mss.wrappers.yamlfile import LARGEST, documents

FULL = """
site: example.com
wrappers:
  - name: articles
    url: [/news/*, {regex: '^/\\d{4}/'}]
    body: [{css: div.article-body}, {xpath: "//div[@id='text']"}, {start: h1, end: {css: footer}}]
    exclude: [aside, {class_or_id: share}]
    title: h1
    authors: .byline a
    published: {css: "time::attr(datetime)"}
    valid: {from: 2024-01-01, until: '2025-06-30'}
    priority: 10
    tests: [https://example.com/news/1, {url: https://example.com/news/2, contains: [one, two]}]
  - body: article
"""


def wrappers(text: str) -> list[Wrapper]:
    return [w for document in documents(text, "f.yaml") for w in read_document(document, "f.yaml")]


def faults(text: str) -> list[str]:
    with pytest.raises(WrapperError) as caught:
        wrappers(text)
    return [str(fault) for fault in caught.value.faults]


def test_every_key_is_read() -> None:
    first, second = wrappers(FULL)

    assert first == Wrapper(
        site="example.com",
        name="articles",
        url=(UrlPattern("glob", "/news/*"), UrlPattern("regex", r"^/\d{4}/")),
        body=(
            css("div.article-body"),
            xpath("//div[@id='text']"),
            Between(css("h1"), css("footer")),
        ),
        exclude=(css("aside"), class_or_id("share")),
        title=(css("h1"),),
        authors=(css(".byline a"),),
        published=(css("time::attr(datetime)"),),
        valid_from=date(2024, 1, 1),
        valid_until=date(2025, 6, 30),
        priority=10,
        tests=(
            Example("https://example.com/news/1"),
            Example("https://example.com/news/2", ("one", "two")),
        ),
    )
    assert second == Wrapper(site="example.com", body=(css("article"),))
    assert first.origin == "f.yaml: $.wrappers[0]"


def test_a_site_of_one_kind_needs_no_list() -> None:
    assert wrappers("site: example.com\nbody: article") == [
        Wrapper(site="example.com", body=(css("article"),))
    ]


def test_a_wrapper_may_have_a_site_of_its_own() -> None:
    text = "wrappers: [{site: a.example, body: p}, {site: b.example, body: p}]"

    assert [wrapper.site for wrapper in wrappers(text)] == ["a.example", "b.example"]


SELECTOR = "a CSS selector, or a mapping with one of css, xpath, class_or_id"
KEYS = "site, name, url, body, exclude, title, authors, published, valid, priority, tests"
PLAIN = "expected YAML of plain values"

FAULTS = [
    ("body: {css: 'p['}", "$.body.css: expected a CSS selector, got 'p[': Expected ident"),
    ("body: 'p['", "$.body: expected a CSS selector, got 'p['"),
    ("body: [p, {xpath: //p(}]", "$.body[1].xpath: expected an XPath expression, got '//p('"),
    ("body: {xpath: '//*'}", "$.body.xpath: expected a selector that leaves something out"),
    ("body: '*'", "$.body: expected a selector that leaves something out"),
    ("body: [p, '*']", "$.body[1]: expected a selector that leaves something out"),
    ("body: {start: h1, end: '*'}", "$.body.end: expected a selector that leaves something out"),
    ("body: {start: h1}", "$.body.end: expected a CSS selector, or a mapping with one of css"),
    ("body: {start: h1, end: h2, css: p}", "$.body: expected one of start, end, got the key 'css'"),
    ("body: []", "$.body: expected at least one selector, got none"),
    ("body:", "$.body: expected a CSS selector, or a mapping"),
    ("body: 5", f"$.body: expected {SELECTOR}, got the number 5"),
    ("body: {css: 5}", "$.body.css: expected a CSS selector, got the number 5"),
    ("body: {css: p, xpath: //p}", "$.body: expected a CSS selector, or a mapping with one of"),
    ("body: {sizzle: p}", "$.body: expected a CSS selector, or a mapping with one of"),
    ("title: h1", "$: expected a 'body', got nothing"),
    ("body: p\nexclude: [a, ',']", "$.exclude[1]: expected a CSS selector, got ','"),
    ("body: p\nexclude: {css: body}", "$.exclude.css: expected a selector that leaves something"),
    ("body: p\ntitel: h1", f"$: expected one of {KEYS}, got the key 'titel' (is it 'title'?)"),
    ("body: p\nurl: news", "$.url: expected a pattern of paths that begins with / or *"),
    ("body: p\nurl: [/a, {regex: '('}]", "$.url[1].regex: expected a regular expression, got '('"),
    ("body: p\nurl: {glob: /a}", "$.url: expected a pattern of paths, as in /news/*, or a mapping"),
    ("body: p\npriority: high", "$.priority: expected a whole number, got the text 'high'"),
    ("body: p\npriority: yes", "$.priority: expected a whole number, got the truth value True"),
    ("body: p\nvalid: {from: soon}", "$.valid.from: expected a day, as in 2024-01-31"),
    ("body: p\nvalid: {from: 2024-01-01 10:00}", "$.valid.from: expected a day, as in 2024-01-31"),
    ("body: p\nvalid: 2024-01-01", "$.valid: expected a mapping with 'from', 'until' or both"),
    ("body: p\nvalid: {}", "$.valid: expected a mapping with 'from', 'until' or both"),
    ("body: p\nvalid: {from: 2024-02-01, until: 2024-01-01}", "$.valid: expected a first day that"),
    ("body: p\nname: 7", "$.name: expected a text, got the number 7"),
    ("body: p\ntests: {contains: x}", "$.tests: expected a URL, or a mapping with 'url' and"),
    ("body: p\ntests: {url: u, contains: [x, 1]}", "$.tests.contains[1]: expected a text, got the"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_fault_has_its_path_and_what_came(text: str, message: str) -> None:
    (fault,) = faults(f"site: a.example\n{text}")

    assert fault.startswith(f"f.yaml: {message}")


def test_all_faults_are_told_at_once() -> None:
    found = faults(
        "site: a.example\nwrappers:\n"
        "- {body: 'p['}\n- {body: p, exclude: ['*', 'q['], priority: x}\n- 3\n- {body: article}"
    )

    assert [fault.split(": ")[1] for fault in found] == [
        "$.wrappers[0].body",
        "$.wrappers[1].exclude[1]",
        "$.wrappers[1].priority",
        "$.wrappers[2]",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- site: a.example\n  body: p", "$: expected a mapping with 'site' and 'body'"),
        ("body: p", "$: expected a 'site', got nothing"),
        ("site: a.example", "$: expected a 'body', got nothing"),
        ("site: a.example\nwrappers: []", "$.wrappers: expected a list of wrappers"),
        ("site: a.example\nwrappers: {body: p}", "$.wrappers: expected a list of wrappers"),
        ("site: a.example\nbody: p\nwrappers: [{body: p}]", "$: expected one of site, wrappers"),
        ("site: 5\nbody: p", "$.site: expected a text, got the number 5"),
        ("site: http://a.example\nbody: p", "$.site: expected a host"),
        ("site: a b\nwrappers: [{body: p}, {body: q}]", "$.site: expected a host"),
        ("site: 5\nwrappers: [{body: p}, {body: q}]", "$.site: expected a text"),
        ("site: a\nwrappers: [{body: p, site: b c}]", "$.wrappers[0].site: expected a host"),
        (
            "body: p\nsite: x\nbody: q",
            f"line 3, column 1: {PLAIN}, got a second 'body'",
        ),
        ("site: &s x\nbody: *s", f"line 2, column 7: {PLAIN}, got an alias; write the value out"),
        ("body: [p", f"line 1, column 9: {PLAIN}"),
        ("body: !!python/name:os.system", f"line 1, column 7: {PLAIN}"),
        ("body: 2024-02-31", f"{PLAIN}, got day is out of range"),
        ("body: \0", PLAIN),
        ("[" * 5000, "expected YAML, got hundreds of values in each other"),
        ("#" * (LARGEST + 1), "expected a file of at most 1,048,576 characters, got 1,048,577"),
    ],
)
def test_a_document_of_another_shape_is_refused(text: str, message: str) -> None:
    (fault,) = faults(text)

    assert fault.startswith(f"f.yaml: {message}")


def test_keys_that_are_no_text_are_told() -> None:
    assert "the key True" in faults("site: a.example\nbody: p\nyes: 1")[0]
    assert len(faults("? [a]\n: 1")) == 1
