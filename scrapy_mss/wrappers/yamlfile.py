"""YAML text -> Python values, by a loader that is safe and stricter than YAML.

Only plain values are made, never objects. Aliases are refused: a file of a kilobyte can name
itself into gigabytes with them. A key that occurs twice is refused, where YAML would silently
take the second. Sizes are bounded, because the loader is slow and recursive.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import yaml

from scrapy_mss.wrappers.errors import Fault, WrapperError, shown

LARGEST = 2**20  # characters: some five thousand wrappers, and ten seconds of reading


class _Loader(yaml.SafeLoader):
    """Plain values, without aliases and without keys that occur twice."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.get_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="an alias; write the value out", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - the signature of the library
    ) -> dict[Hashable, Any]:
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                problem = f"a second {key.value!r} in one mapping"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def documents(text: str, file: str) -> list[object]:
    """The documents of *text*, empty ones left out; a `WrapperError` names *file* and place."""
    if len(text) > LARGEST:
        got = f"{len(text):,}; part it into several"
        raise WrapperError([Fault(f"a file of at most {LARGEST:,} characters", got, file=file)])
    try:
        return [document for document in _load(text) if document is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        got = " ".join(filter(None, (error.context, error.problem)))
        raise WrapperError([Fault("YAML of plain values", got, place, file)]) from error
    except (yaml.YAMLError, ValueError) as error:
        got = " ".join(str(error).split())  # a character or a date that there is not
        raise WrapperError([Fault("YAML of plain values", got, file=file)]) from error
    except RecursionError as error:
        raise WrapperError(
            [Fault("YAML", "hundreds of values in each other", file=file)]
        ) from error


def _load(text: str) -> Iterator[object]:
    loader = _Loader(text)
    try:
        while loader.check_data():  # type: ignore[no-untyped-call]
            yield loader.get_data()
    finally:
        loader.dispose()


def as_text(data: bytes, file: str) -> str:
    """*data* decoded, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fault = Fault("text in UTF-8", shown(data[error.start : error.end]), f"byte {error.start}")
        raise WrapperError([fault.at(file, "")]) from error
