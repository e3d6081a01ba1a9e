"""Wrappers -> mappings of plain values that `schema.read_document` reads.

What comes back equals what was written. JSON holds such a mapping, so that wrappers reach other
processes without a pickle.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from scrapy_mss.wrappers.rules import Between, SamplePage, UrlPattern, Wrapper
from scrapy_mss.wrappers.selectors import Selector

_NOT_KEYS: Final = ("valid_from", "valid_until", "origin")


def document_of(wrapper: Wrapper) -> dict[str, Any]:
    """*wrapper* as a mapping, without what it leaves out and without its origin."""
    names = (each.name for each in fields(Wrapper) if each.name not in _NOT_KEYS)
    values = {name: _plain(getattr(wrapper, name)) for name in names}
    days = {"from": wrapper.valid_from, "until": wrapper.valid_until}
    values["valid"] = {name: day.isoformat() for name, day in days.items() if day}
    return {name: value for name, value in values.items() if value}


def _plain(value: object) -> object:
    match value:
        case tuple():
            return [_plain(each) for each in value]
        case Selector():
            return {value.kind: value.text}
        case Between():
            return {"start": _plain(value.start), "end": _plain(value.end)}
        case UrlPattern():
            return {"regex": value.text} if value.kind == "regex" else value.text
        case SamplePage():
            return {"url": value.url, "contains": list(value.contains)}
        case _:
            return value
