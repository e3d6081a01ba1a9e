"""A wrapper: a rule for the pages of a site, as a frozen value that is valid once it is made.

    site, url                   which pages it is for
    body or around, exclude     which part of them is the article, or where it is
    title, authors, published   the fields that it fills
    next_page                   the link to the next page of an article
    priority                    which of two matching wrappers is used
    train_only, drop_misses     what crawls make of its labels, and of pages that it misses

Each value validates itself (`__post_init__`) and raises a `WrapperError` with all its problems.
Selectors in a tuple are alternatives, tried in order; those of ``exclude`` all apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, get_args, get_origin, get_type_hints

from scrapy_mss.files.untrusted import printable
from scrapy_mss.pages.addresses import fits, split_url
from scrapy_mss.wrappers.errors import Problem, gathered, rejected, shown
from scrapy_mss.wrappers.selectors import Coverage, Selector

WILDCARD: Final = "*."


class UrlParts(NamedTuple):
    """The parts of a URL that wrappers match; the host is without ``www.``."""

    host: str
    path: str
    query: str

    @classmethod
    @lru_cache(2**5)  # pages under way: each is asked for three times
    def of(cls, url: str) -> UrlParts | None:
        parts = split_url(url)
        host = (parts.hostname or "").rstrip(".")
        return cls(without_www(host), parts.path or "/", parts.query) if host else None


def without_www(host: str) -> str:
    """*host* in the form in which hosts are compared."""
    return host.removeprefix("www.")


def check_url_pattern(pattern: str) -> None:
    """Raise a `WrapperError` if *pattern* matches no address."""
    if not pattern.startswith(("/", "*")):
        raise rejected("a path pattern that begins with / or *, as in /news/*", shown(pattern))


def url_matches(pattern: str, parts: UrlParts) -> bool:
    """Whether *pattern* matches all of the path, or of path and query if it contains ``?``."""
    has_query = parts.query and "?" in pattern
    return fits(pattern, f"{parts.path}?{parts.query}" if has_query else parts.path)


def _specificity(pattern: str) -> int:
    """Twice the number of literal characters, and one more if there is nothing else."""
    return 2 * len(pattern.replace("*", "")) + ("*" not in pattern)


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
    ``url`` are patterns for the whole path, where ``*`` is any run of characters; one that contains
    ``?`` is for the path and the query. ``body`` is the article; ``around`` says where it is, and
    leaves to the model what in there is text. A wrapper has one of both. ``origin`` is where the
    wrapper was defined, for messages; it is not compared.
    """

    site: str  # the fields in the order in which a file has them
    name: str = ""
    url: tuple[str, ...] = ()
    body: tuple[Selector, ...] = ()
    around: tuple[Selector, ...] = ()
    exclude: tuple[Selector, ...] = ()
    title: tuple[Selector, ...] = ()
    authors: tuple[Selector, ...] = ()
    published: tuple[Selector, ...] = ()
    next_page: tuple[Selector, ...] = ()
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
            for n, pattern in enumerate(self.url):
                with problems.at(f".url[{n}]"):
                    check_url_pattern(pattern)
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
    def place(self) -> tuple[Selector, ...]:
        """The selectors of ``body`` or ``around``, whichever it has."""
        return self.body or self.around

    @property
    def place_role(self) -> str:
        return "body" if self.body else "around"

    @property
    def host(self) -> str:
        """The host of ``site``: lower case, in ASCII, without ``*.`` and ``www.``."""
        return _host_of(self.site)

    def specificity(self, parts: UrlParts) -> int | None:
        """That of the most specific pattern that matches; None if there are patterns and none does.

        The host is not compared: the caller has found the wrapper by it.
        """
        if not self.url:
            return 0
        matching = (pattern for pattern in self.url if url_matches(pattern, parts))
        return max(map(_specificity, matching), default=None)

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
    Selector: "(css('h1'),)",
    str: "('/news/*',)",
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
        return "" if type(value) is hint else str(getattr(hint, "__name__", hint))
    item = get_args(hint)[0]
    if isinstance(value, tuple) and all(type(each) is item for each in value):
        return ""
    return f"a tuple of {item.__name__}, such as {_EXAMPLES[item]}"


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


def check_selector(role: str, selector: Selector) -> None:
    """Raise a `WrapperError` if *selector* does not serve in the field *role*."""
    with gathered() as problems:
        if selector.coverage not in ROLES[role].coverage:
            got = f"{selector.text!r}, which selects everything"
            problems.found.append(Problem("a selector that leaves something out", got))
        if ROLES[role].elements_only and selector.selects_text:
            got = f"{selector.text!r}, which selects text"
            problems.found.append(Problem("a selector of elements", got))
