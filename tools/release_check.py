"""Walk through what a release needs, and print what is missing.

    python tools/release_check.py [--data FOLDER]

All steps are tried, whatever fails; the exit code is 1 if one does. With labelled pages in FOLDER,
the bundled model is trained again, which takes minutes: it has to be the same to the last bit or,
as other processors add otherwise, as good on the sets that no model learns from.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from time import monotonic

import scrapy_mss
from research.bench.metrics import bag, words
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from scrapy_mss import Extractor

ROOT = Path(__file__).parent.parent
DIST = ROOT / "build" / "release" / "dist"
MODEL = ROOT / "scrapy_mss" / "models" / "default.model"
UNSEEN = ("articles_l3s", "sites_ctf", "sites_daniel", "cleaneval_dev")
MOST_BETWEEN = 0.001  # F1 of a set: on average, fits with other seeds differ by as much
# One thread, as `make model` has, so that sums are taken in the same order.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PROBE = """
from scrapy_mss.markup.compiled import IS_COMPILED
from scrapy_mss import Extractor
assert IS_COMPILED
assert Extractor().extract("<p>One line.</p>").text == "One line."
"""


class MissingError(Exception):
    """A step finds that something is missing, and says what."""


def run(
    *command: str | Path, folder: Path = ROOT, variables: Mapping[str, str] | None = None
) -> str:
    """What *command* prints; if it fails, the end of that is what is missing."""
    done = subprocess.run(  # noqa: S603 - our own commands
        command,
        cwd=folder,
        env={**os.environ, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MissingError("\n".join(done.stdout.splitlines()[-15:]))
    return done.stdout


def make(target: str) -> Callable[[], object]:
    """A step that makes *target*."""
    return lambda: run("make", target)


def tests(*arguments: str) -> Callable[[], object]:
    """A step that runs tests."""
    return lambda: run(sys.executable, "-m", "pytest", "-q", "-n", "0", *arguments)


def committed() -> None:
    """Nothing is changed that the last commit does not have."""
    if changed := run("git", "status", "--porcelain"):
        raise MissingError(f"not committed:\n{changed}")


def version() -> None:
    """Changelog and citation are of the version of the package."""
    number = scrapy_mss.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(number)} ", changes, re.MULTILINE):
        raise MissingError(f"CHANGELOG.md has no section '## {number} - DATE'")
    if f"\nversion: {number}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        raise MissingError(f"CITATION.cff is not of version {number}")


def description() -> None:
    """The links of the description lead somewhere from a package index."""
    if not os.environ.get("PROJECT_URL"):
        raise MissingError("PROJECT_URL is not set: the description would have no links")


def installed() -> None:
    """The wheel that was built from the source distribution works in a clean environment."""
    (wheel,) = DIST.glob("*.whl")
    environment = DIST.parent / "environment"
    venv.create(environment, clear=True, with_pip=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, folder=DIST)
    run(python, "-I", "-c", PROBE, folder=DIST)


def as_good_a_model(data: Path) -> None:
    """Training on the labelled pages gives the bundled model, or one that is as good."""
    if not data.is_dir():
        raise MissingError(f"no labelled pages in {data}")
    trained = DIST.parent / "default.model"
    training = (sys.executable, "-m", "research.training", data, "--out", trained)
    run(*training, variables=ONE_THREAD)
    if trained.read_bytes() == MODEL.read_bytes():
        return
    bundled, new = Extractor(), Extractor(model=trained)
    for name in UNSEEN:
        pages = load(f"jsonl:{data / name}.jsonl.xz").pages
        f1, f1_of_new = mean_f1(bundled, pages), mean_f1(new, pages)
        print(f"        {name}: F1 {f1:.4f}, trained again {f1_of_new:.4f}", flush=True)
        if abs(f1 - f1_of_new) > MOST_BETWEEN:
            raise MissingError(f"{trained} is no such model as {MODEL.relative_to(ROOT)}")


def mean_f1(extractor: Extractor, pages: Sequence[LabelledPage]) -> float:
    """The mean word F1 of the texts of *pages*."""
    return fmean(
        bag(words(extractor.extract(page.html, page.url or "").text), words(page.golds[0])).f1
        for page in pages
    )


def main() -> int:
    """Try all steps; the exit code is 1 if one fails."""
    parser = argparse.ArgumentParser(description="Walk through what a release needs.")
    parser.add_argument("--data", type=Path, help="a folder of labelled pages, for the model")
    data: Path | None = parser.parse_args().data
    steps: dict[str, Callable[[], object]] = {
        "everything is committed": committed,
        "version, changelog and citation agree": version,
        "address of the project": description,
        "lint": make("lint"),
        "workflows": make("lint-workflows"),
        "docs without a warning": make("docs"),
        "links and commands of the docs": tests("tests/test_docs.py"),
        "commands of README and getting started, pasted": tests("tests/test_guides.py"),
        "source distribution and wheel": make("dist"),
        "wheel in a clean environment": installed,
    }
    if data is not None:
        steps["the bundled model, trained again"] = lambda: as_good_a_model(data)
    n_failed = 0
    for name, step in steps.items():
        since = monotonic()
        try:
            step()
            print(f"ok      {name} ({monotonic() - since:.0f} s)", flush=True)
        except MissingError as missing:
            n_failed += 1
            print(f"FAILED  {name}\n{missing}", flush=True)
    print(f"{len(steps) - n_failed} of {len(steps)} steps are done")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
