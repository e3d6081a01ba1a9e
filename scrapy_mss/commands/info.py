"""``scrapy mss info``: what is in a model file, and whether the compiled part reads pages."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from scrapy_mss.cli import model_in, print_line
from scrapy_mss.commands.base import Action, existing_path
from scrapy_mss.markup.compiled import IS_COMPILED
from scrapy_mss.models.bundled import with_bundled
from scrapy_mss.models.format import fingerprint

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models", nargs="+", type=existing_path, metavar="MODEL", help="a model file"
    )


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    for path in options.models:
        model = model_in(path)
        bayes = model.bayes
        outside, inside = bayes.tokens.tolist()
        print_line(path)
        print(f"  profile      {model.profile.name}")
        print(f"  in items     mss:{with_bundled(model_in(path)).identifier}")
        print(f"  fingerprint  {fingerprint(model.profile)}")
        print(f"  pages        {bayes.pages:,}")
        print(f"  known        {len(model.learned_pages):,} pages that are not learned again")
        print(f"  tokens       {inside:,} inside articles, {outside:,} outside")
        for name, counts in bayes.counts.items():
            filled = int(counts.any(axis=1).sum())
            share = filled / len(counts)
            print(f"  {name:12} {filled:,} of {len(counts):,} buckets filled ({share:.1%})")
        print(f"  size         {path.stat().st_size:,} bytes")
    print("compiled part:", "in use" if IS_COMPILED else "not built, Python does its work")
    return 0


ACTION = Action(
    "info",
    "print what is in a model file",
    "Print what a model has learned and how full its feature tables are, and whether the compiled "
    "part of scrapy-mss is in use, which halves the time that a page takes.",
    "scrapy mss info .scrapy/mss/model",
    add_arguments,
    perform,
)
