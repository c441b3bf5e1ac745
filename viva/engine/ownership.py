"""Which cells and names of a notebook depend on the student.

Untainted cells can be run by the examiner itself. An instructor cell is tainted when running it
uses a name that is the student's: a name that an answer cell binds or changes, or that a tainted
cell binds. A given function that mentions such a name taints the cells that call it, not the cell
that defines it. Everything is judged by the instructor's solution: what else a student rebinds
does not matter.

A test that uses nothing of any answer cell can only be about the open cells that it uses, those
that students may edit though nbgrader does not know them: these are answers then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from viva.engine.blueprint import ANSWERS
from viva.engine.names import Names, imports_of, names_of


@dataclass(frozen=True)
class Plan:
    """``given``: cells that the examiner runs. ``owned``: by cell, the names that are the student's from there on."""

    given: frozenset[str]
    owned: dict[str, frozenset[str]]


def plan(cells: Iterable[tuple[str, str, str]], changed: dict[str, set[str]] | None = None) -> Plan:
    """The plan for a notebook's code cells, given as (id, purpose, source) in order; ``open`` is a purpose too.

    ``changed`` names, by answer cell, what running the solution changed in place beyond what its
    text shows.
    """
    cells = list(cells)
    known = [(cell, purpose, names_of(source)) for cell, purpose, source in cells]
    result = _fixed(known, changed or {})
    tested = _only_tested(cells, known, result)
    if not tested:
        return result
    known = [(cell, "answer" if cell in tested else purpose, names) for cell, purpose, names in known]
    return _fixed(known, changed or {})


def _only_tested(cells: list[tuple[str, str, str]], known: list, found: Plan) -> set[str]:
    """The open cells that hold the answers to tests which use nothing of an answer cell; imports are no answers."""
    mine: set[str] = set()
    functions: dict[str, set[str]] = {}
    open_cells: dict[str, set[str]] = {}
    tested: set[str] = set()
    for (cell, purpose, source), (_, _, names) in zip(cells, known, strict=True):
        mine |= found.owned.get(cell, frozenset())
        if names is None:
            continue
        functions |= names.mentioned
        if purpose == "open":
            open_cells[cell] = names.bound - imports_of(source)
        elif purpose == "tests":
            needed = names.needed
            needed |= reached(needed, functions)
            if not needed & mine:
                tested |= {name for name, bound in open_cells.items() if bound & needed}
    return tested


def _fixed(known: list, changed: dict[str, set[str]]) -> Plan:
    ever: set[str] = set()
    while True:
        result, found = _pass(known, changed, ever)
        if found <= ever:
            return result
        ever |= found


def _pass(known: list, changed: dict[str, set[str]], ever: set[str]) -> tuple[Plan, set[str]]:
    mine: set[str] = set()
    functions: dict[str, set[str]] = {}
    given, owned, found = set(), {}, set()
    for cell, purpose, names in known:
        if purpose == "tests":
            continue
        if names is None:
            names = Names()
            tainted = True
        else:
            functions |= names.mentioned
            used = names.used | reached(names.used, functions)
            tainted = purpose in ANSWERS or bool(used & mine) or bool(reached(names.used, functions) & ever)
        if tainted:
            lost = names.bound | changed.get(cell, set())
            mine |= lost
            found |= lost
            owned[cell] = frozenset(lost)
        else:
            mine -= names.bound
            given.add(cell)
    return Plan(frozenset(given), owned), found


def reached(used: set[str], functions: dict[str, set[str]]) -> set[str]:
    """The names mentioned by the functions in ``used``, and by the functions that those mention."""
    reached: set[str] = set()
    todo = [name for name in used if name in functions]
    seen = set(todo)
    while todo:
        for name in functions[todo.pop()]:
            reached.add(name)
            if name in functions and name not in seen:
                seen.add(name)
                todo.append(name)
    return reached
