from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from research.bench import cli, compare, plots, report
from research.bench.compare import PRINTED, Cell, read, render
from research.bench.plots import Dot
from research.errors import UserError
from research.systems import titled

WHEN = "2026-01-02T03:04:05+00:00"


def result(dataset: str, system: str, f1: float, **changes: Any) -> dict[str, Any]:
    """One result of a run, with what is read of it."""
    given = {"low": f1 - 0.01, "high": f1 + 0.02, "poor": 0.125, "failures": 0, "times": 3.14}
    given |= changes
    return {
        "set": dataset,
        "system": system,
        "failures": given["failures"],
        "metrics": {
            "f1": {"value": f1, "low": given["low"], "high": given["high"]},
            "poor": {"value": given["poor"], "low": None, "high": None},
        },
        "speed": {"times_lxml": given["times"]},
    }


def document(*results: dict[str, Any], train: str = "") -> dict[str, Any]:
    """What a run wrote."""
    names = dict.fromkeys(each["set"] for each in results)
    known = {"sha256": "0123456789abcdef0123", "pages": 20, "sites": 7}
    infos = [{"name": n, "spec": n.replace(":", ":/some/where/"), **known} for n in names]
    trains = [{"name": train, "spec": f"jsonl:/else/{train}.jsonl", **known}] if train else []
    tests = " ".join(f"--test {info['spec']}" for info in infos)
    return {
        "format": report.FORMAT,
        "date": WHEN,
        "command": f"bench run {tests}" + (f" --train {trains[0]['spec']}" if trains else ""),
        "versions": {"python": "3.12.0", "numpy": "2.0", "absent": None},
        "test_sets": infos,
        "train_sets": trains,
        "results": list(results),
    }


def written(path: Path, *results: dict[str, Any], train: str = "") -> Path:
    path.write_text(json.dumps(document(*results, train=train)), encoding="utf-8")
    return path


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two files, each of two systems on a set; each set lacks a system of the other."""
    one = written(
        tmp_path / "one.json",
        result("jsonl:modern", "simple-mss", 0.8),
        result("jsonl:modern", "trafilatura", 0.937, poor=0.0, times=16.2),
    )
    other = written(
        tmp_path / "other.json",
        result("jsonl:old", "simple-mss", 0.943, low=None, high=None),
        result("jsonl:old", "cetr", 0.5, failures=2, times=None),
        train="modern",
    )
    return one, other


def tables(text: str) -> list[list[list[str]]]:
    """The cells of the tables in *text*, without the rules under their heads."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines()]
        for lines in (re.sub(r"^\| ---.*\n", "", each, flags=re.MULTILINE) for each in found)
    ]


def rendered(*paths: Path) -> str:
    read_files = [read(path) for path in paths]
    return render([cell for cells, _ in read_files for cell in cells], [m for _, m in read_files])


def test_systems_are_rows_best_first_and_sets_are_columns(two: tuple[Path, Path]) -> None:
    f1, poor, times, _ = tables(rendered(*two))

    assert f1 == [
        ["system", "modern", "old"],
        ["trafilatura", ".937 ± .020", "–"],  # noqa: RUF001
        ["simple-mss", ".800 ± .020", ".943"],
        ["cetr", "–", ".500 ± .020"],  # noqa: RUF001
    ]
    assert [row[1:] for row in poor[1:]] == [
        ["0", "–"],  # noqa: RUF001
        ["12", "12"],
        ["–", "12 (2 failed)"],  # noqa: RUF001
    ]
    assert [row[1:] for row in times[1:]] == [["16", "–"], ["3.1", "3.1"], ["–", "–"]]  # noqa: RUF001


def test_what_papers_printed_stands_beside_the_first_set(two: tuple[Path, Path]) -> None:
    printed = tables(rendered(*two))[3]

    assert printed[0] == ["system", "printed", "what", "paper", "modern here"]
    assert [row[:4] for row in printed[1:]] == [[titled(row[0]), *row[1:]] for row in PRINTED]
    assert {row[0]: row[4] for row in printed}["simple-mss"] == ".800"
    assert {row[0]: row[4] for row in printed}["cetr"] == "–"  # noqa: RUF001


def test_commands_sets_dates_and_versions_are_told_without_folders(two: tuple[Path, Path]) -> None:
    text = rendered(*two)

    assert "bench run --test jsonl:DATA/modern\nbench run --test jsonl:DATA/old --train " in text
    assert "--train jsonl:DATA/modern.jsonl" in text
    assert "/some" not in text
    assert "/else" not in text
    assert "- modern: 20 pages of 7 sites, sha256 `0123456789abcdef`" in text
    assert f"{WHEN}; python 3.12.0, numpy 2.0." in text


def test_the_interval_is_shown_by_its_farther_side() -> None:
    cell = Cell("set", "system", 0, 0.5, 0.45, 0.52, 0.0, None)

    assert compare._f1(cell) == ".500 ± .050"  # noqa: SLF001


@pytest.mark.parametrize(
    ("times", "expected"),
    [(0.72, "0.7"), (9.94, "9.9"), (9.96, "10"), (154.4, "154"), (None, "–")],  # noqa: RUF001
)
def test_times_have_about_two_digits(times: float | None, expected: str) -> None:
    assert compare._times(Cell("set", "system", 0, 0.5, None, None, 0.0, times)) == expected  # noqa: SLF001


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "expected what `run --json` writes"),
        ('{"format": "scrapy-mss-study/1"}', "expected what `run --json` writes"),
    ],
)
def test_a_file_that_no_run_wrote_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(content)

    with pytest.raises(UserError, match=message):
        read(path)


def test_the_command_writes_tables_and_plot(
    two: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="of the extra `research`")

    code = cli.main(["compare", "--json", *map(str, two), "--out", str(tmp_path)])

    assert code == 0
    text = (tmp_path / "systems.md").read_text(encoding="utf-8")
    assert text == rendered(*two) == capsys.readouterr().out
    plot = (tmp_path / "systems.svg").read_text(encoding="utf-8")
    assert "F1 and speed on modern" in plot
    assert "trafilatura" in plot
    assert "cetr" not in plot


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one.json", "one.json"), "simple-mss on modern is in an earlier file, too"),
        (("none.json",), "cannot read "),
    ],
)
def test_a_fault_of_the_user_is_one_line_and_code_two(
    two: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    folder = two[0].parent

    code = cli.main(
        ["compare", "--json", *(str(folder / name) for name in arguments), "--out", str(folder)]
    )

    error = capsys.readouterr().err
    assert (code, error.count("\n")) == (2, 1)
    assert message in error


def test_a_folder_that_is_not_there_is_refused(
    two: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", "--json", str(two[0]), "--out", "/no/such"]) == 2
    assert "--out: there is no folder /no/such" in capsys.readouterr().err


# The plot


def text_rows(plot: bytes, names: list[str]) -> list[float]:
    """How far down each of *names* is written."""
    found = dict.fromkeys(names, 0.0)
    for match in re.finditer(r'<text[^>]* y="([^"]+)"[^>]*>([^<]*)</text>', plot.decode()):
        if match[2] in found:
            found[match[2]] = float(match[1])
    return list(found.values())


def test_names_stand_apart_in_the_order_of_the_points() -> None:
    pytest.importorskip("matplotlib", reason="of the extra `research`")
    names = [f"system-{n}" for n in range(60)]
    dots = [Dot(name, 3.0 + n % 2, 0.9 - n / 10_000, "ours") for n, name in enumerate(names)]

    rows = text_rows(plots.draw_dots("all at one place", dots), names)

    distances = [low - high for high, low in pairwise(rows)]
    assert min(distances) > plots.NAME_SIZE


def test_names_move_as_little_as_the_next_one_lets_them() -> None:
    cases: list[tuple[list[float], list[float]]] = [
        ([], []),
        ([0.9, 0.5, 0.1], [0.9, 0.5, 0.1]),
        ([0.9, 0.9, 0.5], [0.9, 0.8, 0.5]),
        ([0.9, 0.9, 0.85], [0.9, 0.8, 0.7]),
        # What would fall under the page pushes the others up.
        ([0.9, 0.0, 0.0], [0.9, 0.1, 0.0]),
        ([0.15, 0.0, 0.0], [0.2, 0.1, 0.0]),
    ]

    for heights, expected in cases:
        assert plots.apart(heights, 0.1) == pytest.approx(expected), heights


def test_the_same_points_give_the_same_bytes() -> None:
    pytest.importorskip("matplotlib", reason="of the extra `research`")
    dots = [Dot("a", 1.0, 0.5, "ours"), Dot("b", 20.0, 0.9, "other libraries")]

    assert plots.draw_dots("same", dots) == plots.draw_dots("same", dots)
