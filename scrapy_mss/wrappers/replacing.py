"""Replaces a rule in the text of a YAML file, whose other lines stay as they are."""

from __future__ import annotations

import re
from difflib import unified_diff
from pathlib import Path
from typing import Final

import yaml

from scrapy_mss.wrappers.errors import WrapperError, rejected
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.schema import document_of, documents, yaml_of

_PLACE_IN_FILE: Final = re.compile(r"(: document [0-9]+)?: [$][^:]*\Z")
_COMMENT: Final = re.compile(r"[ \t]*(#[^\r\n]*)?")  # to the end of a line


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
    end += len(match[0]) if (match := _COMMENT.match(text, end)) and _ends_line(text, match) else 0
    written = _as_at(node, new).replace("\n", line_end)
    after = f"{text[:start]}{written}{text[end:]}"
    try:
        now = [rule for each in documents(after.encode()) for rule in each.wrappers("")]
    except WrapperError:
        now = []
    if now != [new if rule is rules[rules.index(old)] else rule for rule in rules]:
        raise rejected("a rule that can be replaced in its place", "one in other YAML")
    return after


def _ends_line(text: str, found: re.Match[str]) -> bool:
    return found.end() == len(text) or text[found.end()] in "\r\n"


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
