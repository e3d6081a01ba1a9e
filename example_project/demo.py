"""The demo: serve five made-up news sites, crawl them, and compare with what they really say.

Two of the sites have wrappers; from their pages a model is learned while the crawl runs. The other
three have none. The result is ``articles.jsonl`` and a table of F1 by site.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from time import monotonic

import demo_web
import yaml

HERE = Path(__file__).parent
FEED = HERE / "articles.jsonl"
MODEL = HERE / "demo.model"
WRAPPERS = HERE / "wrappers" / "demo.yaml"
WORD = re.compile(r"\w+")


def main() -> int:
    """Crawl and report; the exit code is that of the crawl."""
    for learned in (MODEL, *MODEL.parent.glob(f"{MODEL.name}.sites*")):
        learned.unlink(missing_ok=True)
    with demo_web.serving() as proxy:
        started = monotonic()
        code = crawl(proxy)
        seconds = monotonic() - started
    if code:
        return code
    print(f"\ncrawled in {seconds:.0f} seconds; the articles are in {FEED.name}\n")
    with FEED.open(encoding="utf-8") as lines:
        print(report({article["url"]: article["text"] for article in map(json.loads, lines)}))
    return 0


def crawl(proxy: str) -> int:
    """Crawl all sites through the server, which answers for their addresses as a proxy does."""
    starts = ",".join(f"http://{site.host}/" for site in demo_web.SITES.values())
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


def f1(found: str, expected: str) -> float:
    """How well the words of two texts agree, each word as often as it occurs."""
    ours, theirs = (Counter(WORD.findall(text.lower())) for text in (found, expected))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


if __name__ == "__main__":
    sys.exit(main())
