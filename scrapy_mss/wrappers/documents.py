"""Plain values, as they come from YAML or a settings file -> wrappers, or all their faults.

    {site, wrappers: [{body, …}, …]}      a site of several kinds of pages
    {site, body, …}                       the same for a site of one kind

What a key may hold is a row of `_Reader.KEYS`. A reader goes through the whole document whatever it
finds on the way; every fault has the path of the value as it stands in the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

from scrapy_mss.wrappers.errors import Fault, WrapperError, shown
from scrapy_mss.wrappers.rules import Between, Body, Example, UrlPattern, Wrapper
from scrapy_mss.wrappers.selectors import KINDS, Selector

T = TypeVar("T")

SELECTOR: Final = f"a CSS selector, or a mapping with one of {', '.join(KINDS)}"


def read_document(document: object, file: str, path: str = "$") -> list[Wrapper]:
    """The wrappers of *document*, which stands in *file* at *path*."""
    reader = _Reader(file)
    wrappers = reader.document(document, path)
    if reader.faults:
        raise WrapperError(dict.fromkeys(reader.faults))  # wrappers of one site share its faults
    return wrappers


class _Reader:
    """Reads one document and gathers its faults."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []
        self._places: dict[str, str] = {}  # a place in the wrapper -> in the document

    def document(self, document: object, path: str) -> list[Wrapper]:
        values = self._mapping(document, path, "a mapping with 'site' and 'body' or 'wrappers'")
        if values is None:
            return []
        if "wrappers" not in values:
            return self._wrapper(values, path)
        self._known_keys(values, ("site", "wrappers"), path)
        rules = values["wrappers"]
        if not isinstance(rules, (list, tuple)) or not rules:
            self._fault(f"{path}.wrappers", "a list of wrappers", rules)
            return []
        site = {"site": values["site"]} if "site" in values else {}
        wrappers: list[Wrapper] = []
        for n, rule in enumerate(rules):
            rule_path = f"{path}.wrappers[{n}]"
            rule_values = self._mapping(rule, rule_path, "a mapping with 'body'")
            if rule_values is not None:
                above = path if "site" not in rule_values else rule_path
                wrappers += self._wrapper({**site, **rule_values}, rule_path, above)
        return wrappers

    def _wrapper(
        self, values: Mapping[str, object], path: str, site_path: str = ""
    ) -> list[Wrapper]:
        """The wrapper of *values* at *path*; its site may stand elsewhere, at *site_path*."""
        n_faults = len(self.faults)
        self._known_keys(values, self.KEYS, path)
        for name in ("site", "body"):
            if name not in values:
                self._fault(path, f"a {name!r}", None)
        fields: dict[str, Any] = {"origin": f"{self.file}: {path}"}
        self._places = {".site": f"{site_path or path}.site"}
        for name, value in values.items():
            if name in self.KEYS:
                place = self._places.get(f".{name}", f"{path}.{name}")
                fields.update(self.KEYS[name](self, name, place, value))
        if len(self.faults) > n_faults:
            return []
        wrapper = self._made(partial(Wrapper, **fields), path)
        return [wrapper] if wrapper else []

    def _text(self, name: str, path: str, value: object) -> dict[str, object]:
        if isinstance(value, str):
            return {name: value}
        return self._fault(path, "a text", value)

    def _number(self, name: str, path: str, value: object) -> dict[str, object]:
        if isinstance(value, int) and not isinstance(value, bool):
            return {name: value}
        return self._fault(path, "a whole number", value)

    def _days(self, _name: str, path: str, value: object) -> dict[str, object]:
        expected = "a mapping with 'from', 'until' or both, as in {from: 2024-01-31}"
        values = self._mapping(value, path, expected)
        if not values:
            return {} if values is None else self._fault(path, expected, value)
        self._known_keys(values, ("from", "until"), path)
        read = {key: self._day(f"{path}.{key}", day) for key, day in values.items()}
        return {"valid_from": read.get("from"), "valid_until": read.get("until")}

    def _day(self, path: str, value: object) -> date | None:
        if isinstance(value, date) and not isinstance(value, datetime):
            return value
        try:
            return date.fromisoformat(value if isinstance(value, str) else "")
        except ValueError:
            self._fault(path, "a day, as in 2024-01-31", value)
            return None

    def _patterns(self, name: str, path: str, value: object) -> dict[str, object]:
        return {name: self._each(path, value, self._pattern)}

    def _pattern(self, path: str, value: object) -> UrlPattern | None:
        if isinstance(value, str):
            return self._made(partial(UrlPattern, "glob", value), path)
        if isinstance(value, Mapping) and value.keys() == {"regex"}:
            return self._made(partial(UrlPattern, "regex", value["regex"]), f"{path}.regex")
        self._fault(path, "a pattern of paths, as in /news/*, or a mapping with 'regex'", value)
        return None

    def _selectors(self, name: str, path: str, value: object) -> dict[str, object]:
        return self._listed(name, path, value, self._selector)

    def _bodies(self, name: str, path: str, value: object) -> dict[str, object]:
        return self._listed(name, path, value, self._body)

    def _listed(
        self, name: str, path: str, value: object, read: Callable[[str, object], Body | None]
    ) -> dict[str, object]:
        """The selectors of a field, and where faults that the wrapper finds in them stand."""
        found = self._each(path, value, read)
        for n, (item_path, item) in enumerate(_items(path, value)):
            self._places[f".{name}[{n}]"] = item_path
            if isinstance(item, Mapping) and len(item) == 1:
                self._places[f".{name}[{n}]"] = f"{item_path}.{next(iter(item))}"
            for end in ("start", "end"):
                self._places[f".{name}[{n}].{end}"] = f"{item_path}.{end}"
        return {name: found}

    def _body(self, path: str, value: object) -> Body | None:
        if not isinstance(value, Mapping) or not value.keys() & {"start", "end"}:
            return self._selector(path, value)
        self._known_keys(value, ("start", "end"), path)
        start = self._selector(f"{path}.start", value.get("start"))
        end = self._selector(f"{path}.end", value.get("end"))
        return Between(start, end) if start and end else None

    def _selector(self, path: str, value: object) -> Selector | None:
        if isinstance(value, str):
            return self._made(partial(Selector, "css", value), path)
        if isinstance(value, Mapping) and len(value) == 1:
            ((kind, text),) = value.items()
            if kind in KINDS:
                return self._made(partial(Selector, kind, text), f"{path}.{kind}")
        self._fault(path, SELECTOR, value)
        return None

    def _examples(self, name: str, path: str, value: object) -> dict[str, object]:
        return {name: self._each(path, value, self._example)}

    def _example(self, path: str, value: object) -> Example | None:
        if isinstance(value, str):
            return Example(value)
        if not isinstance(value, Mapping) or not isinstance(value.get("url"), str):
            self._fault(path, "a URL, or a mapping with 'url' and 'contains'", value)
            return None
        self._known_keys(value, ("url", "contains"), path)
        contains = self._each(f"{path}.contains", value.get("contains", ()), self._words)
        return Example(value["url"], contains)

    def _words(self, path: str, value: object) -> str | None:
        if isinstance(value, str):
            return value
        self._fault(path, "a text", value)
        return None

    KEYS: ClassVar[Mapping[str, Callable[..., Mapping[str, object]]]] = {
        "site": _text,
        "name": _text,
        "url": _patterns,
        "body": _bodies,
        "exclude": _selectors,
        "title": _selectors,
        "authors": _selectors,
        "published": _selectors,
        "valid": _days,
        "priority": _number,
        "tests": _examples,
    }

    def _each(
        self, path: str, value: object, read: Callable[[str, object], T | None]
    ) -> tuple[T, ...]:
        """What *read* makes of *value*, or of each item if it is a list."""
        results = [read(item_path, item) for item_path, item in _items(path, value)]
        return tuple(result for result in results if result is not None)

    def _made(self, make: Callable[[], T], path: str) -> T | None:
        try:
            return make()
        except WrapperError as error:
            for fault in error.faults:
                place = self._places.get(fault.path, path + fault.path)
                self.faults.append(Fault(fault.expected, fault.got, place, self.file))
            return None

    def _mapping(self, value: object, path: str, expected: str) -> Mapping[str, object] | None:
        if isinstance(value, Mapping):
            return value
        self._fault(path, expected, value)
        return None

    def _known_keys(self, values: Mapping[str, object], known: Iterable[str], path: str) -> None:
        for key in values:
            if key not in known:
                near = get_close_matches(str(key), known, 1)
                hint = f" (is it {near[0]!r}?)" if near else ""
                got = f"the key {key!r}{hint}"
                self.faults.append(Fault(f"one of {', '.join(known)}", got, path, self.file))

    def _fault(self, path: str, expected: str, value: object) -> dict[str, object]:
        self.faults.append(Fault(expected, shown(value), path, self.file))
        return {}


def _items(path: str, value: object) -> list[tuple[str, object]]:
    if isinstance(value, (list, tuple)):
        return [(f"{path}[{n}]", item) for n, item in enumerate(value)]
    return [(path, value)]
