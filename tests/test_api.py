"""The public names are those of docs/api.md, whose examples are run."""

from __future__ import annotations

import doctest
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import scrapy_mss
from scrapy_mss import Article, Extraction, Extractor
from scrapy_mss.items import ARTICLE_FIELDS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(>>>.*?)^```$", re.MULTILINE | re.DOTALL)
SIGNATURE = re.compile(r"^### `(\w+)(\(.*\))`$", re.MULTILINE)
ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)
EXTRACTION = set(
    "text html markdown raw_html url is_article kind probability is_complete incomplete_reason "
    "entries confidence".split()
)


def rows(section: str) -> list[str]:
    """The names in the first column of the table in a *section* of the page."""
    _, _, rest = TEXT.partition(f"\n## {section}\n")
    found = ROW.findall(re.split(r"^#{2,3} ", rest, flags=re.MULTILINE)[0])
    return [name for names in found for name in re.findall(r"\w+", names)]


def test_the_public_names_are_those_of_the_page() -> None:
    named = re.findall(r"^\| \[`(\w+)`\]", TEXT, re.MULTILINE)

    assert {*named, "__version__"} == set(scrapy_mss.__all__) <= set(dir(scrapy_mss))
    assert len(named) == 7
    assert all(getattr(scrapy_mss, name).__name__ == name for name in named)
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = scrapy_mss.nosuch


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = "\n".join(BLOCK.findall(TEXT))

    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    printed: list[str] = []
    done = doctest.DocTestRunner().run(test, out=printed.append)

    assert done.attempted > 20
    assert not done.failed, "".join(printed)


def test_signatures_are_those_of_the_code() -> None:
    owners = {"Extractor": scrapy_mss, "NewsSpider": scrapy_mss, "to_zyte_article": Article}
    for name, written in SIGNATURE.findall(TEXT):
        signature = inspect.signature(getattr(owners.get(name, Extractor), name))
        parameters = [
            each.replace(annotation=each.empty)
            for each in signature.parameters.values()
            if each.name not in ("self", "kwargs")
        ]
        assert written.replace('"', "'") == str(inspect.Signature(parameters)), name
    assert {name for name, _ in SIGNATURE.findall(TEXT)} >= {"extract", "explain", "learn", "save"}


def test_attributes_are_those_of_the_code() -> None:
    assert tuple(rows("Article")) == ARTICLE_FIELDS
    known = {*dir(Extraction), *(each.name for each in fields(Extraction))}
    assert set(rows("Extraction")) == EXTRACTION <= known
