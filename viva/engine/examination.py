"""An examination: what the grading process knows about a notebook, and how one grade cell of it is examined."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from viva import wording
from viva.cleaning import plaintext
from viva.engine import ownership
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import HIDDEN, Check
from viva.engine.credit import result_of_text
from viva.engine.dialogue.exceptions import safe
from viva.engine.dialogue.sourcecode import ASKING
from viva.engine.outcome import CHARACTERS, CheckReport, outputs_of, raised_in, running
from viva.engine.session import STUCK, Died, ExaminerBusy, ExaminerFault, Session
from viva.engine.timebudget import Spent, budget
from viva.engine.values.randomness import state_of
from viva.notebook.cell import ANSWERS, Purpose
from viva.notebook.names import Names, fixed_names, helpers_of, import_statements, names_of, renamed
from viva.record import Note
from viva.verdict import Verdict

MOST_TEXT = 100_000
"""A longer cell is not read for names, and a longer message about random numbers is not passed on."""


@dataclass(frozen=True)
class Examination:
    """The grading process's knowledge about a notebook: its blueprint, which cells the examiner runs itself, and the
    expected types by path.

    With a reason each: the single-process cells, which run in the candidate, and the cells that are ``refused``, as the
    solution does not pass them here. ``files`` are, by cell, those that are the student's from there on; ``stubs`` the
    texts of the answer cells as they were released, where they are known.
    """

    blueprint: Blueprint
    plan: ownership.Plan
    kinds: dict[str, str]
    single_process: Mapping[str, Note] = field(default_factory=dict)
    refused: dict[str, Note] = field(default_factory=dict)
    failing: Mapping[str, Note] = field(default_factory=dict)
    """The other test cells that the solution does not pass, each with the reason in one process."""
    broken: frozenset[str] = frozenset()
    """The other cells that raise in the solution's notebook as well."""
    files: dict[str, frozenset[str]] = field(default_factory=dict)
    stubs: dict[str, str] = field(default_factory=dict)
    deleted: Mapping[str, bool] = field(default_factory=dict)
    """By cell that the student deleted and nothing restores, whether it is an answer; only the student's check has
    such cells."""
    dice: Mapping[str, bytes] = field(default_factory=dict)
    """The secrets from which the states of random numbers come: under "" that of a session, by test cell that of each
    cell above which nobody seeds. Without them a session begins as every fork does."""
    beside_tests: frozenset[str] | None = None
    """What ``names_beside_tests`` says, where the solution is not at hand, as in a student's copy."""
    seconds: float = 0.0
    """The seconds that the solution took."""
    repeatable: bool = True
    """Whether no limit of time or memory was met, so that rehearsing again would show the same."""

    @functools.cached_property
    def cells(self) -> dict[str, Cell]:
        """The blueprint's cells by name."""
        return {cell.id: cell for cell in self.blueprint.cells}

    @property
    def inside(self) -> frozenset[str]:
        """The single-process cells."""
        return frozenset(self.single_process)

    def single_process_sentences(self) -> dict[str, str]:
        """Sentences for the author about the single-process cells, by cell in the notebook's order."""
        sentences = {}
        for cell in self.blueprint.cells:
            if why := self.single_process.get(cell.id):
                kind = "single_process_hidden" if HIDDEN.search(cell.source) else "single_process"
                sentences[cell.id] = wording.sentence(Note(kind, cells=(cell.id,), because=why))
        return sentences

    def __deepcopy__(self, memo: dict) -> Examination:
        return self  # it never changes; nbconvert copies what it is handed for every step

    def budget(self, seconds: float, chosen: float = 0.0) -> float:
        """Seconds that a whole notebook may take: what its metadata say, what the course has ``chosen``, or some times
        what it needs where a cell may take ``seconds``."""
        limits = [seconds, *(cell.seconds for cell in self.blueprint.cells if cell.seconds)]
        return float(self.blueprint.budget or chosen or budget(limits, self.seconds))

    def cells_before(self, name: str, after: str | None) -> list[Cell]:
        """The blueprint's cells between two grade cells."""
        ids = [cell.id for cell in self.blueprint.cells]
        start = ids.index(after) + 1 if after in ids else 0
        return [cell for cell in self.blueprint.cells[start : ids.index(name)] if cell.purpose != Purpose.TESTS]

    def used_names(self, cell: Cell) -> list[str]:
        """The names that a grade cell uses, in its functions too, and in those of the grade cells above it."""
        used = set(cell.used_names())
        functions: dict[str, set[str]] = {}
        for test in itertools.takewhile(lambda test: test.id != cell.id, self.blueprint.cells):
            names = names_of(test.source) if test.purpose == Purpose.TESTS else None
            functions |= names.mentioned if names else {}
        return sorted(used | ownership.reached(used, functions))

    @functools.cached_property
    def names_beside_tests(self) -> frozenset[str]:
        """All names that the cells beside the tests bind or need, with the solution in place of the answers."""
        if self.beside_tests is not None:
            return self.beside_tests
        code = (cell.source for cell in self.blueprint.cells if cell.code and cell.purpose != Purpose.TESTS)
        return frozenset(bound_or_needed(code)).union(*self.plan.owned.values())

    def own_names(self, sources: Iterable[str]) -> set[str]:
        """The names that cells of a submission bind and that mean nothing in the notebook beside its tests.

        A test may use such a name for something else, as ``lower`` for a mask: a student's function still finds what
        its author called ``lower``. ``sources`` are the texts of the cells.
        """
        return given_by(sources) - self.names_beside_tests

    def clashing(self, own: Set[str]) -> set[str]:
        """Which of a student's ``own`` names the tests bind to something else and can call otherwise."""
        if not own:
            return set()
        tests = [cell.source for cell in self.blueprint.cells if cell.purpose == Purpose.TESTS]
        return (given_by(tests) & own).difference(*map(fixed_names, tests))

    def definitions(self, cell: Cell, own: Set[str] = frozenset()) -> list[str]:
        """The texts of a grade cell that the candidate runs too, for the cells below it.

        That is what its visible lines import and define, but for names that are the student's ``own``, and what its
        hidden lines import for a grade cell that runs in the candidate: its text, which is there, speaks of it.
        """
        texts = [text for text in cell.definitions() if own.isdisjoint((names_of(text) or Names()).bound)]
        ids = [later.id for later in self.blueprint.cells]  # a cell that runs again may be without some of its checks
        below = self.blueprint.cells[ids.index(cell.id) + 1 :]
        sources = [names_of(later.source) for later in below if later.id in self.single_process]
        used = set().union(*(names.needed for names in sources if names))
        imports = import_statements(cell.source).items() if used else ()
        return texts + [text for text, names in imports if text not in texts and names & (used | {"*"})]


SEEDING = re.compile(r"\bseed\s*\(|\bset_?state\s*\(")
"""A call that chooses the state of the global random numbers."""


def dice_of(blueprint: Blueprint) -> dict[str, bytes]:
    """The dice of a notebook (see Examination): hashes of its solutions and of its tests with their hidden lines.

    Whoever grades has these texts and no student has them, so no key has to be kept, and all graders draw the same.
    """
    solutions = repr([blueprint.name, *(cell.source for cell in blueprint.cells if cell.purpose in ANSWERS)])
    secrets = {"": _hashed(solutions)}
    for cell in blueprint.cells:
        if cell.purpose == Purpose.TESTS:
            secrets[cell.id] = _hashed(solutions, cell.id, cell.source)
        if SEEDING.search(cell.source):
            break
    return secrets


def _hashed(*texts: str) -> bytes:
    return hashlib.sha256(repr(texts).encode("utf-8", "surrogatepass")).digest()


def shuffle(session: Session, examination: Examination) -> None:
    """Let both processes of a session that has just begun draw their random numbers from a state that nobody knows."""
    if (secret := examination.dice.get("")) and not session.one_process:
        state = state_of(secret)
        with contextlib.suppress(Died):  # the first cell will say so
            session.candidate(STUCK, do="bind", names={}, random_state=state, shuffled=True)
        session.examiner(STUCK, do="shuffle", random_state=state)


def run(session: Session, cell: str, source: str, examination: Examination, seconds: float) -> dict:
    """The candidate's reply to the request that it runs a cell which is not a test.

    Of a read-only cell that the examiner runs too, the session keeps from which random numbers it began.
    """
    if cell not in examination.plan.given or session.one_process:
        return session.candidate(seconds, do="run", source=source)
    reply = session.candidate(seconds, do="run", source=source, begun=True)
    if type(begun := reply.pop("begun", None)) is bytes and len(begun) <= MOST_TEXT:
        session.begun[cell] = begun
    return reply


def prepare(
    session: Session, cells: list[Cell], examination: Examination, seconds: float, ran: bool = True
) -> dict[str, str]:
    """Let the examiner run the read-only cells, and give up the names and files that become the student's.

    ``ran`` says whether the candidate has run cells since the last grade cell.
    Returns, by cell, what those raised that failed.
    """
    if ran:
        session.examiner(10, do="ran")
    errors = {}
    for cell in cells:
        give_up(session, cell, examination)
        if cell.id in examination.plan.given:
            request = {"source": cell.source, "name": cell.id, "begun": session.begun.pop(cell.id, b"")}
            errors[cell.id] = session.examiner(seconds, do="given", **request)["error"]
    return {cell: error for cell, error in errors.items() if error}


def read_by_functions(sources: Iterable[str]) -> set[str]:
    """The names that the functions in these cells read, and do not bind themselves."""
    return set().union(*(part for names in _names_in(sources) for part in names.mentioned.values()))


def given_by(sources: Iterable[str]) -> set[str]:
    """The names to which these cells give a value."""
    return set().union(*(names.given for names in _names_in(sources)))


def bound_or_needed(sources: Iterable[str]) -> set[str]:
    """The names that these cells bind, use or change, or that functions in them do."""
    return set().union(*(names.bound | names.needed for names in _names_in(sources)))


def _names_in(sources: Iterable[str]) -> Iterator[Names]:
    for source in sources:
        with contextlib.suppress(Exception, MemoryError):  # IPython's reading of a stranger's text may raise anything
            if len(source) <= MOST_TEXT and (names := names_of(source)):
                yield names


def give_up(session: Session, cell: Cell, examination: Examination) -> None:
    """Let the examiner give up the names and files that are the student's from a cell on."""
    names, files = (table.get(cell.id, frozenset()) for table in (examination.plan.owned, examination.files))
    if names or files:
        session.examiner(10, do="own", names=sorted(names), files=sorted(files))


def examine(
    session: Session,
    cell: Cell,
    examination: Examination,
    seconds: Iterator[float],
    skip: int = 0,
    again: bool = False,
    read: Collection[str] = (),
    sources: Sequence[str] = (),
    own: Set[str] = frozenset(),
) -> list[CheckReport]:
    """The reports on a grade cell's checks, the first ``skip`` left out; a single-process cell is run in the candidate.

    ``read`` are the names that functions of the notebook read: they see what visible lines of the cell bind to them,
    unless the name is the student's ``own`` (``Examination.own_names``).
    ``sources`` are the texts of the cells that the candidate has run.
    ``seconds`` says how long each step may take. The reports end early when the candidate does: the last has ``died``.
    Where what stands before the checks did not pass, each report is of that.
    An examiner that fails at a check raises ExaminerFault, unless it does so ``again``.
    """
    give_up(session, cell, examination)
    if session.one_process:
        split, clashing = cell.id not in examination.single_process, examination.clashing(own)
        reports = _examine_inside(session, cell, seconds, skip, clashing, split)
        if not (reports and reports[-1].died):
            session.examiner(STUCK, do="finish", shown=HIDDEN.sub("", cell.source))
        return reports
    if cell.id not in examination.single_process:
        # The test may ask by a function of another cell.
        asked = any(word in written.source for written in examination.blueprint.cells for word in ASKING)
        texts = sources if asked else ()
        return _examine_split(session, cell, examination, seconds, skip, again, read, texts, own)
    reports = _examine_inside(session, cell, seconds, skip, examination.clashing(own))
    if not (reports and reports[-1].died):
        _keep_helpers(session, cell, examination)
    return reports


def _examine_split(
    session: Session,
    cell: Cell,
    examination: Examination,
    seconds: Iterator[float],
    skip: int,
    again: bool,
    read: Collection[str],
    sources: Sequence[str],
    own: Set[str],
) -> list[CheckReport]:
    """The examiner runs the test code, and asks the candidate; the names that are the student's ``own`` stay theirs."""
    visible, used = sorted(cell.visible_names().difference(own)), examination.used_names(cell)
    begin: dict[str, Any] = {"do": "begin", "cell": cell.id, "prelude": cell.prelude, "visible": visible, "used": used}
    begin |= {"read": [name for name in visible if name in read], "sources": [*sources]}
    if secret := examination.dice.get(cell.id):
        begin["random_state"] = state_of(secret)
    begun = _report(session, next(seconds), again, cell.prelude, **begin)
    if begun.verdict is not Verdict.PASSED:
        reports = [_of_beginning(begun, check) for check in cell.checks[skip:]]
    else:
        reports = []
        for check in cell.checks[skip:]:
            request = {"do": "check", "title": check.title, "source": check.source}
            reports.append(_report(session, next(seconds), again, check.source, **request))
            if reports[-1].died:
                break
    if (reports or [begun])[-1].died:
        return reports
    with contextlib.suppress(Spent):
        try:
            session.examiner(STUCK, do="finish", pushed=visible)
        except ExaminerFault:
            if not again:
                raise
            session.was_shot()  # ends the candidate, so that the cells below meet two new processes
            return reports
        if definitions := examination.definitions(cell, own):
            session.candidate(next(seconds), do="define", sources=definitions)
    return reports


def _of_beginning(report: CheckReport, check: Check) -> CheckReport:
    """The report on a check, where what stands before the checks of its cell did not pass."""
    return structs.replace(report, title=check.title, before=True)


def _report(session: Session, seconds: float, again: bool, code: str, **request: Any) -> CheckReport:
    """The examiner's report on ``code``; where nothing ends the test, what it was answered keeps it busy, and both are
    given up.

    The test passed with the solution: an examiner that ends at it ``again``, in a new process, does so because of what
    it was answered.
    """
    time_budget = session.time_budget
    try:
        report = CheckReport.crossed(session.examiner(seconds, **request, **time_budget.words())["report"])
    except Spent as spent:
        return CheckReport("", Verdict.TIMEOUT, cause=spent.cause)
    except ExaminerBusy:
        time_budget.suspect_all(code, session.limit)
        report = CheckReport(request.get("title", ""), Verdict.KILLED)
    except ExaminerFault:
        if not again:
            raise
        report = CheckReport(request.get("title", ""), Verdict.KILLED, cause=Note("answer_ended"))
    report.died = report.verdict is Verdict.KILLED
    time_budget.judge(report, session.interrupted, session.limit)
    return report


def _examine_inside(
    session: Session, cell: Cell, seconds: Iterator[float], skip: int, clashing: Set[str], split: bool = False
) -> list[CheckReport]:
    """The student's process runs the test code of a cell; with ``split`` a cell that grading splits.

    There the test's names stand beside the student's, so those that are ``clashing`` become others.
    """
    reports = []
    begun = _inside(session, cell.id, cell.id, renamed(cell.prelude, clashing), next(seconds), split)
    if begun.died or (split and begun.verdict is not Verdict.PASSED):
        return [_of_beginning(begun, check) for check in cell.checks[skip:]]
    for check in cell.checks[skip:]:
        reports.append(_inside(session, cell.id, check.title, renamed(check.source, clashing), next(seconds), split))
        if reports[-1].died:
            break
    return reports


def _inside(session: Session, cell: str, title: str, source: str, seconds: float, split: bool = False) -> CheckReport:
    """The report on a cell's test code that ran in the student's process; with ``split`` that says whose exception
    ended it."""
    report, reply, start = CheckReport(title, Verdict.PASSED), {}, time.monotonic()
    if given_up := session.time_budget.hopeless(source):
        return CheckReport(title, given_up[0], cause=given_up[1])
    try:
        options = {"test": cell} if session.one_process else {}  # for a session of kernels
        reply = session.candidate(session.time_budget.limit(source, seconds), do="run", source=source, **options)
    except Spent as spent:
        return CheckReport(title, Verdict.TIMEOUT, cause=spent.cause)
    except Died as death:
        report.verdict, report.cause, report.died = death.verdict, death.cause, True
    report.seconds = time.monotonic() - start
    if "asserted" in reply:  # of a kernel of another language, whose error says all that is known
        _read_reply(report, reply, session)
    elif raised := raised_in(reply):
        name, report.reason, report.traceback = (
            safe(str, raised.get(field)) for field in ("name", "message", "traceback")
        )
        report.verdict = Verdict.FAILED if name == "AssertionError" else Verdict.ERROR
        report.exception = "" if report.verdict is Verdict.FAILED else name
        report.raised_by = "student"  # in the candidate nobody can tell whose it is
        if split:
            frames = [name for name in raised.get("own", []) if name != "<module>"]
            report.asked = frames[0] if frames else ""
            if report.exception or raised.get("own"):
                report.exception, report.reason = name, f"{name}: {report.reason}"
            else:
                report.raised_by = "test"
        report.running = running(raised.get("traceback"))
    else:
        with session.time_budget.working():
            outputs = outputs_of(reply)
        values = [item["data"].get("text/plain", "") for item in outputs if item["output_type"] == "execute_result"]
        report.result = result_of_text(values[-1]) if values else None
    session.time_budget.judge(report, session.interrupted, session.limit)
    return report


def _read_reply(report: CheckReport, reply: dict, session: Session) -> None:
    """Put what another language's kernel said of test code into the report on it.

    Whose error it is, nobody can tell: tests and answers run in one process.
    """
    if raised := raised_in(reply):
        name, message, trace = (
            plaintext.uncoloured(safe(str, raised.get(field))) for field in ("name", "message", "traceback")
        )
        status = message.strip() if not name and message.strip().isdigit() else ""  # as of a shell
        report.verdict = Verdict.FAILED if reply["asserted"] or status == "1" else Verdict.ERROR
        report.exception = "" if report.verdict is Verdict.FAILED else name or "error"
        report.reason = f"exit status {status}" if status else message.strip()
        report.traceback, report.raised_by = trace, "test"
    with session.time_budget.working():
        outputs = outputs_of(reply)
    if raised:
        shown = "".join(item["text"] for item in outputs if item["output_type"] == "stream")
        report.printed = plaintext.uncoloured(shown[:CHARACTERS])
        return
    last: dict = outputs[-1] if outputs else {}
    if last.get("output_type") in ("execute_result", "display_data"):
        report.result = result_of_text(last["data"].get("text/plain", "").removeprefix("[1] ").strip())


def _keep_helpers(session: Session, cell: Cell, examination: Examination) -> None:
    """Let the examiner have, for the cells below, what a cell that ran in the candidate imports and its functions."""
    students = set().union(*examination.plan.owned.values())
    for source, names in helpers_of(cell.source).items():
        if not names & students:
            session.examiner(STUCK, do="given", source=source, name=cell.id)  # one that fails stays the candidate's
