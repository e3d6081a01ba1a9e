"""The language by the text; each case with what keeps the page's word."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.markup.compiled import compiled_part, python_alone
from scrapy_mss.metadata import text_language
from scrapy_mss.metadata.text_language import READ, _identifier, detector, known, language_of

langid = pytest.importorskip("py3langid")

ENGLISH = "The ferry sails again after the storm had kept it in the harbour for a whole week. " * 4
GERMAN = "Die Fähre fährt wieder, nachdem der Sturm sie eine Woche im Hafen gehalten hatte. " * 4
CHINESE = "渡轮在港口停泊了整整一个星期之后于星期一再次启航船长说海面已经平静下来了。" * 3
NORWEGIAN = (
    "Fergen går igjen etter at stormen hadde holdt den i havnen i en hel uke, sier rederiet. " * 4
)
CROATIAN = (
    "Trajekt ponovno plovi nakon što ga je oluja cijeli tjedan zadržala u luci, kažu u luci. " * 4
)


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        (GERMAN, None, "de"),
        (CHINESE[:40], None, "zh"),
        (GERMAN, "en", "de"),
        (CHINESE, "en", "zh"),
        (ENGLISH, "en", "en"),
        # Too little text to know better than the page.
        (GERMAN[:150], "en", "en"),
        ("Fähre", None, None),
        ("", None, None),
        (None, "de", "de"),
        # Alike in writing, or unknown to the library.
        (NORWEGIAN, "nb", "nb"),
        (CROATIAN, "sr", "sr"),
        (ENGLISH, "ckb", "ckb"),
        # What is no text.
        ("1 2 3 4 5 " * 50, "de", "de"),
        ("\ud800" * 400, "de", "de"),
    ],
)
def test_the_text_decides_where_there_is_enough_of_it(
    text: str | None, declared: str | None, expected: str | None
) -> None:
    assert language_of(text, declared) == expected


def test_the_library_knows_a_hundred_languages() -> None:
    assert {"en", "de", "zh", "ar", "ru", "ja"} < known()
    assert len(known()) > 90


def test_without_the_library_the_page_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    for remembered in (detector, _identifier):
        remembered.cache_clear()

    try:
        assert language_of(GERMAN, "en") == "en"
        assert language_of(GERMAN, None) is None
    finally:
        for remembered in (detector, _identifier):
            remembered.cache_clear()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
@example(ENGLISH)
@example(GERMAN + CHINESE + NORWEGIAN + CROATIAN)
@example("")
def test_both_ways_score_a_text_as_the_library_does(text: str) -> None:
    score = _identifier().classify
    with python_alone():
        alone = score(text)

    assert score(text) == alone == langid.classify(text)


def test_the_library_is_not_asked_where_common_words_confirm_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def german(text: str) -> str:
        asked.append(text)
        return "de"

    monkeypatch.setattr(text_language, "detector", lambda: german)
    text = "The ferry and its crew, which had been kept in the harbour, sail. " * 6

    assert language_of(text, "en") == "en"
    assert not asked
    assert language_of(text, "fr") == "de"
    assert language_of(text, None) == "de"
    assert asked == [text[:READ]] * 2


AUTOMATON = {"moves": np.zeros(512, np.uint32), "rows": [1, 0, 1], "outputs": [-1, 5, 2]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"outputs": [1]}, "1 outputs of 3 states"),
        ({"rows": [], "outputs": []}, "0 outputs of 0 states"),
        ({"rows": [0, 1, 2]}, "state 2 has row 2 of 2"),
        ({"moves": np.full(512, 3, np.uint32)}, "move 0 leads to state 3 of 3"),
    ],
)
def test_an_automaton_that_leads_out_of_its_tables_is_refused(
    wrong: dict[str, object], said: str
) -> None:
    compiled = compiled_part()
    if compiled is None:
        pytest.skip("the compiled part was not built")
    tables = AUTOMATON | wrong
    rows, outputs = np.array(tables["rows"], np.uint16), np.array(tables["outputs"], np.int32)

    with pytest.raises(ValueError, match=said):
        compiled.automata.Automaton(tables["moves"], rows, outputs)
