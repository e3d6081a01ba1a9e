"""Leave one set out: who learns from what, and what the tables say of it."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from research.bench import cli, loso
from research.bench.languages import language_of
from research.bench.left_out_tables import FEWEST, Pages, Scores, tables
from research.bench.loso import folds, left_out
from research.training.cases import Case
from research.training.sets import OTHERS
from scrapy_mss.blocks.page import Page
from tests.helpers.news_pages import news_page
from tests.research.bench.fakes import page as labelled
from tests.research.bench.fakes import record, write_jsonl


def case(dataset: str, site: str, url: str | None = None) -> Case:
    return Case(dataset, replace(labelled(0, site), url=url), Page.of("<p>One line.</p>"), ())


CASES = (
    *(case("one", "a.org"), case("one", "b.org"), case("two", "B.org")),
    *(case("two", "c.org"), case("three", "publisher", "https://news.a.org/1")),
)


def test_a_model_knows_neither_the_set_nor_its_sites() -> None:
    known = [[CASES.index(each) for each in split.known] for split in left_out(CASES)]

    # b.org is in both sets, written in two ways; the publisher's page is one of a.org.
    assert known == [[3], [0, 4], [1, 2, 3]]


def test_each_page_is_asked_about_once_by_either_split() -> None:
    for splits in (left_out(CASES), folds(CASES)):
        assert sorted(i for split in splits for i in split.asked) == list(range(len(CASES)))


def test_other_pages_are_learned_from_but_for_the_sites_of_the_set_and_never_asked_about() -> None:
    others = (case(OTHERS, "b.org"), case(OTHERS, "d.org"))

    known = [[each for each in split.known if each in others] for split in left_out(CASES, others)]
    assert known == [[others[1]], [others[1]], [*others]]
    for splits in (left_out(CASES, others), folds(CASES, others)):
        asked = []
        for split in splits:
            asked += split.asked
            sites = {CASES[i].labelled.site for i in split.asked}
            assert not [each for each in split.known if each.labelled.site in sites]
        assert sorted(asked) == list(range(len(CASES)))


def test_a_set_aside_is_shown_and_is_no_part_of_the_mean() -> None:
    pages = Pages(["one", "one", "two", "articles_world"], ["a", "b", "c", "d"])
    ours = Scores("mss", np.array([[1.0, 0.5, 0.9, 0.1], [0.8, 0.5, 0.7, 0.3]]))
    peer = Scores("trafilatura", np.array([[0.6, 0.6, 0.9, 0.8]]))

    shown = tables(pages, [peer, ours], 1)

    assert "| mss | 0.700 | 0.800 | 0.200 | 0.750 |" in shown
    assert "| trafilatura | 0.600 | 0.900 | 0.800 | 0.750 |" in shown
    # Of three pages one is wrong in both fits, one in the second alone.
    assert "| mss | 50.0 | 50.0 | 100.0 | 50.0 |" in shown
    assert "mean of each fit: 0.8250, 0.6750" in shown


def test_the_best_peer_is_another_one_on_each_set() -> None:
    pages = Pages(["one", "two"], ["a", "b"])
    peers = [Scores("x", np.array([[0.9, 0.2]])), Scores("y", np.array([[0.3, 0.7]]))]

    shown = tables(pages, [*peers, Scores("mss", np.array([[0.8, 0.8]]))], 1)

    assert "| mss | -0.100 | +0.100 | +0.250 |" in shown


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sets of eight articles, and one of other pages."""
    names = ("one", "two")
    monkeypatch.setattr(loso, "ARTICLES", names)
    for number, name in enumerate((*names, OTHERS)):
        made = [news_page(number * 8 + n) for n in range(8)]
        rows = [
            labelled(n, f"{name}{n}.example", html=each.html, golds=(each.text,))
            for n, each in enumerate(made)
        ]
        plain = write_jsonl(tmp_path / f"{name}.jsonl", map(record, rows))
        plain.with_suffix(".jsonl.xz").write_bytes(lzma.compress(plain.read_bytes()))
    return tmp_path


def test_the_command_prints_one_table_of_all_sets(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["loso", "--data", str(data), "--peers", "all-text", "--answers", str(data / "kept")]

    assert cli.main([*given, "--json", str(data / "pages.json"), "--cross-validation"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("| system | one | two | mean |")
    assert "| mss, cross-validated |" in shown
    assert (data / "pages.json").read_text().count('"all-text"') == 16
    assert len(list((data / "kept").iterdir())) == 1


def test_a_language_is_compared_with_the_peer_that_is_best_in_it() -> None:
    languages = ["de"] * FEWEST + ["ko"] * FEWEST + ["fr"] * (FEWEST - 1)
    sites = [f"{i % 4}.org" for i in range(len(languages))]
    pages = Pages(["one"] * 30 + ["articles_world"] * 29, sites, languages)
    of_language = {"de": (0.9, 0.8, 0.5), "ko": (0.4, 0.3, 0.6), "fr": (0, 1, 1)}
    ours, x, y = (
        Scores(name, np.array([[of_language[each][column] for each in languages]]))
        for column, name in enumerate(("mss", "x", "y"))
    )

    shown = tables(pages, [x, y, ours], 1)

    assert "| de | 20 | 0.900 | x | 0.800 | +0.100 [+0.100, +0.100] |" in shown
    assert "| ko | 20 | 0.400 | y | 0.600 | -0.200 [-0.200, -0.200] |" in shown
    assert "| fr |" not in shown


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The river rose two metres in the night, said the council of the town.", "en"),
        ("Der Fluss stieg in der Nacht um zwei Meter, sagte der Rat der Stadt.", "de"),
        ("夜里下了雨。河水上涨了两米。道路因此关闭。", "zh"),
        ("雨が夜に降って、川の水位が2メートル上がりました。", "ja"),
        ("비가 밤에 내려 강물이 2미터 올랐다고 시의회가 말했다.", "ko"),
    ],
)
def test_a_text_tells_its_language(text: str, language: str) -> None:
    assert language_of(text) == language
