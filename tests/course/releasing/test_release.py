from __future__ import annotations

import json
import shutil
import subprocess
import sys

import nbformat
import pytest

from tests.conftest import PROJECT, SHORT, hand_in, load
from viva.course.releasing.release import release
from viva.verdict import CourseError
from viva_audit.adoption import adopt


def source(course):
    (path,) = (course / "source" / SHORT).glob("*.ipynb")
    return path


def edit(path, change):
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    nbformat.write(notebook, path)


def graded(notebook):
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]


@pytest.mark.slow
@pytest.mark.parametrize("assignment", sorted(path.name for path in (PROJECT / "source").iterdir() if path.is_dir()))
def test_release_equals_what_source_compiles_to(course, assignment):
    """The course of the tests is laid out with the committed files, so they are removed here before they are made."""
    shutil.rmtree(course / "release")
    opened, config = load(course)
    release(opened, assignment, config=config)
    folder, committed = course / "release" / assignment, PROJECT / "release" / assignment
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in committed.iterdir())
    for path in committed.rglob("*"):
        made = folder / path.relative_to(committed)
        same = path.is_dir() or made.read_bytes() == path.read_bytes()
        assert same, f"{path} differs; run 'make release' and commit release/"


@pytest.mark.slow
def test_releasing_twice_gives_the_same_bytes(course):
    path = course / "release" / SHORT / source(course).name
    before = path.read_bytes()
    opened, config = load(course)
    release(opened, SHORT, config=config)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_editor_litter_is_not_released_and_other_files_are_named(course):
    folder = course / "source" / SHORT
    (folder / ".ipynb_checkpoints").mkdir()
    for name in (".ipynb_checkpoints/old.py", ".DS_Store", "draft.py~", "words.csv"):
        (folder / name).write_text("x")
    opened, config = load(course)
    assert release(opened, SHORT, config=config).extra_files == ("words.csv",)


def test_a_header_that_is_not_there_is_refused_with_its_place_and_release_stays(course, viva):
    before = {path: path.read_bytes() for path in (course / "release").rglob("*.ipynb")}
    (course / "source" / "header.ipynb").unlink()
    for command in (["release", "--no-audit"], ["regrade", "--what-if"], ["audit"]):
        found = viva(*command, SHORT)
        assert found.status == (1 if command == ["audit"] else 2), found.text
        told = " ".join(found.text.split())
        if command[0] != "regrade":  # nothing was graded here
            assert f"nbgrader_config.py includes the file {course / 'source' / 'header.ipynb'}" in told
            assert "correct c.IncludeHeaderFooter.header" in told
        assert "Errno" not in told and "Traceback" not in told
    assert {path: path.read_bytes() for path in (course / "release").rglob("*.ipynb")} == before


def test_an_unclosed_solution_is_refused_with_nbgraders_reason_and_release_stays(course):
    before = {path: path.read_bytes() for path in (course / "release").rglob("*") if path.is_file()}

    def unclose(notebook):
        cell = next(cell for cell in notebook.cells if "### END SOLUTION" in cell.source)
        cell.source = cell.source.replace("### END SOLUTION", "")

    edit(source(course), unclose)
    opened, config = load(course)
    with pytest.raises(CourseError, match="no end solution statement found"):
        release(opened, SHORT, config=config)
    assert {path: path.read_bytes() for path in (course / "release").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("points", [None, "two", -1, True, float("nan"), float("inf")])
def test_points_that_are_no_number_are_refused_with_their_cell(course, points):
    edit(source(course), lambda notebook: graded(notebook)[0].metadata.nbgrader.update(points=points))
    opened, config = load(course)
    with pytest.raises(CourseError, match=rf"cell '.*': its points are not a number of at least 0: {points!r}"):
        release(opened, SHORT, config=config)


def test_metadata_of_an_old_nbgrader_are_refused_with_the_command_that_mends_them(course):
    opened, config = load(course)
    for version in (0, 1, 2):
        edit(source(course), lambda notebook: graded(notebook)[0].metadata.nbgrader.update(schema_version=version))  # noqa: B023
        with pytest.raises(CourseError, match=rf"version {version} of its format; .*viva adopt --in-place .*ipynb"):
            release(opened, SHORT, config=config)
    adopt(opened, source(course), in_place=True)
    release(opened, SHORT, config=config)


def test_the_metadata_of_a_header_are_refused_with_its_name(course):
    header, (opened, config) = course / "source" / "header.ipynb", load(course)
    about = {"grade_id": "head", "grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3}
    for wrong, sentence in (
        ({"points": True}, "header.ipynb, cell 'head': its points are not a number of at least 0: True"),
        ({"points": 1, "schema_version": 1}, "version 1 of its format.*nbgrader update .*header.ipynb"),
        ({"points": 1, "schema_version": "3"}, "header.ipynb, cell 'head': its schema_version is not a number: '3'"),
    ):
        cell = nbformat.v4.new_code_cell("assert True", id="head", metadata={"nbgrader": about | wrong})
        edit(header, lambda notebook: notebook.cells.append(cell))  # noqa: B023
        with pytest.raises(CourseError, match=sentence):
            release(opened, SHORT, config=config)
        edit(header, lambda notebook: notebook.cells.pop())


def test_two_cells_of_one_name_are_refused_with_the_name(course):
    def repeat(notebook):
        notebook.cells.append(notebook.cells[notebook.cells.index(graded(notebook)[0])].copy())
        notebook.cells[-1].id = "again"

    edit(source(course), repeat)
    opened, config = load(course)
    with pytest.raises(
        CourseError, match=graded(nbformat.read(source(course), as_version=4))[0].metadata.nbgrader.grade_id
    ):
        release(opened, SHORT, config=config)


@pytest.mark.slow
def test_other_cells_and_notebooks_under_submissions_are_refused_in_words_before_anything_changes(course, viva):
    hand_in(course, "anna")
    assert viva("grade", SHORT).status == 0

    def rename(notebook):
        cell = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade"))
        cell.metadata.nbgrader.grade_id = cell.id = "another_name"

    edit(source(course), rename)
    shutil.copy(source(course), source(course).with_name("second.ipynb"))
    before = {path: path.read_bytes() for path in [course / "gradebook.db", *(course / "release").rglob("*.ipynb")]}
    result = viva("release", "--no-audit", SHORT)
    assert result.status == 2
    assert (
        "was removed, another_name was added, the notebook second.ipynb was added. Nothing was changed." in result.err
    )
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.slow
def test_one_that_cannot_be_released_keeps_no_other_from_it(course, viva):
    shutil.rmtree(course / "release")
    for folder in (course / "source").iterdir():
        if folder.is_dir() and folder.name != SHORT:
            shutil.rmtree(folder)
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
    locked = {"cell_type": "code", "id": "a", "source": "import math", "outputs": [], "execution_count": None}
    about = {"grade": False, "solution": False, "locked": True, "schema_version": 3, "task": False}
    broken = {
        "a_no_id": json.dumps(notebook | {"cells": [locked | {"metadata": {"nbgrader": about}}]}),
        "b_no_json": "{",
        "z_old": json.dumps(notebook | {"cells": [locked | {"metadata": {"nbgrader": about | {"schema_version": 1}}}]}),
    }
    for name, text in broken.items():
        (course / "source" / name).mkdir()
        (course / "source" / name / "nb.ipynb").write_text(text)
    said = viva("release", "--no-audit")
    assert said.status == 1 and [path.name for path in (course / "release").iterdir() if any(path.iterdir())] == [SHORT]
    assert f"Released without an audit: {SHORT}." in said.out
    for name in broken:
        assert f"Not released: {name}. " in said.err
    audited = viva("audit", "a_no_id", "b_no_json")
    assert audited.status == 1 and "a_no_id: " in audited.out and "b_no_json: " in audited.out


def test_solutions_hold_the_answers_and_neither_hidden_tests_nor_marking_schemes(course, viva):
    (course / "release" / SHORT / "words.csv").write_text("a,b\n")
    before = {path: path.read_bytes() for path in [course / "gradebook.db", *(course / "release").rglob("*.*")]}
    said = viva("release", SHORT, "--solutions")
    assert said.status == 0 and f"written: {course / 'solutions' / SHORT / source(course).name}" in said.out
    folder = course / "solutions" / SHORT
    assert sorted(path.name for path in folder.iterdir()) == sorted([source(course).name, "words.csv"])
    assert before == {path: path.read_bytes() for path in before}
    text = (folder / source(course).name).read_text()
    assert not any(word in text for word in ("HIDDEN TESTS", "MARK SCHEME", "BEGIN SOLUTION", "YOUR CODE HERE\\n"))
    solved, released, full = (
        {cell.id: cell for cell in nbformat.read(place, as_version=4).cells}
        for place in (folder / source(course).name, course / "release" / SHORT / source(course).name, source(course))
    )
    answers = {name for name, cell in full.items() if "### BEGIN SOLUTION" in cell.source}
    assert answers and answers == {name for name in released if solved[name].source != released[name].source}
    for name in answers:
        lines = [line for line in full[name].source.splitlines() if "SOLUTION" not in line]
        assert solved[name].source == "\n".join(lines)


@pytest.mark.slow
def test_a_solution_notebook_passes_all_that_is_visible(course, viva):
    assert viva("release", SHORT, "--solutions").status == 0
    code = [cell.source for cell in nbformat.read(course / "solutions" / SHORT / source(course).name, 4).cells
            if cell.cell_type == "code"]  # fmt: skip
    run = subprocess.run([sys.executable, "-c", "\n".join(["import matplotlib", "matplotlib.use('agg')", *code])])
    assert run.returncode == 0


def test_solutions_are_for_what_was_released_and_release_nothing(course, viva):
    shutil.rmtree(course / "release" / SHORT)
    said = viva("release", SHORT, "--solutions")
    assert said.status == 2 and f"Run 'viva release {SHORT}' first." in said.err
    assert not (course / "solutions").exists() and not (course / "release" / SHORT).exists()
    both = viva("release", SHORT, "--solutions", "--variants")
    assert both.status == 2 and "--solutions releases nothing, so" in both.err


def test_a_marker_that_is_left_in_a_solution_is_refused_and_nothing_is_written(course, viva):
    def leave(notebook):
        cell = next(cell for cell in notebook.cells if "### END SOLUTION" in cell.source)
        cell.source = cell.source.replace("### END SOLUTION", "pass  ### BEGIN SOLUTION\n    ### END SOLUTION")

    edit(source(course), leave)
    said = viva("release", SHORT, "--solutions")
    assert said.status == 2 and "still has 'BEGIN SOLUTION', so nothing was written" in said.err
    assert not (course / "solutions").exists()


def test_the_instructors_whole_answer_to_a_question_answered_by_hand_is_in_the_solutions(course, viva):
    about = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3}
    about |= {"points": 2, "grade_id": "by_hand", "cell_type": "markdown"}
    answer = nbformat.v4.new_markdown_cell("Because the sum has no order.", id="by_hand", metadata={"nbgrader": about})
    edit(source(course), lambda notebook: notebook.cells.append(answer))
    assert viva("release", SHORT, "--solutions").status == 0
    solved = nbformat.read(course / "solutions" / SHORT / source(course).name, as_version=4)
    assert [cell.source for cell in solved.cells if cell.id == "by_hand"] == ["Because the sum has no order."]
