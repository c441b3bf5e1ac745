"""Answers that are not done yet, and the checks that this explains.

An answer is not done while nothing was written into it, or while the line of the stub that raises is still in its
way. What a check of it comes to (a wrong number, a NameError, a NotImplementedError) then says nothing to a student.
Verdicts and points stay as they are; beside them stands which answers a check waits for. Three things tell:

- the check ended with a NotImplementedError that such an answer's function raised: student code may raise one of its
  own, with a message or where a condition holds, and that is an error like others;
- it ended with a NameError for a name that such an answer, or a cell that stopped for want of one, was to bind;
- else it is about the last answer above it that it uses, and that is not done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from viva.engine.examination import Examination
from viva.engine.explaining.place import UNDEFINED, Place, Question
from viva.notebook.names import Names, names_in_text
from viva.notebook.stubs import STUB, State, state_of
from viva.record import Note

ANY = "*"
"""Stands for whatever an answer was to bind, where nobody says what that is."""
FRAME = re.compile(r'^[ \t]*File "[^"\n]*", line \d+, in (\S+)\n(.*)$', re.MULTILINE)


class NotDone:
    """Writes into a check for which answers it waits; knows at each place which names are missing for want of which."""

    def __init__(self, examination: Examination, owner: Mapping[str, str]) -> None:
        """``owner`` is the last answer above that is to give a name, by name, and grows on the way."""
        self.examination, self.owner = examination, owner
        self.missing: dict[str, frozenset[str]] = {}
        self.raising: dict[str, frozenset[str]] = {}
        """The answers in which a function is not done, by function."""
        self.order: list[str] = []
        """The answers above."""

    def pass_cell(self, place: Place) -> None:
        """Note what a cell leaves missing, and what it gives."""
        errors = {error["ename"]: error["evalue"] for error in place.errors}
        name, owned, names = place.name, place.owned, place.names
        state = State()
        if place.is_answer:
            self.order.append(name)
            state = state_of(place.cell.source, self.examination.stubs.get(name, ""))
        stopped = state.raises and STUB in errors
        lacking = set(state.functions) | (set(owned) if state.idle or stopped else set())
        lacking -= state.bound if stopped else set()
        if (state.idle or stopped) and name not in self.examination.plan.owned:
            lacking.add(ANY)
        causes = frozenset([name]) if lacking else self._wanted(errors, names)
        if causes and not lacking:
            lacking = set(owned) | names.bound
        if not errors or lacking:
            for binding in (names.bound | owned) - lacking:
                self.missing.pop(binding, None)
                self.raising.pop(binding, None)
        self.missing |= dict.fromkeys(lacking, causes)
        self.raising |= dict.fromkeys(state.functions, causes)

    def explain(self, question: Question) -> None:
        if question.is_lost:
            question.result.undone = sorted(self._answers(question), key=self.order.index)

    def doubts(self) -> list[Note]:
        return []

    def _wanted(self, errors: dict[str, str], names: Names) -> frozenset[str]:
        """The answers for want of which a cell stopped."""
        if match := UNDEFINED.fullmatch(errors.get("NameError", "")):
            return self._missing(match[1])
        if STUB in errors:
            return frozenset().union(*(self.raising[function] for function in names.used & self.raising.keys()))
        return frozenset()

    def _missing(self, name: str) -> frozenset[str]:
        return self.missing.get(name) or self.missing.get(ANY, frozenset())

    def _answers(self, question: Question) -> frozenset[str]:
        """The answers that a check waits for."""
        if question.result.exception == STUB:
            frames = FRAME.findall(question.result.traceback)
            function, line = frames[-1] if frames else ("", "")
            return self.raising.get(function, frozenset()) if line.strip().startswith(f"raise {STUB}") else frozenset()
        if name := question.undefined:
            return self._missing(name)
        used = names_in_text(question.source).used & self.owner.keys()
        last = max((self.owner[name] for name in used), key=self.order.index, default="")
        needed = {name for name in used if self.owner[name] == last}
        if not needed or not self.missing.keys() >= needed:
            return frozenset()
        return frozenset().union(*(self.missing[name] for name in needed))
