"""A known answer in other words: names, products, order and calls are written otherwise, and the values stay.

There are two styles. One rewrites products and the order of operands. The other has a function of NumPy for each
operator, a method for each reduction, a variable for each result, and a function behind each function.
"""

from __future__ import annotations

import ast

PRODUCT = """def _weave(p, q):
    p, q = np.asarray(p), np.asarray(q)
    if p.ndim == q.ndim == 2:
        if p.shape[1] != q.shape[0]:
            return p @ q
        return np.einsum("ij,jk->ik", p, q)
    return np.matmul(p, q)
"""
"""A matrix product by ``einsum``; operands that do not fit raise what ``@`` raises."""


class _Rewriting(ast.NodeTransformer):
    """Renames the local names of functions, and writes operators otherwise."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.products = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        around = self.names
        arguments = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        outer = {name for part in ast.walk(node) if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
        stored = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        local = [name for name in dict.fromkeys(stored) if name not in arguments | outer]
        self.names = around | {name: f"part_{len(around) + number}" for number, name in enumerate(local)}
        self.generic_visit(node)
        self.names = around
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        texts = any(isinstance(part, ast.List | ast.Constant | ast.ListComp) for part in (node.left, node.right))
        match node.op:
            case ast.MatMult():
                self.products += 1
                return ast.Call(ast.Name("_weave", ast.Load()), [node.left, node.right], [])
            case ast.Add() | ast.Mult() if not texts:
                return ast.BinOp(node.right, node.op, node.left)
        return node


METHODS = {"sum", "mean", "max", "min", "var", "argmax"}
FUNCTIONS = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.MatMult: "matmul",
    ast.Pow: "power",
}
"""NumPy's functions for operators."""


class _Restyling(_Rewriting):
    """Renames the local names of functions, and writes operators, reductions and results otherwise."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        plain = (ast.List, ast.Constant, ast.ListComp, ast.Tuple, ast.Set, ast.Dict, ast.JoinedStr)
        if type(node.op) not in FUNCTIONS or all(isinstance(part, plain) for part in (node.left, node.right)):
            return node
        if any(isinstance(part, plain) and not _number(part) for part in (node.left, node.right)):
            return node
        return ast.Call(_of_numpy(FUNCTIONS[type(node.op)]), [node.left, node.right], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name("np"), str(name)) if name in METHODS and node.args:
                array = ast.Call(_of_numpy("asarray"), [node.args[0]], [])
                return ast.Call(ast.Attribute(array, name, ast.Load()), node.args[1:], node.keywords)
            case ast.Attribute(ast.Name("np"), "exp") if len(node.args) == 1 and not node.keywords:
                return ast.Call(_of_numpy("exp2"), [ast.Call(_of_numpy("multiply"), [node.args[0], LOG2_E], [])], [])
        return node

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        self.generic_visit(node)
        if node.value is None:
            return [node]
        stored = ast.Assign([ast.Name("outcome", ast.Store())], node.value, lineno=0)
        return [stored, ast.Return(ast.Name("outcome", ast.Load()))]


LOG2_E = ast.parse("np.log2(np.e)", mode="eval").body


def _number(part: ast.AST) -> bool:
    return isinstance(part, ast.Constant) and isinstance(part.value, int | float)


def _of_numpy(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())


def restyled(source: str) -> str:
    """The source of a cell in another style."""
    tree, behind = _Restyling().visit(ast.parse(source)), []
    for node in tree.body:
        behind.append(node)
        if isinstance(node, ast.FunctionDef):
            name, node.name = node.name, f"_behind_{node.name}"
            behind += ast.parse(f"def {name}(*given, **named):\n    return {node.name}(*given, **named)").body
    tree.body = behind
    return ast.unparse(ast.fix_missing_locations(tree))


def paraphrased(source: str) -> str:
    """The source of a cell in other words."""
    tree = ast.parse(source)
    rewriting = _Rewriting()
    tree = ast.fix_missing_locations(rewriting.visit(tree))
    return (PRODUCT if rewriting.products else "") + ast.unparse(tree)
