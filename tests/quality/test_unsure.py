"""The file of unsure pages: the least sure ones of each site stay, in whatever order they come."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.quality import unsure
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.quality.unsure import UnsurePage, UnsureStore, UnsureStoreError

HTML = "<p>Grüße \ud800 aus Köln</p>"
SITES = ("a.example", "b.example")


def page(number: int, sureness: float, minute: int = 7) -> UnsurePage:
    return UnsurePage(f"https://a.example/{number}", sureness, minute)


@pytest.fixture
def store(tmp_path: Path) -> UnsureStore:
    return UnsureStore(tmp_path / "folder" / "unsure.db")


def test_no_file_has_no_pages_and_none_is_made(store: UnsureStore) -> None:
    store.check()
    store.forget_sites()
    store.remove("a.example", "https://a.example/1")

    assert (store.pages(), [*store.stored("a.example")]) == ({}, [])
    assert not store.path.parent.exists()


PAGES = st.lists(
    st.tuples(st.sampled_from(SITES), st.integers(0, 9), st.integers(0, 100).map(lambda n: n / 100))
)


@given(PAGES.filter(lambda pages: len({each[:2] for each in pages}) == len(pages)), st.data())
def test_the_least_sure_pages_stay_in_any_order(
    tmp_path_factory: pytest.TempPathFactory,
    pages: list[tuple[str, int, float]],
    data: st.DataObject,
) -> None:
    store = UnsureStore(tmp_path_factory.mktemp("unsure") / "unsure.db")
    for site, number, sureness in data.draw(st.permutations(pages)):
        store.add(site, page(number, sureness), HTML, 3)

    expected = {
        site: sorted((sureness, number) for of, number, sureness in pages if of == site)[:3]
        for site in {site for site, _, _ in pages}
    }
    assert store.pages() == {
        site: [page(number, sureness) for sureness, number in least]
        for site, least in expected.items()
    }


def test_html_comes_back_as_it_was(store: UnsureStore) -> None:
    store.add("a.example", page(1, 0.5), HTML, 3)
    store.add("a.example", page(2, 0.25), "", 3)

    found = [*store.stored("a.example")]
    assert [each.html for each in found] == ["", HTML]
    assert found[1].url == page(1, 0.5).url


def test_a_page_that_is_read_again_replaces_itself(store: UnsureStore) -> None:
    store.add("a.example", page(1, 0.1), "before", 2)
    store.add("a.example", page(2, 0.5), "other", 2)
    store.add("a.example", page(1, 0.9, minute=8), "after", 2)

    assert store.pages() == {"a.example": [page(2, 0.5), page(1, 0.9, minute=8)]}
    store.remove("a.example", page(2, 0.5).url)
    assert [each.html for each in store.stored("a.example")] == ["after"]


def test_of_too_many_sites_the_oldest_are_forgotten(
    store: UnsureStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsure, "MAX_SITES", 2)
    for site, minute in (("a.example", 3), ("b.example", 9), ("a.example", 1), ("c.example", 5)):
        store.add(site, page(minute, 0.5, minute), HTML, 3)

    store.forget_sites()

    assert store.pages().keys() == {"b.example", "c.example"}


def test_another_file_is_refused_and_left(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    QualityStore(path).add({("a.example", 1): {}})  # type: ignore[dict-item]
    before = path.read_bytes()

    with pytest.raises(UnsureStoreError, match="Name another file in MSS_UNSURE_FILE"):
        UnsureStore(path).check()
    assert path.read_bytes() == before


@pytest.mark.parametrize("body", [b"no zlib", zlib.compress(b"\xff"), "text"])
def test_a_damaged_page_is_named(store: UnsureStore, body: object) -> None:
    store.add("a.example", page(1, 0.5), HTML, 3)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE pages SET html = ?", (body,))
    connection.close()

    with pytest.raises(UnsureStoreError, match=r"unsure\.db: the page 'https://a.example/1'"):
        [*store.stored("a.example")]
