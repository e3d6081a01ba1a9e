"""README's blocks are run as a reader would paste them, one after the other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What these blocks do is what running the tests has done already, or has tests of its own.
ELSEWHERE = ("pip install", "make test", "make demo", "ADDONS", "class NewsSpider")
RUN = ("sh", "python", "text")


BIN = f"{Path(sys.executable).parent}/"


def blocks() -> list[tuple[str, str]]:
    """Language and content of each block that is run or compared."""
    found = BLOCK.findall(README.read_text(encoding="utf-8"))
    return [
        (language, source)
        for language, source in found
        if language in RUN and not any(text in source for text in ELSEWHERE)
    ]


def run(language: str, source: str, folder: Path) -> str:
    """All that the block prints; a failure shows it."""
    if language == "sh":
        command = ["bash", "-euc", source.replace(".venv/bin/", BIN)]
    else:
        command = [sys.executable, "-c", source]
    result = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"{source}\n{result.stdout}"
    return result.stdout


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """What each block printed, a `text` block with what the block before it printed."""
    folder = tmp_path_factory.mktemp("readme")
    printed: list[tuple[str, str]] = []
    for language, source in blocks():
        if language == "text":
            printed.append((source, printed[-1][1]))
        else:
            printed.append((source, run(language, source, folder)))
    return printed


def test_blocks_run_and_print_an_article(transcript: list[tuple[str, str]]) -> None:
    assert len(transcript) >= 3
    assert all("The crossing takes six minutes" in output for _, output in transcript)


def test_printed_output_is_what_the_command_prints(transcript: list[tuple[str, str]]) -> None:
    shown = [
        pair for pair, (language, _) in zip(transcript, blocks(), strict=True) if language == "text"
    ]

    assert shown
    for text, output in shown:
        assert text == output.rstrip("\n") + "\n"
