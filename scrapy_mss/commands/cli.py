"""Shared by all command lines: one-line errors and the meaning of exit codes.

Every `scrapy` command imports this module, ours or not: models are imported where they are used.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from scrapy_mss.files.untrusted import printable, without_controls

if TYPE_CHECKING:
    from scrapy_mss.models.model import Model

GOOD, NOT_FOUND, BAD_ARGUMENTS = 0, 1, 2
NOBODY_READS = 128 + 13  # what shells report of a program that SIGPIPE has ended
EXIT_CODES = (
    "Exit codes: 0 on success, 1 if a page has no article or a check failed, 2 for\n"
    "invalid arguments or files."
)

_CONTROLS = re.compile("[\x7f-\x9f]")


class CommandError(Exception):
    """An error in the arguments or in the files that they name; the message is for the user."""


class OneLineParser(argparse.ArgumentParser):
    """Reports errors on one line, without the usage text."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_ARGUMENTS, error_line(self.prog, message))


def error_line(program: str, message: object) -> str:
    """*message* as *program* prints it: one line, without what would control a terminal."""
    text = " ".join(str(message).split())
    return f"{program}: error: {printable(text)}\n"


def print_line(text: object, file: TextIO | None = None) -> None:
    """Print *text* on one line, without what would control a terminal."""
    print(printable(str(text)), file=file)


def print_text(text: str) -> None:
    """Print what a page says: as it is, or, on a terminal, without what would control it."""
    print(without_controls(text) if sys.stdout.isatty() else text)


def print_json(values: Mapping[str, object]) -> None:
    """Print *values* as a line of JSON, in letters but for what controls a terminal."""
    text = json.dumps(values, ensure_ascii=False)
    # JSON itself escapes the others. Outside strings it has none of these.
    print(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def guarded(program: str, call: Callable[[], int], *errors: type[Exception]) -> int:
    """The exit code of *call*; user errors, also *errors*, are printed on one line.

    So is an error of the output. Where nobody reads it any more, as in ``… | head -1``, the end is
    quiet.
    """
    from scrapy_mss.models.format import ModelError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # not every terminal has every character
    try:
        code = _code(program, call, (CommandError, ModelError, OverflowError, *errors))
        sys.stdout.flush()  # Python does it later, where its error cannot be caught
    except BrokenPipeError:
        _drop_output()
        return NOBODY_READS
    except OSError as error:  # the disk is full
        sys.stderr.write(error_line(program, error))
        _drop_output()
        return BAD_ARGUMENTS
    return code


def _code(program: str, call: Callable[[], int], expected: tuple[type[Exception], ...]) -> int:
    try:
        return call()
    except expected as error:
        sys.stderr.write(error_line(program, error))
        return BAD_ARGUMENTS


def _drop_output() -> None:
    """Lead what is still to be written to nowhere: Python flushes once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def model_in(path: Path) -> Model:
    """The model in the file *path*, without the bundled model."""
    from scrapy_mss.models.store import read_model

    try:
        return read_model(path)
    except OSError as error:
        raise CommandError(f"{path}: the model cannot be read: {error.strerror}") from error
