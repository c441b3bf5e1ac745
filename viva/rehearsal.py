"""What the grader learns about a notebook by grading the instructor's own solution, before any student's.

Three things: which names the answers change in place (running the solution cell by cell and comparing),
the kinds of all answers (examining the solution with the recording on), and which grade cells cannot
be split into two processes: the solution passes them in one process, but not in two.
"""

from __future__ import annotations

import builtins
import hashlib
import re
from pathlib import Path

from viva import taint
from viva.blueprint import Cell, read_blueprint
from viva.dialogue.kinds import ANY, OWN
from viva.examination import Examination, allowance, examine, examine_inside, keep_helpers, prepare
from viva.grading import Grader
from viva.session import Died, Session
from viva.verdict import BlueprintError, Verdict


def rehearse(
    path: Path, grader: Grader, data: Path | None = None, released: dict[str, str] | None = None
) -> Examination:
    """The examination of the instructor notebook at ``path``; for ``released`` see read_blueprint.

    Raises BlueprintError when the notebook cannot be graded at all; a solution that fails its own
    tests is not this function's concern.
    """
    blueprint = read_blueprint(path, released)
    cells = [cell for cell in blueprint.cells if cell.code]
    try:
        changed, raised = _run_alone(cells, grader, data)
        plan = taint.plan([(cell.id, *_part(cell)) for cell in cells], changed)
        alone = {cell: error is None for cell, error in raised.items()}
        inside = frozenset(cell.id for cell in cells if cell.inside) | _with_files_of_students(cells, raised)
        more: set[str] | None = None
        while more is None or more:  # what a cell binds in the candidate, those below may have passed with
            kinds, split = _examine_recording(cells, Examination(blueprint, plan, {}, inside), grader, data)
            more = {cell for cell, passed in split.items() if alone[cell] and not passed}
            inside |= more
    except Died as death:
        raise BlueprintError(f"{path}: the instructor's own notebook cannot be run: {death}") from death
    untold = _untold(cells, alone)
    kinds = {path: kind for path, kind in kinds.items() if re.match(r"\w*", path)[0] not in untold}
    wide = {path for path in blueprint.widened if path in kinds} | untold
    # Semaphores and thread pools of multiprocessing are files in /dev/shm, for example.
    refused = {cell for cell, error in raised.items() if grader.walled and error and error["name"] == "PermissionError"}
    return Examination(blueprint, plan, kinds | dict.fromkeys(wide, ANY), inside, frozenset(refused))


def _with_files_of_students(cells: list[Cell], raised: dict[str, dict | None]) -> set[str]:
    """The grade cells that the solution does not pass for want of a file, and those below that use what they bind.

    Only a submission may hold the file, as a module that students write and hand in.
    """
    found: set[str] = set()
    bound: set[str] = set()
    for cell in cells:
        error = raised.get(cell.id)
        names = taint.names_of(cell.source) if error else None
        if names and (error["name"] in ("ModuleNotFoundError", "FileNotFoundError") or names.used & bound):
            found.add(cell.id)
            bound |= names.bound
    return found


def _untold(cells: list[Cell], passed: dict[str, bool]) -> set[str]:
    """The names that only grade cells use which the solution does not pass: of what kind they are it does not tell."""
    used: dict[bool, set[str]] = {True: set(), False: set()}
    for cell in cells:
        if cell.kind == "tests" and (names := taint.names_of(cell.source)):
            used[passed[cell.id]] |= names.used.union(*names.mentioned.values()) - names.bound
    return used[False] - used[True] - set(vars(builtins))


def _part(cell: Cell) -> tuple[str, str]:
    """The kind of a code cell in the plan, and its text."""
    if cell.kind in ("given", "task"):
        return ("given" if cell.locked else "open"), cell.source
    return cell.kind, cell.source


def kinds_of_answers(known: Examination) -> dict[str, str]:
    """By path, the kinds of what answers bind, of what else depends on them in a test, and of what comes from it."""
    cells = {cell.id: (cell.kind, taint.names_of(cell.source)) for cell in known.blueprint.cells}
    tested = [names for kind, names in cells.values() if kind == "tests" and names]
    used = set().union(*(names.used.union(*names.mentioned.values()) for names in tested))
    shown = {
        name
        for cell, names in known.plan.owned.items()
        for name in names
        if name in used or cells[cell][0] in taint.ANSWERS
    }
    recorded = sorted(known.kinds.items())
    return {path: kind for path, kind in recorded if kind == ANY or re.match(r"\w*", path)[0] in shown}


def _run_alone(
    cells: list[Cell], grader: Grader, data: Path | None
) -> tuple[dict[str, set[str]], dict[str, dict | None]]:
    """Run the solution in one process: what its answer cells change in place, and what each grade cell raises."""
    changed: dict[str, set[str]] = {}
    raised: dict[str, dict | None] = {}
    given: set[str] = set()
    with Session(grader.candidates, grader.examiners, data) as session:
        for cell in cells:
            names = taint.names_of(cell.source)
            before = _digests(session, given) if cell.kind in taint.ANSWERS else {}
            reply = session.candidate(grader.seconds, do="run", source=cell.source)
            if cell.kind == "tests":
                raised[cell.id] = reply.get("raised")
            elif cell.kind in taint.ANSWERS:
                after = _digests(session, given)
                changed[cell.id] = {name for name in before if before[name] != after.get(name)}
            elif names:
                given |= names.bound
    return changed, raised


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
            if cell.id in examination.inside:
                examine_inside(session, cell, allowance(cell.seconds or grader.seconds))
                keep_helpers(session, cell, examination)
            else:
                reports = examine(session, cell, allowance(cell.seconds or grader.seconds))
                verdicts = [report["verdict"] for report in reports]
                passed[cell.id] = len(verdicts) == len(cell.checks) and set(verdicts) <= {Verdict.PASSED}
        _merge(kinds, session.examiner(10, do="kinds")["kinds"])
    return kinds, passed


def _merge(kinds: dict[str, str], more: dict[str, str]) -> None:
    """Add recorded kinds; what was seen as two different kinds may be either."""
    for path, kind in more.items():
        kinds[path] = kind if kinds.get(path, kind) == kind else ""
