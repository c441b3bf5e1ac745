"""Ownership: the cells and names of a notebook that depend on the student.

Untainted cells can be run by the examiner itself. An instructor cell is tainted when running it
uses a name that is the student's: a name that an answer cell binds or changes, or that a tainted
cell binds. A given function that mentions such a name taints the cells that call it, not the cell
that defines it. Everything is judged by the instructor's solution: what else a student rebinds
does not matter.

A test that uses nothing of any answer cell can only be about the open cells that it uses, those
that students may edit though nbgrader does not know them: these are answers then.

What the solution only imports is the examiner's own: tests compute with it what they expect, and no student's function
of the name may take its place. It is an answer (``from math import gcd`` where students write ``def gcd(a, b)``) where
nothing but the solution brings it, and where all that tests assert of it depends on nothing else of the student's; or
where the stub defines it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from viva.engine.blueprint import SOLUTION_MARK, Cell
from viva.notebook.assertions import asserted
from viva.notebook.cell import ANSWERS, Purpose
from viva.notebook.names import Names, imports_of, names_of, reached, rebound_of


@dataclass(frozen=True)
class Plan:
    """``given``: cells that the examiner runs. ``owned``: by cell, the names that are the student's from there on."""

    given: frozenset[str]
    owned: dict[str, frozenset[str]]


def plan(cells: Iterable[tuple[str, Purpose, str]], changed: dict[str, set[str]] | None = None) -> Plan:
    """The plan for a notebook's code cells, given as (id, purpose, source) in order.

    ``changed`` names, by answer cell, what running the solution changed in place beyond what its
    text shows.
    """
    cells = list(cells)
    named = [(cell, purpose, names_of(source)) for cell, purpose, source in cells]
    result = _fixed(named, changed or {})
    tested = _only_tested(cells, named, result)
    if not tested:
        return result
    named = [(cell, Purpose.ANSWER if cell in tested else purpose, names) for cell, purpose, names in named]
    return _fixed(named, changed or {})


def _only_tested(cells: list[tuple[str, Purpose, str]], named: list, plan: Plan) -> set[str]:
    """The open cells that hold the answers to tests which use nothing of an answer cell; imports are not answers."""
    students: set[str] = set()
    functions: dict[str, set[str]] = {}
    open_cells: dict[str, set[str]] = {}
    tested: set[str] = set()
    for (cell, purpose, source), (_, _, names) in zip(cells, named, strict=True):
        students |= plan.owned.get(cell, frozenset())
        if names is None:
            continue
        functions |= names.mentioned
        if purpose == Purpose.OPEN:
            open_cells[cell] = names.bound - imports_of(source)
        elif purpose == Purpose.TESTS:
            needed = names.needed
            needed |= reached(needed, functions)
            if not needed & students:
                tested |= {name for name, bound in open_cells.items() if bound & needed}
    return tested


def _fixed(named: list, changed: dict[str, set[str]]) -> Plan:
    ever: set[str] = set()
    while True:
        result, lost = _pass(named, changed, ever)
        if lost <= ever:
            return result
        ever |= lost


def _pass(named: list, changed: dict[str, set[str]], ever: set[str]) -> tuple[Plan, set[str]]:
    students: set[str] = set()
    functions: dict[str, set[str]] = {}
    read_only, owned, lost_names = set(), {}, set()
    for cell, purpose, names in named:
        if purpose == Purpose.TESTS:
            continue
        if names is None:
            names = Names()
            tainted = True
        else:
            functions |= names.mentioned
            used = names.used | reached(names.used, functions)
            tainted = purpose in ANSWERS or bool(used & students) or bool(reached(names.used, functions) & ever)
        if tainted:
            lost = names.bound | changed.get(cell, set())
            students |= lost
            lost_names |= lost
            owned[cell] = frozenset(lost)
        else:
            students -= names.bound
            read_only.add(cell)
    return Plan(frozenset(read_only), owned), lost_names


# --- answers that the solution only imports


def imported_answers(cells: Iterable[Cell], students: set[str]) -> set[str]:
    """Those of the ``students``' names that the solution imports and that are answers all the same."""
    brought: set[str] = set()
    solved: set[str] = set()
    shown: set[str] = set()
    depends: dict[str, set[str]] = {}
    compared: list[set[str]] = []
    for cell in cells:
        if cell.purpose in ANSWERS:
            visible = _stub(cell.source)
            brought |= imports_of(visible)
            shown |= rebound_of(visible)
            solved |= imports_of(cell.source)
            continue
        brought |= imports_of(cell.source)
        if cell.purpose == Purpose.TESTS:
            compared += asserted(cell.source, depends)
        else:
            mentioned = (names_of(cell.source) or Names()).mentioned
            depends |= {name: set(needed) for name, needed in mentioned.items()}  # what names_of keeps must not grow
    candidates = solved & students - brought
    compared = [names & students for names in compared]
    alone = set().union(*(names for names in compared if names <= candidates))
    beside = set().union(*(names for names in compared if not names <= candidates))
    return (alone - beside) | solved & shown


def _stub(source: str) -> str:
    """The lines of an answer cell that students see; empty if no mark says what the solution is."""
    lines, inside, marked = [], False, False
    for line in source.splitlines():
        if SOLUTION_MARK.match(line):
            inside, marked = "BEGIN" in line, True
        elif not inside:
            lines.append(line)
    return "\n".join(lines) if marked else ""
