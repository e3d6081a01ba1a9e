"""Writes a wrapper as YAML in the style of a person; the crawl's loader reads back the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from scrapy_mss.wrappers.documents import document_of
from scrapy_mss.wrappers.rules import Wrapper

# The order in which a reader expects them.
ORDER: Final = tuple("site name url body around exclude title authors published".split())


def yaml_of(wrapper: Wrapper, comments: Sequence[str] = ()) -> str:
    """*wrapper* as a file of its own, *comments* in lines above it."""
    document = document_of(wrapper)
    keys = [*filter(document.__contains__, ORDER), *(key for key in document if key not in ORDER)]
    plain = {key: _short(document[key]) for key in keys}
    text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=10_000)
    return "".join(f"# {' '.join(line.split())}\n" for line in comments) + text


def _short(value: object) -> Any:  # noqa: ANN401 - plain values of YAML
    """*value* without the lists and mappings that YAML's readers do not need."""
    match value:
        case [only]:
            return _short(only)
        case list():
            return [_short(each) for each in value]
        case {"css": str(text), **rest} if not rest:
            return text
        case {"url": str(url), "contains": []}:
            return url
        case Mapping():
            return {key: _short(each) for key, each in value.items()}
        case _:
            return value
