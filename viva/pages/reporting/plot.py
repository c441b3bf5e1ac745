"""Plots as SVG to stand in a page: the same bytes for the same numbers, in the page's colours, light or dark."""

from __future__ import annotations

import io
import re

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK, BAR, LINE = "#010203", "#040506", "#070809"
"""Stand for the page's colours while Matplotlib draws, which knows no CSS variables."""
COLOURS = {INK: "var(--ink)", BAR: "var(--bar)", LINE: "var(--accent)"}
SETTINGS = {
    **{"svg.fonttype": "none", "svg.hashsalt": "viva", "font.family": "sans-serif", "font.size": 9},
    **{f"{part}.{name}": INK for part in ("xtick", "ytick") for name in ("color", "labelcolor")},
    **{"axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK},
}
MOST_BARS = 25


def histogram(scores: list[float], maximum: float, median: float | None, label: str, name: str) -> Markup:
    """How many students have which score, the median marked; ``label`` is read out, ``name`` is unique in the page."""
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(4.6, 2.2), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.hist(scores, bins=list(edges(scores, maximum)), color=BAR, rwidth=0.86)
        if median is not None:
            axes.axvline(median, color=LINE, linewidth=1.5, linestyle="--")
        axes.set(xlabel="points", ylabel="students")
        axes.locator_params(axis="y", integer=True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.patch.set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _in_page(buffer.getvalue(), label, name)


def edges(scores: list[float], maximum: float) -> np.ndarray:
    """The edges of the bars: whole numbers of points wide, from zero to what can be had or was got."""
    top = max([maximum, 1.0, *scores])
    width = max(1, int(np.ceil(top / MOST_BARS)))
    return np.arange(-0.5, top + width, width)


def _in_page(svg: str, label: str, name: str) -> Markup:
    """The svg element alone, as wide as its place, with ids of its own; all text in it is ours."""
    svg = svg[svg.index("<svg ") :]
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)  # its style would be the whole page's
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    for stand_in, colour in COLOURS.items():
        svg = svg.replace(stand_in, colour)
    head, rest = svg.split(">", 1)
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    return Markup(f'{head} role="img" aria-label="{Markup.escape(label)}">') + Markup(rest)
