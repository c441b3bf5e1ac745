"""The code of a test, compiled so that it can ask about what lives in the candidate."""

from __future__ import annotations

import ast
import functools
import itertools
import types

from IPython.core.inputtransformer2 import TransformerManager

from viva.engine.dialogue.namespace import FORMATTING, HIDDEN_LINES, IDENTICAL, THE_ONE, UnknownMagicError
from viva.engine.names import MEASURING_MAGICS

COMPARING = frozenset({"assertIs", "assertIsNot", "is_", "is_not"})
"""Functions of libraries that look whether their arguments are one object."""
WRITING = frozenset({"at", "copyto", "itemset", "place", "put", "put_along_axis", "putmask", "__setitem__"})
COMPUTING = frozenset({"add", "subtract", "multiply", "divide", "true_divide", "power", "matmul"})
"""Functions that write into an array; the latter where a third argument is one."""
LAST = "__last__"
"""The name of what a last expression came to that is hidden."""


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
    hidden, value = _hidden_lines(text), None
    if last is not None and not quiet:
        if last.lineno in hidden:  # it may change something in place as well
            tree.body.append(ast.copy_location(ast.Assign([ast.Name(LAST, ast.Store())], last.value), last))
            last.value = ast.Name(LAST, ast.Load())
        value = compile(ast.fix_missing_locations(ast.Expression(last.value)), title, "eval")
    elif last is not None:
        tree.body.append(last)
    tree.body = _marked(tree.body, hidden) if hidden else tree.body
    return compile(ast.fix_missing_locations(tree), title, "exec"), value, used


@functools.lru_cache(4096)
def marks(source: str) -> tuple[bool, bool]:
    """Whether a test writes into items, and only numbers that stand in its text, as to see what else they change.

    Then it subtracts no expected numbers from what it was given. The second is whether it changes no whole array by a
    number either, and subtracts none (``row -= 3.0``, ``row[0] -= 3.0``): in hidden lines that may be an expected one.
    """
    try:
        nodes = list(ast.walk(ast.parse(TransformerManager().transform_cell(_without_measuring(source)))))
    except (SyntaxError, UnknownMagicError):
        return False, False
    written = [
        node.value
        for node in nodes
        if isinstance(node, ast.AugAssign)
        or (isinstance(node, ast.Assign) and any(map(_is_item, itertools.chain(*map(ast.walk, node.targets)))))
    ]
    if any(map(_writes_otherwise, nodes)):
        return False, False
    only = bool(written) and all(isinstance(getattr(value, "operand", value), ast.Constant) for value in written)
    changes = [node for node in nodes if isinstance(node, ast.AugAssign)]
    return only, only and all(_is_item(node.target) and not isinstance(node.op, ast.Sub) for node in changes)


def _is_item(target: ast.AST) -> bool:
    """Whether an item is written to."""
    return isinstance(target, ast.Subscript) and isinstance(target.ctx, ast.Store)


def _writes_otherwise(node: ast.AST) -> bool:
    """Whether code may write other things into an array than what stands beside an index and ``=``."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Attribute)
    if isinstance(node, ast.keyword):
        return node.arg == "out"
    name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
    return name in WRITING or (name in COMPUTING and len(node.args) > 2)


def _hidden_lines(text: str) -> set[int]:
    """The numbers of the lines between the marks of hidden tests, which nbgrader finds by these words."""
    hidden, inside = set(), False
    for number, line in enumerate(text.splitlines(), start=1):
        inside = (inside or "BEGIN HIDDEN TESTS" in line) and "END HIDDEN TESTS" not in line
        hidden |= {number} if inside else set()
    return hidden


def _marked(body: list[ast.stmt], hidden: set[int]) -> list[ast.stmt]:
    """The statements, the hidden ones among them in a context that says so; their functions run in it too."""
    marked: list[ast.stmt] = []
    for part, group in itertools.groupby(body, lambda statement: statement.lineno in hidden):
        statements = list(group)
        for node in [node for statement in statements for node in ast.walk(statement)]:
            if part and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                told = ast.get_docstring(node) is not None
                node.body[told:] = _silent(node.body[told:])
            elif part and isinstance(node, ast.Lambda):
                work = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.body)
                node.body = ast.copy_location(_call(HIDDEN_LINES, [work], node), node.body)
        if not part:
            for statement in statements:
                for parts in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                    for name in ("body", "orelse", "finalbody"):
                        if isinstance(inner := getattr(parts, name, None), list):
                            setattr(parts, name, _marked(inner, hidden))
        marked += _silent(statements) if part else statements
    return marked


def _silent(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Hidden statements in their context, but for those that yield: who asks a generator goes on before it does."""
    silent: list[ast.stmt] = []
    for yielding, group in itertools.groupby(statements, _yields):
        group = list(group)
        for statement in group if yielding else ():
            for parts in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                for name in ("body", "orelse", "finalbody"):
                    if isinstance(inner := getattr(parts, name, None), list):
                        setattr(parts, name, _silent(inner))
        silent += group if yielding else [_context(group)]
    return silent


def _yields(node: ast.AST) -> bool:
    """Whether a statement yields or waits, and does not only define what does."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return False
    return isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) or any(map(_yields, ast.iter_child_nodes(node)))


def _context(statements: list[ast.stmt]) -> ast.With:
    item = ast.withitem(ast.Name(HIDDEN_LINES, ast.Load()))
    return ast.fix_missing_locations(ast.copy_location(ast.With([item], statements), statements[0]))


def _ends_quietly(tree: ast.Module, text: str) -> bool:
    """Whether a semicolon follows the last statement."""
    if not tree.body:
        return False
    last = tree.body[-1]
    line = text.splitlines()[last.end_lineno - 1].encode()
    return line[last.end_col_offset :].lstrip().startswith(b";")


class _Identity(ast.NodeTransformer):
    """Has ``a is b`` and ``a.__class__`` answered for what stand-ins stand for; Python would see the stand-ins.

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
