"""Mutation operators of a decoder: what people do wrong with positions, with the cache, and when they keep the top k.

As in ``viva.author.slips``: ``EXPRESSIONS`` are operators of one node, ``BODIES`` take the statements of a function, a
loop or a branch. The k smallest themselves (``[:k]`` for ``[-k:]``) are an "other slice" of any sorted list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from viva.author.operators import Scene, called, calls, expression, text_of, with_changes
from viva.author.slips import replaced

POSITIONS = re.compile(
    r"""
    (?<![a-z]) ( pos(ition(s|al)?)? (?!_?\d|[a-z])
               | pe (?!_?\d|[a-z]) )                # positional encoding
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Names of a table of positions; one with a number behind it is a single vector, which has no other axis."""
SORTED = ("sort", "sorted", "argsort", "partition", "argpartition")
TURNED = {ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Lt: ast.Gt, ast.LtE: ast.GtE}


def other_positions(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Positions that are added along the other axis: of the transposed table, brought into the shape that fits."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and scene.numpy:
        for side in ("left", "right"):
            if other := _along_the_other_axis(getattr(node, side)):
                yield with_changes(node, **{side: other})


def _along_the_other_axis(summand: ast.expr) -> ast.expr | None:
    """The rows, or the row, that a summand takes of a table of positions, taken of its transpose; None for others."""
    table = summand
    while isinstance(table, ast.Subscript) and not text_of(table.slice):
        table = table.value
    names = {ast.Name: "id", ast.Attribute: "attr", ast.Subscript: "slice"}
    name = getattr(table, names.get(type(table), ""), "")
    name = called(table) or (name if isinstance(name, str) else text_of(name))
    if not POSITIONS.search(name):
        return None
    return replaced(summand, table, expression("np.reshape(np.transpose(a), np.shape(a))", a=table))


def exchanged_axes(body: list[ast.stmt], scene: Scene) -> Iterator[list[ast.stmt]]:
    """Positions along the other axis, in place; or a table of sines and cosines, built with its two sizes exchanged."""
    if not scene.numpy:
        return
    for place, statement in enumerate(body):
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
            continue
        if other := _along_the_other_axis(statement.value):
            yield [*body[:place], with_changes(statement, value=other), *body[place + 1 :]]
    nodes = [node for statement in body for node in ast.walk(statement)]
    waves = {"sin", "cos"} <= {called(node) for node in nodes}
    sizes = _from_outside(nodes)
    if waves and len(sizes) == 2 and isinstance(body[-1], ast.Return) and body[-1].value is not None:
        first = ast.parse(f"{', '.join(sizes)} = {', '.join(reversed(sizes))}").body
        yield [*first, *body[:-1], with_changes(body[-1], value=expression("np.transpose(a)", a=body[-1].value))]


def _from_outside(nodes: list[ast.AST]) -> list[str]:
    """The names of values that the nodes use and do not bind, in alphabetical order."""
    aside = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    aside |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return sorted({node.id for node in names if id(node) not in aside} - bound)


def smallest(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Kept is what is at most the k-th largest, or the k smallest; a partition gives those at its other end."""
    if isinstance(node, ast.Compare) and (turned := _turned(node)):
        for side in (node.left, node.comparators[0]):
            for largest, other in _k_smallest(side):
                yield turned
                yield replaced(turned, largest, other)
    if isinstance(node, ast.Subscript) and "partition" in called(node.value):
        yield from (other for largest, other in _k_smallest(node) if largest is node)


def smallest_by_name(body: list[ast.stmt], scene: Scene) -> Iterator[list[ast.stmt]]:
    """The same where the k-th largest has a name, with which scores are compared later on."""
    for place, statement in enumerate(body):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        least, later = statement.targets[0].id, body[place + 1 :]
        for largest, other in _k_smallest(statement.value):
            for node in [node for line in later for node in ast.walk(line)]:
                if (turned := _turned(node)) and least in _from_outside(list(ast.walk(node))):
                    after = [replaced(line, node, turned) for line in later]
                    yield [*body[: place + 1], *after]
                    yield [*body[:place], replaced(statement, largest, other), *after]


def _turned(node: ast.AST) -> ast.expr | None:
    """A comparison the other way round; None for what is none."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in TURNED:
        return with_changes(node, ops=[TURNED[type(node.ops[0])]()])
    return None


def _k_smallest(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each part of a tree that takes the k largest, or the k-th of them; and what takes the k smallest."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript) or not calls(node.value, *SORTED):
            continue
        for index in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            several = isinstance(index, ast.Slice) and index.upper is None and index.step is None
            last = index.lower if isinstance(index, ast.Slice) and several else index
            if isinstance(last, ast.UnaryOp) and isinstance(last.op, ast.USub):
                kth = expression("a - 1", a=last.operand)
                other = replaced(node.slice, index, ast.Slice(None, last.operand) if several else kth)
                if values := _sorted(node.value, kth):
                    yield node, with_changes(node, value=values, slice=other)


def _sorted(values: ast.Call, kth: ast.expr) -> ast.Call | None:
    """Sorted values as they are; of partitioned ones another place is in order. None when that is not told by place."""
    if "partition" not in called(values):
        return values
    place = 1 if getattr(getattr(values.func, "value", None), "id", "") == "np" else 0  # or the array's own
    known = len(values.args) > place
    return with_changes(values, args=[*values.args[:place], kth, *values.args[place + 1 :]]) if known else None


def forgotten_first(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """A cache to which the new key is joined, without its first one."""
    if not calls(node, "concatenate", "vstack", "hstack") or not node.args:
        return
    parts = node.args[0]
    if not isinstance(parts, ast.List | ast.Tuple) or len(parts.elts) < 2:
        return
    axis = next((ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "axis"), "")
    axis = axis or ("1" if called(node) == "hstack" else "0")
    places = {"0": "a[1:]", "1": "a[:, 1:]", "-1": "a[..., 1:]", "-2": "a[..., 1:, :]"}
    first, *others = parts.elts
    if axis in places and not isinstance(first, ast.Starred):
        rest = with_changes(parts, elts=[expression(places[axis], a=first), *others])
        yield with_changes(node, args=[rest, *node.args[1:]])


EXPRESSIONS: dict[str, Callable[[ast.expr, Scene], Iterator[ast.expr]]] = {
    "other positions": other_positions,
    "smallest k": smallest,
    "forgotten first": forgotten_first,
}
BODIES: dict[str, Callable[[list[ast.stmt], Scene], Iterator[list[ast.stmt]]]] = {
    "exchanged axes": exchanged_axes,
    "smallest k by name": smallest_by_name,
}
