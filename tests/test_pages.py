"""Each folder of tests/pages, as it is described in `page_cases`: is the page read correctly?"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from scrapy_mss import Extractor, metadata
from tests.page_cases import KnownFailure, PageCase, read_cases

CASES = read_cases()
UNTRAINED = [case for case in CASES if case.untrained]
BUNDLED = {case.name: case for case in CASES if not case.untrained}

# A folder that is lost, or that no longer counts as a case, would otherwise go unnoticed.
FEWEST_UNTRAINED = 8
FEWEST_BUNDLED = 90


@cache
def bundled() -> Extractor:
    return Extractor()


@cache
def result(name: str) -> dict[str, Any]:
    """What comes out of a page, by the names of the case's parts."""
    case = BUNDLED[name]
    extraction = bundled().extract(case.source, case.url or "")
    fields = metadata.read_html(case.source, case.url)
    values = {f"metadata.{field}": fields.values.get(field) for field in case.metadata}
    of_page = {"text": extraction.text, "is_article": extraction.is_article}
    return {**of_page, "kind": extraction.kind, **values}


def check(part: str, found: object, wanted: object, known: KnownFailure | None) -> None:
    """Fail if a part is wrong; one with a *known* failure, if it is right, or worse than known."""
    if known is None:
        assert found == wanted
        return
    assert found != wanted, "now passes: remove known_failure"
    worse = known.beyond(part, found, wanted)
    assert not worse, f"{worse} ({part} is {found!r})"
    pytest.xfail(known.reason)


@pytest.mark.parametrize("case", UNTRAINED, ids=lambda case: case.name)
def test_the_untrained_extractor_gives_the_text(case: PageCase) -> None:
    assert Extractor(profile="paper").extract(case.source).text == case.text


@pytest.mark.parametrize(
    ("name", "part"), [(case.name, part) for case in BUNDLED.values() for part in case.expected]
)
def test_the_bundled_model_gives(name: str, part: str) -> None:
    case = BUNDLED[name]

    found = result(name)[part]

    check(part, found, case.expected[part], case.known_failure.get(part))


def test_no_case_is_lost() -> None:
    assert len(UNTRAINED) >= FEWEST_UNTRAINED
    assert len(BUNDLED) >= FEWEST_BUNDLED


KNOWN = {
    "text": KnownFailure("A box is kept.", precision=0.6, recall=0.9),
    "title": KnownFailure("The site is named.", found="News"),
}


@pytest.mark.parametrize(
    ("part", "found", "wanted", "message"),
    [
        ("text", "It rains.", "It rains.", "now passes: remove known_failure"),
        ("text", "", "It rains.", r"recall of the words is 0\.000, and was at least 0\.9"),
        ("text", "It", "It rains.", r"recall of the words is 0\.500"),
        ("text", "It rains. Buy it!", "It rains.", r"precision of the words is 0\.500"),
        ("title", "Rain", "Rain", "now passes: remove known_failure"),
        ("title", None, "Rain", "title is None, and was known to be 'News'"),
    ],
)
def test_a_known_failure_that_gets_right_or_worse_fails(
    part: str, found: object, wanted: object, message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        check(part, found, wanted, KNOWN[part])


@pytest.mark.parametrize("url", ["file:///pages/page.html", "page.html"])
def test_the_address_of_a_file_says_nothing(url: str) -> None:
    """Nor are its links those of another site, by which next stories would not be found."""
    for case in BUNDLED.values():
        unknown, of_file = (bundled().extract(case.source, of) for of in ("", url))

        assert of_file.text == unknown.text, case.name
        assert (of_file.kind, of_file.probability) == (unknown.kind, unknown.probability), case.name
