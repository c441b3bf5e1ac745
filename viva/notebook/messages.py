"""What test code says when a check fails: the messages of assertions, and what it raises or hands to numpy.testing."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from viva.notebook.syntax import nodes_in, nodes_of


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
    """The messages of a test's code."""
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
