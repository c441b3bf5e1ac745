"""What a student's copy says of itself, and how it is read where it says nothing or was changed."""

from __future__ import annotations

import math

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.handmade import answer, code, graded, text
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import Check
from viva.engine.credit import FULL
from viva.engine.examination import Examination
from viva.engine.ownership import Plan
from viva.language import named
from viva.notebook.cell import Purpose
from viva.record import Note
from viva.sandbox.confinement import LEAST_MEMORY, MB, MOST_MEMORY
from viva.submission.studentcopy import describe, open_copy

TEST = "step = double(size)\nmean, shown, size = sum(step[0]), 1, 2\n### CHECK (2 points): seen\n"
TEST += "assert mean == open('a').read()"
HIDDEN = "### BEGIN HIDDEN TESTS\nassert a\n### END HIDDEN TESTS"
DESCRIBED = {
    "given": ["size"],
    "inside": ["test"],
    "owned": {"double": ["double", "mean"]},
    "kinds": {
        "double()": "plain, never empty in size",
        "double() changed": "",
        "double().mean": "",
        "double().step": "",
        "mean": "plain, never empty",
    },
    "cells": {"size": "ae0ea9b2bc62", "picture": "5da5b03118ae", "test": "512692325400", "again": "3685ee1fb155"},
    "seconds": 2.5,
    "credit": ["test"],
    "looks": {"test": "a"},
    "files": {"double": ["a", "b"]},
    "cut": {"test": ["seen"]},
    "shared": ["step"],
    "memory": 512,
    "language": "de",
}


def notebook(about: object = None):
    cells = [
        code("size", "size = 3", locked=True),
        text("story", "deep", locked=True),
        answer("double", "def double(x):\n    raise NotImplementedError()"),
        code("picture", "draw(shown)", locked=True),
        new_code_cell("rough = 1"),
        graded("test", TEST, 2),
        graded("again", "assert double", 0),
    ]
    return new_notebook(cells=cells, metadata={"viva": {"check": about}} if about else {})


def test_a_copy_says_what_its_visible_lines_need_and_nothing_that_is_usual_or_hidden():
    checks = (Check("seen", 1, "a", cut=True), Check("unseen", 1, HIDDEN, cut=True), Check("whole", 1, "b"))
    examination = Examination(
        Blueprint("", tuple(Cell(name, Purpose.TESTS, "", checks=checks) for name in ("test", "gone"))),
        Plan(
            frozenset({"size", "gone"}),
            {"double": frozenset({"double", "mean", "secret"}), "gone": frozenset({"step"})},
        ),
        {
            "double()": "plain, never empty in size secret",
            "double() changed": "",
            "double().deep": "",
            "double().mean": "numpy:secret",
            "double().step": "numpy:sum",
            "mean": "plain, never empty",
            "step": "",
            "?": "",
            " credit test": FULL,
            " credit again": "",
            " looks test": "a",
            " looks gone": "b",
        },
        {"test": Note("declared"), "gone": Note("declared")},
        files={"double": frozenset({"b", "a"}), "size": frozenset(), "gone": frozenset("c")},
        beside_tests=frozenset({"mean", "shown", "step", "size", "other", "sum"}),
    )
    assert describe(notebook(), examination, 2.5, 512 * MB, named("de")) == DESCRIBED
    bare = {"given": [], "inside": [], "owned": {}, "kinds": {}, "cells": DESCRIBED["cells"], "seconds": 9}
    said = describe(notebook(), Examination(Blueprint("", ()), Plan(frozenset(), {}), {}), 9.0)
    assert said == bare
    assert type(said["seconds"]) is int


def test_what_a_copy_says_is_what_it_is_graded_by():
    found = open_copy(notebook(DESCRIBED))
    known = found.examination
    assert (found.described, found.seconds, found.memory, found.language.tag) == (True, 2.5, 512 * MB, "de")
    assert (found.unchecked, found.remarks, known.deleted) == ({}, [], {})
    assert known.plan == Plan(frozenset({"size"}), {"double": frozenset({"double", "mean"})})
    assert known.kinds == DESCRIBED["kinds"] | {" credit test": FULL, " looks test": "a"}
    assert (known.inside, known.files) == ({"test"}, {"double": frozenset({"a", "b"})})
    assert known.names_beside_tests == {"step", "double", "mean", "size", "draw", "shown"}
    assert {name: [check.cut for check in cell.checks] for name, cell in known.cells.items() if cell.checks} == {
        "test": [True],
        "again": [False],
    }


@pytest.mark.parametrize(
    "part",
    [
        *({name: {}} for name in ("given", "inside", "credit", "shared")),
        *({name: ["size"]} for name in ("owned", "kinds", "cells", "looks", "files", "cut")),
        *({name: [1]} for name in ("given", "inside", "credit", "shared")),
        *({name: {"test": 1}} for name in ("owned", "kinds", "cells", "looks", "files", "cut")),
        *({"memory": memory} for memory in ("512", LEAST_MEMORY - 1, MOST_MEMORY + 1)),
        {"seconds": -1},
    ],
    ids=str,
)
def test_a_copy_that_says_something_of_another_form_says_nothing(part):
    assert not open_copy(notebook(DESCRIBED | part)).described
    assert not open_copy(notebook([])).described


@pytest.mark.parametrize("memory", [LEAST_MEMORY, MOST_MEMORY])
def test_the_least_and_the_most_memory_can_be_said(memory):
    assert open_copy(notebook(DESCRIBED | {"memory": memory})).memory == memory * MB


def test_cells_that_a_student_changed_or_deleted_are_named_and_copies_earn_nothing():
    changed = notebook(DESCRIBED | {"language": "en"})
    _, story, _, picture, _, test, _ = changed.cells
    test.source += "\npass"
    picture.source += "\npass"
    story.source += "!"
    changed.cells = [story, picture, test, graded("test", "assert True", 5)]
    found = open_copy(changed)
    assert set(found.unchecked) == {"test", "again"}
    assert len(found.remarks) == 1
    assert "'picture'" in found.remarks[0]
    assert found.examination.deleted == {"size": False, "double": True}
    assert "nbgrader" not in changed.cells[-1].metadata
    assert found.examination.cells["test"].points == 2


def test_a_copy_that_says_nothing_is_read_by_its_checksums_and_its_text():
    plain = notebook()
    size, _, _, picture, _, test, again = plain.cells
    for cell in (picture, test, size):
        cell.metadata.nbgrader.checksum = "another"
    size.metadata.nbgrader.locked = False
    again.metadata.viva = {"where": "candidate", "seconds": 4}
    plain.metadata.viva = {"seconds": 7}
    found = open_copy(plain)
    known = found.examination
    assert (found.described, set(found.unchecked), len(found.remarks)) == (False, {"test"}, 1)
    assert known.plan.given == {"picture"}
    assert set(known.kinds) == {"size", "double", "rough"}
    assert set(known.inside) == {"again"}
    assert (known.cells["test"].seconds, known.cells["again"].seconds) == (7, 4)


@pytest.mark.parametrize("points", [-1, math.inf, math.nan, "2", None])
def test_points_that_are_no_number_of_points_count_nothing(points):
    assert open_copy(new_notebook(cells=[graded("test", "assert a", points)])).examination.cells["test"].points == 0
