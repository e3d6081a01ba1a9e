from __future__ import annotations

from research.systems.largest_pagelet import (
    LargestPagelet,
)

MENU = "<ul><li><a>Home</a><li><a>News</a><li><a>Sport</a></ul>"
LAW = "<div>All rights reserved by those who wrote this on 1 May</div>"


def page(*boxes: str) -> str:
    return f"<html><body>{MENU}{''.join(boxes)}</body></html>"


def test_the_largest_box_that_no_links_divide() -> None:
    cases = [
        # A child with three links divides; two links do not.
        (f"<div>{MENU}<div>one two</div></div>", "one two"),
        (
            "<div><ul><li><a>x</a><li><a>y</a></ul><div>one two</div></div>",
            "x\n\ny\n\none two",
        ),
        # Links of its own do not divide a box, nor do those of a paragraph.
        ("<div>one <a>x</a><p><a>y</a> <a>z</a> <a>q</a></p></div>", "one x\n\ny z q"),
        # A box that is divided holds text too, and so does a page without boxes.
        (f"<div>one two{MENU}three<div>four</div></div>", "one two\n\nthree"),
        (f"one two{MENU}three", "one two\n\nthree"),
        ("one two", "one two"),
        # Links are no size.
        (f"<div>{MENU}<ul><li><a>a b c d</a></ul><div>one</div></div>", "one"),
        ("", ""),
    ]

    assert [(source, LargestPagelet().extract(source)) for source, _ in cases] == cases


def test_what_other_pages_have_is_no_main_text() -> None:
    pages = [page(f"<div>{text}</div>", LAW) for text in ("one two three", "four five")]
    system = LargestPagelet()

    assert [system.extract(html).split()[0] for html in pages] == ["All", "All"]
    assert system.extract_site(pages) == ["one two three", "four five"]
