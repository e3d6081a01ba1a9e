"""What learning gives: the bundled model, taught by labelled pages of half of the sites of a set.

    python -m research.studies.learning --data FOLDER --out research/results

With `--sets sites_daniel+articles_world:zh`, the Chinese pages of two sets are read as one set, and
with `--models FOLDER` by the model `FOLDER/zh`, such as one that was trained without any
(`python -m research.training DATA --without-language zh --out FOLDER/zh`).
Sites are parted five times at random, and each half teaches once, or as many sites of it as
`--most-sites` allows: five pages of each site, then up to 25. Then pages of all other sites are
read, and other pages of the same sites, by the model alone and with what it has learned, without
the memory of a site. A split is as good as the mean of its pages; a site that is below -.003 in the
mean of all its readings is counted, and apart from that one that is so in either half of its pages,
which is hardly chance.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, product, starmap
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

from research import command_line
from research.bench import metrics
from research.datasets.languages import language_of
from research.datasets.sets import load
from research.errors import UserError
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.text_labels import label_blocks
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import write_atomically
from scrapy_mss.models.model import Example, example_of
from scrapy_mss.models.profiles import DEFAULT, PROFILES

PROGRAM: Final = "python -m research.studies.learning"
SETS: Final = (
    *("sites_daniel", "sites_ctf", "articles_l3s", "articles_fundus", "articles_world"),
    *("articles_manual", "articles_rules", "articles_tools", "articles_wcxb"),
)
N_SPLITS: Final = 5
TAUGHT: Final = (5, 25)  # pages of a site, but no more than half of those that it has
MOST_READ: Final = 25  # pages of a site
MOST_LOST: Final = 0.003  # of a site's mean F1 that is still called none


@dataclass(frozen=True, eq=False)
class Labelled:
    """A page whose text is known, and the F1 of the bundled model."""

    page: Page
    site: str
    text: str
    alone: float
    half: int  # 0 or 1, of the pages of its site


class Change(NamedTuple):
    """A page that was read after learning: its site and half, and the F1 before and after."""

    site: str
    half: int
    before: float
    after: float


class Part(NamedTuple):
    """One of the halves, 0 or 1, in which the sites are parted by *seed*.

    At *most* so many of its sites are taught, by all of their pages if they are *whole*.
    """

    seed: int
    half: int
    most: int | None = None
    whole: bool = False


class Split(NamedTuple):
    """What came of teaching half of the sites: pages learned, and those that were read then."""

    n_learned: int
    others: list[Change]
    same: list[Change]


def f1(extractor: Extractor, page: Page, text: str) -> float:
    """The F1 of what *extractor* finds in *page*."""
    found = extractor.extract_page(page).text
    return metrics.bag(metrics.words(found), metrics.words(text)).f1


def pages_of(folder: Path, name: str, extractor: Extractor) -> dict[str, list[Labelled]]:
    """The pages of the set *name* by site, read by an *extractor* that learned nothing.

    Sets that are joined by a plus are one; after a colon, the name may have a language, for its
    pages alone.
    """
    names, _, language = name.partition(":")
    sites = defaultdict[str, list[Labelled]](list)
    for each in chain.from_iterable(
        load(f"jsonl:{folder / name}.jsonl.xz").pages for name in names.split("+")
    ):
        text = each.golds[0]
        if language and language_of(text) != language:
            continue
        # Some sets know the site of a page, but not its address.
        url = each.url or f"https://{each.site}/"
        page = Page.of(each.html, extractor.profile.stem, url)
        if len(page.blocks):
            known = sites[each.site]
            alone = f1(extractor, page, text)
            known.append(Labelled(page, each.site, text, alone, len(known) % 2))
    return dict(sorted(sites.items()))


@dataclass(frozen=True)
class Plan:
    """What learns, a model of a *profile*, or for a set in one language that in a folder.

    ``most_sites`` teach it, or half of those of a set, by half of their pages or, as ``whole``
    sites, by all, so that none of theirs is read.
    """

    profile: str
    models: Path | None
    most_sites: int | None
    whole: bool

    def extractor(self, name: str) -> Extractor:
        """One that learned nothing, for the set *name*."""
        _, _, language = name.partition(":")
        if self.models and language:
            path = self.models / language
            if not path.is_file():
                raise UserError(f"--models: there is no model {path}; research.training writes it")
            return Extractor(path)
        return Extractor(profile=self.profile)


def split(
    sites: Mapping[str, Sequence[Labelled]], extractor: Extractor, n_taught: int, part: Part
) -> Split:
    """Teach *extractor* one half of the *sites*, or so many of it, and read."""
    rng = Random(part.seed)  # noqa: S311 - no secrets
    order = rng.sample(list(sites), len(sites))
    taught = set(order[part.half :: 2][: part.most])
    examples, same, others = list[Labelled](), list[Labelled](), list[Labelled]()
    for site in order:
        pages = rng.sample(sites[site], len(sites[site]))
        if site in taught:
            n = min(n_taught, len(pages) if part.whole else max(len(pages) // 2, 1))
            examples += pages[:n]
            same += [] if part.whole else pages[n : n + MOST_READ]
        else:
            others += pages[:MOST_READ]
    model = extractor.model
    for number, each in enumerate(rng.sample(examples, len(examples))):
        inside = each.page.blocks.spread(label_blocks(each.page, each.text))
        example = example_of(each.page, inside, model)
        if isinstance(example, Example):
            model.learned.add(example, number)
    return Split(model.learned.bayes.pages, _read(others, extractor), _read(same, extractor))


def _read(pages: Iterable[Labelled], extractor: Extractor) -> list[Change]:
    return [
        Change(each.site, each.half, each.alone, f1(extractor, each.page, each.text))
        for each in pages
    ]


def rows(name: str, n_taught: int, splits: Sequence[Split]) -> Iterator[str]:
    """The two rows of a table on the *splits* of a set."""
    learned = round(fmean(each.n_learned for each in splits))
    for what, read in (
        ("other sites", [each.others for each in splits]),
        ("same sites", [each.same for each in splits]),
    ):
        changes = [change for each in read for change in each]
        if not changes:
            continue
        before, after = fmean(c.before for c in changes), fmean(c.after for c in changes)
        worst = min(fmean(c.after - c.before for c in each) for each in read if each)
        by_site, by_half = defaultdict(list), defaultdict(list)
        for change in changes:
            by_site[change.site].append(change.after - change.before)
            by_half[change.site, change.half].append(change.after - change.before)
        below = {key for key, each in (by_site | by_half).items() if fmean(each) < -MOST_LOST}
        n_below = len(below & by_site.keys())
        n_sure = sum((site, 0) in below and (site, 1) in below for site in by_site)
        less = 1 - (1 - after) / (1 - before)
        yield (
            f"| {name} | {n_taught} ({learned}) | {what} | {before:.4f} | {after:.4f} | "
            f"{less:.1%} | {worst:+.4f} | {n_below} of {len(by_site)} | {n_sure} |"
        )


def table(folder: Path, sets: Sequence[str], plan: Plan, jobs: int) -> str:
    """A Markdown table of what is learned by *plan* on each of the *sets*."""
    lines = [
        "| set | taught (in all) | read | F1 | then | error less | worst | below | both halves |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    with ProcessPoolExecutor(jobs) as pool:
        lines += pool.map(partial(_rows_of, folder, plan), sets)
    return "\n".join(lines) + "\n"


def _rows_of(folder: Path, plan: Plan, name: str) -> str:
    sites = pages_of(folder, name, plan.extractor(name))
    parts = list(starmap(Part, product(range(N_SPLITS), (0, 1), (plan.most_sites,), (plan.whole,))))
    lines = [
        row
        for n_taught in TAUGHT
        for row in rows(
            name,
            n_taught,
            [split(sites, plan.extractor(name), n_taught, part) for part in parts],
        )
    ]
    return "\n".join(lines)


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its table."""
    plan = Plan(options.profile, options.models, options.most_sites, options.whole)
    text = table(options.data, options.sets, plan, options.jobs)
    print(text)
    what = "languages" if plan.models else plan.profile
    name = "learning" if what == DEFAULT.name else f"learning_{what}"
    write_atomically(options.out / f"{name}.md", text.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    parser = command_line.Parser(prog=PROGRAM, description="What learning from labels gives.")
    command_line.add_data(parser)
    command_line.add_out(parser)
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET", help="other sets")
    parser.add_argument(
        "--profile", choices=PROFILES, default=DEFAULT.name, help="of the model that learns"
    )
    parser.add_argument(
        "--models",
        type=command_line.folder("--models"),
        metavar="FOLDER",
        help="of models by language, for sets in one",
    )
    parser.add_argument(
        "--most-sites",
        type=command_line.at_least(1),
        metavar="N",
        help="that teach (default: half of a set's)",
    )
    parser.add_argument(
        "--whole", action="store_true", help="teach all pages of a site, and read other sites"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    parser.set_defaults(perform=run)
    return command_line.run(parser, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
