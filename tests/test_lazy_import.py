"""Extracting loads neither a crawler nor a parser nor a second stemmer; `scrapy version` no model.

How long it takes is measured by `python -m research.benchmarks.startup`.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scrapy_mss.commands import ACTIONS

HEAVY = ("lxml", "nh3", "nltk", "parsel", "scrapy", "twisted")
PURE = ("markup", "core", "blocks", "models")

EXTRACT = "from scrapy_mss import Extractor; Extractor().extract('<p>One line.</p>').text"
IMPORT_ALL = f"""
import importlib, pkgutil
for name in {PURE!r}:
    package = importlib.import_module(f"scrapy_mss.{{name}}")
    for module in pkgutil.iter_modules(package.__path__, f"scrapy_mss.{{name}}."):
        importlib.import_module(module.name)
"""


# A command of Scrapy's where only the packages in {plugins} have added commands.
SCRAPY = """
import contextlib, os, scrapy.cmdline
installed = scrapy.cmdline.entry_points
scrapy.cmdline.entry_points = lambda group: [
    each for each in installed(group=group) if each.name in {plugins}
]
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    with contextlib.suppress(SystemExit):
        scrapy.cmdline.execute(["scrapy", {arguments}])
"""


def modules_after(program: str) -> set[str]:
    """What a fresh interpreter has loaded once it has run *program*."""
    report = "import json, sys; print(json.dumps([*sys.modules]))"
    output = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return set(json.loads(output))


def heavy_modules_after(program: str) -> list[str]:
    """Which of HEAVY a fresh interpreter has loaded once it has run *program*."""
    loaded = modules_after(program)
    return [name for name in HEAVY if name in loaded]


@pytest.mark.parametrize("program", [EXTRACT, IMPORT_ALL])
def test_extracting_loads_nothing_heavy(program: str) -> None:
    assert heavy_modules_after(program) == []


def test_the_probe_sees_what_is_loaded() -> None:
    assert heavy_modules_after("import parsel") == ["lxml", "parsel"]


def test_the_html_of_an_article_loads_its_sanitizer_where_it_is_needed() -> None:
    program = EXTRACT.replace(".text", ".html")

    assert heavy_modules_after(program) == []
    assert heavy_modules_after(program.replace("line", "<pre>\\nline</pre> of words")) == ["nh3"]


def test_a_command_of_scrapy_loads_only_the_names_of_our_actions() -> None:
    alone, with_ours = (
        modules_after(SCRAPY.format(plugins=plugins, arguments="'version'"))
        for plugins in ([], ["mss"])
    )

    assert with_ours - alone == {
        "scrapy_mss",
        "scrapy_mss.commands",
        "scrapy_mss.files",
        "scrapy_mss.files.untrusted",
    }


@pytest.mark.parametrize(("arguments", "expected"), [("'-h'", set()), ("'merge', '-h'", {"merge"})])
def test_only_the_action_that_is_called_is_loaded(arguments: str, expected: set[str]) -> None:
    loaded = modules_after(SCRAPY.format(plugins=["mss"], arguments=f"'mss', {arguments}"))

    assert {name for name in ACTIONS if f"scrapy_mss.commands.{name}" in loaded} == expected


def test_the_process_that_reads_lists_loads_no_reader_of_articles() -> None:
    loaded = modules_after("import scrapy_mss.spiders.lists")

    assert loaded.isdisjoint({"scrapy_mss.article", "scrapy_mss.extractor", "scrapy_mss.models"})
