"""``scrapy mss merge``: add models up."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_mss.cli import CommandError, model_in, print_line
from scrapy_mss.commands.base import Action, existing_path
from scrapy_mss.models.store import write_model

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models", nargs="+", type=existing_path, metavar="MODEL", help="a model file"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="where the sum is written")


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    merged = model_in(options.models[0])
    for path in options.models[1:]:
        try:
            merged.bayes.merge(model_in(path).bayes)
        except (ValueError, OverflowError) as error:
            raise CommandError(f"{path}: {error}") from error
    try:
        write_model(options.output, merged)
    except OSError as error:
        raise CommandError(f"{options.output}: cannot be written: {error.strerror}") from error
    print_line(f"{options.output}: {merged.bayes.pages:,} pages of {len(options.models)} models")
    return 0


ACTION = Action(
    "merge",
    "add models up",
    "Add the counts of models that learned apart: the sum is what one would have learned.",
    "scrapy mss merge monday.model tuesday.model -o week.model",
    add_arguments,
    perform,
)
