from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.hostile import SVG, png
from viva.cleaning.picture import problem, svg_problem


def figure(name: str) -> bytes:
    drawing = Figure(figsize=(4, 3))
    left, right = drawing.subplots(1, 2)
    left.plot([1, 2, 3], label="a < b")
    left.set_title("$x^2$ ü")
    left.legend()
    right.imshow([[1, 2], [3, 4]])
    file = io.BytesIO()
    drawing.savefig(file, format=name)
    return file.getvalue()


def test_figures_of_matplotlib_are_shown_as_png_and_as_svg():
    assert problem("image/png", base64.encodebytes(figure("png")).decode()) == ""
    assert svg_problem(figure("svg").decode()) == ""


def test_a_picture_that_would_fill_the_memory_is_not_shown():
    bomb = png(12_000, 12_000)
    assert len(bomb) < 50_000
    assert "12000 x 12000 pixels" in problem("image/png", bomb)
    assert "MB" in problem("image/png", "A" * 20_000_000)


@pytest.mark.parametrize(
    ("mime", "text"),
    [("image/png", text) for text in ('"><script>', "AAAA", 1)]
    + [(mime, png(9, 9)) for mime in ("image/jpeg", "image/tiff")],
)
def test_what_is_no_picture_of_its_kind_is_not_shown(mime, text):
    assert problem(mime, text)


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<foreignObject><p>x</p></foreignObject>",
        '<rect onclick="alert(1)"/>',
        '<a href="javascript:alert(1)"><text>x</text></a>',
        '<image href="https://elsewhere.example/x.png"/>',
        '<rect style="fill: url(https://elsewhere.example/x)"/>',
        "<style>@import 'https://elsewhere.example/x'</style>",
        "<style>@keyframes a{to{fill:red}} rect{animation: a 1s infinite}</style><rect/>",
        '<a href="#x"><set attributeName="href" to="javascript:alert(1)"/><text>x</text></a>',
        '<rect><animate attributeName="x" values="0;9" dur="1s" repeatCount="indefinite"/></rect>',
        '<filter id="f"><feMorphology radius="400"/></filter><rect filter="url(#f)"/>',
        '<rect style="fill: red; /* */filter: blur(400px)"/>',
        f'<image href="data:image/png;base64,{png(12_000, 12_000)}"/>',
    ],
)
def test_a_drawing_that_does_more_than_be_looked_at_is_not_shown(inside):
    assert svg_problem(f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>')


def nested(part: str, levels: int, each: int = 10) -> str:
    """A drawing whose part is used ten times by another, which is used ten times, and so on."""
    parts = [f'<g id="a{n}">' + f"<{part.format(n - 1)}/>" * each + "</g>" for n in range(1, levels)]
    return f'<g id="a0"><path d="M0 0h9"/></g>{"".join(parts)}<{part.format(levels - 1)}/>'


BUSY = {
    "parts that use parts": nested('use href="#a{}"', 8),
    "by their older name": nested('use xmlns:x="http://www.w3.org/1999/xlink" x:href="#a{}"', 8),
    "by another writing": nested('use href="#%61{}"', 8),
    "in quotes": nested("""rect fill="url( '#a{}' )" """, 8),
    "in a style": nested('rect style="fill:url(#a{})"', 8),
    "masks": nested('rect mask="url(#a{})"', 8),
    "clips": nested('rect clip-path="url(#a{})"', 8),
    "a part that uses itself": '<g id="a"><use href="#a"/></g>',
    "a marker at every corner": '<marker id="m"><circle r="1"/></marker><path marker-mid="url(#m)" d="M0 0'
    + "h1" * 50_000
    + '"/>',
    "tiny dashes": '<path d="M0 0H1000000" stroke="red" stroke-dasharray="0.0001"/>' * 50,
    "tiny dashes in a sheet": "<style>*{stroke-dasharray/**/:1e-4}</style>" + '<path d="M0 0h1000000"/>' * 50,
    "tiny dashes around a circle": '<g style="stroke-dasharray: .0001 .0001">' + '<circle r="1000000"/>' * 50 + "</g>",
    "groups that are drawn first": '<g opacity=".9"><rect/></g>' * 20_000,
    "a large mask many times": '<mask id="m"><rect/></mask>' + '<rect mask="url(#m)"/>' * 20_000,
    "levels": "<g>" * 5000 + "</g>" * 5000,
}


@pytest.mark.parametrize("name", BUSY)
def test_a_drawing_that_keeps_a_browser_busy_is_not_shown(name):
    assert svg_problem(f'<svg xmlns="http://www.w3.org/2000/svg">{BUSY[name]}</svg>')


@pytest.mark.parametrize("side", ["1000000", "1e9px"])
def test_a_drawing_of_a_huge_size_is_not_shown(side):
    assert "pixels" in svg_problem(f'<svg xmlns="http://www.w3.org/2000/svg" height="{side}"/>')


def test_honest_drawings_of_many_parts_are_shown():
    drawing = Figure()
    axes = drawing.subplots(2, 2).ravel()
    points = np.random.default_rng(1).normal(size=(5000, 2))
    axes[0].scatter(*points.T, c=points[:, 0], alpha=0.4)
    axes[1].plot(points.cumsum(axis=0), "k:", lw=0.2, label="a dotted walk")
    axes[1].legend()
    axes[2].bar(range(20), range(20), hatch="//", alpha=0.5)
    axes[2].annotate("here", (3, 4), (9, 9), arrowprops={"arrowstyle": "->"})
    axes[3].imshow(points[:400].reshape(20, 40))
    axes[3].grid(linestyle="--")
    file = io.BytesIO()
    drawing.savefig(file, format="svg")
    assert len(file.getvalue()) > 500_000
    assert svg_problem(file.getvalue().decode()) == ""
    assert svg_problem(f'<svg xmlns="http://www.w3.org/2000/svg">{nested("""use href="#a{}" """, 4)}</svg>') == ""


def test_a_drawing_with_entities_or_none_at_all_is_not_shown():
    assert svg_problem('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>')
    assert svg_problem("<p>") and svg_problem(None) and svg_problem(SVG)
