"""The fates of announced addresses, as crawls count them and as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from research.benchmarks.week_crawls import Crawled
from research.benchmarks.week_pages import lists
from research.benchmarks.week_world import Paper, World

OK: Final = 200
ANNOUNCED, FATE = "mss/announced", "mss/fate/"
BY_FEED: Final = "mss/extract/source/feed"
MAX_OLD: Final = 200  # addresses of a site's archive that count as announced, as docs/fates.md says
ITEM: Final = "item"  # the fates of addresses that items come of
FATES: Final = {
    **dict.fromkeys(("article/new", "article/changed", "article/copy", "article/feed"), ITEM),
    "failed/gone": "gone",
    "failed/forbidden": "forbidden",
}
STATUSES: Final = {404: "gone", 410: "gone", 403: "forbidden"}


def wrong_fates(world: World, crawl: Crawled) -> Iterator[str]:
    """What a crawl that counts fates counts otherwise than its server and its items."""
    if ANNOUNCED not in crawl.stats:
        return
    announced, found = int(crawl.stats.get(ANNOUNCED, 0)), Counter[str]()
    fates = {
        name.removeprefix(FATE): int(count)
        for name, count in crawl.stats.items()
        if name.startswith(FATE)
    }
    for name, count in fates.items():
        found[FATES.get(name, name)] += count
    if sum(fates.values()) != announced:
        yield f"hour {crawl.hour}: {announced} announced, {sum(fates.values())} fates"
    least, most = _announced(world, crawl)
    if not least <= announced <= most:
        yield f"hour {crawl.hour}: {announced} announced, expected {least} to {most}"
    expected = _answered(world, crawl) + Counter({ITEM: len(crawl.items)})
    expected["forbidden"] -= int(crawl.stats.get(BY_FEED, 0))  # articles all the same
    for name in dict.fromkeys(FATES.values()):
        if found[name] != expected[name]:
            yield f"hour {crawl.hour}: {found[name]} {name}, expected {expected[name]}"


def _announced(world: World, crawl: Crawled) -> tuple[int, int]:
    """How many addresses the lists that were sent have: of articles, and of all pages.

    Without a feed, what its address does not take for an article is not announced.
    """
    least, most = 0, 0
    for name, paper in world.papers.items():
        sent = {path for site, path, status in crawl.asked if (site, status) == (name, OK)}
        if any(_announces(paper, path, crawl.hour) for path in sent.intersection(lists(paper))):
            stories = paper.listed(crawl.hour)
            has_feed = {"atom", "rss", "plain"}.intersection(paper.lists)
            old = MAX_OLD if paper.has("huge sitemap", crawl.hour) else 0
            most += len(stories) + old
            least += sum(story.is_article or bool(has_feed) for story in stories) + old
    return least, most


def _answered(world: World, crawl: Crawled) -> Counter[str]:
    """The pages that were answered with errors, each once."""
    made = {name: lists(paper) for name, paper in world.papers.items()}
    failed = {(site, path): STATUSES.get(status) for site, path, status in crawl.asked}
    return Counter(kind for (site, path), kind in failed.items() if kind and path not in made[site])


def _announces(paper: Paper, path: str, hour: int) -> bool:
    """Whether the list at *path* names articles in that hour."""
    if path == "/robots.txt" or (path == "/" and "front" not in paper.lists):
        return False
    return path == "/" or not paper.has("empty feeds", hour)
