"""The curves of a study as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from research.bench.plots import COLOURS, MARKS, SIZE, svg, without_box
from research.errors import require
from research.studies.questions import Point, Study


def draw(study: Study, points: Sequence[Point]) -> bytes:
    """The curves of *study* as an SVG file."""
    figure = require("matplotlib.figure", "a plot").Figure(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot()
    for number, curve in enumerate(dict.fromkeys(point.curve for point in points)):
        rows = [point for point in points if point.curve == curve]
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)]}
        axes.plot([p.x for p in rows], [p.y for p in rows], label=curve, markersize=4, **style)
    axes.set(title=study.title, xlabel=study.x, ylabel=study.y)
    if study.logarithmic:
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted({p.x for p in points}), minor=False)
        axes.xaxis.set_major_formatter("{x:.0f}")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    without_box(axes)
    return svg(figure, study.name)
