"""Saves a rule in the folder of rules, with the pages from which it was made as its tests.

The text is first validated with the loader of a crawl, and written completely or not at all. An
existing file is replaced only if its current content has been shown to the user. A rule that a
crawl loads from another file of the folder is replaced in that file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import path_inside, read_regular
from scrapy_mss.models.files import write_atomically
from scrapy_mss.wrappers import Registry, SamplePage, Wrapper, WrapperError, load_wrappers
from scrapy_mss.wrappers.errors import rejected
from scrapy_mss.wrappers.labeller import Labelling
from scrapy_mss.wrappers.reading import checked, read_by
from scrapy_mss.wrappers.registry import SUFFIXES
from scrapy_mss.wrappers.schema import difference, documents, file_of, replaced, yaml_of

LONGEST: Final = 100_000  # characters; a rule takes hundreds
MAX_TESTS: Final = 5  # pages that a saved rule names
PHRASE: Final = 60  # characters of a test page's text that its check looks for
SUFFIX: Final = ".yaml"
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9._-]+")


class SaveError(ValueError):
    """The rule was not saved; the message says why and what to do."""


class ExistsError(SaveError):
    """There is a rule already; *text* is the content of its file, *diff* what would change."""

    def __init__(self, path: Path, text: str, content: str) -> None:
        super().__init__(f"{path} holds another rule: replace it, or give yours a name")
        self.path, self.text = path, text
        self.diff = difference(text, content)[2:]  # without names of files


@dataclass(frozen=True, slots=True)
class Saved:
    """A rule that was written to *path*; *message* says whether a crawl will use it."""

    path: Path
    text: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckPages:
    """The *pages* that rules are tested by, and the *extractor* that reads them."""

    pages: Sequence[StoredPage]
    extractor: Extractor

    def labelled(self, rule: Wrapper, page: StoredPage) -> Labelling:
        read = Page.of(page.html, self.extractor.profile.stem, page.url)
        return read_by(rule, read, self.extractor)


def read_rule(text: str) -> Wrapper:
    """The one rule in *text*; a `WrapperError` says what is wrong, and on which line."""
    if len(text) > LONGEST:
        raise rejected(f"at most {LONGEST:,} characters", "more")
    found = documents(text.encode("utf-8", "replace"))
    if len(found) != 1:
        raise rejected("one rule", f"{len(found)} documents of YAML")
    rules = found[0].wrappers(file="")
    if len(rules) != 1:
        raise rejected("one rule", f"{len(rules)} of them")
    return rules[0]


def rules_in(folder: Path) -> Registry:
    """The rules that a crawl loads from *folder*; none if it is empty, or does not exist yet."""
    has_rules = folder.is_dir() and any(
        each.suffix.lower() in SUFFIXES and each.is_file() for each in folder.rglob("*")
    )
    return load_wrappers(folder) if has_rules else Registry()


def saved_rule(folder: Path, url: str) -> tuple[Path, str] | None:
    """The file of *folder* whose rule a crawl uses for the page at *url*, and the rule there.

    None if there is none, or nothing can be loaded because a file is invalid.
    """
    found = used_rule(folder, url)
    if found is None:
        return None
    path = file_of(found)
    return path, _content(path) if len(load_wrappers(path)) == 1 else yaml_of(found)


def used_rule(folder: Path, url: str) -> Wrapper | None:
    """The rule of *folder* that a crawl uses for the page at *url*, as in `saved_rule`."""
    try:
        return rules_in(folder).find(url)
    except WrapperError:
        return None


def rule_path(folder: Path, rule: Wrapper) -> Path:
    """Where *rule* is saved: a file of its host, and of its name if it has one."""
    name = f"{rule.host}.{rule.name}" if rule.name else rule.host
    plain = _NOT_IN_NAMES.sub("-", name.lower()).strip(".-")
    return folder / f"{plain}{SUFFIX}"


def digest(text: str) -> str:
    """A digest of the *text* of a file, by which a request says that the user has seen it."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def save(rule: Wrapper, tests: CheckPages, folder: Path, seen: str = "") -> Saved:
    """Write *rule*, tested by the pages of *tests*, into *folder*.

    *seen* is the `digest` of what is replaced. An `ExistsError` if anything else is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, old = _place(folder, rule, tests.pages)
    if path_inside(path, folder) is None:
        raise SaveError(f"{path} leads out of the folder of rules: remove the link")
    tested = _with_tests(rule, tests)
    text = yaml_of(tested)
    _check_loaded(tested, text)
    before = _content(path)
    content = text if old is None else replaced(before, old, tested)
    if before not in ("", content) and digest(before) != seen:
        raise ExistsError(path, before, content)
    n_tests = _check_tests(tested, tests)
    write_atomically(path, content.encode("utf-8"))
    return Saved(path, text, _message(tested, folder, n_tests))


def _place(folder: Path, rule: Wrapper, pages: Sequence[StoredPage]) -> tuple[Path, Wrapper | None]:
    """The file with the rule of this name that a crawl uses, and that; else one of the host.

    A second file would have no effect: a crawl goes on to use the first.
    """
    try:
        rules = rules_in(folder)
    except WrapperError:  # the message of the saved rule says what is wrong
        return rule_path(folder, rule), None
    used = (rules.find(page.url) for page in pages)
    old = next((each for each in used if each and each.id == rule.id), None)
    path = file_of(old) if old else rule_path(folder, rule)
    if old is None and sum(file_of(each) == path for each in rules) > 1:
        raise SaveError(f"{path} holds several rules, none of this name: give yours another")
    return path, old


def _content(path: Path) -> str:
    """The content of a rule's file; empty if there is none."""
    try:
        return read_regular(path, LONGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _with_tests(rule: Wrapper, pages: CheckPages) -> Wrapper:
    """*rule* with those of the *pages* that it reads in full as tests, after those that it has."""
    labelled = ((page.url, pages.labelled(rule, page)) for page in pages.pages)
    complete = (row for row in labelled if row[1].text and not {*row[1].missed} - {"exclude"})
    found = list(islice(complete, MAX_TESTS))
    if not found:
        raise SaveError("no page is read in full: the body or a field finds nothing")
    tests = {each.url: each for each in rule.tests}
    for url, labels in found:
        if len(tests) < MAX_TESTS:
            tests.setdefault(url, SamplePage(url, _phrases(labels.text)))
    return replace(rule, tests=tuple(tests.values()))


def _phrases(text: str) -> tuple[str, ...]:
    """The start of the longest line: what a later reading of the page has to contain."""
    longest = max(text.splitlines(), key=len)
    phrase = longest[:PHRASE].rsplit(" ", 1)[0] if len(longest) > PHRASE else longest
    return (phrase,) if phrase.isprintable() else ()


def _check_loaded(rule: Wrapper, text: str) -> None:
    """Raise a `SaveError` unless *text* is read as *rule*, which then is used for its tests."""
    try:
        loaded = read_rule(text)
    except WrapperError as error:
        raise SaveError(f"the rule cannot be loaded: {error.problems[0]}") from error
    if loaded != rule:
        raise SaveError("the rule reads back as another one: please report this as a bug")
    registry = Registry([loaded])
    unused = next((test.url for test in rule.tests if registry.find(test.url) is None), None)
    if unused:
        raise SaveError(f"a crawl would not use this rule for {unused}: fix 'site' or 'url'")


def _check_tests(rule: Wrapper, pages: CheckPages) -> int:
    """The number of tests of *rule* that were run; a `SaveError` if one fails."""
    by_url = {page.url: page.html for page in pages.pages}
    outcomes = [
        outcome
        for test in rule.tests
        if test.url in by_url
        for outcome in checked([rule], test.url, by_url[test.url], pages.extractor)
    ]
    failed = next((each for each in outcomes if not each.good), None)
    if failed:
        missing = failed.missing or failed.missed
        why = f"missing {', '.join(missing)}" if missing else failed.status
        raise SaveError(f"the saved rule would not pass its own check: {failed.url}: {why}")
    return len(outcomes)


def _message(rule: Wrapper, folder: Path, n_tests: int) -> str:
    """Whether a crawl with the rules in *folder* uses *rule* for its pages."""
    passed = f"loaded again, passes its check on {n_tests} pages"
    try:
        used = load_wrappers(folder)
    except WrapperError as error:
        return f"{passed}; but another file of the folder is wrong: {error.problems[0]}"
    found = {used.find(test.url) for test in rule.tests}
    others = ", ".join(sorted(str(file_of(each)) for each in found if each not in (rule, None)))
    return f"{passed}; but a crawl would use the rule in {others}" if others else passed
