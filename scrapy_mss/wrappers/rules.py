"""A wrapper: a rule for the pages of a site, as a frozen value that is valid once it is made.

    site, url, valid            which pages it is for
    body or around, exclude     which part of them is the article, or where it is
    title, authors, published   the fields that it fills
    next_page                   the link to the next page of an article
    priority                    which of two matching wrappers is used
    train_only, drop_misses     what crawls make of its labels, and of pages that it misses

Each value validates itself (`__post_init__`) and raises a `WrapperError` with all its problems.
Selectors in a tuple are alternatives, tried in order; those of ``exclude`` all apply.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import regex

from scrapy_mss.files.untrusted import printable
from scrapy_mss.wrappers.errors import Problem, gathered, has_text, rejected, shown
from scrapy_mss.wrappers.selectors import Coverage, Selector

logger = logging.getLogger(__name__)

WILDCARD: Final = "*."
CACHED: Final = 1024  # compiled regular expressions of URLs: those of some hundred sites
# Seconds of CPU time: a thousand times what a search takes, and less than reading a page does. A
# search is done on the crawl's event loop, and the site chooses the address.
SEARCH_TIMEOUT: Final = 0.01
MAX_TIMEOUTS: Final = 3  # of a pattern, in a process: a site may have any number of such addresses
# Of a regular expression. The package that has a timeout compiles nested groups in time that is
# exponential in their depth: this takes at most a tenth of a second.
MAX_REGEX: Final = 500  # characters
MAX_GROUPS: Final = 6


class UrlParts(NamedTuple):
    """The parts of a URL that wrappers match; the host is without ``www.``."""

    host: str
    path: str
    query: str

    @classmethod
    def of(cls, url: str) -> UrlParts | None:
        """The parts of *url*; None if it has no host."""
        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").rstrip(".")
        except ValueError:  # an unclosed bracket, and the like
            return None
        return cls(without_www(host), parts.path or "/", parts.query) if host else None


def without_www(host: str) -> str:
    """*host* in the form in which hosts are compared."""
    return host.removeprefix("www.")


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """A ``glob`` for the whole path, where ``*`` is any run of characters, or a ``regex``.

    A glob that contains ``?`` and every regex see the query too. A regex may match anywhere; where
    its search takes longer than `SEARCH_TIMEOUT`, it does not match, and after `MAX_TIMEOUTS` of
    these it matches nothing more.
    """

    kind: str
    text: str

    def __post_init__(self) -> None:
        if self.kind not in ("glob", "regex"):
            raise rejected("glob or regex", shown(self.kind))
        if not has_text(self.text):
            raise rejected("a pattern", shown(self.text))
        if self.kind == "glob" and self.text[0] not in "/*":
            raise rejected("a path pattern that begins with / or *", shown(self.text))
        if self.kind == "regex":
            _check_regex(self.text)

    def matches(self, parts: UrlParts) -> bool:
        target = parts.path
        if parts.query and (self.kind == "regex" or "?" in self.text):
            target += f"?{parts.query}"
        if self.kind == "regex":
            return _regex_matches(self.text, target)
        return _glob_matches(self.text, target)

    @property
    def specificity(self) -> int:
        """Twice the number of literal characters, and one more if there is nothing else."""
        if self.kind == "regex":
            return 2 * len(_NOT_LITERAL.sub("", self.text))
        return 2 * len(self.text.replace("*", "")) + ("*" not in self.text)


# The parts of a regular expression that are no literal characters: classes, sets, counts, syntax.
_NOT_LITERAL = re.compile(r"\\[A-Za-z0-9]|\[[^]]*\]|\{[\d,]*\}|\(\?[:=!<a-zA-Z]*|[\\^$.|?*+()]")


_regex = lru_cache(CACHED)(regex.compile)
_timeouts: Counter[str] = Counter()  # by pattern


def _check_regex(pattern: str) -> None:
    if len(pattern) > MAX_REGEX or pattern.count("(") > MAX_GROUPS:
        most = f"at most {MAX_REGEX} characters and {MAX_GROUPS} groups"
        raise rejected(f"a regular expression of {most}, or several of them", shown(pattern))
    try:
        re.compile(pattern)  # the syntax that is documented, without that of the other package
        _regex(pattern)
    except (re.error, regex.error, RecursionError, OverflowError) as error:
        raise rejected("a regular expression", f"{pattern!r}: {error}") from error


def _regex_matches(pattern: str, target: str) -> bool:
    if _timeouts[pattern] >= MAX_TIMEOUTS:
        return False
    try:
        return _regex(pattern).search(target, timeout=SEARCH_TIMEOUT) is not None
    except TimeoutError:
        _note_timeout(pattern)
        return False


def _note_timeout(pattern: str) -> None:
    """Count it, and log the first one of each pattern."""
    _timeouts[pattern] += 1
    if _timeouts[pattern] > 1:
        return
    logger.warning(
        "The URL pattern {regex: %r} takes too long on some addresses, which it then does not "
        "match; after %d of them it matches no address any more. Rewrite it without nested "
        "repetitions, or as a glob.",
        pattern,
        MAX_TIMEOUTS,
    )


def _glob_matches(pattern: str, target: str) -> bool:
    """Whether *pattern* matches all of *target*, in one pass however many stars it has."""
    first, *rest = pattern.split("*")
    if not rest:
        return target == first
    *middle, last = rest
    at, until = len(first), len(target) - len(last)
    if at > until or not (target.startswith(first) and target.endswith(last)):
        return False
    for part in middle:
        found = target.find(part, at, until)
        if found < 0:
            return False
        at = found + len(part)
    return True


@dataclass(frozen=True, slots=True)
class Between:
    """A body from the first element of *start* up to the next element of *end*, without it."""

    start: Selector
    end: Selector


Body: TypeAlias = Selector | Between


@dataclass(frozen=True, slots=True)
class SamplePage:
    """A page that the wrapper was written for, and strings that its text should contain."""

    url: str
    contains: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # With a list it would have no hash, and the wrapper no way to a worker.
        if type(self.contains) is not tuple:
            raise rejected("a tuple of strings, such as ('a phrase',)", shown(self.contains))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """How to find the article on the pages of a site.

    ``site`` is a host, with or without ``www.``, or ``*.`` and a host for all its subdomains.
    ``body`` is the article; ``around`` says where it is, and leaves to the model what in there is
    text. A wrapper has one of both. ``valid_from`` and ``valid_until`` are the first and the last
    day on which such pages were served. ``origin`` is where the wrapper was defined, for messages;
    it is not compared.
    """

    site: str  # the fields in the order in which a file has them
    name: str = ""
    url: tuple[UrlPattern, ...] = ()
    body: tuple[Body, ...] = ()
    around: tuple[Body, ...] = ()
    exclude: tuple[Selector, ...] = ()
    title: tuple[Selector, ...] = ()
    authors: tuple[Selector, ...] = ()
    published: tuple[Selector, ...] = ()
    next_page: tuple[Selector, ...] = ()
    valid_from: date | None = None
    valid_until: date | None = None
    priority: int = 0
    train_only: bool = False
    drop_misses: bool = False
    tests: tuple[SamplePage, ...] = ()
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        _check_types(self)
        with gathered() as problems:
            with problems.at(".site"):
                check_site(self.site)
            with problems.at(".valid"):
                check_days(self.valid_from, self.valid_until)
            problems.found += _misplaced(self)
            for role in ROLES:
                for n, selector in enumerate(getattr(self, role)):
                    with problems.at(f".{role}[{n}]"):
                        check_selector(role, selector)

    @property
    def id(self) -> str:
        """The wrapper in items and statistics: its site, and its name if it has one."""
        return f"{self.site}/{self.name}" if self.name else self.site

    @property
    def place(self) -> tuple[Body, ...]:
        """The selectors of ``body`` or ``around``, whichever it has."""
        return self.body or self.around

    @property
    def place_role(self) -> str:
        """The key of ``place``."""
        return "body" if self.body else "around"

    @property
    def host(self) -> str:
        """The host of ``site``: lower case, in ASCII, without ``*.`` and ``www.``."""
        return _host_of(self.site)

    @property
    def is_wildcard(self) -> bool:
        """Whether it is for the subdomains of ``host`` and not for the host itself."""
        return self.site.startswith(WILDCARD)

    def valid_on(self, day: date) -> bool:
        """Whether the pages that were served on *day* are of this kind."""
        first, last = self.valid_from, self.valid_until
        return (first is None or first <= day) and (last is None or day <= last)

    def specificity(self, parts: UrlParts) -> int | None:
        """That of the most specific pattern that matches; None if there are patterns and none does.

        The host is not compared: the caller has found the wrapper by it.
        """
        if not self.url:
            return 0
        matching = [pattern.specificity for pattern in self.url if pattern.matches(parts)]
        return max(matching, default=None)

    def __str__(self) -> str:
        place = f" ({self.origin})" if self.origin else ""
        return printable(f"wrapper {self.id}{place}")


def _misplaced(wrapper: Wrapper) -> Iterator[Problem]:
    if wrapper.body and wrapper.around:
        expected = "'body', which is the text, or 'around', which leaves that to the model"
        yield Problem(expected, "both", ".around")
    if wrapper.train_only and wrapper.drop_misses:
        expected = "'train_only', which leaves items to the model, or 'drop_misses'"
        yield Problem(expected, "both", ".drop_misses")
    if not wrapper.place:
        yield Problem("at least one selector", "none", ".body")


_TYPES: Final = get_type_hints(Wrapper)
_EXAMPLES: Final[dict[object, str]] = {
    Body: "(css('article'),)",
    Selector: "(css('h1'),)",
    UrlPattern: "(UrlPattern('glob', '/news/*'),)",
    SamplePage: "(SamplePage('https://example.com/news/1'),)",
}


def _check_types(wrapper: Wrapper) -> None:
    """Compare the fields with their annotations, for those who run no type checker."""
    with gathered() as problems:
        for name, hint in _TYPES.items():
            value = getattr(wrapper, name)
            expected = _mismatch(value, hint)
            if expected:
                problems.found.append(Problem(expected, shown(value), f".{name}"))


def _mismatch(value: object, hint: object) -> str:
    """What *hint* expects, or "" if *value* is that; by exact type, since a bool is no priority."""
    if get_origin(hint) is not tuple:
        allowed = get_args(hint) or (hint,)
        names = " or ".join(each.__name__ for each in allowed if each is not type(None))
        return "" if type(value) in allowed else names
    item = get_args(hint)[0]
    items = value if isinstance(value, tuple) else (None,)
    expected = next(filter(None, (_mismatch(each, item) for each in items)), "")
    return expected and f"a tuple of {expected}, such as {_EXAMPLES[item]}"


_HOST = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)*", re.ASCII)


def _host_of(site: str) -> str:
    bare = site.lower().removeprefix(WILDCARD)
    return without_www(bare if bare.isascii() else bare.encode("idna").decode("ascii"))


def check_site(site: str) -> None:
    """Raise a `WrapperError` if *site* is no host."""
    try:
        is_host = _HOST.fullmatch(_host_of(site)) is not None
    except UnicodeError:
        is_host = False
    if not is_host:
        raise rejected("a host, such as example.com or *.example.com", shown(site))


def check_days(first: date | None, last: date | None) -> None:
    """Raise a `WrapperError` if the days are in reverse."""
    if first and last and first > last:
        raise rejected("a first day that is not after the last", f"{first} and {last}")


class SelectorRole(NamedTuple):
    """What the selectors of a field may select."""

    elements_only: bool
    coverage: tuple[Coverage, ...] = (Coverage.SOME,)


# A site's print pages may be nothing but the article.
_PLACE: Final = SelectorRole(elements_only=True, coverage=(Coverage.SOME, Coverage.BODY))
ROLES: Final = {
    "body": _PLACE,
    "around": _PLACE,
    "exclude": SelectorRole(elements_only=True),
    **dict.fromkeys(
        ("title", "authors", "published", "next_page"), SelectorRole(elements_only=False)
    ),
}


def check_selector(role: str, selector: Body) -> None:
    """Raise a `WrapperError` if *selector* does not serve in the field *role*."""
    with gathered() as problems:
        if isinstance(selector, Between):
            for end in ("start", "end"):
                with problems.at(f".{end}"):
                    check_selector(role, getattr(selector, end))
        else:
            problems.found += _misuses(ROLES[role], selector)


def _misuses(role: SelectorRole, selector: Selector) -> Iterator[Problem]:
    if selector.coverage not in role.coverage:
        got = f"{selector.text!r}, which selects everything"
        yield Problem("a selector that leaves something out", got)
    if role.elements_only and selector.selects_text:
        yield Problem("a selector of elements", f"{selector.text!r}, which selects text")
