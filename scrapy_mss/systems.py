"""The system that `MSS_EXTRACTOR` names; one that cannot run stops the crawl at its start.

A crawl has pages but no labelled ones for a system to learn from, other than the model of mss:
so a system that has to learn first is refused.
"""

from __future__ import annotations

import difflib

from research.systems import SYSTEMS, create
from research.systems.base import TextExtractor, Trainable
from scrapy_mss.settings import OWN_EXTRACTOR, SettingError

SETTING = "MSS_EXTRACTOR"
NEAREST = 3


def chosen(spec: str) -> TextExtractor | None:
    """The system of *spec*, as `create` takes it; None for the crawl's own model."""
    if spec == OWN_EXTRACTOR:
        return None
    name = spec.partition(":")[0]
    if name == OWN_EXTRACTOR:
        raise SettingError(
            f"{SETTING}: {OWN_EXTRACTOR!r} has no options; it has settings of its own: MSS_MODEL …"
        )
    if name not in SYSTEMS:
        raise SettingError(f"{SETTING}: {_no_system(name)}")
    try:
        system = create(spec)
    except ImportError as error:
        raise SettingError(f"{SETTING}: {error}") from error
    except (ValueError, TypeError, LookupError) as error:
        raise SettingError(f"{SETTING}: {spec!r} cannot be made: {error}") from error
    if isinstance(system, Trainable):
        raise SettingError(
            f"{SETTING}: {name!r} has to learn from labelled pages before it is asked, which is "
            f"what the bench is for; in a crawl, {OWN_EXTRACTOR!r} learns from pages with wrappers"
        )
    return system


def _no_system(name: str) -> str:
    names = list(dict.fromkeys((OWN_EXTRACTOR, *SYSTEMS)))
    near = difflib.get_close_matches(name, names, NEAREST)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
    return f"no system is called {name!r}: {hint}"
