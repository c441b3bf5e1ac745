"""The rehearsal: the grader learns about a notebook by grading the instructor's own solution first.

The solution runs alone first, cell by cell in one process, as a kernel runs it: which names do its answers change in
place, which files do they write? Then it is examined with the recording on: what is the expected type of each answer,
which test cells are single-process cells, which does the solution not pass here at all?
"""

from __future__ import annotations

import builtins
import contextlib
import os
import re
import signal
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from viva import wording
from viva.engine import ownership
from viva.engine.blueprint import Blueprint, Cell, read_blueprint
from viva.engine.checks import visible_and_hidden
from viva.engine.credit import kind_of
from viva.engine.dialogue.asker import MOST_QUESTIONS, OFTEN
from viva.engine.dialogue.expected import ANY, CREDIT, OWN, Expected, expected_of, merged, path_of
from viva.engine.examination import Examination, dice_of, examine, prepare, read_by_functions, run, shuffle
from viva.engine.grading import Grader
from viva.engine.kernelrehearsal import rehearse_in_kernel
from viva.engine.outcome import CheckReport, raised_in
from viva.engine.ownership import imported_answers
from viva.engine.session import Died, Session
from viva.engine.singleprocess import SingleProcess
from viva.engine.timebudget import allowance
from viva.notebook.cell import ANSWERS, Purpose
from viva.notebook.names import Names, imports_of, names_of, reached, rebound_of
from viva.notebook.syntax import modules_named, strings_in
from viva.record import Note, note
from viva.verdict import BlueprintError, Verdict

# --- the solution in one process


TOO_LONG = (
    "the instructor's own cell '{cell}' does not finish in {seconds:g} s; allow more in its metadata, "
    'as in {{"viva": {{"seconds": {more:g}}}}}, or all cells with c.Execute.timeout in nbgrader_config.py'
)
TOO_LARGE = (
    "the instructor's own cell '{cell}' exceeds the memory limit; allow more with "
    "c.Examine.memory in nbgrader_config.py"
)
EXITED = "its cell '{cell}' ends its process, with status {status}; remove the code that does so"
CRASHED = (
    "its cell '{cell}' crashes its process ({name}), maybe because it exceeds the memory limit; allow more "
    "with c.Examine.memory in nbgrader_config.py, or fix the cell"
)
BUSY = (
    "the cells up to '{cell}' exceed the time limit of a whole notebook; allow every cell more time with "
    "c.Execute.timeout in nbgrader_config.py (a notebook gets six times as much)"
)


BROUGHT = {"lacks_file": "brings_file", "lacks_module": "brings_module"}
"""The reason for a single-process cell, by what the solution lacks."""
GONE = ("FileNotFoundError", "ModuleNotFoundError")
NOT_FOUND = re.compile(r"(\S+) not found\.")
MOCKING = re.compile(r"\b(?:mock\w*|MagicMock|monkeypatch|patch)\b|\bside_effect\b")
UNSAID = "an assertion fails"
"""The reason of an assertion without a message."""
FAILING = re.compile(r"^    (assert\b.*)", re.MULTILINE)
"""The line of a traceback that shows the assertion."""
OF_OBJECTS = re.compile(
    r"\b(?:Callable|Iterator)?Proxy\b|exception class in another process|object of the student's code cannot be copied"
    r"|code raised StopIteration|'await' outside function"  # a coroutine's
)
"""What an exception says of which the cause is that the object stays in the other process (``dialogue/proxies``)."""
UNSENT = re.compile(r"a value of type (.+) cannot be sent between the two processes")


class Ended(Exception):  # noqa: N818
    """A cell of the solution ended its process."""


@contextlib.contextmanager
def watching(session: Session, cell: Cell, seconds: float) -> Iterator[None]:
    """Raises Ended, with a sentence that says which cell it was and how it came, where the candidate dies."""
    try:
        yield
    except Died as death:
        status = session.status()
        if death.verdict is Verdict.TIMEOUT:
            sentence = TOO_LONG.format(cell=cell.id, seconds=seconds, more=4 * seconds)
        elif status is None:
            sentence = f"its cell '{cell.id}': {death}"
        elif not os.WIFSIGNALED(status):
            sentence = EXITED.format(cell=cell.id, status=os.WEXITSTATUS(status))
        elif os.WTERMSIG(status) == signal.SIGXCPU:
            sentence = BUSY.format(cell=cell.id)
        else:
            number = os.WTERMSIG(status)
            name = next((member.name for member in signal.Signals if member == number), f"signal {number}")
            sentence = CRASHED.format(cell=cell.id, name=name)
        raise Ended(sentence) from death


@dataclass
class Solo:
    """The findings of the run of the solution in one process, by cell."""

    changed: dict[str, set[str]] = field(default_factory=dict)
    """The names that an answer changes in place."""
    raised: dict[str, dict | None] = field(default_factory=dict)
    """The exception of a grade cell."""
    files: dict[str, frozenset[str]] = field(default_factory=dict)
    """The files that were there before, and that it writes."""
    cut: dict[str, str] = field(default_factory=dict)
    """Why a cell could not finish."""
    broken: dict[str, dict] = field(default_factory=dict)
    """The exceptions of other cells."""


def run_alone(cells: list[Cell], grader: Grader, data: Path | None) -> Solo:
    """Run the solution, and its tests, in one process."""
    solo = Solo()
    names: set[str] = set()
    with Session(grader.candidates, grader.examiners, data, alone=True) as session:
        for cell in cells:
            seconds = cell.seconds or grader.seconds
            with watching(session, cell, seconds):
                _run_one(session, cell, seconds, solo, names)
    return solo


def _run_one(session: Session, cell: Cell, seconds: float, solo: Solo, bound: set[str]) -> None:
    """Run one cell, and note what it does."""
    names = names_of(cell.source)
    before = _digests(session, bound) if cell.purpose in ANSWERS else {}
    files = files_of(session)
    raised = raised_in(session.candidate(seconds, do="run", source=cell.source))
    if changed := written(files, files_of(session)):
        solo.files[cell.id] = changed
    if cut := _cut(cell, raised, seconds):
        solo.cut[cell.id] = cut
    if raised and cell.purpose != Purpose.TESTS:
        solo.broken[cell.id] = raised
    if cell.purpose == Purpose.TESTS:
        solo.raised[cell.id] = raised
    elif cell.purpose in ANSWERS:
        after = _digests(session, bound)
        solo.changed[cell.id] = {name for name in before if before[name] != after.get(name)}
    elif names:
        bound |= names.bound


def _cut(cell: Cell, raised: dict | None, seconds: float) -> str:
    """Why a cell could not finish, if the limits are to blame."""
    name = raised["name"] if raised else ""
    if name == "KeyboardInterrupt":
        return TOO_LONG.format(cell=cell.id, seconds=seconds, more=4 * seconds)
    return TOO_LARGE.format(cell=cell.id) if name.endswith("MemoryError") else ""


def files_of(session: Session) -> dict[str, tuple]:
    """The state of the candidate's files, by name."""
    return session.candidate(60, do="digest", names=[])["files"]


def written(before: dict[str, tuple], after: dict[str, tuple]) -> frozenset[str]:
    """The files that were there before and are others now. One that is gone stays: a test may ask whether it is."""
    return frozenset(name for name, state in after.items() if name in before and before[name] != state)


def _digests(session: Session, names: set[str]) -> dict[str, bytes | None]:
    return session.candidate(60, do="digest", names=sorted(names))["digests"]


# --- the solution in two


@dataclass
class _Examined:
    """The findings of the solution's examination; ``lost`` has the grade cells that it does not pass, with reasons."""

    kinds: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)
    """How many of its checks the solution loses, by grade cell."""
    files: dict[str, frozenset[str]] = field(default_factory=dict)
    """The files that the candidate writes during a split grade cell, by cell."""
    reading: set[str] = field(default_factory=set)
    """The read-only cells that find a file no longer, as it is the student's."""
    seconds: float = 0.0
    broken: set[str] = field(default_factory=set)
    """The other cells that raise in the candidate."""
    limited: bool = False
    """Whether a test met a limit, or ended a process."""
    looking: dict[str, Note] = field(default_factory=dict)
    """The grade cells whose tests look at which values are one."""
    ended: str = ""
    """The grade cell at which the candidate ended when it was split; those below it were not examined."""


def rehearse(
    path: Path,
    grader: Grader,
    data: Path | None = None,
    released: Mapping[str, str] | None = None,
    points: Mapping[str, float] | None = None,
    submitted: frozenset[str] = frozenset(),
) -> Examination:
    """The examination of the instructor notebook at ``path``; for ``released`` and ``points`` see read_blueprint.

    The files ``submitted``, by path, are each student's own: the examiner does not read the course's.

    Raises BlueprintError when the notebook cannot be graded at all; a solution that fails its own
    tests is not this function's concern.
    """
    blueprint = read_blueprint(path, released, points)
    if not blueprint.is_python:
        return rehearse_in_kernel(path, blueprint, grader, data)
    cells = [cell for cell in blueprint.cells if cell.code]
    try:
        alone = run_alone(cells, grader, data)
        planned = _planned(blueprint, alone, grader, data, submitted)
        examination, examined = _tried(cells, planned, alone, grader, data)
    except Ended as ended:
        raise BlueprintError(f"{path}: the instructor's own notebook cannot be run: {ended}") from ended
    untold = _untold(cells, alone.raised)
    kinds = {path: kind for path, kind in examined.kinds.items() if path_of(path).root not in untold}
    wide = {path for path in blueprint.widened if path in kinds} | untold
    refused = _refused(cells, alone, examined, grader)
    reasons = _reasons(cells, alone)
    failing = {
        cell: reasons.get(cell, note("told", reason)) for cell, reason in examined.lost.items() if cell not in refused
    }
    repeatable = examination.repeatable and not (alone.cut or refused)
    kinds |= dict.fromkeys(wide, ANY)
    broken = frozenset(alone.broken)
    return replace(examination, kinds=kinds, refused=refused, failing=failing, broken=broken, repeatable=repeatable)


def _planned(
    blueprint: Blueprint, alone: Solo, grader: Grader, data: Path | None, submitted: frozenset[str]
) -> Examination:
    """The examination as far as the texts of the cells and the run in one process tell it."""
    cells = [cell for cell in blueprint.cells if cell.code]
    plan = ownership.plan([(cell.id, *_part(cell)) for cell in cells], alone.changed)
    single = {
        **_with_submitted(cells, submitted, data),
        **_single_process_by_text(cells, alone.raised, data),
        **_with_files_of_students(cells, alone.raised, grader),
        **{cell.id: Note("declared") for cell in cells if cell.inside},
    }
    split = {cell.id for cell in cells if cell.purpose == Purpose.TESTS} | plan.given
    files = {cell: names for cell, names in alone.files.items() if cell not in split}
    if submitted and cells:
        files[cells[0].id] = files.get(cells[0].id, frozenset()) | submitted
    return Examination(blueprint, plan, {}, single, files=files, dice=dice_of(blueprint))


def _tried(
    cells: list[Cell], examination: Examination, alone: Solo, grader: Grader, data: Path | None
) -> tuple[Examination, _Examined]:
    """Find out which grade cells are single-process cells, as the solution passes them in no other way.

    Each round shows more of them: an answer may need what a test above it binds and what cannot cross, as an open file;
    what a cell binds in the candidate, those below may have passed only with; and one in the candidate may need what
    those above it bind in the examiner.
    """
    while True:
        examined = _examine_recording(cells, examination, grader, data)
        seconds, repeatable = examined.seconds, examination.repeatable and not examined.limited
        examination = replace(examination, seconds=seconds, repeatable=repeatable)
        lost = {cell for cell in examined.lost if alone.raised[cell] is None or cell == examined.ended}
        broken = examined.broken - alone.broken.keys()
        single = {cell: why for cell, why in examined.looking.items() if alone.raised[cell] is None}
        reasons = {cell: examined.lost[cell] for cell in lost}
        single = single or _newly_single(cells, examination.inside, broken, reasons)
        single = single or _failing_less(cells, examination, examined, alone, grader, data)
        files = {cell: names | examination.files.get(cell, frozenset()) for cell, names in examined.files.items()}
        files |= {cell: alone.files[cell] for cell in single if cell in alone.files}
        if not single and not examined.reading and examination.files | files == examination.files:
            return examination, examined
        plan = _without(cells, examination.plan, examined.reading)
        single = {**examination.single_process, **single}
        examination = replace(examination, plan=plan, single_process=single, files=examination.files | files)


def _newly_single(cells: list[Cell], inside: frozenset[str], broken: set[str], lost: dict[str, str]) -> dict[str, Note]:
    """The grade cells that a round shows to be single-process cells beside those ``inside``, each with the reason.

    Only the first reason that holds for any cell counts: what it explains may explain the rest. ``broken`` cells raise
    in the candidate alone; the grade cells ``lost`` are not passed, each with what was said.
    """
    if single := _needed_by_others(cells, broken, inside):
        return single
    if single := {
        cell: Note("asks_often", amount=MOST_QUESTIONS) if reason == OFTEN else _not_in_two(reason)
        for cell, reason in lost.items()
        if cell not in inside
    }:
        return single
    if binding := _needed(cells, lost.keys()) - inside:
        return dict.fromkeys(binding, Note("needed_below"))
    return dict.fromkeys(_needed(cells, lost.keys(), through=True) - inside, Note("needed_below"))


def _not_in_two(reason: str) -> Note:
    """Why a grade cell is not passed in two processes, where the ``reason`` of its first check was this."""
    if unsent := UNSENT.search(reason):
        return note("hands_over", unsent[1])
    return Note("uses_object") if OF_OBJECTS.search(reason) else note("not_in_two", reason.rstrip(": "))


def _failing_less(
    cells: list[Cell], examination: Examination, examined: _Examined, alone: Solo, grader: Grader, data: Path | None
) -> dict[str, Note]:
    """The grade cells that the solution does not pass in one process either, and of which it passes more checks there.

    For the others of its checks a wrong line in one of them must not cost a student the points.
    """
    failing = {
        cell: note("less_in_two", examined.lost[cell]) for cell in examined.missed if alone.raised[cell] is not None
    }
    failing = {
        cell: why for cell, why in failing.items() if cell not in examination.inside and examined.missed[cell] > 1
    }
    if not failing:
        return {}
    try:
        single = replace(examination, single_process={**examination.single_process, **failing})
        missed = _examine_recording(cells, single, grader, data).missed
    except Ended:  # in a check below the one that ended the cell before
        return {}
    return {cell: why for cell, why in failing.items() if missed.get(cell, 0) < examined.missed[cell]}


def _without(cells: list[Cell], plan: ownership.Plan, reading: set[str]) -> ownership.Plan:
    """The plan in which these read-only cells bind names of the student's."""
    owned = {
        cell.id: frozenset(names.bound) for cell in cells if cell.id in reading and (names := names_of(cell.source))
    }
    return ownership.Plan(plan.given - reading, plan.owned | owned)


def _needed(cells: list[Cell], lost: Set[str], through: bool = False) -> set[str]:
    """The grade cells that bind what these, which stand below them, use: themselves or by way of a function.

    With ``through`` also by way of what the statements of cells between them bind.
    """
    functions: dict[str, set[str]] = {}
    above: list[tuple[Cell, set[str], set[str]]] = []
    tests: set[str] = set()
    for cell in cells:
        names = names_of(cell.source) or Names()
        functions |= names.mentioned
        used = names.needed | reached(names.needed, functions)
        if cell.id in lost:
            wanted = set(used)
            for earlier, bound, needed in reversed(above):
                if not bound.isdisjoint(wanted):
                    tests |= {earlier.id} if earlier.purpose == Purpose.TESTS else set()
                    wanted |= needed if through else set()
        above.append((cell, rebound_of(cell.source), used))
    return tests


def _needed_by_others(cells: list[Cell], broken: set[str], inside: frozenset[str]) -> dict[str, Note]:
    """The grade cells that bind what cells use that raise without it: answers, and others that bind something."""
    needed: dict[str, Note] = {}
    for cell in cells:
        names = names_of(cell.source) or Names()
        if cell.id in broken and (cell.purpose in ANSWERS or names.bound):
            for test in _needed(cells, {cell.id}) - inside:
                needed.setdefault(test, Note("needed_by_cell", cells=(cell.id,)))
    return needed


def _refused(cells: list[Cell], alone: Solo, examined: _Examined, grader: Grader) -> dict[str, Note]:
    """The grade cells that cannot be graded though stock nbgrader could, each with the reason."""
    refused: dict[str, Note] = {}
    cut = ""
    for cell in cells:
        cut = cut or alone.cut.get(cell.id, "")
        if cell.purpose != Purpose.TESTS or cell.id not in examined.lost:
            continue
        error = alone.raised[cell.id]
        if error is None:
            refused[cell.id] = note("told", cut) if cut else note("unproven", examined.lost[cell.id])
        elif cut:
            refused[cell.id] = note("told", cut)
        elif grader.sandboxed and (error["name"] == "PermissionError" or _is_elsewhere(error, grader)):
            # Other processes, for example, or a file of the machine's.
            refused[cell.id] = Note("refused_by_wall")
    return refused


def _is_elsewhere(error: dict, grader: Grader) -> bool:
    """Whether a file was not found that no submission can bring, as its path is the machine's."""
    path = error["attributes"].get("filename") if error["name"] == "FileNotFoundError" else None
    return isinstance(path, str) and os.path.isabs(path) and not Path(path).is_relative_to(grader.candidates.place)


def _reasons(cells: list[Cell], alone: Solo) -> dict[str, Note]:
    """The reason why the solution does not pass a cell in one process, by cell. For a missing name it is the reason why
    the cell that binds it did not run."""
    errors = alone.raised | alone.broken
    reasons: dict[str, Note] = {}
    binding: dict[str, str] = {}
    for cell in cells:
        if error := errors.get(cell.id):
            above = binding.get(str(error["attributes"].get("name"))) if error["name"] == "NameError" else None
            why = reasons.get(above or "")
            if why:
                reasons[cell.id] = why if why.kind == "in_cell" else Note("in_cell", cells=(above or "",), because=why)
            else:
                reasons[cell.id] = _lacking(error, cell.source) or note("told", _said(error))
        bound = (names_of(cell.source) or Names()).bound
        if cell.purpose not in ANSWERS:  # a cell that shows an error on purpose does not explain what an answer lacks
            bound = {name for name in bound if binding.get(name) not in reasons}
        binding |= dict.fromkeys(bound, cell.id)
    return reasons


def _said(error: dict) -> str:
    """The exception in one line."""
    message = " ".join(str(error["message"]).split())
    if error["name"] == "AssertionError":
        return message or UNSAID
    return f"{error['name']}: {message}" if message else str(error["name"])


def _assertion(report: CheckReport) -> str:
    """The reason of a check whose assertion has no message: its line, if that is known."""
    lines = FAILING.findall(report.traceback)
    return f"{UNSAID}: {lines[-1]}" if lines else UNSAID


def _lacking(error: dict, source: str) -> Note | None:
    """A note for the file or the module that the code ``source`` did not find, if any. What a mock did not find nobody
    has to bring."""
    if MOCKING.search(source):
        return None
    if error["name"] == "ModuleNotFoundError" and (module := error["attributes"].get("name")):
        return note("lacks_module", str(module))
    missing = NOT_FOUND.fullmatch(str(error["message"]))  # NumPy's own
    file = error["attributes"].get("filename") or (missing and missing[1])
    return note("lacks_file", str(file)) if error["name"] == "FileNotFoundError" and file else None


def _with_files_of_students(cells: list[Cell], raised: dict[str, dict | None], grader: Grader) -> dict[str, Note]:
    """The grade cells that the solution does not pass for want of a file, and those below that use what they bind, each
    with the reason.

    Only a submission may hold the file, as a module that students write and submit.
    """
    reasons: dict[str, Note] = {}
    bound: dict[str, Note] = {}
    for cell in cells:
        error, names = raised.get(cell.id), names_of(cell.source)
        if not error or not names:
            continue
        lacking = None if _is_elsewhere(error, grader) else _lacking(error, cell.source)
        why = Note(BROUGHT[lacking.kind], names=lacking.names) if lacking else None
        if why := why or next((bound[name] for name in sorted(names.used & bound.keys())), None):
            reasons[cell.id] = why
            bound |= dict.fromkeys(names.bound, why)
    return reasons


def _with_submitted(cells: list[Cell], submitted: frozenset[str], data: Path | None) -> dict[str, Note]:
    """The grade cells that name a file which students submit, or a module that names one, each with the reason."""
    files = {name: file for file in sorted(submitted) for name in _names_of_file(file)}
    beside = [path for path in data.rglob("*.py") if path.is_file()] if data and submitted else []
    modules = {path: path.relative_to(data).as_posix() for path in beside if data}
    named = {path: _named(path.read_text(errors="replace")) for path in modules if modules[path] not in submitted}
    while using := {path: file for path in named if (file := min(named[path] & files.keys(), default=""))}:
        files |= {name: files[file] for path, file in using.items() for name in _names_of_file(modules[path])}
        named = {path: names for path, names in named.items() if path not in using}
    tests = {cell.id: _named(cell.source) & files.keys() for cell in cells if cell.purpose == Purpose.TESTS}
    return {cell: note("own_file", files[min(names)]) for cell, names in tests.items() if names}


def _names_of_file(file: str) -> set[str]:
    """The path of a file, and the names by which it can be imported: each of its folders may stand in ``sys.path``."""
    parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
    return {f"./{file}"} | {".".join(parts[i:]) for i in range(len(parts)) if file.endswith(".py")}


def _named(source: str) -> set[str]:
    """The modules that a text imports, and the texts in it, as paths."""
    return modules_named(source) | {f"./{os.path.normpath(text)}" for text in strings_in(source)}


def _single_process_by_text(cells: list[Cell], raised: dict[str, dict | None], data: Path | None) -> dict[str, Note]:
    """The grade cells whose text says that they are single-process cells, each with the reason."""
    reader = SingleProcess()
    for module in filter(Path.is_file, data.glob("*.py") if data else ()):
        reader.read(module.read_text(errors="replace"))
    reasons: dict[str, Note] = {}
    for cell in cells:
        if cell.purpose == Purpose.TESTS:
            hidden = visible_and_hidden(cell.source)[1]
            if why := reader.why(cell.source, raised[cell.id] is None, hidden):
                reasons[cell.id] = why
        elif names := names_of(cell.source):
            reader.notebook |= names.bound
        reader.read(cell.source, helpers=cell.purpose not in ANSWERS)
    return reasons


def _untold(cells: list[Cell], raised: dict[str, dict | None]) -> set[str]:
    """The names that only grade cells use which the solution does not pass: of what kind they are it does not tell."""
    used: dict[bool, set[str]] = {True: set(), False: set()}
    for cell in cells:
        if cell.purpose == Purpose.TESTS and (names := names_of(cell.source)):
            used[raised[cell.id] is None] |= names.needed - names.bound
    return used[False] - used[True] - set(vars(builtins))


def _part(cell: Cell) -> tuple[Purpose, str]:
    """The purpose of a code cell in the plan, and its text."""
    if cell.purpose in (Purpose.READ_ONLY, Purpose.TASK):
        return (Purpose.READ_ONLY if cell.locked else Purpose.OPEN), cell.source
    return cell.purpose, cell.source


def kinds_of_answers(examination: Examination) -> dict[str, str]:
    """The kinds, by path, of the names that answers bind, of what depends on them in a test, and of its results."""
    cells = {cell.id: (cell.purpose, names_of(cell.source)) for cell in examination.blueprint.cells}
    tested = [names for purpose, names in cells.values() if purpose == Purpose.TESTS and names]
    used = set().union(*(names.needed for names in tested))
    shown = {
        name
        for cell, names in examination.plan.owned.items()
        for name in names
        if name in used or cells[cell][0] in ANSWERS
    }
    recorded = {path: expected_of(text) for path, text in sorted(examination.kinds.items())}
    kinds = {path: Expected(expected.kind, expected.imported).text for path, expected in recorded.items()}
    return {path: kind for path, kind in kinds.items() if kind == ANY or path_of(path).root in shown}


def _examine_recording(cells: list[Cell], examination: Examination, grader: Grader, data: Path | None) -> _Examined:
    """Examine the solution, recording the kinds of its answers."""
    examined = _Examined()
    answers = imported_answers(cells, set().union(*examination.plan.owned.values()))
    imported: set[str] = set()
    before = None
    with Session(grader.candidates, grader.examiners, data) as session:
        shuffle(session, examination)
        for cell in cells:
            seconds, examined.seconds = cell.seconds or grader.seconds, session.time_budget.spent
            with watching(session, cell, seconds):
                if cell.purpose == Purpose.TESTS:
                    try:
                        _examine_one(session, cell, examination, seconds, examined, before)
                    except Died as death:  # as of a list so long that it cannot cross in time
                        if cell.id in examination.inside:
                            raise
                        examined.lost[cell.id], examined.ended, examined.limited = str(death), cell.id, True
                        return examined
                    before = cell.id
                    continue
                if run(session, cell.id, cell.source, examination, seconds).get("raised"):
                    examined.broken.add(cell.id)
                seen = session.candidate(60, do="kinds")["kinds"]
                imported |= imports_of(cell.source)
                for name in imported & seen.keys():
                    if ":" in seen[name] and (name not in answers or seen[name].endswith(":")):
                        seen[name] = OWN + seen[name]
                _merge(examined.kinds, seen)
        told = session.examiner(10, do="kinds")
        _merge(examined.kinds, told["kinds"])
        examined.kinds |= told["looks"]
        examined.seconds = session.time_budget.spent
    return examined


def _examine_one(
    session: Session, cell: Cell, examination: Examination, seconds: float, examined: _Examined, before: str | None
) -> None:
    """Examine the solution with one grade cell, which follows the one called ``before``, and note what comes of it."""
    places = {name: kind for name, kind in examined.kinds.items() if ":" in kind}
    session.examiner(10, do="prepare", kinds=places, recording=True)
    errors = prepare(session, examination.cells_before(cell.id, before), examination, seconds)
    if examination.files:
        examined.reading |= {read_only for read_only, error in errors.items() if error.startswith(GONE)}
    files = files_of(session)
    read = read_by_functions(cell.source for cell in examination.blueprint.cells if cell.purpose != Purpose.TESTS)
    ran = [above.source for above in examination.cells_before(cell.id, None) if above.code]
    reports = examine(session, cell, examination, allowance(seconds, session.time_budget), read=read, sources=ran)
    if cell.id not in examination.inside and (names := written(files, files_of(session))):
        examined.files[cell.id] = names
    if cell.id not in examination.inside and (why := session.examiner(10, do="observed")["why"]):
        examined.looking[cell.id] = Note(why)
    examined.limited |= any(report.verdict in (Verdict.TIMEOUT, Verdict.KILLED) for report in reports)
    lost = [
        wording.sentence(report.cause) if report.cause else report.reason or _assertion(report)
        for report in reports
        if report.verdict is not Verdict.PASSED
    ]
    if lost or len(reports) != len(cell.checks):
        if all(report.verdict is not Verdict.UNGRADED for report in reports):  # inside it would be lost
            examined.missed[cell.id] = len(lost) + len(cell.checks) - len(reports)
        examined.lost[cell.id] = " ".join((lost or ["its process ended"])[0].split())[:200]
    elif len(cell.checks) == 1 and (credit := kind_of(reports[0].result, cell.checks[0].points)):
        examined.kinds[CREDIT + cell.id] = credit


def _merge(kinds: dict[str, str], added: dict[str, str]) -> None:
    """Add what was recorded; what was seen as two different types may be either."""
    for path, text in added.items():
        first, second = expected_of(kinds.get(path, text)), expected_of(text)
        kinds[path] = replace(merged(first, second), full=first.full | second.full).text
