from __future__ import annotations

import base64
import io

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
    ],
)
def test_a_drawing_that_does_more_than_be_looked_at_is_not_shown(inside):
    assert svg_problem(f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>')


def test_a_drawing_with_entities_or_none_at_all_is_not_shown():
    assert svg_problem('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>')
    assert svg_problem("<p>") and svg_problem(None) and svg_problem(SVG)
