"""The line by which a notebook offers variants: ``viva_seed = 20261``, in a read-only cell that nobody may change.

The number is the default. A student's variant has another in its place, and nothing else is different: whatever the
assignment draws from ``viva_seed``, hidden tests compute it again from the same names.
"""

from __future__ import annotations

import ast
import re

from viva.engine.blueprint import Blueprint, Purpose
from viva.engine.names import NOTHING, names_in, names_of, parsed
from viva.verdict import BlueprintError

SEED = "viva_seed"
LINE = re.compile(
    r"""
    ^ (?P<head> viva_seed [ \t]* = [ \t]* )
    (?P<seed> [0-9] (?: _? [0-9] ){0,17} )  # longer ones are nobody's
    (?= [ \t]* (?: \#.* )? \r? $ )
    """,
    re.MULTILINE | re.VERBOSE,
)


def seed_in(source: str) -> int | None:
    """The seed that a cell's text gives, if it does."""
    found = LINE.search(source)
    return int(found["seed"]) if found else None


def with_seed(source: str, seed: int) -> str:
    """A cell's text with another seed; one that gives none stays as it is."""
    return LINE.sub(lambda found: f"{found['head']}{seed}", source)


def default_of(blueprint: Blueprint) -> int | None:
    """The seed of an instructor's notebook as everybody gets it; None where it offers no variants.

    Raises BlueprintError where another seed could not be put in, or would not count.
    """
    code = [cell for cell in blueprint.cells if cell.code]
    binding = [cell for cell in code if SEED in _bound(cell.source) or seed_in(cell.source) is not None]
    if not binding:
        return None
    cell, where = binding[0], f"{blueprint.name}, cell '{binding[0].id}'"
    if len(binding) > 1:
        others = ", ".join(f"'{other.id}'" for other in binding[1:])
        raise BlueprintError(
            f"{where}: {SEED} gets a value here and in {others}. Set it in only one line, in a read-only cell."
        )
    if cell.purpose != Purpose.READ_ONLY or not cell.locked:
        raise BlueprintError(
            f"{where}: {SEED} gets a value in a cell that is not a locked read-only cell, so a student's seed cannot "
            "be put in. Move that line into a cell that is read-only and neither graded nor an answer."
        )
    statements = [node for node in (parsed(cell.source) or NOTHING).body if SEED in names_in(node).bound]
    if len(statements) != 1 or len(LINE.findall(cell.source)) != 1 or _literal(statements[0]) != seed_in(cell.source):
        raise BlueprintError(
            f"{where}: the value of {SEED} is not a whole number on its own line. Write a line such "
            f"as '{SEED} = 20261', once."
        )
    return seed_in(cell.source)


def _bound(source: str) -> set[str]:
    names = names_of(source)
    return names.bound if names else set()


def _literal(statement: ast.stmt) -> int | None:
    """The whole number that a statement assigns, and does nothing else."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and type(value.value) is int:
            return value.value
    return None
