"""Saves a rule in the folder of rules, with the pages from which it was made as its tests.

    rules/example.com.yaml             the rule, its test pages among its lines
    rules/example.com.snapshot.json    what it makes of them: scrapy mss check --snapshot

The text is first validated with the loader of a crawl, and written completely or not at all. An
existing file is replaced only if its current content has been shown to the user. A rule that a
crawl loads from another file of the folder is replaced in that file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import path_inside, read_regular
from scrapy_mss.models.files import write_atomically
from scrapy_mss.wrappers import Registry, SamplePage, Wrapper, WrapperError, load_wrappers
from scrapy_mss.wrappers.errors import rejected
from scrapy_mss.wrappers.labeller import Labelling
from scrapy_mss.wrappers.reading import Outcome, checked, read_by, snapshot
from scrapy_mss.wrappers.schema import documents, yaml_of

LONGEST: Final = 100_000  # characters; a rule takes hundreds
MOST_TESTS: Final = 5  # pages that a saved rule names
PHRASE: Final = 60  # characters of a test page's text that its check looks for
SUFFIX, SNAPSHOT = ".yaml", ".snapshot.json"
_PLACE_IN_FILE: Final = re.compile(r"(: document [0-9]+)?: [$][^:]*\Z")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9._-]+")


class SaveError(ValueError):
    """The rule was not saved; the message says why and what to do."""


class ExistsError(SaveError):
    """There is a rule already; *text* is what is in the file."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(f"{path} holds another rule: replace it, or give yours a name")
        self.path, self.text = path, text


@dataclass(frozen=True, slots=True)
class Saved:
    """A rule that was written to *path*; *told* says what a crawl makes of it."""

    path: Path
    text: str
    told: str


@dataclass(frozen=True, slots=True)
class CheckPages:
    """The *pages* that rules are tested by, and the *extractor* that reads them."""

    pages: Sequence[StoredPage]
    extractor: Extractor

    def labelled(self, rule: Wrapper, page: StoredPage) -> Labelling:
        """What a crawl makes of one of the pages by *rule*."""
        read = Page.of(page.html, self.extractor.profile.stem, page.url)
        return read_by(rule, read, self.extractor)


def read_rule(text: str) -> Wrapper:
    """The one rule in the edited *text*; a `WrapperError` says what is wrong, and on which line."""
    if len(text) > LONGEST:
        raise rejected(f"at most {LONGEST:,} characters", "more")
    found = documents(text.encode("utf-8", "replace"))
    if len(found) != 1:
        raise rejected("one rule", f"{len(found)} documents of YAML")
    rules = found[0].wrappers(file="")
    if len(rules) != 1:
        raise rejected("one rule", f"{len(rules)} of them")
    return rules[0]


def rule_path(folder: Path, rule: Wrapper) -> Path:
    """Where *rule* is saved: a file of its host, and of its name if it has one."""
    name = f"{rule.host}.{rule.name}" if rule.name else rule.host
    plain = _NOT_IN_NAMES.sub("-", name.lower()).strip(".-")
    return folder / f"{plain}{SUFFIX}"


def digest(text: str) -> str:
    """What stands for a *text* that was seen."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def existing(path: Path) -> str:
    """What is in a rule's file; empty if there is none."""
    try:
        return read_regular(path, LONGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def with_tests(rule: Wrapper, pages: CheckPages) -> Wrapper:
    """*rule* with those of the *pages* that it reads in full as tests, after those that it has."""
    known = {each.url for each in rule.tests}
    tests = list(rule.tests)
    for page in pages.pages:
        if len(tests) >= MOST_TESTS:
            break
        found = None if page.url in known else pages.labelled(rule, page)
        if found and _is_whole(found):
            tests.append(SamplePage(page.url, _phrases(found.text)))
    return replace(rule, tests=tuple(tests))


def _is_whole(found: Labelling) -> bool:
    """Whether the body and each field were found."""
    return bool(found.text) and not {*found.missed} - {"exclude"}


def _phrases(text: str) -> tuple[str, ...]:
    """The start of the longest line: what a later reading of the page has to contain."""
    longest = max(text.splitlines(), key=len)
    phrase = longest[:PHRASE].rsplit(" ", 1)[0] if len(longest) > PHRASE else longest
    return (phrase,) if phrase.isprintable() else ()


def save(rule: Wrapper, tests: CheckPages, folder: Path, seen: str = "") -> Saved:
    """Write *rule*, tested by the pages of *tests*, into *folder*.

    *seen* is the `digest` of what is replaced. An `ExistsError` if anything else is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = _place(folder, rule, tests.pages)
    snapshot_path = path.with_name(f"{path.stem}{SNAPSHOT}")
    for each in (path, snapshot_path):
        if path_inside(each, folder) is None:
            raise SaveError(f"{each} leads out of the folder of rules: remove the link")
    if not any(_is_whole(tests.labelled(rule, page)) for page in tests.pages):
        raise SaveError("no page is read in full: the body or a field finds nothing")
    tested = with_tests(rule, tests)
    text = yaml_of(tested)
    loaded = _read_back(tested, text, path.name)
    unused = next((test.url for test in tested.tests if loaded.find(test.url) is None), None)
    if unused:
        raise SaveError(
            f"a crawl would not use this rule for {unused}: mend 'site', 'url' or 'valid'"
        )
    before = existing(path)
    if before not in ("", text) and digest(before) != seen:
        raise ExistsError(path, before)
    by_url = {page.url: page for page in tests.pages}
    outcomes = [
        outcome
        for test in tested.tests
        if test.url in by_url
        for outcome in checked(loaded, test.url, by_url[test.url].html, tests.extractor)
    ]
    bad = next((each for each in outcomes if not each.good), None)
    if bad:
        raise SaveError(f"the saved rule would not pass its own check: {bad.url}: {_why(bad)}")
    write_atomically(path, text.encode("utf-8"))
    write_atomically(snapshot_path, snapshot(outcomes))
    return Saved(path, text, _told(tested, folder, len(outcomes)))


def _place(folder: Path, rule: Wrapper, pages: Sequence[StoredPage]) -> Path:
    """The file with the rule of this name that a crawl uses, else one of the host and the name.

    In a second file the rule would be no mend: a crawl goes on to use the first.
    """
    path = rule_path(folder, rule)
    try:
        rules = load_wrappers(folder) if has_rules(folder) else Registry(())
    except WrapperError:
        return path  # what is wrong is told when it is saved
    used = (rules.find(page.url) for page in pages)
    path = next((file_of(each) for each in used if each and each.id == rule.id), path)
    if sum(file_of(each) == path for each in rules.wrappers) > 1:
        raise SaveError(f"{path} holds several rules: change this one there, or give yours a name")
    return path


def file_of(rule: Wrapper) -> Path:
    """The file that *rule* was loaded from."""
    return Path(_PLACE_IN_FILE.sub("", rule.origin))


def _why(outcome: Outcome) -> str:
    missing = outcome.missing or outcome.missed
    return f"missing {', '.join(missing)}" if missing else outcome.status


def _read_back(rule: Wrapper, text: str, name: str) -> Registry:
    """What the loader of a crawl makes of *text*; a `SaveError` if it is not *rule*."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, "utf-8")
        try:
            loaded = load_wrappers(path)
        except WrapperError as error:
            raise SaveError(f"the rule cannot be loaded: {error.problems[0]}") from error
    if loaded.wrappers != (rule,):
        raise SaveError("the rule reads back as another one: please report this as a fault")
    return loaded


def _told(rule: Wrapper, folder: Path, n_tests: int) -> str:
    """What a crawl with the rules in *folder* makes of the pages of *rule*."""
    passed = f"loaded again, passes its check on {n_tests} pages"
    try:
        used = load_wrappers(folder)
    except WrapperError as error:
        return f"{passed}; but another file of the folder is wrong: {error.problems[0]}"
    found = {used.find(test.url) for test in rule.tests}
    others = ", ".join(sorted(str(file_of(each)) for each in found if each not in (rule, None)))
    return f"{passed}; but a crawl would use that in {others}" if others else passed


def saved_rule(folder: Path, url: str) -> tuple[Path, str] | None:
    """The file of *folder* whose rule a crawl uses for the page at *url*, and what is in it.

    None if there is none, or another file is wrong so that nothing can be loaded.
    """
    try:
        found = load_wrappers(folder).find(url) if has_rules(folder) else None
    except WrapperError:
        return None
    if found is None:
        return None
    path = file_of(found)
    return path, existing(path)


def has_rules(folder: Path) -> bool:
    """Whether there is a file of rules in *folder*: the loader takes none for a mistake."""
    return folder.is_dir() and any(folder.rglob(f"*{SUFFIX}"))
