"""Print what a model has learned, and how full its feature tables are.

Also what is known about a site, and whether the compiled part of scrapy-mss, which reads a page
five times as fast, is in use.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np

from scrapy_mss.blocks.lessons import Lessons, ScriptLesson, described
from scrapy_mss.commands import MssCommand, print_line
from scrapy_mss.commands.base import existing_store, is_store, kept_model, loaded
from scrapy_mss.markup.compiled import IS_COMPILED
from scrapy_mss.models.files import FILE, with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.report import plural
from scrapy_mss.sites.address_counts import BROWSER, AddressCounts
from scrapy_mss.sites.evidence import MIN_PAGES
from scrapy_mss.sites.memory import MINUTES_A_DAY, KeyedCounts, SiteMemory, period_of
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import minute_now

BUNDLED = str(files("scrapy_mss").joinpath(FILE))

COMMON, FREQUENT = 0.5, 0.1  # shares of pages
SHOWN = 10  # shapes of addresses
OUT_OF_USE = 7 * MINUTES_A_DAY  # minutes before the latest page
CLEAR = 0.8  # the mean vote from which, and below the rest of which, a container is of one kind

EXAMPLE = "scrapy mss info --site example.com .scrapy/mss"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="*",
        type=existing_store,
        default=[BUNDLED],
        metavar="MODEL",
        help="a model file, or the folder or server of a store; default: the bundled model",
    )
    parser.add_argument(
        "--site", metavar="SITE", help="also print what crawls with the store know about this site"
    )


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    for named in options.models:
        model = loaded(named)
        _print_model(named, model)
        if is_store(named):
            _print_sites(SiteStore(store_at(named)), options.site)
            _print_lesson(model.lessons, options.site)
    print("compiled part:", "in use" if IS_COMPILED else "not built, Python does its work")
    return 0


def _print_model(named: str, model: Model) -> None:
    bayes = model.bayes
    outside, inside = bayes.tokens.tolist()
    print_line(kept_model(named).name)
    print(f"  profile      {model.profile.name}")
    print(f"  in items     mss:{with_bundled(loaded(named)).identifier}")
    print(f"  pages        {bayes.pages:,}")
    print(f"  known        {len(model.learned_pages):,} pages that are not learned again")
    print(f"  tokens       {inside:,} inside articles, {outside:,} outside")
    for name, counts in bayes.counts.items():
        filled = int(counts.any(axis=1).sum())
        share = filled / len(counts)
        print(f"  {name:12} {filled:,} of {len(counts):,} buckets filled ({share:.1%})")
    for script, taught in model.learned.lessons.by_script.items():
        print(f"  {script:12} {_worth(taught)}")
    for (name, version), other in sorted(model.other_families.items()):
        print(f"  {name:12} {other.pages:,} pages in version {version}, which is not used here")
    if not is_store(named):
        print(f"  size         {Path(named).stat().st_size:,} bytes")


def _worth(taught: ScriptLesson) -> str:
    """What the sites in a script teach, in words."""
    sites = plural(taught.sites, "labelled site")
    if not taught.weight:
        return f"{sites}, no proven gain for others"
    return f"{sites}, correct others by {taught.weight:.2f}, {taught.gain:+.4f} log-likelihood"


def _print_sites(store: SiteStore, wanted: str | None) -> None:
    """How many sites are known, and what is known of the one that is *wanted*."""
    known = list(store.sites())
    if not known and wanted is None:
        return
    print(f"  sites        {len(known):,} known, {sum(site.size for site in known):,} bytes")
    if wanted is None:
        return
    site = site_of(wanted)
    print_line(f"  site         {site}")
    memory = store.load(site).at(period_of(minute_now()))
    for name, text in site_lines(memory):
        print(f"    {name:10} {text}")


def _print_lesson(lessons: Lessons, wanted: str | None) -> None:
    """What the labels of the site that is *wanted* have taught."""
    lesson = None if wanted is None else lessons.of_site(f"https://{site_of(wanted)}/")
    if lesson is not None:
        print(f"    {'labels':10} {described(lesson)}")


def site_lines(memory: SiteMemory) -> Iterator[tuple[str, str]]:
    """What is known of a site, a name and a text for each line: mostly numbers.

    All counts are as they are weighed today; texts and names are not stored.
    """
    pages = memory.pages
    yield (
        "pages",
        f"{pages:,.1f} with an article, {memory.labelled_pages:,.1f} of them labelled by a wrapper",
    )
    if pages < MIN_PAGES:
        yield "used", f"not yet: sites are known from {MIN_PAGES:.0f} pages on"
    share = memory.texts.rows[:, 0] / max(pages, 1.0)
    common, frequent = (int((share >= least).sum()) for least in (COMMON, FREQUENT))
    yield (
        "texts",
        f"{len(share):,}: {common:,} on half of the pages or more, {frequent:,} on a tenth or more",
    )
    yield from _containers(memory.containers)
    yield from _addresses(memory.addresses)


def _containers(containers: KeyedCounts) -> Iterator[tuple[str, str]]:
    """How many there are of each kind, and how many of articles are out of use."""
    seen, votes = containers.rows[:, 0], containers.rows[:, 1]
    often = seen >= MIN_PAGES
    mean = votes[often] / seen[often]
    of_articles, of_others = mean >= CLEAR, mean <= 1 - CLEAR
    both = int(np.sum(~of_articles & ~of_others))
    kinds = (
        f"{of_articles.sum():,} of articles, {of_others.sum():,} of other text, {both:,} of both"
    )
    yield "containers", f"{len(seen):,}; on {MIN_PAGES:.0f} pages or more: {kinds}"
    if of_articles.any():
        latest = int(containers.seen.max())
        stale = int(np.sum(latest - containers.seen[often][of_articles] > OUT_OF_USE))
        share = stale / int(of_articles.sum())
        yield "drift", f"{share:.0%} of those of articles were not seen in the site's last week"


def _addresses(addresses: AddressCounts) -> Iterator[tuple[str, str]]:
    """The shapes that most pages had, and which share of these were articles."""
    yield "addresses", f"{len(addresses):,} shapes"
    most = sorted(addresses, key=lambda item: (-item[1].pages, item[0]))[:SHOWN]
    for shape, seen in most:
        share, of_browser = seen.articles / seen.pages, shape.startswith(BROWSER)
        found = "shown by a browser alone" if of_browser else "articles"
        name = shape.removeprefix(BROWSER)
        yield "", f"{name}: {seen.pages:,.1f} pages, {share:.0%} of them {found}"
