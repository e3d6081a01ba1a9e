from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from research.bench import measurement
from research.bench.scoring import Answer
from research.datasets.pages import examples
from research.errors import UserError, require
from tests.research.bench.fakes import (
    FAKES,
    Common,
    Nothing,
    Paragraphs,
    Short,
    create,
    page,
    pages,
)


def answer(system: object, *asked: int) -> list[Answer]:
    """What *system* says of the pages of these numbers, in their order."""
    given = [page(number) for number in asked]
    return [each for _, each in sorted(measurement.answers(system, given))]  # type: ignore[arg-type]


def test_names_are_split_at_commas() -> None:
    found = measurement.names("paragraphs:first=1, everything", FAKES)

    assert found == ("paragraphs:first=1", "everything")


def test_all_is_every_system_in_order() -> None:
    assert measurement.names("all", FAKES) == tuple(FAKES)


def test_all_leaves_out_what_has_to_be_asked_for() -> None:
    found = measurement.names("all", FAKES, {"everything"})

    assert found == tuple(name for name in FAKES if name != "everything")
    assert measurement.names("everything", FAKES, {"everything"}) == ("everything",)


def test_an_oracle_is_told_the_gold_and_others_are_not() -> None:
    class Told(Nothing):
        def extract_best(self, html: str, gold: str) -> str:
            return gold if html else ""

    assert answer(Told(), 3)[0].text == page(3).golds[0]
    assert answer(Nothing(), 3)[0].text == ""


def test_what_the_user_has_to_mend_ends_the_run() -> None:
    class Helpless(Nothing):
        def extract(self, html: str) -> str:
            raise UserError(f"no browser for {len(html)} characters")

    with pytest.raises(UserError, match="no browser for"):
        answer(Helpless(), 3)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("paragraphs,what", "system 'what' is unknown; known are: paragraphs, "),
        ("paragraphs,", "system '' is unknown"),
        ("common,common", "system 'common' is named twice"),
    ],
)
def test_wrong_names_are_errors(argument: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        measurement.names(argument, FAKES)


def test_a_missing_library_is_one_line_that_names_the_extra() -> None:
    with pytest.raises(UserError) as caught:
        measurement.make("absent", create)

    assert str(caught.value) == (
        "system 'absent' needs peer, which is not installed; run: make research"
    )
    with pytest.raises(UserError, match="ROUGE needs no_such_thing, which is not installed"):
        require("no_such_thing.part", "ROUGE")


def test_a_wrong_option_is_an_error_of_the_system() -> None:
    with pytest.raises(UserError, match="system 'paragraphs:first=x' cannot be made: invalid"):
        measurement.make("paragraphs:first=x", create)


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [("loading", "give --folds, --train or --model"), ("vocabulary", "give it --folds or --train")],
)
def test_a_system_with_nothing_to_know_from_is_an_error(spec: str, remedy: str) -> None:
    with pytest.raises(UserError, match=remedy):
        measurement.check(spec, create, trained=False, model=None)

    measurement.check(spec, create, trained=True, model=None)


def test_a_model_is_loaded_where_nothing_is_learned(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.write_text("story ended", encoding="utf-8")

    loaded = measurement.prepare("loading", create, (), model)
    taught = measurement.prepare("loading", create, [page(1, golds=("home",))], model)

    assert loaded.extract(page(1).html) == "story ended"
    assert taught.extract(page(1).html) == "home"


@pytest.mark.parametrize("content", [None, ""])
def test_a_model_that_cannot_be_loaded_is_an_error(tmp_path: Path, content: str | None) -> None:
    model = tmp_path / "model"
    if content is not None:
        model.write_text(content, encoding="utf-8")

    with pytest.raises(UserError, match=r"system 'loading' cannot load .*model: "):
        measurement.check("loading", create, trained=False, model=model)


def test_a_system_that_a_model_comes_with_uses_it_where_nothing_is_learned() -> None:
    measurement.check("pretrained", create, trained=False, model=None)
    bundled = measurement.prepare("pretrained", create, (), None)
    taught = measurement.prepare("pretrained", create, [page(1, golds=("home",))], None)

    assert bundled.extract(page(1).html) == "story"
    assert taught.extract(page(1).html) == "home"


def test_examples_are_short_golds() -> None:
    (example,) = examples([page(1, golds=("short", "long"))])

    assert (example.html, example.text, example.site) == (page(1).html, "short", "a.example")


def test_an_answer_has_its_time_and_the_unit() -> None:
    (found,) = answer(Paragraphs(), 3)

    assert found.text == page(3).golds[0]
    assert found.ms > 0
    assert found.lxml_ms is not None
    assert found.lxml_ms > 0


def test_a_page_that_lxml_refuses_has_no_unit() -> None:
    ((_, found),) = measurement.answers(Paragraphs(), [page(1, html="<!-- -->")])

    assert found.lxml_ms is None
    assert found.error is None


def test_a_crash_is_the_failure_of_one_page() -> None:
    fragile = create("fragile")

    before, broken, after = answer(fragile, 0, 1, 2)

    assert (broken.text, broken.error) == ("", "RuntimeError: no way through")
    assert before.error is after.error is None
    assert after.text


def test_what_is_no_text_is_a_failure() -> None:
    (found,) = answer(Nothing(), 0)

    assert found.error == "TypeError: expected a text, got NoneType"


def test_a_site_system_gets_all_pages_of_a_site_and_group_at_once() -> None:
    system = Common()
    given = [page(0), page(1, "b.example"), page(2), page(3, group="2005")]

    found = dict(measurement.answers(system, given))

    assert system.calls == [2, 1, 1]
    assert [found[n].text for n in range(4)] == [each.golds[0] for each in given]


def test_a_site_system_that_loses_a_page_fails_on_the_site() -> None:
    found = answer(Short(), 0, 1)

    assert {each.error for each in found} == {"ValueError: 1 texts for 2 pages"}
    assert {each.text for each in found} == {""}


class Found(NamedTuple):
    text: str
    tokens: SimpleNamespace
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]


class Locating(Paragraphs):
    """Keeps the first two of four tokens, the last of which is no word."""

    def locate(self, html: str) -> Found:
        if "Story 1 " in html:
            raise LookupError("lost")
        is_word = np.array([True, True, True, False])
        kept = np.array([True, True, False, False])
        return Found("", SimpleNamespace(is_word=is_word), kept)


@pytest.fixture
def _gold_is_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for the alignment: gold are all tokens but the first."""
    labels = np.array([False, True, True, True])
    target = "scrapy_mss.core.alignment.label_words"
    monkeypatch.setattr(target, lambda _tokens, _gold: labels)


@pytest.mark.usefixtures("_gold_is_the_rest")
def test_a_system_that_locates_is_scored_by_position() -> None:
    (found,) = answer(Locating(), 0)

    assert found.positions == (0.5, 0.5, 0.5)
    assert found.text == page(0).golds[0]


@pytest.mark.usefixtures("_gold_is_the_rest")
def test_a_crash_while_locating_is_a_failure_that_keeps_the_text() -> None:
    (found,) = answer(Locating(), 1)

    assert found.error == "locate: LookupError: lost"
    assert found.text == page(1).golds[0]


def test_a_system_that_cannot_learn_fails_on_every_page() -> None:
    found = list(measurement.failed(pages(1, each=2), RuntimeError("why")))

    assert [(number, each.error) for number, each in found] == [
        (0, "fit: RuntimeError: why"),
        (1, "fit: RuntimeError: why"),
    ]
