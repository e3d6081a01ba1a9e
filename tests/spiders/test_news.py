"""A newspaper that is crawled every hour: real crawls of a real server, in child processes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from scrapy_mss.spiders.news import MAX_LISTS, NewsSpider
from tests.plugin.crawling import ADDON, Crawl, Job, crawl, crawl_news
from tests.plugin.site import story
from tests.spiders.paper import Paper, printing

PLACES = ("feed", "sitemap", "front", "sport", "culture")


@pytest.fixture
def paper() -> Iterator[Paper]:
    with printing(Paper()) as served:
        for number, place in enumerate(PLACES * 2):
            served.publish(number, place)
        yield served


def read(paper: Paper, folder: Path, sites: str = "", **more: Any) -> Crawl:
    """Crawl *paper* as it is now; what is asked for is counted anew."""
    paper.asked.clear()
    paper.unchanged.clear()
    return crawl_news(folder, sites or paper.url("/"), **more)


def paths(paper: Paper, found: Crawl) -> set[str]:
    return {item.url.removeprefix(paper.url("")).partition("?")[0] for item in found.items}


def test_lists_are_read_on_a_reactor_without_asyncio(paper: Paper, tmp_path: Path) -> None:
    reactor = "twisted.internet.selectreactor.SelectReactor"

    found = read(paper, tmp_path, TWISTED_REACTOR=reactor)

    assert paths(paper, found) == set(paper.stories)


def test_articles_come_from_feeds_sitemaps_fronts_and_sections(
    paper: Paper, tmp_path: Path
) -> None:
    """With the time that a list gives, and what is old left to the archive.

    The pages of the paper have no date but that in their address.
    """
    old = paper.publish(96, "sitemap", hours=24 * 30)
    found = read(paper, tmp_path)
    del paper.stories[old]

    assert paths(paper, found) == set(paper.stories)
    assert len(found.items) == len(paper.stories)
    by_path = {item.url.removeprefix(paper.url("")).partition("?")[0]: item for item in found.items}
    for path, published in paper.stories.items():
        moment = published.moment.isoformat()
        expected = moment if published.where in {"feed", "sitemap"} else moment[:10]
        assert by_path[path].fields["published"] == expected
    assert {item.fields["revision"] for item in found.items} == {1}
    assert found.mss("seen/new") == len(paper.stories)
    assert "/login" not in paper.asked


def test_an_hour_later_nothing_old_is_downloaded(paper: Paper, tmp_path: Path) -> None:
    read(paper, tmp_path)
    found = read(paper, tmp_path)

    assert found.items == []
    assert not set(paper.stories) & set(paper.asked)
    assert paper.unchanged == paper.asked  # every list was asked for, and none was sent
    assert set(paper.asked) == {"/", "/rss.xml", "/robots.txt", "/sitemaps.xml", "/news.xml.gz"} | {
        "/sport",
        "/culture",
    }


@pytest.mark.slow("several crawls")
def test_another_spider_downloads_no_article_again_that_needs_no_recheck(
    paper: Paper, tmp_path: Path
) -> None:
    links = [paper.url(path) for path in paper.stories]

    def follow(hours: float, **arguments: object) -> Crawl:
        paper.asked.clear()
        settings = {**ADDON, "MSS_ONLY_NEW": hours, "MSS_STORE": str(tmp_path / "store")}
        given = {"urls": [paper.url("/")], "links": links, **arguments}
        (found,) = crawl(tmp_path, [Job("following", given, settings)])
        return found

    assert len(follow(24).items) == len(links)
    found = follow(24)
    assert (found.items, found.mss("seen/skipped")) == ([], len(links))
    assert set(paper.asked) & set(paper.stories) == set()
    found = follow(24, urls=links)  # with dont_filter, as a spider's first requests
    assert (found.items, found.mss("seen/unchanged")) == ([], len(links))
    assert set(paper.asked) >= set(paper.stories)
    found = follow(0.001)
    assert (found.items, found.mss("seen/unchanged")) == ([], len(links))


def test_what_is_new_or_has_changed_comes(paper: Paper, tmp_path: Path) -> None:
    read(paper, tmp_path)
    new = paper.publish(90, "sport")
    changed = paper.publish(0, "feed", hours=0.5, words_of=91)
    touched = paper.publish(1, "sitemap", hours=0.5)
    found = read(paper, tmp_path)

    assert paths(paper, found) == {new, changed}
    by_path = {item.url.removeprefix(paper.url("")).partition("?")[0]: item for item in found.items}
    assert by_path[new].fields["revision"] == 1
    assert by_path[changed].fields["revision"] == 2
    assert by_path[changed].fields["changed"] == ["title", "text"]
    assert by_path[changed].fields["title"] == story("paper", 91).title
    assert set(paper.asked) & set(paper.stories) == {new, changed, touched}
    assert found.mss("seen/unchanged") == 1

    assert read(paper, tmp_path).items == []
    assert not set(paper.asked) & set(paper.stories)  # nor what was found unchanged


@pytest.mark.slow("several crawls")
@pytest.mark.parametrize("copies", ["mark", "drop"])
def test_papers_that_print_the_same_text_have_one_story(
    paper: Paper, tmp_path: Path, copies: str
) -> None:
    with printing(Paper()) as other:
        other.publish(3, "feed")
        other.publish(70, "feed")
        sites = f"{paper.url('/')},{other.url('/')}"
        found = read(paper, tmp_path, sites, MSS_COPIES=copies)
        again = read(paper, tmp_path, sites, MSS_COPIES=copies)

    by_title: dict[str, list[str]] = {}
    for item in found.items:
        by_title.setdefault(item.fields["title"], []).append(item.fields["story"])
    stories = by_title.pop(story("paper", 3).title)
    others = [each for (each,) in by_title.values()]
    assert len(set(stories)) == 1
    assert len(set(others) - set(stories)) == len(others) == len(paper.stories)
    assert len(stories) == (2 if copies == "mark" else 1)
    assert found.mss("stories/copies") == 1
    assert again.items == []
    assert all(other.asked[path] == 1 for path in other.stories)


@pytest.mark.slow("several crawls")
def test_what_one_crawl_leaves_the_next_one_gets(paper: Paper, tmp_path: Path) -> None:
    first = read(paper, tmp_path, limit=4)
    second = read(paper, tmp_path)

    assert len(first.items) == 4
    assert paths(paper, first) | paths(paper, second) == set(paper.stories)
    assert len(second.items) == len(paper.stories) - 4


@pytest.mark.slow("several crawls")
def test_what_fails_comes_later_though_its_list_has_not_changed(
    paper: Paper, tmp_path: Path
) -> None:
    failing = paper.publish(95, "feed")
    paper.refused.add(failing)
    first = read(paper, tmp_path)
    paper.refused.clear()
    second = read(paper, tmp_path)

    assert failing not in paths(paper, first)
    assert paths(paper, second) == {failing}


@pytest.mark.slow("several crawls")
def test_an_address_that_is_redirected_to_a_seen_article_is_asked_for_once(
    paper: Paper, tmp_path: Path
) -> None:
    seen = paper.publish(0, "feed")
    read(paper, tmp_path)
    moved = paper.publish(97, "feed")
    paper.moved[moved] = seen
    second = read(paper, tmp_path)
    asked = paper.asked[moved]
    new = paper.publish(98, "feed")  # so that the feed is read again
    third = read(paper, tmp_path)

    assert (second.items, second.mss("seen/skipped"), asked) == ([], 1, 1)
    assert paths(paper, third) == {new}
    assert paper.asked[moved] == 0


@pytest.mark.slow("several crawls")
def test_sitemaps_that_name_one_another_come_to_an_end(paper: Paper, tmp_path: Path) -> None:
    paper.sitemap = "/endless-0.xml"
    found = read(paper, tmp_path)

    assert len(found.items) == len(paper.stories) * 4 // 5  # all but those of the sitemap
    assert sum(paper.asked[path] for path in paper.asked if "endless" in path) <= MAX_LISTS


def test_all_fronts_of_a_site_are_read(paper: Paper, tmp_path: Path) -> None:
    found = read(paper, tmp_path, sites=f"{paper.url('/sport')},{paper.url('/culture')}")

    assert {"sport", "culture"} <= {paper.stories[path].where for path in paths(paper, found)}


def test_a_spider_without_sites_says_what_it_needs(tmp_path: Path) -> None:
    given: tuple[dict[str, str], ...] = (
        {},
        {"sites": "not a site"},
        {"sites": "a.example", "limit": "many"},
    )
    without, wrong, unlimited = crawl(tmp_path, [Job("news", each) for each in given])

    assert "scrapy crawl news -a sites=sites.txt, or set MSS_SITES" in without.error
    assert "'not a site': expected a site such as example.com" in wrong.error
    assert unlimited.error == "ValueError: limit: expected a number of articles, got 'many'"


def test_a_name_in_the_list_does_not_open_the_network_of_the_crawler(
    paper: Paper, tmp_path: Path
) -> None:
    """`127.1` is a name that is resolved, to an address which is not public."""
    name = f"http://127.1:{paper.port}/"
    refused = read(paper, tmp_path, sites=name)
    asked = dict(paper.asked)
    found = read(paper, tmp_path, sites=f"{name} 127.0.0.1")

    assert (refused.items, asked) == ([], {})
    assert refused.mss("hosts/refused") > 0
    assert any("name 127.0.0.1 in MSS_SITES" in each for each in refused.logged("WARNING"))
    assert len(found.items) == len(paper.stories)


@pytest.mark.parametrize("host", ["failing.example", "dotted.example."])
def test_a_name_is_asked_for_only_at_the_address_that_was_checked(
    host: str, paper: Paper, tmp_path: Path
) -> None:
    """The name server of a site answers the download otherwise than the check."""
    settings = {"EXTENSIONS": {"tests.spiders.names.ChangingNames": 0}, "DOWNLOAD_TIMEOUT": 1}

    found = read(paper, tmp_path, f"http://{host}:{paper.port}/", **settings)

    assert (found.items, dict(paper.asked)) == ([], {})


def test_the_list_and_a_method_give_requests_their_meta(paper: Paper, tmp_path: Path) -> None:
    class Marked(NewsSpider):
        def request_meta(self, site: str, kind: str) -> dict[str, Any]:
            return {**super().request_meta(site, kind), "mark": f"{kind} of {site}"}

    async def begun() -> list[Request]:
        return [each async for each in Marked(["a.example playwright=true"]).start()]

    front, robots = asyncio.run(begun())
    assert (front.meta["playwright"], front.meta["mark"]) == (True, "front of a.example")
    assert (robots.meta.get("playwright"), robots.meta["mark"]) == (None, "robots of a.example")

    found = read(paper, tmp_path, sites=f"{paper.url('/')} mss_skip_extraction=true")
    assert set(paper.stories) <= set(paper.asked)
    assert found.items == []
