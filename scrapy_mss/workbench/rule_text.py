"""The edited text -> a rule, or its problems by line."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scrapy_mss.wrappers import Wrapper, WrapperError
from scrapy_mss.wrappers.errors import rejected
from scrapy_mss.wrappers.schema import documents, read_document

LONGEST: Final = 100_000  # characters; a rule takes hundreds
PLACE: Final = "the rule"


def read_rule(text: str) -> Wrapper:
    """The one rule in *text*; a `WrapperError` says what is wrong, and where."""
    if len(text) > LONGEST:
        raise rejected(f"at most {LONGEST:,} characters", "more")
    found = documents(text.encode("utf-8", "replace"))
    if len(found) != 1:
        raise rejected("one rule", f"{len(found)} documents of YAML")
    try:
        rules = read_document(found[0].value, PLACE)
    except WrapperError as error:
        raise WrapperError(
            [
                replace(each, file="", line=found[0].line_of(each.path.removeprefix("$")))
                for each in error.problems
            ]
        ) from None
    if len(rules) != 1:
        raise rejected("one rule", f"{len(rules)} of them")
    return rules[0]
