"""Curves as SVG: the same points always give the same bytes, so a plot changes when data does."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrapy_mss.bench.errors import require

if TYPE_CHECKING:
    from scrapy_mss.bench.studies import Point, Study

SIZE = (6.4, 4.0)  # inches
# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = "os^Dv*x"


def draw(study: Study, points: Sequence[Point]) -> bytes:
    """The curves of *study* as an SVG file."""
    matplotlib = require("matplotlib", "a plot")
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
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": study.name, "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
