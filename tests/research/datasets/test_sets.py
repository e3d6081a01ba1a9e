from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from research.datasets.pages import Dataset, site_of
from research.datasets.sets import limited, load, load_all
from research.errors import UserError
from tests.research.bench.fakes import page, pages, record, write_jsonl


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Two articles and a forum page."""
    given = [page(1), page(2, page_type="forum"), page(3)]
    return write_jsonl(tmp_path / "mixed.jsonl", map(record, given))


def test_all_types_are_read_unless_some_are_asked_for(mixed: Path) -> None:
    assert [each.id for each in load(f"jsonl:{mixed}").pages] == [page(n).id for n in (1, 2, 3)]
    assert load(f"jsonl:{mixed}?type=forum").pages == (page(2, page_type="forum"),)
    assert len(load(f"jsonl:{mixed}?type=forum,article").pages) == 3


def test_the_name_of_a_set_holds_no_folder(mixed: Path) -> None:
    assert load(f"jsonl:{mixed}?type=article").name == "jsonl:mixed?type=article"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("csv:a", "expected KIND:PATH with KIND one of jsonl, scrapinghub, wcxb"),
        ("pages.jsonl", "expected KIND:PATH"),
        ("jsonl:", "expected a path after jsonl:"),
        ("jsonl:a?kind=b", r"expected \?type=NAME"),
        ("jsonl:a?", r"expected \?type=NAME"),
        ("jsonl:no/such", "there is no no/such"),
    ],
)
def test_a_set_that_cannot_be_named_so_is_an_error(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(text)


def test_a_set_without_a_page_is_an_error_that_names_the_first_fault(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "set.jsonl", [{"id": "1"}, {}])

    with pytest.raises(UserError, match=r"first of 2 broken records is set\.jsonl:1: html: "):
        load(f"jsonl:{path}")


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "set.jsonl", [])

    with pytest.raises(UserError, match=r"no page found$"):
        load(f"jsonl:{path}")


def test_a_type_that_no_page_has_is_an_error_that_lists_the_types(mixed: Path) -> None:
    with pytest.raises(UserError, match="the types are: article, forum"):
        load(f"jsonl:{mixed}?type=product")


def test_the_second_page_of_an_id_is_skipped(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "set.jsonl", [record(page(1)), record(page(1))])

    found = load(f"jsonl:{path}")

    assert found.pages == (page(1),)
    assert [each.field for each in found.broken] == ["id"]


def test_a_limit_takes_pages_from_all_over_the_set() -> None:
    whole = Dataset("s", "s", tuple(page(n) for n in range(10)))

    assert [each.id for each in limited(whole, 4).pages] == [page(n).id for n in (0, 2, 5, 7)]
    assert limited(whole, 10) == limited(whole, None) == whole


def test_sets_of_the_same_name_are_numbered(mixed: Path) -> None:
    found = load_all([f"jsonl:{mixed}"] * 2)

    assert [each.name for each in found] == ["jsonl:mixed", "jsonl:mixed (2)"]


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


def test_a_language_has_no_region() -> None:
    assert [page(1, lang=lang).language for lang in ("de-AT", "pt_BR", "en", None, "")] == [
        "de",
        "pt",
        "en",
        "unknown",
        "unknown",
    ]
