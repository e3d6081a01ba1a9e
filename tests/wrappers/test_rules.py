"""Wrappers, their URL patterns, and what a wrapper made in Python rejects."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError

import pytest

from scrapy_mss.wrappers import SamplePage, Wrapper, WrapperError, css
from scrapy_mss.wrappers.rules import ROLES, UrlParts, url_matches

BODY = (css("article"),)


def parts(url: str) -> UrlParts:
    found = UrlParts.of(url)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("/news/*", "https://a.example/news/2024/1?page=2", True),
        ("/news/*", "https://a.example/news", False),
        ("/news/*", "https://a.example/old/news/1", False),
        ("*/news/*", "https://a.example/old/news/1", True),
        ("/", "https://a.example", True),
        ("/a.b", "https://a.example/axb", False),
        ("/a*b*c", "https://a.example/a1b2c", True),
        ("/a*b*c", "https://a.example/a1c2b", False),
        ("/ab*ba", "https://a.example/aba", False),
        ("/" + "*a" * 99 + "!", "https://a.example/" + "a" * 9999, False),
        ("/story?id=*", "https://a.example/story?id=7", True),
        ("/story?id=*", "https://a.example/story", False),
    ],
)
def test_a_pattern_matches_paths(pattern: str, url: str, *, matches: bool) -> None:
    assert url_matches(pattern, parts(url)) is matches


@pytest.mark.parametrize(
    "site",
    [
        "",
        "https://a.example",
        "a.example/news",
        "exa mple.com",
        "*.",
        "a..b",
        "*",
        ".example.com",
        "example.com:80",
        "-a.example",
        "ü" * 70 + ".example",
    ],
)
def test_a_site_that_is_no_host_is_rejected(site: str) -> None:
    with pytest.raises(WrapperError) as caught:
        Wrapper(site=site, body=BODY)

    assert ".site: expected a host, such as example.com" in str(caught.value)


PROBLEMS: list[tuple[Mapping[str, object], str]] = [
    ({"body": ()}, ".body: expected at least one selector, got none"),
    ({"around": (css("main"),)}, ".around: expected 'body', which is the text, or 'around', which"),
    ({"body": "article"}, ".body: expected a tuple of Selector, such as (css('h1'),)"),
    ({"title": css("h1")}, ".title: expected a tuple of Selector, such as (css('h1'),)"),
    ({"priority": True}, ".priority: expected int, got the boolean True"),
    ({"url": "/a"}, ".url: expected a tuple of str, such as ('/news/*',), got the string '/a'"),
    ({"url": ("/a", "news/*")}, ".url[1]: expected a path pattern that begins with / or *"),
    ({"url": ("",)}, ".url[0]: expected a path pattern that begins with / or *"),
]


@pytest.mark.parametrize(("fields", "message"), PROBLEMS, ids=[row[1] for row in PROBLEMS])
def test_a_wrapper_in_python_reports_what_is_wrong(
    fields: Mapping[str, object], message: str
) -> None:
    with pytest.raises(WrapperError) as caught:
        Wrapper(**{"site": "a.example", "body": BODY, **fields})  # type: ignore[arg-type]

    assert message in str(caught.value)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("text", ["*", "html", ":root", "p, *", "body", "p::text", "p"])
def test_what_a_field_may_select_is_in_the_table_of_roles(role: str, text: str) -> None:
    """Nothing takes all of a page but its body; what is cut out of a page is elements."""
    selector, body = css(text), {} if role == "around" else {"body": BODY}
    is_sound = selector.coverage in ROLES[role].coverage
    is_sound = is_sound and not (ROLES[role].elements_only and selector.selects_text)
    try:
        Wrapper(**{"site": "a.example", **body, role: (selector,)})  # type: ignore[arg-type]
    except WrapperError as error:
        found = str(error).partition(" expected")[0]
        assert (is_sound, found) == (False, f".{role}[0]:")
    else:
        assert is_sound


def test_a_wrapper_is_a_frozen_value() -> None:
    one, other = (
        Wrapper(site="a.example", body=BODY, tests=(SamplePage("u"),), origin=place)
        for place in "12"
    )

    assert one == other
    assert len({one, other}) == 1
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own
    with pytest.raises(FrozenInstanceError):
        one.site = "b.example"  # type: ignore[misc]


def test_phrases_of_a_test_page_in_a_list_are_rejected() -> None:
    """They would have no hash: each page of the site would be lost on its way to a worker."""
    with pytest.raises(WrapperError) as caught:
        SamplePage("https://example.com/1", ["a phrase"])  # type: ignore[arg-type]

    assert "expected a tuple of strings, such as ('a phrase',), got" in str(caught.value)
