"""Shared by the actions of ``scrapy mss``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from scrapy_mss import settings
from scrapy_mss.commands import EXIT_CODES, CommandError, MssCommand, print_line
from scrapy_mss.crawl.stores import model_name, site_store
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.sources import Source
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import LARGEST_PAGE, read_regular
from scrapy_mss.models.bundled import with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.models.store import ModelStore, read_model
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.sites.crawled import minute_now
from scrapy_mss.sites.memory import SiteMemory, period_of
from scrapy_mss.storage.server_address import ServerError, is_server

T = TypeVar("T")
# Where no file can be, so that there is nothing to add to the bundled model.
NO_MODEL = f"{os.devnull}/model"


@dataclass(frozen=True, slots=True)
class Action:
    """One action of the command: its help, and what it does."""

    description: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    perform: Callable[[argparse.Namespace, MssCommand], int]
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


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options by which `model_named` chooses a model."""
    models = parser.add_mutually_exclusive_group()
    models.add_argument(
        "-m",
        "--model",
        type=existing_store,
        help="a model file or server; default: the one that a crawl with these settings uses",
    )
    models.add_argument(
        "-b",
        "--bundled",
        action="store_true",
        help="use only the bundled model, without what crawls have learned",
    )


def model_named(options: argparse.Namespace, command: MssCommand) -> str:
    """The model that pages are read with, wherever they come from; the file need not exist."""
    if options.bundled:
        return NO_MODEL
    if options.model:
        return str(options.model)
    return model_name(command.settings, settings.read(command.settings).model)


def is_address(page: str) -> bool:
    return page.startswith(("http://", "https://"))


def extractor_with(store: ModelStore) -> Extractor:
    """What reads pages with the model in *store*, on top of the bundled one."""
    return Extractor.of(with_bundled(store.load()))


def known_site(model: str, url: str) -> SiteMemory | None:
    """The memory that crawls with the *model* have of the site of *url*; None if they have none."""
    site = site_of(url) if url else ""
    if not site:
        return None
    return site_store(model).load(site).at(period_of(minute_now())) or None


def page_in(path: Path) -> str:
    """The HTML in the file *path*."""
    try:
        return decoded(read_regular(path, LARGEST_PAGE))
    except OSError as error:
        raise CommandError(f"{path}: the page cannot be read: {error.strerror}") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """The block writes the file *path*; a `CommandError` if it cannot."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{path}: cannot be written: {error.strerror}") from error


def model_in(path: Path) -> Model:
    """The model in the file *path*, without the bundled model."""
    try:
        return read_model(path)
    except OSError as error:
        raise CommandError(f"{path}: the model cannot be read: {error.strerror}") from error
