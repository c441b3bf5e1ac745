"""The same answer in other words, so that students of the demo class who were right do not all write the same.

Every rewriting keeps what the code computes, and most change its tokens: a part of an expression gets a name of its
own, ``a @ b`` becomes ``np.matmul(a, b)``, keyword arguments change places. Which of them is done where is drawn at
random from a seed, so that the same seed gives the same text. `renamed` changes nothing but the names of local
variables, as somebody does who hopes that it will not be noticed.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator

from viva.engine.names import names_of

FRESH = "part step inner outer left right first second mixed product piece term factor block partial whole".split()
REMARKS = (
    "# see the equation above",
    "# first with small numbers on paper, then like this",
    "# checked the shapes by printing them",
    "# one step at a time",
    "# as in the lecture",
)
FUNCTIONS = {ast.Div: "divide", ast.Sub: "subtract", ast.MatMult: "matmul"}
"""Not for ``*``, which means another thing between two np.matrix."""
NO_NUMBERS = ast.List | ast.Tuple | ast.JoinedStr | ast.Dict | ast.ListComp
SEALED = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.IfExp | ast.BoolOp
"""What is not evaluated once, at its place."""
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def paraphrased(source: str, seed: str, taken: Iterable[str] = (), numpy: bool = True) -> str:
    """A cell in other words; ``taken`` are names that it must not bind. As it is where it is not Python.

    ``numpy`` says whether ``np`` is NumPy here.
    """
    tree = _tree(source)
    if tree is None or any(isinstance(node, ast.ClassDef | ast.Yield | ast.Await) for node in ast.walk(tree)):
        return source
    dice = random.Random(seed)
    if numpy:
        tree = _Words(dice).visit(tree)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(taken)
    _Blocks(dice, names, _shared(tree)).go(tree.body, inside=False)
    text = ast.unparse(ast.fix_missing_locations(tree))
    return f"{dice.choice(REMARKS)}\n{text}" if dice.random() < 0.4 else text


def renamed(source: str) -> str:
    """A cell with other names for the local variables of its functions, and nothing else changed."""
    tree = _tree(source)
    if tree is None:
        return source
    for function in (node for node in tree.body if isinstance(node, _FUNCTION)):
        shared = _shared(function)
        arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        local = {node.id for node in names if isinstance(node.ctx, ast.Store)} - shared - arguments
        for node in names:
            if node.id in local:
                node.id = f"my_{node.id}"
    return ast.unparse(tree)


def _shared(tree: ast.AST) -> set[str]:
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _np(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load()), list(arguments), [])


def _is_np(node: ast.AST, *names: str) -> bool:
    """Whether a node is a call of one of NumPy's functions."""
    function = getattr(node, "func", None)
    return isinstance(function, ast.Attribute) and ast.unparse(function) in {f"np.{name}" for name in names}


class _Words(ast.NodeTransformer):
    """Says the same with another function or operator."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def _now(self, chance: float = 0.5) -> bool:
        return self.dice.random() < chance

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name, sides = FUNCTIONS.get(type(node.op)), (node.left, node.right)
        numbers = not any(isinstance(side, NO_NUMBERS) or _is_text(side) for side in sides)
        chance = 0.5 if isinstance(node.op, ast.MatMult) else 0.2
        return _np(name, *sides) if name and numbers and self._now(chance) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        name = {"T": "transpose", "shape": "shape"}.get(node.attr)
        return _np(name, node.value) if name and isinstance(node.ctx, ast.Load) and self._now() else node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        if isinstance(node.iter, ast.List | ast.Tuple) and self._now():
            other = ast.Tuple if isinstance(node.iter, ast.List) else ast.List
            node.iter = other(node.iter.elts, ast.Load())
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if all(keyword.arg for keyword in node.keywords):
            self.dice.shuffle(node.keywords)
        (only,) = node.args if len(node.args) == 1 and not node.keywords else (None,)
        if only is None or isinstance(only, ast.Starred):
            return node
        if _is_np(node, "sqrt") and self._now():
            return _np("power", only, ast.Constant(0.5))  # ** would make a Python float of an int, which no list takes
        if _is_np(node, "zeros", "ones", "empty") and self._now():
            return ast.Call(node.func, [], [ast.keyword("shape", only)])
        if ast.unparse(node.func) == "range" and self._now():
            return ast.Call(node.func, [ast.Constant(0), only], [])
        if (
            _is_np(node, "array", "concatenate", "vstack", "hstack", "stack")
            and isinstance(only, ast.List)
            and self._now(0.5)
        ):
            return ast.Call(node.func, [ast.Tuple(only.elts, ast.Load())], [])
        return node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, int | float | complex)


class _Blocks:
    """Goes through blocks of statements: names parts of expressions, changes the order, says what a name is."""

    def __init__(self, dice: random.Random, taken: set[str], shared: set[str]) -> None:
        """``shared`` are names of which a function says that they are not its own."""
        self.dice, self.taken, self.shared = dice, taken, shared

    def go(self, block: list[ast.stmt], inside: bool) -> None:
        """Rewrite a block; ``inside`` of a function."""
        for node in block:
            if isinstance(node, _FUNCTION):
                for argument in node.args.args:
                    if not argument.annotation and self.dice.random() < 0.3:
                        argument.annotation = ast.Constant("array")
                self.go(node.body, True)
            elif isinstance(node, ast.For | ast.While | ast.If | ast.With):
                self.go(node.body, inside)
                self.go(getattr(node, "orelse", []), inside)
        block[:] = [new for node in block for new in self._parts(node, inside)]
        for place in range(len(block) - 1, 0, -1):
            one, other = block[place - 1 : place + 1]
            if isinstance(one, ast.Assign) and isinstance(other, ast.Assign) and _independent(one, other):
                pair = [one, other]
                self.dice.shuffle(pair)
                together = all(isinstance(node.targets[0], ast.Name) for node in pair) and self.dice.random() < 0.4
                block[place - 1 : place + 1] = [_in_one(*pair)] if together else pair

    def _parts(self, node: ast.stmt, inside: bool) -> Iterator[ast.stmt]:
        """A statement, with those before it that give parts of it a name."""
        if isinstance(node, ast.Assign | ast.Return | ast.AugAssign | ast.Expr) and node.value is not None:
            found: list[ast.stmt] = []
            node.value, _ = self._named(node.value, found, True, whole=not isinstance(node, ast.Return))
            yield from found
        name = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        named = inside and isinstance(name, ast.Name) and name.id not in self.shared
        if isinstance(node, ast.Assign) and isinstance(name, ast.Name) and named and self.dice.random() < 0.2:
            yield ast.AnnAssign(name, ast.Constant("array"), node.value, 1)
        else:
            yield node

    def _named(self, node: ast.expr, found: list[ast.stmt], first: bool, whole: bool = False) -> tuple[ast.expr, bool]:
        """An expression with parts of it named in ``found``; whether all calls in it were.

        Only what is evaluated ``first`` is taken out, so that nothing happens in another order.
        """
        if isinstance(node, SEALED):
            return node, False
        if isinstance(node, ast.BinOp):
            node.left, first = self._named(node.left, found, first)
            node.right, first = self._named(node.right, found, first)
        elif isinstance(node, ast.UnaryOp):
            node.operand, first = self._named(node.operand, found, first)
        elif isinstance(node, ast.Attribute | ast.Subscript):
            node.value, first = self._named(node.value, found, first)
        elif isinstance(node, ast.Tuple):
            for place, part in enumerate(node.elts):
                node.elts[place], first = self._named(part, found, first)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                node.func.value, first = self._named(node.func.value, found, first)
            for place, argument in enumerate(node.args):
                node.args[place], first = self._named(argument, found, first)
            for keyword in node.keywords:
                keyword.value, first = self._named(keyword.value, found, first)
        elif not isinstance(node, ast.Name | ast.Constant):
            return node, False
        if first and not whole and isinstance(node, ast.BinOp | ast.Call) and self.dice.random() < 0.6:
            name = self._fresh()
            found.append(ast.Assign([ast.Name(name, ast.Store())], node))
            return ast.Name(name, ast.Load()), True
        return node, first and not isinstance(node, ast.Call)

    def _fresh(self) -> str:
        stem, number = self.dice.choice(FRESH), 0
        while (name := f"{stem}_{number}" if number else stem) in self.taken:
            number += 1
        self.taken.add(name)
        return name


def _in_one(one: ast.Assign, other: ast.Assign) -> ast.Assign:
    """Two assignments in one line."""
    names = ast.Tuple([one.targets[0], other.targets[0]], ast.Store())
    return ast.Assign([names], ast.Tuple([one.value, other.value], ast.Load()))


def _independent(one: ast.Assign, other: ast.Assign) -> bool:
    """Whether two assignments can change places."""
    if not all(len(node.targets) == 1 for node in (one, other)):
        return False
    first, second = (names_of(ast.unparse(ast.fix_missing_locations(node))) for node in (one, other))
    pure = all(_is_pure(node) for node in (one, other))
    if not first or not second or not pure:
        return False
    return not (first.bound & (second.used | second.bound) or second.bound & first.used)


def _is_pure(node: ast.AST) -> bool:
    """Whether nothing is called but NumPy's functions that make something new."""
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    names = {ast.unparse(call.func) for call in calls}
    return all(name.startswith("np.") and "random" not in name for name in names)
