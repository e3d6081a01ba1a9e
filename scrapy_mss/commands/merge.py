"""Add models together.

The sum equals one model that learned from all their pages.
"""

from __future__ import annotations

import argparse

from scrapy_mss.commands import CommandError, MssCommand, print_line
from scrapy_mss.commands.base import existing_store, loaded, local_path, writing
from scrapy_mss.models.files import write_model

EXAMPLE = "scrapy mss merge monday.model tuesday.model -o week.model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="+",
        type=existing_store,
        metavar="MODEL",
        help="a model file, or the folder or server of a store",
    )
    parser.add_argument("-o", "--output", type=local_path, required=True, help="the file to write")


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    merged, n_twice = loaded(options.models[0]), 0
    for path in options.models[1:]:
        model = loaded(path)
        if model.classifier is not None:
            raise CommandError(
                f"{path}: only one model may have a block classifier: name it first, and only it"
            )
        try:
            n_twice += merged.learned.merge(model)
        except (ValueError, OverflowError) as error:
            raise CommandError(f"{path}: {error}") from error
    with writing(options.output):
        write_model(options.output, merged)
    pages, models = merged.learned.bayes.pages, len(options.models)
    print_line(f"{options.output}: {pages:,} pages from {models} models")
    if n_twice:
        print(f"  {n_twice:,} pages count more than once: several of the models had learned them")
    return 0
