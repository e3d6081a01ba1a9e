"""Extraction systems by name: the paper's, its baselines, and what they are compared with."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from research.systems.base import TextExtractor


@dataclass(frozen=True, slots=True)
class System:
    """Where a system's class is, and the options that make it this one."""

    home: str
    options: dict[str, Any] = field(default_factory=dict)
    summary: str = ""
    # Its own paper was not at hand: it is made after what other papers say of it.
    reconstruction: bool = False
    # It reads pages as a browser draws them, which takes a second each: no part of `all`.
    drawn: bool = False


SYSTEMS: dict[str, System] = {
    "mss": System(
        "research.systems.mss:BlockMss",
        summary="the bundled model: counts of words and layout, and a block classifier",
    ),
    "mss-paper": System(
        "research.systems.mss:Mss",
        {"profile": "paper"},
        "trigram and most recent unclosed tag, supervised",
    ),
    "mss-paper-hr": System(
        "research.systems.mss:Mss",
        {"profile": "paper-hr"},
        "the same, cut at the first horizontal rule",
    ),
    "mss-trigram": System("research.systems.mss:Mss", {"profile": "trigram"}, "only the trigram"),
    "mss-selftrained": System(
        "research.systems.mss:SelfTrainedMss",
        summary="mss-paper, self-trained on a site's unlabelled pages",
    ),
    "mss-cleaneval": System(
        "research.systems.mss:Mss",
        {"profile": "cleaneval"},
        "unigrams, neighbours for unseen tokens, a bias towards more text",
    ),
    "simple-mss": System(
        "research.systems.baselines:SimpleMss",
        summary="words 1, tags -3.25 (penalty=…), untrained",
    ),
    "longest-block": System(
        "research.systems.baselines:LongestBlock",
        summary="the table cell or div with the most text",
    ),
    "all-text": System("research.systems.baselines:AllText", summary="the whole page"),
    "bte": System(
        "research.systems.bte:BodyText",
        summary="body text extraction: the region with most words in it and tags around it",
        reconstruction=True,
    ),
    "dsc": System(
        "research.systems.dsc:DocumentSlopeCurve",
        summary="document slope curve: runs of windows (width=…) with few tags",
        reconstruction=True,
    ),
    "adsc": System(
        "research.systems.dsc:AdvancedSlopeCurve",
        summary="the same with sliding windows, links counted as tags",
        reconstruction=True,
    ),
    "lqf": System(
        "research.systems.lqf:LinkQuotaFilter",
        summary="all but the blocks that are mostly links (quota=…)",
        reconstruction=True,
    ),
    "lsi": System(
        "research.systems.lsi:LargestSizeIncrease",
        summary="the element that puts the most text together",
        reconstruction=True,
    ),
    "fe": System(
        "research.systems.feature_extractor:FeatureExtractor",
        summary="the one block with the most words",
        reconstruction=True,
    ),
    "kfe": System(
        "research.systems.feature_extractor:KFeatureExtractor",
        summary="the cluster of blocks with the most words",
        reconstruction=True,
    ),
    "ccb": System(
        "research.systems.ccb:ContentCodeBlurring",
        summary="content code blurring by tokens (radius=…, threshold=…)",
        reconstruction=True,
    ),
    "largest-pagelet": System(
        "research.systems.largest_pagelet:LargestPagelet",
        summary="the largest region that no other page of the site has",
        reconstruction=True,
    ),
    "vips-perfect": System(
        "research.systems.vips.system:VipsPerfect",
        summary="the block of the rendered page with the best F1 (an oracle)",
        reconstruction=True,
        drawn=True,
    ),
    "vips-simple": System(
        "research.systems.vips.system:VipsSimple",
        summary="the block of the rendered page with the most words, minus twice its tags",
        reconstruction=True,
        drawn=True,
    ),
    "pso": System(
        "research.systems.pso:Pso",
        summary="blocks that pass eight thresholds, learned by a particle swarm (seed=…)",
    ),
    "pso-pruned": System(
        "research.systems.pso:Pruned",
        summary="all but the elements that never hold content",
    ),
    "cetr": System(
        "research.systems.cetr:Cetr",
        summary="tag ratios of lines and their slopes, clustered around a fixed origin",
    ),
    "cetr-km": System(
        "research.systems.cetr:CetrKMeans",
        summary="tag ratios of lines, clustered by k-means",
    ),
    "cetr-tm": System(
        "research.systems.cetr:CetrThreshold",
        summary="tag ratios of lines, cut at their deviation (factor=…)",
    ),
    "ttr-threshold": System(
        "research.systems.ttr:TtrThreshold",
        summary="text-to-tag ratio, cut at its deviation",
        reconstruction=True,
    ),
    "ttr-kmeans": System(
        "research.systems.ttr:TtrKMeans",
        summary="text-to-tag ratio, clustered by k-means",
        reconstruction=True,
    ),
    "ttr-em": System(
        "research.systems.ttr:TtrMixture",
        summary="the same, a mixture of normal distributions",
        reconstruction=True,
    ),
    "ttr-farthest-first": System(
        "research.systems.ttr:TtrFarthestFirst",
        summary="the same, clusters around lines that are far apart",
        reconstruction=True,
    ),
    "trafilatura": System(
        "research.systems.external:External",
        {"peer": "trafilatura"},
        "trafilatura, without comments",
    ),
    "trafilatura-fast": System(
        "research.systems.external:External",
        {"peer": "trafilatura-fast"},
        "the same without its fallback libraries",
    ),
    "trafilatura-precision": System(
        "research.systems.external:External",
        {"peer": "trafilatura-precision"},
        "the same, favouring precision",
    ),
    "trafilatura-recall": System(
        "research.systems.external:External",
        {"peer": "trafilatura-recall"},
        "the same, favouring recall",
    ),
    "readability": System(
        "research.systems.external:External",
        {"peer": "readability"},
        "readability-lxml, its HTML as text",
    ),
    "boilerpy3": System(
        "research.systems.external:External",
        {"peer": "boilerpy3"},
        "boilerpipe's ArticleExtractor in Python",
    ),
    "justext": System(
        "research.systems.external:External",
        {"peer": "justext"},
        "jusText without stop words, for any language",
    ),
    "resiliparse": System(
        "research.systems.external:External",
        {"peer": "resiliparse"},
        "Resiliparse's main content",
    ),
    "newspaper4k": System(
        "research.systems.external:External",
        {"peer": "newspaper4k"},
        "newspaper4k's Article",
    ),
    "goose3": System(
        "research.systems.external:External",
        {"peer": "goose3"},
        "Goose in Python",
    ),
    "turbohtml": System(
        "research.systems.external:External",
        {"peer": "turbohtml"},
        "turbohtml's article(), which needs Python 3.11",
    ),
}

DRAWN = frozenset(name for name, system in SYSTEMS.items() if system.drawn)


def titled(spec: str) -> str:
    """The system *spec* as tables have it: a reconstruction is called one."""
    system = SYSTEMS.get(spec.partition(":")[0])
    return f"{spec} (reconstruction)" if system and system.reconstruction else spec


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
