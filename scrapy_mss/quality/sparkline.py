"""A series of numbers as a small inline SVG."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_mss.output.html_elements import Html, element

STEP, HEIGHT, EDGE = 2, 16, 2  # pixels from one number to the next, and of the picture


def sparkline(numbers: Sequence[float | None], most: float, label: str) -> Html:
    """A line through *numbers* from 0 to *most*; where there is none, it has a gap.

    A number without neighbours is a dot. *label* is for those who cannot see it.
    """
    width = STEP * (len(numbers) - 1) + 2 * EDGE
    line = element("path", d=_path(numbers, most))
    last = next((at for at in range(len(numbers) - 1, -1, -1) if numbers[at] is not None), None)
    dot = Html("")
    if last is not None:
        x, y = _point(last, numbers[last] or 0.0, most)
        dot = element("circle", cx=x, cy=y, r=1.8)
    view = f"0 0 {width} {HEIGHT}"
    sizes = {"width": width, "height": HEIGHT, "viewBox": view}
    return element("svg", line, dot, class_="line", role="img", aria_label=label, **sizes)


def _path(numbers: Sequence[float | None], most: float) -> str:
    parts, has_before = [], False
    for at, number in enumerate(numbers):
        if number is not None:
            x, y = _point(at, number, most)
            has_after = at + 1 < len(numbers) and numbers[at + 1] is not None
            dot = "" if has_before or has_after else "h0"
            parts.append(f"{'L' if has_before else 'M'}{x} {y}{dot}")
        has_before = number is not None
    return "".join(parts)


def _point(at: int, number: float, most: float) -> tuple[int, float]:
    share = min(max(number / most, 0.0), 1.0) if most else 0.0
    return EDGE + STEP * at, round(EDGE + (HEIGHT - 2 * EDGE) * (1 - share), 1)
