from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scrapy_mss.__main__ import main
from scrapy_mss.blocks.page import Page
from scrapy_mss.commands.cli import print_json
from scrapy_mss.files.untrusted import printable, without_controls
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import PAPER
from tests.helpers.news_pages import news_page

ARTICLE = (
    "<p>After four years the <b>caf\u00e9</b> at the old harbour has opened its doors again, and "
    "the first guests sat down on Monday morning.</p>\n"
    "<p>Its new owners have kept the long wooden tables and the lamps, but the kitchen behind them "
    "was built anew during the winter.</p>\n"
)
PAGE = (
    "<html><head><title>The harbour</title></head><body>\n"
    '<nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li></ul></nav>\n'
    f'<main><article class="article-body">{ARTICLE}</article></main>\n'
    '<footer><ul><li><a href="/terms">Terms</a></li><li><a href="/privacy">Privacy</a></li></ul>'
    "</footer></body></html>"
)
TEXT = re.sub("<.*?>", "", ARTICLE).replace("\n", "\n\n").strip() + "\n"


def run(*arguments: str | Path, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit code, output and messages of `python -m scrapy_mss` with these arguments."""
    command = [sys.executable, "-X", "utf8", "-m", "scrapy_mss", *map(str, arguments)]
    result = subprocess.run(command, input=stdin, capture_output=True, check=False)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """The same in this process, which is faster."""

    def in_process(*arguments: str | Path, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    return in_process


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a model that learned a site."""
    learned = Model(PAPER)
    for number in range(3):
        one = news_page(number)
        learned.learn(Page(tokenize(one.html, PAPER.stem)), one.inside)
    path = tmp_path_factory.mktemp("model") / "news.model"
    path.write_bytes(to_bytes(learned))
    return path


def test_text_of_a_page_by_the_model_in_the_box(page: Path) -> None:
    assert run("extract", page) == (0, TEXT, "")


def test_a_dash_is_standard_input() -> None:
    assert run("extract", "-", stdin=PAGE.encode()) == (0, TEXT, "")


def test_html_instead_of_text(call: Call, page: Path) -> None:
    assert call("extract", "--html", page) == (
        0,
        ARTICLE,
        "",
    )


def test_a_model_of_ones_own_is_used(tmp_path: Path, model: Path) -> None:
    page, path = news_page(9), tmp_path / "page.html"
    path.write_text(page.html, encoding="utf-8")

    code, output, messages = run("extract", "--model", model, path)

    assert (code, messages) == (0, "")
    assert output == f"{page.text}\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbf" + PAGE.encode(), TEXT),
        (b"\xff\xfe" + PAGE.encode("utf-16-le"), TEXT),
        (b'<meta charset="latin-1">' + PAGE.encode("latin-1"), TEXT),
        (b'<meta charset="utf-8">' + PAGE.encode(), TEXT),
        (PAGE.encode("latin-1"), TEXT),  # undeclared, and mended as in `test_charsets`
    ],
)
def test_pages_are_decoded_by_what_they_say(call: Call, content: bytes, expected: str) -> None:
    assert call("extract", "-", stdin=content) == (0, expected, "")


def assert_refused(result: tuple[int, str, str], message: str) -> None:
    """Exit code 2, no output, and one line that says what is wrong."""
    code, output, messages = result
    assert code == 2
    assert output == ""
    assert messages.count("\n") == 1
    assert messages.startswith("python -m scrapy_mss extract: error: ")
    assert message in messages


@pytest.mark.parametrize("content", [b"", b"Only words.", b"1 < 2 && 3 > 2", b"<!-- no tag -->"])
def test_a_file_that_is_no_html_is_refused(call: Call, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)

    assert_refused(call("extract", path), f"{path}: expected HTML")
    assert_refused(call("extract", "-", stdin=content), "-: expected HTML")


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR<p>",
        b"\x7fELF\x02\x01\x01\x00\x00<a>",
        bytes(range(256)) * 8,
    ],
)
def test_a_binary_file_is_refused(call: Call, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(content)

    assert_refused(call("extract", path), f"{path}: expected HTML")


def test_a_missing_page_is_told(tmp_path: Path) -> None:
    path = tmp_path / "nosuch.html"

    assert_refused(run("extract", path), f"{path}: the page cannot be read: No such file")


def test_a_folder_is_no_page(call: Call, tmp_path: Path) -> None:
    assert_refused(
        call("extract", tmp_path), f"{tmp_path}: the page cannot be read: Is a directory"
    )


def test_a_missing_model_is_told(call: Call, tmp_path: Path, page: Path) -> None:
    path = tmp_path / "nosuch.model"

    message = f"{path}: the model cannot be read: No such file"
    assert_refused(call("extract", "--model", path, page), message)


def test_a_damaged_model_is_told_with_what_to_do(tmp_path: Path, page: Path, model: Path) -> None:
    path = tmp_path / "damaged.model"
    path.write_bytes(model.read_bytes()[:-1] + b"\0")

    result = run("extract", "--model", path, page)

    assert_refused(result, f"{path}: the model is damaged")
    assert "Use a copy of it" in result[2]


def test_a_file_that_is_no_model_is_told(call: Call, page: Path) -> None:
    assert_refused(
        call("extract", "--model", page, page), f"{page}: this is not a scrapy-mss model"
    )


def test_a_page_without_any_text_ends_with_one_and_a_line_that_says_so(call: Call) -> None:
    code, output, messages = call("extract", "-", stdin=b"<br>")

    assert (code, output) == (1, "")
    assert messages == "python -m scrapy_mss extract: -: no article found\n"


@pytest.mark.parametrize("arguments", [[], ["nosuch"], ["extract"], ["extract", "-", "--nosuch"]])
def test_wrong_arguments_are_answered_in_one_line(call: Call, arguments: list[str]) -> None:
    code, output, messages = call(*arguments)

    assert (code, output) == (2, "")
    assert messages.count("\n") == 1
    assert messages.startswith("python -m scrapy_mss")
    assert ": error: " in messages


def test_letters_that_the_terminal_does_not_take_are_escaped(page: Path) -> None:
    command = [sys.executable, "-m", "scrapy_mss", "extract", str(page)]

    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == TEXT.replace("\u00e9", "\\xe9")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("caf\u00e9 \u4e2d\u6587", "caf\u00e9 \u4e2d\u6587"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\u009bb", "a\\x9bb"),
    ],
)
def test_what_controls_a_terminal_is_printed_as_escapes(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_help_tells_the_options() -> None:
    code, output, messages = run("extract", "--help")

    assert (code, messages) == (0, "")
    assert {"--model", "--html", "page"} <= set(output.replace("]", " ").split())
    assert "Exit codes: 0 " in output


@pytest.mark.parametrize("option", ["--html", None])
def test_a_page_does_not_control_the_terminal_that_it_is_printed_on(
    call: Call, monkeypatch: pytest.MonkeyPatch, option: str | None
) -> None:
    picture = "<img src=https://example.com/a.png alt='\x1b]0;owned\x07\u009b2J'>"
    content = PAGE.replace("four", f"{picture}four").encode()
    arguments = ["extract", *filter(None, [option]), "-"]

    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    _, on_terminal, _ = call(*arguments, stdin=content)

    assert without_controls(on_terminal) == on_terminal
    assert ("owned" in on_terminal) == (option == "--html")


@pytest.mark.parametrize("value", ["\x1b]0;owned\x07", "a\u009b2J", "\x7f", "caf\u00e9"])
def test_a_line_of_json_has_no_controls_and_means_the_same(
    capsys: pytest.CaptureFixture[str], value: str
) -> None:
    print_json({"url": value})

    line = capsys.readouterr().out.removesuffix("\n")
    assert line.isprintable()
    assert json.loads(line) == {"url": value}


def test_the_path_of_a_page_does_not_control_the_terminal(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "\x1b]0;owned\x07.html"
    path.write_text("<br>")

    for page in (path, path.with_suffix(".none")):
        _, _, messages = call("extract", page)
        assert messages.removesuffix("\n").isprintable()
        assert "\\x1b]0;owned" in messages


def test_a_page_without_end_is_refused_by_its_kind_or_its_size(
    call: Call, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_mss.__main__.LARGEST_PAGE", 20)

    assert_refused(call("extract", "/dev/zero"), "expected a regular file, got a device")
    assert_refused(call("extract", page), f"{page}: the page cannot be read: expected at most 20")
    assert_refused(call("extract", "-", stdin=b"<p>" * 9), "-: expected a page of at most 20 bytes")


def test_a_model_without_end_is_refused(call: Call, page: Path) -> None:
    result = call("extract", "--model", "/dev/zero", page)

    message = "/dev/zero: the model cannot be read: expected a regular file, got a device"
    assert_refused(result, message)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_where_nobody_reads_the_output_it_ends_quietly(
    page: Path, closed: str, unbuffered: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    asked = page if closed == "stdout" else page.with_name("missing.html")

    done = subprocess.run(
        [sys.executable, "-m", "scrapy_mss", "extract", str(asked)],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=writing if closed == "stdout" else subprocess.PIPE,
        stderr=writing if closed == "stderr" else subprocess.PIPE,
        check=False,
    )
    os.close(writing)

    assert done.returncode == 141
    assert not done.stdout
    assert not done.stderr
