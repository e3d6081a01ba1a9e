"""The stages that are timed are those of an extraction, and what is beyond a target is marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.benchmarks import speed
from research.benchmarks.speed import BOUNDS, WAYS, Clock, Costs, Target, percentile, read_in_stages
from scrapy_mss import Extractor
from scrapy_mss.models.bundled import bundled_model
from tests.helpers.news_pages import news_page


@pytest.mark.parametrize("way", WAYS)
def test_the_stages_of_a_page_come_to_its_text(way: str) -> None:
    html, costs, model = news_page(0).html, Costs(), bundled_model()

    with WAYS[way]():
        text = read_in_stages(html, model, Clock(costs.stages))

    assert text == Extractor.of(model).extract(html).text
    assert len(text) > 100
    assert all(len(times) == 1 and times[0] >= 0 for times in costs.stages.values())


def test_every_way_has_a_bound() -> None:
    assert WAYS.keys() <= BOUNDS.keys()


def test_costs_are_multiples_of_the_unit_of_the_same_page() -> None:
    costs = Costs(
        units=[1.0, 2.0],
        stages={"one": [3.0, 4.0], "other": [1.0, 1.0]},
        beyond={"html": [1.0, 3.0]},
    )

    assert costs.multiples(costs.stages["one"]) == [3.0, 2.0]
    assert costs.multiples(costs.of_text()) == [4.0, 2.5]
    assert costs.multiples(costs.of_article()) == [5.0, 4.0]


def test_small_pages_are_articles_and_take_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "N_WARM", 1)
    monkeypatch.setattr(speed, "N_SMALL", 3)

    assert speed.small_page_milliseconds() > 0


def test_a_target_that_is_missed_is_marked() -> None:
    assert str(Target("name", 2.6, 2.5)).endswith("missed")
    assert not str(Target("name", 2.5, 2.5)).endswith("missed")


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(n) for n in range(101)]

    assert [percentile(values[::-1], share) for share in (0.0, 0.5, 0.95, 1.0)] == [0, 50, 95, 100]


def test_a_folder_without_the_sets_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["speed", "--data", str(tmp_path)])

    with pytest.raises(SystemExit) as stopped:
        speed.main()

    assert stopped.value.code == 2
    assert "speed: error: set 'jsonl:" in capsys.readouterr().err
