"""How far an answer is, read from its text: nothing was written, or the stub's line that raises is in its way.

What was released is known in grading and not in `viva check`; there a stub is told by its form alone.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from viva.engine.explaining.place import LONGEST
from viva.notebook.names import Names, names_of
from viva.notebook.syntax import nodes_of, parsed

STUB = "NotImplementedError"
_IDLE = ("pass", "...", "return", "return None", f"raise {STUB}", f"raise {STUB}()")
_BLOCKS = ast.For | ast.While | ast.With
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class State:
    """How far an answer is: whether it is ``idle`` (nothing was written), its ``functions`` that are not done, and
    whether the stub's line ``raises`` outside of them; ``bound`` are the names that come before that line."""

    idle: bool = False
    functions: frozenset[str] = frozenset()
    raises: bool = False
    bound: frozenset[str] = frozenset()


@functools.lru_cache(1024)
def state_of(source: str, stub: str = "") -> State:
    """The state of an answer; ``stub`` is its text as it was released, if that is known."""
    if len(source) > LONGEST:
        return State()
    trivial = {*_IDLE, *_lines(stub)}
    tree = _tree(source)
    idle = trivial.issuperset(_lines(source)) or (
        tree is not None and all(_is_idle(node, trivial) for node in tree.body)
    )
    if tree is None:
        return State(idle)
    lines = {*_IDLE, *(line for line in trivial if line.startswith(f"raise {STUB}"))}
    functions = _undone(tree, lines)
    if not idle and (released := _tree(stub) if stub else None):
        functions &= _undone(released, lines)
    index = next((index for index, node in enumerate(tree.body) if _raises(node, trivial)), None)
    if index is None:
        return State(idle, functions)
    inside = not isinstance(tree.body[index], ast.Raise)  # what a loop was to fill is not there yet
    before = [] if inside else [node for node in tree.body[:index] if not _is_beginning(node, trivial)]
    bound = names_of("\n".join(map(ast.unparse, before))) or Names()
    return State(idle, functions, True, frozenset(bound.bound))


def _tree(source: str) -> ast.Module | None:
    try:
        return parsed(source)
    except (RecursionError, MemoryError):
        return None


def _lines(source: str) -> Iterator[str]:
    """The lines of code, without comments and white space of their own."""
    for line in source.splitlines():
        if words := line.partition("#")[0].split():
            yield " ".join(words)


def _undone(tree: ast.Module, trivial: set[str]) -> frozenset[str]:
    """The functions that do nothing, or raise whatever they are given."""
    return frozenset(
        node.name
        for node in nodes_of(tree)
        if isinstance(node, _FUNCTIONS)
        if all(_is_idle(inner, trivial) for inner in node.body) or any(_raises(inner, trivial) for inner in node.body)
    )


def _is_idle(node: ast.stmt, trivial: set[str]) -> bool:
    """Whether a statement does nothing: also a function or a loop around nothing."""
    if isinstance(node, _BLOCKS | _FUNCTIONS | ast.ClassDef):
        return all(_is_idle(inner, trivial) for inner in node.body)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass | ast.Return | ast.Raise) and ast.unparse(node) in trivial


def _raises(node: ast.stmt, trivial: set[str]) -> bool:
    """Whether a statement is the line of the stub that raises, or a loop around it; no condition stands before it."""
    if isinstance(node, _BLOCKS):
        return any(_raises(inner, trivial) for inner in node.body)
    return isinstance(node, ast.Raise) and bool(node.exc) and STUB in (text := ast.unparse(node)) and text in trivial


def _is_beginning(node: ast.stmt, trivial: set[str]) -> bool:
    """Whether a statement only makes a place for what the answer was to fill, or was released."""
    value = getattr(node, "value", None)
    empty = isinstance(value, ast.List | ast.Tuple | ast.Dict) and not list(ast.iter_child_nodes(value))[1:]
    return isinstance(value, ast.Constant) or empty or set(_lines(ast.unparse(node))) <= trivial
