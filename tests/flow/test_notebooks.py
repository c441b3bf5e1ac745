"""The instructor notebooks themselves: what each must have, and what release/ must not."""

from __future__ import annotations

import ast
import json
import re
import runpy
from decimal import Decimal
from fractions import Fraction

import nbformat
import numpy as np
import pandas as pd
import pytest

from tests.conftest import PROJECT
from viva.cleaning.markup import rendered
from viva.engine.blueprint import read_blueprint
from viva.engine.checks import HIDDEN

DIAGRAM = runpy.run_path(str(PROJECT / "docs" / "diagram.py"))
SOURCES = sorted(PROJECT.glob("source/*/*.ipynb"))
COMMITTED = sorted([*PROJECT.glob("source/**/*.ipynb"), *PROJECT.glob("release/*/*.ipynb")])


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=[str(path.relative_to(PROJECT)) for path in paths])


def lines_of_source(path, marker="### BEGIN"):
    """The lines inside of solutions, hidden tests and marking schemes (or one of them), and those outside."""
    inside, outside, hidden = set(), set(), False
    for cell in nbformat.read(path, as_version=4).cells:
        for line in cell.source.splitlines():
            if marker in line:
                hidden = True
            elif "### END" in line:
                hidden = False
            else:
                (inside if hidden else outside).add(line.strip())
    return inside, outside


def test_there_are_ten_assignments():
    assert len(SOURCES) == 10


@each(COMMITTED)
def test_a_committed_notebook_has_no_outputs_and_ends_in_a_newline(path):
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    for cell in json.loads(text)["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@each(COMMITTED)
def test_cell_ids_are_stable_and_equal_the_grade_ids(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    for cell in notebook.cells:
        assert cell.metadata.get("nbgrader", {}).get("grade_id", cell.id) == cell.id


@each(SOURCES)
def test_an_assignment_is_worth_20_to_50_points_with_one_written_question(path):
    blueprint = read_blueprint(path)
    assert 20 <= blueprint.points <= 50
    assert blueprint.points % 5 == 0
    (task,) = [cell for cell in blueprint.cells if cell.purpose == "task"]
    assert "### BEGIN MARK SCHEME" in task.source


@each(SOURCES)
def test_every_test_cell_is_made_of_titled_checks_and_the_first_helps_the_student(path):
    for cell in read_blueprint(path).cells:
        if cell.purpose == "tests":
            assert "### CHECK" in cell.source, cell.id
            assert not cell.checks[0].hidden, cell.id


@each(SOURCES)
def test_every_assert_says_what_is_wrong_in_a_sentence(path):
    for cell in read_blueprint(path).cells:
        if cell.purpose == "tests":
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Assert):
                    assert node.msg is not None, f"{cell.id}, line {node.lineno}"


@each(SOURCES)
def test_equations_are_numbered_and_the_notebook_says_how_long_it_takes(path):
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    assert r"\tag{1}" in text
    assert "minutes" in text


@each(SOURCES)
def test_release_holds_no_solution_hidden_test_or_marking_scheme(path):
    release = (PROJECT / "release" / path.parent.name / path.name).read_text(encoding="utf-8")
    cells = nbformat.reads(release, as_version=4).cells
    released = {line.strip() for cell in cells for line in cell.source.splitlines()}
    inside, outside = lines_of_source(path)
    assert len(inside - outside) > 20
    assert not released.intersection(inside - outside)
    assert "### BEGIN" not in release
    assert "YOUR CODE HERE" in release
    assert "YOUR ANSWER HERE" in release


@each(SOURCES)
def test_no_hidden_line_of_the_course_runs_in_the_students_process(path):
    release = nbformat.read(PROJECT / "release" / path.parent.name / path.name, as_version=4)
    assert release.metadata["viva"]["check"]["inside"] == []


@each(SOURCES)
def test_titles_of_hidden_checks_stay_visible(path):
    release = nbformat.read(PROJECT / "release" / path.parent.name / path.name, as_version=4)
    text = "\n".join(cell.source for cell in release.cells)
    for _, check in read_blueprint(path).checks():
        assert f": {check.title}" in text


def test_hidden_regions_hide_something_in_every_assignment():
    for path in SOURCES:
        sources = [cell.source for cell in read_blueprint(path).cells if cell.purpose == "tests"]
        assert any(HIDDEN.search(source) for source in sources)


@each(SOURCES)
def test_a_notebook_shows_the_decoder_with_its_own_part_lit(path):
    cells = {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}
    assert (cells["decoder_map_text"], cells["decoder_map"]) == DIAGRAM["cells"](path.parent.name.split("_")[0])


def test_the_pictures_of_the_decoder_are_those_of_the_script():
    for name, text in DIAGRAM["pictures"]().items():
        assert (PROJECT / "docs" / "pictures" / name).read_text(encoding="utf-8") == text


def comparison(path):
    """The function of a notebook by which its checks compare a result with the expected numbers."""
    (cell,) = (cell for cell in nbformat.read(path, as_version=4).cells if "an imaginary part" in cell.source)
    space = {"np": np}
    tree = ast.parse(cell.source)
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    exec(compile(tree, str(path), "exec"), space)
    if "agrees" in space:
        return space["agrees"]
    return lambda result, expected: not space["compare"]("result", (result,), (expected,))


@each(SOURCES)
def test_a_result_is_wrong_by_its_imaginary_part_too(path):
    agrees, expected = comparison(path), np.array([[0.5, -2.0], [1e4, 0.0]])
    assert agrees(expected + 0j, expected)
    assert not agrees(expected + 0.1j, expected)


@each(SOURCES)
def test_a_result_is_right_in_whatever_it_is_handed_over(path):
    agrees, expected = comparison(path), np.array([[0.5, -2.0], [1e4, 0.0]])
    others = [[Fraction(1, 2), Decimal("-2")], [np.float32(1e4), False]]
    for result in (expected.tolist(), list(expected), pd.DataFrame(expected), others, expected.astype(object)):
        assert agrees(result, expected)
    for result in (None, "0.5", [[0.5, None], [1e4, 0.0]], expected[0], np.full((2, 2), np.nan), [[0.5], [1, 2]], len):
        assert not agrees(result, expected)


@each(SOURCES)
def test_a_visible_check_takes_at_most_nine_lines(path):
    for cell, check in read_blueprint(path).checks():
        lines = [line for line in HIDDEN.sub("", check.source).splitlines() if line.strip() and line[0] != "#"]
        assert len(lines) <= 9, f"{cell.id}: {check.title}"


@each(SOURCES)
def test_what_is_checked_is_said_in_three_lines_and_the_rest_is_folded(path):
    said = [part for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"
            for part in cell.source.split("**What is checked**")[1:]]  # fmt: skip
    assert said
    for part in said:
        assert len(part.split("\n\n")[0].splitlines()) <= 3, part
        assert "\n- " not in part.split("<details>")[0], part


def test_one_box_says_everywhere_what_is_a_row_and_what_is_a_column():
    boxes = {}
    for path in SOURCES:
        cells = nbformat.read(path, as_version=4).cells
        boxes |= {path.parent.name: cell.source for cell in cells if cell.id == "conventions"}  # noqa: B035
        says = [cell.source for cell in cells if "**Inputs are rows here**" in cell.source or
                "**Inputs are columns here**" in cell.source]  # fmt: skip
        assert bool(says) == (path.parent.name in boxes), path
    assert len(set(boxes.values())) == 1
    assert {path.parent.name for path in SOURCES} - boxes.keys() == {"ps8_first_gradient"}  # it has no attention


@each(COMMITTED)
def test_every_table_is_a_table_on_a_page(path):
    """In a block quote the Markdown of nbconvert, with which all pages are made, knows no tables."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            tables = len(re.findall(r"^[> ]*\|[ :|-]+\|$", cell.source, re.MULTILINE))
            assert rendered(cell.source, {}).count("<table") == tables, cell.id
