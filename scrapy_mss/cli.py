"""What the command lines have in common: errors on one line, and what exit codes mean."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from scrapy_mss.models.format import ModelError
from scrapy_mss.models.model import Model
from scrapy_mss.models.store import read_model

GOOD, NOT_FOUND, BAD_ARGUMENTS = 0, 1, 2
EXIT_CODES = (
    "Exit codes: 0 if all went well, 1 if a page has no article or a check failed,\n"
    "2 for arguments or files that cannot be used."
)


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


def printable(text: str) -> str:
    """Untrusted *text*, with characters that control a terminal escaped."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def guarded(program: str, call: Callable[[], int], *errors: type[Exception]) -> int:
    """The exit code of *call*; user errors, also *errors*, are printed on one line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # not every terminal has every character
    expected: tuple[type[Exception], ...] = (CommandError, ModelError, OverflowError, *errors)
    try:
        return call()
    except expected as error:
        sys.stderr.write(error_line(program, error))
        return BAD_ARGUMENTS


def model_in(path: Path) -> Model:
    """The model in the file *path*, without the bundled model."""
    try:
        return read_model(path)
    except OSError as error:
        raise CommandError(f"{path}: the model cannot be read: {error.strerror}") from error
