from __future__ import annotations

import base64
import time

import pytest
from bs4 import BeautifulSoup
from markupsafe import Markup
from nbformat import NotebookNode

from viva.cleaning.htmlpolicy import CELL, MATHEMATICS, PAGE
from viva.pages.typeset import LONGEST_TEXT, clean, demoted, output, picture, plain, prose, with_products

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 20).decode()


@pytest.mark.parametrize(
    "tex", [r"\mathbf{X}^T", r"\frac{a}{b}", r"\sqrt{D_q}", r"x_i \tag{1}", r"\begin{pmatrix}1\\2\end{pmatrix}"]
)
def test_formulas_become_mathml(tex):
    assert "<math" in prose(f"so ${tex}$ it is")
    assert "\\" not in prose(f"so ${tex}$ it is")


def test_a_sign_that_words_in_a_formula_escape_is_shown_without_its_backslash():
    text = BeautifulSoup(prose(r"$\text{50\% of d\_k and d\_v} = \texttt{d\_Z}$"), "html.parser").text
    assert text.replace("\xa0", " ").strip() == "50% of d_k and d_v=d_Z"


@pytest.mark.parametrize("tex", [r"\frac{", "}{", r"\def\a{\a\a}\a", r"\href{javascript:alert(1)}{x}", "x" * 5000])
def test_a_formula_that_cannot_be_set_stays_as_it_was_typed(tex):
    assert "<code>" in prose(f"${tex}$")
    assert "href" not in str(prose(f"${tex}$")).replace(r"\href", "")


def test_markup_in_a_formulas_text_does_nothing():
    assert "<script" not in prose(r"$\text{<script>alert(1)</script>}$")
    assert "onerror" not in prose(r"$\text{<img src=x onerror=alert(1)>}$")


@pytest.mark.parametrize(
    "source",
    [
        "![x](https://leak.example/x.png)",
        "![x](../../../source/ps/x.png)",
        "![x](/etc/passwd)",
        "![x](link.png)",
        "![x](text.png)",
        "<img src='https://leak.example/x.png'>",
        "<img src='data:text/html;base64,PHNjcmlwdD4='>",
    ],
)
def test_a_picture_from_elsewhere_is_named_instead(source, tmp_path):
    folder = tmp_path / "handed_in"
    folder.mkdir()
    (tmp_path / "outside.png").write_bytes(base64.b64decode(PNG))
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    (folder / "text.png").write_text("a secret")
    shown = prose(source + " ![", None, folder)
    assert "<img" not in shown
    assert "[picture" in shown


def test_a_picture_that_was_handed_in_is_part_of_the_page(tmp_path):
    (tmp_path / "plot.png").write_bytes(base64.b64decode(PNG))
    assert f'src="data:image/png;base64,{PNG}"' in prose("![my plot](plot.png)", None, tmp_path)
    assert f'src="data:image/png;base64,{PNG}"' in prose("![x](attachment:a.png)", {"a.png": {"image/png": PNG}})
    assert picture("image/png", base64.b64encode(b"<html>").decode()) == ""
    assert picture("text/html", PNG) == ""


def test_html_keeps_tables_and_loses_what_runs_loads_or_covers():
    text = (
        '<table border="1" style="position:fixed"><tr><th>a</th><td onclick="x()">1</td></tr></table><iframe src="x">'
    )
    assert clean(text) == "<table><tbody><tr><th>a</th><td>1</td></tr></tbody></table>"


def test_a_sound_and_a_large_picture_in_html_are_shown_and_nothing_from_elsewhere():
    sound = f'<audio controls="controls"><source src="data:audio/wav;base64,{"A" * 300_000}" type="audio/wav"></audio>'
    item = NotebookNode(output_type="display_data", data={"text/html": sound + "<p>after it</p>"})
    assert output(item, "x")["html"] == sound + "<p>after it</p>"
    assert "leak" not in clean('<audio autoplay src="https://leak.example/x.wav"></audio><source src="//leak.example">')
    assert "autoplay" not in clean("<audio autoplay></audio>")


@pytest.mark.parametrize(
    "address", ["http://localhost:8888/formgrader/", "https://hub.example/formgrader/x", "file:///"]
)
def test_a_link_of_a_student_leads_from_a_page_neither_to_this_machine_nor_to_formgrader(address):
    assert "href" not in clean(f'<a href="{address}">my plot</a>')
    assert "href" in clean('<a href="https://numpy.org/doc">my source</a>')


def test_the_width_of_a_picture_is_kept_and_nothing_covers_the_page():
    assert 'width="50%"' in clean(f'<img alt="x" width="50%" src="data:image/png;base64,{PNG}">')
    assert "width" not in clean(f'<img alt="x" width="99999" src="data:image/png;base64,{PNG}">')
    assert "width" not in clean('<math><mspace width="99999em"></mspace></math>')
    assert 'width="1em"' in prose(r"$a \quad b$")


def test_a_page_allows_no_element_or_attribute_that_a_cell_does_not_but_for_formulas():
    assert PAGE.tags - CELL.tags == MATHEMATICS
    for tag in PAGE.attributes.keys() - MATHEMATICS:
        assert PAGE.attributes[tag] <= CELL.attributes["*"] | CELL.attributes[tag]


def test_a_head_without_words_is_no_head():
    assert prose("| | a |\n|-|-|\n| b | 1 |").count("<th>") == 1


def test_headings_move_below_the_page_s_own_and_skip_no_level():
    moved = demoted(Markup("<h1>a</h1><h4>b</h4><h2>c</h2><h6>d</h6>"), 2)
    assert moved == "<h3>a</h3><h4>b</h4><h4>c</h4><h5>d</h5>"


def test_text_loses_colours_and_characters_that_turn_it_around():
    assert plain("\x1b[31mred\x1b[0m \u202egnp.exe\x07") == "red gnp.exe"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("`a*b*c` and 3*H*(D/H)*D", "<code>a*b*c</code> and 3*H*(D/H)*D"),
        ("n[i]*m[j]*k", "n[i]*m[j]*k"),
        ("It is *very* long, **really**.", "<em>very</em> long, <strong>really</strong>"),
        ("**3*4*5**", "<strong>3*4*5</strong>"),
        ("    x = a*b*c", "x = a*b*c"),
        ("```\ny = a*b*c\n```", "y = a*b*c"),
        ("[a](http://b.org/c*d*e)", "http://b.org/c*d*e"),
        ("one \\*two\\* a*b*c", "one *two* a*b*c"),
    ],
)
def test_a_product_keeps_its_asterisks_and_what_is_emphasised_stays_so(typed, shown):
    assert shown in prose(typed)


def test_a_product_in_a_formula_is_left_to_the_formula():
    assert with_products("$a*b*c$ is a*b*c") == r"$a*b*c$ is a\*b\*c"


@pytest.mark.parametrize("unit", ["<", "`", "$", "](", "\\begin{a}", "``` ", "a*", "$$a"])
def test_products_are_looked_for_in_a_moment_whatever_was_typed(unit):
    text = (unit * LONGEST_TEXT)[: LONGEST_TEXT - 1] + "*"
    start = time.process_time()  # others may use the machine, too
    with_products(text)
    assert time.process_time() - start < 3
