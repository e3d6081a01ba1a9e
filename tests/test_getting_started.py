"""The commands of docs/getting-started.md are run as a reader would paste them."""

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
PAGE = ROOT / "docs" / "getting-started.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The environment is there, and the server is started by the test on a port of its own.
ELSEWHERE = ("pip install", "python -m demo_web", "export http_proxy")


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
def test_commands_lead_to_articles_and_a_model(tmp_path: Path, proxy: str) -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    wanted = [block for block in blocks if not any(text in block for text in ELSEWHERE)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "http_proxy": proxy, "no_proxy": ""}

    done = subprocess.run(
        ["bash", "-euc", "\n".join(wanted)],  # noqa: S607 - as a reader's shell finds it
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"scrapy-mss: learned [1-9]\d* of \d+ pages of 1 wrapped sites", done.stdout)
    assert re.search(r"scrapy-mss: \d+ articles in \d+ pages", done.stdout)
    assert "profile      default" in done.stdout
    feed = (tmp_path / "newsfeed" / "articles.jsonl").read_text(encoding="utf-8")
    articles = [json.loads(line) for line in feed.splitlines()]
    kinds = {article["extractor"].partition(":")[0] for article in articles}
    assert kinds == {"wrapper", "mss"}
    assert all(article["title"] and article["text"] for article in articles)
