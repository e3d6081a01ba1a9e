"""Wrappers in YAML: the format, every problem with its file and its path, and back."""

from __future__ import annotations

import json
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.wrappers import SamplePage, Wrapper, WrapperError, css, xpath
from scrapy_mss.wrappers.rules import ROLES
from scrapy_mss.wrappers.schema import KEYS, document_of, documents, read_document, yaml_of

T = TypeVar("T")

FULL = """
site: example.com
wrappers:
  - name: articles
    url: [/news/*, /2024/*]
    body: [{css: div.article-body}, {xpath: "//div[@id='text']"}]
    exclude: [aside, '[class*=share]']
    title: h1
    authors: .byline a
    published: {css: "time::attr(datetime)"}
    priority: 10
    tests: [https://example.com/news/1, {url: https://example.com/news/2, contains: [one, two]}]
  - body: article
"""


def wrappers(text: str) -> list[Wrapper]:
    found = documents(text.encode())
    return [wrapper for document in found for wrapper in read_document(document.value, "f.yaml")]


def problems(text: str) -> list[str]:
    with pytest.raises(WrapperError) as caught:
        wrappers(text)
    return [str(problem) for problem in caught.value.problems]


def test_every_key_is_read() -> None:
    first, second = wrappers(FULL)

    assert first == Wrapper(
        site="example.com",
        name="articles",
        url=("/news/*", "/2024/*"),
        body=(css("div.article-body"), xpath("//div[@id='text']")),
        exclude=(css("aside"), css("[class*=share]")),
        title=(css("h1"),),
        authors=(css(".byline a"),),
        published=(css("time::attr(datetime)"),),
        priority=10,
        tests=(
            SamplePage("https://example.com/news/1"),
            SamplePage("https://example.com/news/2", ("one", "two")),
        ),
    )
    assert second == Wrapper(site="example.com", body=(css("article"),))
    assert first.origin == "f.yaml: $.wrappers[0]"


SELECTOR = "a CSS selector, or a mapping with one of css, xpath"
ALL_KEYS = (
    "site, name, url, body, around, exclude, title, authors, published, next_page, "
    "priority, train_only, drop_misses, tests"
)
PLAIN = "expected YAML with plain values"

PROBLEMS = [
    ("body: 'p['", "$.body: expected a CSS selector, got 'p['"),
    ("body: [p, {xpath: //p(}]", "$.body[1].xpath: expected an XPath expression, got '//p('"),
    ("body: [p, {css: '*'}]", "$.body[1].css: expected a selector that leaves something out"),
    ("body: {start: h1, end: h2}", f"$.body: expected {SELECTOR}, got the mapping {{'start': 'h1'"),
    ("body: true", f"$.body: expected {SELECTOR}, got the boolean True"),
    ("body: {css: p, xpath: //p}", "$.body: expected a CSS selector, or a mapping with one of"),
    ("around: .a::text", "$.around: expected a selector of elements"),
    (
        "body: p\naround: .story",
        "$: expected a key 'body' or 'around', got 'body' and 'around' together",
    ),
    ("body: p\nexclude: [a, ',']", "$.exclude[1]: expected a CSS selector, got ','"),
    (
        "body: p\ntitel: h1",
        f"$: expected one of {ALL_KEYS}, got the key 'titel' (did you mean 'title'?)",
    ),
    ("body: p\nurl: news", "$.url: expected a path pattern that begins with / or *"),
    ("body: p\nurl: [/a, {regex: x}]", "$.url[1]: expected a path pattern, as in /news/*, got the"),
    ("body: p\npriority: 1:30", "$.priority: expected an integer, got the string '1:30'"),
    ("body: p\npriority: yes", "$.priority: expected an integer, got the boolean True"),
    ("body: p\ntrain_only: 1", "$.train_only: expected true or false, got the string '1'"),
    (
        "body: p\ntrain_only: true\ndrop_misses: true",
        "$.drop_misses: expected 'train_only', which leaves items to the model, or 'drop_misses'",
    ),
    ("body: p\nname: no", "$.name: expected a string, got the boolean False"),
    ("body: p\ntests: {contains: x}", "$.tests: expected a key 'url', got none"),
    (
        "body: p\ntests: {url: u, contains: [x, no]}",
        "$.tests.contains[1]: expected a string, got the",
    ),
]


@pytest.mark.parametrize(("text", "message"), PROBLEMS, ids=[row[0] for row in PROBLEMS])
def test_a_problem_has_its_path_and_what_was_found(text: str, message: str) -> None:
    (problem,) = problems(f"site: a.example\n{text}")

    assert problem.startswith(f"f.yaml: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "- site: a.example\n  body: p",
            "$: expected a mapping with 'site' and 'body' or 'around'",
        ),
        ("body: p", "$: expected a key 'site', got none"),
        ("site: a.example", "$: expected a key 'body' or 'around', got none"),
        ("site: a.example\nwrappers: []", "$.wrappers: expected a list of wrappers"),
        ("site: a.example\nbody: p\nwrappers: [{body: p}]", "$: expected one of site, wrappers"),
        ("site: a b\nwrappers: [{body: p}, {body: q}]", "$.site: expected a host"),
        ("site: a\nwrappers: [{body: p, site: b c}]", "$.wrappers[0].site: expected a host"),
        ("body: p\nsite: x\nbody: q", f"line 3, column 1: {PLAIN}, got a second 'body'"),
        ("site: &s x\nbody: *s", f"line 2, column 7: {PLAIN}, got an alias; write the value out"),
        ("body: [p", f"line 1, column 9: {PLAIN}"),
        ("body: !!python/name:os.system", f"line 1, column 7: {PLAIN}"),
        ("body: 2024-02-31", f"{PLAIN}, got day is out of range"),
        ("body: \0", PLAIN),
        ("body: !!int 1:30", f"line 1, column 7: {PLAIN}, got could not determine a constructor"),
        ("[" * 500, "expected YAML, got hundreds of nested values"),
    ],
)
def test_a_document_of_another_shape_is_rejected(text: str, message: str) -> None:
    (problem,) = problems(text)

    assert problem.removeprefix("f.yaml: ").startswith(message)


def test_a_misspelt_list_of_wrappers_is_recognized() -> None:
    missing, unknown = problems("site: a.example\nwrapers: [{body: p}]")

    assert missing == "f.yaml: $: expected a key 'body' or 'around', got none"
    assert unknown.endswith("got the key 'wrapers' (did you mean 'wrappers'?)")


def test_keys_that_are_no_strings_are_reported() -> None:
    assert "the key True" in problems("site: a.example\nbody: p\nyes: 1")[0]
    assert len(problems("? [a]\n: 1")) == 1


LINES = """# comment

site: a.example
wrappers:
  - body:
      - div.one
      - {
         css: footer}
    title: h1
  - {name: two, body: p}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 3),
        (".wrappers[0].body[0]", 6),
        (".wrappers[0].body[1].css", 8),
        (".wrappers[1].body.css", 10),
        (".wrappers.body", 5),
    ],
)
def test_the_line_of_a_path_is_that_of_the_nearest_value(path: str, line: int) -> None:
    (document,) = documents(LINES.encode())

    assert document.line_of(path) == line


# What is read back is what was written


def some(each: st.SearchStrategy[T], least: int = 0) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(each, min_size=least, max_size=3).map(tuple)


SELECTORS = st.sampled_from((css("h1"), css("p, q"), xpath("//main")))
PLACES = some(SELECTORS, least=1)
PATTERNS = st.sampled_from(("/n/*?p=*", "*.html"))
PHRASES = st.text("a7\u00e9\u4e2d :#-'\"{,", max_size=5)
FIELDS = {
    "site": st.sampled_from(("example.com", "*.example.com")),
    "name": st.sampled_from(("", "stories: \u4e2d")),
    "url": some(PATTERNS),
    **{role: some(SELECTORS) for role in ROLES if role not in ("body", "around")},
    "priority": st.integers(-3, 3),
    "tests": some(st.builds(SamplePage, st.just("https://a.example/1"), some(PHRASES))),
}
WRAPPERS = st.one_of(
    st.builds(Wrapper, **FIELDS, body=PLACES, drop_misses=st.booleans()),
    st.builds(Wrapper, **FIELDS, around=PLACES, train_only=st.booleans()),
)


@given(WRAPPERS)
def test_a_wrapper_comes_back_through_json_and_yaml(wrapper: Wrapper) -> None:
    written = document_of(wrapper)

    assert read_document(json.loads(json.dumps(written)), "here") == [wrapper]
    assert wrappers(yaml_of(wrapper, ["Two\nlines"])) == [wrapper]
    assert written.keys() == {key for key in KEYS if getattr(wrapper, key)}
