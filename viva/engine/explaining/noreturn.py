"""Functions without ``return``: what a test then says of their shape or of a number helps nobody."""

from __future__ import annotations

from viva.engine.dialogue.expected import PLAIN, expected_of
from viva.engine.examination import Examination
from viva.engine.explaining.place import Place, Question
from viva.notebook.names import names_in_text
from viva.notebook.stubs import silent_functions
from viva.record import Note, note


class NoReturn:
    """Knows the functions whose text gives no value, where the solution's call gives one."""

    def __init__(self, examination: Examination) -> None:
        self.examination = examination
        self.silent: set[str] = set()

    def pass_cell(self, place: Place) -> None:
        self.silent -= place.names.given
        for function, is_silent in silent_functions(place.source).items():
            self.silent.discard(function)
            if is_silent and expected_of(self.examination.kinds.get(f"{function}()", "")).kind == PLAIN:
                self.silent.add(function)

    def explain(self, question: Question) -> None:
        result = question.result
        if not question.is_lost or result.raised_by != "test" or result.cause or result.lost or result.undone:
            return
        if found := sorted(self.silent and names_in_text(question.source).needed & self.silent):
            result.cause = note("no_return", found[0])

    def doubts(self) -> list[Note]:
        return []
