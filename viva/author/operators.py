"""Mutation operators: each takes a node of a solution's syntax tree and yields what could stand there by mistake.

``EXPRESSIONS`` maps the name of a mistake to an operator. Those here know Python only; ``viva.author.slips`` knows
attention, training and a decoder. A replacement may share nodes with the original: nothing is
changed in place.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeGuard, TypeVar

Node = TypeVar("Node", bound=ast.AST)

SIMILAR = 0.6
"""Two names are easily confused when difflib finds them this similar."""


@dataclass(frozen=True)
class Scene:
    """What an operator may know: ``shared`` names are bound in the notebook outside of this cell, ``places`` maps the
    names of values in this cell to the lines that bind them, ``keys`` are the texts by which it looks things up,
    ``numpy`` says that ``np`` is NumPy, ``results`` maps functions to the source of their first result, ``integers``
    are names of whole numbers in the notebook."""

    shared: frozenset[str] = frozenset()
    places: dict[str, int] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    numpy: bool = True
    results: dict[str, str] = field(default_factory=dict)
    integers: tuple[str, ...] = ()


def expression(source: str, **nodes: ast.expr) -> ast.expr:
    """``source`` as a tree, with the nodes in the place of names."""
    tree = ast.parse(source, mode="eval").body

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return nodes.get(node.id, node)

    return Fill().visit(tree)


def called(node: ast.AST | None) -> str:
    """The last name of the function that a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def calls(node: ast.AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Whether a node calls a function with one of these last names."""
    return isinstance(node, ast.Call) and called(node) in names


def with_changes(node: Node, **fields: object) -> Node:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


# --- general

OTHER_OPERATOR = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
OTHER_COMPARISON = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OTHER_FUNCTION = {
    "max": ("min", "mean"),
    "min": ("max",),
    "sum": ("mean", "max"),
    "mean": ("sum",),
    "var": ("std",),
    "std": ("var",),
    "sqrt": ("square",),
    "vstack": ("hstack",),
    "hstack": ("vstack",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "tril": ("triu",),
    "triu": ("tril",),
    "argmax": ("argmin",),
    "sin": ("cos",),
    "cos": ("sin",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
}


def other_operator(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and (other := OTHER_OPERATOR.get(type(node.op))):
        yield with_changes(node, op=other())


def dropped_operand(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield from node.values


def swapped_operands(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow | ast.FloorDiv):
        yield with_changes(node, left=node.right, right=node.left)


def other_constant(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))


def other_comparison(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in OTHER_COMPARISON[type(node.ops[0])]:
            yield with_changes(node, ops=[other()])
    elif isinstance(node, ast.BoolOp):
        yield with_changes(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


def swapped_arguments(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        for args in _swaps(node.args):
            yield with_changes(node, args=args)


def dropped_keyword(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        for place in range(len(node.keywords)):
            yield with_changes(node, keywords=node.keywords[:place] + node.keywords[place + 1 :])


def dropped_call(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if not isinstance(node, ast.Call):
        return
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]
    of_module = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in ("np", "math", "scipy")
    if isinstance(node.func, ast.Attribute) and not of_module:
        yield node.func.value


def other_function(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for other in OTHER_FUNCTION.get(called(node), ()):
            yield with_changes(node, func=with_changes(node.func, attr=other))


def other_name(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """A name that looks alike and is bound by then, or the next capital: Q for K."""
    if not isinstance(node, ast.Name) or node.id not in scene.places:
        return
    bound = sorted(name for name, line in scene.places.items() if name != node.id and line < node.lineno)
    found = difflib.get_close_matches(node.id, bound, n=2, cutoff=SIMILAR)
    if len(node.id) == 1:
        found += [name for name in bound if len(name) == 1 and name.isupper() == node.id.isupper()][:2]
    for name in dict.fromkeys(found):
        yield ast.Name(name, ast.Load())


def other_items(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """A list or tuple with two items swapped, one left out, or one twice."""
    if not isinstance(node, ast.List | ast.Tuple) or len(node.elts) < 2:
        return
    for items in _swaps(node.elts):
        yield with_changes(node, elts=items)
    if isinstance(node, ast.List):
        for place in range(len(node.elts)):
            yield with_changes(node, elts=node.elts[:place] + node.elts[place + 1 :])
            yield with_changes(node, elts=[*node.elts[:place], node.elts[place - 1], *node.elts[place + 1 :]])


def off_by_one(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if calls(node, "range") and node.args:
        last = node.args[0] if len(node.args) == 1 else node.args[1]
        first = ast.Constant(0) if len(node.args) == 1 else node.args[0]
        for source in ("range(a, b - 1)", "range(a, b + 1)", "range(a + 1, b)"):
            yield expression(source, a=first, b=last)


def other_key(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """``block["gamma_2"]`` for ``block["gamma_1"]``: the keys of this cell that look most alike."""
    if isinstance(node, ast.Subscript) and (key := text_of(node.slice)):
        for other in difflib.get_close_matches(key, [other for other in scene.keys if other != key], n=2):
            yield with_changes(node, slice=ast.Constant(other))


def other_slice(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """One item too few at either end; or the items at the other end, as the smallest of a sorted list."""
    if isinstance(node, ast.Subscript) and _is_minus(node.slice):
        yield with_changes(node, slice=expression("a - 1", a=node.slice.operand))
        yield with_changes(node, slice=expression("-a - 1", a=node.slice.operand))
    if not isinstance(node, ast.Slice) or node.step is not None:
        return
    lower, upper = node.lower, node.upper
    if lower is None and upper is not None and not isinstance(upper, ast.Constant):
        yield with_changes(node, lower=ast.Constant(1))
        if not _is_minus(upper):
            yield with_changes(node, upper=expression("a - 1", a=upper))
            yield ast.Slice(expression("-a", a=upper), None)
    elif upper is None and _is_minus(lower):
        yield ast.Slice(None, lower.operand)
        yield with_changes(node, lower=expression("-a - 1", a=lower.operand))


def text_of(node: ast.AST | None) -> str:
    """The text that a node is; empty when it is none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_minus(node: ast.AST | None) -> TypeGuard[ast.UnaryOp]:
    """Whether a node is ``-k``, for a ``k`` that is not a number."""
    return (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant)
    )


def _swaps(items: list[ast.expr]) -> Iterator[list[ast.expr]]:
    for place in range(len(items) - 1):
        pair = items[place : place + 2]
        if not any(isinstance(item, ast.Starred) for item in pair):
            yield [*items[:place], *reversed(pair), *items[place + 2 :]]


EXPRESSIONS: dict[str, Callable[[ast.expr, Scene], Iterator[ast.expr]]] = {
    "other operator": other_operator,
    "dropped operand": dropped_operand,
    "swapped operands": swapped_operands,
    "other constant": other_constant,
    "other comparison": other_comparison,
    "swapped arguments": swapped_arguments,
    "dropped keyword": dropped_keyword,
    "dropped call": dropped_call,
    "other function": other_function,
    "other name": other_name,
    "other key": other_key,
    "other items": other_items,
    "other slice": other_slice,
    "off by one": off_by_one,
}
