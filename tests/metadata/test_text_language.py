"""The language by the text; each case with what keeps the page's word."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.markup.compiled import IS_COMPILED, Automata, compiled_part, python_alone
from scrapy_mss.metadata import languages
from scrapy_mss.metadata.languages import (
    READ,
    _floats_of_shorts,
    _identifier,
    detector,
    known,
    language_of,
)

langid = pytest.importorskip("py3langid")

needs_compiler = pytest.mark.skipif(not IS_COMPILED, reason="the compiled part was not built")


def automata() -> Automata:
    compiled = compiled_part()
    assert compiled is not None
    return compiled.automata


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

    monkeypatch.setattr(languages, "detector", lambda: german)
    text = "The ferry and its crew, which had been kept in the harbour, sail. " * 6

    assert language_of(text, "en") == "en"
    assert not asked
    assert language_of(text, "fr") == "de"
    assert language_of(text, None) == "de"
    assert asked == [text[:READ]] * 2


@needs_compiler
@given(
    st.lists(st.sampled_from([0, 1, 2]), min_size=512, max_size=512),
    st.lists(st.integers(0, 255), max_size=40),
    st.integers(0, 12),
)
def test_a_text_in_parts_is_walked_over_as_in_one(
    moves: list[int], letters: list[int], times: int
) -> None:
    rows, outputs, text = [0, 1, 0], [-1, 5, 2], bytes(letters * times)
    state, expected = 0, Counter[int]()
    for letter in text:
        state = moves[256 * rows[state] + letter]
        expected.update([outputs[state]] if outputs[state] >= 0 else [])

    walk = automata().Automaton(
        np.array(moves, np.uint32), np.array(rows, np.uint16), np.array(outputs, np.int32)
    )
    found, counts = walk.counts(text)

    assert list(zip(found, counts, strict=True)) == list(expected.items())


@needs_compiler
@given(st.lists(st.integers(0, 2**16 - 1), min_size=5, max_size=5), st.integers(1, 5))
def test_short_floats_are_those_of_numpy(bits: list[int], n_rows: int) -> None:
    shorts = np.array(bits * 15, np.uint16).reshape(5, -1)
    rows = array("i", [(2 * row) % 5 for row in range(n_rows)])

    found = np.asarray(automata().floats(shorts, rows, _floats_of_shorts()))

    np.testing.assert_array_equal(
        found, shorts.view(np.float16)[np.array(rows)].astype(np.float32).ravel()
    )


@needs_compiler
def test_rows_that_are_not_of_the_table_are_refused() -> None:
    shorts, numbers = np.zeros((2, 3), np.uint16), _floats_of_shorts()

    for row in (-1, 2):
        with pytest.raises(IndexError, match=f"row {row} of 2"):
            automata().floats(shorts, array("i", [row]), numbers)
    with pytest.raises(ValueError, match="9 floats where 16 bits have 65536"):
        automata().floats(shorts, array("i", [0]), numbers[:9])


AUTOMATON = {"moves": np.zeros(512, np.uint32), "rows": [1, 0, 1], "outputs": [-1, 5, 2]}


@needs_compiler
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
    tables = AUTOMATON | wrong
    rows, outputs = np.array(tables["rows"], np.uint16), np.array(tables["outputs"], np.int32)

    with pytest.raises(ValueError, match=said):
        automata().Automaton(tables["moves"], rows, outputs)


FULL_DISK = """
import resource
from scrapy_mss.article import page_metadata

resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))  # the library's model takes more
for _ in range(2):
    page = "<html lang=de><title>Ferry</title>"
    fields = page_metadata(page, "http://example.com/1", "The ferry sails. " * 40)
    print(fields.values["title"], fields.values["language"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on the size of files is POSIX")
def test_a_disk_without_room_for_the_model_costs_nothing_but_the_language() -> None:
    """And one warning, not one for each page."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == ["Ferry de"] * 2
    assert done.stderr.count("cannot load the model of py3langid: ") == 1
    assert "Traceback" not in done.stderr
