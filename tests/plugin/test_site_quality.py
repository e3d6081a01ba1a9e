"""What a crawl counts of its sites before it is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_mss.crawl import site_quality
from scrapy_mss.quality.counts import PAGES
from scrapy_mss.quality.store import QualityStore


def test_sites_that_are_counted_go_on_when_there_is_no_room_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_quality, "MAX_SITES", 2)
    store = QualityStore(tmp_path / "quality.db")
    quality = site_quality.SiteQuality(store)

    for host in ("a.example", "b.example", "c.example", "a.example", "b.example"):
        quality.page(f"https://{host}/1", None)
    quality.close()

    found = {
        site: sum(day[PAGES] for day in days.values()) for site, days in store.sites(0).items()
    }
    assert found == {"a.example": 2, "b.example": 2}
