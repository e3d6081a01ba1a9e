"""The pages that the study of revisions makes, and what it counts."""

from __future__ import annotations

from random import Random

from research.datasets.pages import LabelledPage
from research.studies.revisions import (
    CHANGES,
    EDITS,
    NO_CHANGES,
    NOISE,
    SAME,
    Draft,
    counted,
    table,
    web_of,
)
from scrapy_mss.extractor import Extractor
from tests.plugin.site import story


def labelled(number: int) -> LabelledPage:
    told = story("revisions", number, paragraphs=8)
    body = "".join(f"<p>{text}</p>" for text in told.paragraphs)
    column = "".join(f'<li><a href="/{n}">A link to another story {n}</a></li>' for n in range(9))
    html = (
        f"<html lang=en><head><title>{told.title}</title></head><body><ul>{column}</ul>"
        f"<div class=counts>{number} comments</div><article><h1>{told.title}</h1>{body}</article>"
    )
    gold = "\n\n".join(told.paragraphs)
    return LabelledPage(str(number), "paper.example", html, (gold,), lang="en", title=told.title)


def test_each_kind_of_change_makes_another_page_and_keeps_the_rest() -> None:
    page = labelled(7)
    draft = Draft.of(page, Extractor())
    assert draft is not None
    paragraphs = page.golds[0].split("\n\n")

    for make in (*NO_CHANGES, *CHANGES):
        changed = make(draft, ["Another headline"], Random(2))  # noqa: S311
        lost = [text for text in paragraphs if text not in changed]
        assert changed != page.html, make
        assert len(lost) == (make.__name__ in {"edited_sentence", "removed_sentence"}), make


def test_what_comes_again_is_counted_by_kind() -> None:
    web = web_of([labelled(number) for number in range(12)], Random(1))  # noqa: S311
    urls = list(web.pages)
    assert {kinds[NOISE] for kinds in web.kinds.values()} == {each.__name__ for each in NO_CHANGES}
    assert {kinds[EDITS] for kinds in web.kinds.values()} == {each.__name__ for each in CHANGES}

    new: dict[str, list[str]] = {url: [] for url in urls}
    again = {url: ["text"] for url in urls}
    nothing: dict[str, list[str]] = {}
    rows = counted(web, [new, *[nothing] * SAME, again])

    assert rows["same"] == {"met": 12 * (SAME - 1), "came": 0}
    assert rows["headline"] == {"met": 2, "came": 2}
    assert "| headline | 2 of 2 (100.0%) |" in table({"one": rows})
