"""One submission -> verdicts, by a candidate and an examiner.

The grading process drives both: it hands the student's cells to the candidate, one after the other, and at each grade
cell lets the examiner ask. It trusts the examiner and believes the candidate nothing but its own cells' outputs. When
the candidate dies, a new pair of processes runs the earlier cells again, leaves the deadly one out, and goes on.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from viva.engine import carried, plaincode, secondlook
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.credit import FULL, PART, judged
from viva.engine.dialogue.exceptions import safe
from viva.engine.dialogue.expected import CREDIT
from viva.engine.dialogue.integrity import ANSWER_SECONDS, facts
from viva.engine.disguise import disguised
from viva.engine.examination import Examination, examine, prepare, read_by_functions, run, shuffle
from viva.engine.explaining.lacking import import_fails
from viva.engine.explaining.place import undefined
from viva.engine.explaining.refused import refused_connections
from viva.engine.explaining.walk import explain
from viva.engine.kerneldialogue import Second, dialogue_of
from viva.engine.kernelsession import KernelSession, kernel_of
from viva.engine.outcome import CHARACTERS, CheckReport, Outcome, running, whole
from viva.engine.parent import AT_ONCE, HOUR
from viva.engine.session import Died, ExaminerFault, Pair, Session, examiners_limits
from viva.engine.timebudget import Spent, TimeBudget, allowance
from viva.notebook.cell import Purpose, grade_id, is_test, name_of
from viva.notebook.names import names_of
from viva.record import CheckResult, Fault, Note, note
from viva.sandbox.landlock import readable_by_default
from viva.verdict import SandboxError, Verdict

LONGEST = 200
"""Characters of an exception that are repeated."""
MOST_DEATHS = 3
"""The most times that a submission is taken up again after its process ended."""
OFTEN = 5_000
"""So many calls of a test's functions take one or two seconds here, and none in one process."""
OWN_CELLS = 0.5
"""This part of a notebook's time may those cells take together that are not the assignment's."""
NOT_RUN = "This cell did not run, because the time for the whole notebook was over.\n"


class Shot(Exception):  # noqa: N818
    """The candidate met a SIGKILL, which may have been the machine's."""


@dataclass
class Losses:
    """The cells and checks of a run that did not finish, or ended the candidate's process."""

    deadly: set[int] = field(default_factory=set)
    """Cells that are not run again."""
    lost: dict[str, Died] = field(default_factory=dict)
    """The death of the cell that would have bound a name, by name."""
    interrupted: set[int] = field(default_factory=set)
    fatal: set[tuple[str, str]] = field(default_factory=set)
    """Checks that ended the candidate: they are not run again."""
    finished: set[int] = field(default_factory=set)
    """Test cells that have all results."""
    failed_imports: dict[str, str] = field(default_factory=dict)
    """The failed import of a read-only cell, by cell."""
    spent: dict[str, float] = field(default_factory=dict)
    """The seconds that a test cell took, by cell."""


class Run:
    """One run of a submission, through as many sessions as it needs."""

    def __init__(
        self,
        pair: Pair | Kernels,
        notebook: NotebookNode,
        examination: Examination,
        data: Path | None,
        files: Path | None,
        watch: Callable[[str], None] | None,
        time_budget: TimeBudget | None,
        carry: carried.Carry | None = None,
    ) -> None:
        """With ``carry`` earlier answers that lost points are the solution's (``viva.engine.carried``)."""
        self.pair, self.examination, self.folders = pair, examination, (data, files)
        self.cells = [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        self.outcome = Outcome(sandboxed=pair.sandboxed)
        self.losses = Losses()
        total = math.inf if watch else examination.budget(pair.seconds, pair.budget)
        read = [cell.source for _, cell in self.cells] if examination.blueprint.is_python else []
        self.watch = watch or (lambda name: None)
        self.time_budget = time_budget or TimeBudget(total, read, once=watch is not None)
        self.own = OWN_CELLS * total
        """Seconds left for the cells that are not the assignment's."""
        sources = [cell.source for _, cell in self.cells if not is_test(cell)] if read else []
        self.read, self.own_names = read_by_functions(sources), examination.own_names(sources)
        self.deciding: dict[str, tuple[str, ...]] = {}
        """The test cells that pass only as such calls changed something, by name."""
        self.effects: dict[str, dict[str, list[str]]] = {}
        """By test cell and passed check, the names whose calls changed what the test handed over, and the solution's
        not; an empty one for a text that changed a database."""
        self.often: dict[str, None] = {}
        """The test cells in which the time ran out while the answer called functions of the test ``OFTEN``."""
        self.reduced: set[tuple[str, str]] = set()
        self.copied: set[tuple[str, str]] = set()
        """The checks before which values had come as less than they were, each by its cell and its title."""
        self.ran = False
        """Whether the candidate has run cells since the last grade cell."""
        self.last = False
        self.carry = carry
        if carry:
            self.cells = [(index, cell) for index, cell in self.cells if index <= carry.last]

    def finish(self, *, last: bool) -> None:
        """Go through the notebook. Raises Shot, unless this is the ``last`` attempt."""
        self.last = last
        for _ in range(MOST_DEATHS + 1):
            with self.pair.session(*self.folders, self.time_budget) as session:
                try:
                    session.examiner(10, do="prepare", kinds=self.examination.kinds, recording=False)
                    shuffle(session, self.examination)
                    death = self._go_through(session)
                except Spent as spent:
                    self._mark_rest(Verdict.TIMEOUT, spent.cause)
                    break
                if death is None:
                    self._look_back(session)
                    self._withhold(session)
                    break
                if not last and death.verdict is Verdict.KILLED and session.was_shot():
                    raise Shot
        python = self.examination.blueprint.is_python
        self._mark_rest(Verdict.KILLED, Note("too_often") if python else Note("too_often_kernel"))

    def give_up(self, fault: Fault) -> None:
        self.outcome.faults.append(fault)
        self._mark_rest(Verdict.UNGRADED, note("grader_failed", fault.what))

    def _go_through(self, session: Session) -> Died | None:
        """Run all cells; the death of the candidate if the end was not reached."""
        before, self.ran = None, False
        if self.carry:
            self.carry.begin()
        for index, cell in self.cells:
            if index in self.losses.deadly:
                continue
            name = grade_id(cell)
            try:
                if is_test(cell) and name not in self.examination.cells:
                    continue  # whoever wrote it: no test text reaches the candidate
                if is_test(cell):
                    between = self.examination.cells_before(name, before)
                    errors = prepare(session, between, self.examination, self._seconds(cell), self.ran)
                    for read_only, error in errors.items():
                        self._look_for_imports(read_only, *error.partition("\n")[0].partition(": ")[::2])
                    before, self.ran = name, False
                    self._examine(session, index, self.examination.cells[name])
                    if self.carry:
                        self.carry.examined(name, self.outcome.checks[name])
                else:
                    if self.carry:
                        before = self.carry.before(session, name_of(cell), before, self._seconds(cell), self.ran)
                    self._run(session, index, cell)
            except Died as death:
                self._bury(index, death)
                return death
        return None

    def _run(self, session: Session, index: int, cell: NotebookNode) -> None:
        """Run a cell that is not a test."""
        time_budget = self.time_budget
        limit, before = time_budget.limit(cell.source, self._seconds(cell)), time_budget.spent
        if index in self.losses.interrupted:
            limit = time_budget.short(limit)
        if extra := self._known(cell) is None:
            limit = min(limit, self.own)
        if limit <= 0:
            self.outcome.keep(index, {"outputs": [{"output_type": "stream", "name": "stderr", "text": NOT_RUN}]})
            return
        self.watch(name_of(cell))
        self.ran = True
        if self.carry and self.carry.replaced and name_of(cell) not in self.examination.plan.given:
            reply = self.carry.run(session, cell.source, limit)
        else:
            reply = run(session, name_of(cell), cell.source, self.examination, limit)
        with time_budget.working():
            self.outcome.keep(index, reply)
        if extra:
            self.own -= time_budget.spent - before
        raised = reply.get("raised")
        if isinstance(raised, dict) and (expected := self._known(cell)) and expected.purpose == Purpose.READ_ONLY:
            self._look_for_imports(expected.id, *(safe(str, raised.get(part)) for part in ("name", "message")))
        if session.interrupted:
            if index not in self.losses.interrupted:
                self._lose(cell, Died(Verdict.TIMEOUT, Note("unfinished_code", amount=session.limit)))
                self.losses.interrupted.add(index)
            time_budget.suspect(running(raised.get("traceback")) if isinstance(raised, dict) else (), session.limit)
            time_budget.stop(f"the cell '{name_of(cell)}'", session.limit)
        elif raised is None and self.losses.lost:
            for name in self._bound(cell):
                self.losses.lost.pop(name, None)

    def _look_back(self, session: Session) -> None:
        """Note what the notebook did to its process; whatever comes of that question, no verdict changes."""
        reply, session.time_budget = None, TimeBudget()
        with contextlib.suppress(Died):
            reply = session.candidate(ANSWER_SECONDS, do="facts")
        causes = [result.cause for results in self.outcome.checks.values() for result in results if result.cause]
        self.outcome.integrity = facts(reply, causes, self.pair.sandboxed)

    def _withhold(self, session: Session) -> None:
        """Examine once more, at the end, the passed checks whose objects an answer changed and the solution does not.

        Those that pass only with these changes are left to a grader. No verdict changes.
        """
        session.time_budget = TimeBudget(ANSWER_SECONDS)
        for name, effects in self.effects.items():
            cell, deciding = self.examination.cells[name], set(effects)
            checks = tuple(check for check in cell.checks if "" not in effects.get(check.title, [""]))
            with contextlib.suppress(Died, ExaminerFault, Spent):
                if checks:
                    session.examiner(ANSWER_SECONDS, do="withhold")
                    again, seconds = replace(cell, checks=checks), itertools.repeat(ANSWER_SECONDS)
                    reports = examine(session, again, self.examination, seconds, again=True, read=self.read)
                    deciding -= {report.title for report in reports if report.verdict is Verdict.PASSED}
            for changed in dict.fromkeys(changed for title in deciding for changed in effects[title]):
                self.deciding[changed] = (*self.deciding.get(changed, ()), name)

    def _examine(self, session: Session, index: int, cell: Cell) -> None:
        results = self.outcome.checks.setdefault(cell.id, [])
        again = index in self.losses.finished
        skip = 0 if again else len(results)
        self.watch(cell.id)
        self.time_budget.replaying = again
        if again:
            cell = replace(
                cell, checks=tuple(check for check in cell.checks if (cell.id, check.title) not in self.losses.fatal)
            )
        limit, before = cell.seconds or self.pair.seconds, self.time_budget.spent
        seconds = allowance(limit, self.time_budget, self.losses.spent.get(cell.id, 0.0))
        ran = [above.source for number, above in self.cells if number < index and not is_test(above)]
        reports = examine(session, cell, self.examination, seconds, skip, self.last, self.read, ran, self.own_names)
        if cell.id in self.examination.single_process:
            self.ran = True
        self.losses.spent[cell.id] = self.losses.spent.get(cell.id, 0.0) + self.time_budget.spent - before
        if not again:
            self.reduced |= {(cell.id, report.title) for report in reports if report.reduced}
            self.copied |= {(cell.id, report.title) for report in reports if report.copied}
            passed = [report for report in reports if report.verdict is Verdict.PASSED]
            if any(report.verdict is Verdict.TIMEOUT and report.called >= OFTEN for report in reports):
                self.often[cell.id] = None
            if effects := {report.title: report.effects for report in passed if report.effects}:
                self.effects[cell.id] = self.effects.get(cell.id, {}) | effects
            credit = self.examination.kinds.get(CREDIT + cell.id) in (FULL, PART)
            results.extend(self._explained(cell, result) for result in score(cell, reports, skip, credit))
        if len(results) >= len(cell.checks):
            self.losses.finished.add(index)
        if session.gone and not (reports and reports[-1].died):
            raise Died(Verdict.TIMEOUT, Note("out_of_time"))  # when the examiner was to leave the cell
        if reports and reports[-1].died:
            self.losses.fatal |= {(cell.id, report.title) for report in reports if report.died}
            last = reports[-1]
            raise Died(last.verdict, last.cause or Note("killed"), check=not last.before)

    def _look_for_imports(self, cell: str, error: str, message: str) -> None:
        """Note that a read-only cell could not import something; that is never the student's mistake."""
        if import_fails(error, message):
            self.losses.failed_imports.setdefault(cell, f"{error}: {message}"[:LONGEST])

    def doubts(self) -> list[Note]:
        """A doubt for each read-only cell that could not import something, about the checks that are ungraded, for
        each name whose calls change what a test hands over, where points depend on it, and for tests whose functions
        are called so often that it takes long here alone."""
        tests: dict[str, dict[str, None]] = {}
        for test, results in self.outcome.checks.items():
            for result in results:
                if result.cause and result.cause.kind == "import_failed":
                    tests.setdefault(result.cause.cells[0], {})[test] = None
        failed = self.losses.failed_imports
        return [
            *(note("given_import", failed[cell], cells=(cell,), tests=(*tests[cell],), doubt=True) for cell in tests),
            *(
                note(
                    "changes_arguments" if name else "changes_database", *filter(None, [name]), tests=cells, doubt=True
                )
                for name, cells in self.deciding.items()
            ),
            *([note("calls_often", tests=(*self.often,), doubt=True)] if self.often else []),
        ]

    def _explained(self, cell: Cell, result: CheckResult) -> CheckResult:
        """A name that is missing because its cell ended the process is not an error of the check. A test that the
        solution does not pass here either is not the student's mistake."""
        why = self.examination.refused.get(cell.id)
        if why and result.verdict not in (Verdict.PASSED, Verdict.UNGRADED):
            result.verdict, result.earned, result.cause = Verdict.UNGRADED, 0.0, why
            result.reason = result.exception = ""
            return result
        lost = result.verdict in (Verdict.ERROR, Verdict.FAILED)
        for read_only, error in self.losses.failed_imports.items() if lost else ():
            if read_only in self.examination.broken and cell.id not in self.examination.failing:
                continue  # the solution passes without it, as without google.colab outside of Colab
            result.verdict, result.cause = Verdict.UNGRADED, note("import_failed", error, cells=(read_only,))
            result.reason = result.exception = ""
            return result
        if self.losses.lost and result.verdict in (Verdict.ERROR, Verdict.FAILED):
            python = self.examination.blueprint.is_python
            name = undefined(result) or self._unfinished(cell, result) if python else self._mentioned(result)
            if death := self.losses.lost.get(name):
                result.verdict, result.cause = death.verdict, note("in_cell_of", name, because=death.cause)
                result.reason = result.exception = ""
        return result

    def _unfinished(self, cell: Cell, result: CheckResult) -> str:
        """A name of a check that its cell may have left half done, as an interrupted loop leaves a list."""
        check = next(check for check in cell.checks if check.title == result.title)
        names = names_of(f"{cell.prelude}\n{check.source}")
        used = names.used if names else set()
        return next((name for name in self.losses.lost if name in used and name not in self.time_budget.functions), "")

    def _mentioned(self, result: CheckResult) -> str:
        """A name in the error of a check that a cell should have bound which did not finish."""
        words = set(plaincode.WORD.findall(f"{result.reason}\n{result.printed}"))
        return next((name for name in self.losses.lost if name in words), "")

    def _bury(self, index: int, death: Died) -> None:
        """Remember that the candidate died at a cell."""
        cell = dict(self.cells)[index]
        name = grade_id(cell)
        if name in self.outcome.checks:
            if index in self.losses.finished and not death.check:
                self.losses.deadly.add(index)  # else it runs again without that check: cells below use its shared lines
            return
        self.losses.deadly.add(index)
        self._lose(cell, death)
        if death.verdict is Verdict.TIMEOUT:
            self.time_budget.suspect_all(cell.source, self._seconds(cell))
            self.time_budget.stop(f"the cell '{name_of(cell)}'", self._seconds(cell))
        ename, evalue = str(death.verdict), str(death)
        error = {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": [f"{ename}: {evalue}"]}
        self.outcome.outputs[index] = ([error], None)

    def _lose(self, cell: NotebookNode, death: Died) -> None:
        self.losses.lost |= dict.fromkeys(self._bound(cell), death)

    def _bound(self, cell: NotebookNode) -> set[str]:
        """The names that a cell binds, or should bind."""
        blueprint = self.examination.blueprint
        if not blueprint.is_python:
            return plaincode.bound(cell.source, blueprint.language)
        names = names_of(cell.source)
        return (names.bound if names else set()) | self.examination.plan.owned.get(name_of(cell), frozenset())

    def _mark_rest(self, verdict: Verdict, cause: Note) -> None:
        present = {grade_id(cell) for _, cell in self.cells}
        for cell in self.examination.blueprint.cells:
            if cell.purpose != Purpose.TESTS:
                continue
            results = self.outcome.checks.setdefault(cell.id, [])
            missing = cell.id not in present
            for check in cell.checks[len(results) :]:
                why = (Verdict.MISSING, Note("missing")) if missing else (verdict, cause)
                results.append(CheckResult(check.title, check.points, why[0], cause=why[1]))

    def _seconds(self, cell: NotebookNode) -> float:
        """The time limit, which is the blueprint's: what the submission says does not count."""
        expected = self._known(cell)
        return float((expected and expected.seconds) or self.pair.seconds)

    def _known(self, cell: NotebookNode) -> Cell | None:
        """The cell of the assignment that a cell is."""
        return self.examination.cells.get(name_of(cell))


def score(cell: Cell, reports: list[CheckReport], skip: int = 0, credit: bool = False) -> list[CheckResult]:
    """Reports with their points; with ``credit`` the last value of the cell says how many of them are earned."""
    results = []
    for check, report in zip(cell.checks[skip:], reports, strict=False):
        verdict, cause = report.verdict, report.cause
        earned = check.points if verdict is Verdict.PASSED else 0.0
        if credit and earned and len(cell.checks) == 1:
            verdict, earned, cause = judged(report.result, check.points)
        texts = ("reason", "exception", "traceback", "printed")
        details: dict[str, Any] = {name: whole(getattr(report, name))[:CHARACTERS] for name in texts}
        details |= {"cause": cause, "seconds": report.seconds, "raised_by": report.raised_by}
        results.append(CheckResult(check.title, check.points, verdict, earned, **details))
    return results


class Kernels:
    """The kernel of a notebook that is not in Python, in place of a pair of fork servers: each session starts one."""

    def __init__(self, pair: Pair, blueprint: Blueprint, single: frozenset[str] | None = None) -> None:
        """Tests that are not those of ``single`` run in a second kernel, where a package brings it for the language."""
        self.pair, self.blueprint = pair, blueprint
        self.dialogue = dialogue_of(blueprint.language)
        tests = {cell.id for cell in blueprint.cells if cell.purpose == Purpose.TESTS}
        self.single = frozenset(tests) if single is None else single
        self.doubts: list[list[Note]] = []
        """The doubts of each session."""
        self.apart = self.dialogue is not None and not tests <= self.single
        self.seconds, self.budget, self.sandboxed = pair.seconds, pair.budget, pair.sandboxed

    def session(self, data: Path | None, files: Path | None, time_budget: TimeBudget) -> Session:
        """A kernel for one submission. Raises SandboxError where it is not installed, or does not start."""
        sandbox, limits = self.pair.candidates.sandbox, self.pair.limits
        limits = replace(limits, cpu_seconds=max(limits.cpu_seconds, AT_ONCE * math.ceil(min(time_budget.left, HOUR))))
        usual = readable_by_default()
        readable = tuple(path for path in (sandbox.readable if sandbox else ()) if path not in usual)
        slot = self.pair.candidates.slot if sandbox else None
        kernel = kernel_of(self.blueprint.kernel, self.blueprint.language)
        folder = self.pair.candidates.scratch()
        place = kernel, folder, data, files, time_budget, limits, readable, slot
        if not self.dialogue:
            return KernelSession(*place)  # type: ignore[return-value]  # it is asked the same questions
        second = None
        if self.apart:
            examiners = self.pair.examiners
            limits = replace(examiners_limits(self.pair.limits), cpu_seconds=limits.cpu_seconds)
            second = Second(examiners.scratch(), data, limits, readable, examiners.slot if sandbox else None)
        session = self.dialogue(*place, single=self.single, second=second)
        self.doubts.append(session.doubts)
        return session  # type: ignore[return-value]


class Grader(Pair):
    """Two fork servers, and the grading of submissions by their children."""

    def kernels(self, blueprint: Blueprint, single: frozenset[str] | None = None) -> Kernels:
        """What runs a notebook that is not in Python; without ``single`` its tests too are run by one kernel."""
        return Kernels(self, blueprint, single)

    def learn(self, examination: Examination) -> None:
        """Have the test code compiled once, where all examiners inherit it; without a fork server each compiles it."""
        with contextlib.suppress(SandboxError):
            self._learn(examination)

    def _learn(self, examination: Examination) -> None:
        if not examination.blueprint.is_python:
            return
        for cell in examination.blueprint.cells:
            if cell.id in examination.plan.given:
                self.examiners.learn(cell.source, cell.id)
            if cell.purpose == Purpose.TESTS and cell.id not in examination.single_process:
                for source, title in ((cell.prelude, cell.id), *((check.source, check.title) for check in cell.checks)):
                    self.examiners.learn(source, title)

    def grade(
        self,
        notebook: NotebookNode,
        examination: Examination,
        data: Path | None = None,
        files: Path | None = None,
        watch: Callable[[str], None] | None = None,
        second_look: bool = False,
        carry: bool = False,
    ) -> Outcome:
        """Grade a notebook whose nbgrader cells are the instructor's but for the answers.

        ``data`` holds the assignment's files, ``files`` those and the ones that were submitted beside the notebook.
        Who may ``watch`` is told each cell of the assignment when it begins; then the time has no end, but the first
        thing that does not finish is the last. With a ``second_look`` a grader is asked about the checks that only a
        refusal cost (``viva.engine.secondlook``). With ``carry`` a slip costs once (``viva.engine.carried``).

        A fault of the grader is tried again once; then the grade cells that have no result are ungraded. A candidate
        that met a SIGKILL is tried again once too: the kernel sends it where the machine runs out of memory.
        """
        time_budget, python = None, examination.blueprint.is_python
        kernels = None if python else self.kernels(examination.blueprint, examination.inside)
        pair = kernels or self
        for attempt in (1, 2):
            run = Run(pair, notebook, examination, data, files, watch, time_budget)
            try:
                run.finish(last=attempt == 2)
                break
            except Shot:
                time_budget = run.time_budget  # a student can send it too
            except (ExaminerFault, SandboxError) as error:
                if attempt == 2:
                    run.give_up(Fault(str(error), getattr(error, "log", "")))
                else:
                    self.restart()
        run.outcome.seconds = run.time_budget.spent
        if kernels:  # what follows reads Python, and its messages
            doubts = [doubt for found in kernels.doubts for doubt in found]
            run.outcome.doubts = [*refused_connections(run.outcome, self.sandboxed), *dict.fromkeys(doubts)]
            return run.outcome
        doubts = self._carry(run, notebook, data, files) if carry and not run.outcome.faults else []
        doubts += explain(run.outcome, notebook, examination, self.sandboxed)
        if second_look:
            doubts += secondlook.doubts(
                run.outcome,
                examination,
                lambda visible: self._again(notebook, visible, data, files),
                run.reduced,
                run.copied,
            )
        run.outcome.doubts = run.doubts() + doubts + disguised(run.outcome, notebook, examination)
        return run.outcome

    def _carry(self, first: Run, notebook: NotebookNode, data: Path | None, files: Path | None) -> list[Note]:
        """Let a slip cost once, where a second run shows that; the doubts that this brings."""
        if not (carry := carried.plan(first.outcome, notebook, first.examination)):
            return []
        run = Run(self, notebook, first.examination, data, files, None, None, carry)
        run.losses.deadly, run.losses.interrupted = {*first.losses.deadly}, {*first.losses.interrupted}
        try:
            run.finish(last=True)
        except (ExaminerFault, SandboxError, Shot):  # as where what it was handed keeps a function of the solution busy
            return []
        better = carry.merge(first.outcome, run.outcome)
        return [doubt for doubt in run.doubts() if better.intersection(doubt.tests)]

    def _again(
        self, notebook: NotebookNode, examination: Examination, data: Path | None, files: Path | None
    ) -> dict[str, list[CheckResult]]:
        """The results of a second look, by grade cell; none of what the grader could not do."""
        run = Run(self, notebook, examination, data, files, None, None)
        with contextlib.suppress(ExaminerFault, SandboxError, Shot):
            run.finish(last=True)
        return run.outcome.checks
