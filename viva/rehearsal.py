"""What the grader learns about a notebook by grading the instructor's own solution, before any student's.

Three things: which names the answers change in place (running the solution cell by cell and comparing),
the kinds of all answers (examining the solution with the recording on), and which grade cells cannot
be split into two processes: the solution passes them in one process, but not in two.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from viva import taint
from viva.blueprint import Cell, read_blueprint
from viva.dialogue.asker import ANY, OWN
from viva.grading import Examination, Grader, allowance, examine, prepare
from viva.session import Died, Session
from viva.verdict import BlueprintError, Verdict

CODE = ("given", "answer", "tests")


def rehearse(
    path: Path, grader: Grader, data: Path | None = None, released: dict[str, str] | None = None
) -> Examination:
    """The examination of the instructor notebook at ``path``; for ``released`` see read_blueprint.

    Raises BlueprintError when the notebook cannot be graded at all; a solution that fails its own
    tests is not this function's concern.
    """
    blueprint = read_blueprint(path, released)
    cells = [cell for cell in blueprint.cells if cell.kind in CODE]
    try:
        changed, alone = _run_alone(cells, grader, data)
        plan = taint.plan([(cell.id, cell.kind, cell.source) for cell in cells], changed)
        declared = frozenset(cell.id for cell in cells if cell.inside)
        examination = Examination(blueprint, plan, {}, declared)
        kinds, split = _examine_recording(cells, examination, grader, data)
    except Died as death:
        raise BlueprintError(f"{path}: the instructor's own notebook cannot be run: {death}") from death
    inside = declared | {cell for cell, passed in alone.items() if passed and not split.get(cell, True)}
    return Examination(blueprint, plan, kinds | {path: ANY for path in blueprint.widened if path in kinds}, inside)


def kinds_of_answers(known: Examination) -> dict[str, str]:
    """By path, the kinds of what answers bind, of what else depends on them in a test, and of what comes from it."""
    cells = {cell.id: (cell.kind, taint.names_of(cell.source)) for cell in known.blueprint.cells}
    tested = [names for kind, names in cells.values() if kind == "tests" and names]
    used = set().union(*(names.used.union(*names.mentioned.values()) for names in tested))
    shown = {
        name for cell, names in known.plan.owned.items() for name in names if name in used or cells[cell][0] == "answer"
    }
    recorded = sorted(known.kinds.items())
    return {path: kind for path, kind in recorded if kind == ANY or re.match(r"\w*", path)[0] in shown}


def _run_alone(cells: list[Cell], grader: Grader, data: Path | None) -> tuple[dict[str, set[str]], dict[str, bool]]:
    """Run the solution in one process: what its answer cells change in place, and which grade cells pass."""
    changed: dict[str, set[str]] = {}
    passed: dict[str, bool] = {}
    given: set[str] = set()
    with Session(grader.candidates, grader.examiners, data) as session:
        for cell in cells:
            names = taint.names_of(cell.source)
            before = _digests(session, given) if cell.kind == "answer" else {}
            reply = session.candidate(grader.seconds, do="run", source=cell.source)
            if cell.kind == "tests":
                passed[cell.id] = reply.get("raised") is None
            elif cell.kind == "answer":
                after = _digests(session, given)
                changed[cell.id] = {name for name in before if before[name] != after.get(name)}
            elif names:
                given |= names.bound
    return changed, passed


def _digests(session: Session, names: set[str]) -> dict[str, bytes | None]:
    found = session.candidate(60, do="digest", names=sorted(names))["digests"]
    return {name: value and hashlib.sha256(value).digest() for name, value in found.items()}


def _examine_recording(
    cells: list[Cell], examination: Examination, grader: Grader, data: Path | None
) -> tuple[dict[str, str], dict[str, bool]]:
    """Examine the solution; the kinds that were recorded, and which grade cells pass."""
    passed: dict[str, bool] = {}
    kinds: dict[str, str] = {}
    imported: set[str] = set()
    before = None
    with Session(grader.candidates, grader.examiners, data) as session:
        for cell in cells:
            if cell.kind != "tests":
                session.candidate(grader.seconds, do="run", source=cell.source)
                found = session.candidate(60, do="kinds")["kinds"]
                imported |= taint.imports_of(cell.source)
                _merge(
                    kinds,
                    {name: OWN + kind if name in imported and ":" in kind else kind for name, kind in found.items()},
                )
                continue
            places = {name: kind for name, kind in kinds.items() if ":" in kind}
            session.examiner(10, do="prepare", kinds=places, recording=True)
            prepare(session, examination.cells_before(cell.id, before), examination, grader.seconds)
            before = cell.id
            if cell.id not in examination.inside:
                reports = examine(session, cell, allowance(cell.seconds or grader.seconds))
                verdicts = [report["verdict"] for report in reports]
                passed[cell.id] = len(verdicts) == len(cell.checks) and set(verdicts) <= {Verdict.PASSED}
        _merge(kinds, session.examiner(10, do="kinds")["kinds"])
    return kinds, passed


def _merge(kinds: dict[str, str], more: dict[str, str]) -> None:
    """Add recorded kinds; what was seen as two different kinds may be either."""
    for path, kind in more.items():
        kinds[path] = kind if kinds.get(path, kind) == kind else ""
