"""One item class of each kind that a spider may yield, and two that do not take values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import attrs
import pydantic
import scrapy

OWN_TITLE = "The spider's own title"


@dataclass
class Record:
    url: str
    title: str | None = None
    text: str = ""
    authors: list[str] = field(default_factory=list)
    extractor: str | None = None


@attrs.define
class Attrs:
    url: str
    title: str | None = None
    text: str = ""
    extractor: str | None = None


class Model(pydantic.BaseModel):
    url: str
    title: str | None = None
    text: str = ""
    extractor: str | None = None


class Classic(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    text = scrapy.Field()
    extractor = scrapy.Field()


@dataclass(frozen=True)
class Frozen:
    url: str
    title: str | None = None
    text: str = ""


class Strict(pydantic.BaseModel):
    """Takes no text longer than ten characters."""

    model_config = pydantic.ConfigDict(validate_assignment=True)

    url: str
    title: str | None = None
    text: str = pydantic.Field("", max_length=10)


@dataclass
class Renamed:
    """An item whose fields have names of their own."""

    link: str
    body: str = ""
    headline: str = ""


MAKERS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "dataclass": Record,
    "attrs": Attrs,
    "pydantic": Model,
    "scrapy": Classic,
    "frozen": Frozen,
    "strict": Strict,
}
