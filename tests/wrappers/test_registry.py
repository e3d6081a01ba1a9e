"""Which wrapper is used for a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from scrapy_mss.wrappers import Registry, Wrapper, css

BODY = (css("article"),)


def wrapper(site: str, name: str = "", **fields: object) -> Wrapper:
    return Wrapper(site=site, body=BODY, name=name, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("site", "matching", "others"),
    [
        (
            "example.com",
            ["example.com", "www.example.com", "EXAMPLE.com:8080", "example.com."],
            ["news.example.com", "anexample.com", "example.com.evil.example", "com"],
        ),
        (
            "*.example.com",
            ["news.example.com", "a.b.example.com"],
            ["example.com", "www.example.com", "anexample.com"],
        ),
        ("www.example.com", ["example.com", "www.example.com"], ["ww.example.com"]),
        ("münchen.example", ["xn--mnchen-3ya.example"], ["munchen.example"]),
        ("news.example.com", ["news.example.com", "www.news.example.com"], ["example.com"]),
    ],
)
def test_a_site_is_its_host_or_all_below_it(
    site: str, matching: Sequence[str], others: Sequence[str]
) -> None:
    registry = Registry([wrapper(site)])

    assert [host for host in matching if not registry.find(f"https://{host}/x")] == []
    assert [host for host in others if registry.find(f"https://{host}/x")] == []


# The names of the wrappers for a page, best first: priority, then the host, the path, the order.
ORDERS = [
    [
        wrapper("*.example.com", "urgent", priority=1),
        wrapper("n.example.com", "narrow", url=("/news/1",)),
    ],
    [
        wrapper("n.example.com", "host"),
        wrapper("*.example.com", "wide", url=("/news/1",)),
        wrapper("*.com", "top"),
    ],
    [
        wrapper("n.example.com", "exact", url=("/news/1",)),
        wrapper("n.example.com", "first", url=("/news/*",)),
        wrapper("n.example.com", "second", url=("/*", "/news/*")),
        wrapper("n.example.com", "any"),
    ],
]


@pytest.mark.parametrize("wrappers", ORDERS)
def test_the_order_of_wrappers_is_known(wrappers: list[Wrapper]) -> None:
    other = wrapper("n.example.com", "other", url=("/sport/*",))
    url = "https://n.example.com/news/1"

    for one, next_one in pairwise(wrappers):
        assert Registry([other, one, next_one]).find(url) == one
        if {one.name, next_one.name} != {"first", "second"}:  # of equal rank
            assert Registry([other, next_one, one]).find(url) == one


def test_a_tie_is_logged_once_with_how_to_resolve_it(caplog: pytest.LogCaptureFixture) -> None:
    registry = Registry(
        [wrapper("a.example", "one", origin="a.yaml: $"), wrapper("a.example", "two")]
    )

    used = {registry.find(f"https://a.example/{n}") for n in range(9)}

    assert used == {registry.wrappers[0]}
    (message,) = caplog.messages
    assert message == (
        "wrapper a.example/one (a.yaml: $) and wrapper a.example/two match the same page; the "
        "first is used, because it is listed first. To change that, give one of them a higher "
        "'priority', or narrow its 'url'."
    )


@pytest.mark.parametrize("higher", [{"url": ("/n",)}, {"priority": 1}])
def test_a_conflict_that_is_decided_by_rank_is_not_logged(
    caplog: pytest.LogCaptureFixture, higher: dict[str, object]
) -> None:
    other = wrapper("a.example", "other", **higher)

    assert Registry([wrapper("a.example", "wide"), other]).find("https://a.example/n") is other
    assert caplog.records == []
