from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_mss.pages.kinds import KINDS
from scrapy_mss.settings import REMOVED, SETTINGS, SettingError, enabled, listed, read
from scrapy_mss.sites.shards import Shard

# Of each setting: what may stand there and what it becomes.
GOOD: dict[str, list[tuple[object, object]]] = {
    "MSS_ENABLED": [(True, True), ("False", False), (0, False), ("1", True)],
    "MSS_WRAPPERS": [
        ("a.yaml, folder/", ["a.yaml", "folder/"]),
        (["a.yaml"], ["a.yaml"]),
        (({"site": "a.com"},), [{"site": "a.com"}]),
        ({"site": "a.com"}, [{"site": "a.com"}]),
        ("", []),
    ],
    "MSS_STORE": [("news", "news"), ("redis://h/0", "redis://h/0"), ("", ""), (None, "")],
    "MSS_TRAIN": [("true", True), (False, False)],
    "MSS_EMIT": [
        ("articles", ("article", "live_blog")),
        ("all", ("article", "live_blog", "all")),
        ("articles, teaser", ("article", "live_blog", "teaser")),
        (["teaser", "article"], ("article", "teaser")),
    ],
    "MSS_MIN_PROBABILITY": [("0.25", 0.25), (0, 0.0), (1, 1.0)],
    "MSS_LANGUAGES": [("en, de-AT", ("en", "de")), (["FR"], ("fr",)), ((), ()), (None, ())],
    "MSS_JOIN_PAGES": [("3", 3), (1, 1)],
    "MSS_ITEM_CLASS": [("a.Class", "a.Class"), (dict, dict)],
    "MSS_FIELD_MAP": [
        ({"text": "body"}, {"text": "body"}),
        ({"text": None}, {"text": ""}),
        ('{"text": "body"}', {"text": "body"}),
        ("", {}),
    ],
    "MSS_FIELDS": [
        ("markdown, raw_html", ("raw_html", "markdown")),
        (["markdown"], ("markdown",)),
        ("", ()),
        (None, ()),
    ],
    "MSS_MAX_BODY": [("1000", 1000), (1, 1)],
    "MSS_TIMEOUT": [("2.5", 2.5), (1, 1.0)],
    "MSS_WORKERS": [("2", 2), (0, 0)],
    "MSS_SITE_MEMORY": [("16", 16), (0, 0)],
    "MSS_LINK_PRIORITY": [(True, 1.0), ("0", 0.0), ("0.3", 0.3), (False, 0.0)],
    "MSS_RENDER": [("off", "off"), ("auto", "auto")],
    "MSS_REPORT": [("off", "off"), ("counts", "counts"), ("pages", "pages")],
    "MSS_SHARD": [("3/8", Shard(3, 8)), (None, None)],
    "MSS_ONLY_NEW": [("1", 24.0), ("True", 24.0), (False, 0.0), ("6", 6.0), (0.5, 0.5)],
    "MSS_COPIES": [("keep", "keep"), ("mark", "mark"), ("drop", "drop")],
    "MSS_SITES": [("a.example, b.example", ["a.example", "b.example"]), ([], [])],
}

# Of each setting that can be wrong: what it must refuse.
BAD: dict[str, list[object]] = {
    "MSS_JOIN_PAGES": [0, "all"],
    "MSS_LANGUAGES": ["english", ["e"], 5, "d e"],
    "MSS_ENABLED": ["perhaps", 2, []],
    "MSS_TRAIN": ["yes!", [True]],
    "MSS_EMIT": ["some", ["articles", "sections"]],
    "MSS_MIN_PROBABILITY": [1.01, -0.1, "half", float("nan")],
    "MSS_FIELD_MAP": [["text"], "text=body", 3, "[1]"],
    "MSS_FIELDS": ["text", ["markdown", 1], True],
    "MSS_MAX_BODY": [0, "big"],
    "MSS_TIMEOUT": [0, -1, 1e10, 1e300, float("inf"), float("nan"), "soon"],
    "MSS_WORKERS": [-1, "two"],
    "MSS_SITE_MEMORY": [-1, "64 MB"],
    "MSS_LINK_PRIORITY": [-1, "high", 10, float("nan")],
    "MSS_ONLY_NEW": ["perhaps", [], -2, "0.0", float("nan"), 1e10],
    "MSS_RENDER": ["always", True, ""],
    "MSS_REPORT": ["perhaps", True, 5],
    "MSS_SHARD": ["3", "9/8", "0/8", "1/1001", 3],
    "MSS_COPIES": ["merge", True],
}


def value_of(name: str, value: object) -> Any:
    options = read(Settings({name: value}))
    return getattr(options, name.removeprefix("MSS_").lower())


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [(name, *pair) for name, pairs in GOOD.items() for pair in pairs],
)
def test_a_usable_value_is_converted(name: str, value: object, expected: object) -> None:
    converted = value_of(name, value)

    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_an_unusable_value_is_refused_by_name_with_what_is_expected(
    name: str, value: object
) -> None:
    with pytest.raises(SettingError) as caught:
        read(Settings({name: value}))

    assert str(caught.value) == f"{name}: expected {SETTINGS[name].expected}, got {value!r}"


def test_every_setting_has_examples_here() -> None:
    assert GOOD.keys() == SETTINGS.keys()


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("txt", "did you mean text?"),
        ("author", "did you mean authors?"),
        ("zzzzzz", "expected one of url, canonical_url, title, text, html, raw_html, "),
        (3, "expected one of url, "),
    ],
)
def test_a_field_that_an_article_does_not_have_is_pointed_out(key: object, hint: str) -> None:
    with pytest.raises(SettingError) as caught:
        read(Settings({"MSS_FIELD_MAP": {"title": "headline", key: "body"}, "MSS_WORKERS": -1}))

    assert f"MSS_FIELD_MAP: an article has no field {key!r}: {hint}" in str(caught.value)
    assert "MSS_WORKERS: expected" in str(caught.value)


@pytest.mark.parametrize("values", [{}, dict.fromkeys(SETTINGS)])
def test_what_is_not_set_has_its_default(values: dict[str, None]) -> None:
    """As everywhere in Scrapy, None is as good as nothing."""
    options = read(Settings(values))

    for name, row in SETTINGS.items():
        assert getattr(options, name.removeprefix("MSS_").lower()) == row.default


def test_defaults_are_not_shared_between_crawls() -> None:
    read(Settings()).wrappers.append("mine.yaml")
    read(Settings()).field_map["text"] = "body"

    assert read(Settings()).wrappers == []
    assert read(Settings()).field_map == {}


def errors_of(**values: object) -> list[str]:
    with pytest.raises(SettingError) as caught:
        read(Settings(values))
    return str(caught.value).split("; ")


@pytest.mark.parametrize(
    ("name", "near"),
    [("MSS_WRAPPER", "MSS_WRAPPERS"), ("MSS_MIN_PROBABILTY", "MSS_MIN_PROBABILITY")],
)
def test_an_unknown_name_is_an_error_with_the_nearest_one(name: str, near: str) -> None:
    assert errors_of(**{name: 1, "MSS_EMIT": "some"}) == [
        f"{name}: unknown setting, did you mean {near}?",
        (
            "MSS_EMIT: expected a list of 'articles', 'all', 'unreserved' and kinds: "
            f"{', '.join(KINDS)}, got 'some'"
        ),
    ]


def test_an_unknown_name_without_a_similar_one_is_an_error_with_all() -> None:
    (error,) = errors_of(MSS_ZZZZZZZZZZZZ=1)

    assert all(name in error for name in SETTINGS)


@pytest.mark.parametrize("name", sorted(REMOVED))
def test_a_removed_name_is_an_error_that_says_what_to_do(name: str) -> None:
    assert errors_of(**{name: "x"}) == [f"{name} was removed: {REMOVED[name]}"]


def test_known_names_and_those_of_others_are_accepted() -> None:
    read(
        Settings({name: row.default for name, row in SETTINGS.items()} | {"MISS_IT": 1, "MSSX": 2})
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), ("false", False), ("0", False), ("perhaps", True)],
)
def test_a_switch_that_is_none_is_left_to_the_error_for_all_settings(
    value: object, expected: bool
) -> None:
    assert enabled(Settings({"MSS_ENABLED": value})) is expected


def test_listed_takes_names_apart_and_leaves_objects_whole() -> None:
    rule = object()

    assert listed("a, b,,c ") == ["a", "b", "c"]
    assert listed(("a, b",)) == ["a, b"]
    assert listed(rule) == [rule]
