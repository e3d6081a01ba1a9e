"""What commands print, and `scrapy mss extract` without a project, as people type it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_mss.commands import error_line, print_json
from scrapy_mss.commands.extract import _Answers
from tests.helpers.news_pages import news_page

PAGE = news_page(1)
SOURCE = PAGE.html.replace("<p>", "<p>Caf\u00e9: ")
TEXT = "\n\n".join(f"Caf\u00e9: {paragraph}" for paragraph in PAGE.text.split("\n\n"))
CONTROLS = ["\x1b]0;owned\x07", "a\u009b2J", "\x7f"]


@pytest.mark.parametrize(
    ("form", "encoding"), [("text", "utf-8"), ("text", "ascii"), ("html", "utf-8")]
)
def test_extract_reads_standard_input_without_a_project(
    tmp_path: Path, form: str, encoding: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "mss", "extract", "--bundled", "--format", form, "-"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        input=SOURCE.encode(),
        capture_output=True,
        check=True,
    )

    printed = done.stdout.decode()
    if form == "html":
        assert printed.count("<p>") == SOURCE.count("<p>")
        assert "Sport" not in printed
    else:
        assert printed.strip() == TEXT.encode(encoding, "backslashreplace").decode(encoding)


@pytest.mark.parametrize("value", [*CONTROLS, "caf\u00e9"])
def test_a_line_of_json_has_no_control_characters_and_means_the_same(
    capsys: pytest.CaptureFixture[str], value: str
) -> None:
    print_json({"url": value})

    line = capsys.readouterr().out.removesuffix("\n")
    assert line.isprintable()
    assert json.loads(line) == {"url": value}


@pytest.mark.parametrize("value", CONTROLS)
def test_an_error_is_one_line_without_control_characters(value: str) -> None:
    line = error_line("scrapy mss extract", f"{value}.html\nno such file").removesuffix("\n")

    assert line.isprintable()
    assert line.startswith("scrapy mss extract: error: ")


def test_a_value_that_is_false_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    _Answers("json").add({"url": "a", "title": None, "tags": [], "is_complete": False})

    assert json.loads(capsys.readouterr().out) == {"url": "a", "is_complete": False}
