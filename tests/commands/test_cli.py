"""What commands print, and `scrapy mss extract` without a project, as people type it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_mss.commands import error_line, print_json
from scrapy_mss.commands.extract import _Answers

ARTICLE = "".join(
    f"<p>In week {week} the <b>caf\u00e9</b> at the old harbour opened its doors again, and the "
    "first guests sat down on Monday morning. Its new owners kept the wooden tables.</p>\n"
    for week in ("one", "two", "three", "four")
)
PAGE = (
    "<html><head><title>The harbour</title></head><body>\n"
    '<nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li></ul></nav>\n'
    f'<main><article class="article-body">{ARTICLE}</article></main>\n'
    '<footer><ul><li><a href="/terms">Terms</a></li><li><a href="/privacy">Privacy</a></li></ul>'
    "</footer></body></html>"
)
TEXT = re.sub("<.*?>", "", ARTICLE).replace("\n", "\n\n").strip()
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
        input=PAGE.encode(),
        capture_output=True,
        check=True,
    )

    printed = done.stdout.decode()
    if form == "html":
        assert printed.count("<p>") == 4
        assert "<nav" not in printed
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
