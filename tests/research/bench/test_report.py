from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from research.bench import markdown, report
from research.bench.report import Report, Run, Settings
from research.bench.runner import Plan, run, splits
from research.datasets.pages import Broken, Dataset, LabelledPage
from research.errors import UserError
from tests.research.bench.fakes import create, pages

SETTINGS = Settings(
    folds=None,
    model=None,
    model_sha256=None,
    limit=None,
    jobs=1,
    rouge=False,
    resamples=100,
    seed=0,
)


def finished(
    given: tuple[LabelledPage, ...], *systems: str, settings: Settings = SETTINGS
) -> Report:
    """A report on one set of *given* pages."""
    tests = [Dataset("a set", "jsonl:a", given, (Broken("a:1", "id", "expected a text"),))]
    laid = tuple(splits(tests, [], settings.folds))
    rows = run(Plan(systems, laid, create), lambda _pages, _system: None)
    return report.build(Run("bench run", settings, systems, tests, [], laid), rows)


@pytest.fixture(scope="module")
def done() -> Report:
    """Four systems, the second of which fails on half of the pages."""
    return finished(pages(4), "paragraphs", "fragile", "everything", "paragraphs:first=1")


def document(done: Report) -> dict[str, Any]:
    return dict(json.loads(report.to_json(done)))


METRICS = [
    *("p", "r", "f1", "best_p", "best_r", "best_f1", "shingle_p", "shingle_r", "shingle_f1"),
    *("cleaneval", "rouge", "position_p", "position_r", "position_f1", "poor"),
]
KEYS = {
    "": [
        *("format", "date", "command", "versions", "settings", "systems", "test_sets"),
        *("train_sets", "splits", "results", "differences"),
    ],
    "test_sets": [
        *("name", "spec", "sha256", "pages", "sites", "languages", "bytes", "skipped"),
        "skipped_messages",
    ],
    "splits": ["fold", "set", "train_pages", "test_pages"],
    "results": [
        *("set", "system", "pages", "failures", "errors", "metrics", "speed", "languages"),
        *("sites", "rows"),
    ],
    "differences": ["set", "system", "other", "metrics"],
}
ROW = [
    *("id", "site", "lang", "p", "r", "f1", "ms", "words", "gold_words", "bytes", "best_gold"),
    *("best_p", "best_r", "best_f1", "shingle_p", "shingle_r", "cleaneval", "rouge"),
    *("position_p", "position_r", "position_f1", "lxml_ms", "error"),
]


def test_the_keys_of_the_json_are_stable(done: Report) -> None:
    """Whoever reads these files has to be told when a key changes: raise `report.FORMAT`."""
    found = document(done)

    for name, keys in KEYS.items():
        assert list(found[name][0] if name else found) == keys
    result = found["results"][0]
    assert list(result["metrics"]) == METRICS
    assert list(result["metrics"]["f1"]) == ["value", "low", "high"]
    assert list(result["languages"][0]) == ["name", "pages", "failures", "metrics"]
    assert list(result["rows"][0]) == ROW
    assert list(result["speed"]) == [
        *("pages", "ms_median", "ms_mean", "ms_p95", "mb_per_s", "times_lxml")
    ]
    assert found["format"] == "scrapy-mss-bench/1"


def test_the_json_says_what_was_measured_on_what(done: Report) -> None:
    found = document(done)

    assert found["date"].endswith("+00:00")
    assert {"python", "scrapy-mss", "numpy", "lxml", "platform"} <= set(found["versions"])
    assert found["test_sets"][0]["sha256"] == Dataset("", "", pages(4)).sha256
    assert found["test_sets"][0]["skipped_messages"] == ["a:1: id: expected a text"]
    assert [row["id"] for row in found["results"][0]["rows"]] == [p.id for p in pages(4)]
    assert found["results"][1]["failures"] == 4
    assert found["results"][1]["errors"][0] == "a.example/1: RuntimeError: no way through"
    assert len(found["results"][1]["errors"]) == 3


def test_every_pair_of_systems_is_compared(done: Report) -> None:
    found = document(done)["differences"]

    names = done.systems
    pairs = {(each["other"], each["system"]) for each in found}
    assert pairs == {(a, b) for i, a in enumerate(names) for b in names[i + 1 :]}
    assert found[0]["metrics"]["f1"]["value"] < 0
    assert found[0]["metrics"]["rouge"] is None


def test_numbers_have_no_more_digits_than_they_carry(done: Report) -> None:
    for row in document(done)["results"][2]["rows"]:
        assert row["p"] == round(row["p"], report.DIGITS)


def test_nan_is_refused(done: Report) -> None:
    result = done.results[0]
    broken = replace(result, rows=[replace(result.rows[0], f1=float("nan"))])

    with pytest.raises(ValueError, match="not JSON compliant"):
        report.to_json(replace(done, results=[broken]))


def test_the_markdown_has_its_tables_in_order(done: Report) -> None:
    text = markdown.render(done)

    order = [
        "## a set",
        "8 pages, 4 sites, 1 language, ",
        "Skipped: 1 broken record.",
        "| system | pages | failed | P | R | F1 | best F1 | 4-gram F1 | CleanEval | under .80 |",
        "- fragile: `a.example/1: RuntimeError: no way through`",
        "### Difference from paragraphs",
        "### Speed",
        "### F1 by language",
        "### F1 by site\n",
        "bench run",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "| paragraphs | 8 | 0 | 1.000 | 1.000 | 1.000 [1.000, 1.000] |" in text
    assert "ROUGE-LSum" not in text


def test_a_table_has_a_row_for_each_system_and_no_loose_bar(done: Report) -> None:
    tables = markdown.render(done).split("### Speed")[1].split("###")[0].strip().splitlines()

    assert [line.split(" | ")[0] for line in tables[2:]] == [f"| {name}" for name in done.systems]
    assert markdown.table(["a"], [["x|y\nz"]]).splitlines()[-1] == "| x\\|y z |"


def test_no_difference_has_no_minus() -> None:
    text = markdown.render(finished(pages(2), "paragraphs", "common"))

    assert "| common | +0.000 [+0.000, +0.000] |" in text
    assert "-0.000" not in text


def test_of_many_sites_the_worst_are_shown() -> None:
    many = [replace(p, site=f"{n}.example") for n, p in enumerate(pages(21))]

    text = markdown.render(finished(tuple(many), "fragile"))

    table = text.split("### F1 by site")[1].split("##")[0]
    assert table.startswith(": the 15 of 42 that are worst for fragile\n")
    assert table.count(".example |") == 15
    assert table.count("| 0.000 |") == 15


def test_one_system_is_compared_with_none() -> None:
    assert "Difference" not in markdown.render(finished(pages(2), "paragraphs"))


def test_a_report_says_who_learned_from_what() -> None:
    found = finished(pages(4), "vocabulary", settings=replace(SETTINGS, folds=2, jobs=2))

    text = markdown.render(found)

    assert "cross-validated by site, 2 folds a set" in text
    assert "2 processes at work at once" in text
    assert [(s.fold, s.train_pages, s.test_pages) for s in found.splits] == [(0, 4, 4), (1, 4, 4)]


def test_a_file_is_written_over_another_whatever_its_letters(tmp_path: Path) -> None:
    """A page's id may hold half a surrogate pair, which UTF-8 cannot."""
    path = tmp_path / "report.md"
    path.write_text("old", encoding="utf-8")

    report.write(path, "n\u00e9w \ud800\n")

    assert path.read_bytes() == "n\u00e9w ?\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot write .*report\.md"):
        report.write(tmp_path / "gone/report.md", "text")


@pytest.mark.parametrize("name", [".", "no/such/report.md"])
def test_a_place_that_cannot_be_written_is_found_before_the_run(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot write"):
        report.writable(tmp_path / name)
