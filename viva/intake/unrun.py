"""Why an answer as it stands never ran, though it may be right: a human should look at it before it earns nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Set

from viva.intake.slots import Slot
from viva.intake.texts import bound_names, parses, tree_of
from viva.taint import parsed

_HERE = {"time", "capture", "prun", "matplotlib", "python", "ipytest"}
"""Cell magics that run the cell in the notebook itself."""
_MAGIC = re.compile(r"\s*%%(\w+)")


def why_not_run(source: str, slot: Slot, unknown: Set[str] = frozenset()) -> str:
    """What kept code that was handed in as an answer from running; empty when nothing did.

    ``unknown`` are the names that it uses and nothing gives.
    """
    if (magic := _MAGIC.match(source)) and magic[1] not in _HERE:
        return f"'{slot.name}' begins with %%{magic[1]}, so that it was not run in the notebook"
    if _is_commented_out(source, slot):
        return f"'{slot.name}' is commented out"
    tree = tree_of(source) or parsed(source)
    if tree is None or any(isinstance(node, ast.Return) for node in tree.body):
        return f"'{slot.name}' is not Python as it stands"
    if stray := next((node.value.id for node in tree.body[:-1] if _is_name(node) and node.value.id in unknown), ""):
        return f"'{slot.name}' has a line '{stray}', which nothing gives, so that what is below it did not run"
    if any(_is_behind_stub(block) for block in _blocks(tree)):
        return f"'{slot.name}' has code below 'raise NotImplementedError()', where it never runs"
    return ""


def _is_commented_out(source: str, slot: Slot) -> bool:
    """Whether what gives a name of the answer stands behind ``#`` or between quotes, and nothing else does anything."""
    tree = tree_of(source)
    if tree is None or not all(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in tree.body
    ):
        return False
    quoted = [node.value.value for node in tree.body if isinstance(node.value.value, str)]
    text = "\n".join(quoted) or re.sub(r"^[ \t]*#+ ?", "", source, flags=re.MULTILINE)
    return bool(slot.own & bound_names(text)) and parses(text)


def _blocks(tree: ast.Module) -> list[list[ast.stmt]]:
    return [block for node in ast.walk(tree) if isinstance(block := getattr(node, "body", None), list)]


def _is_behind_stub(block: list[ast.stmt]) -> bool:
    """Whether more than what is shown follows the line of the stub that raises."""
    raised = [place for place, node in enumerate(block) if _raises(node)]
    return bool(raised) and not all(isinstance(node, ast.Expr | ast.Raise) for node in block[raised[0] + 1 :])


def _raises(node: ast.stmt) -> bool:
    """Whether a statement is the line of the stub, or a loop around it."""
    if isinstance(node, ast.For | ast.While | ast.With):
        return any(map(_raises, node.body))
    return isinstance(node, ast.Raise) and bool(node.exc) and ast.unparse(node.exc).startswith("NotImplementedError")


def _is_name(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Name)
