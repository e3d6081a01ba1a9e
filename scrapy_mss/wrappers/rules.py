"""A wrapper: what is known of a site's pages, as a frozen value that is sound once it is made.

    site, url, valid            for which pages
    body, exclude               what of them is the article
    title, authors, published   what else the rule tells
    priority                    which of two rules counts

Each value checks itself (`__post_init__`) and raises a `WrapperError` with all that is wrong.
Selectors in a tuple are alternatives, tried in their order; those of ``exclude`` count together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from scrapy_mss.wrappers.errors import Fault, WrapperError, is_text, refuse, shown
from scrapy_mss.wrappers.selectors import Reach, Selector

WILDCARD = "*."
CACHED = 1024  # compiled regular expressions of URLs


class Address(NamedTuple):
    """What of a URL rules look at; the host is without ``www.``."""

    host: str
    path: str
    query: str

    @classmethod
    def of(cls, url: str) -> Address | None:
        """The address of *url*; None if it has no host."""
        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").rstrip(".")
        except ValueError:  # an unclosed bracket, and the like
            return None
        return cls(without_www(host), parts.path or "/", parts.query) if host else None


def without_www(host: str) -> str:
    """*host* as sites are compared."""
    return host.removeprefix("www.")


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """A ``glob`` over the whole path, where ``*`` is any run of characters, or a ``regex``.

    A glob with a ``?`` and every regex see the query too. A regex is searched for.
    """

    kind: str
    text: str

    def __post_init__(self) -> None:
        if self.kind not in ("glob", "regex"):
            raise refuse("glob or regex", shown(self.kind))
        if not is_text(self.text):
            raise refuse("a pattern", shown(self.text))
        if self.kind == "glob" and self.text[0] not in "/*":
            raise refuse("a pattern of paths that begins with / or *", shown(self.text))
        if self.kind == "regex":
            try:
                _regex(self.text)
            except (re.error, RecursionError, OverflowError) as error:
                raise refuse("a regular expression", f"{self.text!r}: {error}") from error

    def matches(self, address: Address) -> bool:
        target = address.path
        if address.query and (self.kind == "regex" or "?" in self.text):
            target += f"?{address.query}"
        if self.kind == "regex":
            return _regex(self.text).search(target) is not None
        return _glob_matches(self.text, target)

    @property
    def specificity(self) -> int:
        """How many characters of an address the pattern fixes, twice; an odd one if all."""
        if self.kind == "regex":
            return 2 * len(_NOT_LITERAL.sub("", self.text))
        return 2 * len(self.text.replace("*", "")) + ("*" not in self.text)


# What of a regular expression is no character of the address: escapes of classes, sets, counts.
_NOT_LITERAL = re.compile(r"\\[A-Za-z0-9]|\[[^]]*\]|\{[\d,]*\}|\(\?[:=!<a-zA-Z]*|[\\^$.|?*+()]")


_regex = lru_cache(CACHED)(re.compile)


def _glob_matches(pattern: str, target: str) -> bool:
    """Whether *pattern* is all of *target*: one pass, however many stars it has."""
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
    """A body that begins with the first element of *start* and ends before *end*'s next one."""

    start: Selector
    end: Selector


Body: TypeAlias = Selector | Between


@dataclass(frozen=True, slots=True)
class Example:
    """A page that the rule was written for, and what its text should contain."""

    url: str
    contains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """How the article is found on the pages of a site.

    ``site`` is a host, with or without ``www.``, or ``*.`` and a host for all hosts below it.
    ``valid_from`` and ``valid_until`` are the first and the last day on which pages of this kind
    were served. ``origin`` says where the rule stands, for messages; it is no part of its value.
    """

    site: str
    body: tuple[Body, ...]
    name: str = ""
    url: tuple[UrlPattern, ...] = ()
    exclude: tuple[Selector, ...] = ()
    title: tuple[Selector, ...] = ()
    authors: tuple[Selector, ...] = ()
    published: tuple[Selector, ...] = ()
    valid_from: date | None = None
    valid_until: date | None = None
    priority: int = 0
    tests: tuple[Example, ...] = ()
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        faults = list(_type_faults(self))
        faults += [] if faults else [*_site_faults(self), *_selector_faults(self)]
        if faults:
            raise WrapperError(faults)

    @property
    def id(self) -> str:
        """What items and statistics call the rule: its site, and its name if it has one."""
        return f"{self.site}/{self.name}" if self.name else self.site

    @property
    def host(self) -> str:
        """The host that ``site`` names: lower case, in ASCII, without ``*.`` and ``www.``."""
        bare = self.site.lower().removeprefix(WILDCARD)
        return without_www(bare if bare.isascii() else bare.encode("idna").decode("ascii"))

    @property
    def is_wildcard(self) -> bool:
        """Whether the rule is for the hosts below ``host`` and not for itself."""
        return self.site.startswith(WILDCARD)

    def valid_on(self, day: date) -> bool:
        since, until = self.valid_from, self.valid_until
        return (since is None or since <= day) and (until is None or day <= until)

    def specificity(self, address: Address) -> int | None:
        """How much of a matching URL the rule fixes; None if it does not match.

        The host is not looked at: who asks has found the rule by it.
        """
        if not self.url:
            return 0
        matching = [each.specificity for each in self.url if each.matches(address)]
        return max(matching, default=None)

    def __str__(self) -> str:
        return f"wrapper {self.id} ({self.origin})" if self.origin else f"wrapper {self.id}"


class _Type(NamedTuple):
    """What a field holds: a tuple of *classes* if *several*, else one of them."""

    classes: tuple[type, ...]
    expected: str
    several: bool = False

    def fits(self, value: object) -> bool:
        if self.several:
            return isinstance(value, tuple) and all(self._is_one(item) for item in value)
        return self._is_one(value)

    def _is_one(self, value: object) -> bool:
        return type(value) in self.classes  # a truth value is no number, a moment no day


_SELECTORS = _Type((Selector,), "a tuple of selectors, such as (css('h1'),)", several=True)
_DAY = _Type((date, type(None)), "a date")
_TEXT = _Type((str,), "a text")
_FIELDS = {
    "site": _Type((str,), "a host, such as 'example.com'"),
    "body": _Type(
        (Selector, Between),
        "a tuple of selectors or Between, such as (css('article'),)",
        several=True,
    ),
    "name": _TEXT,
    "url": _Type((UrlPattern,), "a tuple of UrlPattern", several=True),
    "exclude": _SELECTORS,
    "title": _SELECTORS,
    "authors": _SELECTORS,
    "published": _SELECTORS,
    "valid_from": _DAY,
    "valid_until": _DAY,
    "priority": _Type((int,), "a whole number"),
    "tests": _Type((Example,), "a tuple of Example", several=True),
    "origin": _TEXT,
}


def _type_faults(wrapper: Wrapper) -> Iterator[Fault]:
    for name, kind in _FIELDS.items():
        value = getattr(wrapper, name)
        if not kind.fits(value):
            yield Fault(kind.expected, shown(value), f".{name}")


_HOST = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)*", re.ASCII)


def _site_faults(wrapper: Wrapper) -> Iterator[Fault]:
    expected = "a host, such as example.com or *.example.com"
    try:
        sound = _HOST.fullmatch(wrapper.host) is not None
    except UnicodeError:
        sound = False
    if not sound:
        yield Fault(expected, shown(wrapper.site), ".site")
    if wrapper.valid_from and wrapper.valid_until and wrapper.valid_from > wrapper.valid_until:
        got = f"{wrapper.valid_from} and {wrapper.valid_until}"
        yield Fault("a first day that is not after the last", got, ".valid")


def _selector_faults(wrapper: Wrapper) -> Iterator[Fault]:
    if not wrapper.body:
        yield Fault("at least one selector", "none", ".body")
    for name in ROLES:
        for n, item in enumerate(getattr(wrapper, name)):
            ends = {".start": item.start, ".end": item.end} if isinstance(item, Between) else {}
            for end, selector in (ends or {"": item}).items():
                for fault in role_faults(name, selector):
                    yield replace(fault, path=f".{name}[{n}]{end}")


class Role(NamedTuple):
    """What selectors of a field may select."""

    elements_only: bool
    reaches: tuple[Reach, ...] = (Reach.SOME,)


ROLES = {
    # A site's print pages may be nothing but the article.
    "body": Role(elements_only=True, reaches=(Reach.SOME, Reach.BODY)),
    "exclude": Role(elements_only=True),
    "title": Role(elements_only=False),
    "authors": Role(elements_only=False),
    "published": Role(elements_only=False),
}


def role_faults(name: str, selector: Selector) -> Iterator[Fault]:
    """What is wrong with *selector* in the field *name*."""
    role = ROLES[name]
    if selector.reach not in role.reaches:
        got = f"{selector.text!r}, which selects everything"
        yield Fault("a selector that leaves something out", got)
    if role.elements_only and selector.selects_text:
        yield Fault("a selector of elements", f"{selector.text!r}, which selects text")
