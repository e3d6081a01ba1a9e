"""The core is for those too who have neither a crawler nor a tree at hand."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import scrapy_mss.core

HEAVY = ("lxml", "parsel", "scrapy", "twisted")

IMPORT_ALL_OF_CORE = """
import pkgutil, importlib, scrapy_mss.core as core
for module in pkgutil.walk_packages(core.__path__, "scrapy_mss.core."):
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


@pytest.mark.parametrize(
    "program",
    [
        "import scrapy_mss",
        "from scrapy_mss import Extractor",
        "import scrapy_mss.core",
        IMPORT_ALL_OF_CORE,
    ],
    ids=["package", "Extractor", "core", "every module of core"],
)
def test_core_loads_without_scrapy_and_without_a_parser(program: str) -> None:
    assert heavy_modules_after(program) == []


def test_the_probe_sees_what_is_loaded() -> None:
    assert heavy_modules_after("import parsel") == ["lxml", "parsel"]


def test_core_is_a_package_with_modules() -> None:
    """Or the walk over its modules would prove nothing."""
    assert scrapy_mss.core.__file__ is not None
    assert len(list(scrapy_mss.core.__path__)) == 1
