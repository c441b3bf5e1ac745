"""A right answer keeps its points whatever its author calls a variable or a helper of his own."""

from __future__ import annotations

import ast

import pytest

from tests.flow.test_known_answers import ASSIGNMENTS, notebooks
from tests.oral import lost
from viva.notebook.cell import Purpose
from viva.notebook.names import names_in, names_of
from viva.submission.studentcopy import open_copy
from viva_check import selfcheck
from viva_check.kernel import KernelGrader

COMMON = """a after allowed answer answers arr array arrays b batch before best c case cases check col cols column count
    counts d data delta diff dim e end entry eps epsilon err error exact expected f first func function g grad guess h
    head heads helper helpers i idx index indices inputs item items j k key keys l last left length line lower lst m
    mask masked mat matrix max_score mean means measure mu my n name names new norm normed num number numbers o other
    output outputs p pair part parts pos power powers prob probs q query r rand random_numbers ref reference res result
    results right rng root row rows s scale scaled score scores seed shape shift shifted sigma size sizes small std step
    steps std_dev sum_ sums t table target temp test tests tmp token tokens total totals u upper v val value values var
    variance vec vector w way weight weights word x xs y ys z zeros""".split()
"""What people call a variable or a helper function."""


def guarded(source: str, names: list[str]) -> str:
    """An answer that raises NameError where a name is no longer its author's, in its cell or in a function of it."""
    tree = ast.parse(source)
    for function in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        inner = names_in(*function.body).given | {part.arg for part in ast.walk(function) if isinstance(part, ast.arg)}
        function.body[:0] = _guard([name for name in names if name not in inner])
    tree.body[:0] = _guard(names)
    return ast.unparse(ast.fix_missing_locations(tree))


def _guard(names: list[str]) -> list[ast.stmt]:
    table = ", ".join(f"'{name}': {name}" for name in names)
    return ast.parse(
        f"if _taken := [_name for _name, _value in {{{table}}}.items() if not isinstance(_value, str)]:\n"
        "    raise NameError(f'these are no longer mine: {_taken}')"
    ).body


def with_names_of_his_own(assignment: str):
    """The right answer of a student who has a variable for each name that a test binds, and for the common ones."""
    blueprint, release = notebooks(assignment)
    bound: set[str] = set()
    known: set[str] = set()
    for cell in blueprint.cells:
        found = names_of(cell.source) if cell.code else None
        if found and cell.purpose == Purpose.TESTS:
            bound |= found.given
        elif found:
            known |= found.given | found.needed
    names = sorted((bound | set(COMMON)) - known)
    assert len(names) > 50
    solutions, first = blueprint.solutions(), True
    for cell in release.cells:
        if cell.id in solutions and cell.cell_type == "code":
            cell.source = guarded(solutions[cell.id], names)
            if first:
                cell.source, first = f"{' = '.join(names)} = 'mine'\n{cell.source}", False
    return release, names


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_name_of_the_students_own_costs_nothing_whatever_a_test_calls_by_it(
    grader, examination, tmp_path, assignment
):
    answered, _ = with_names_of_his_own(assignment)
    graded = grader.grade(answered, examination(assignment))
    assert graded.faults == [] and lost(graded) == {}
    tried, faults = selfcheck.practise(open_copy(answered), grader, tmp_path)
    assert faults == []
    assert [(one.cell, one.title, one.hint) for one in tried if one.counts and not one.passed] == []


@pytest.mark.slow
def test_it_costs_nothing_in_an_ordinary_kernel_either(tmp_path):
    """As in the student's check on macOS and Windows: ps6 has a mask called lower, and a loop over eps."""
    blueprint, release = notebooks("ps6_transformer_block")
    names = ["eps", "lower", "rows", "Y_under"]
    for cell in release.cells:
        if source := blueprint.solutions().get(cell.id):
            cell.source = guarded(source, names)
    first = next(cell for cell in release.cells if cell.id in blueprint.solutions())
    first.source = f"{' = '.join(names)} = 'mine'\n{first.source}"
    kernels = KernelGrader()
    tried, faults = selfcheck.practise(open_copy(release), kernels, tmp_path)
    assert faults == []
    assert [(one.cell, one.title, one.hint) for one in tried if one.counts and not one.passed] == []
