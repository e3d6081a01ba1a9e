"""Wrappers in YAML, or in mappings of the same form, to `Wrapper` values and back.

What `document_of` and `yaml_of` write is read as an equal wrapper. Such a mapping can be sent to
other processes as JSON, without a pickle.

    {site, wrappers: [{body, …}, …]}      a site with several kinds of pages
    {site, body, …}                       the same for a site with one kind

`documents` is stricter than YAML: it creates only plain values, never objects. Aliases are
rejected, because with them a file of a kilobyte expands to gigabytes, and so are duplicate keys, of
which YAML silently takes the second. Numbers remain text for the schema to read: YAML also reads
1:30 as one of base sixty, in a time that is quadratic in its digits. The number of values is
bounded, since reading one takes a tenth of a millisecond.

`read_document` validates. The schema, in the tables at the end, consists of readers, functions that
return a value or raise a `WrapperError`; `_Record` and `_each` combine readers and raise the
problems of all their parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches, unified_diff
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import yaml

from scrapy_mss.wrappers.errors import Problem, WrapperError, gathered, located, rejected, shown
from scrapy_mss.wrappers.rules import (
    SamplePage,
    Wrapper,
    check_selector,
    check_site,
    check_url_pattern,
)
from scrapy_mss.wrappers.selectors import KINDS, Selector

T = TypeVar("T")
Reader: TypeAlias = Callable[[object], T]

_NUMBERS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
MAX_VALUES: Final = 100_000  # some five thousand wrappers
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")


class _Loader(yaml.SafeLoader):
    """Plain values only, and not too many; neither aliases nor keys that occur twice."""

    # Those of SafeLoader without numbers; each loader class has its own.
    yaml_implicit_resolvers = {  # noqa: RUF012 - the library's attribute
        first: [row for row in rows if row[0] not in _NUMBERS]
        for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._n_values = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.get_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="an alias; write the value out", problem_mark=mark)
        self._n_values += 1
        if self._n_values > MAX_VALUES:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            problem = f"more than {MAX_VALUES:,} values"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
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


for _tag in _NUMBERS:  # as `!!int 1:30` asks for
    _Loader.add_constructor(_tag, _Loader.construct_undefined)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class Document:
    """A document of a YAML file: its plain *value*, and where in the file the parts of it are."""

    value: object
    _node: yaml.Node

    def wrappers(self, file: str, path: str = "$") -> list[Wrapper]:
        """The wrappers in it; its problems have lines, and lead from *path* on in *file*."""
        try:
            return read_document(self.value, file, path)
        except WrapperError as error:
            places = ((each, each.path.removeprefix(path)) for each in error.problems)
            raise WrapperError(
                replace(each, line=self.line_of(place)) for each, place in places
            ) from None

    def line_of(self, path: str) -> int:
        """The line of the value at *path*, as in ``.wrappers[0].body``, or of the nearest one."""
        return int(self.node_at(path).start_mark.line) + 1

    def node_at(self, path: str) -> yaml.Node:
        """What the file has at *path*, or at the nearest one."""
        node = self._node
        for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
            inner = []
            if index and isinstance(node, yaml.SequenceNode):
                inner = node.value[int(index) : int(index) + 1]
            elif key and isinstance(node, yaml.MappingNode):
                inner = [value for name, value in node.value if name.value == key]
            if not inner:
                break
            node = inner[0]
        return node


def documents(data: bytes) -> list[Document]:
    """The documents in *data*, without empty ones; a `WrapperError` says where it is not valid."""
    try:
        text = data.decode("utf-8-sig")  # with or without a byte order mark
        return [document for document in _load(text) if document.value is not None]
    except UnicodeDecodeError as error:
        got, place = shown(data[error.start : error.end]), f"byte {error.start}"
        raise WrapperError([Problem("text in UTF-8", got, place)]) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        got = " ".join(filter(None, (error.context, error.problem)))
        raise WrapperError([Problem("YAML with plain values", got, place)]) from error
    except (yaml.YAMLError, ValueError) as error:  # a control character, or the date 2024-02-31
        raise rejected("YAML with plain values", " ".join(str(error).split())) from error
    except RecursionError as error:
        raise rejected("YAML", "hundreds of nested values") from error


def _load(text: str) -> Iterator[Document]:
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            assert node is not None
            yield Document(loader.construct_document(node), node)
    finally:
        loader.dispose()


def read_document(document: object, file: str, path: str = "$") -> list[Wrapper]:
    """The wrappers of *document*, which was found at *path* in *file*."""
    with located(path, file):
        found = _wrappers(document)
    wrappers = []
    for place, values in found:
        with located(f"{path}{place}", file):
            wrappers.append(Wrapper(**values, origin=f"{file}: {path}{place}"))
    return wrappers


def _wrappers(document: object) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(document, Mapping) or "wrappers" not in document:
        return [("", _WRAPPER(document))]
    required = () if "site" in document else ("site",)
    one = replace(_WRAPPER, expected=f"a mapping with {PLACES}", required=required)
    shared = _Record("", {"site": _site, "wrappers": partial(_several, one)})(document)
    rules = enumerate(shared.pop("wrappers"))
    return [(f".wrappers[{n}]", {**shared, **values}) for n, values in rules]


@dataclass(frozen=True)
class _Record:
    """Reads a mapping, each value by the reader of its key."""

    expected: str
    readers: Mapping[str, Reader[object]]
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()  # keys of which it has just one
    elsewhere: tuple[str, ...] = ()  # keys of similar mappings, for hints

    def __call__(self, value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise rejected(self.expected, shown(value))
        read: dict[str, Any] = {}
        with gathered() as problems:
            missing = (key for key in self.required if key not in value)
            unknown = (key for key in value if key not in self.readers)
            problems.found += (Problem(f"a key {key!r}", "none") for key in missing)
            problems.found += self._choice(value)
            problems.found += map(self._unknown, unknown)
            for key in filter(value.__contains__, self.readers):
                with problems.at(f".{key}"):
                    read[key] = self.readers[key](value[key])
        return read

    def _choice(self, value: Mapping[object, object]) -> Iterator[Problem]:
        """What is wrong with the keys of which there is to be one."""
        found = [repr(key) for key in self.one_of if key in value]
        if self.one_of and len(found) != 1:
            choice = " or ".join(map(repr, self.one_of))
            yield Problem(f"a key {choice}", f"{' and '.join(found)} together" if found else "none")

    def _unknown(self, key: object) -> Problem:
        near = get_close_matches(str(key), (*self.readers, *self.elsewhere), 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return Problem(f"one of {', '.join(self.readers)}", f"the key {key!r}{hint}")


def _each(read: Reader[T], value: object) -> tuple[T, ...]:
    """What *read* makes of *value*, or of each item if it is a list."""
    if not isinstance(value, (list, tuple)):
        return (read(value),)
    items = []
    with gathered() as problems:
        for n, item in enumerate(value):
            with problems.at(f"[{n}]"):
                items.append(read(item))
    return tuple(items)


def _several(read: Reader[T], value: object) -> tuple[T, ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise rejected("a list of wrappers", shown(value))
    return _each(read, value)


def _exactly(kind: type[T], expected: str, value: object) -> T:
    if type(value) is kind:  # a bool is not an integer here
        return value
    raise rejected(expected, shown(value))


_string = partial(_exactly, str, "a string")
_switch = partial(_exactly, bool, "true or false")


def _integer(value: object) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    return _exactly(int, "an integer", value)


def _site(value: object) -> str:
    site = _string(value)
    check_site(site)
    return site


def _pattern(value: object) -> str:
    pattern = _exactly(str, "a path pattern, as in /news/*", value)
    check_url_pattern(pattern)
    return pattern


def _selector(role: str, value: object) -> Selector:
    match value:
        case str():
            path, kind, text = "", "css", value
        case Mapping() if len(value) == 1 and value.keys() <= KINDS.keys():
            ((kind, text),) = value.items()
            path = f".{kind}"
        case _:
            expected = f"a CSS selector, or a mapping with one of {', '.join(KINDS)}"
            raise rejected(expected, shown(value))
    with located(path):
        selector = Selector(kind, text)
        check_selector(role, selector)
        return selector


def _place(role: str, value: object) -> tuple[Selector, ...]:
    selectors = _each(partial(_selector, role), value)
    if not selectors:
        raise rejected("at least one selector", "none")
    return selectors


def _sample(value: object) -> SamplePage:
    return SamplePage(value) if isinstance(value, str) else SamplePage(**_SAMPLE(value))


_SAMPLE: Final = _Record(
    "a URL, or a mapping with 'url' and 'contains'",
    {"url": _string, "contains": partial(_each, _string)},
    required=("url",),
)
KEYS: Final[Mapping[str, Reader[object]]] = {
    "site": _site,
    "name": _string,
    "url": partial(_each, _pattern),
    "body": partial(_place, "body"),
    "around": partial(_place, "around"),
    **{
        role: partial(_each, partial(_selector, role))
        for role in ("exclude", "title", "authors", "published", "next_page")
    },
    "priority": _integer,
    "train_only": _switch,
    "drop_misses": _switch,
    "tests": partial(_each, _sample),
}
PLACES: Final = "'body' or 'around'"
_WRAPPER: Final = _Record(
    f"a mapping with 'site' and {PLACES} or 'wrappers'",
    KEYS,
    required=("site",),
    one_of=("body", "around"),
    elsewhere=("wrappers",),
)


def yaml_of(wrapper: Wrapper, comments: Sequence[str] = ()) -> str:
    """*wrapper* as a file of its own, *comments* in lines above it."""
    document = document_of(wrapper)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000)
    return "".join(f"# {' '.join(line.split())}\n" for line in comments) + text


def document_of(wrapper: Wrapper) -> dict[str, Any]:
    """*wrapper* as a person writes it, without what it leaves out and without its origin."""
    values = {name: getattr(wrapper, name) for name in KEYS}
    return {name: _plain(value) for name, value in values.items() if value}


def _plain(value: object) -> object:
    """*value* without the lists and mappings that the readers above do not need."""
    match value:
        case (only,):
            return _plain(only)
        case tuple():
            return [_plain(each) for each in value]
        case Selector("css", text) | SamplePage(text, ()):
            return text
        case Selector():
            return {value.kind: value.text}
        case SamplePage():
            return {"url": value.url, "contains": _plain(value.contains)}
        case _:
            return value


# --- replacing a rule in a file, whose other lines stay as they are -------------------------------

_PLACE_IN_FILE: Final = re.compile(r"(: document [0-9]+)?: [$][^:]*\Z")
_COMMENT: Final = re.compile(r"[ \t]*(#[^\r\n]*)?(?=[\r\n]|\Z)")  # to the end of a line


def file_of(rule: Wrapper) -> Path:
    """The file that *rule* was loaded from."""
    return Path(_PLACE_IN_FILE.sub("", rule.origin))


def difference(before: str, after: str, name: str = "") -> list[str]:
    """The lines that change of a file of that *name*, with some around them."""
    return list(unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm=""))


def replaced(text: str, old: Wrapper, new: Wrapper, alone: str = "") -> str:
    """*text* with *new* in the place of its rule *old*, or *alone* if that is the only one.

    Comments within the rule go with it. A `WrapperError` if another file would come of it.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    found = [(each, each.wrappers("")) for each in documents(text.encode())]
    rules = [rule for _, some in found for rule in some]
    if rules == [old]:
        return (alone or yaml_of(new)).replace("\n", line_end)
    if old not in rules:
        raise rejected("the rule that was read", "a file that was changed meanwhile")
    document, at = next((each, some.index(old)) for each, some in found if old in some)
    node = document.node_at(document.wrappers("")[at].origin.removeprefix(": $"))
    start, end = node.start_mark.index, _end_of(node)
    end = len(text[:end].rstrip())
    end += len(match[0]) if (match := _COMMENT.match(text, end)) else 0
    written = _as_at(node, new).replace("\n", line_end)
    after = f"{text[:start]}{written}{text[end:]}"
    try:
        now = [rule for each in documents(after.encode()) for rule in each.wrappers("")]
    except WrapperError:
        now = []
    if now != [new if rule is rules[rules.index(old)] else rule for rule in rules]:
        raise rejected("a rule that can be replaced in its place", "one in other YAML")
    return after


def _end_of(node: yaml.Node) -> int:
    """Where the last value of *node* ends: the node itself ends where the next one begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    return int(node.end_mark.index)


def _as_at(node: yaml.Node, rule: Wrapper) -> str:
    """*rule* as it stands in the place of *node*, which may share its site with others."""
    assert isinstance(node, yaml.MappingNode)
    values = document_of(rule)
    if "site" not in {key.value for key, _ in node.value}:
        del values["site"]
    flow = bool(node.flow_style)
    text = yaml.safe_dump(
        values, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=flow
    )
    return text.strip().replace("\n", "\n" + " " * int(node.start_mark.column))
