"""`python -m research.training`, on sets small enough to learn in a second."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from research import command_line
from research.training.__main__ import parser
from research.training.sets import OTHERS
from scrapy_mss.models.store import read_model
from tests.helpers.news_pages import news_page
from tests.research.bench.fakes import page as labelled
from tests.research.bench.fakes import record, write_jsonl


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A set of eight articles and one of eight lists."""
    pages = [news_page(number) for number in range(8)]
    articles = [
        labelled(n, f"{n}.example", html=page.html, golds=(page.text,))
        for n, page in enumerate(pages)
    ]
    lists = [labelled(n, f"{n}.org", html="<ul>" + "<li>Ferry</li>" * (20 + n)) for n in range(8)]
    for name, given in (("articles", articles), (OTHERS, lists)):
        plain = write_jsonl(tmp_path / f"{name}.jsonl", map(record, given))
        plain.with_suffix(".jsonl.xz").write_bytes(lzma.compress(plain.read_bytes()))
    return tmp_path


def run(data: Path, out: Path, *more: str) -> int:
    return command_line.run(parser(), [str(data), "--out", str(out), *more])


def test_the_seed_decides_the_bytes(data: Path, tmp_path: Path) -> None:
    models = []
    for name, seed in (("one", "1"), ("same", "1"), ("other", "2")):
        assert run(data, tmp_path / name, "--articles", "articles", "--seed", seed) == 0
        models.append((tmp_path / name).read_bytes())

    assert models[0] == models[1] != models[2]
    assert read_model(tmp_path / "one").bayes.pages == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--articles", "absent", "--out", "model"], "there is no "),
        (["--out", "/no/such/model"], "--out: there is no folder /no/such"),
    ],
)
def test_an_error_of_the_user_is_one_line(
    data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert command_line.run(parser(), [str(data), *arguments]) == 2

    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
