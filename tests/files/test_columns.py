"""What of an item is in which column."""

from __future__ import annotations

import json
from dataclasses import fields
from decimal import Decimal
from typing import Any

import pytest

from scrapy_mss.files.parquet import OTHER, Columns, field_types
from scrapy_mss.items import ARTICLE_FIELDS, Article

pa = pytest.importorskip("pyarrow")

NAMES = {name: name for name in ARTICLE_FIELDS}
OURS = Columns.of(NAMES, None)


def test_each_field_of_an_article_is_a_column_of_its_type() -> None:
    schema = OURS.schema()

    assert schema.names == [*(each.name for each in fields(Article)), OTHER]
    expected = {"url": "string", "authors": "list<item: string>", "revision": "int64"}
    assert {name: str(schema.field(name).type) for name in expected} == expected
    assert str(schema.field("probability").type) == "double"
    assert field_types()["published"] is str


def test_columns_have_the_names_that_the_project_gives_the_fields() -> None:
    columns = Columns.of({**NAMES, "text": "body", "html": ""}, None)

    assert {"body"} == set(columns.types) - set(NAMES)
    assert {"text", "html"} == set(NAMES) - set(columns.types)


def test_fields_that_a_feed_names_are_the_columns() -> None:
    columns = Columns.of(NAMES, {"probability": "p", "page": "page"})

    assert str(columns.schema()) == "p: double\npage: string"
    assert columns.row([("p", 1), ("page", [2])]) == ({"p": 1.0, "page": "[2]"}, {})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("title", "A title", "A title"),
        ("title", "", ""),
        ("title", "half \ud800", "half ?"),
        ("title", {"a": [1]}, '{"a": [1]}'),
        ("title", Decimal("1.50"), "1.50"),
        ("authors", ["A", 2], ["A", "2"]),
        ("authors", "A", ["A"]),
        ("revision", "3", 3),
        ("revision", 3.0, 3),
        ("probability", "0.5", 0.5),
        ("probability", None, None),
    ],
)
def test_a_value_becomes_one_of_the_column(name: str, value: object, expected: object) -> None:
    row, left = OURS.row([(name, value)])

    assert row == {name: expected}
    assert left == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("league", "first"),
        ("other", {"deep": [None, 1.5, "é"]}),
        ("revision", 1.5),
        ("revision", 2**63),
        ("revision", float("inf")),
        ("probability", "high"),
        ("probability", 10**400),
        ('a "quoted" name', ""),
    ],
)
def test_what_no_column_takes_is_kept_as_json(name: str, value: object) -> None:
    row, left = OURS.row([("url", "u"), (name, value), ("more", 1)])

    assert left == {}
    assert row["url"] == "u"
    assert json.loads(row[OTHER]) == {name: value, "more": 1}


def test_what_is_no_json_either_is_left_and_spoils_nothing() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    row, left = OURS.row([("deep", deep), ("odd", object()), ("good", 1), ("url", "u")])

    assert left.keys() == {"deep", "odd"}
    assert row == {"url": "u", OTHER: '{"good": 1}'}
