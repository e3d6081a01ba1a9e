"""The demo: serve eight made-up news sites, crawl them, and compare with what they really say.

Four of the sites have wrappers; from their pages a model is learned while the crawl runs. The
other four are strangers to it. The result is ``articles.jsonl`` and a table of F1 by site.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from time import monotonic

from demo_web import SITES, gold
from demo_web.running import running

from research.bench import metrics
from scrapy_mss.wrappers import load_wrappers

HERE = Path(__file__).parent
FEED = HERE / "articles.jsonl"
MODEL = HERE / "demo.model"


def main() -> int:
    """Crawl and report; the exit code is that of the crawl."""
    MODEL.unlink(missing_ok=True)
    with running() as address:
        started = monotonic()
        code = crawl(address)
        seconds = monotonic() - started
    if code:
        return code
    print(f"\ncrawled in {seconds:.0f} seconds; the articles are in {FEED.name}\n")
    print(report(_articles()))
    return 0


def crawl(proxy: str) -> int:
    """Crawl all sites of the demo web through its server, which answers for their addresses."""
    starts = ",".join(f"http://{site.host}/" for site in SITES.values())
    options = {
        "MSS_MODEL": MODEL,
        "AUTOTHROTTLE_ENABLED": 0,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", f"start={starts}"]
    command += ["-O", str(FEED)]
    for name, value in options.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "http_proxy": proxy, "no_proxy": ""}
    return subprocess.run(command, cwd=HERE, env=environment, check=False).returncode


def _articles() -> dict[str, dict[str, str]]:
    with FEED.open(encoding="utf-8") as file:
        return {article["url"]: article for article in map(json.loads, file)}


def report(articles: Mapping[str, Mapping[str, str]]) -> str:
    """A table: what was found on each site, beside what there is."""
    wrappers = load_wrappers([HERE / "wrappers"])
    lines = [f"{'site':30} {'wrapper':8} {'articles':>9} {'found':>6} {'extra':>6} {'F1':>6}"]
    sums: dict[str, list[float]] = {"yes": [], "no": []}
    for site in SITES.values():
        golds = gold(site.name)
        mine = {url: a for url, a in articles.items() if f"//{site.host}/" in url}
        scores = [
            metrics.bag(
                metrics.words(mine.get(url, {}).get("text", "")), metrics.words(each.text)
            ).f1
            for url, each in golds.items()
        ]
        wrapped = "yes" if wrappers.find(next(iter(golds))) else "no"
        sums[wrapped] += scores
        found = len(golds.keys() & mine.keys())
        lines.append(
            f"{site.host:30} {wrapped:8} {len(golds):9} {found:6} {len(mine) - found:6} "
            f"{fmean(scores):6.3f}"
        )
    for wrapped, scores in sums.items():
        if scores:
            lines.append(f"{'all':30} {wrapped:8} {len(scores):9} {'':13} {fmean(scores):6.3f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
