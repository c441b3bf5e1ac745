"""What test code asserts, of which names, and what it says when a check fails."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from viva.notebook.names import Names, changed_in, names_in, reached
from viva.notebook.syntax import nodes_in, nodes_of, statements_of


@dataclass(frozen=True)
class Message:
    """A message as code, with the lines on which it stands, and the bytes of these before and from which it does."""

    code: str
    parts: tuple[str | None, ...]
    """Its words in order, with None for each value between them; empty for a message that is computed."""
    words: str
    """All texts in it."""
    values: frozenset[str]
    """The names in the values that an f-string shows."""
    lines: range
    before: int
    behind: int


def messages(source: str) -> list[Message]:
    """What a test says: the messages of its assertions, and what it raises or hands to numpy.testing."""
    expressions: list[ast.expr] = []
    for node in nodes_in(source):
        if isinstance(node, ast.Assert) and node.msg is not None:
            expressions.append(node.msg)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "AssertionError":
            expressions += node.args[:1]
        elif isinstance(node, ast.keyword) and node.arg in ("err_msg", "msg"):
            expressions.append(node.value)
    return list(map(_message, expressions))


def _message(node: ast.expr) -> Message:
    nodes = nodes_of(node)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node] if isinstance(node, ast.Constant) else []
    texts = [part.value for part in nodes if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    shown = [inner for part in nodes if isinstance(part, ast.FormattedValue) for inner in nodes_of(part)]
    end = node.end_lineno or node.lineno
    return Message(
        code=ast.unparse(node),
        parts=tuple(str(part.value) if isinstance(part, ast.Constant) else None for part in parts),
        words="".join(texts),
        values=frozenset(inner.id for inner in shown if isinstance(inner, ast.Name)),
        lines=range(node.lineno, end + 1),
        before=node.col_offset,
        behind=node.end_col_offset or 0,
    )


def asserted(source: str, depends: dict[str, set[str]]) -> list[set[str]]:
    """The names that each assertion of a grade cell depends on.

    ``depends`` says on which names others depend, those of the cells above too, and learns of this one.
    """
    statements, nodes = statements_of(source), nodes_in(source)
    for node in nodes:
        for names, bound in _binding(node):
            for name in bound:
                depends.setdefault(name, set()).update(names.needed)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    checking = {node.name for node in functions if any(_asserts(part, set()) for part in nodes_of(node))}
    compared = [names_in(node).needed for node in nodes if _asserts(node, checking)]
    last = statements[-1] if statements else None
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call):  # partial credit
        compared.append(names_in(last).needed)
    return [names | reached(names, depends) for names in compared]


def _binding(node: ast.AST) -> Iterable[tuple[Names, set[str]]]:
    """The names that one part of a cell binds or changes, and those that this depends on."""
    match node:
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield names_in(value), names_in(target).assigned
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield names_in(value), names_in(target).assigned
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield names_in(node), {name}
        case ast.If(test=test, body=body, orelse=other):
            yield names_in(test), names_in(*body, *other).bound
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr() | ast.Expr():
            names = names_in(node)
            yield names, names.bound | changed_in(node)


def _asserts(node: ast.AST, checking: set[str]) -> bool:
    """Whether a part of a cell asserts something; ``checking`` are functions of the cell that do when they are called.

    What is raised depends on the conditions around it.
    """
    match node:
        case ast.Assert():
            return True
        case ast.Call(func=function):
            return _is_assertion(function) or (isinstance(function, ast.Name) and function.id in checking)
        case ast.If(body=body) | ast.Try(body=body):
            return any(isinstance(part, ast.Raise) for part in body)
        case ast.With(items=items):
            return any(
                isinstance(item.context_expr, ast.Call) and _is_assertion(item.context_expr.func) for item in items
            )
    return False


def _is_assertion(function: ast.expr) -> bool:
    """Whether it is called as those of NumPy, pandas, unittest and pytest are."""
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name.startswith("assert") or name == "raises"
