"""One submission -> verdicts, by a candidate and an examiner.

The grading process drives both: it hands the student's cells to the candidate, one after the other,
and at each grade cell lets the examiner ask. It trusts the examiner and believes the candidate
nothing but its own cells' outputs. When the candidate dies, a new pair of processes runs the earlier
cells again, leaves the deadly one out, and goes on.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from nbformat import NotebookNode
from nbgrader import utils

from viva import taint, wire
from viva.blueprint import Blueprint, Cell
from viva.parent import Parent
from viva.verdict import Verdict, WallError, WireError
from viva.wall import Limits, Wall, overflowing

Found = TypeVar("Found")

GRACE = 1.0
"""Seconds between the interrupt and the kill."""
MOST_DEATHS = 3
"""So many times a submission is taken up again after its process ended."""
WATCH = 0.25
"""Seconds between two looks into a scratch folder."""
STUCK = 10.0
"""Seconds that an examiner may take beyond its cell's time."""

UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
KILLED = "the code ended its process, or used more memory than it may"
TIMEOUT = "the code did not finish in {:g} seconds"


@dataclass
class CheckResult:
    """What one check came to."""

    title: str
    points: float
    verdict: Verdict
    earned: float = 0.0
    reason: str = ""
    traceback: str = ""
    printed: str = ""
    seconds: float = 0.0


@dataclass
class Outcome:
    """What a notebook came to: results by grade cell, outputs by index of the notebook's cells, the grader's faults."""

    checks: dict[str, list[CheckResult]] = field(default_factory=dict)
    outputs: dict[int, tuple[list[dict], int | None]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    walled: bool = True

    def record(self) -> dict[str, list[dict]]:
        """The results of the checks as JSON knows them."""
        return {
            cell: [vars(result) | {"verdict": str(result.verdict)} for result in results]
            for cell, results in self.checks.items()
        }

    def earned(self, cell: str) -> float | None:
        """The points of a grade cell; None when the grader could not grade it."""
        results = self.checks.get(cell, [])
        if any(result.verdict is Verdict.UNGRADED for result in results):
            return None
        return sum(result.earned for result in results)


@dataclass(frozen=True)
class Examination:
    """What the examiner knows about a notebook: its blueprint, which cells it runs itself, the kinds of answers,
    and the grade cells that can only be run in the candidate."""

    blueprint: Blueprint
    plan: taint.Plan
    kinds: dict[str, str]
    inside: frozenset[str] = frozenset()

    def __deepcopy__(self, memo: dict) -> Examination:
        return self  # it never changes; nbconvert copies what it is handed for every step

    def cells_before(self, name: str, after: str | None) -> list[Cell]:
        """The blueprint's cells between two grade cells."""
        ids = [cell.id for cell in self.blueprint.cells]
        start = ids.index(after) + 1 if after in ids else 0
        return [cell for cell in self.blueprint.cells[start : ids.index(name)] if cell.kind != "tests"]


class Died(Exception):  # noqa: N818
    """The candidate ended, or had to be ended."""

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict, self.reason = verdict, reason


class ExaminerFault(Exception):  # noqa: N818
    """The examiner itself failed; the fault is the grader's."""


class Session:
    """A candidate and an examiner, connected; close it to end both and remove the scratch folder."""

    def __init__(
        self, candidates: Parent, examiners: Parent, data: Path | None = None, files: Path | None = None
    ) -> None:
        """Both find the files of ``data`` in their folders; the candidate those of ``files`` instead, if given."""
        self.candidates, self.examiners = candidates, examiners
        # One for each: a scratch folder belongs to a single process.
        self.scratches = [Path(tempfile.mkdtemp(prefix="viva-scratch-")) for _ in range(2)]
        for folder, scratch in zip((files or data, data), self.scratches, strict=True):
            if folder is not None:
                _copy_data(folder, scratch)
        self.pids: dict[Parent, int] = {}
        self.open: list[int] = []
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        null, out, err = os.open(os.devnull, os.O_RDWR), os.memfd_create("out"), os.memfd_create("err")
        to_candidate, self.question = os.pipe()
        self.answer, from_candidate = os.pipe()
        to_examiner, self.request = os.pipe()
        self.reply, from_examiner = os.pipe()
        self.open = [self.question, self.answer, self.request, self.reply]
        theirs = [null, out, err, to_candidate, from_candidate, to_examiner, from_examiner]
        try:
            self.pids[self.candidates] = self.candidates.fork(
                [null, out, err, to_candidate, from_candidate], self.scratches[0]
            )
            self.pids[self.examiners] = self.examiners.fork(
                [null, null, null, to_examiner, from_examiner, self.question, self.answer], self.scratches[1]
            )
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        for descriptor in (self.answer, self.reply):
            try:
                ready = wire.decode(wire.read(descriptor, timeout=20))
            except (EOFError, TimeoutError, WireError) as error:
                raise WallError(f"a process did not start: {error}") from error
            if ready != {"ready": True}:
                raise WallError(ready["fault"])

    def close(self) -> None:
        for pid in self.pids.values():  # both at once: to give back a large memory takes a while
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for parent, pid in self.pids.items():
            with contextlib.suppress(OSError, WallError):
                parent.end(pid)
        self.pids.clear()
        for descriptor in self.open:
            os.close(descriptor)
        self.open = []
        for scratch in self.scratches:
            shutil.rmtree(scratch, ignore_errors=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def candidate(self, within: float, **request: object) -> dict:
        """The candidate's reply to a request. Raises Died."""
        try:
            wire.write(self.question, wire.encode(request))
            if not self._readable(self.answer, within):
                self._interrupt()
                if not self._readable(self.answer, GRACE):
                    raise Died(Verdict.TIMEOUT, TIMEOUT.format(within))
            reply = wire.decode(wire.read(self.answer, timeout=STUCK))
        except (EOFError, BrokenPipeError):
            raise Died(Verdict.KILLED, KILLED) from None
        except (WireError, TimeoutError) as error:
            raise Died(Verdict.KILLED, f"the answer of the code's process cannot be read: {error}") from None
        if not isinstance(reply, dict) or "refused" in reply:
            raise Died(Verdict.KILLED, f"the answer of the code's process cannot be read: {str(reply)[:300]}")
        return reply

    def examiner(self, within: float, **request: object) -> dict:
        """The examiner's reply to a request. Raises ExaminerFault."""
        try:
            wire.write(self.request, wire.encode(request))
            if not self._readable(self.reply, within):
                self._interrupt()
                if not self._readable(self.reply, GRACE):
                    self._end_candidate()
                    if not self._readable(self.reply, STUCK):
                        raise ExaminerFault(f"a test cell did not finish in {within + STUCK:g} seconds")
            reply = wire.decode(wire.read(self.reply, timeout=STUCK))
        except (EOFError, BrokenPipeError, WireError, TimeoutError) as error:
            raise ExaminerFault(f"the examiner ended: {error}") from error
        if "fault" in reply:
            raise ExaminerFault(reply["fault"])
        return reply

    def _readable(self, descriptor: int, seconds: float) -> bool:
        """Wait for an answer. Where no tmpfs limits the scratch folder, a candidate that fills it is ended."""
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        wall, end = self.candidates.wall, time.monotonic() + seconds
        watched = wall is not None and not wall.private_tmp
        while watched and time.monotonic() < end:
            if poll.poll(min(WATCH, seconds) * 1000):
                return True
            if overflowing(self.scratches[0], wall.limits):
                self._end_candidate()
        return bool(poll.poll(max(0.0, end - time.monotonic()) * 1000))

    def _interrupt(self) -> None:
        if pid := self.pids.get(self.candidates):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)

    def _end_candidate(self) -> None:
        if pid := self.pids.pop(self.candidates, None):
            self.candidates.end(pid)


class Grader:
    """Two warm parents, and the grading of submissions by their children."""

    def __init__(self, seconds: float = 30.0, walls: tuple[Wall, Wall] | None = None, slot: int = 0) -> None:
        """``walls`` stand around candidate and examiner; ``slot`` and the next number are this grader's alone."""
        self.seconds, self.walls, self.slot = seconds, walls, slot
        self.walled = walls is not None
        self._start()

    def _start(self) -> None:
        candidate_wall, examiner_wall = self.walls or (None, None)
        self.candidates = Parent("candidate", candidate_wall, self.slot)
        self.examiners = Parent("examiner", examiner_wall, self.slot + 1)

    def __deepcopy__(self, memo: dict) -> Grader:
        return self  # a handle on processes

    def close(self) -> None:
        self.candidates.close()
        self.examiners.close()

    def restart(self) -> None:
        """Replace the warm parents by new ones."""
        self.close()
        self._start()

    def twice(self, work: Callable[[], Found]) -> Found:
        """What ``work`` returns; with new warm parents where the first attempt met a fault of the grader."""
        try:
            return work()
        except (ExaminerFault, WallError):
            self.restart()
            return work()

    def share(self, slot: int) -> Grader:
        """A grader for another process, with the same warm parents; new ones if those have died."""
        try:
            return self._share(slot)
        except OSError:
            self.restart()
            return self._share(slot)

    def _share(self, slot: int) -> Grader:
        other = object.__new__(Grader)
        other.seconds, other.walls, other.walled, other.slot = self.seconds, self.walls, self.walled, slot
        other.candidates, other.examiners = self.candidates.channel(slot), self.examiners.channel(slot + 1)
        return other

    def learn(self, examination: Examination) -> None:
        """Have the test code compiled once, where all examiners inherit it; without a warm parent each compiles it."""
        with contextlib.suppress(WallError):
            self._learn(examination)

    def _learn(self, examination: Examination) -> None:
        for cell in examination.blueprint.cells:
            if cell.id in examination.plan.given:
                self.examiners.learn(cell.source, cell.id)
            if cell.kind == "tests" and cell.id not in examination.inside:
                for source, title in ((cell.prelude, cell.id), *((check.source, check.title) for check in cell.checks)):
                    self.examiners.learn(source, title)

    def grade(
        self, notebook: NotebookNode, examination: Examination, data: Path | None = None, files: Path | None = None
    ) -> Outcome:
        """Grade a notebook whose nbgrader cells are the instructor's but for the answers.

        ``data`` holds the assignment's files, ``files`` those and the ones that were handed in beside the notebook.

        A fault of the grader is tried again once; then the grade cells that have no result are ungraded.
        """
        for attempt in (1, 2):
            run = _Run(self, notebook, examination, data, files)
            try:
                run.finish()
                break
            except (ExaminerFault, WallError) as error:
                if attempt == 2:
                    run.give_up(str(error))
                else:
                    self.restart()
        return run.outcome


class _Run:
    """One pass over a submission, through as many sessions as it needs."""

    def __init__(
        self, grader: Grader, notebook: NotebookNode, examination: Examination, data: Path | None, files: Path | None
    ) -> None:
        self.grader, self.examination, self.data, self.files = grader, examination, data, files
        self.cells = [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        self.blueprint = {cell.id: cell for cell in examination.blueprint.cells}
        self.outcome = Outcome(walled=grader.walled)
        self.deadly: set[int] = set()
        self.lost: dict[str, Died] = {}
        """By name: the death of the cell that would have bound it."""
        self.finished: set[int] = set()
        self.spent: dict[str, float] = {}

    def finish(self) -> None:
        for _ in range(MOST_DEATHS + 1):
            with Session(self.grader.candidates, self.grader.examiners, self.data, self.files) as session:
                session.examiner(10, do="prepare", kinds=self.examination.kinds, recording=False)
                if self._go_through(session):
                    break
        self._mark_rest(Verdict.KILLED, "the cells before ended the code's process too often")

    def give_up(self, fault: str) -> None:
        self.outcome.faults.append(fault)
        self._mark_rest(Verdict.UNGRADED, f"the grader failed, not you: {fault.splitlines()[-1]}")

    def _go_through(self, session: Session) -> bool:
        """Run all cells; whether the end was reached."""
        before = None
        for index, cell in self.cells:
            if index in self.deadly:
                continue
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            try:
                if _is_test(cell) and name in self.blueprint:
                    prepare(session, self.examination.cells_before(name, before), self.examination, self._seconds(cell))
                    before = name
                    self._examine(session, index, self.blueprint[name])
                else:
                    reply = session.candidate(self._seconds(cell), do="run", source=cell.source)
                    self.outcome.outputs.setdefault(index, (_outputs(reply), reply.get("count")))
            except Died as death:
                self._bury(index, death)
                return False
        return True

    def _examine(self, session: Session, index: int, cell: Cell) -> None:
        results = self.outcome.checks.setdefault(cell.id, [])
        again = index in self.finished
        skip = 0 if again else len(results)
        limit, start = cell.seconds or self.grader.seconds, time.monotonic()
        seconds = allowance(limit, self.spent.get(cell.id, 0.0))
        if cell.id in self.examination.inside:
            reports = examine_inside(session, cell, seconds, skip)
        else:
            reports = examine(session, cell, seconds, skip)
        self.spent[cell.id] = self.spent.get(cell.id, 0.0) + time.monotonic() - start
        if not again:
            results.extend(map(self._explained, score(cell, reports, skip)))
        if len(results) == len(cell.checks):
            self.finished.add(index)
        if self.grader.candidates not in session.pids:  # it did not even heed the interrupt
            for result in results:
                if result.verdict is Verdict.KILLED:
                    result.verdict, result.reason = Verdict.TIMEOUT, TIMEOUT.format(limit)
            raise Died(Verdict.TIMEOUT, "")
        if reports and reports[-1]["verdict"] == Verdict.KILLED and not again:
            raise Died(Verdict.KILLED, "")

    def _explained(self, result: CheckResult) -> CheckResult:
        """A name that is missing because its cell ended the process is no error of the check."""
        match = UNDEFINED.match(result.reason)
        if result.verdict is Verdict.ERROR and match and (death := self.lost.get(match[1])):
            result.verdict, result.reason = death.verdict, f"in the cell that defines {match[1]}, {death.reason}"
        return result

    def _bury(self, index: int, death: Died) -> None:
        """Remember that the candidate died at a cell."""
        cell = dict(self.cells)[index]
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name in self.outcome.checks:
            if index in self.finished:
                self.deadly.add(index)
            return
        self.deadly.add(index)
        names = taint.names_of(cell.source)
        bound = (names.bound if names else set()) | self.examination.plan.owned.get(name or cell.get("id"), set())
        self.lost |= dict.fromkeys(bound, death)
        text = f"{death.verdict}: {death.reason}"
        error = {"output_type": "error", "ename": str(death.verdict), "evalue": death.reason, "traceback": [text]}
        self.outcome.outputs[index] = ([error], None)

    def _mark_rest(self, verdict: Verdict, reason: str) -> None:
        present = {cell.metadata.get("nbgrader", {}).get("grade_id") for _, cell in self.cells}
        for cell in self.examination.blueprint.cells:
            if cell.kind != "tests":
                continue
            results = self.outcome.checks.setdefault(cell.id, [])
            missing = cell.id not in present
            for check in cell.checks[len(results) :]:
                why = (Verdict.MISSING, "the cell is not in the submission") if missing else (verdict, reason)
                results.append(CheckResult(check.title, check.points, *why[:1], reason=why[1]))

    def _seconds(self, cell: NotebookNode) -> float:
        """The time limit, which is the blueprint's: what the submission says does not count."""
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id")
        known = self.blueprint.get(name)
        return float((known and known.seconds) or self.grader.seconds)


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
    begun = session.examiner(next(seconds), do="begin", cell=cell.id, prelude=cell.prelude, visible=visible)["report"]
    if begun["verdict"] != Verdict.PASSED:
        return [begun | {"title": check.title} for check in cell.checks[skip:]]
    reports = []
    for check in cell.checks[skip:]:
        reports.append(session.examiner(next(seconds), do="check", title=check.title, source=check.source)["report"])
        if reports[-1]["verdict"] == Verdict.KILLED:
            return reports
    session.examiner(STUCK, do="finish", pushed=visible)
    return reports


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
            report["reason"], report["traceback"] = str(raised.get("message")), str(raised.get("traceback"))
        else:
            values = [item["data"]["text/plain"] for item in _outputs(reply) if item["output_type"] == "execute_result"]
            report["result"] = values[-1] if values else None
        reports.append(report)
    return reports


def allowance(limit: float, spent: float = 0.0) -> Iterator[float]:
    """How long each step of a grade cell may take: what is left of its limit, then a tenth of it for every check.

    So a check that never ends costs the others of its cell nothing.
    """
    start = time.monotonic() - spent
    while True:
        yield max(limit - (time.monotonic() - start), limit / 10)


def score(cell: Cell, reports: list[dict], skip: int = 0) -> list[CheckResult]:
    """Reports with their points; a number as the last value of a cell is partial credit, as in nbgrader."""
    results = []
    for check, report in zip(cell.checks[skip:], reports, strict=False):
        verdict = Verdict(report["verdict"])
        earned = check.points if verdict is Verdict.PASSED else 0.0
        reason = report["reason"]
        if earned and len(cell.checks) == 1 and report["result"] is not None:
            try:
                earned = utils.get_partial_grade({"data": {"text/plain": report["result"]}}, check.points, logging)
            except ValueError as error:
                verdict, earned, reason = Verdict.UNGRADED, 0.0, str(error)
        results.append(
            CheckResult(
                check.title,
                check.points,
                verdict,
                earned,
                reason,
                report["traceback"],
                report["printed"],
                report["seconds"],
            )
        )
    return results


def _is_test(cell: NotebookNode) -> bool:
    return utils.is_grade(cell) and not utils.is_solution(cell)


def _outputs(reply: dict) -> list[dict]:
    """The outputs of a cell, as far as they are outputs: the reply comes from a stranger."""
    outputs = reply.get("outputs")
    return [item for item in outputs if _is_output(item)] if isinstance(outputs, list) else []


def _is_output(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    match item.get("output_type"):
        case "stream":
            return (
                item.keys() == {"output_type", "name", "text"}
                and item["name"] in ("stdout", "stderr")
                and (isinstance(item["text"], str))
            )
        case "error":
            return (
                item.keys() == {"output_type", "ename", "evalue", "traceback"}
                and isinstance(item["ename"], str)
                and isinstance(item["evalue"], str)
                and isinstance(item["traceback"], list)
                and all(isinstance(line, str) for line in item["traceback"])
            )
        case "display_data" | "execute_result":
            data = item.get("data")
            return (
                isinstance(data, dict)
                and item.get("metadata") is not None
                and all(isinstance(key, str) and isinstance(value, str) for key, value in data.items())
            )
    return False


def _copy_data(source: Path, scratch: Path) -> None:
    """The files of a folder, without notebooks and links; the smaller first, as many as there is room for."""
    files = [path for path in source.rglob("*") if path.is_file() and not path.is_symlink()]
    room = Limits().scratch_bytes // 2
    for path in sorted(files, key=lambda path: path.stat().st_size):
        room -= path.stat().st_size
        if path.suffix != ".ipynb" and room >= 0:
            target = scratch / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
