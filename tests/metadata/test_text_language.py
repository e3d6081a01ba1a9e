"""The language by the text; each case with what keeps the page's word."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scrapy_mss.metadata import languages
from scrapy_mss.metadata.languages import READ, detector, language_of

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


def test_without_the_library_the_page_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    detector.cache_clear()

    try:
        assert language_of(GERMAN, "en") == "en"
        assert language_of(GERMAN, None) is None
    finally:
        detector.cache_clear()


def test_the_library_is_not_asked_where_common_words_confirm_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    class German:
        def classify(self, text: str) -> tuple[str, float]:
            asked.append(text)
            return "de", 1.0

    monkeypatch.setattr(languages, "detector", German)
    text = "The ferry and its crew, which had been kept in the harbour, sail. " * 6

    assert language_of(text, "en") == "en"
    assert not asked
    assert language_of(text, "fr") == "de"
    assert language_of(text, None) == "de"
    assert asked == [text[:READ]] * 2


FULL_DISK = """
import resource
from scrapy_mss.article import page_metadata
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.metadata.parsed_page import ParsedPage

resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))  # the library's model takes more
for _ in range(2):
    page = ParsedPage(tokenize("<html lang=de><title>Ferry</title>"), None)
    fields = page_metadata(page, page.tree.tokens.is_word, "The ferry sails. " * 40)
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
