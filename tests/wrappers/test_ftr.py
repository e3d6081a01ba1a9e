"""Site config files of Full-Text RSS; those here are ours, in their syntax."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.wrappers import ImportReport, SamplePage, Wrapper, class_or_id, xpath
from scrapy_mss.wrappers.ftr import (
    PRIORITY,
    directive_of,
    read_site_config,
    site_of_file,
    without_note,
)

CONFIG = """\
# A note: not a directive
title: //h1
body: //div[@id='story']
body://article

strip: //aside
strip_id_or_class: 'share bar'
strip_id_or_class: promo #or not?
AUTHOR: //p[@class='by']
date: substring-after(//p[@class='on'], 'on ')
next_page_link: //a[@class='more']/@href
prune: no
find_string: <x
replace_string(<y): <z
test_url: https://example.com/1
test_contains: First
test_contains: Second
test_url: https://example.com/2
"""


def read(text: str, file: str = "rules/example.com.txt") -> tuple[list[Wrapper], ImportReport]:
    report = ImportReport()
    return read_site_config(text, file, report), report


def test_directives_become_fields() -> None:
    wrappers, report = read(CONFIG)

    assert wrappers == [
        Wrapper(
            site="example.com",
            body=(xpath("//div[@id='story']"), xpath("//article")),
            exclude=(xpath("//aside"), class_or_id("share bar"), class_or_id("promo")),
            title=(xpath("//h1"),),
            authors=(xpath("//p[@class='by']"),),
            published=(xpath("substring-after(//p[@class='on'], 'on ')"),),
            next_page=(xpath("//a[@class='more']/@href"),),
            priority=PRIORITY,
            tests=(
                SamplePage("https://example.com/1", ("First", "Second")),
                SamplePage("https://example.com/2"),
            ),
        )
    ]
    assert report.ignored == {"prune": 1, "find_string": 1, "replace_string": 1}
    assert (report.files, report.wrappers, report.problems) == (1, 1, [])


def test_a_problem_is_reported_and_the_rest_of_the_file_is_used() -> None:
    (wrapper,), report = read("body: //p[\nbody: //article\nstrip: //*\nstrip: //a/@href\ntitle:")

    assert wrapper == Wrapper(site="example.com", body=(xpath("//article"),), priority=PRIORITY)
    assert [str(problem).split(", got")[0] for problem in report.problems] == [
        "rules/example.com.txt: line 1, body: expected an XPath expression",
        "rules/example.com.txt: line 3, strip: expected a selector that leaves something out",
        "rules/example.com.txt: line 4, strip: expected a selector of elements",
        "rules/example.com.txt: line 5, title: expected an XPath expression",
    ]


def test_a_file_name_that_is_no_host_is_a_problem() -> None:
    wrappers, report = read("body: //p", "notes on rules.txt")

    assert wrappers == []
    assert "expected a host" in str(report.problems[0])


@pytest.mark.parametrize(
    ("file", "site"),
    [
        ("example.com.txt", "example.com"),
        ("a/b/.example.com.txt", "*.example.com"),
        ("C:\\rules\\news.example.com.txt", "news.example.com"),
    ],
)
def test_the_site_is_the_name_of_the_file(file: str, site: str) -> None:
    assert site_of_file(file) == site


# What the syntax is, as patterns that take quadratic time of some lines.
LINE = re.compile(r"\s*([a-z_]+)\s*(?:\([^)]*\))?\s*:\s*(.*?)\s*", re.IGNORECASE | re.ASCII)
NOTE = re.compile(r"\s+#.*")
LINES = st.text(st.sampled_from("aB_: ()#\t.\"'"), max_size=12)


@given(LINES)
def test_a_line_is_read_as_the_pattern_of_the_syntax_says(line: str) -> None:
    found = LINE.fullmatch(line)

    assert directive_of(line) == ((found[1].lower(), found[2]) if found else None)


@given(LINES)
def test_a_note_ends_a_value_as_the_pattern_says(line: str) -> None:
    text = line.strip()

    assert without_note(text) == NOTE.sub("", text)
