"""Why an answer as it stands never ran, though it may be right: a human should look at it before it earns nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Set

from viva.engine.names import nodes_of, parsed
from viva.submission.cells.places import Slot
from viva.submission.cells.texts import bound_names, parses, raises_as_stub, tree_of, undone_functions

_HERE = {"time", "capture", "prun"}
"""Cell magics that run the cell in the notebook itself."""
_PLATFORMS = ("google.colab", "kaggle_datasets", "kaggle_secrets", "micropip", "piplite", "pyodide", "pyodide_js")
"""Modules that only Colab, Kaggle and JupyterLite have."""
_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*")


def why_not_run(source: str, slot: Slot, unknown: Set[str] = frozenset()) -> tuple[str, ...]:
    """What kept an answer from running, of which ``unknown`` are names that nothing gives; empty when nothing did.

    It is the kind of a note, and what the note names.
    """
    if (magic := _MAGIC.match(source)) and magic[1] not in _HERE:
        return "other_magic", magic[1]
    source = source[magic.end() :] if magic else source
    tree = tree_of(source) or parsed(source)
    if tree is None or any(isinstance(node, ast.Return) for node in tree.body):
        return ("not_python",)
    if _is_commented_out(tree, source, slot):
        return ("commented_out",)
    lines = [node.value.id for node in tree.body[:-1] if isinstance(getattr(node, "value", None), ast.Name)]
    lines = [name for name in lines if name in unknown and re.search(rf"^{name}\s*$", source, re.MULTILINE)]
    if lines:
        return "stray_line", lines[0]
    if any(_is_behind_stub(getattr(node, "body", None)) for node in nodes_of(tree)):
        return ("below_stub",)
    if again := _done(tree) & undone_functions(source) & slot.own:
        return "above_stub", min(again)
    platform, _ = of_platform(source)
    return ("platform", platform) if platform else ()


def of_platform(source: str) -> tuple[str, str]:
    """The module of another platform that code imports, and what stands below that, which never runs; or nothing."""
    tree = tree_of(source)
    for node in tree.body[:-1] if tree else ():
        for module in _imported(node):
            for name in _PLATFORMS:
                if f"{module}.".startswith(f"{name}."):
                    return name, "\n".join(source.split("\n")[node.end_lineno :])
    return "", ""


def _done(tree: ast.Module) -> set[str]:
    """The functions of which a definition is none of a stub."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in tree.body if isinstance(node, functions) and not any(map(raises_as_stub, node.body))}


def _imported(node: ast.stmt) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _is_commented_out(tree: ast.Module, source: str, slot: Slot) -> bool:
    """Whether what gives a name of the answer stands behind ``#`` or between quotes, and nothing else does anything."""
    values = [getattr(node, "value", None) for node in tree.body]
    if not all(isinstance(value, ast.Constant) for value in values):
        return False
    text = "\n".join(str(value.value) for value in values) or re.sub(r"^[ \t]*#+ ?", "", source, flags=re.MULTILINE)
    return bool(slot.own & bound_names(text)) and parses(text)


def _is_behind_stub(block: object) -> bool:
    """Whether more than what is shown follows the line of the stub that raises."""
    raised = [place for place, node in enumerate(block) if raises_as_stub(node)] if isinstance(block, list) else []
    return bool(raised) and not all(isinstance(node, ast.Expr | ast.Raise) for node in block[raised[0] + 1 :])
