"""The one walk through a graded notebook, and the table of sources that know why a check was not passed."""

from __future__ import annotations

from typing import Protocol

from nbformat import NotebookNode

from viva.engine.examination import Examination
from viva.engine.explaining.lacking import Lacking
from viva.engine.explaining.noreturn import NoReturn
from viva.engine.explaining.notdone import NotDone
from viva.engine.explaining.place import Place, Question
from viva.engine.explaining.refused import Refused
from viva.engine.explaining.shellcommands import CommandsBeside, ShellCommands
from viva.engine.explaining.stopped import Stopped
from viva.engine.outcome import Outcome
from viva.notebook.cell import name_of
from viva.record import Note
from viva.verdict import Verdict


class Source(Protocol):
    """Knows one kind of reasons for which checks are lost."""

    def pass_cell(self, place: Place) -> None:
        """Take note of a cell that is not a test."""

    def explain(self, question: Question) -> None:
        """Write the reason into a check that is lost by one of this kind, unless another one stands there."""

    def doubts(self) -> list[Note]:
        """The doubts for a grader, after the walk."""


def explain(outcome: Outcome, notebook: NotebookNode, examination: Examination, sandboxed: bool) -> list[Note]:
    """Write into each check why it was not passed, and into the outcome which cells did not run to their end.

    Returns the doubts that a grader must decide. ``sandboxed`` says whether the student's code ran in a sandbox.
    """
    passed = all(result.verdict is Verdict.PASSED for results in outcome.checks.values() for result in results)
    if passed and not examination.deleted and not any(_errors(outcome, index) for index in outcome.outputs):
        return []
    owner: dict[str, str] = {}
    sources = _sources(outcome, notebook, examination, owner, sandboxed)
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        name = name_of(cell)
        owned = examination.plan.owned.get(name, frozenset())
        place = Place(index, cell, examination.cells.get(name), owned, _errors(outcome, index))
        if place.expected is not None and place.is_test:
            for check, result in zip(place.expected.checks, outcome.checks.get(name, []), strict=False):
                question = Question(place.expected, check, result)
                for source in sources:
                    source.explain(question)
            continue
        if place.is_answer:
            owner |= dict.fromkeys(owned, name)
        for source in sources:
            source.pass_cell(place)
    return [doubt for source in sources for doubt in source.doubts()]


def _sources(
    outcome: Outcome, notebook: NotebookNode, examination: Examination, owner: dict[str, str], sandboxed: bool
) -> tuple[Source, ...]:
    """The table of sources, in the order in which a check asks them.

    ``owner`` is the last answer above that is to give a name, by name; the walk fills it.
    """
    commands = ShellCommands(refused := Refused(sandboxed), owner)
    return (
        NotDone(examination, owner),
        Lacking(),
        refused,
        commands,
        Stopped(outcome, notebook.cells, examination),
        CommandsBeside(commands),
        NoReturn(examination),
    )


def _errors(outcome: Outcome, index: int) -> list[dict]:
    """The exceptions that a cell shows."""
    return [item for item in outcome.outputs.get(index, ([], None))[0] if item["output_type"] == "error"]
