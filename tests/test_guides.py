"""README's blocks and the commands of docs/getting-started.md, run as a reader would paste them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README, GETTING_STARTED = ROOT / "README.md", ROOT / "docs" / "getting-started.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent

# What these blocks do, running the tests has done already, or it has tests of its own: the
# environment is there, and the server is started by the test on a port of its own.
ELSEWHERE = {
    README: ("pip install", "make test", "make demo", "ADDONS", "class NewsSpider"),
    GETTING_STARTED: ("pip install", "python -m demo_web", "export http_proxy"),
}


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """Language and content of each block that is run or compared."""
    return [
        (language, source)
        for language, source in BLOCK.findall(page.read_text(encoding="utf-8"))
        if language in languages and not any(text in source for text in ELSEWHERE[page])
    ]


def printed(command: list[str], folder: Path, **variables: str) -> str:
    """All that *command* prints; a failure shows it."""
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    result = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"{command[-1]}\n{result.stdout[-3000:]}"
    return result.stdout


def run(language: str, source: str, folder: Path) -> str:
    if language == "python":
        return printed([sys.executable, "-c", source], folder)
    return printed(["bash", "-euc", source.replace(".venv/bin/", f"{BIN}/")], folder)


@pytest.mark.slow("a new program for each block")
def test_blocks_of_the_readme_run_and_print_what_it_shows(tmp_path: Path) -> None:
    """A `text` block is what the block before it prints."""
    outputs: list[str] = []
    n_shown = 0
    for language, source in blocks(README, "sh", "python", "text"):
        if language == "text":
            assert source == outputs[-1].rstrip("\n") + "\n"
            n_shown += 1
        else:
            outputs.append(run(language, source, tmp_path))

    assert n_shown
    assert len(outputs) + n_shown >= 3
    assert all("The crossing takes six minutes" in output for output in outputs)


@pytest.fixture
def proxy() -> Iterator[str]:
    sys.path.insert(0, str(ROOT / "example_project"))
    try:
        from demo_web import serving
    finally:
        sys.path.pop(0)
    with serving() as address:
        yield address


@pytest.mark.slow("several crawls")
def test_commands_of_getting_started_lead_to_articles_and_a_model(
    tmp_path: Path, proxy: str
) -> None:
    commands = "\n".join(source for _, source in blocks(GETTING_STARTED, "sh"))

    out = printed(["bash", "-euc", commands], tmp_path, http_proxy=proxy, no_proxy="")

    assert re.search(r"scrapy-mss: learned [1-9]\d* of \d+ pages of 1 wrapped site", out)
    assert re.search(r"scrapy-mss: \d+ articles in \d+ pages", out)
    assert "profile      default" in out
    feed = (tmp_path / "newsfeed" / "articles.jsonl").read_text(encoding="utf-8")
    articles = [json.loads(line) for line in feed.splitlines()]
    kinds = {article["extractor"].partition(":")[0] for article in articles}
    assert kinds == {"wrapper", "mss"}
    assert all(article["title"] and article["text"] for article in articles)
