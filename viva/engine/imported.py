"""Which answers the solution only imports, as ``from math import gcd`` where students are to write ``def gcd(a, b)``.

What the solution imports is the examiner's own otherwise: tests compute with it what they expect, and no student's
function of the name may take its place. It is an answer where nothing but the solution brings it, and where a test
asserts something that depends on nothing else of the student's; or where the stub itself defines it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from viva.engine.blueprint import ANSWERS, SOLUTION_MARK, Cell
from viva.engine.names import NOTHING, Names, changed_in, imports_of, names_in, names_of, nodes_of, parsed, rebound_of
from viva.engine.ownership import reached


def imported_answers(cells: Iterable[Cell], students: set[str]) -> set[str]:
    """Of the names that are the ``students``', those that the solution imports and that are answers all the same."""
    brought: set[str] = set()
    solved: set[str] = set()
    shown: set[str] = set()
    depends: dict[str, set[str]] = {}
    asserted: list[set[str]] = []
    for cell in cells:
        if cell.purpose in ANSWERS:
            visible = _stub(cell.source)
            brought |= imports_of(visible)
            shown |= rebound_of(visible)
            solved |= imports_of(cell.source)
            continue
        brought |= imports_of(cell.source)
        if cell.purpose == "tests":
            asserted += _asserted(cell.source, depends)
        else:
            depends |= (names_of(cell.source) or Names()).mentioned
    candidates = solved & students - brought
    alone = [about for names in asserted if (about := names & students) <= candidates]
    return (candidates & set().union(*alone)) | solved & shown


def _stub(source: str) -> str:
    """What students see of an answer cell: nothing where no mark says what the solution is."""
    lines, inside, marked = [], False, False
    for line in source.splitlines():
        if SOLUTION_MARK.match(line):
            inside, marked = "BEGIN" in line, True
        elif not inside:
            lines.append(line)
    return "\n".join(lines) if marked else ""


def _asserted(source: str, depends: dict[str, set[str]]) -> list[set[str]]:
    """For each statement of a grade cell that asserts something, the names that it comes to.

    ``depends`` says on which names others depend, those of the cells above too, and learns of this one.
    """
    statements = [(node, names_in(node)) for node in (parsed(source) or NOTHING).body]
    for node, names in statements:
        for name in names.bound | changed_in(node):
            depends.setdefault(name, set()).update(names.needed)
    checking = {node.name for node, _ in statements if isinstance(node, ast.FunctionDef) and _asserts(node)}
    found = []
    for place, (node, names) in enumerate(statements, start=1):
        credit = place == len(statements) and isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call)
        if credit or (not isinstance(node, ast.FunctionDef) and (_asserts(node) or names.used & checking)):
            found.append(names.needed | reached(names.needed, depends))
    return found


def _asserts(node: ast.stmt) -> bool:
    return any(
        isinstance(part, ast.Assert | ast.Raise) or (isinstance(part, ast.Call) and _is_assertion(part.func))
        for part in nodes_of(node)
    )


def _is_assertion(function: ast.expr) -> bool:
    """Whether it is called as those of NumPy, pandas, unittest and pytest are."""
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name.startswith("assert") or name == "raises"
