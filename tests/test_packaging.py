"""What is installed is the wheel, not the source tree: so the wheel is what these tests use.

It is built from a copy, because a build inside the tree leaves a `build` folder there, and
the next wheel would contain files that are long deleted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from configparser import ConfigParser
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = "scrapy_mss"
BUILD_INPUTS = ("LICENSE", "README.md", "pyproject.toml", "setup.cfg")

# The core promises to need these alone: a program that only extracts installs neither Scrapy
# nor a parser. Their version ranges come from setup.cfg.
CORE_DEPENDENCIES = ("nltk", "numpy")

PROBE = """
import importlib, importlib.resources, json, pkgutil
import scrapy_mss, scrapy_mss.core
from scrapy_mss import Extractor
core = [m.name for m in pkgutil.walk_packages(scrapy_mss.core.__path__, "scrapy_mss.core.")]
for name in core:
    importlib.import_module(name)
print(json.dumps({
    "file": scrapy_mss.__file__,
    "extractor": Extractor.__name__,
    "core": core,
    "typed": importlib.resources.files("scrapy_mss").joinpath("py.typed").is_file(),
}))
"""


def run(command: Sequence[str | Path], folder: Path) -> str:
    """The output of *command*; a failure shows both of its streams."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def package_files() -> set[str]:
    """Every file of the package in the source tree, whatever its kind; bytecode aside."""
    return {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    for name in BUILD_INPUTS:
        shutil.copy2(REPOSITORY / name, source)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / PACKAGE, source / PACKAGE, ignore=ignore)
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"], source)
    (path,) = (source / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel and what the core needs."""
    environment = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", environment], environment)
    python = environment / "bin" / "python"
    install = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run([*install, "--no-deps", str(wheel)], environment)
    run([*install, *core_requirements()], environment)
    return python


def core_requirements() -> list[str]:
    """Their lines of install_requires."""
    config = ConfigParser()
    config.read(REPOSITORY / "setup.cfg", encoding="utf-8")
    lines = config["options"]["install_requires"].split()
    return [line for line in lines if line.startswith(CORE_DEPENDENCIES)]


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    """A kind of file without a package_data line, or a folder without __init__.py, shows here."""
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert packed == package_files()


def test_wheel_imports_outside_the_tree_with_the_dependencies_of_the_core_alone(
    installed: Path, tmp_path: Path
) -> None:
    found = json.loads(run([installed, "-I", "-c", PROBE], tmp_path))

    assert not Path(found["file"]).is_relative_to(REPOSITORY)
    assert found["extractor"] == "Extractor"
    assert found["typed"]
    assert f"{PACKAGE}.core.tokenizer" in found["core"]


def test_requirements_of_the_core_are_found_in_setup_cfg() -> None:
    assert len(core_requirements()) == len(CORE_DEPENDENCIES)


def test_metadata_names_licence_python_and_readme(metadata: Message) -> None:
    assert metadata["Name"] == "scrapy-mss"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert (
        str(metadata.get_payload()).strip()
        == (REPOSITORY / "README.md").read_text(encoding="utf-8").strip()
    )
