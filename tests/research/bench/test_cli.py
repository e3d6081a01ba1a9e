from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from research import systems
from research.bench import cli
from research.systems import System
from tests.research.bench.fakes import FAKES, create, pages, record, write_jsonl

Bench = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "SYSTEMS", dict.fromkeys(FAKES, System("nowhere:Fake")))
    monkeypatch.setattr(systems, "create", create)


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str]) -> Bench:
    """Runs the command line; gives back its exit code, its output and its errors."""
    return lambda *arguments: (cli.main([*map(str, arguments)]), *capsys.readouterr())


@pytest.fixture
def given(tmp_path: Path) -> str:
    """A set of six pages of three sites."""
    return f"jsonl:{write_jsonl(tmp_path / 'given.jsonl', map(record, pages(3)))}"


def test_a_run_writes_both_files_and_prints_the_table(
    bench: Bench, given: str, tmp_path: Path
) -> None:
    into = ("--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md")

    code, out, err = bench("run", "--test", given, "--systems", "paragraphs,everything", *into)

    assert (code, err) == (0, "")
    assert out.startswith("jsonl:given\n\n| system | pages | failed |")
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert document["systems"] == ["paragraphs", "everything"]
    assert document["command"].startswith("python -m research.bench run --test jsonl:")
    assert document["results"][0]["metrics"]["f1"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert "## jsonl:given" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_folds_and_processes(bench: Bench, given: str, tmp_path: Path) -> None:
    arguments = ("run", "--test", given, "--systems", "vocabulary", "--folds", 3)

    code, _, _ = bench(*arguments, "--json", tmp_path / "r.json")

    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert code == 0
    assert [split["fold"] for split in document["splits"]] == [0, 1, 2]
    assert document["settings"]["folds"] == 3
