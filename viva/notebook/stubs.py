"""How far an answer is, read from its text: nothing was written, or the stub's line that raises is in its way.

What was released is known in grading and not in `viva check`; there a stub is told by its form alone.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from viva.notebook.names import names_within
from viva.notebook.syntax import FUNCTIONS, LONGEST, SCOPES, Definition, nodes_in, nodes_of, parsed, statements_of

STUB = "NotImplementedError"
_IDLE = ("pass", "...", "return", "return None", f"raise {STUB}", f"raise {STUB}()")
_BLOCKS = ast.For | ast.While | ast.With


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
    tree = parsed(source)
    idle = trivial.issuperset(_lines(source)) or (
        tree is not None and all(_is_idle(node, trivial) for node in tree.body)
    )
    if tree is None:
        return State(idle)
    lines = {*_IDLE, *(line for line in trivial if line.startswith(f"raise {STUB}"))}
    functions = _undone(tree, lines)
    if not idle and (released := parsed(stub) if stub else None):
        functions &= _undone(released, lines)
    index = next((index for index, node in enumerate(tree.body) if _raises(node, trivial)), None)
    if index is None:
        return State(idle, functions)
    inside = not isinstance(tree.body[index], ast.Raise)  # what a loop was to fill is not there yet
    before = [] if inside else [node for node in tree.body[:index] if not _is_beginning(node, trivial)]
    return State(idle, functions, True, frozenset(names_within(*before).bound))


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
        if isinstance(node, FUNCTIONS)
        if all(_is_idle(inner, trivial) for inner in node.body) or any(_raises(inner, trivial) for inner in node.body)
    )


def _is_idle(node: ast.stmt, trivial: set[str]) -> bool:
    """Whether a statement does nothing: also a function or a loop around nothing."""
    if isinstance(node, _BLOCKS | Definition):
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


# --- stubs that are told by their form alone


def undone_functions(source: str) -> set[str]:
    """The functions that raise NotImplementedError where they are defined last, as a stub does."""
    return {name for name, undone in _defined(source).items() if undone[-1]}


def redone_functions(source: str) -> set[str]:
    """The functions that a stub's definition follows, below one that is done."""
    return {name for name, undone in _defined(source).items() if undone[-1] and not all(undone)}


def _defined(source: str) -> dict[str, list[bool]]:
    """By function and class of the top level, whether each definition of it raises as a stub does."""
    functions: dict[str, list[bool]] = {}
    for node in statements_of(source):
        if isinstance(node, Definition):
            functions.setdefault(node.name, []).append(any(map(_raises_anyhow, node.body)))
    return functions


def is_behind_stub(source: str) -> bool:
    """Whether more than what is shown follows the line of a stub that raises, in any block."""
    return any(_goes_on(getattr(node, "body", None)) for node in nodes_in(source))


def _raises_anyhow(node: ast.stmt) -> bool:
    """Whether a statement is the line of a stub, whatever it says, or a loop around it."""
    if isinstance(node, _BLOCKS):
        return any(map(_raises_anyhow, node.body))
    return isinstance(node, ast.Raise) and ast.unparse(node).startswith(f"raise {STUB}")


def _goes_on(block: object) -> bool:
    if not isinstance(block, list):  # as the body of a lambda
        return False
    raised = [number for number, node in enumerate(block) if _raises_anyhow(node)]
    return bool(raised) and not all(isinstance(node, ast.Expr | ast.Raise) for node in block[raised[0] + 1 :])


def silent_functions(source: str) -> dict[str, bool]:
    """The functions of a cell's top level, and whether each gives no value and raises nothing, as if its ``return`` was
    forgotten; a decorator may give one."""
    functions = [node for node in statements_of(source) if isinstance(node, FUNCTIONS)]
    return {node.name: not node.decorator_list and not _gives(node) for node in functions}


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
