"""A function of the examiner's in the candidate: to call it asks the other side, in the middle of an answer to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viva.engine.dialogue import exceptions
from viva.engine.dialogue.interrupts import interruptible

if TYPE_CHECKING:
    from viva.engine.candidate import Candidate


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
            candidate.answer(candidate.with_state({"callback": self.number, "args": args, "kwargs": kwargs}))
            # The function may ask in its turn before it returns.
            while "do" in (reply := candidate.listen()):
                candidate.do(reply)
            candidate.take_state(reply.get("random_state"))
        if "raised" in reply:
            raise exceptions.again(reply["raised"], candidate.objects)
        return reply["value"]
