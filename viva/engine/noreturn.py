"""Functions without ``return``: what a test then says of their shape or of a number helps nobody.

Where the solution's call gives a value, and the text of the student's function has nothing that gives one, a check that
uses it and was lost says so. Verdicts and points stay as they are.
"""

from __future__ import annotations

import ast

from nbformat import NotebookNode

from viva.engine.dialogue.expected import PLAIN, expected_of
from viva.engine.examination import Examination
from viva.engine.names import NOTHING, names_of, parsed
from viva.engine.outcome import Outcome
from viva.record import note
from viva.verdict import Verdict

LONGEST = 200_000
"""A longer cell is not looked at."""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = FUNCTIONS | ast.ClassDef | ast.Lambda


def mark(outcome: Outcome, notebook: NotebookNode, examination: Examination) -> None:
    """Write into each lost check which function it uses that has no ``return``, where there is one."""
    lost = [
        (cell, result)
        for cell, results in outcome.checks.items()
        for result in results
        if result.verdict in (Verdict.FAILED, Verdict.ERROR) and result.raised_by == "test"
        if not (result.cause or result.lost or result.undone)
    ]
    silent = _silent(notebook, examination) if lost else set()
    for cell, result in lost if silent else ():
        test = examination.cells[cell]
        source = next(check.source for check in test.checks if check.title == result.title)
        names = names_of(f"{test.prelude}\n{source}")
        if names and (found := sorted(names.needed & silent)):
            result.cause = note("no_return", found[0])


def _silent(notebook: NotebookNode, examination: Examination) -> set[str]:
    """The functions of a notebook that give nothing, and give plain data in the solution."""
    silent: set[str] = set()
    for cell in notebook.cells:
        short = cell.cell_type == "code" and len(cell.source) <= LONGEST
        for node in (parsed(cell.source) or NOTHING).body if short else ():
            if isinstance(node, FUNCTIONS):
                silent -= {node.name}
                if not node.decorator_list and not _gives(node):
                    silent.add(node.name)
    kinds = examination.kinds
    return {name for name in silent if expected_of(kinds.get(f"{name}()", "")).kind == PLAIN}


def _gives(function: ast.AST) -> bool:
    """Whether something in a function, and in no function in it, gives a value."""
    todo = list(ast.iter_child_nodes(function))
    for node in todo:
        match node:
            case ast.Return(value=ast.expr()) | ast.Yield() | ast.YieldFrom() | ast.Raise():
                return True
        if not isinstance(node, SCOPES):
            todo += ast.iter_child_nodes(node)
    return False
