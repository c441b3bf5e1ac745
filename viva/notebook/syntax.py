"""The syntax tree of a cell, with magics as IPython reads them, and what is read off it in many places.

Nothing is run. That a notebook is Python's is known here.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

MEASURING_MAGICS = frozenset({"time", "timeit", "capture"})
"""Magics that run the rest of their cell, which binds names as it would without them."""
MEASURING = re.compile(rf"\A(\s*)%%(?:{'|'.join(MEASURING_MAGICS)})\b.*|(?m:^([ \t]*)%time[ \t]+(?=\S))")
CAPTURED = re.compile(r"\A(\s*)%%capture(?:[ \t]+--\S+)*[ \t]+([^\W\d]\w*).*")
"""A cell magic that binds a name to what the cell has printed."""
LONGEST = 200_000
"""Characters of a cell from which nothing is read off it where that can be left out: nobody types as much."""
SHORT = 10_000
"""Characters of a cell whose syntax tree is kept for a while: several ask for it, one after the other."""


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell, with magics as IPython reads them; None when it has a syntax error.

    What is only measured, as below ``%%time``, is read as if it was not. The tree is not to be changed.
    """
    return _short_tree(source) if len(source) <= SHORT else _tree(source)


def _tree(source: str) -> ast.Module | None:
    source = unmeasured(source)
    with warnings.catch_warnings(action="ignore"):  # Python's opinion of a student's text
        try:
            # IPython leaves plain Python as it is, but for empty lines at its head and what looks like its prompts.
            if source.partition("\n")[0].strip() and "In [" not in source and "...:" not in source:
                with contextlib.suppress(SyntaxError):
                    return ast.parse(source)
            return ast.parse(TransformerManager().transform_cell(source))
        except Exception:  # IPython's reading of a stranger's text may raise anything
            return None


_short_tree = functools.lru_cache(maxsize=64)(_tree)


def statements_of(source: str) -> list[ast.stmt]:
    """The statements of a cell's top level; none after a syntax error."""
    tree = parsed(source)
    return tree.body if tree else []


def nodes_in(source: str) -> list[ast.AST]:
    """The nodes of a cell's syntax tree, also of its functions; none after a syntax error."""
    tree = parsed(source)
    return nodes_of(tree) if tree else []


def unmeasured(source: str) -> str:
    """A cell without the magics that only measure it; every line stays at its number, and every name is bound."""
    return MEASURING.sub(r"\1\2", CAPTURED.sub(r"\1\2 = None", source))


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a syntax tree as ``ast.walk`` has them, without those that have no fields, as ``Load``."""
    nodes = [tree]
    for node in nodes:
        nodes += parts_of(node)
    return nodes


def parts_of(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node that have fields."""
    values = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            values.append(value)
        elif isinstance(value, list):
            values += value
    return [part for part in values if isinstance(part, ast.AST) and part._fields]


@dataclass(frozen=True)
class Import:
    """One name of an import: the name that it is ``bound`` to, the ``module``, and what ``from`` takes out of it."""

    bound: str
    module: str
    attribute: str = ""
    level: int = 0
    """How many folders up a relative import begins."""

    @property
    def path(self) -> str:
        """The module, or what is taken out of it, as a dotted name."""
        return ".".join(filter(None, [self.module, self.attribute]))

    @property
    def meaning(self) -> str:
        """What the bound name stands for: ``import os.path`` binds ``os``."""
        return self.bound if self.module.startswith(f"{self.bound}.") and not self.attribute else self.path

    @property
    def library(self) -> str:
        """The package; empty for a relative import."""
        return "" if self.level else self.module.partition(".")[0]


def imports_in(nodes: Iterable[ast.AST]) -> Iterator[Import]:
    """The imports among some nodes, not of those below them."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (Import(one.asname or one.name.partition(".")[0], one.name) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            module, level = node.module or "", node.level
            yield from (Import(one.asname or one.name, module, one.name, level) for one in node.names)


def imports_of_text(source: str) -> list[Import]:
    """The imports of a cell, also in its functions."""
    return list(imports_in(nodes_in(source)))


def needed_imports(source: str) -> list[Import]:
    """The imports without which a cell stops: those in a ``try`` may fail."""
    nodes = nodes_in(source)
    tried = {id(node) for block in nodes if isinstance(block, ast.Try) for node in nodes_of(block)}
    return list(imports_in(node for node in nodes if id(node) not in tried))


def modules_named(source: str) -> set[str]:
    """The modules that a cell imports, by a statement or a function, with what it takes out of them."""
    nodes = nodes_in(source)
    names = {name for one in imports_in(nodes) for name in (one.path, one.module)}
    for node in nodes:
        match node:
            case ast.Call(ast.Name("__import__") | ast.Attribute(attr="import_module"), [ast.Constant(str(name)), *_]):
                names.add(name)
    return names


def strings_in(source: str) -> set[str]:
    """The strings that stand in a cell."""
    return {node.value for node in nodes_in(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def docstring_of(source: str) -> str:
    """The text between quotes with which code begins; empty for none."""
    tree = parsed(source)
    return ast.get_docstring(tree) or "" if tree else ""


def constants_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, object]]:
    """The names to which some statements assign a constant, as ``name = 1`` does, with the constants."""
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from ((target.id, node.value.value) for target in node.targets if isinstance(target, ast.Name))


def complaint_about(source: str) -> tuple[str, int, str]:
    """Python's message about a syntax error, the number of the line in the cell, and the line; empty where unknown."""
    try:
        ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError as error:
        text, number = (error.text or "").strip(), (error.lineno or 0) + blank_head(source)
        lines = source.splitlines()
        # A magic is read as a call, which the student never wrote.
        is_there = 0 < number <= len(lines) and lines[number - 1].strip() == text
        return error.msg, number if is_there else 0, text
    except Exception:  # IPython's reading of a stranger's text may raise anything
        pass
    return "", 0, ""


def blank_head(source: str) -> int:
    """The number of empty lines at the head of a cell, which IPython does not count."""
    return source[: len(source) - len(source.lstrip())].count("\n")


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
Definition = FUNCTIONS | ast.ClassDef
SCOPES = Definition | ast.Lambda
BLOCKS = ast.For | ast.While | ast.With | ast.If | ast.Try
"""Statements that hold others and run them at once."""
ATTRIBUTES, ITEMS = (ast.Attribute,), (ast.Attribute, ast.Subscript)
CALLS = (*ITEMS, ast.Call)
"""The steps from a name to a part of it, as ``root_of`` goes them back."""


def root_of(node: ast.AST, steps: tuple[type[ast.AST], ...] = CALLS) -> str:
    """The name at the beginning of ``name.attribute[index](argument)``; empty where it begins with anything else."""
    while isinstance(node, steps):
        node = node.func if isinstance(node, ast.Call) else node.value  # type: ignore[attr-defined]  # has a value
    return node.id if isinstance(node, ast.Name) else ""
