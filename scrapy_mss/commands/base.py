"""Shared by the actions of ``scrapy mss``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tqdm import tqdm

from scrapy_mss.commands.cli import EXIT_CODES, print_line
from scrapy_mss.files.sources import Source
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.storage.server_address import ServerError, is_server

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Action:
    """One action of the command: its help, and what it does."""

    description: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    perform: Callable[[argparse.Namespace, ScrapyCommand], int]
    exit_codes: str = EXIT_CODES


def counted(things: Iterable[T], what: str) -> Iterable[T]:
    """*things*, with a running count on standard error where that is a terminal."""
    shown: Iterable[T] = tqdm(things, unit=f" {what}", leave=False, disable=None)
    return shown


def existing_path(text: str) -> Path:
    """An argument that has to name an existing file or folder."""
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return path


def store_name(text: str) -> str:
    """An argument that names a file, which need not exist, or a server."""
    try:
        is_server(text)
    except ServerError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def existing_store(text: str) -> str:
    """An argument that has to name an existing file, or a server."""
    return text if is_server(store_name(text)) else str(existing_path(text))


def local_path(text: str) -> Path:
    """An argument that names a file or folder, which need not exist."""
    if is_server(store_name(text)):
        raise argparse.ArgumentTypeError("expected a file or folder, got the address of a server")
    return Path(text)


def positive(text: str) -> int:
    """An argument that has to be a number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text}")
    return number


def stored(path: Path) -> Iterator[StoredPage]:
    """The pages of a source; on standard error, how many of its records could not be used."""
    source = Source(path)
    yield from source
    if source.skipped.count:
        count, first = source.skipped.count, source.skipped.first
        print_line(f"{path}: skipped {count} records; the first: {first}", sys.stderr)
