"""An examination: what the examiner knows about a notebook, and how one grade cell of it is examined."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from viva import taint
from viva.blueprint import Blueprint, Cell
from viva.dialogue.raised import safe
from viva.outcome import outputs_of
from viva.session import STUCK, ExaminerBusy, Session
from viva.verdict import Verdict


@dataclass(frozen=True)
class Examination:
    """What the examiner knows about a notebook: its blueprint, which cells it runs itself, the kinds of answers,
    the grade cells that can only be run in the candidate, and those that the wall does not let the solution pass."""

    blueprint: Blueprint
    plan: taint.Plan
    kinds: dict[str, str]
    inside: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()

    def __deepcopy__(self, memo: dict) -> Examination:
        return self  # it never changes; nbconvert copies what it is handed for every step

    def cells_before(self, name: str, after: str | None) -> list[Cell]:
        """The blueprint's cells between two grade cells."""
        ids = [cell.id for cell in self.blueprint.cells]
        start = ids.index(after) + 1 if after in ids else 0
        return [cell for cell in self.blueprint.cells[start : ids.index(name)] if cell.kind != "tests"]


def prepare(session: Session, cells: list[Cell], examination: Examination, seconds: float) -> None:
    """Let the examiner run the given cells, and give up the names that become the student's."""
    for cell in cells:
        if cell.id in examination.plan.given:
            session.examiner(seconds, do="given", source=cell.source, name=cell.id)
        elif names := examination.plan.owned.get(cell.id):
            session.examiner(10, do="own", names=sorted(names))


def examine(session: Session, cell: Cell, seconds: Iterator[float], skip: int = 0) -> list[dict]:
    """The examiner's reports on a grade cell's checks, the first ``skip`` left out.

    ``seconds`` says how long each step may take. The reports end early when the candidate does.
    """
    visible = sorted(cell.visible_names())
    begun = _report(session, next(seconds), do="begin", cell=cell.id, prelude=cell.prelude, visible=visible)
    if begun["verdict"] != Verdict.PASSED:
        return [begun | {"title": check.title} for check in cell.checks[skip:]]
    reports = []
    for check in cell.checks[skip:]:
        reports.append(_report(session, next(seconds), do="check", title=check.title, source=check.source))
        if reports[-1]["verdict"] == Verdict.KILLED:
            return reports
    session.examiner(STUCK, do="finish", pushed=visible)
    if definitions := cell.definitions():
        session.candidate(next(seconds), do="define", sources=list(definitions))
    return reports


def _report(session: Session, seconds: float, **request: object) -> dict:
    """The examiner's report; where nothing ends the test, what it was answered keeps it busy, and both are given up."""
    try:
        return session.examiner(seconds, **request)["report"]
    except ExaminerBusy:
        nothing = dict.fromkeys(("title", "reason", "traceback", "printed"), "")
        return nothing | {"verdict": Verdict.KILLED, "result": None, "seconds": seconds}


def examine_inside(session: Session, cell: Cell, seconds: Iterator[float], skip: int = 0) -> list[dict]:
    """The same, with the test code run in the candidate: for cells that cannot be split."""
    reports = []
    session.candidate(next(seconds), do="run", source=cell.prelude)
    for check in cell.checks[skip:]:
        start = time.monotonic()
        reply = session.candidate(next(seconds), do="run", source=check.source)
        raised = reply.get("raised")
        report = {"title": check.title, "verdict": Verdict.PASSED, "reason": "", "traceback": "", "printed": ""}
        report |= {"result": None, "seconds": time.monotonic() - start}
        if isinstance(raised, dict):
            failed = raised.get("name") == "AssertionError"
            report["verdict"] = Verdict.FAILED if failed else Verdict.ERROR
            report["reason"], report["traceback"] = (safe(str, raised.get(name)) for name in ("message", "traceback"))
            report["raised_by"] = "student"  # in the candidate nobody can tell whose it is
        else:
            values = [
                item["data"].get("text/plain") for item in outputs_of(reply) if item["output_type"] == "execute_result"
            ]
            report["result"] = values[-1] if values else None
        reports.append(report)
    return reports


def keep_helpers(session: Session, cell: Cell, examination: Examination) -> None:
    """Let the examiner have, for the cells below, what a cell that ran in the candidate imports and its functions."""
    students = set().union(*examination.plan.owned.values())
    for source, names in taint.helpers_of(cell.source).items():
        if not names & students:
            session.examiner(STUCK, do="given", source=source, name=cell.id)  # one that fails stays the candidate's


def allowance(limit: float, spent: float = 0.0) -> Iterator[float]:
    """How long each step of a grade cell may take: what is left of its limit, then a tenth of it for every check.

    So a check that never ends costs the others of its cell nothing.
    """
    start = time.monotonic() - spent
    while True:
        yield max(limit - (time.monotonic() - start), limit / 10)
