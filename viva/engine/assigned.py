"""What a student's cell may give another value, by its text alone: while it runs, and when its functions are called."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from dataclasses import dataclass

from viva.engine.names import CHANGING, NOTHING, SCOPES, nodes_of, parsed

MOST_TEXT = 20_000
"""Of a longer cell nobody asks what it assigns to."""
DYNAMIC = frozenset("__import__ eval exec get_ipython globals locals setattr vars".split())
"""Functions that may assign to any name. Magics are calls of get_ipython()."""


@dataclass(frozen=True)
class Assigned:
    """The names that a cell may give another value: while it ``runs``, and whenever one of its functions is called
    ``later``."""

    runs: frozenset[str]
    later: frozenset[str]


@functools.lru_cache(4096)
def assigned_of(source: str) -> Assigned | None:
    """What the text of a student's cell assigns to at whatever depth, changes in place, or hands to a function of the
    notebook that may change it. None when the text does not say."""
    try:
        tree = parsed(source) if len(source) <= MOST_TEXT else None
        nodes = nodes_of(tree or NOTHING)
        later = [inner for node in nodes if isinstance(node, (*SCOPES, ast.ClassDef)) for inner in nodes_of(node)]
        runs, called = (frozenset().union(*map(_assigned, part)) for part in (nodes, later))
    except (Exception, MemoryError):  # IPython's reading of a stranger's text may raise what it likes
        tree = None
    if tree is None or "*" in runs:
        return None
    if any(isinstance(node, ast.Name) and node.id in DYNAMIC for node in nodes):
        runs |= frozenset(re.findall(r"\w+", source))
    return Assigned(runs, called)


def _assigned(node: ast.AST) -> set[str]:
    """The names that one node of a syntax tree may give another value."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.AsyncFunctionDef(name=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return {name}
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return set(names)
        case ast.alias():
            return {(node.asname or node.name).partition(".")[0]}
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in CHANGING:
            changed = [node.func.value, *node.args]
        case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
            changed = [*node.args, *(keyword.value for keyword in node.keywords)]
            return {part.id for part in changed if isinstance(part, ast.Name)}
        case ast.keyword(arg="out", value=value):
            changed = [value]
        case _:
            return set()
    return {inner.id for part in changed for inner in ast.walk(part) if isinstance(inner, ast.Name)}
