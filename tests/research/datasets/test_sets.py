from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from research.datasets.pages import Dataset, site_of
from research.datasets.sets import limited, load
from tests.research.bench.fakes import page, pages, record, write_jsonl


def test_the_second_page_of_an_id_is_skipped(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "set.jsonl", [record(page(1)), record(page(1))])

    found = load(f"jsonl:{path}")

    assert found.pages == (page(1),)
    assert [each.field for each in found.broken] == ["id"]


def test_a_limit_takes_pages_from_all_over_the_set() -> None:
    whole = Dataset("s", "s", tuple(page(n) for n in range(10)))

    assert [each.id for each in limited(whole, 4).pages] == [page(n).id for n in (0, 2, 5, 7)]
    assert limited(whole, 10) == limited(whole, None) == whole


def test_the_hash_tells_any_change_of_a_set() -> None:
    given = pages(2)
    first = given[0]
    others = [
        given[1:],
        given[::-1],
        (replace(first, id="x"), *given[1:]),
        (replace(first, html=first.html + " "), *given[1:]),
        (replace(first, golds=(*first.golds, "")), *given[1:]),
        (replace(first, golds=("ab", "c")), *given[1:]),
        (replace(first, golds=("a", "bc")), *given[1:]),
    ]

    hashes = {Dataset("s", "s", tuple(each)).sha256 for each in [given, *others]}

    assert len(hashes) == len(others) + 1
    assert Dataset("other", "place", given).sha256 == Dataset("s", "s", given).sha256


def test_a_site_is_a_registered_domain() -> None:
    cases = [
        ("https://www.news.example.co.uk/a?b", "example.co.uk"),
        ("http://Example.COM", "example.com"),
        ("http://localhost/a", "localhost"),
        ("http://192.0.2.1/a", "192.0.2.1"),
        ("", "fallback"),
        (None, "fallback"),
    ]

    assert [(url, site_of(url, "fallback")) for url, _ in cases] == cases
