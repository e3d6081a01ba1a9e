"""`scrapy mss info --site`: what is known of a site."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from scrapy_mss.commands import MssCommand
from scrapy_mss.commands.info import perform, site_lines
from scrapy_mss.sites.address_counts import of_browser
from scrapy_mss.sites.memory import MINUTES_A_DAY, SiteMemory
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import minute_now
from tests.helpers.memories import NOW, address_memory, numbered, page_memory


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A store."""
    store_at(str(tmp_path / "store")).check()
    return tmp_path / "store"


def remember(model: Path, site: str, n_pages: int) -> None:
    """Pages with a text of their own, and a text that is on all of them."""
    memory, minute = SiteMemory(), minute_now()
    for n in range(n_pages):
        html = f"<main><p>{numbered(n)}</p></main><footer><p>About us</p></footer>"
        memory = memory.plus(page_memory(html, minute, f"news/{n}"))
        section = f"http://a.example/section/{numbered(n)}"
        memory = memory.plus(address_memory(section, 0.25, minute))
        in_browser = of_browser(section, memory.addresses, minute, needed=True)
        memory = memory.plus(SiteMemory(period=memory.period, addresses=in_browser))
    store = store_at(str(model))
    store.write([SiteStore(store).adding({site: memory}, minute)])


def info(capsys: pytest.CaptureFixture[str], model: Path, site: str | None) -> list[str]:
    assert perform(Namespace(models=[str(model)], site=site), MssCommand()) == 0
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_what_is_known_of_a_site_is_printed(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remember(model, "a.example", 12)

    lines = info(capsys, model, "https://www.a.example/news")

    assert "site a.example" in lines
    assert "pages 12.0 with an article, 0.0 of them labelled by a wrapper" in lines
    assert "texts 13: 1 on half of the pages or more, 1 on a tenth or more" in lines
    assert "/news/{n}: 12.0 pages, 100% of them articles" in lines
    assert "/section/{word}: 12.0 pages, 25% of them articles" in lines
    assert "/section/{word}: 12.0 pages, 100% of them shown by a browser alone" in lines
    assert "containers 2; on 3 pages or more: 1 of articles, 1 of other text, 0 of both" in lines


def test_the_drift_of_a_site_is_the_share_of_its_articles_that_is_out_of_use() -> None:
    def lines(age: int) -> dict[str, str]:
        """Of a site one of whose two layouts was last seen so many days before the other."""
        memory = SiteMemory()
        for n in range(12):
            old = n < 6
            html = f"<div class={'old' if old else 'new'}><p>{numbered(n)}</p></div>"
            html += "<footer><p>About us</p></footer>"
            memory = memory.plus(page_memory(html, NOW - old * age * MINUTES_A_DAY))
        return dict(site_lines(memory))

    assert lines(6)["drift"].startswith("0% of those of articles")
    assert lines(8)["drift"].startswith("50% of those of articles")


def test_a_site_of_few_pages_is_not_used_yet(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remember(model, "a.example", 2)

    assert "used not yet: sites are known from 3 pages on" in info(capsys, model, "a.example")


def test_without_a_site_their_number_is_printed_if_there_are_any(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not any(line.startswith("site") for line in info(capsys, model, None))
    remember(model, "a.example", 2)
    remember(model, "b.example", 2)

    assert any(line.startswith("sites 2 known") for line in info(capsys, model, None))
