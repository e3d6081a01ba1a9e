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
    known = dict.fromkeys((*FAKES, "absent"), System("nowhere:Fake"))
    known["fragile"] = System("nowhere:Fake", reconstruction=True)
    monkeypatch.setattr(systems, "SYSTEMS", known)
    monkeypatch.setattr(systems, "create", create)


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str]) -> Bench:
    """Runs the command line; gives back its exit code, its output and its errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return code, *capsys.readouterr()

    return run


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


def test_every_table_of_a_report_calls_a_reconstruction_one(
    bench: Bench, given: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.md"

    _, out, _ = bench("run", "--test", given, "--systems", "fragile,paragraphs", "--markdown", path)

    lines = [*out.splitlines(), *path.read_text(encoding="utf-8").splitlines()]
    named = [line for line in lines if "fragile" in line and " --systems " not in line]
    assert len(named) >= 6
    assert all("fragile (reconstruction)" in line for line in named)
    assert not any("paragraphs (reconstruction)" in line for line in lines)


def test_folds_and_processes(bench: Bench, given: str, tmp_path: Path) -> None:
    arguments = ("run", "--test", given, "--systems", "vocabulary", "--folds", 3)

    code, _, _ = bench(*arguments, "--json", tmp_path / "r.json")

    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert code == 0
    assert [split["fold"] for split in document["splits"]] == [0, 1, 2]
    assert document["settings"]["folds"] == 3


def test_training_sets_and_a_limit(bench: Bench, given: str, tmp_path: Path) -> None:
    other = write_jsonl(tmp_path / "other.jsonl", map(record, pages(6)))
    arguments = ("run", "--test", given, "--train", f"jsonl:{other}", "--systems", "vocabulary")

    code, _, _ = bench(*arguments, "--json", tmp_path / "r.json", "--limit", 6)

    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert code == 0
    assert document["train_sets"][0]["pages"] == 6
    assert document["splits"] == [{"fold": None, "set": None, "train_pages": 3, "test_pages": 6}]


def test_a_model_is_named_with_its_hash(bench: Bench, given: str, tmp_path: Path) -> None:
    model = tmp_path / "words"
    model.write_text("story", encoding="utf-8")
    arguments = ("run", "--test", given, "--systems", "loading", "--model", model)

    code, _, _ = bench(*arguments, "--json", tmp_path / "r.json")

    settings = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["settings"]
    assert code == 0
    assert settings["model"] == str(model)
    assert len(settings["model_sha256"]) == 64


def test_rouge_is_computed_when_asked_for(bench: Bench, given: str) -> None:
    pytest.importorskip("rouge_score", reason="of the extra `research`")

    code, out, _ = bench("run", "--test", given, "--systems", "paragraphs", "--rouge")

    assert code == 0
    assert "ROUGE-LSum" in out


def test_broken_records_are_reported_and_skipped(bench: Bench, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "set.jsonl", [{"id": "1"}, *map(record, pages(2))])

    code, _, err = bench("run", "--test", f"jsonl:{path}", "--systems", "paragraphs")

    assert code == 0
    assert err == (
        "jsonl:set: broken records skipped: 1; the first: "
        "set.jsonl:1: html: expected a text, got nothing\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("run",), "the following arguments are required: --test, --systems"),
        (("run", "--folds", "1"), "--folds: expected a number from 2, got '1'"),
        (("run", "--jobs", "many"), "--jobs: expected a number from 1, got 'many'"),
        (("run", "--limit", "0"), "--limit: expected a number from 1, got '0'"),
    ],
)
def test_a_bad_argument_is_one_line_and_code_two(
    bench: Bench, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = bench(*arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--test": "jsonl:/no/such"}, "set 'jsonl:/no/such': there is no /no/such"),
        ({"--systems": "what"}, "system 'what' is unknown; known are: paragraphs, "),
        ({"--systems": "absent"}, "make research"),
        ({"--systems": "vocabulary"}, "give it --folds or --train"),
        ({"--systems": "loading"}, "give --folds, --train or --model"),
        ({"--model": "/no/such"}, "--model: there is no file /no/such"),
        ({"--model": "/no/such", "--folds": "2"}, "leave one of them out"),
        ({"--folds": "4"}, "has 3 sites, too few for --folds 4"),
        ({"--json": "/no/such/r.json"}, "cannot write /no/such/r.json"),
    ],
)
def test_an_error_of_the_user_is_one_line_and_code_two(
    bench: Bench, given: str, change: dict[str, str], message: str
) -> None:
    options = {"--test": given, "--systems": "paragraphs"} | change

    code, out, err = bench("run", *(part for option in options.items() for part in option))

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("python -m research.bench: error: ")
    assert message in err


def test_an_interrupted_run_ends_on_one_line(
    bench: Bench, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("research.bench.runner.run", interrupt)

    assert bench("run", "--test", given, "--systems", "paragraphs") == (
        130,
        "",
        "python -m research.bench: interrupted\n",
    )


def test_the_help_tells_about_sets_and_that_rouge_is_slow(bench: Bench) -> None:
    code, out, _ = bench("run", "--help")

    assert code == 0
    assert "KIND:PATH" in out
    assert "pure Python and slow" in " ".join(out.split())
