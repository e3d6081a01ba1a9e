"""The files of wrappers at a path: the file itself, those of a folder, or those of an archive."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from scrapy_mss.files.untrusted import open_regular, path_inside
from scrapy_mss.wrappers.archives import ARCHIVES, UNREADABLE, RuleFile, bounded_file
from scrapy_mss.wrappers.errors import Problem, WrapperError, located, rejected


def rule_files(path: Path, suffixes: tuple[str, ...]) -> list[RuleFile]:
    """The files at *path* with one of *suffixes*, by name; a `WrapperError` if there are none."""
    with located(file=str(path)):
        try:
            files = sorted(_found(path, suffixes), key=attrgetter("place"))
        except WrapperError:  # a ValueError too
            raise
        except UNREADABLE as error:
            raise rejected("a readable file, folder or archive", _reason(error)) from error
        if not files:
            raise rejected(f"files that end in {', '.join(suffixes)}", "none")
    return files


def _found(path: Path, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    if path.is_dir():
        yield from _in_folder(path, suffixes)
        return
    walk = next((walk for ending, walk in ARCHIVES if path.name.lower().endswith(ending)), None)
    with open_regular(path) as file:
        if walk:
            yield from walk(file, str(path), suffixes)
        elif path.name.lower().endswith(suffixes):
            yield bounded_file(str(path), file)


def _in_folder(folder: Path, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    for path in folder.rglob("*"):
        if path.name.lower().endswith(suffixes) and ".git" not in path.parts and not path.is_dir():
            yield _in_folder_file(path, folder)


def _in_folder_file(path: Path, folder: Path) -> RuleFile:
    try:
        inside = path_inside(path, folder)
        if inside is None:
            return RuleFile(str(path), problem=Problem("a file of this folder", "a link out of it"))
        with open_regular(inside) as file:
            return bounded_file(str(path), file)
    except (OSError, RuntimeError) as error:  # before 3.13 links in a circle are a RuntimeError
        return RuleFile(str(path), problem=Problem("a readable file", _reason(error)))


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
