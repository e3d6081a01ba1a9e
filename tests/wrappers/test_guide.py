"""The user guide's examples are loaded, run and compared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scrapy_mss.wrappers import WrapperError, load_wrappers
from scrapy_mss.wrappers.schema import KEYS

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "wrappers.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BROKEN = """
site: example.com
wrappers:
  - body: {css: 'div['}
    titel: h1
  - body: article
    url: news/*
  - body: article
    exclude: [aside, 'p, *']
"""
PAGE = "<h1>Bridge opens</h1><div class=article-body><p>It opened.</p><aside>Ad</aside></div>"


def blocks(language: str) -> list[str]:
    found = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the guide's rules in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "example.com.yaml").write_text(blocks("yaml")[1], encoding="utf-8")
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("text", blocks("yaml"))
def test_the_rules_of_the_guide_are_valid(text: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text, encoding="utf-8")

    assert len(load_wrappers(file)) >= 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("code", blocks("python"))
def test_the_code_of_the_guide_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, str(GUIDE), "exec"), {})  # noqa: S102 - our own

    assert "label(" not in code or capsys.readouterr().out == "It opened.\n"


def test_the_problems_in_the_guide_are_those_that_are_reported(folder: Path) -> None:
    (folder / "rules" / "broken.yaml").write_text(BROKEN, encoding="utf-8")

    with pytest.raises(WrapperError) as caught:
        load_wrappers("rules")

    assert blocks("text") == [f"{caught.value}\n"]


def test_every_key_is_in_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8")

    missing = [name for name in KEYS if f"`{name}`" not in text]

    assert missing == []
