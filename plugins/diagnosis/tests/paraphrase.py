"""A known answer in other words: names, products, order and quotients are written otherwise, and the values stay."""

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


def paraphrased(source: str) -> str:
    """The source of a cell in other words."""
    tree = ast.parse(source)
    rewriting = _Rewriting()
    tree = ast.fix_missing_locations(rewriting.visit(tree))
    return (PRODUCT if rewriting.products else "") + ast.unparse(tree)
