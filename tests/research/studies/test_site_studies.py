"""The studies of sites: their command lines, and what addresses are worth in a crawl."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from research.studies import learning
from research.studies.link_priority import ORDERS, CrawledPage, area, crawl, in_first_half

HOST = "http://a.example"
STORIES = [f"{HOST}/2024/03/26/storm-over-the-harbour-{n}" for n in range(6)]
LISTS = [f"{HOST}/section/{name}" for name in ("council", "sport", "weather")]


def site() -> dict[str, CrawledPage]:
    """A site whose front page links to all of its pages, and lists to stories."""
    front = CrawledPage(f"{HOST}/", is_article=False, probability=0.1, links=(*STORIES, *LISTS))
    pages = [front]
    pages += [CrawledPage(url, is_article=True, probability=0.9, links=()) for url in STORIES]
    pages += [CrawledPage(url, is_article=False, probability=0.1, links=()) for url in LISTS]
    return {page.url: page for page in pages}


def test_addresses_bring_articles_into_the_first_half() -> None:
    without, by_address, *_ = (in_first_half(crawl(site(), f"{HOST}/", order)) for order in ORDERS)

    assert without < by_address == 4 / 6


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    assert area([0.9, 0.5], [0.1, 0.5]) == 0.875
    assert area([0.1], [0.9]) == 0.0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--models", "{folder}/none"], "--models: there is no folder {folder}/none"),
        (["--models", "{folder}"], "--models: there is no model {folder}/zh"),
        (["--most-sites", "0"], "argument --most-sites: expected a number from 1, got '0'"),
    ],
)
def test_what_cannot_teach_is_an_error_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], error: str
) -> None:
    always = ["--data", str(tmp_path), "--out", str(tmp_path), "--sets", "sites:zh"]
    given = [each.format(folder=tmp_path) for each in arguments]

    with suppress(SystemExit):  # as argparse ends
        assert learning.main([*always, *given]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert error.format(folder=tmp_path) in line
