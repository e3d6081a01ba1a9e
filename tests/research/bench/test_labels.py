"""The agreement of site config files with golds, on a set that can be counted by hand."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from research.bench import cli
from research.bench.labels import agreement
from research.datasets.pages import LabelledPage
from tests.research.bench.fakes import page, record, write_jsonl

TEXT = "Nothing happened on this day and nobody was surprised. " * 8  # 72 words
SOME = "Nothing happened on this day. "

HTML = {
    "https://a.example/right": f"<nav>Home</nav><article>{TEXT}<aside>Ad</aside></article>",
    "https://www.a.example/long": f"<article>{TEXT}{'and so on ' * 24}</article>",
    "https://a.example/short": f"<article>{SOME}</article>",
    "https://a.example/changed": f"<div>{TEXT}</div>",
    "https://b.example/unknown": f"<article>{TEXT}</article>",
}


def article(number: int, url: str) -> LabelledPage:
    return page(number, html=HTML[url], golds=("Nothing.", TEXT), url=url)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    plain = write_jsonl(
        tmp_path / "articles_x.jsonl", [record(article(*each)) for each in enumerate(HTML)]
    )
    (tmp_path / "articles_x.jsonl.xz").write_bytes(lzma.compress(plain.read_bytes()))
    return tmp_path


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "a.example.txt").write_text("body: //article\nstrip: //aside\n", encoding="utf-8")
    return folder


def test_labels_are_compared_with_the_gold_that_fits_best(data: Path, rules: Path) -> None:
    (found,) = agreement(data, rules)

    assert (found.name, found.pages, found.with_rule) == ("articles_x", 5, 4)
    assert [each.scores.p for each in found.labels] == [1.0, 0.5, 0.2]
    assert [each.scores.r for each in found.labels] == [1.0, 1.0, 1.0]
    assert [each.learnable for each in found.labels] == [True, True, False]


def test_a_table_is_printed(data: Path, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["labels", "--data", str(data), "--rules", str(rules)])

    assert code == 0
    assert "| articles_x | 5 | 4 | 3 | 2 |" in capsys.readouterr().out


def error_of(options: list[Path | str], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["labels", *(str(option) for option in options)]) == 2
    return capsys.readouterr().err


def test_rules_that_are_not_there_are_one_line(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = error_of(["--data", data, "--rules", data / "none"], capsys)

    assert "error: --rules: " in error
    assert error.count("\n") == 1


def test_a_folder_without_sets_is_one_line(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = error_of(["--data", rules, "--rules", rules], capsys)

    assert "error: --data: there is no articles_*.jsonl.xz" in error
    assert error.count("\n") == 1
