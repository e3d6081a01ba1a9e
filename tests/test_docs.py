"""What README and docs claim to be printed is compared or marked; commands that they name exist."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from scrapy_mss.commands import ACTIONS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((*ROOT.glob("docs/*.md"), *ROOT.glob("research/**/*.md")))]

ALL_PAGES = [*sorted(ROOT.glob("*.md")), *PAGES[1:]]  # with those for contributors

# Tests that compare each `text` block of a page with what its command prints.
COMPARED = {"README.md": "test_guides.py", "docs/wrappers.md": "wrappers/test_guide.py"}
GENERATED = {"docs/commands.md"}  # `make lint` compares them with the code

FENCE = re.compile(r"^```(\w*).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`]+`", re.MULTILINE | re.DOTALL)
RESEARCH = re.compile(r"-m\s+(research[.a-z_]*)(?![.\w])")
SCRAPY = re.compile(r"scrapy\s+mss\s+([a-z]+)")
MAKE = re.compile(r"\bmake\s+([a-z][a-z-]*)")
TEST = re.compile(r"(?<![\w/])tests/[\w./-]*\w")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
TARGET = re.compile(r"^([a-z][a-z-]*):.*?##", re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def printed_numbers() -> dict[str, str]:
    """The paragraph before each block of output that has digits, by page and first line."""
    found = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            language, content = match.groups()
            is_compared = name_of(page) in COMPARED and language == "text"
            if language in ("console", "text") and re.search(r"\d", content) and not is_compared:
                paragraph = text[: match.start()].rstrip().rpartition("\n\n")[2]
                found[f"{name_of(page)}: {content.partition(chr(10))[0]}"] = paragraph
    return {key: text for key, text in found.items() if key.partition(":")[0] not in GENERATED}


def named(pattern: re.Pattern[str]) -> set[tuple[str, ...]]:
    """What *pattern* finds in the code of all pages."""
    codes = (code for page in PAGES for code in CODE.findall(page.read_text(encoding="utf-8")))
    return {match.groups(default="") for code in codes for match in pattern.finditer(code)}


@pytest.mark.parametrize("block", printed_numbers())
def test_printed_numbers_are_compared_or_called_an_example(block: str) -> None:
    assert "example" in printed_numbers()[block].lower()


@pytest.mark.parametrize(("page", "test"), COMPARED.items())
def test_a_page_whose_output_is_compared_has_a_test_that_reads_it(page: str, test: str) -> None:
    assert f'"{Path(page).name}"' in (ROOT / "tests" / test).read_text(encoding="utf-8")


def test_commands_of_research_exist() -> None:
    names = [name for (name,) in named(RESEARCH)]

    assert len(names) > 10
    assert [name for name in names if find_spec(name) is None] == []


def test_the_table_in_the_readme_is_the_measured_one() -> None:
    measured = (ROOT / "research" / "results" / "unseen.md").read_text(encoding="utf-8")
    assert measured.strip() in PAGES[0].read_text(encoding="utf-8")


def test_actions_of_the_command_exist() -> None:
    assert {name for (name,) in named(SCRAPY)} == set(ACTIONS)


def test_paths_of_tests_exist() -> None:
    named_paths = {
        (name_of(page), path)
        for page in ALL_PAGES
        for path in TEST.findall(page.read_text(encoding="utf-8"))
    }

    assert len(named_paths) > 10
    assert [each for each in sorted(named_paths) if not (ROOT / each[1]).exists()] == []


def anchors(page: Path) -> set[str]:
    """The names by which links lead to headings of *page*, as forges and Sphinx make them."""
    headings = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings}


def test_links_lead_to_files_and_headings() -> None:
    dead = []
    for page in ALL_PAGES:
        for path, anchor in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            target = page if not path else page.parent / path
            if not target.exists() or (anchor and anchor not in anchors(target)):
                dead.append((name_of(page), path, anchor))

    assert dead == []


def test_targets_of_make_exist() -> None:
    targets = TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    wanted = {name for (name,) in named(MAKE)}

    assert {"demo", "research"} <= wanted <= set(targets)
