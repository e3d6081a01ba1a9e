"""The least certain pages of each site stay, in whatever order they come."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.quality.store import (
    QualityStore,
    UncertainPage,
    adding_pages,
    compressed,
)
from scrapy_mss.storage.tables import (
    MAX_UNSURE_PAGES,
    TABLES,
    UNSURE,
    UNSURE_PAGES,
    Store,
    StoreError,
)
from tests.helpers.effort import examples_in_stores
from tests.helpers.stores import put

HTML = "<p>Grüße \ud800 aus Köln</p>"
NOW = 40_000_000  # minutes: in the year 2046


def page(number: int, certainty: float, minute: int = NOW) -> UncertainPage:
    return UncertainPage(f"https://a.example/{number}", certainty, minute)


def add(store: Store, site: str, page: UncertainPage, html: str) -> None:
    store.write([adding_pages({site: {page: compressed(html)}})])


PAGES = st.lists(
    st.tuples(
        st.sampled_from(["a.example", "b.example"]),
        st.integers(0, 19),
        st.integers(0, 100).map(lambda n: n / 100),
    ),
    max_size=25,
    unique_by=lambda each: each[:2],
)


@examples_in_stores()
@given(pages=PAGES, data=st.data())
def test_the_least_sure_pages_stay_in_any_order(
    new_store: Callable[[], Store], pages: list[tuple[str, int, float]], data: st.DataObject
) -> None:
    store = new_store()
    for site, number, certainty in data.draw(st.permutations(pages)):
        add(store, site, page(number, certainty), f"{number} {HTML}")

    kept = QualityStore(store)
    expected = {
        site: sorted(
            (page(number, certainty) for of, number, certainty in pages if of == site),
            key=lambda each: (each.certainty, each.url),
        )[:MAX_UNSURE_PAGES]
        for site in {site for site, _, _ in pages}
    }
    assert kept.uncertain() == expected
    for site, least in expected.items():
        found = [(each.url, each.html) for each in kept.uncertain_pages(site)]
        assert found == [(each.url, f"{each.url.rpartition('/')[2]} {HTML}") for each in least]
    bodies = [UNSURE_PAGES.key(f"{site} {page(number, 0).url}") for site, number, _ in pages]
    assert len(store.get(bodies)) == sum(map(len, expected.values()))


def test_the_pages_of_forgotten_sites_are_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [table._replace(most=table.most // 500) for table in TABLES if table.most]
    monkeypatch.setattr(f"{type(store).__module__}.TABLES", few)
    sites = [f"{number}.example" for number in range(4)]
    for minute, site in enumerate(sites, NOW):
        pages = {page(number, 0.5, minute): compressed(HTML) for number in range(MAX_UNSURE_PAGES)}
        store.write([adding_pages({site: pages})])
    store.forget(NOW)

    assert list(QualityStore(store).uncertain()) == sites[2:]
    bodies = [
        UNSURE_PAGES.key(f"{site} {page(number, 0).url}")
        for site in sites
        for number in range(MAX_UNSURE_PAGES)
    ]
    assert set(store.get(bodies)) == set(bodies[2 * MAX_UNSURE_PAGES :])


def test_a_page_that_is_read_again_replaces_itself(store: Store) -> None:
    add(store, "a.example", page(1, 0.1), "before")
    add(store, "a.example", page(2, 0.5), "other")
    add(store, "a.example", page(1, 0.9, NOW + 1), "after")
    kept = QualityStore(store)

    assert kept.uncertain() == {"a.example": [page(2, 0.5), page(1, 0.9, NOW + 1)]}
    assert [each.html for each in kept.uncertain_pages("a.example")] == ["other", "after"]


@pytest.mark.parametrize("body", [b"no zlib", zlib.compress(b"\xff")])
def test_a_damaged_page_is_named(store: Store, body: bytes) -> None:
    add(store, "a.example", page(1, 0.5), HTML)
    put(store, UNSURE_PAGES.key(f"a.example {page(1, 0).url}"), body, NOW)

    with pytest.raises(StoreError, match=r"the page 'https://a\.example/1' is damaged"):
        list(QualityStore(store).uncertain_pages("a.example"))


@pytest.mark.parametrize("rows", [b"", b"{}", b"[[1]]", b'[["u", 0, Infinity]]', b"[" * 100_000])
def test_a_damaged_row_of_a_site_costs_its_pages_alone(store: Store, rows: bytes) -> None:
    put(store, UNSURE.key("a.example"), rows, NOW)
    assert QualityStore(store).uncertain() == {}

    add(store, "a.example", page(1, 0.5), HTML)

    assert QualityStore(store).uncertain() == {"a.example": [page(1, 0.5)]}
