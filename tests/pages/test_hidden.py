from __future__ import annotations

import base64
import html

import pytest
from nbformat.v4 import new_markdown_cell

from tests.doubling import RIGHT, source
from viva.pages.hidden import Hidden, Veil, hidden_of, squeezed

LINE = "for hidden_number in (271828, 161803):"


@pytest.fixture(scope="module")
def known() -> Hidden:
    return hidden_of([source()], Veil())


def told(known: Hidden, page: str, *own: str) -> bool:
    return any(LINE in found for found in known.found(page, own))


def test_lines_of_tests_schemes_and_solutions_are_hidden_and_what_was_released_is_not(known):
    said = {line: what for what, line in known.lines.values()}
    assert said[LINE] == "hidden test"
    assert said["Two points for the persimmon argument, one for naming addition."] == "marking scheme"
    assert said["return x + x  # by addition, as in the lecture"] == "solution"
    released = "\n".join(Veil().shown(cell) for cell in source().cells)
    assert not any(line in squeezed(released) for line in known.lines)


def test_lines_too_short_or_public_to_tell_are_named_with_the_reason():
    notebook = source()
    cell = next(cell for cell in notebook.cells if cell.id == "test_twice")
    cell.source = cell.source.replace("hidden_word =", "a = 1\nassert twice(2) == 4\nhidden_word =")
    untold = hidden_of([notebook], Veil()).untold.values()
    assert set(untold) == {"'a = 1' is too short", "'assert twice(2) == 4' is also in the students' files"}


@pytest.mark.parametrize(
    "page",
    [
        f"<pre>{LINE}</pre>",
        '<span class="k">for</span> hidden_number <b>in</b> (<i>271828</i>,\n\t161803):',
        html.escape(LINE).replace("h", "&#x68;"),
        LINE.replace("_", "\u200b_\u00ad"),
        "\uff46or hidden_number in (271828, 161803):",
        f'<img alt="{LINE}">',
        f"<p title='{LINE}'>x</p>",
        f"<!-- {LINE} -->",
        '<img src="data:image/svg+xml;base64,'
        + base64.b64encode(f"<svg><text>{LINE}</text></svg>".encode()).decode()
        + '">',
    ],
    ids="plain highlighted entities invisible wide alt title comment vector".split(),
)
def test_a_hidden_line_is_found_in_whatever_way_it_is_written(known, page):
    assert told(known, f"<html><body>much <em>else</em> {page} and more</body></html>")


def test_a_line_that_the_student_wrote_is_no_leak(known):
    assert told(known, f"<pre>{LINE}</pre>", RIGHT)
    assert not told(known, f"<pre>{LINE}</pre>", f"def f():\n    {LINE}\n        pass")


def test_the_instructors_sentences_may_be_read(known):
    assert known.found("A word is not doubled. Look at the first number.", ()) == []


def test_the_sentences_of_a_test_cell_with_a_magic_may_be_read_too():
    notebook = source()
    cell = next(cell for cell in notebook.cells if cell.id == "test_twice")
    cell.source = f"\n%matplotlib inline\n{cell.source}"
    assert not hidden_of([notebook], Veil()).told("A word is not doubled. Look at the first number.")


def test_literals_of_hidden_lines_are_known_and_those_that_are_public_are_not(known):
    assert known.told("got kumquat-31415")
    assert known.told("array([0.57721, 1.5])")
    assert not known.told("it gives 4, not 2; 2718281 is another number")


def test_a_marker_without_its_fellow_hides_the_whole_cell():
    notebook = source()
    cell = next(cell for cell in notebook.cells if cell.id == "test_twice")
    cell.source = cell.source.replace("### END HIDDEN TESTS", "")
    assert Veil().shown(cell) == ""


def test_a_formula_that_reads_like_a_line_of_the_solution_is_no_leak():
    notebook = source()
    cell = next(cell for cell in notebook.cells if cell.id == "twice")
    cell.source = cell.source.replace("### BEGIN SOLUTION", "### BEGIN SOLUTION\n    A = softmax(S)")
    assert "A=softmax(S)" in hidden_of([notebook], Veil()).lines
    notebook.cells.append(new_markdown_cell(r"Here $\mathbf{A} = \mathrm{softmax}(\mathbf{S})$ is meant."))
    assert "A=softmax(S)" not in hidden_of([notebook], Veil()).lines
