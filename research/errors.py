"""What the person at the keyboard must change, in one sentence.

Everything that a user can get wrong (a path, a name, a missing library) ends here: the command
prints the message on one line and leaves with code 2. What a page or a system does wrong is not
an error of the run; it is a value that is counted (`pages.Broken`, `scoring.PageScore.error`).
"""

from __future__ import annotations

import importlib
from typing import Any

REMEDY = "make research"  # installs all that research needs, the peers too


class UserError(Exception):
    """A run that cannot start or go on; the message names the thing and the remedy."""

    def __str__(self) -> str:
        """The message on one line, whatever it was made of."""
        return " ".join(super().__str__().split())


def require(module: str, purpose: str) -> Any:  # noqa: ANN401 - a module has no better type here
    """Import *module*, or say what it is for and what brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = error.name or module
        message = f"{purpose} needs {missing}, which is not installed; run: {REMEDY}"
        raise UserError(message) from error
