"""The extractor that `MSS_EXTRACTOR` names, used instead of the model.

It is the dotted path of anything with `extract(html) -> str | None`: a module, an instance, or a
class that is called without arguments. Everything that can be checked without a page is checked
when it is loaded, so that a wrong path stops a crawl at startup.
"""

from __future__ import annotations

import inspect
import pkgutil
from typing import Any, Protocol

from scrapy_mss.settings import SettingError

SETTING = "MSS_EXTRACTOR"
EXPECTED = (
    "the dotted path of a module, an instance or a class with `extract(html)`, as 'trafilatura'"
)


class TextExtractor(Protocol):
    """Finds the text of the article in a page; None or an empty string if there is none."""

    def extract(self, html: str, /) -> str | None: ...


def load_text_extractor(path: str) -> TextExtractor | None:
    """What *path* names; None for the empty path, which means the model."""
    if not path:
        return None
    found = _made(path, _resolved(path))
    extract = getattr(found, "extract", None)
    if not callable(extract):
        got = "which is not callable" if extract is not None else "which has no `extract`"
        raise SettingError(f"{SETTING}: expected {EXPECTED}, got {path!r}, {got}")
    if not _takes_a_page(extract):
        signature = inspect.signature(extract)
        raise SettingError(
            f"{SETTING}: expected an `extract` that can be called with a page's HTML alone, but "
            f"that of {path!r} takes {signature}"
        )
    return found  # type: ignore[no-any-return]


def _resolved(path: str) -> Any:
    try:
        return pkgutil.resolve_name(path)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise SettingError(
            f"{SETTING}: expected {EXPECTED}, but {path!r} cannot be imported: {why}"
        ) from error


def _made(path: str, found: Any) -> Any:
    """An instance where *path* leads to a class."""
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise SettingError(
            f"{SETTING}: expected a class that can be called without arguments, got {path!r}: "
            f"{why}. Name an instance instead"
        ) from error


def _takes_a_page(extract: Any) -> bool:
    try:
        inspect.signature(extract).bind("")
    except TypeError:
        return False
    except ValueError:  # a built-in function that does not say what it takes
        return True
    return True
