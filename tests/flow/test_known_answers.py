"""Known answers are held to their word, check by check, in one plain process, where no error is carried forward."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest

from tests.conftest import PROJECT
from tests.flow.shell import lost_checks
from viva.engine.blueprint import read_blueprint
from viva.engine.checks import Check
from viva_audit.answers import fill_in, read_answers

ASSIGNMENTS = sorted(path.name for path in (PROJECT / "answers").iterdir() if path.is_dir())
ANSWERS = [(name, answer) for name in ASSIGNMENTS for answer in read_answers(PROJECT / "answers" / name)]


def notebooks(assignment):
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    return read_blueprint(source), nbformat.read(PROJECT / "release" / assignment / source.name, as_version=4)


# test_two_processes.py holds others to their word in the engine, and `make audit` all
@pytest.mark.parametrize(
    ("assignment", "answer"),
    ANSWERS[1::8],
    ids=[f"{name}-{answer.path.parent.name}-{answer.name}" for name, answer in ANSWERS[1::8]],
)
@pytest.mark.usefixtures("processes")
def test_a_known_answer_loses_the_checks_it_names_and_a_right_one_no_other(assignment, answer):
    blueprint, release = notebooks(assignment)
    expected = set() if answer.right else answer.lost_checks(blueprint)
    lost = lost_checks(fill_in(answer, release, blueprint), blueprint)
    assert expected <= set(lost) and not (answer.right and lost), lost


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@pytest.mark.usefixtures("processes")
def test_the_instructors_solution_earns_every_check(assignment):
    blueprint, _ = notebooks(assignment)
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    assert lost_checks(nbformat.read(source, as_version=4), blueprint) == {}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@pytest.mark.usefixtures("processes")
def test_a_test_cell_that_ends_at_its_first_failure_costs_no_other_as_nbgrader_runs_it(assignment):
    """The answer loses something of the first test cell, whose shared lines those below use, and keeps most others."""
    blueprint, release = notebooks(assignment)
    first = next(cell.id for cell, _ in blueprint.checks())
    wrong = [answer for name, answer in ANSWERS if name == assignment and not answer.right]
    expected = [({cell for cell, _ in answer.lost_checks(blueprint)}, answer) for answer in wrong]
    _, answer = min((pair for pair in expected if first in pair[0]), key=lambda pair: len(pair[0]))
    cells = (replace(cell, prelude="", checks=_whole(cell)) for cell in blueprint.cells)
    whole = replace(blueprint, cells=tuple(cells))
    handed_in = fill_in(answer, release, blueprint)
    by_check, by_cell = ({cell for cell, _ in lost_checks(handed_in, kind)} for kind in (blueprint, whole))
    assert first in by_cell == by_check


def _whole(cell):
    """The checks of a test cell as one."""
    return (Check("all", cell.points, cell.source),) if cell.checks else ()


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_set_of_known_answers_is_large_enough(assignment):
    answers = read_answers(PROJECT / "answers" / assignment)
    wrong = [answer.name for answer in answers if not answer.right]
    assert len(answers) - len(wrong) >= 4
    assert len(wrong) >= 8
    assert {"untouched", "only_the_first_answers", "pasted_numbers"} <= set(wrong)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@pytest.mark.usefixtures("processes")
def test_an_untouched_notebook_loses_every_check(assignment):
    blueprint, release = notebooks(assignment)
    every = {(cell.id, check.title) for cell, check in blueprint.checks()}
    assert set(lost_checks(release, blueprint)) == every
