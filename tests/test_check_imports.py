"""The import-direction check, on trees small enough to see through."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_imports import LAYERS, find_violations, main, package_files


def write_tree(folder: Path, files: dict[str, str]) -> Path:
    """A package `scrapy_mss` in *folder* with *files*: path inside the package to source."""
    for name, source in files.items():
        path = folder / "scrapy_mss" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return folder


def messages(folder: Path) -> list[str]:
    return [str(violation) for violation in find_violations(folder)]


def test_violation_names_place_import_and_what_is_allowed(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, {"stores/file.py": "import json\nimport scrapy\n"})

    (message,) = messages(tree)

    assert message == (
        "scrapy_mss/models/store.py:2: scrapy_mss.models.store imports scrapy; "
        "allowed: standard library; filelock; numpy; scrapy_mss.stores; scrapy_mss.core"
    )


# Each forbidden import beside its permitted neighbour.
FORBIDDEN = [
    ("core/tokens.py", "import lxml"),
    ("core/tokens.py", "import logging"),
    ("core/tokens.py", "import os.path"),
    ("core/tokens.py", "from os import path"),
    ("core/tokens.py", "from urllib import request"),
    ("core/tokens.py", "from nltk.stem.porter import PorterStemmer"),
    ("core/tokens.py", "import numpy_financial"),
    ("core/tokens.py", "from scrapy_mss.stores import file"),
    ("core/tokens.py", "from scrapy_mss import stores"),
    ("core/tokens.py", "from scrapy_mss import Extractor"),
    ("core/tokens.py", "from ..stores import file"),
    ("core/tokens.py", "from .. import stores"),
    ("core/__init__.py", "from ..stores import file"),
    ("core/stemming.py", "from nltk.corpus import stopwords"),
    ("wrappers/rules.py", "import scrapy"),
    ("wrappers/rules.py", "from scrapy_mss.stores import file"),
    ("extractors/cetr.py", "from research.bench import metrics"),
    ("stores/file.py", "from scrapy_mss.api import Extractor"),
    ("settings.py", "from scrapy_mss.core import tokens"),
    ("bench/runner.py", "import scrapy_mss.addon"),
    ("bench/runner.py", "import scrapy"),
    ("pipelines.py", "from scrapy_mss.addon import Addon"),
    ("pipelines.py", "from scrapy_mss import spidermiddlewares"),
    ("addon.py", "import scrapy_mss.commands.show"),
    ("__init__.py", "import scrapy"),
    ("__init__.py", "from scrapy_mss import commands"),
]
PERMITTED = [
    ("core/tokens.py", "import numpy"),
    ("core/tokens.py", "import io"),
    ("core/tokens.py", "from urllib import parse"),
    ("core/tokens.py", "from numpy.typing import NDArray"),
    ("core/tokens.py", "from scrapy_mss.markup.stemming import stem"),
    ("core/tokens.py", "from . import stemming"),
    ("core/__init__.py", "from .tokens import Tokens"),
    ("core/stemming.py", "from nltk.stem.porter import PorterStemmer"),
    ("core/stemming.py", "from scrapy_mss.core import tokens"),
    ("wrappers/rules.py", "import parsel, yaml"),
    ("wrappers/rules.py", "from ..core import labels"),
    ("extractors/cetr.py", "from scrapy_mss.core import tokens"),
    ("api.py", "from scrapy_mss.models.store import read_model"),
    ("bench/runner.py", "from research.systems import base"),
    ("bench/runner.py", "from scrapy_mss import Extractor"),
    ("pipelines.py", "import scrapy.crawler"),
    ("addon.py", "from scrapy_mss import pipelines"),
    ("commands/show.py", "from scrapy.commands import ScrapyCommand"),
    ("__init__.py", "from scrapy_mss.addon import Addon"),
]


@pytest.mark.parametrize(("name", "source"), FORBIDDEN)
def test_forbidden_import_is_reported(tmp_path: Path, name: str, source: str) -> None:
    tree = write_tree(tmp_path, {name: source})

    (message,) = messages(tree)

    assert message.startswith(f"scrapy_mss/{name}:1: ")


@pytest.mark.parametrize(("name", "source"), PERMITTED)
def test_permitted_import_is_silent(tmp_path: Path, name: str, source: str) -> None:
    assert messages(write_tree(tmp_path, {name: source})) == []


@pytest.mark.parametrize(
    "source",
    [
        "if TYPE_CHECKING:\n    from scrapy import Spider\n",
        "def parse():\n    from scrapy import Spider\n",
        "from importlib import import_module\nimport_module('scrapy.spiders')\n",
        "import importlib\nimportlib.import_module('scrapy.spiders')\n",
        "first = 1\n__import__('scrapy')\n",
    ],
)
def test_import_counts_wherever_it_stands(tmp_path: Path, source: str) -> None:
    (message,) = messages(write_tree(tmp_path, {"stores/file.py": source}))

    assert message.startswith("scrapy_mss/models/store.py:2: ")


def test_violations_come_in_the_order_of_files_and_lines(tmp_path: Path) -> None:
    tree = write_tree(
        tmp_path,
        {"stores/b.py": "import yaml", "stores/a.py": "def f():\n    import yaml\nimport scrapy"},
    )

    places = [message.partition(": ")[0] for message in messages(tree)]

    assert places == [
        "scrapy_mss/stores/a.py:2",
        "scrapy_mss/stores/a.py:3",
        "scrapy_mss/stores/b.py:1",
    ]


def test_module_without_a_row_is_reported(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, {"helpers.py": "import json\n"})

    (message,) = messages(tree)

    assert message == (
        "scrapy_mss/helpers.py:1: scrapy_mss.helpers has no row in LAYERS of "
        "tools/check_imports.py: give it one"
    )


def test_each_layer_has_one_row() -> None:
    names = [layer.name for layer in LAYERS]

    assert len(names) == len(set(names))


def test_status_is_1_with_violations_and_0_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = write_tree(tmp_path / "bad", {"stats.py": "import scrapy"})
    good = write_tree(tmp_path / "good", {"stats.py": "import enum"})

    assert main([str(bad)]) == 1
    assert "check_imports: 1 modules, 1 violations" in capsys.readouterr().out
    assert main([str(good)]) == 0
    assert "check_imports: 1 modules, 0 violations" in capsys.readouterr().out


def test_folder_without_the_package_is_a_fault_not_a_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no modules under" in capsys.readouterr().err


def test_the_package_itself_is_read_and_keeps_the_rules() -> None:
    repository = Path(__file__).resolve().parents[1]

    assert package_files(repository)
    assert messages(repository) == []
