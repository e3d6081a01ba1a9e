"""Print what a model has learned, and how full its feature tables are.

Also what is known about a site, and whether the compiled part of scrapy-mss, which halves the time
per page, is in use.
"""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path

from scrapy_mss.blocks.lessons import Lessons, ScriptLesson, described
from scrapy_mss.commands import MssCommand, print_line
from scrapy_mss.commands.base import existing_store, is_store, kept_model, loaded
from scrapy_mss.markup.compiled import IS_COMPILED
from scrapy_mss.models.files import FILE, with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.report import plural
from scrapy_mss.sites.memory import period_of
from scrapy_mss.sites.report import report
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import minute_now

BUNDLED = str(files("scrapy_mss").joinpath(FILE))

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
    for name, text in report(memory):
        print(f"    {name:10} {text}")


def _print_lesson(lessons: Lessons, wanted: str | None) -> None:
    """What the labels of the site that is *wanted* have taught."""
    lesson = None if wanted is None else lessons.of_site(f"https://{site_of(wanted)}/")
    if lesson is not None:
        print(f"    {'labels':10} {described(lesson)}")
