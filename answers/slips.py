"""The mistakes of this course's field: what people do wrong with attention, in training and in a decoder.

The audit of each assignment makes mutants with them, beside the general ones of ``viva_audit.operators``. The softmax
and its axis, the scale, keys and queries, masks, the residual connections, the signs of gradients, Adam's correction,
positions, the cache and the top k. ``EXPRESSIONS`` are operators of one node; ``BODIES`` take the statements of a
function, a loop or a branch, and yield others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from viva_audit.operators import Scene, called, calls, expression, replaced, text_of, with_changes


def exchanged_names(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Queries for keys and keys for queries, in one product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        names = sorted({inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} & scene.places.keys())
        if len(names) == 2:
            pair = {names[0]: ast.Name(names[1], ast.Load()), names[1]: ast.Name(names[0], ast.Load())}
            yield expression(ast.unparse(node), **pair)


def other_softmax_axis(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """The softmax of rows where it is of columns, or of all entries at once."""
    if isinstance(node, ast.Call) and "softmax" in called(node) and node.args and scene.numpy:
        turned = expression("np.transpose(a)", a=node.args[0])
        yield expression("np.transpose(a)", a=with_changes(node, args=[turned, *node.args[1:]]))
        yield expression("np.exp(a) / np.sum(np.exp(a))", a=node.args[0])


def other_scale(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Scaled after the softmax, twice, where it is not asked, or by another size."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and called(node.right) == "sqrt":
        yield expression("a / b", a=node, b=node.right)
    if isinstance(node, ast.Call) and "softmax" in called(node) and node.args and scene.numpy:
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
    if isinstance(node, ast.Call) and "softmax" in called(node) and node.args and scene.numpy:
        yield expression("np.asarray(a) / np.sum(a)", a=node.args[0])


def other_mask(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """No mask, the opposite one, one that comes after the softmax, or one diagonal too few or too many."""
    if calls(node, "where") and len(node.args) == 3:
        yield from node.args[1:]
    masked = node.args[0] if isinstance(node, ast.Call) and "softmax" in called(node) and node.args else None
    if isinstance(node, ast.Call) and calls(masked, "where") and len(masked.args) == 3:
        where = masked
        late = with_changes(node, args=[where.args[1], *node.args[1:]])
        yield with_changes(where, args=[where.args[0], late, ast.Constant(0.0)])
    triangle = calls(node, "tri") or (calls(node, "tril", "triu") and len(node.args) == 1)
    if isinstance(node, ast.Call) and triangle and not any(keyword.arg == "k" for keyword in node.keywords):
        for diagonal in ("-1", "1"):
            yield with_changes(node, keywords=[*node.keywords, ast.keyword("k", expression(diagonal))])


def other_step(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Adam's correction, or another power, one step early or late."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Name):
        yield with_changes(node, right=expression("a - 1", a=node.right))
        yield with_changes(node, right=expression("a + 1", a=node.right))


# --- of several statements


def after_the_softmax(body: list[ast.stmt], scene: Scene) -> Iterator[list[ast.stmt]]:
    """The mask, the temperature or the scale: on the weights, and not on the scores."""
    for place, statement in enumerate(body):
        for later in range(place + 1, len(body)):
            after = body[later]
            if weights := _normalised(after):
                between = {name.id for other in body[place + 1 : later + 1] for name in ast.walk(other)
                           if isinstance(name, ast.Name)}  # fmt: skip
                if (put_off := _put_off(statement, weights)) and put_off[0] in between:
                    _, early, late = put_off
                    tail: list[ast.stmt] = [after, late]
                    if isinstance(after, ast.Return) and after.value is not None:
                        known = ast.Assign([ast.Name(weights, ast.Store())], after.value, lineno=0)
                        tail = [known, late, ast.Return(ast.Name(weights, ast.Load()))]
                    yield [*body[:place], early, *body[place + 1 : later], *tail, *body[later + 1 :]]
                break


def _normalised(statement: ast.stmt) -> str:
    """The name of what a statement makes sum to one; empty when it does not."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Div) and "sum" in called(value):
        return getattr(statement.target, "id", "")
    divided = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and "sum" in called(value.right)
    if not divided and "softmax" not in called(value):
        return ""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return getattr(statement.targets[0], "id", "")
    return "returned" if isinstance(statement, ast.Return) else ""


def _put_off(statement: ast.stmt, weights: str) -> tuple[str, ast.stmt, ast.stmt] | None:
    """The name of the scores that a statement masks or divides, the statement without that, and it for the weights."""
    if isinstance(statement, ast.If) and len(statement.body) == 1 and not statement.orelse:
        if inner := _put_off(statement.body[0], weights):
            name, early, late = inner
            return name, with_changes(statement, body=[early]), with_changes(statement, body=[late])
        return None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Div):
        return getattr(statement.target, "id", ""), ast.Pass(), with_changes(statement, target=_stored(weights))
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):  # scores[~mask] = -np.inf
        masked = with_changes(target, value=ast.Name(weights, ast.Load()))
        return target.value.id, ast.Pass(), with_changes(statement, targets=[masked], value=ast.Constant(0.0))
    if not isinstance(target, ast.Name):
        return None
    theirs = ast.Name(weights, ast.Load())
    without: ast.expr
    put_off: ast.expr
    if calls(value, "where") and len(value.args) == 3:
        without, put_off = value.args[1], with_changes(value, args=[value.args[0], theirs, ast.Constant(0.0)])
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        without, put_off = value.left, with_changes(value, left=theirs)
    else:
        return None
    return (
        target.id,
        with_changes(statement, value=without),
        with_changes(statement, targets=[_stored(weights)], value=put_off),
    )


def other_residual(body: list[ast.stmt], scene: Scene) -> Iterator[list[ast.stmt]]:
    """The normalised input is added in place of the input, or the sum is normalised."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    for norm in [node for node in nodes if isinstance(node, ast.Call) and "norm" in called(node) and node.args]:
        added = norm.args[0]
        if not isinstance(added, ast.Name):
            continue
        for total in [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)]:
            for side in ("left", "right"):
                if getattr(getattr(total, side), "id", "") == added.id:
                    yield [replaced(statement, total, with_changes(total, **{side: norm})) for statement in body]
                    plain = replaced(total, norm, added)
                    after = with_changes(norm, args=[plain, *norm.args[1:]])
                    yield [replaced(replaced(line, total, after), norm, added) for line in body]


def not_centred(body: list[ast.stmt], scene: Scene) -> Iterator[list[ast.stmt]]:
    """The mean is taken off for the variance only: ``X / deviation`` for ``centred / deviation``."""
    known: dict[str, ast.expr] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and getattr(node.left, "id", "") in known:
                whole = with_changes(node, left=known[getattr(node.left, "id", "")])
                yield [replaced(other, node, whole) for other in body]
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub):
            known |= {name.id: value.left for name in statement.targets if isinstance(name, ast.Name)}


def other_sign(body: list[ast.stmt], scene: Scene) -> Iterator[list[ast.stmt]]:
    """A gradient with the wrong sign; sizes such as ``d_k`` are none."""
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], ast.unparse(statement.value)
            name = text_of(target.slice) if isinstance(target, ast.Subscript) else getattr(target, "id", "")
            if (name.startswith("d_") or "grad" in name) and "shape" not in value and "len(" not in value:
                wrong = with_changes(statement, value=expression("-a", a=statement.value))
                yield [*body[:place], wrong, *body[place + 1 :]]


def _stored(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


# --- a decoder: the k smallest themselves (``[:k]`` for ``[-k:]``) are an "other slice" of any sorted list

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
    "keys for queries": exchanged_names,
    "other softmax axis": other_softmax_axis,
    "other scale": other_scale,
    "no exponential": no_exponential,
    "other mask": other_mask,
    "other step": other_step,
    "other positions": other_positions,
    "smallest k": smallest,
    "forgotten first": forgotten_first,
}
BODIES: dict[str, Callable[[list[ast.stmt], Scene], Iterator[list[ast.stmt]]]] = {
    "after the softmax": after_the_softmax,
    "other residual": other_residual,
    "not centred": not_centred,
    "other sign": other_sign,
    "exchanged axes": exchanged_axes,
    "smallest k by name": smallest_by_name,
}
