"""The fates of announced addresses, by site and day, as the report has them and as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Final

from research.benchmarks.week_crawls import Crawled
from research.benchmarks.week_pages import lists
from research.benchmarks.week_world import BEGIN, Paper, World

OK, NO_LONGER, FORBIDDEN, BROKEN = 200, (404, 410), 403, 500
# What the server knows of fates: their names, and what they are counted as here.
FATES: Final = {
    "article/new": "new",
    "article/copy": "new",
    "article/feed": "new",
    "article/changed": "changed",
    "failed/gone": "gone",
    "failed/forbidden": "forbidden",
    "failed/server": "server",
}


def truth(world: World, crawl: Crawled) -> dict[str, Counter[str]]:
    """What was announced and answered in a crawl, by site."""
    found = {name: Counter[str]() for name in world.papers}
    for name, paper in world.papers.items():
        made = lists(paper)
        sent = {path for site, path, status in crawl.asked if (site, status) == (name, OK)}
        announcing = [path for path in sent if path in made and _announces(paper, path, crawl.hour)]
        if announcing:
            found[name]["announced"] = len(paper.listed(crawl.hour))
        answers = {path: status for site, path, status in crawl.asked if site == name}
        for path, status in answers.items():
            if path not in made:
                found[name]["gone"] += status in NO_LONGER
                found[name]["forbidden"] += status == FORBIDDEN
                found[name]["server"] += status == BROKEN
    for item in crawl.items:
        paper, _ = world.find(item["url"])
        found[paper.name]["changed" if item["revision"] > 1 else "new"] += 1
    return found


def _announces(paper: Paper, path: str, hour: int) -> bool:
    """Whether the list at *path* names articles in that hour."""
    is_front = path == "/"
    if path == "/robots.txt" or (is_front and "front" not in paper.lists):
        return False
    return not (paper.has("empty feeds", hour) and path.strip("/") in paper.lists)


class Coverage:
    """Compares the report of each day with the truth of its crawls."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.faults: list[str] = []
        self.announced = 0
        self._day: dict[str, Counter[str]] = {}

    def add(self, crawl: Crawled) -> None:
        for name, counts in truth(self.world, crawl).items():
            self._day.setdefault(name, Counter()).update(counts)
        self.faults += _in_stats(crawl)
        if crawl.report:
            day = (BEGIN + timedelta(hours=crawl.hour)).date().isoformat()
            for site in crawl.report["sites"]:
                paper, _ = self.world.find(f"http://{site['site']}/")
                rows = [
                    row["coverage"]
                    for row in site["days"]
                    if row["day"] == day and "coverage" in row
                ]
                self.faults += (
                    f"{paper.name}, {day}: {fault}"
                    for fault in _compared(rows, self._day[paper.name])
                )
                self.announced += sum(row["announced"] for row in rows)
            self._day = {}


def _in_stats(crawl: Crawled) -> Iterator[str]:
    announced = crawl.stats.get("mss/announced", 0)
    fates = sum(n for name, n in crawl.stats.items() if name.startswith("mss/fate/"))
    if announced != fates:
        yield f"hour {crawl.hour}: {announced} announced, {fates} fates"


def _compared(rows: Iterable[dict[str, Any]], expected: Counter[str]) -> Iterator[str]:
    """What differs in the coverage of a site and a day."""
    for row in rows:
        fates = Counter(row["fates"])
        if fates.total() != row["announced"]:
            yield f"{row['announced']} announced, {fates.total()} fates"
        found = Counter({"announced": row["announced"]})
        for name, count in fates.items():
            if name in FATES:
                found[FATES[name]] += count
        for name in sorted(found.keys() | expected.keys()):
            if found[name] != expected[name]:
                yield f"{found[name]} {name}, expected {expected[name]}"
