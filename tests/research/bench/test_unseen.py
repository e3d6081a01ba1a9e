"""The command `unseen`: scores that another run wrote, and costs of its own."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from research.bench import cli
from research.bench.unseen import mean_scores, read_rows
from tests.research.bench.fakes import pages, record, write_jsonl


def write_scores(folder: Path, rows: list[tuple[str, dict[str, float]]]) -> Path:
    path = folder / "loso.json"
    path.write_text(json.dumps([{"set": name, "id": "", "f1": f1} for name, f1 in rows]))
    return path


def test_a_mean_is_that_of_the_sets_without_those_aside(tmp_path: Path) -> None:
    path = write_scores(
        tmp_path,
        [
            ("one", {"x": 0.2, "mss": 0.9, "mss, cross-validated": 1.0}),
            ("one", {"x": 0.4, "mss": 0.7, "mss, cross-validated": 1.0}),
            ("two", {"x": 0.5, "mss": 0.6, "mss, cross-validated": 1.0}),
            ("articles_world", {"x": 1.0, "mss": 0.0, "mss, cross-validated": 1.0}),
        ],
    )

    means = mean_scores(read_rows(path))

    assert means == {"mss": pytest.approx(0.7), "x": pytest.approx(0.4)}
    assert list(means) == ["mss", "x"]


def test_the_command_prints_a_row_and_draws_a_point_for_each_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(tmp_path / "one.jsonl", map(record, pages(3)))
    compressed = lzma.compress((tmp_path / "one.jsonl").read_bytes())
    (tmp_path / "one.jsonl.xz").write_bytes(compressed)
    scores = write_scores(tmp_path, [("one", {"all-text": 0.25, "mss": 0.75})])
    svg, markdown = tmp_path / "unseen.svg", tmp_path / "unseen.md"
    given = ("unseen", "--data", tmp_path, "--scores", scores, "--svg", svg)

    assert cli.main([*map(str, given), "--markdown", str(markdown)]) == 0

    head, _, ours, theirs = markdown.read_text().splitlines()
    assert head == "| system | F1 | × lxml's parse | 95th percentile |"  # noqa: RUF001
    assert ours.startswith("| mss | 0.750 |")
    assert theirs.startswith("| all-text | 0.250 |")
    assert float(ours.split("|")[4]) >= float(ours.split("|")[3]) > 0
    assert all(f">{name}<" in svg.read_text() for name in ("mss", "all-text"))
    assert capsys.readouterr().out.splitlines() == [*markdown.read_text().splitlines()]


def test_a_file_without_scores_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none.json"

    assert cli.main(["unseen", "--data", str(tmp_path), "--scores", str(missing)]) == 2
    assert f"{missing} cannot be read" in capsys.readouterr().err
