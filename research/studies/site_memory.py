"""What a site's pages are worth: each is read with the memory and the labels of those before it.

    python -m research.studies.site_memory --data FOLDER --out research/results

Every site of `sites_ctf` (in each of its eras) and of `sites_daniel` is one crawl. Its pages come
in five random orders, and no page is read with a memory that contains it. Constants were chosen on
`sites_ctf`, two of them with a look at `sites_daniel`. Pages after the tenth count. Three memories
are compared with none: without labels, as in a crawl of a site without a wrapper; with the labels
of the first ten pages; and with the labels of all pages before, which shows how much there is to be
known in this way. Labels teach corrections, too (`scrapy_mss.blocks.lessons`).
"""

from __future__ import annotations

import argparse
import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from random import Random
from statistics import fmean
from time import process_time
from typing import Final, NamedTuple

import numpy as np

from research import command_line
from research.bench import metrics
from research.datasets.pages import LabelledPage
from research.datasets.sets import evenly, load
from scrapy_mss.article import ModelState, ReadOptions, read_article
from scrapy_mss.blocks.lessons import Lessons, Readings, corrected
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.places import BlocksRead
from scrapy_mss.blocks.selection import article_tokens, of_story, select
from scrapy_mss.blocks.text_labels import label_blocks
from scrapy_mss.core.cleaning import keep
from scrapy_mss.extractor import MIN_ARTICLE_PROBABILITY, Extractor
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokens import Bools, Floats
from scrapy_mss.models.files import bundled_model, write_atomically
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.evidence import adjusted
from scrapy_mss.sites.memory import BlockKeys, SiteMemory
from scrapy_mss.sites.store import packed, unpacked

PROGRAM: Final = "python -m research.studies.site_memory"
SETS: Final = ("sites_ctf", "sites_daniel")
N_ORDERS: Final = 5
AFTER: Final = 10  # pages of a site before those that count
LABELLED: Final = {"no labels": 0, "labels of the first ten pages": AFTER, "labels of all": 10**6}
MOST_LOST: Final = 0.003  # of a site's mean F1 that is still called none
COLORS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
STEPS: Final = (0, 3, 6, 10, 15, 20, 30)  # pages seen before: bounds of the curve's points
TIMED: Final = 60  # pages whose cost is measured
TURNS: Final = 7  # of each
MINUTE: Final = 29_000_000  # of all pages: nothing decays


@dataclass
class Reading(SiteContext):
    """Takes down what the extractor knows of a page before it asks about the site."""

    memory: SiteMemory = field(default_factory=SiteMemory)
    minute: int = MINUTE
    probability: Floats = field(default_factory=lambda: np.zeros(0))

    def block_probabilities(
        self,
        page: Page,
        probability: Floats,
        article_probability: float,
        by_labels: Floats | None = None,
    ) -> Floats:
        """The *probability* as it is."""
        self.probability = probability
        return super().block_probabilities(page, probability, article_probability, by_labels)


class Read(NamedTuple):
    """A page of a site, read without memory."""

    page: Page
    keys: BlockKeys
    probability: Floats
    inside: Bools
    gold: list[str]
    today: float  # F1 without memory
    likely: float  # that it is an article
    adds: SiteMemory
    adds_labelled: SiteMemory


class Score(NamedTuple):
    """A page in an order: how many pages were seen before it, and F1 with and without memory."""

    set_name: str
    site: str
    seen: int
    memory: float
    today: float


def read(labelled: LabelledPage, extractor: Extractor) -> Read:
    """Read a page as today."""
    # Some sets know the site of a page, but not its address.
    url = labelled.url or f"https://{labelled.site}/"
    page, reading = Page.of(labelled.html, url=url), Reading()
    found = extractor.extract_page(page, reading)
    gold = metrics.words(labelled.golds[0])
    inside = label_blocks(page, labelled.golds[0])
    return Read(
        page,
        BlockKeys.of(page),
        reading.probability,
        inside,
        gold,
        metrics.bag(metrics.words(found.text), gold).f1,
        found.probability,
        reading.update.added,
        SiteMemory.of_page(BlockKeys.of(page), inside.astype(float), MINUTE, labelled=True),
    )


def text_of(read_page: Read, probability: Floats, extractor: Extractor) -> str:
    """The article's text by the *probability* of each block."""
    page, profile = read_page.page, extractor.profile
    chosen = select(page, probability, profile.bias)
    if read_page.likely >= MIN_ARTICLE_PROBABILITY:
        chosen = of_story(page, chosen, probability, profile.bias)
    kept = keep(page.tokens, chosen.span, profile.rules) & article_tokens(page, chosen)
    return render(page.tokens, kept)


def with_site(memory: SiteMemory, lessons: Lessons, read_page: Read) -> Floats:
    """The probability of each block of a page with *memory*, and with what labels teach."""
    probability = adjusted(memory, read_page.keys, read_page.probability)
    taught = lessons.taught(BlocksRead(read_page.page, read_page.probability))
    if taught is None or taught.by_site is None:
        return probability
    return corrected(probability, taught.by_site)


def f1_with(memory: SiteMemory, lessons: Lessons, read_page: Read, extractor: Extractor) -> float:
    """F1 of a page that is read with *memory*, and with what labels teach."""
    probability = with_site(memory, lessons, read_page)
    if probability is read_page.probability:
        return read_page.today
    text = text_of(read_page, probability, extractor)
    return metrics.bag(metrics.words(text), read_page.gold).f1


def crawl(pages: Sequence[Read], n_labelled: int, extractor: Extractor) -> Iterator[float]:
    """F1 of each page in turn, read with the memory of those before it."""
    memory, lessons = SiteMemory(), Lessons()
    for seen, page in enumerate(pages):
        yield f1_with(memory, lessons, page, extractor)
        if seen >= n_labelled:
            memory = memory.plus(page.adds)
            continue
        alone = BlocksRead(page.page, page.probability)
        readings = Readings(alone, adjusted(memory, page.keys, page.probability))
        lessons.add(lessons.of_page(page.inside, readings))
        memory = memory.plus(page.adds_labelled)


def sites_of(folder: Path, name: str) -> dict[str, list[LabelledPage]]:
    """The pages of the set *name* by site and era."""
    found: dict[str, list[LabelledPage]] = defaultdict(list)
    for page in load(f"jsonl:{folder / name}.jsonl.xz").pages:
        found[f"{page.site} {page.group or ''}".strip()].append(page)
    return dict(sorted(found.items()))


def scores(
    folder: Path, sets: Sequence[str] = SETS, after: int = AFTER, seed: int = 0
) -> dict[str, list[Score]]:
    """The scores on the *sets*, by what was labelled, of sites with more than *after* pages."""
    extractor = Extractor()
    found: dict[str, list[Score]] = {mode: [] for mode in LABELLED}
    for name in sets:
        for site, labelled in sites_of(folder, name).items():
            if len(labelled) <= after:
                continue
            pages = [read(page, extractor) for page in labelled]
            for number in range(seed, seed + N_ORDERS):
                order = Random(number).sample(pages, len(pages))  # noqa: S311 - no secrets
                for mode, n_labelled in LABELLED.items():
                    results = zip(order, crawl(order, n_labelled, extractor), strict=True)
                    found[mode] += [
                        Score(name, site, seen, f1, page.today)
                        for seen, (page, f1) in enumerate(results)
                    ]
    return found


def table(found: dict[str, list[Score]], after: int = AFTER) -> str:
    """A Markdown table: F1 of the pages *after* the first so many, with and without memory."""
    lines = [
        "| set | memory | F1 without | F1 with | error less | lost most | sites below -.003 |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: |",
    ]
    sets = dict.fromkeys(row.set_name for rows in found.values() for row in rows)
    for name in sets:
        for mode, rows in found.items():
            late = [row for row in rows if row.set_name == name and row.seen >= after]
            lines.append(f"| {name} | {mode} | {_cells(late)} |")
    return "\n".join(lines) + "\n"


def _cells(rows: Sequence[Score]) -> str:
    today, memory = fmean(row.today for row in rows), fmean(row.memory for row in rows)
    changes = defaultdict(list)
    for row in rows:
        changes[row.site].append(row.memory - row.today)
    by_site = {site: fmean(values) for site, values in changes.items()}
    worst = min(by_site, key=lambda site: by_site[site])
    below = sum(change < -MOST_LOST for change in by_site.values())
    less = 1 - (1 - memory) / (1 - today)
    cells = (f"{today:.4f}", f"{memory:.4f}", f"{less:.1%}", f"{worst} {by_site[worst]:+.4f}")
    return " | ".join((*cells, f"{below} of {len(by_site)}"))


def curves(rows: Sequence[Score]) -> bytes:
    """F1 by the number of pages seen, as SVG: a set has a colour, without memory dashed."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    sets = dict.fromkeys(row.set_name for row in rows)
    for name, color in zip(sets, COLORS, strict=False):
        of_set = [row for row in rows if row.set_name == name]
        points = list(_points(of_set))
        x = [point[0] for point in points]
        axes.plot(x, [p[1] for p in points], color=color, marker="o", label=f"{name}, memory")
        axes.plot(x, [p[2] for p in points], color=color, linestyle="--", label=f"{name}, none")
    axes.set(
        title="Articles of a site by the pages seen before, no labels",
        xlabel="pages of the site seen before",
        ylabel="word F1",
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    out = io.BytesIO()
    with rc_context({"svg.hashsalt": "site_memory", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _points(rows: Sequence[Score]) -> Iterator[tuple[float, float, float]]:
    """The mean number of pages seen, F1 with and without memory, between each two of STEPS."""
    for low, high in zip(STEPS, (*STEPS[1:], 10**6), strict=True):
        here = [row for row in rows if low <= row.seen < high]
        if here:
            yield (
                fmean(row.seen for row in here),
                fmean(row.memory for row in here),
                fmean(row.today for row in here),
            )


def cost(pages: Sequence[LabelledPage], memory: SiteMemory) -> str:
    """How much more CPU time a page takes that is read with *memory*, sent to a worker and back.

    The least of several turns of each page counts, as in timeit: what disturbs a turn only adds.
    """
    state = ModelState.of(bundled_model())
    seconds = np.array(
        [
            [_seconds(page, state, None), _seconds(page, state, memory)]
            for page in pages
            for _ in range(TURNS)
        ]
    )
    without, with_memory = seconds.reshape(-1, TURNS, 2).min(axis=1).sum(axis=0)
    more = with_memory / without - 1
    return f"An article takes {more:.1%} more CPU time, metadata included ({len(pages)} pages)."


def _seconds(page: LabelledPage, state: ModelState, memory: SiteMemory | None) -> float:
    """The CPU time that *page* takes, read with *memory* or without one."""
    url = page.url or ""
    started = process_time()
    if memory is None:
        read_article(page.html, url, state)
    else:
        visit = SiteContext(unpacked(packed(memory)), MINUTE, url)
        read_article(page.html, url, state, ReadOptions(site=visit))
        memory.plus(unpacked(packed(visit.update.added)))
    return process_time() - started


def learned_of(pages: Sequence[Read]) -> SiteMemory:
    """The memory of all *pages*."""
    return reduce(SiteMemory.plus, (page.adds for page in pages), SiteMemory())


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its files."""
    found = scores(options.data, options.sets, options.after, options.seed)
    lines = table(found, options.after)
    pages = evenly(load(f"jsonl:{options.data / options.sets[0]}.jsonl.xz").pages, TIMED)
    memory = learned_of([read(page, Extractor()) for page in pages])
    lines += f"\n{cost(pages, memory)}\n"
    print(lines)
    write_atomically(options.out / "site_memory.md", lines.encode())
    write_atomically(options.out / "site_memory.svg", curves(found["no labels"]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    parser = command_line.Parser(prog=PROGRAM, description="What the memory of a site is worth.")
    command_line.add_data(parser)
    command_line.add_out(parser)
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET", help="other sets")
    parser.add_argument(
        "--after",
        type=command_line.at_least(0),
        default=AFTER,
        metavar="N",
        help="pages of a site before those counted",
    )
    parser.add_argument(
        "--seed", type=command_line.at_least(0), default=0, metavar="N", help="of the first order"
    )
    parser.set_defaults(perform=run)
    return command_line.run(parser, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
