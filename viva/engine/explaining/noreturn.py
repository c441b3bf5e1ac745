"""Functions without ``return``: what a test then says of their shape or of a number helps nobody."""

from __future__ import annotations

import ast

from viva.engine.dialogue.expected import PLAIN, expected_of
from viva.engine.examination import Examination
from viva.engine.explaining.place import Place, Question, names_in_text
from viva.notebook.syntax import NOTHING, parsed
from viva.record import Note, note

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = FUNCTIONS | ast.ClassDef | ast.Lambda


class NoReturn:
    """Knows the functions whose text gives no value, where the solution's call gives one."""

    def __init__(self, examination: Examination) -> None:
        self.examination = examination
        self.silent: set[str] = set()

    def pass_cell(self, place: Place) -> None:
        self.silent -= place.names.given
        for node in (parsed(place.source) or NOTHING).body:
            if isinstance(node, FUNCTIONS):
                self.silent.discard(node.name)
                kind = expected_of(self.examination.kinds.get(f"{node.name}()", "")).kind
                if kind == PLAIN and not node.decorator_list and not _gives(node):
                    self.silent.add(node.name)

    def explain(self, question: Question) -> None:
        result = question.result
        if not question.is_lost or result.raised_by != "test" or result.cause or result.lost or result.undone:
            return
        if found := sorted(self.silent and names_in_text(question.source).needed & self.silent):
            result.cause = note("no_return", found[0])

    def doubts(self) -> list[Note]:
        return []


def _gives(function: ast.AST) -> bool:
    """Whether something in a function, and in no function in it, gives a value or raises."""
    todo = list(ast.iter_child_nodes(function))
    for node in todo:
        match node:
            case ast.Return(value=ast.expr()) | ast.Yield() | ast.YieldFrom() | ast.Raise():
                return True
        if not isinstance(node, SCOPES):
            todo += ast.iter_child_nodes(node)
    return False
