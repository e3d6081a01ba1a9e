"""What is installed is the wheel, not the source tree: so the wheel is what these tests use.

It is built from a copy, because a build inside the tree leaves a `build` folder there, and
the next wheel would contain files that are long deleted; and from the source distribution, which
is what those install for whom there is no wheel.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from importlib.metadata import Distribution, distribution
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

from scrapy_mss.markup.compiled import IS_COMPILED

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = "scrapy_mss"
BUILD_INPUTS = (
    *("CHANGELOG.md", "LICENSE", "MANIFEST.in", "NOTICE", "README.md"),
    *("pyproject.toml", "setup.cfg", "setup.py"),
)
# The environments of a build without a compiler, and of one that is quick: what is asked of the
# compiled part here, it does without being optimized.
URL = "https://forge.example/me/scrapy-mss"
NOT_COMPILED = {**os.environ, "CC": "false", "PROJECT_URL": URL}
COMPILED = {**os.environ, "CFLAGS": "-O0 -g0", "PROJECT_URL": ""}
SOURCES = (".pyx", ".pxi", ".c")  # of the compiled part
BUILT = (".so", ".pyd")

# A program that extracts with the bundled model needs these alone: neither Scrapy nor a parser.
EXTRACTING = ("numpy", "PyStemmer")

# What a build would put into the wheel if it took every folder with modules.
NOT_PACKED = ("research", "tests", "example_project")

PROBE = """
import importlib, importlib.resources, json, sys
from importlib.util import find_spec
import scrapy_mss
extractor = scrapy_mss.Extractor()
print(json.dumps({
    "file": scrapy_mss.__file__,
    "text": extractor.extract("<p>One line.</p>").text,
    "compiled": importlib.import_module("scrapy_mss.markup.compiled").IS_COMPILED,
    "typed": importlib.resources.files("scrapy_mss").joinpath("py.typed").is_file(),
    "others": [name for name in sys.argv[1:] if find_spec(name)],
}))
"""


def run(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None
) -> str:
    """The output of *command*; a failure shows both of its streams."""
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def package_files() -> set[str]:
    """Every file of the package in the source tree but bytecode and the compiled part's."""
    return {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / PACKAGE).rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in {*SOURCES, *BUILT}
    }


COMPILING = pytest.param("compiled", marks=pytest.mark.slow("compiling takes ten seconds"))


@pytest.fixture(scope="module", params=[COMPILING, "without a compiler"])
def is_compiled(request: pytest.FixtureRequest) -> bool:
    is_one: bool = request.param == "compiled"
    if is_one and not IS_COMPILED:
        pytest.skip("there is no compiler, or there was none when the project was installed")
    return is_one


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, *, is_compiled: bool) -> Path:
    source = tmp_path_factory.mktemp("source")
    for name in BUILD_INPUTS:
        shutil.copy2(REPOSITORY / name, source)
    ignore = shutil.ignore_patterns("__pycache__", "_*.c", "*.so", "*.pyd")
    shutil.copytree(REPOSITORY / PACKAGE, source / PACKAGE, ignore=ignore)
    for name in NOT_PACKED:
        (source / name).mkdir()
        (source / name / "__init__.py").touch()
    (source / "tests" / "test_api.py").touch()  # a name that setuptools takes by itself
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"]
    run(build, source, COMPILED if is_compiled else NOT_COMPILED)
    (path,) = (source / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel, and links to what extracting needs.

    Links, and no pip of its own, since downloading and unpacking took fifteen seconds.
    """
    environment = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", environment], environment)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    run([*pip, "install", "--quiet", "--no-deps", str(wheel)], environment)
    show = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site_packages = Path(run([python, "-c", show], environment).strip())
    for name in EXTRACTING:
        link(distribution(name), site_packages)
    return python


def link(installed: Distribution, site_packages: Path) -> None:
    """Make what *installed* has at the top of its folder importable from *site_packages*."""
    names = {file.parts[0] for file in installed.files or () if file.parts[0] not in {"..", "."}}
    for name in names - {"__pycache__"}:
        (site_packages / name).symlink_to(Path(str(installed.locate_file(name))))


def test_wheel_holds_every_file_of_the_package_and_no_other(
    wheel: Path, *, is_compiled: bool
) -> None:
    """A kind of file without a package_data line, or a folder without __init__.py, shows here."""
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    built = {name.partition(".")[0] for name in packed if name.endswith(BUILT)}

    assert {name for name in packed if not name.endswith(BUILT)} == package_files()
    sources = (REPOSITORY / PACKAGE).rglob("*.pyx") if is_compiled else ()
    assert built == {path.relative_to(REPOSITORY).with_suffix("").as_posix() for path in sources}


def test_wheel_extracts_outside_the_tree_without_scrapy_or_a_parser(
    installed: Path, tmp_path: Path, *, is_compiled: bool
) -> None:
    absent = (*NOT_PACKED, "scrapy", "lxml", "nltk")

    found = json.loads(run([installed, "-I", "-c", PROBE, *absent], tmp_path))

    assert not Path(found["file"]).is_relative_to(REPOSITORY)
    assert found["text"] == "One line."
    assert found["compiled"] == is_compiled
    assert found["typed"]
    assert found["others"] == []


def test_links_of_the_description_are_absolute(wheel: Path, *, is_compiled: bool) -> None:
    """Without the address of the repository, there are none into it."""
    with ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    targets = re.findall(r"\]\(([^)#]+)", metadata)

    assert [each for each in targets if not each.startswith("https://")] == []
    assert (f"{URL}/raw/HEAD/research/results/unseen.svg" in targets) != is_compiled
    assert (f"Project-URL: Source, {URL}\n" in metadata) != is_compiled


def test_source_distribution_holds_what_a_wheel_is_built_from_and_no_tests(wheel: Path) -> None:
    (path,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = [
            PurePosixPath(each.name).relative_to(path.name[: -len(".tar.gz")]) for each in archive
        ]
    packed = {name.as_posix() for name in names}

    sources = (REPOSITORY / PACKAGE).rglob("*.p[yx][xi]")
    assert {path.relative_to(REPOSITORY).as_posix() for path in sources} <= packed
    assert {*BUILD_INPUTS} <= packed
    assert not packed & {*NOT_PACKED}


def test_what_cibuildwheel_runs_fails_on_a_wheel_that_is_not_compiled(
    installed: Path, tmp_path: Path, *, is_compiled: bool
) -> None:
    """`test-command`, which cibuildwheel runs on each wheel, passes on those that are compiled."""
    tomllib = pytest.importorskip("tomllib")  # Python 3.11
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    command = project["tool"]["cibuildwheel"]["test-command"]
    path = {**os.environ, "PATH": f"{installed.parent}{os.pathsep}{os.environ['PATH']}"}
    path.pop("PYTHONPATH", None)

    done = subprocess.run(  # noqa: S602 - the shell is what cibuildwheel gives it to
        command, shell=True, cwd=tmp_path, env=path, capture_output=True, text=True, check=False
    )

    assert (done.returncode == 0) == is_compiled, done.stderr
    assert is_compiled or "AssertionError" in done.stderr


def test_flag_that_the_compiler_does_not_know_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clang refuses what is GCC's alone, and the compiled part would be left out."""
    clang = tmp_path / "clang"
    clang.write_text('#!/bin/sh\ncase "$*" in *vect-cost*) exit 1;; esac\n', encoding="utf-8")
    clang.chmod(0o755)
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    monkeypatch.chdir(REPOSITORY)
    flags = []
    for compiler in ("true", str(clang)):
        monkeypatch.setenv("CC", compiler)
        flags.append(runpy.run_path("setup.py")["FLAGS"])

    assert {*flags[0]} - {*flags[1]} == {"-fvect-cost-model=dynamic"}


def test_what_extracting_needs_is_required() -> None:
    config = ConfigParser()
    config.read(REPOSITORY / "setup.cfg", encoding="utf-8")
    required = config["options"]["install_requires"].split()

    for name in EXTRACTING:
        assert any(line.startswith(f"{name}>=") for line in required)
