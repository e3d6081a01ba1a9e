"""Extraction systems by name: the paper's, its baselines, and what they are compared with."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy_mss.extractors.base import TextExtractor


@dataclass(frozen=True, slots=True)
class System:
    """Where a system's class is, and the options that make it this one."""

    home: str
    options: dict[str, Any] = field(default_factory=dict)
    summary: str = ""


SYSTEMS: dict[str, System] = {
    "mss-paper": System(
        "scrapy_mss.extractors.mss:Mss",
        {"profile": "paper"},
        "trigram and most recent unclosed tag, supervised",
    ),
    "mss-paper-hr": System(
        "scrapy_mss.extractors.mss:Mss",
        {"profile": "paper-hr"},
        "the same, cut at the first horizontal rule",
    ),
    "mss-trigram": System(
        "scrapy_mss.extractors.mss:Mss", {"profile": "trigram"}, "the trigram alone"
    ),
    "mss-selftrained": System(
        "scrapy_mss.extractors.mss:SelfTrainedMss",
        summary="mss-paper trained on from a site's unlabelled pages",
    ),
    "mss-cleaneval": System(
        "scrapy_mss.extractors.mss:Mss",
        {"profile": "cleaneval"},
        "unigrams, neighbours for unseen tokens, a bias towards more text",
    ),
    "simple-mss": System(
        "scrapy_mss.extractors.baselines:SimpleMss",
        summary="words 1, tags -3.25 (penalty=…), untrained",
    ),
    "longest-block": System(
        "scrapy_mss.extractors.baselines:LongestBlock",
        summary="the table cell or div with the most text",
    ),
    "all-text": System("scrapy_mss.extractors.baselines:AllText", summary="the whole page"),
}


def create(spec: str) -> TextExtractor:
    """The system that *spec* names: ``name`` or ``name:option=value:option=value``."""
    name, *settings = spec.split(":")
    if name not in SYSTEMS:
        raise ValueError(f"no system is called {name!r}; there are {', '.join(SYSTEMS)}")
    system = SYSTEMS[name]
    module, class_name = system.home.split(":")
    factory = getattr(import_module(module), class_name)
    options = {**system.options, **_options(spec, settings, factory)}
    return factory(**options)  # type: ignore[no-any-return]


def _options(spec: str, settings: list[str], factory: type) -> dict[str, Any]:
    allowed = list(inspect.signature(factory).parameters)
    options = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in allowed:
            raise ValueError(
                f"{setting!r} in {spec!r} is no option; expected option=value with an option "
                f"of {', '.join(allowed) or 'none: this system has no options'}"
            )
        options[key] = _value(value)
    return options


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
