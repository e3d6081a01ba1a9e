"""Shared by the actions of ``scrapy mss``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from scrapy.utils.project import data_path
from tqdm import tqdm

from scrapy_mss import settings
from scrapy_mss.commands import CommandError, MssCommand, print_line
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.sources import Source
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import LARGEST_PAGE, read_regular
from scrapy_mss.models.files import ModelFile, read_model, with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.sites.memory import SiteMemory, period_of
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.opening import STORE_FOLDER, is_server, store_at
from scrapy_mss.storage.tables import Store, StoreError, minute_now

T = TypeVar("T")


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
    """An argument that names a file or folder, which need not exist, or a server."""
    try:
        is_server(text)
    except StoreError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def existing_store(text: str) -> str:
    """An argument that has to name an existing file or folder, or a server."""
    return text if is_server(store_name(text)) else str(existing_path(text))


def local_path(text: str) -> Path:
    """An argument that names a file or folder, which need not exist."""
    if is_server(store_name(text)):
        raise argparse.ArgumentTypeError("expected a file or folder, got the address of a server")
    return Path(text)


def number(text: str, least: int = 1, most: int = 1_000_000) -> int:
    """An argument that has to be a number."""
    if not (text.isascii() and text.isdigit() and least <= int(text[:12]) <= most):
        raise argparse.ArgumentTypeError(f"expected a number from {least} to {most}, got {text!r}")
    return int(text)


def stored(path: Path) -> Iterator[StoredPage]:
    """The pages of a source; on standard error, how many of its records could not be used."""
    source = Source(path)
    yield from source
    if source.skipped.count:
        count, first = source.skipped.count, source.skipped.first
        print_line(f"{path}: skipped {count} records; the first: {first}", sys.stderr)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options by which `learned_model` chooses a model."""
    models = parser.add_mutually_exclusive_group()
    models.add_argument(
        "-m",
        "--model",
        type=existing_store,
        help="a model file, or the folder or server of a store; default: the store of a crawl with "
        "these settings",
    )
    models.add_argument(
        "-b",
        "--bundled",
        action="store_true",
        help="use only the bundled model, without what crawls have learned",
    )


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option by which `chosen_store` chooses a store."""
    parser.add_argument(
        "-s",
        "--store",
        type=existing_store,
        metavar="STORE",
        help="the folder or server of the store; default: that of a crawl with these settings",
    )


def chosen_store(named: str | None, command: MssCommand) -> Store:
    """The store that is *named*, or that of a crawl with the settings of *command*."""
    return store_at(named or settings.read(command.settings).store or data_path(STORE_FOLDER))


def is_store(named: str) -> bool:
    """Whether what holds a model is a store, and not a file."""
    return is_server(named) or Path(named).is_dir()


def kept_model(named: str) -> ModelFile | StoredModel:
    """The model in a file, or in a store."""
    return StoredModel(store_at(named), DEFAULT) if is_store(named) else ModelFile(named, DEFAULT)


def learned_model(options: argparse.Namespace, command: MssCommand) -> Model:
    """What the model has learned that pages are read with, without the bundled model."""
    if options.bundled:
        return Model(DEFAULT)
    if options.model:
        return kept_model(options.model).load()
    return StoredModel(chosen_store(None, command), DEFAULT).load()


def chosen_extractor(options: argparse.Namespace, command: MssCommand) -> Extractor:
    """What reads pages with that model, beside the bundled one."""
    return Extractor.of(with_bundled(learned_model(options, command)))


def is_address(page: str) -> bool:
    return page.startswith(("http://", "https://"))


def known_site(options: argparse.Namespace, command: MssCommand, url: str) -> SiteMemory | None:
    """What is known of the site of *url* in the store of the model; None if there is nothing."""
    site = site_of(url) if url else ""
    is_file = options.model and not is_store(options.model)
    if not site or options.bundled or is_file:
        return None
    store = chosen_store(options.model, command)
    return SiteStore(store).load(site).at(period_of(minute_now())) or None


def page_in(path: Path) -> str:
    """The HTML in the file *path*."""
    try:
        return decoded(read_regular(path, LARGEST_PAGE))
    except OSError as error:
        raise CommandError(f"{path}: the page cannot be read: {error.strerror}") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """The block writes the file *path*, in a folder that is made; a `CommandError` if it cannot."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise CommandError(f"{path}: cannot be written: {error.strerror}") from error


def loaded(named: str) -> Model:
    """The model in a file or in a store, without the bundled model."""
    try:
        return kept_model(named).load() if is_store(named) else read_model(named)
    except OSError as error:
        raise CommandError(f"{named}: the model cannot be read: {error}") from error
