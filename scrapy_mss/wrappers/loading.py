"""Where wrappers are loaded from: files, folders, archives, names in Python, or the objects.

The suffix of a file's name says who reads it (`READERS`). All sources are read before any problem
is raised: one `WrapperError` has the problems of all of them.
"""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Final, Literal, TypeAlias

from scrapy_mss.wrappers.errors import WrapperError, gathered, located, rejected, shown
from scrapy_mss.wrappers.ftr import SUFFIX, ImportReport, read_site_config
from scrapy_mss.wrappers.registry import Registry
from scrapy_mss.wrappers.rule_files import RuleFile, rule_files
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.schema import PLACES, documents, read_document

logger = logging.getLogger(__name__)

Source: TypeAlias = str | Path | Wrapper | Mapping[str, object] | Iterable[Wrapper]
Policy: TypeAlias = Literal["skip", "raise"]
Reader: TypeAlias = Callable[[bytes, str, ImportReport], list[Wrapper]]

_PYTHON_NAME = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")
_SOURCES = "a path, 'module:NAME', a Wrapper, a mapping, or a list of the last two"


def load_wrappers(sources: Iterable[Source] | Source, *, third_party: Policy = "skip") -> Registry:
    """The wrappers of all *sources*, in their order; a `WrapperError` if anything is wrong.

    A source is a YAML file, a folder or an archive of such files or of site config files of
    Full-Text RSS, ``"module:NAME"`` for wrappers in Python, a `Wrapper`, a mapping shaped as in
    YAML, or a list of these two. *third_party* says what a problem in a site config file does:
    ``"skip"`` leaves out what has it, ``"raise"`` treats it as in one's own wrappers.
    """
    if isinstance(sources, (str, Path, Wrapper, Mapping)):
        sources = [sources]
    report = ImportReport()
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for number, source in enumerate(sources, 1):
            place = f"source {number}"  # in messages, unless the source has a name
            with problems.at(file=place):
                wrappers += _from_source(source, place, report)
        if third_party == "raise":
            problems.found += report.problems
    if report.files:
        logger.info("site config files: %s", report)
    return Registry(wrappers, report)


def _from_source(source: object, place: str, report: ImportReport) -> list[Wrapper]:
    match source:
        case str() if _PYTHON_NAME.fullmatch(source) and not Path(source).exists():
            with located(file=source):
                return _from_objects(_imported(source), source)
        case str() | Path():
            return _from_files(rule_files(Path(source), tuple(READERS)), report)
        case _:
            return _from_objects(source, place)


def _imported(source: str) -> object:
    module, _, name = source.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except WrapperError:  # of a Wrapper that is made there
        raise
    except Exception as error:  # whatever it is, the problems of other sources are reported too
        raise rejected("a name in a Python module", f"{type(error).__name__}: {error}") from error


def _from_objects(source: object, place: str) -> list[Wrapper]:
    if isinstance(source, (Wrapper, Mapping)):
        return _from_object(source, place)
    if not isinstance(source, (list, tuple, set, frozenset, Registry)):
        raise rejected(_SOURCES, shown(source))
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for number, item in enumerate(source):
            with problems.at(file=f"{place}[{number}]"):
                wrappers += _from_object(item, f"{place}[{number}]")
    return wrappers


def _from_object(item: object, place: str) -> list[Wrapper]:
    match item:
        case Wrapper():
            return [item]
        case Mapping():
            return read_document(item, place)
        case _:
            raise rejected("a Wrapper or a mapping", shown(item))


def _from_files(files: Iterable[RuleFile], report: ImportReport) -> list[Wrapper]:
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for file in files:
            with problems.at(file=file.place):
                if file.problem is not None:
                    raise WrapperError([file.problem])
                read = READERS[PurePath(file.place).suffix.lower()]
                wrappers += read(file.data, file.place, report)
    return wrappers


def _read_yaml(data: bytes, place: str, _report: ImportReport) -> list[Wrapper]:
    found = documents(data)
    if not found:
        raise rejected(f"a mapping with 'site' and {PLACES}", "an empty file")
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for number, document in enumerate(found, 1):
            path = "$" if len(found) == 1 else f"document {number}: $"
            with problems.at():
                wrappers += document.wrappers(place, path)
    return wrappers


def _read_site_config(data: bytes, place: str, report: ImportReport) -> list[Wrapper]:
    return read_site_config(data.decode("utf-8-sig", "replace"), place, report)


READERS: Final[Mapping[str, Reader]] = {
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
    SUFFIX: _read_site_config,
}
