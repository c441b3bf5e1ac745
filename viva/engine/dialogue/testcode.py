"""The code of a test, compiled so that it can ask about what lives in the candidate."""

from __future__ import annotations

import ast
import functools
import types

from IPython.core.inputtransformer2 import TransformerManager

from viva.engine.dialogue.namespace import FORMATTING, IDENTICAL, THE_ONE, UnknownMagicError
from viva.engine.names import MEASURING_MAGICS

COMPARING = frozenset({"assertIs", "assertIsNot", "is_", "is_not"})
"""Functions of libraries that look whether their arguments are one object."""


@functools.lru_cache(4096)
def compiled(source: str, title: str) -> tuple[types.CodeType, types.CodeType | None, frozenset[str]]:
    """The code of a test, that of its last expression if it ends in one, and the names used in its class bodies.

    Python looks the names of class bodies up where no ``__missing__`` is asked, so they are fetched before.
    Raises SyntaxError, and UnknownMagicError.
    """
    text = TransformerManager().transform_cell(_without_measuring(source))
    tree = ast.parse(text, title)
    quiet = _ends_quietly(tree, text)
    tree = ast.fix_missing_locations(_Identity().visit(tree))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    used = frozenset(inner.id for node in classes for inner in ast.walk(node) if isinstance(inner, ast.Name))
    value = None
    if last is not None and not quiet:
        value = compile(ast.fix_missing_locations(ast.Expression(last.value)), title, "eval")
    elif last is not None:
        tree.body.append(last)
    return compile(ast.fix_missing_locations(tree), title, "exec"), value, used


def _ends_quietly(tree: ast.Module, text: str) -> bool:
    """Whether a semicolon follows the last statement."""
    if not tree.body:
        return False
    last = tree.body[-1]
    line = text.splitlines()[last.end_lineno - 1].encode()
    return line[last.end_col_offset :].lstrip().startswith(b";")


class _Identity(ast.NodeTransformer):
    """Has ``a is b`` and ``a.__class__`` answered for what proxies stand for; Python would see the proxies.

    ``text.format`` is looked at before it is called.
    """

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        (operator, *more), right = node.ops, node.comparators[0]
        if more or not isinstance(operator, ast.Is | ast.IsNot) or isinstance(right, ast.Constant):
            return node
        call = _call(IDENTICAL, [node.left, right], node)
        return ast.copy_location(ast.UnaryOp(ast.Not(), call), node) if isinstance(operator, ast.IsNot) else call

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if getattr(node.func, "attr", getattr(node.func, "id", "")) in COMPARING:
            node.args = [arg if isinstance(arg, ast.Starred) else _call(THE_ONE, [arg], arg) for arg in node.args]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.attr in ("format", "format_map", "vformat") and not isinstance(node.value, ast.Constant):
            return _call(FORMATTING, [node], node)
        return _call("type", [node.value], node) if node.attr == "__class__" else node


def _call(name: str, args: list[ast.expr], place: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, []), place)


def _without_measuring(source: str) -> str:
    """The source without ``%%time`` and the like, which must not hide the cell's body from us."""
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        name = first[2:].split()[0] if first[2:].split() else ""
        if name not in MEASURING_MAGICS:
            raise UnknownMagicError(first)
        return "\n" + rest
    return source
