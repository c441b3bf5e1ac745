"""The cells that a trial needs. The audit leaves out those that only the tests look at.

Most of a notebook's time goes into its pictures, and no test depends on them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from viva.engine.blueprint import Blueprint, Cell
from viva.engine.examination import Examination
from viva.notebook.cell import ANSWERS, Purpose, name_of
from viva.notebook.names import Names, called_upon, names_of, needs, reached


def used_later(blueprint: Blueprint, answer: str) -> list[str]:
    """The names that an answer and the cells after it use, in order; what else it binds is its own affair.

    They may use them in functions of test cells above the answer.
    """
    ids = [cell.id for cell in blueprint.cells]
    used: set[str] = set()
    functions: dict[str, set[str]] = {}
    for index, cell in enumerate(blueprint.cells):
        names = names_of(cell.source) if cell.code else None
        if names and cell.purpose == Purpose.TESTS:
            functions |= names.mentioned
        if names and index > ids.index(answer):
            used |= names.needed
    return sorted(used | reached(used, functions))


def never_used(names: Names, used: Iterable[str]) -> list[str]:
    """The functions and classes of an answer that neither those who use the ``used`` names reach, nor its own lines."""
    needed = names.used | set(used)
    return sorted((names.mentioned.keys() & names.assigned) - needed - reached(needed, names.mentioned))


def reaching_tests(blueprint: Blueprint, answer: str) -> tuple[set[str], str]:
    """The test cells that can use what an answer binds; and the first cell that binds it again before any of them.

    Cells between pass it on, with what they make of it. Two answers may define the same name: then the tests below the
    second reach the second only.
    """
    ids = [cell.id for cell in blueprint.cells]
    names = names_of(blueprint.cells[ids.index(answer)].source)
    live = set(names.bound) if names else set()
    tests: set[str] = set()
    again = ""
    functions: dict[str, set[str]] = {}
    for cell in blueprint.cells:
        names = names_of(cell.source) if cell.code else None
        if not names:
            continue
        used = names.needed | reached(names.needed, functions)
        if cell.purpose == Purpose.TESTS:
            functions |= names.mentioned
        if ids.index(cell.id) <= ids.index(answer):
            continue
        if cell.purpose == Purpose.TESTS:
            tests |= {cell.id} if used & live else set()
        elif names.given & live and not names.used & live:  # a function that calls itself does not call the one above
            again = again or cell.id
            live -= names.given
        elif used & live:
            live |= names.bound
    return tests, "" if tests else again


def unneeded(blueprint: Blueprint) -> set[str]:
    """The read-only cells, such as those that draw, that bind nothing a later cell uses."""
    used: set[str] = set()
    drawing = set()
    for cell in reversed(blueprint.cells):
        if not cell.code:
            continue
        names = names_of(cell.source)
        plain = cell.purpose == Purpose.READ_ONLY and cell.id and "seed(" not in cell.source
        if names and plain and not (names.bound | called_upon(cell.source)) & used:
            drawing.add(cell.id)
        elif names is None or cell.purpose in ANSWERS:
            used |= names.needed | names.bound if names else set()
        else:
            used |= needs(cell.source)
    return drawing


def trimmed(notebook: NotebookNode, examination: Examination, tests: set[str]) -> tuple[NotebookNode, Examination]:
    """The notebook with these test cells only, and without text and pictures.

    Of other test cells the shared lines stay from which a test cell below has names. Of a notebook that is not in
    Python all code stays.
    """
    if not examination.blueprint.is_python:
        smaller = NotebookNode(notebook)
        smaller.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return smaller, examination
    cells = {cell.id: cell for cell in examination.blueprint.cells} | shared_lines(examination.blueprint, tests)
    out = unneeded(examination.blueprint)
    out |= {name for name, cell in cells.items() if cell.purpose == Purpose.TESTS and cell.checks and name not in tests}
    remaining = tuple(cell for name, cell in cells.items() if name not in out)
    smaller = NotebookNode(notebook)
    smaller.cells = [cell for cell in notebook.cells if cell.cell_type == "code" and name_of(cell) not in out]
    return smaller, replace(examination, blueprint=replace(examination.blueprint, cells=remaining))


def shared_lines(blueprint: Blueprint, tests: set[str]) -> dict[str, Cell]:
    """By id, without their checks: the other test cells whose shared lines bind what these ``tests`` need."""
    cells = [cell for cell in blueprint.cells if cell.purpose == Purpose.TESTS]
    needed = set().union(*(needs(cell.source) for cell in cells if cell.id in tests))
    shared: dict[str, Cell] = {}
    candidates = [(cell, names) for cell in cells if cell.id not in tests and (names := names_of(cell.prelude))]
    while needing := [cell for cell, names in candidates if cell.id not in shared and names.bound & needed]:
        shared |= {cell.id: replace(cell, source=cell.prelude, points=0.0, checks=()) for cell in needing}
        needed = needed.union(*(needs(cell.prelude) for cell in needing))
    return shared


SEED = "import random, numpy\nrandom.seed({0})\nnumpy.random.seed({0})"


def seeded(notebook: NotebookNode, seed: int) -> NotebookNode:
    """A notebook that begins with another state of the global random numbers."""
    seeded = copy.copy(notebook)
    seeded.cells = [new_code_cell(SEED.format(seed)), *notebook.cells]
    return seeded
