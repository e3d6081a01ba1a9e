"""What `scrapy mss bulk` shows, and what it says of arguments that cannot be used."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

pytest.importorskip("fastwarc")
pytest.importorskip("pyarrow")

from tqdm import tqdm

from scrapy_mss.bulk.run import files_of
from scrapy_mss.commands.bulk import progress_on
from tests.plugin.crawling import run_scrapy

REFUSED = {
    "-o @out": "the following arguments are required: INPUT",
    "@page.jsonl": "the following arguments are required: -o/--output",
    "@nothing.jsonl -o @out": "nothing.jsonl: expected a regular file",
    "@folder -o @out": "folder: expected a file, got a folder; name its files: ",
    "@*.arc -o @out": "*.arc: no file has such a name",
    "@page.txt -o @out": "page.txt: expected a file ending in .warc, .warc.gz, .jsonl",
    "@bad.parquet -o @out": "bad.parquet: expected a Parquet file",
    "@page.jsonl -o @.": "expected a new or empty folder, or one that has a manifest.jsonl",
    "@page.jsonl -o @out -p 0": "expected a number from 1 to 1000000, got '0'",
}


def test_invalid_arguments_are_errors_of_one_line(tmp_path: Path) -> None:
    for name in ("page.jsonl", "page.txt", "bad.parquet"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "folder").mkdir()

    for line, expected in REFUSED.items():
        done = run_scrapy(tmp_path, "mss", "bulk", *line.replace("@", f"{tmp_path}/").split())
        assert (done.code, done.out) == (2, "")
        assert expected in done.err


def test_the_bar_shows_pages_per_second_and_the_remaining_time() -> None:
    shown = io.StringIO()
    with tqdm(unit="B", unit_scale=True, file=shown, mininterval=0, disable=False) as bar:
        report = progress_on(bar, total=10_000_000, done=4_000_000)
        bar.start_t -= 10  # ten seconds ago
        report(300, 2_000_000)
        state = bar.format_dict
        line = str(bar)

    assert "60%" in line
    assert "6.00M/10.0M" in line
    assert "300 pages, 30 pages/s" in line
    assert (state["n"] - state["initial"]) / state["elapsed"] == pytest.approx(200_000, rel=0.05)


def test_files_in_the_output_folder_are_no_inputs(tmp_path: Path) -> None:
    (tmp_path / "page.jsonl").write_text(json.dumps({"url": "http://a.example/", "html": "<p>A"}))
    out = tmp_path / "out"
    out.mkdir()
    (out / "part-00000.parquet").write_bytes(b"")
    names = [f"{out}/../page.jsonl", f"{tmp_path}/**/*.*"]

    assert files_of(names, out) == [tmp_path / "page.jsonl"]
