"""Which tests in R look at more than values, by their words: another process would show them nothing, or they would run
a student's text beside the tests."""

from __future__ import annotations

from viva.engine import plaincode
from viva.record import Note

RUNNING = frozenset(
    "eval evalq eval_tidy parse parse_expr parse_exprs source sys.source str2lang str2expression as.formula formula "
    "reformulate glue unserialize readRDS load system system2 shell dyn.load".split()
)
"""Functions that run a text, or read R's serialisation."""
LOOKING = frozenset(
    "args arity body codetools deparse dput formalArgs formals environment trace untrace tracemem system.time Rprof "
    "mock mockery stub with_mock with_mocked_bindings local_mock local_mocked_bindings assignInNamespace "
    "unlockBinding".split()
)
"""Functions that look at a student's function, or change what it uses."""


def why_single(source: str) -> Note | None:
    """Why a test cell is a single-process cell, if its text says so."""
    words = plaincode.used(source, "r")
    if words & RUNNING:
        return Note("runs_text")
    return Note("patches") if words & LOOKING else None
