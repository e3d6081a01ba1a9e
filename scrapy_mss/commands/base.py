"""What the actions of ``scrapy mss`` have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from scrapy_mss.models.format import Model
from scrapy_mss.models.store import read_model

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

T = TypeVar("T")


class CommandError(Exception):
    """Something in the arguments, or in the files they name; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Action:
    """One row of the command: its name, what it says of itself, and what it does."""

    name: str
    summary: str
    description: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    perform: Callable[[argparse.Namespace, ScrapyCommand], int]


def model_in(path: Path) -> Model:
    """What is in the model file *path*, without what is in the box."""
    try:
        return read_model(path)
    except OSError as error:
        raise CommandError(f"{path}: the model cannot be read: {error.strerror}") from error


def counted(things: Iterable[T], what: str, every: float = 0.2) -> Iterator[T]:
    """*things*, with a running count on standard error where that is a terminal."""
    shown, last, number = sys.stderr.isatty(), 0.0, 0
    for number, thing in enumerate(things, 1):
        yield thing
        if shown and monotonic() - last > every:
            last = monotonic()
            print(f"\r{number:,} {what}", end="", file=sys.stderr, flush=True)
    if shown and number:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def shown_path(text: str) -> Path:
    """An argument that has to name something that is there."""
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"there is no file or folder {text}")
    return path
