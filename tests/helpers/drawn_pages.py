"""Small pages whose boxes are given by hand, as a browser might have drawn them."""

from __future__ import annotations

from dataclasses import dataclass, field

from research.rendering.drawing import ROOT, TEXT, Box, Drawing

INLINE = frozenset({TEXT, "a", "b", "em", "i", "span", "br"})
WHITE = "rgb(255, 255, 255)"


@dataclass(frozen=True, slots=True)
class Drawn:
    """An element or a text with its box, and what is below it.

    A box that is not given is that around the children; what has none, and no children, is not
    seen. The background is that of the parent, unless one is given.
    """

    tag: str
    box: tuple[int, int, int, int] | None = None
    children: tuple[Drawn, ...] = ()
    text: str = ""
    background: str = ""
    font: tuple[float, int] = field(default=(16.0, 400))


def text(words: str, *box: int, font: tuple[float, int] = (16.0, 400)) -> Drawn:
    """A text at a place."""
    return Drawn(TEXT, (box[0], box[1], box[2], box[3]) if box else None, (), words, "", font)


def element(tag: str, *children: Drawn, box: tuple[int, ...] = (), background: str = "") -> Drawn:
    """An element around others."""
    given = (box[0], box[1], box[2], box[3]) if box else _around(children)
    return Drawn(tag, given, children, "", background)


def _around(children: tuple[Drawn, ...]) -> tuple[int, int, int, int] | None:
    boxes = [child.box for child in children if child.box]
    if not boxes:
        return None
    x, y = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[0] + box[2] for box in boxes), max(box[1] + box[3] for box in boxes)
    return x, y, right - x, bottom - y


def paragraph(words: str, *box: int) -> Drawn:
    """A paragraph with a text of the same box."""
    return element("p", text(words, *box))


def drawing_of(page: Drawn) -> Drawing:
    """The columns of a page."""
    drawing = Drawing([], [], [], [], [], [], [], [], [], [], [], 0, 0.0)
    stack = [(page, ROOT, WHITE)]
    while stack:
        each, parent, behind = stack.pop()
        number, background = len(drawing), each.background or behind
        drawing.tag.append(each.tag)
        drawing.parent.append(parent)
        drawing.box.append(Box(*(each.box or (0, 0, 0, 0))))
        drawing.visible.append(each.box is not None)
        drawing.inline.append(each.tag in INLINE)
        drawing.placed.append("")
        drawing.font_size.append(each.font[0])
        drawing.font_weight.append(each.font[1])
        drawing.color.append("rgb(0, 0, 0)")
        drawing.background.append(background)
        drawing.text.append(each.text)
        stack.extend((child, number, background) for child in reversed(each.children))
    return drawing
