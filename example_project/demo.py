"""The demo: crawl five made-up news sites, and again an hour later.

The first crawl learns from the two sites that have wrappers, and is compared with what the pages
really say. An hour later there are new stories, copies of some on other sites, changed ones, and
one site has been redesigned: the second crawl brings what is new and what has changed, and the
report tells of the redesign.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from statistics import fmean
from time import monotonic
from typing import Any

import demo_web
import yaml

from scrapy_mss.quality.store import QualityStore
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import QUALITY_DAYS, Change

HERE = Path(__file__).parent
FEED = HERE / "articles.jsonl"
LATER_FEED = HERE / "articles-later.jsonl"
REPORT = HERE / "report.html"
STORE = HERE / "demo-store"  # what crawls learn and remember
WRAPPERS = HERE / "wrappers" / "demo.yaml"
USUALLY = "usually 10 seconds"
WIDTHS = {"new": 10, "changed": 10, "copies": 10, "old": 6, "late": 6, "extra": 6}
WORD = re.compile(r"\w+")


def main() -> int:
    """Crawl twice and report; the exit code is that of a crawl that fails."""
    shutil.rmtree(STORE, ignore_errors=True)
    now, started = datetime.now(timezone.utc), monotonic()
    print(f"demo: crawling five made-up news sites; {USUALLY}", flush=True)
    with demo_web.serving(now=now) as proxy:
        if code := crawl(proxy):
            return code
    seconds = monotonic() - started
    print(f"\ncrawled in {seconds:.0f} seconds; the articles are in {FEED.name}\n")
    print(report({article["url"]: article["text"] for article in read(FEED)}))
    move_a_day_back()
    started = monotonic()
    print(f"\ndemo: crawling them again as they are an hour later; {USUALLY}", flush=True)
    with demo_web.serving(sites=demo_web.LATER, now=now) as proxy:
        if code := crawl(proxy, LATER_FEED):
            return code
    seconds = monotonic() - started
    print(f"\nan hour later, crawled in {seconds:.0f} seconds; see {LATER_FEED.name}\n")
    print(later_report(read(LATER_FEED), read(FEED)))
    print("\nwhat each site gives, and what has declined compared with its own past:\n")
    return write_report()


def crawl(proxy: str, feed: Path | None = None) -> int:
    """Crawl all sites through the server, which answers for their addresses as a proxy does."""
    sites = ",".join(f"http://{site.host}/" for site in demo_web.SITES.values())
    options = {
        "SPIDER_MODULES": "scrapy_mss.spiders",
        "MSS_STORE": STORE,
        "AUTOTHROTTLE_ENABLED": 0,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "LOG_LEVEL": "WARNING" if feed is None else "ERROR",  # what has declined is printed below
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", f"sites={sites}"]
    command += ["-O", str(feed or FEED)]
    for name, value in options.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "http_proxy": proxy, "no_proxy": ""}
    return subprocess.run(command, cwd=HERE, env=environment, check=False).returncode


def move_a_day_back() -> None:
    """Have the first crawl be of yesterday: what is counted by day is compared by day."""
    with closing(store_at(str(STORE))) as store:
        quality = QualityStore(store)
        counted = {(site, day): c for site, of in quality.sites(0).items() for day, c in of.items()}
        rows = [QUALITY_DAYS.key(f"{day}:{site}") for site, day in counted]
        store.write([Change((), lambda _: dict.fromkeys(rows))])
        quality.add({(site, day - 1): counts for (site, day), counts in counted.items()})


def write_report() -> int:
    """Write the page of all sites, and print what has declined and where the page is."""
    command = [sys.executable, "-m", "scrapy", "mss", "-L", "ERROR", "report"]
    command += ["-s", str(STORE), "-o", str(REPORT)]
    code = subprocess.run(command, cwd=HERE, check=False).returncode
    return 0 if code == 1 else code  # which says that something has declined, as it should here


def read(feed: Path) -> list[dict[str, Any]]:
    """The articles in *feed*."""
    with feed.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def report(texts: Mapping[str, str]) -> str:
    """A table of what was found on each site; *texts* is the text of each item by address."""
    wrapped = {rule["site"] for rule in yaml.safe_load_all(WRAPPERS.read_text(encoding="utf-8"))}
    lines = [f"{'site':30} {'wrapper':8} {'articles':>9} {'found':>6} {'extra':>6} {'F1':>6}"]
    scores: dict[str, list[float]] = {"yes": [], "no": []}
    for name, site in demo_web.SITES.items():
        expected = {page.url: page.expected for page in demo_web.pages(name) if page.expected}
        items = {url for url in texts if f"//{site.host}/" in url}
        found = len(items & expected.keys())
        of_site = [f1(texts.get(url, ""), text) for url, text in expected.items()]
        kind = "yes" if site.host in wrapped else "no"
        scores[kind] += of_site
        lines.append(
            f"{site.host:30} {kind:8} {len(expected):9} {found:6} {len(items) - found:6} "
            f"{fmean(of_site):6.3f}"
        )
    for kind, values in scores.items():
        lines.append(f"{'all':30} {kind:8} {len(values):9} {'':13} {fmean(values):6.3f}")
    return "\n".join(lines)


def later_report(items: Iterable[Mapping[str, Any]], earlier: Iterable[Mapping[str, Any]]) -> str:
    """A table of what the second crawl has brought: new, changed as revisions, and old again.

    Of the new ones, copies are those that have the story of another site's article. Late are those
    that the first crawl, which had learned less, did not take for articles: which these are depends
    on the order in which its pages came. Extra are pages that are no articles.
    """
    found, first = [*items], {item["url"]: item for item in earlier}
    lines = [f"{'site':30}" + "".join(f"{name:>{width}}" for name, width in WIDTHS.items())]
    totals: Counter[str] = Counter()
    for name, site in demo_web.LATER.items():
        before = {page.url for page in demo_web.pages(name) if page.expected}
        latest = {f"http://{site.host}{path}" for path in site.latest}
        is_ours = [f"//{site.host}/" in item["url"] for item in found]
        ours = [item for item, here in zip(found, is_ours, strict=True) if here]
        counts = Counter(_kind(item, before, latest, first.keys()) for item in ours)
        elsewhere = [item for item, here in zip(found, is_ours, strict=True) if not here]
        told = {item["story"] for item in (*elsewhere, *first.values())}
        copies = {site.page("article", number).path for number in site.hour.copies}
        counts["copies"] = sum(item["story"] in told for item in ours if _path(item) in copies)
        counts["all new"], counts["all changed"] = len(latest - before), len(latest & before)
        counts["all copies"] = len(copies)
        totals.update(counts)
        lines.append(_row(site.host, counts))
    return "\n".join([*lines, _row("all", totals)])


def _path(item: Mapping[str, Any]) -> str:
    return "/" + str(item["url"]).split("/", 3)[3]


def _kind(
    item: Mapping[str, Any],
    before: AbstractSet[str],
    latest: AbstractSet[str],
    emitted: AbstractSet[str],
) -> str:
    url = item["url"]
    if url not in before:
        return "new" if url in latest else "extra"
    if url in latest and (item["revision"] == 2 or url not in emitted):  # noqa: PLR2004 - the second
        return "changed"
    return "old" if url in emitted else "late"


def _row(name: str, counts: Mapping[str, int]) -> str:
    shares = [f"{counts[kind]} of {counts[f'all {kind}']}" for kind in ("new", "changed", "copies")]
    cells = [*shares, *(str(counts[kind]) for kind in ("old", "late", "extra"))]
    return f"{name:30}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS.values(), strict=True)
    )


def f1(found: str, expected: str) -> float:
    """How well the words of two texts agree, each word as often as it occurs."""
    ours, theirs = (Counter(WORD.findall(text.lower())) for text in (found, expected))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


if __name__ == "__main__":
    sys.exit(main())
