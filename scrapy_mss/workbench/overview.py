"""All rules of the folder, with the counts of their sites and the pages that were uncertain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any, Final

from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.activity import DAY
from scrapy_mss.quality.report import SiteReport, report_of
from scrapy_mss.quality.store import DayStore, QualityStoreError
from scrapy_mss.quality.unsure import UnsurePage, UnsureStore, UnsureStoreError
from scrapy_mss.storage.server_address import ServerError
from scrapy_mss.workbench.pages import Pages
from scrapy_mss.workbench.saving import file_of, has_rules
from scrapy_mss.wrappers import Wrapper, WrapperError, load_wrappers

SECONDS_AN_HOUR: Final = 3600
MOST_QUEUED: Final = 200  # pages that are shown
FIELDS: Final = ("title", "authors", "published")


def overview(folder: Path, quality: DayStore | None) -> dict[str, Any]:
    """A row for each rule in *folder*; what is wrong with files, if they cannot be loaded."""
    try:
        rules = load_wrappers(folder).wrappers if has_rules(folder) else ()
    except WrapperError as error:
        rows = [{"line": each.line, "text": str(each)} for each in error.problems[:20]]
        return {"rules": [], "problems": rows}
    now = int(time() // SECONDS_AN_HOUR)
    sites = _counted(quality, now)
    return {"rules": [_row(rule, sites.get(site_of(rule.host)), now // DAY) for rule in rules]}


def queue(store: UnsureStore | None, pages: Pages) -> list[dict[str, Any]]:
    """The pages on which crawls were least sure, of all sites, those first that are it most.

    *page* is the number of one among the *pages* of its host; None if it is not among them.
    """
    known = {
        page.url: (host, number)
        for host, found in pages.by_site.items()
        for number, page in enumerate(found)
    }
    try:
        found = store.pages() if store else {}
    except UnsureStoreError:
        return []
    rows = sorted((page for of_site in found.values() for page in of_site), key=_sureness)
    return [
        {
            "url": row.url,
            "sureness": round(row.sureness, 3),
            "site": known.get(row.url, ("", None))[0],
            "page": known.get(row.url, ("", None))[1],
        }
        for row in rows[:MOST_QUEUED]
    ]


def _sureness(page: UnsurePage) -> tuple[float, str]:
    return page.sureness, page.url


def _counted(quality: DayStore | None, now: int) -> dict[str, SiteReport]:
    try:
        return {each.site: each for each in report_of(quality, now).sites} if quality else {}
    except (QualityStoreError, ServerError):
        return {}


def _row(rule: Wrapper, site: SiteReport | None, today: int) -> dict[str, Any]:
    """A rule, and of its site the share of pages that it hits and the state of each field."""
    row: dict[str, Any] = {
        "rule": rule.id,
        "host": rule.host,
        "file": str(file_of(rule)),
        "tests": len(rule.tests),
    }
    if site is None:
        return row
    return row | {
        "pages": site.total["pages"],
        "hits": site.value("rule"),
        "declined": [str(alarm) for alarm in site.alarms],
        "fields": dict(_fields(site)),
        "selectors": [
            {"text": each.text, "now": each.now, "before": each.before}
            for each in site.selectors(today)
        ],
    }


def _fields(site: SiteReport) -> Iterator[tuple[str, float]]:
    for name in FIELDS:
        value = site.value(name)
        if value is not None:
            yield name, value
