"""One lane: a process that makes parts, one after the other, with a few workers of its own.

Reading and decoding pages and writing Parquet take a tenth of the time of extraction, so one
process can keep several workers busy, and several lanes any number of cores. JSON lines go to
standard input, first the settings and then parts; JSON lines come back with the progress
of a part and finally its result. The lane exits when its standard input ends.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from scrapy_mss.bulk.extracting import ArticleExtractor, CannotStartError
from scrapy_mss.bulk.parts import make_part
from scrapy_mss.bulk.records import Part, Piece


def sent(part: Part) -> dict[str, Any]:
    """*part* as JSON has it."""
    return asdict(part)


def received(values: dict[str, Any]) -> Part:
    """The part that was `sent` as *values*."""
    return Part(values["number"], tuple(Piece(**each) for each in values["pieces"]))


def main() -> None:
    """Make the parts that are asked for."""
    asked, answers = _lines()
    first = asked.readline()
    if not first:
        return
    start = json.loads(first)
    folder = Path(start["folder"])

    def answer(**values: Any) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    def tell(pages: int, size: int) -> None:
        answer(pages=pages, bytes=size)

    # The pipe breaks when who asked was killed.
    with suppress(BrokenPipeError), ArticleExtractor(**start["settings"]) as extractor:
        answer(ready=True)
        for line in asked:
            try:
                done = make_part(received(json.loads(line)), folder, extractor, tell)
            except BrokenPipeError:
                raise
            except (OSError, CannotStartError) as error:  # a full disk: no part can be made
                answer(error=f"{type(error).__name__}: {error}")
            else:
                answer(done=done.values())


def _lines() -> tuple[TextIO, TextIO]:
    """Standard input and output, for us alone: what a library prints is no answer."""
    asked, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return asked, answers


if __name__ == "__main__":
    main()
