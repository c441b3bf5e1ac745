"""A function of the examiner's in the candidate: to call it asks the other side, in the middle of an answer to it."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING

from viva.engine.dialogue import exceptions
from viva.engine.dialogue.interrupts import interruptible

if TYPE_CHECKING:
    from viva.engine.candidate import Candidate


PLAIN_PARAMETERS = frozenset({inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD})
"""Those that can be handed on in their order."""
CALL, HIDDEN = "_viva_call", "_hidden"


def parameters_of(function: object, hidden: bool) -> list[tuple[str, int, bool]] | None:
    """Of each parameter of a function of Python's: its name, unless it is hidden, its kind, and whether it has a
    default."""
    if type(function) is not types.FunctionType:
        return None
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    return [
        (f"{HIDDEN}{place}" if hidden else one.name, int(one.kind), one.default is not one.empty)
        for place, one in enumerate(parameters)
    ]


def function_of(callback: Callback, rows: list[tuple[str, int, bool]]) -> Callable:
    """A function that calls, with these parameters, for students who look whether it is one and how many it takes."""
    given = [inspect.Parameter(name, inspect._ParameterKind(kind)) for name, kind, _ in rows]
    simple = all(
        kind in PLAIN_PARAMETERS and not default and not name.startswith(HIDDEN) for name, kind, default in rows
    )
    shown = inspect.Signature(given)
    handed = ", ".join(one.name for one in given) if simple else "*args, **kwargs"
    taken = str(shown)[1:-1] if simple else handed
    source = f"def function({taken}): return {CALL}({handed})"
    space = {CALL: callback, "__name__": "__main__"}
    exec(compile(source, __file__, "exec"), space)
    function = space["function"]
    function.__name__ = function.__qualname__ = callback.__name__
    if not simple:
        ellipsis = [one.replace(default=...) if row[2] else one for one, row in zip(given, rows, strict=True)]
        function.__signature__ = inspect.Signature(ellipsis)
    return function


class Callback:
    """A function of the other side that was passed to the student's code."""

    __slots__ = ("__name__", "candidate", "number")

    def __init__(self, candidate: Candidate, number: int, name: str) -> None:
        self.candidate, self.number, self.__name__ = candidate, number, name

    def __call__(self, /, *args, **kwargs):
        candidate = self.candidate
        if not candidate.asked:
            raise RuntimeError(f"{self.__name__}() belongs to a test cell, and answers only while that runs")
        with interruptible(False):
            message = {"callback": self.number, "args": args, "kwargs": kwargs}
            if kept := candidate.shared.handed({**dict(enumerate(args)), **kwargs}):
                message["kept"] = kept
            candidate.answer(candidate.with_state(message))
            # The function may ask in its turn before it returns.
            while "do" in (reply := candidate.listen()):
                candidate.do(reply)
            candidate.take_state(reply.get("random_state"))
        if "raised" in reply:
            raise exceptions.again(reply["raised"], candidate.objects.kept)
        return reply["value"]
