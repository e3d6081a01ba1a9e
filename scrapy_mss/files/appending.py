"""A file that grows by whole records: a full disk leaves no partial record in it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import IO


class Appended:
    """Appends to the end of *file*, which is open for writing and has no buffer of its own.

    What was appended is with the system: a process that is killed does not take it along.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.size = file.seek(0, os.SEEK_END)

    def append(self, record: bytes) -> None:
        """Append all of *record*; if that fails, the file is as long as it was."""
        rest = memoryview(record)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError:
            with suppress(OSError):
                self.file.truncate(self.size)
                self.file.seek(self.size)
            raise
        self.size += len(record)
