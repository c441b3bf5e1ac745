"""Mutation operators: each takes a node of a solution's syntax tree and yields what could stand there by mistake.

``EXPRESSIONS`` and ``STATEMENTS`` map the name of a mistake to an operator. A general operator knows Python only;
one of the field knows what people do wrong with attention: the bias, the softmax and its axis, the scale,
transposed products, keys and queries, heads, masks. A replacement may share nodes with the original: nothing is
changed in place.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

SIMILAR = 0.6
"""Two names are easily confused when difflib finds them this similar."""


@dataclass(frozen=True)
class Scene:
    """What an operator may know: ``shared`` names are bound in the notebook outside of this cell, ``places`` maps the
    names of values in this cell to the lines that bind them, ``numpy`` says that ``np`` is NumPy, ``results`` maps
    functions to the source of their first result, ``integers`` are names of whole numbers in the notebook."""

    shared: frozenset[str] = frozenset()
    places: dict[str, int] = field(default_factory=dict)
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


def called(node: ast.AST) -> str:
    """The last name of the function that a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def with_changes(node: ast.AST, **fields: object) -> ast.AST:
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
    if called(node) == "range" and node.args:
        last = node.args[0] if len(node.args) == 1 else node.args[1]
        first = ast.Constant(0) if len(node.args) == 1 else node.args[0]
        for source in ("range(a, b - 1)", "range(a, b + 1)", "range(a + 1, b)"):
            yield expression(source, a=first, b=last)


def _swaps(items: list[ast.expr]) -> Iterator[list[ast.expr]]:
    for place in range(len(items) - 1):
        pair = items[place : place + 2]
        if not any(isinstance(item, ast.Starred) for item in pair):
            yield [*items[:place], *reversed(pair), *items[place + 2 :]]


# --- of the field


def doubled_summand(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """The bias, or the position, twice."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        if isinstance(node.left, ast.Name):
            yield with_changes(node, left=expression("2 * a", a=node.left))
        if isinstance(node.right, ast.Name):
            yield with_changes(node, right=expression("2 * a", a=node.right))


def transposed(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """The product, or one of its factors; or a transposition left out."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield expression("(a).T", a=node)
        for side in ("left", "right"):
            if not (isinstance(getattr(node, side), ast.Attribute) and getattr(node, side).attr == "T"):
                yield with_changes(node, **{side: expression("(a).T", a=getattr(node, side))})


def exchanged_names(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Queries for keys and keys for queries, in one product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        names = sorted({inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} & scene.places.keys())
        if len(names) == 2:
            pair = {names[0]: ast.Name(names[1], ast.Load()), names[1]: ast.Name(names[0], ast.Load())}
            yield expression(ast.unparse(node), **pair)


def other_axis(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """The other axis; and the softmax of rows where it is of columns, or of all entries at once."""
    if isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg == "axis":
                known = ast.unparse(keyword.value)
                for value in {"0": ("1",), "1": ("0",), "-1": ("0",), "-2": ("-1",)}.get(known, ()):
                    other = ast.keyword("axis", expression(value))
                    yield with_changes(node, keywords=[*node.keywords[:place], other, *node.keywords[place + 1 :]])
    if "softmax" in called(node) and node.args and scene.numpy:
        turned = expression("np.transpose(a)", a=node.args[0])
        yield expression("np.transpose(a)", a=with_changes(node, args=[turned, *node.args[1:]]))
        yield expression("np.exp(a) / np.sum(np.exp(a))", a=node.args[0])


def other_scale(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Scaled after the softmax, twice, where it is not asked, or by another size."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and called(node.right) == "sqrt":
        yield expression("a / b", a=node, b=node.right)
    if "softmax" in called(node) and node.args and scene.numpy:
        scores, rest = node.args[0], node.args[1:]
        if isinstance(scores, ast.BinOp) and isinstance(scores.op, ast.Div):
            yield expression("a / b", a=with_changes(node, args=[scores.left, *rest]), b=scores.right)
        else:
            yield with_changes(node, args=[expression("np.asarray(a) / np.sqrt(len(a))", a=scores), *rest])
            yield with_changes(node, args=[expression("np.asarray(a) / 2", a=scores), *rest])
    if called(node) == "len" or (isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape"):
        for name in scene.integers:
            yield ast.Name(name, ast.Load())
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "size") and isinstance(node.value, ast.Name):
        bound = sorted(name for name, line in scene.places.items() if name != node.value.id and line < node.lineno)
        for name in bound[:6]:
            yield with_changes(node, value=ast.Name(name, ast.Load()))


def no_exponential(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    if "softmax" in called(node) and node.args and scene.numpy:
        yield expression("np.asarray(a) / np.sum(a)", a=node.args[0])


def other_mask(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """No mask, the opposite one, or one that comes after the softmax."""
    if called(node) == "where" and len(node.args) == 3:
        yield from node.args[1:]
    if "softmax" in called(node) and node.args and called(node.args[0]) == "where" and len(node.args[0].args) == 3:
        where = node.args[0]
        late = with_changes(node, args=[where.args[1], *node.args[1:]])
        yield with_changes(where, args=[where.args[0], late, ast.Constant(0.0)])


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
    "other items": other_items,
    "off by one": off_by_one,
    "doubled bias": doubled_summand,
    "transposed": transposed,
    "keys for queries": exchanged_names,
    "other axis": other_axis,
    "other scale": other_scale,
    "no exponential": no_exponential,
    "other mask": other_mask,
}
