"""Real pages through a real crawl, with rules that other people wrote."""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.public_rules import ARCHIVE, SHARED, unpacked

pytestmark = pytest.mark.any_scrapy(
    "its crawl calls what that of test_crawl.py calls, on other pages"
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = SHARED / "data" / "sites_ctf.jsonl.xz"

# Sites of an era that the rules still label, and one that they do not.
CHOSEN = {("cnn.com", "2015"), ("nymag.com", "2015"), ("thenation.com", "2015")}


@pytest.mark.skipif(not (PAGES.exists() and ARCHIVE.exists()), reason="no labelled pages beside us")
def test_sites_with_rules_teach_and_every_site_is_extracted(tmp_path: Path) -> None:
    with lzma.open(PAGES, "rt", encoding="utf-8") as file:
        rows = [line for line in file if _key(line) in CHOSEN]
    with lzma.open(tmp_path / "chosen.jsonl.xz", "wt", encoding="utf-8", preset=0) as file:
        file.writelines(rows)
    command = [sys.executable, "-m", "research.benchmarks.replay", "--set", "chosen"]

    done = subprocess.run(
        [*command, "--data", str(tmp_path), "--rules", str(unpacked(tmp_path))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    table = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert table.keys() == {"site", "all", *(site for site, _ in CHOSEN)}
    found = [
        (float(f1), int(count)) for f1, count in re.findall(r"([\d.]+) \((\d+)\)", table["all"])
    ]
    wrapped, (mean, every) = found[0], found[-1]
    assert every == len(rows)
    assert wrapped[1] >= 40
    assert min(wrapped[0], mean) > 0.7


def _key(line: str) -> tuple[str, str]:
    page = json.loads(line)
    return page["site"], page["group"]
