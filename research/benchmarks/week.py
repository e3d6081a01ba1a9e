"""`make week`: a crawl an hour for a week of thirty made-up sites of all kinds and faults.

A local server publishes, edits, moves and deletes articles by the clock of that week, and breaks in
known hours; `NewsSpider` crawls it 168 times with one store. What is found is held against what was
published, as a table by site. The exit code is 1 if anything is wrong:

    due      articles that lists have announced and the site has sent
    missed   of these, those without an item
    late     those that came in a later crawl
    twice    articles with two items, but for those that have moved
    copies   copies of other sites' texts and moved articles, in brackets those with another `story`
    false    items of what is no article, or of no page of the site's
    wrong text  items that lack a fifth of their article, or have a fifth besides and a standfirst
    edits    revisions, and in brackets false ones and edits that were missed
    alarm    hours from the beginning of the fault, and within how many it has to come
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from research.benchmarks.week_checks import Checks, Findings
from research.benchmarks.week_coverage import ANNOUNCED
from research.benchmarks.week_crawls import Crawled, Job
from research.benchmarks.week_server import Asked, Served, serving
from research.benchmarks.week_world import FAULTS, WEEK, World
from research.command_line import at_least

HEADINGS = (
    "site",
    "fault",
    "due",
    "items",
    "missed",
    "late",
    "twice",
    "false",
    "wrong text",
    "copies",
    "edits",
    "alarm",
)
WRONG = (
    "missed",
    "late",
    "twice",
    "false",
    "wrong text",
    "false revision",
    "missed edit",
    "no copy",
)
EXAMPLES = 20


def crawls(served: Served, world: World, hours: int, store: str) -> Iterator[Crawled]:
    """The crawls as they end."""
    papers = world.papers.values()
    rules = [{"site": paper.host, **paper.rule} for paper in papers if paper.rule]
    fronts = [paper.url for paper in papers if paper.is_crawled]
    job = Job(asdict(served), fronts, hours, store, {"MSS_WRAPPERS": rules})
    command = [sys.executable, "-m", "research.benchmarks.week_crawls"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asdict(job)))
        process.stdin.close()
        for line in process.stdout:
            yield crawled_of(line)


def crawled_of(line: str) -> Crawled:
    values = json.loads(line)
    return Crawled(**{**values, "asked": [Asked(*each) for each in values["asked"]]})


def cells(found: Findings) -> Iterator[str]:
    """The row of a site."""
    counts = found.counts
    yield found.paper.name
    yield ", ".join(f"{name} {when}" for name, when in found.paper.faults.items())
    yield str(len(found.due))
    yield str(len(found.out))
    for name in ("missed", "late", "twice", "false", "wrong text"):
        yield str(counts[name])
    yield f"{counts['copy']} ({counts['no copy']})"
    revisions = sum(map(len, found.revised.values()))
    yield f"{revisions} ({counts['false revision']}, {counts['missed edit']})"
    yield ", ".join(alarms_of(found))


def alarms_of(found: Findings) -> Iterator[str]:
    """Each measure with the hours after the beginning of the first fault, and the limit."""
    harmful = [name for name in found.paper.faults if FAULTS[name].alarms]
    begin = min((found.paper.hours_of(name)[0] for name in harmful), default=0)
    limits = {measure: FAULTS[name].hours for name in harmful for measure in FAULTS[name].alarms}
    for measure, hour in found.alarms.items():
        limit = f" of {limits[measure]}" if measure in limits else ""
        yield f"{measure} {hour - begin} h{limit}"


def table(checks: Checks) -> Iterator[str]:
    """The results in Markdown."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"| --- | --- | {' | '.join(['---:'] * (len(HEADINGS) - 3))} | --- |"
    for found in checks.found.values():
        yield f"| {' | '.join(cells(found))} |"
    last, pages = checks.crawls[-1], sum(len(crawl.asked) for crawl in checks.crawls)
    items = sum(len(crawl.items) for crawl in checks.crawls)
    announced = sum(int(crawl.stats.get(ANNOUNCED, 0)) for crawl in checks.crawls)
    fates = f"{announced:,} addresses were announced; {len(checks.fates)} counts of fates are wrong"
    yield ""
    yield (
        f"{checks.hours} crawls, {pages:,} requests, {items:,} items. "
        f"{fates if announced else 'Fates were not counted'}. "
        f"The store has {last.stored / 1e6:.1f} MB, the crawl's process {last.memory / 1e6:.0f} MB."
    )
    yield ""
    yield from (f"- {fault}" for fault in faults(checks) or ["all bounds hold"])


def faults(checks: Checks) -> list[str]:
    """All that is wrong."""
    total = sum((found.counts for found in checks.found.values()), start=Counter[str]())
    wrong = [f"{total[name]} {name}" for name in WRONG if total[name]]
    wrong += checks.fates
    return [*wrong, *checks.alarm_faults(), *checks.size_faults()]


def names(text: str) -> tuple[str, ...]:
    """Names of sites, separated by commas."""
    found, known = tuple(text.split(",")), World().papers
    if not known.keys() >= set(found):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}, got {text!r}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hours", type=at_least(1), default=WEEK, help="168 unless given")
    parser.add_argument(
        "--sites", type=names, default=(), metavar="NAME,…", help="all if not given"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    world = World()
    for name, paper in world.papers.items():
        paper.is_crawled = not options.sites or name in options.sites
    with serving() as served, TemporaryDirectory(prefix="scrapy-mss-week-") as store:
        checks = Checks(world.at(served.ports))
        for crawl in crawls(served, world, options.hours, store):
            checks.add(crawl)
            print(f"\rhour {crawl.hour}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    checks.close()
    lines = "\n".join(table(checks))
    print(lines)
    if options.out:
        options.out.write_text(f"{lines}\n")
    for found in checks.found.values():
        for example in found.examples[:EXAMPLES]:
            print(example, file=sys.stderr)
    return int(bool(faults(checks)))


if __name__ == "__main__":
    sys.exit(main())
