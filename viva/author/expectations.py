"""Expected results in a test that are computed from what a student's function had before, and may have changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from viva.engine.blueprint import Blueprint, Purpose


def stale(blueprint: Blueprint) -> Iterator[str]:
    """A sentence for each name from which something is expected though the student's function may have changed it."""
    theirs = set().union(*(_functions(cell.source) for cell in blueprint.cells if cell.purpose == Purpose.ANSWER))
    ours: set[str] = set()
    for cell, check in blueprint.checks():
        ours |= _functions(cell.source)  # test cells below use them too
        for name in dict.fromkeys(_stale(tree_of(check.source).body, theirs, ours, set())):
            yield (
                f"Cell '{cell.id}', check '{check.title}': the student's function got '{name}' before the expected "
                f"result is computed from it, and may have changed it. Compute the result before, or pass a copy."
            )


def _stale(body: list[ast.stmt], theirs: set[str], ours: set[str], had: set[str]) -> Iterator[str]:
    """The names from which something is expected after a function of ``theirs`` had them as they are."""
    for statement in body:
        blocks = [getattr(statement, block) for block in ("body", "orelse") if getattr(statement, block, [])]
        shown = {id(node) for node in ast.walk(getattr(statement, "msg", None) or ast.Pass())}
        nodes = [node for node in ast.walk(statement) if not blocks and id(node) not in shown]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        of_theirs = [call for call in calls if getattr(call.func, "id", "") in theirs]
        passing = {node.id for part in nodes if isinstance(part, ast.comprehension) for node in ast.walk(part.target)
                   if isinstance(node, ast.Name)}  # fmt: skip
        given = {name for call in of_theirs for name in map(_bare, call.args) if name} - passing
        inside = {id(node) for call in of_theirs for node in ast.walk(call)} | {
            id(node.value)
            for node in nodes
            if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim")
        }
        read = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        outside = {node.id for node in read if id(node) not in inside}
        ours_use = {node.id for call in calls if getattr(call.func, "id", "") in ours for node in ast.walk(call)
                    if isinstance(node, ast.Name)}  # fmt: skip
        bound = {
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        expecting = any("expect" in name for name in bound) and not blocks
        yield from sorted((given & outside) | (had & (ours_use | (outside if expecting else set()))))
        had = (had | given) - bound
        for block in blocks:
            yield from _stale(block, theirs, ours, set(had))


def _bare(argument: ast.expr) -> str:
    """The name that is handed over as it is, also behind a star; empty for anything else."""
    argument = argument.value if isinstance(argument, ast.Starred) else argument
    return argument.id if isinstance(argument, ast.Name) else ""


def tree_of(source: str) -> ast.Module:
    """The syntax tree of some lines, an empty one when they are not Python."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.Module([], [])


def _functions(source: str) -> set[str]:
    return {node.name for node in tree_of(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
