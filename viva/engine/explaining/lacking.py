"""Libraries that a student's cells import and that are not installed where they are graded.

Nothing below such an import ran, the student's own machine may have the library, and the answer may be right. A grader
looks at it, and is told what to install. That it is not there is said by the student's process, and is believed only
of what a cell's text imports and nobody here finds; it gives no points.
"""

from __future__ import annotations

import re

from viva.engine.explaining.place import MISSING, NO_MODULE, Place, Question
from viva.engine.libraries import can_be_imported
from viva.notebook.syntax import imports_of_text
from viva.record import Note, note
from viva.verdict import Verdict

FROM_MODULE = re.compile(
    r"cannot\ import\ name\ '[^']*'\ from\ (?:partially\ initialized\ module\ )? '(\w{1,60})", re.VERBOSE
)
FOR_WANT = frozenset({"NameError", MISSING})
"""The exceptions of a test that uses a name from below such an import."""


def import_fails(error: str, message: str) -> bool:
    """Whether an exception says that something which is installed here cannot be imported.

    What is not installed may be a module that students submit.
    """
    if error == "OSError":
        return "shared object" in message
    match = NO_MODULE.search(message) or FROM_MODULE.search(message)
    return error in ("ImportError", MISSING) and (not match or can_be_imported(match[1]))


class Lacking:
    """A doubt for each library and cell; it concerns the checks below that ended for want of a name or a module."""

    def __init__(self) -> None:
        self.above: list[Place] = []
        self.named: set[str] = set()
        """The modules that exceptions named."""
        self.concerned: dict[int, dict[str, None]] = {}
        """By the number of a cell above, the tests below that ended for want of something."""

    def pass_cell(self, place: Place) -> None:
        self._hear(*(error["evalue"] for error in place.errors if error["ename"] == MISSING))
        self.above.append(place)

    def explain(self, question: Question) -> None:
        result = question.result
        if result.exception == MISSING:
            self._hear(result.message)
        if result.verdict is Verdict.ERROR and result.exception in FOR_WANT:
            for number in range(len(self.above)):
                self.concerned.setdefault(number, {})[question.cell.id] = None

    def _hear(self, *messages: str) -> None:
        self.named |= {match[1] for message in messages for match in NO_MODULE.finditer(message)}

    def doubts(self) -> list[Note]:
        absent = {name for name in self.named if not can_be_imported(name)}
        doubts = []
        for number, tests in sorted(self.concerned.items()) if absent else ():
            name = self.above[number].grade_id
            kind, cells = ("library", (name,)) if name else ("own_library", ())
            for library in sorted(absent & {one.library for one in imports_of_text(self.above[number].source)}):
                doubts.append(note(kind, library, cells=cells, tests=(*tests,), doubt=True))
        return list(dict.fromkeys(doubts))
