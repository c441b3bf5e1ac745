"""Mutation operators: each takes a node of a solution's syntax tree and yields what could stand there by mistake.

``EXPRESSIONS`` maps the name of a mistake to an operator. Those here know Python and NumPy; a course may have others of
its field (``Mistakes``). A replacement may share nodes with the original: nothing is changed in place.
"""

from __future__ import annotations

import ast
import copy
import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard, TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)

SIMILAR = 0.6
"""Two names are easily confused when difflib finds them this similar."""


@dataclass(frozen=True)
class Mistakes:
    """Mutation operators by name: of expressions, and of the statements of a function, a loop or a branch."""

    expressions: Mapping[str, Callable[[ast.expr, Scene], Iterator[ast.expr]]] = field(default_factory=dict)
    bodies: Mapping[str, Callable[[list[ast.stmt], Scene], Iterator[list[ast.stmt]]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene:
    """What an operator may know: ``shared`` names are bound in the notebook outside of this cell, ``places`` maps the
    names of values in this cell to the lines that bind them, ``keys`` are the texts by which it looks things up,
    ``numpy`` says that ``np`` is NumPy, ``results`` maps functions to the source of their first result, ``integers``
    are names of whole numbers in the notebook, ``mistakes`` are those of the course's field."""

    shared: frozenset[str] = frozenset()
    places: dict[str, int] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    numpy: bool = True
    results: dict[str, str] = field(default_factory=dict)
    integers: tuple[str, ...] = ()
    mistakes: Mistakes = Mistakes()


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


# --- texts

OTHER_TEXT = {
    "mean": ("median",),
    "median": ("mean",),
    "min": ("max",),
    "max": ("min",),
    "sum": ("mean",),
    "std": ("var",),
    "var": ("std",),
    "first": ("last",),
    "last": ("first",),
    "left": ("inner",),
    "right": ("inner",),
    "inner": ("outer",),
    "outer": ("inner",),
    "same": ("valid",),
    "valid": ("same",),
    "w": ("a",),
    "linear": ("nearest",),
    "average": ("min",),
}
"""Texts that choose what a library does, each with what it is taken for."""
IN_PATTERN = re.compile(
    r"""
    (?<!\\) (?:\\\\)*                    # no backslash makes it a plain character
    (?P<part> \\[dDwWsSbB.] | \{\d+(?:,\d*)?\} | [\^$*+?.] | \[[^\]]+\] )
    """,
    re.VERBOSE,
)
OTHER_PATTERN = {
    "^": ("",), "$": ("",), r"\b": ("",), r"\.": (".",), r"\d": (r"\w",), r"\w": (r"\d", "."), r"\s": (" ",),
    "+": ("*", ""), "*": ("+",), "?": ("",), ".": (r"\w",),
}  # fmt: skip
OF_PATTERNS = ("compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")
FORMAT = re.compile(
    r"""(?P<fill>.?(?=[<>=^]))? (?P<align>[<>=^])? (?P<sign>[+\ -])? (?P<zero>0)? (?P<width>\d+)? (?P<comma>[,_])?
    (?:\.(?P<precision>\d+))? (?P<type>[a-zA-Z%])?""",
    re.VERBOSE,
)


def other_text(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """``how="median"`` for ``how="mean"``, as a keyword or as the only argument."""
    if not isinstance(node, ast.Call):
        return
    for place, keyword in enumerate(node.keywords):
        for other in OTHER_TEXT.get(text_of(keyword.value), ()):
            changed = ast.keyword(keyword.arg, ast.Constant(other))
            yield with_changes(node, keywords=[*node.keywords[:place], changed, *node.keywords[place + 1 :]])
    if len(node.args) == 1 and isinstance(node.func, ast.Attribute):
        for other in OTHER_TEXT.get(text_of(node.args[0]), ()):
            yield with_changes(node, args=[ast.Constant(other)])


def other_pattern(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """A regular expression without an anchor, with another class or number of characters, or matched elsewhere."""
    if not calls(node, *OF_PATTERNS) or getattr(getattr(node.func, "value", None), "id", "") != "re":
        return
    for other in {"fullmatch": ("match", "search"), "match": ("search",), "search": ("match",)}.get(called(node), ()):
        yield with_changes(node, func=with_changes(node.func, attr=other))
    pattern = text_of(node.args[0]) if node.args else ""
    for found in IN_PATTERN.finditer(pattern):
        part, (start, end) = found["part"], found.span("part")
        others = OTHER_PATTERN.get(part, ())
        if part.startswith("{"):
            least, comma, most = part[1:-1].partition(",")
            others = (f"{{{int(least) + 1}{comma}{most}}}", f"{{{least},}}", "+")
        elif part.startswith("["):
            others = (f"[{part[2:]}",) if part.startswith("[^") else (f"[^{part[1:]}", ".")
        for other in others:
            changed = pattern[:start] + other + pattern[end:]
            try:
                re.compile(changed)
            except re.error:
                continue
            yield with_changes(node, args=[ast.Constant(changed), *node.args[1:]])


def other_format(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """An f-string, or a call of ``format``, with another precision, width, side or sign."""
    if calls(node, "format") and isinstance(node.func, ast.Name) and len(node.args) == 2:
        for spec in _other_formats(text_of(node.args[1])):
            yield with_changes(node, args=[node.args[0], ast.Constant(spec)])
    if not isinstance(node, ast.JoinedStr):
        return
    for place, part in enumerate(node.values):
        parts = getattr(getattr(part, "format_spec", None), "values", [])
        for spec in _other_formats(text_of(parts[0])) if len(parts) == 1 else ():
            changed = with_changes(part, format_spec=ast.JoinedStr([ast.Constant(spec)]))
            yield with_changes(node, values=[*node.values[:place], changed, *node.values[place + 1 :]])
    if any(isinstance(part, ast.FormattedValue) and part.format_spec for part in node.values):
        plain = [
            with_changes(part, format_spec=None) if isinstance(part, ast.FormattedValue) else part
            for part in node.values
        ]
        yield with_changes(node, values=plain)


def _other_formats(spec: str) -> Iterator[str]:
    found = FORMAT.fullmatch(spec)
    if not spec or not found:
        return
    parts = {name: part or "" for name, part in found.groupdict().items()}
    changes: list[dict[str, str]] = []
    if parts["precision"]:
        changes += [
            {"precision": str(int(parts["precision"]) + step)}
            for step in (-1, 1)
            if int(parts["precision"]) + step >= 0
        ]
    if parts["width"]:
        changes.append({"width": str(int(parts["width"]) + 1)})
    if parts["align"]:
        changes.append({"align": {"<": ">", ">": "<"}.get(parts["align"], "<")})
    changes += [{name: ""} for name in ("sign", "zero", "comma") if parts[name]]
    for change in changes:
        new = parts | change
        precision = f".{new['precision']}" if new["precision"] else ""
        yield (
            "".join(new[name] for name in ("fill", "align", "sign", "zero", "width", "comma")) + precision + new["type"]
        )


# --- arrays


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


def other_axis(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """The other axis."""
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            if keyword.arg in ("axis", "dim"):  # NumPy's word and PyTorch's
                axis = ast.unparse(keyword.value)
                for value in {"0": ("1",), "1": ("0",), "-1": ("0",), "-2": ("-1",)}.get(axis, ()):
                    changed = ast.keyword(keyword.arg, expression(value))
                    yield with_changes(node, keywords=[*node.keywords[:index], changed, *node.keywords[index + 1 :]])


def other_variance(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """Divided by one less than there are; and the small number beside the root that belongs into it, or the reverse."""
    keywords = {keyword.arg: keyword.value for keyword in getattr(node, "keywords", ())}
    if calls(node, "var", "std") and "ddof" not in keywords:
        yield with_changes(node, keywords=[*node.keywords, ast.keyword("ddof", ast.Constant(1))])
    if calls(node, "mean") and node.args and scene.numpy and _is_square(node.args[0]):
        count = expression("np.size(a, b)", a=node.args[0], b=keywords.get("axis", ast.Constant(None)))
        yield expression("a * b / (b - 1)", a=node, b=count)
    if calls(node, "sqrt") and len(node.args) == 1 and _is_sum(node.args[0]):
        inner = node.args[0]
        yield with_changes(inner, left=with_changes(node, args=[inner.left]))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _is_sum(node.left):
        yield with_changes(node.left, left=with_changes(node, left=node.left.left))
    if _is_sum(node) and calls(node.left, "sqrt") and len(node.left.args) == 1:
        yield with_changes(node.left, args=[with_changes(node, left=node.left.args[0])])


def other_subscripts(node: ast.expr, scene: Scene) -> Iterator[ast.expr]:
    """The last two letters of a factor, or of the result, the wrong way round in an einsum."""
    if calls(node, "einsum") and node.args and (subscripts := text_of(node.args[0])):
        for term in re.finditer(r"[A-Za-z]{2,}", subscripts):
            start, end = term.end() - 2, term.end()
            turned = subscripts[:start] + subscripts[start:end][::-1] + subscripts[end:]
            yield with_changes(node, args=[ast.Constant(turned), *node.args[1:]])


def replaced(tree: Node, old: ast.AST, new: ast.AST) -> Node:
    """A tree in which one node stands in the place of another; it shares what has not changed."""
    if tree is old:
        return cast(Node, new)  # an expression in the place of an expression
    fields: dict[str, object] = {}
    for name, value in ast.iter_fields(tree):
        if isinstance(value, list):
            parts = [replaced(part, old, new) if isinstance(part, ast.AST) else part for part in value]
            if any(part is not before for part, before in zip(parts, value, strict=True)):
                fields[name] = parts
        elif isinstance(value, ast.AST) and (other := replaced(value, old, new)) is not value:
            fields[name] = other
    return with_changes(tree, **fields) if fields else tree


def _is_sum(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """Whether a node is a sum with a single name or number behind the plus."""
    summed = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
    return summed and isinstance(getattr(node, "right", None), ast.Name | ast.Constant)


def _is_square(node: ast.AST) -> bool:
    power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and getattr(node.right, "value", 0) == 2
    return power or called(node) == "square"


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
    "other text": other_text,
    "other pattern": other_pattern,
    "other format": other_format,
    "doubled bias": doubled_summand,
    "transposed": transposed,
    "other axis": other_axis,
    "other variance": other_variance,
    "other subscripts": other_subscripts,
}
