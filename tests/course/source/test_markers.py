"""A line that was meant to be a marker is refused before students get what stands below it."""

from __future__ import annotations

import json
import logging
from functools import partial
from pathlib import Path

import nbformat
import nbgrader
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from tests.conftest import PROJECT, load
from tests.course.releasing.test_studentversion import answer, course, graded, write  # noqa: F401  (a fixture)
from viva.course.examining.autograde import Examine
from viva.course.grading.batch import grade
from viva.course.grading.exporter import RepairingExporter
from viva.course.releasing.compiler import compiled
from viva.course.releasing.contract import released_notebook
from viva.course.releasing.release import release
from viva.course.source.markers import RightMarkers, marker_in, require_usual_hidden
from viva.pages.feedback import PageExporter, write_feedback
from viva.submission.submission import Submission
from viva.submission.work import Work
from viva.verdict import CourseError

SLIPS = {
    "### begin hidden tests": "BEGIN HIDDEN TESTS",
    "### BEGIN HIDDEN TEST": "BEGIN HIDDEN TESTS",
    "### BEGIN  HIDDEN TESTS": "BEGIN HIDDEN TESTS",
    "### BEGIN\u00a0HIDDEN TESTS": "BEGIN HIDDEN TESTS",
    "    # BEGIN_HIDDEN_TESTS": "BEGIN HIDDEN TESTS",
    "### START HIDDEN TESTS": "BEGIN HIDDEN TESTS",
    "# HIDDEN": "BEGIN HIDDEN TESTS",
    "# Hidden tests": "BEGIN HIDDEN TESTS",
    "### BEGIN HIDDNE TESTS": "BEGIN HIDDEN TESTS",
    "### END HIDEN TEST": "END HIDDEN TESTS",
    "### BEGIN HIDEN TST": "BEGIN HIDDEN TESTS",
    "### begin solution": "BEGIN SOLUTION",
    "###BEGIN-SOLUTION": "BEGIN SOLUTION",
    "### SOLUTION BEGIN": "BEGIN SOLUTION",
    "### BEGIN MARKING SCHEME": "BEGIN MARK SCHEME",
    "// end solution": "END SOLUTION",
    "### begin solution (do not edit)": "BEGIN SOLUTION",
    "### BEGIN HIDDENTESTS 2 points": "BEGIN HIDDEN TESTS",
    "### \uff22\uff25\uff27\uff29\uff2e \uff33\uff2f\uff2c\uff35\uff34\uff29\uff2f\uff2e": "BEGIN SOLUTION",
}
PLAIN = [
    "# the solution of the equation",
    "# begin evolution",
    "# start simulation",
    "# send solution",
    "begin_solution = 3",
    "end_solution()",
    "print('begin solution')",
    "# BEGIN TESTS",
    "# hidden tests check other shapes",
    "# There are hidden tests",
    "# YOUR SOLUTION HERE",
    "# Solution",
    "# begin solution of the equation",
    "### Hidden layers of the network",
    "### Solution of exercise 3",
]


def looked_at(cells: list, config: Config | None = None) -> None:
    """Raises CourseError for what the step refuses."""
    step = RightMarkers(config=config or Config(), log=logging.getLogger("test"))
    step.preprocess(new_notebook(cells=cells), {})


@pytest.mark.parametrize("line", SLIPS)
def test_a_line_that_was_meant_to_be_a_marker_is_refused_with_the_right_spelling(line):
    with pytest.raises(CourseError, match=rf"line 2, .* Write '### {SLIPS[line]}', or use other words in this line"):
        looked_at([graded(f"assert 1\n{line}\nassert 2")])


@pytest.mark.parametrize("line", PLAIN)
def test_other_lines_are_not_refused(line):
    looked_at([graded(f"assert 1\n{line}\nassert 2"), new_code_cell(f"{line}\n1")])


def test_right_markers_and_words_above_them_are_not_refused():
    hidden = "### BEGIN HIDDEN TESTS\nassert 2\n### END HIDDEN TESTS"
    looked_at([answer("### BEGIN SOLUTION\nn = 1\n### END SOLUTION"), graded(f"# hidden tests\n{hidden}\n# HIDDEN")])
    looked_at(
        [new_markdown_cell("## Hidden tests\n# Solution\nSolution:\n### BEGIN MARK SCHEME\n1\n### END MARK SCHEME")]
    )
    looked_at([new_code_cell("##### BEGIN SOLUTIONS #####\n1\n# END SOLUTION of it")])


def test_an_end_without_a_begin_is_refused():
    with pytest.raises(CourseError, match="line 3, '### END HIDDEN TESTS', has no line '### BEGIN HIDDEN TESTS'"):
        looked_at([graded("### secret\nassert 1\n### END HIDDEN TESTS")])


def test_markers_of_the_course_are_the_right_ones():
    own = Config(ClearSolutions={"begin_solution_delimeter": "### ANSWER", "end_solution_delimeter": "### THAT WAS IT"})
    looked_at([answer("### ANSWER\nn = 1\n### THAT WAS IT")], own)
    with pytest.raises(CourseError, match="Write '### ANSWER', or"):
        looked_at([answer("### BEGIN SOLUTION\nn = 1\n### END SOLUTION")], own)


def test_a_slip_is_refused_at_release_with_its_cell_and_grading_of_what_is_released_goes_on(course):  # noqa: F811
    write(course, [answer("n = 1"), graded("assert n\n### begin hidden tests\nassert n == 1\n### end hidden tests")])
    opened, config = load(course)
    with pytest.raises(CourseError, match=r"nb.ipynb, cell 'check': line 2, '### begin hidden tests', is not a marker"):
        release(opened, "ps", config=config)
    assert not (course / "release" / "ps").exists()
    cells = released_notebook(opened, "ps", "nb", set()).cells
    assert any("### begin hidden tests" in cell.source for cell in cells)


@pytest.mark.parametrize("folder", [PROJECT / "source", Path(nbgrader.__file__).parent], ids=["ours", "nbgrader's"])
def test_no_notebook_of_ours_or_nbgraders_is_refused(folder):
    found = {}
    for path in folder.rglob("*.ipynb"):
        notebook = nbformat.from_dict(json.loads(path.read_text()))
        step = RightMarkers(log=logging.getLogger("test"))
        for cell in notebook.get("cells", ()):
            cell.source = "".join(cell.source)
            for line in step._slips(cell):
                found[path.name] = line
    assert found == {}


OWN = {
    "begin": {"begin_test_delimeter": "### SECRET"},
    "end": {"end_test_delimeter": "### NO SECRET ANY MORE"},
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.usefixtures("processes")
def test_a_course_that_marks_hidden_tests_with_other_words_is_refused_wherever_its_tests_are_read(course, name):  # noqa: F811
    write(course, [answer("n = 1"), graded("assert n == 1")])
    opened, usual = load(course)
    release(opened, "ps", config=usual)
    config = usual.copy()
    config.ClearHiddenTests.update(OWN[name])
    opened.directory.config = config
    submission = Submission("ps", "ada", course / "submitted" / "ada" / "ps")
    place = {"assignment": "ps", "notebook": "nb", "student": "ada", "db_url": opened.directory.db_url}

    def prepared(place):
        exporter = RepairingExporter(config=config)
        return place | {"viva": Work(prepare=partial(exporter._prepare, place))}

    steps = {
        "release": lambda: release(opened, "ps", config=config),
        "audit and adopt": lambda: compiled(opened, "ps", "nb"),
        "grade": lambda: [*grade(opened, [submission], config=config)],
        "nbgrader autograde": lambda: Examine(config=config).preprocess(new_notebook(), {"nbgrader": prepared(place)}),
        "nbgrader generate_feedback": lambda: PageExporter(config=config).from_notebook_node(
            new_notebook(), {"nbgrader": place}
        ),
    }
    for run in steps.values():
        with pytest.raises(
            CourseError, match=rf"sets c.ClearHiddenTests.{name}_test_delimeter to .* Remove this setting"
        ):
            run()
    (ending,) = write_feedback(opened, [submission], config=config)
    assert "Remove this setting" in ending.reason


def test_the_usual_words_with_other_signs_around_them_are_usual():
    require_usual_hidden(Config(ClearHiddenTests={"begin_test_delimeter": "### BEGIN HIDDEN TESTS"}))


def test_a_marker_of_the_courses_own_that_is_left_in_the_student_version_is_seen():
    own = Config(ClearSolutions={"begin_solution_delimeter": '### "ANSWER'})
    text = nbformat.writes(new_notebook(cells=[new_code_cell('pass  ### "ANSWER')]))
    assert marker_in(text, own) == '### "ANSWER' and not marker_in(text, Config())
