"""How much of a page's own layout is left in its drawing.

Stored pages come without the style sheets that they refer to: what is drawn is what `<style>`
elements, `style` attributes and tags of old pages lay out. A page counts as laid out by style if at
least half of its visible words stand in something that its author has floated, positioned or put
into a flex box or a grid; as laid out by tables, if that is so with the cells of tables besides.
Otherwise it is one column as wide as the window, in the order of its source.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from research.rendering.drawing import TEXT, Drawing

ENOUGH: Final = 0.5  # of the visible words


class Layout(Enum):
    """What has laid a page out."""

    STYLE = "by style"
    TABLES = "by tables"
    NONE = "not laid out"


def layout(drawing: Drawing) -> Layout:
    """What has laid out most words of the *drawing*."""
    styled, celled, total = 0, 0, 0
    above: list[tuple[bool, bool]] = []  # for each node, whether style, and a cell, is around it
    for number, parent in enumerate(drawing.parent):
        by_style, by_cell = above[parent] if parent >= 0 else (False, False)
        placed = drawing.placed[number]
        by_style, by_cell = by_style or placed == "style", by_cell or placed == "table"
        above.append((by_style, by_cell))
        if drawing.tag[number] == TEXT and drawing.visible[number]:
            words = len(drawing.text[number].split())
            total += words
            styled += words * by_style
            celled += words * (by_style or by_cell)
    if not total:
        return Layout.NONE
    if styled / total >= ENOUGH:
        return Layout.STYLE
    return Layout.TABLES if celled / total >= ENOUGH else Layout.NONE
