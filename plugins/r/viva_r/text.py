"""Which tests in R look at more than values, by their words: another process would show them nothing, or they would run
a student's text beside the tests."""

from __future__ import annotations

import re
from typing import Any

from viva.cleaning import plaintext
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


BLOCK = re.compile(
    r"""
    ^── \ (?P<kind>Failure|Error) (?:\ \([^\n]*?\))? :\ (?P<title>[^\n]*?) \ ─+ $
    \n (?P<rest>.*?) (?=^──\ |\Z)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
"""How ``test_that`` shows what its lines found; the error that it then raises says no more than that it failed."""


def with_reason(reply: dict[str, Any]) -> dict[str, Any]:
    """The reply to a test whose error says what ``test_that`` has shown."""
    raised = reply["raised"]
    if not raised or "Test failed" not in raised["message"]:
        return reply
    shown = "\n".join(item["text"] for item in reply["outputs"] if item["output_type"] == "stream")
    if not (block := BLOCK.search(plaintext.uncoloured(shown))):
        return reply
    details = [line.strip() for line in block["rest"].splitlines() if line.strip()]
    message = ": ".join([block["title"], *details[:1]])
    return reply | {"raised": raised | {"message": message}, "asserted": block["kind"] == "Failure"}
