"""Where wrappers come from: files, names in Python, or the objects themselves.

The ending of a file's name says who reads it (`READERS`). All sources are read before anything is
said: one `WrapperError` has the faults of all of them.
"""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Final, Literal, TypeAlias

from scrapy_mss.wrappers.documents import read_document
from scrapy_mss.wrappers.errors import Fault, WrapperError, shown
from scrapy_mss.wrappers.files import LARGEST_FILE, RuleFile, rule_files
from scrapy_mss.wrappers.ftr import SUFFIX, Account, read_site_config
from scrapy_mss.wrappers.registry import Registry
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.yamlfile import as_text, documents

logger = logging.getLogger(__name__)

Source: TypeAlias = str | Path | Wrapper | Mapping[str, object] | Iterable[Wrapper]
Policy: TypeAlias = Literal["skip", "raise"]
Reader: TypeAlias = Callable[[bytes, str, Account], list[Wrapper]]

_PYTHON_NAME = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")
_SOURCES = "a path, 'module:NAME', a Wrapper, a mapping, or a list of the last two"


def load_wrappers(sources: Iterable[Source] | Source, *, third_party: Policy = "skip") -> Registry:
    """The wrappers of all *sources*, in their order; a `WrapperError` if there is any fault.

    A source is a YAML file, a folder or an archive of such files or of site config files of
    Full-Text RSS, ``"module:NAME"`` for wrappers in Python, a `Wrapper`, a mapping shaped as in
    YAML, or a list of these two. *third_party* says what a fault in a site config file does:
    ``"skip"`` leaves out what has it, ``"raise"`` treats it as in one's own rules.
    """
    if isinstance(sources, (str, Path, Wrapper, Mapping)):
        sources = [sources]
    gathered = _Gathered()
    for number, source in enumerate(sources, 1):
        gathered.add(source, f"source {number}")
    account = gathered.account
    faults = [*gathered.faults, *(account.faults if third_party == "raise" else ())]
    if faults:
        raise WrapperError(faults)
    if account.files:
        logger.info("site config files: %s", account)
    return Registry(gathered.wrappers, account)


class _Gathered:
    """Wrappers and faults of the sources so far."""

    def __init__(self) -> None:
        self.wrappers: list[Wrapper] = []
        self.faults: list[Fault] = []
        self.account = Account()

    def add(self, source: object, place: str) -> None:
        """Add the wrappers of *source*, or its faults; *place* is its name in messages."""
        try:
            match source:
                case str() if not Path(source).exists() and _PYTHON_NAME.fullmatch(source):
                    self._objects(_imported(source), source)
                case str() | Path():
                    for file in rule_files(Path(source), tuple(READERS)):
                        self._file(file)
                case _:
                    self._objects(source, place)
        except WrapperError as error:
            self.faults += error.faults

    def _objects(self, source: object, place: str) -> None:
        match source:
            case Wrapper():
                self.wrappers.append(source)
            case Mapping():
                self.wrappers += read_document(source, place)
            case list() | tuple() | set() | frozenset() | Registry():
                for number, item in enumerate(source):
                    self._item(item, f"{place}[{number}]")
            case _:
                raise WrapperError([Fault(_SOURCES, shown(source), file=place)])

    def _item(self, item: object, place: str) -> None:
        if isinstance(item, (Wrapper, Mapping)):
            self.add(item, place)
        else:
            self.faults.append(Fault("a Wrapper or a mapping", shown(item), file=place))

    def _file(self, file: RuleFile) -> None:
        if file.data is None:
            expected = f"a file of at most {LARGEST_FILE:,} bytes"
            self.faults.append(Fault(expected, "a larger one", file=file.place))
            return
        read = READERS[PurePath(file.place).suffix.lower()]
        try:
            self.wrappers += read(file.data, file.place, self.account)
        except WrapperError as error:
            self.faults += error.faults


def _read_yaml(data: bytes, place: str, _account: Account) -> list[Wrapper]:
    found = documents(as_text(data, place), place)
    if not found:
        raise WrapperError([Fault("a mapping with 'site' and 'body'", "an empty file", file=place)])
    wrappers: list[Wrapper] = []
    faults: list[Fault] = []
    for number, document in enumerate(found, 1):
        path = "$" if len(found) == 1 else f"document {number}: $"
        try:
            wrappers += read_document(document, place, path)
        except WrapperError as error:
            faults += error.faults
    if faults:
        raise WrapperError(faults)
    return wrappers


def _read_ftr(data: bytes, place: str, account: Account) -> list[Wrapper]:
    return read_site_config(data.decode("utf-8-sig", "replace"), place, account)


READERS: Final[Mapping[str, Reader]] = {
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
    SUFFIX: _read_ftr,
}


def _imported(source: str) -> object:
    module, _, name = source.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except WrapperError as error:  # a Wrapper that is made there
        raise WrapperError([fault.at(source, "") for fault in error.faults]) from error
    except Exception as error:  # whatever it is, the faults of other sources are told too
        got = f"{type(error).__name__}: {error}"
        raise WrapperError([Fault("a name in a Python module", got, file=source)]) from error
