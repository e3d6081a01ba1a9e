"""Extracting alone loads neither a crawler nor a parser nor a second stemmer.

How long it takes is measured by `python -m research.benchmarks.startup`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import scrapy_mss

HEAVY = ("lxml", "nh3", "nltk", "parsel", "scrapy", "twisted")
PURE = ("markup", "core", "blocks", "models")

LOAD = "from scrapy_mss import Extractor; Extractor.load()"
EXTRACT = f"{LOAD}.extract('<p>One line.</p>').text"
IMPORT_ALL = f"""
import importlib, pkgutil
for name in {PURE!r}:
    package = importlib.import_module(f"scrapy_mss.{{name}}")
    for module in pkgutil.iter_modules(package.__path__, f"scrapy_mss.{{name}}."):
        importlib.import_module(module.name)
"""


def heavy_modules_after(program: str) -> list[str]:
    """Which of HEAVY a fresh interpreter has loaded once it has run *program*."""
    report = f"import json, sys; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    output = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return list(json.loads(output))


@pytest.mark.parametrize("program", ["import scrapy_mss", LOAD, EXTRACT, IMPORT_ALL])
def test_extracting_loads_nothing_heavy(program: str) -> None:
    assert heavy_modules_after(program) == []


def test_the_probe_sees_what_is_loaded() -> None:
    assert heavy_modules_after("import parsel") == ["lxml", "parsel"]


def test_the_html_of_an_article_loads_its_sanitizer_alone() -> None:
    assert heavy_modules_after(EXTRACT.replace(".text", ".html")) == ["nh3"]


@pytest.mark.parametrize("name", PURE)
def test_there_are_modules_to_import(name: str) -> None:
    """Or the walk over them would prove nothing."""
    assert len(list((Path(scrapy_mss.__path__[0]) / name).glob("*.py"))) > 2
