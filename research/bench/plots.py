"""Named points as SVG, and what all plots share.

The same points always give the same bytes, so a plot changes when data does.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from research.errors import require

SIZE = (6.4, 4.0)  # inches
# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKS = "os^Dv*x"


class Dot(NamedTuple):
    """A named point of one of two kinds: how good and, as a multiple of something, how slow."""

    name: str
    slow: float
    good: float
    kind: str


LINE = 0.16  # inches from one name to the next, at the size of the names
NAME_SIZE = 7.5  # points
PERFECT = 0.999  # what is better is drawn here: on a scale of what is missing, 1 has no place
TICKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def draw_dots(title: str, dots: Sequence[Dot]) -> bytes:
    """Named points as an SVG file.

    The vertical axis is logarithmic in what is missing to 1, since the good ones differ by little.
    Names stand in a column of their own at the right, as near to the height of their points as
    the next name lets them, with thin lines to them: so none covers another, however many.
    """
    height = max(SIZE[1], LINE * len(dots) + 1.5)
    figure = require("matplotlib.figure", "a plot").Figure(figsize=(8.0, height))
    axes = figure.add_axes((0.08, 0.7 / height, 0.72, 1 - 1.2 / height))
    for number, kind in enumerate(dict.fromkeys(dot.kind for dot in dots)):
        rows = [dot for dot in dots if dot.kind == kind]
        style = {"color": COLOURS[number], "marker": MARKS[number], "linestyle": "none"}
        places = [d.slow for d in rows], [_missing(d) for d in rows]
        axes.plot(*places, label=kind, markersize=5, **style)
    axes.set(title=title, xlabel="time, × lxml parse", ylabel="F1", xscale="log", yscale="log")  # noqa: RUF001
    axes.xaxis.set_major_locator(require("matplotlib.ticker", "a plot").LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks([1 - tick for tick in TICKS], [f"{tick:g}" for tick in TICKS])
    axes.minorticks_off()
    axes.set_ylim(1.1 * max(map(_missing, dots)), min(map(_missing, dots)) / 1.1)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    without_box(axes)
    _name(axes, dots, LINE / (height - 1.2))
    return svg(figure, title)


def _missing(dot: Dot) -> float:
    return 1 - min(dot.good, PERFECT)


def _name(axes: Any, dots: Sequence[Dot], line: float) -> None:  # noqa: ANN401 - matplotlib's own
    """Write the names beside *axes*, each with a line to its point; *line* is a part of 1."""
    ordered = sorted(dots, key=lambda dot: (-dot.good, dot.slow))
    pixels = [axes.transData.transform((dot.slow, _missing(dot))) for dot in ordered]
    heights = [float(axes.transAxes.inverted().transform(each)[1]) for each in pixels]
    for dot, place in zip(ordered, apart(heights, line), strict=True):
        axes.annotate(
            dot.name,
            (dot.slow, _missing(dot)),
            (1.04, place),
            textcoords="axes fraction",
            fontsize=NAME_SIZE,
            verticalalignment="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": "0.75", "linewidth": 0.5, "relpos": (0, 0.5)},
        )


def apart(heights: Sequence[float], line: float) -> list[float]:
    """*heights*, which fall, moved so that each is a *line* below the one before, none below 0."""
    places: list[float] = []
    for height in heights:
        places.append(min([height, *(place - line for place in places[-1:])]))
    lowest = 0.0
    for number in range(len(places) - 1, -1, -1):
        places[number] = max(places[number], lowest)
        lowest = places[number] + line
    return places


def without_box(axes: Any) -> None:  # noqa: ANN401 - matplotlib's own class
    """Leave out the lines that bound nothing."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def svg(figure: Any, salt: str) -> bytes:  # noqa: ANN401 - matplotlib's own class
    """The file; *salt* makes the names of its parts the same each time."""
    matplotlib = require("matplotlib", "a plot")
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
