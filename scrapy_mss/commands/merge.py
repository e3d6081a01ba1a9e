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
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    merged, n_twice = model_in(options.models[0]), 0
    for path in options.models[1:]:
        model = model_in(path)
        if model.classifier is not None:
            raise CommandError(
                f"{path}: a model with a block classifier contains the counts of the bundled "
                "model, which must not be added again: name it first, and only one such model"
            )
        try:
            n_twice += merged.merge(model)
        except (ValueError, OverflowError) as error:
            raise CommandError(f"{path}: {error}") from error
    try:
        write_model(options.output, merged)
    except OSError as error:
        raise CommandError(f"{options.output}: cannot be written: {error.strerror}") from error
    pages, models = merged.bayes.pages, len(options.models)
    print_line(f"{options.output}: {pages:,} pages from {models} models")
    if n_twice:
        print(f"  {n_twice:,} pages count more than once: several of the models had learned them")
    return 0


ACTION = Action(
    "merge",
    "add up models",
    "Add up models: the sum is what one model would have learned from all their pages.",
    "scrapy mss merge monday.model tuesday.model -o week.model",
    add_arguments,
    perform,
)
