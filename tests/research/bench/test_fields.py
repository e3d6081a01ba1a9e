from __future__ import annotations

import itertools
import json
import lzma
from pathlib import Path

import pytest

from research.bench import fields

HTML = """<html><head><title>Rain falls in May</title></head><body><h1>Rain falls in May</h1>
<p>By Ann Lee</p><p>March 5, 2024</p></body></html>"""


_IDS = map(str, itertools.count())


def record(site: str, **values: object) -> dict[str, object]:
    known = {"title": "Rain falls in May", "author": ["Ann Lee"], "date": "2024-03-05"}
    return {
        "id": next(_IDS),
        "golds": [""],
        "url": f"https://{site}/a",
        "site": site,
        "html": HTML,
        **known,
        **values,
    }


def write(folder: Path, name: str, records: list[dict[str, object]]) -> None:
    with lzma.open(folder / f"{name}.jsonl.xz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(each) + "\n" for each in records)


SITES = [f"site{number}.com" for number in range(12)]
TUNED = [site for site in SITES if fields.is_tuned(site)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "articles_rules", [record(site) for site in SITES])
    write(tmp_path, "articles_wcxb", [record(TUNED[0]), record("other.com")])
    return tmp_path


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Rain “falls” – in May", 'RAIN "falls" - in May', True),  # noqa: RUF001
        ("Rain falls", "Rain fell", False),
        ("Café", "Cafe", False),
    ],
)
def test_titles_are_compared_by_letters(one: str, other: str, same: bool) -> None:  # noqa: FBT001
    assert (fields.title_key(one) == fields.title_key(other)) == same


def test_authors_are_compared_as_sets() -> None:
    cases = [
        (["Ann Lee", "Bo Ek"], {"ann lee", "bo ek"}),
        (["By ANN LEE, MD and Bo Ék"], {"ann lee", "bo ek"}),
        (["Ann Lee (https://x.example) | ann@x.example"], {"ann lee"}),
        ([""], set[str]()),
    ]

    assert [(texts, set(fields.author_keys(texts))) for texts, _ in cases] == cases


def test_a_day_is_that_of_the_place_or_of_utc() -> None:
    cases = [
        ("2024-03-05", {"2024-03-05"}),
        ("2024-03-05T23:30:00", {"2024-03-05"}),
        ("2024-03-05 23:30:00.123-05:00", {"2024-03-05", "2024-03-06"}),
        ("2024-03-05T23:30:00Z", {"2024-03-05"}),
        ("", set[str]()),
        ("in May", set[str]()),
    ]

    assert [(text, set(fields.days(text))) for text, _ in cases] == cases
