"""What crawls of the week gave, held against what its sites have published."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean, median
from typing import Any, Final

from research.benchmarks.week_coverage import wrong_fates
from research.benchmarks.week_crawls import Crawled
from research.benchmarks.week_world import FAULTS, Paper, Story, World

RECHECK: Final = 25  # hours: `MSS_ONLY_NEW`, and those of a crawl
WHOLE: Final = 0.8  # of the characters of an article, and of those in an item
STANDFIRST: Final = 300  # characters: two sentences that templates print above the text
SETTLED: Final = 48  # hours: from then on the store has to grow alike, and memory not at all
MAX_GROWTH: Final = 30  # MB of memory from then on
MAX_SPREAD: Final = 1.5  # times the median day, that a day may add to the store


@dataclass
class Findings:
    """Of one site: stories that are out, by what is right and what is wrong with them."""

    paper: Paper
    listed: dict[str, int] = field(default_factory=dict)  # path of an article: hour
    due: dict[str, int] = field(default_factory=dict)  # from when on its text could be had
    out: dict[str, int] = field(default_factory=dict)
    revised: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    keys: dict[str, str] = field(default_factory=dict)  # path of a story: that of its text
    alarms: dict[str, int] = field(default_factory=dict)  # measure: the first hour
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def note(self, what: str, crawl: Crawled, url: str) -> None:
        self.counts[what] += 1
        self.examples.append(f"{self.paper.name}, hour {crawl.hour}: {what}: {url}")


class Checks:
    """Takes crawls one by one, and says at the end what is wrong."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.found = {
            name: Findings(paper) for name, paper in world.papers.items() if paper.is_crawled
        }
        self.crawls: list[Crawled] = []
        self.fates: list[str] = []  # that are wrong

    def add(self, crawl: Crawled) -> None:
        self.crawls.append(crawl)
        self.fates += wrong_fates(self.world, crawl)
        for found in self.found.values():
            for story in found.paper.listed(crawl.hour):
                if story.is_article:
                    found.listed.setdefault(story.path, crawl.hour)
                    if found.paper.gives(story, crawl.hour):
                        found.due.setdefault(story.path, crawl.hour)
        for item in crawl.items:
            self._item(crawl, item)
        for alarm in crawl.alarms:
            host, _, measure = alarm.partition("/")
            paper, _ = self.world.find(f"http://{host}/")
            self.found[paper.name].alarms.setdefault(measure, crawl.hour)

    def _item(self, crawl: Crawled, item: dict[str, Any]) -> None:
        paper, story = self.world.find(item["url"])
        found = self.found[paper.name]
        if story is None or not story.is_article or not paper.gives(story, crawl.hour):
            found.note("false", crawl, item["url"])
            return
        if item["revision"] > 1:
            self._revision(found, crawl, story, item)
        elif story.path not in found.out:
            found.out[story.path] = crawl.hour
            found.keys[story.path] = item["story"]
        elif crawl.hour < story.moved:
            found.note("twice", crawl, item["url"])
        elif not paper.has("lead only", crawl.hour):  # whose text is another one
            self._copy(found, item["story"], found.keys[story.path], item["url"])
        if not paper.has("lead only", crawl.hour) and not is_whole(story, crawl.hour, item["text"]):
            found.note("wrong text", crawl, item["url"])

    def _copy(self, found: Findings, story: str, original: str, url: str) -> None:
        if story == original:
            found.counts["copy"] += 1
        else:
            found.note("no copy", self.crawls[-1], url)

    def _revision(
        self, found: Findings, crawl: Crawled, story: Story, item: dict[str, Any]
    ) -> None:
        before = max([found.out.get(story.path, crawl.hour), *found.revised[story.path]])
        found.revised[story.path].append(crawl.hour)
        redesigned, _ = found.paper.hours_of("redesign")
        is_other = found.paper.has("lead only", crawl.hour) or before < redesigned <= crawl.hour
        # So that its page has changed: the new template has a standfirst.
        if not is_other and not before < story.edited <= crawl.hour:
            found.note("false revision", crawl, f"{item['url']} {item['changed']}")

    # --- at the end -------------------------------------------------------------------------

    @property
    def hours(self) -> int:
        return len(self.crawls)

    def close(self) -> None:
        """Look for what never came."""
        last = self.crawls[-1]
        for found in self.found.values():
            for path, due in found.due.items():
                if path not in found.out:
                    found.note("missed", last, path)
                elif found.out[path] > due + (due - found.listed[path]):  # as long as it was hidden
                    found.note("late", last, f"{path} by {found.out[path] - due}")
                story = found.paper.by_path[path]
                assert story is not None
                if self._is_edit_due(found, story) and not found.revised[path]:
                    found.note("missed edit", last, path)
                original = self._original(found.paper, story)
                if path in found.keys and original:
                    self._copy(found, found.keys[path], original, path)

    def _is_edit_due(self, found: Findings, story: Story) -> bool:
        """Whether an edit had to be seen: its lists said so, or it was read again by then."""
        paper, out = found.paper, found.out.get(story.path, self.hours)
        if not out < story.edited < self.hours:
            return False
        if paper.reads_edits:
            hours = range(int(story.edited), self.hours)
        elif "plain" in paper.lists:
            hours = range(int(story.edited) + RECHECK, self.hours)
        else:
            return False
        return any(
            story in paper.listed(hour) and paper.gives(story, hour)
            for hour in hours
            if not paper.has("stuck", hour) and not paper.has("empty feeds", hour)
        )

    def _original(self, paper: Paper, story: Story) -> str:
        """The key of the text that *story* is a copy of, if that is out, as it was copied."""
        if not story.copy_of:
            return ""
        original = self.world.papers[paper.copies].by_path[story.copy_of]
        assert original is not None
        is_same = original.edited > story.hour and paper.copies in self.found
        return self.found[paper.copies].keys.get(original.path, "") if is_same else ""

    def alarm_faults(self) -> Iterator[str]:
        """Planted faults that no alarm has named in time, and alarms of nothing."""
        for found in self.found.values():
            paper = found.paper
            harmful = {name: FAULTS[name] for name in paper.faults if FAULTS[name].alarms}
            begins = [paper.hours_of(name)[0] for name in harmful]
            for begin, (name, planted) in zip(begins, harmful.items(), strict=True):
                in_time = range(begin, begin + planted.hours + 1)
                came = [found.alarms.get(measure) for measure in planted.alarms]
                if in_time[-1] < self.hours and not any(hour in in_time for hour in came):
                    yield f"{paper.name}: no alarm within {planted.hours} hours of {name}"
            for measure, hour in found.alarms.items():
                if hour < min(begins, default=self.hours):
                    yield f"{paper.name}: false alarm in hour {hour}: {measure}"

    def size_faults(self) -> Iterator[str]:
        """The store or the memory of the crawl's process that grows too much."""
        if self.hours <= 2 * SETTLED:
            return
        daily = [crawl.stored for crawl in self.crawls[SETTLED - 1 :: 24]]
        grown = [after - before for before, after in pairwise(daily)]
        if max(grown) > MAX_SPREAD * mean(grown):
            shown = ", ".join(f"{each / 1e6:.1f}" for each in grown)
            yield f"the store grows by {shown} MB a day"
        # It rises and falls over some crawls, whose parts are freed together.
        memory = [
            median(crawl.memory for crawl in day)
            for day in (self.crawls[SETTLED:][:24], self.crawls[-24:])
        ]
        growth = (memory[1] - memory[0]) / 1e6
        if growth > MAX_GROWTH:
            yield f"the crawl's process grows by {growth:.0f} MB after two days"


def is_whole(story: Story, hour: int, text: str) -> bool:
    """Whether *text* has most of the running text of *story*, and little but a standfirst."""
    parts = [part.text for part in story.version(hour).parts]
    found = [each for each in parts if each in text]
    in_text = sum(map(len, found))
    above = min((text.index(each) for each in found), default=0)
    running = sum(len(part.text) for part in story.version(hour).parts if part.role in ("p", "q"))
    return in_text >= WHOLE * running and in_text >= WHOLE * (len(text) - min(above, STANDFIRST))
