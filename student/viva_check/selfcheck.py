"""A student's own check: the visible checks of a notebook, graded as they will be, where the student works.

The same candidate and examiner as in grading, with the same limits, and in the same sandbox where the machine has one:
a grader may check the notebook of somebody else. Without one the code has all rights of its user.
Nothing here needs the course, its gradebook or nbgrader, which takes seconds to load.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_raw_cell

from viva import doors, wording
from viva.engine.blueprint import Cell
from viva.engine.examination import Examination
from viva.engine.explaining.stopped import MOST_CODE
from viva.engine.grading import Grader
from viva.engine.outcome import own_frames
from viva.language import ENGLISH, Language
from viva.notebook.cell import Purpose, grade_id, marks_of, name_of
from viva.record import CheckResult, Fault, Note
from viva.sandbox.confinement import Sandbox
from viva.sandbox.protection import protection
from viva.submission.files import salvage
from viva.submission.files.contents import read_file
from viva.submission.files.sizes import limited
from viva.submission.studentcopy import Copy, language_for, open_copy
from viva.verdict import NOT_DONE, SubmissionError, Verdict, VivaError
from viva_check import packages
from viva_check.packages import KNOWN, Packages

MOST_FILES, MOST_BYTES = 500, 50 * 2**20
REFUSED = {"processes_unsandboxed": "process", "connections_unsandboxed": "network"}
"""By fact, which sentence says that grading will refuse this."""
HIDDEN, UNCHECKED = "hidden", "not checked"
"""States of a check beside its verdicts: it has no visible line, or cannot say anything, as for a changed cell."""
REMEDIES = {
    "syntax_error": "correct",
    "syntax_error_unplaced": "correct",
    "cell_stopped": "correct",
    "cell_stopped_unplaced": "correct",
    "cell_stopped_in": "correct",
    "read_only_stopped": "read_only",
    "cell_needs": "install",
    "code_needs": "install",
    "cell_unfinished": "loop",
    "cell_unfinished_in": "loop",
    "function_unfinished": "loop",
    "notebook_unfinished": "loop",
    "cell_killed": "memory",
    "answer_deleted": "restore",
    "read_only_deleted": "restore",
}
"""By kind of a cause (``viva.engine.explaining``), what to do."""
ASKS = re.compile(r"EOFError: EOF when reading a line|StdinNotImplementedError\b")
"""What input() raises where nobody can answer."""
UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
ALONE = {"syntax_error", "syntax_error_unplaced", "cell_needs", "answer_deleted", "read_only_deleted"}
"""The kinds that are worth a remark where no check depends on them."""


@dataclass(frozen=True)
class Tried:
    """One check of a notebook; ``state`` is a verdict, HIDDEN, UNCHECKED, or NOT_DONE."""

    cell: str
    title: str
    points: float
    state: str
    hint: str = ""
    verdict: str = ""
    undone: tuple[str, ...] = ()
    """The answers that a check waits for."""
    place: str = ""
    """The student's own line that raised, and where it stands."""
    cause: str = ""
    """The cell or function for which the check was not run, or says nothing."""
    answer: str = ""
    """The cell of the line that raised."""
    cut: bool = False
    """Whether it has hidden lines, too, which only grading runs."""

    @property
    def passed(self) -> bool:
        return self.state == Verdict.PASSED

    @property
    def counts(self) -> bool:
        """Whether the student can see what it asks for."""
        return self.state != HIDDEN


def sandboxes() -> tuple[Sandbox, Sandbox] | None:
    """The sandboxes around candidate and examiner; None where this machine cannot set one up."""
    return None if protection().level == "none" else (Sandbox.for_candidate(), Sandbox.for_examiner())


def own_settings() -> dict[str, str]:
    """The user's settings for the fork servers: the folder with matplotlib's list of fonts, which is slow to make."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("MPLCONFIGDIR") or Path(cache) / "matplotlib")
    return {"MPLCONFIGDIR": str(folder)} if folder.is_dir() else {}


def practise(
    copy: Copy, grader: Grader, folder: Path, watch: Callable[[str], None] = lambda cell: None
) -> tuple[list[Tried], list[Fault]]:
    """The results of all checks of a notebook, in order, and the grader's own faults; ``folder`` holds its files.

    ``watch`` gets the name of each cell when it begins. After the first check that does not finish, the others together
    get as long as that one had; what does not fit is not run.
    """
    grader.seconds = copy.seconds
    shown = _visible(copy)
    notebook = _up_to_the_last(shown, copy)
    with tempfile.TemporaryDirectory(prefix="viva-files-") as scratch:
        _take_files(folder, notebook, Path(scratch))
        outcome = grader.grade(notebook, shown, Path(scratch), Path(scratch), watch)
    spoken = copy.language
    copy.remarks += [spoken.text(f"check.{REFUSED[fact.kind]}") for fact in outcome.integrity if fact.kind in REFUSED]
    costly = {result.lost for results in outcome.checks.values() for result in results}
    known = packages.known_to(copy.notebook)
    alone = (cause for cause in outcome.causes if cause.kind in ALONE and cause not in costly)
    copy.remarks += [_remark(cause, spoken, known) for cause in alone]
    tried = []
    own_code = _own_cells(notebook)
    for cell in copy.examination.blueprint.cells:
        results = iter(outcome.checks.get(cell.id, []))
        for check in cell.checks:
            if check.hidden:
                tried.append(Tried(cell.id, check.title, check.points, HIDDEN))
            elif cell.id in copy.unchecked:
                tried.append(Tried(cell.id, check.title, check.points, UNCHECKED, copy.unchecked[cell.id]))
            else:
                tried.append(replace(_tried(cell, next(results), own_code, spoken, known), cut=check.cut))
    gone = [name for name in copy.unchecked if name not in {cell.id for cell in copy.examination.blueprint.cells}]
    tried += [Tried(name, name, 0.0, UNCHECKED, copy.unchecked[name]) for name in gone]
    return tried, outcome.faults


def _remark(cause: Note, spoken: Language, known: Packages) -> str:
    """A cause that cost no check, as one remark."""
    what, _, remedy = _lines(cause, spoken, known)
    return spoken.text("forms.between").join([what, remedy])


def _lines(cause: Note, spoken: Language, known: Packages = KNOWN) -> tuple[str, str, str]:
    """What happened, the student's line, and what to do; the line may be empty. ``known`` are packages by library."""
    remedy = _remedy(cause, known)
    remedy = spoken.text(f"check.{remedy}", **_fields(cause, remedy, known))
    what = wording.standing_alone(wording.sentence(cause, wording.STUDENT, spoken), spoken)
    return what, cause.names[1] if len(cause.names) > 1 else "", remedy


def _remedy(cause: Note, known: Packages) -> str:
    """The key of what to do; of some causes more is known than their kind."""
    remedy, first = REMEDIES[cause.kind], cause.names[0] if cause.names else ""
    if remedy == "install":
        return "not_run" if first in known.own else remedy if first in known else "ask"
    if remedy == "correct" and ASKS.match(first):
        return "input"
    return "undefined" if remedy == "correct" and UNDEFINED.match(first) else remedy


def _fields(cause: Note, remedy: str, known: Packages) -> dict[str, Any]:
    first = cause.names[0] if cause.names else ""
    match remedy:
        case "install" | "not_run":
            return {"package": known[first]}
        case "undefined" if name := UNDEFINED.match(first):
            return {"name": name[1]}
    return {}


def _visible(copy: Copy) -> Examination:
    """The examination without checks that hold no visible line."""
    examination = copy.examination
    cells = []
    for cell in examination.blueprint.cells:
        checks = () if cell.id in copy.unchecked else tuple(check for check in cell.checks if not check.hidden)
        cells.append(replace(cell, checks=checks) if cell.purpose == Purpose.TESTS else cell)
    return replace(examination, blueprint=replace(examination.blueprint, cells=tuple(cells)))


def _up_to_the_last(examination: Examination, copy: Copy) -> NotebookNode:
    """The notebook up to its last visible check, without changed test cells."""
    asking = {cell.id for cell in examination.blueprint.cells if cell.checks}
    names = [grade_id(cell) for cell in copy.notebook.cells]
    last = max((number for number, name in enumerate(names) if name in asking), default=-1)
    cells = [
        new_raw_cell() if name in copy.unchecked else cell  # the others keep their numbers
        for cell, name in zip(copy.notebook.cells[: last + 1], names, strict=False)
    ]
    return NotebookNode(copy.notebook, cells=cells)


def _own_cells(notebook: NotebookNode) -> dict[str, str]:
    """The code that the student wrote or may have changed, by cell."""
    code = {}
    for number, cell in enumerate(notebook.cells):
        metadata = marks_of(cell)
        if cell.cell_type == "code" and not (
            metadata.get("locked") or (metadata.get("grade") and not metadata.get("solution"))
        ):
            code[name_of(cell) or f"cell {number + 1}"] = cell.source
    return code


def told(tried: Iterable[Tried], spoken: Language = ENGLISH) -> list[list[str]]:
    """The lines below each check: its hint, and the student's line. The same line and the same cause are shown once."""
    tried = list(tried)
    remarks = [(check.hint, check.place) if not check.undone else ("", "") for check in tried]
    times, lines = Counter(pair for pair in remarks if pair[1]), list[list[str]]()
    causes = {pair for pair, check in zip(remarks, tried, strict=True) if check.state == UNCHECKED and check.hint}
    for number, pair in enumerate(remarks):
        hint, line = pair
        if (times[pair] > 1 or pair in causes) and pair in remarks[:number]:
            lines.append([spoken.text("check.as_above")])
            continue
        hint = spoken.text("forms.times", times[pair], sentence=hint) if times[pair] > 1 else hint
        lines.append([*hint.splitlines(), *([line] if line else [])])
    return lines


@dataclass(frozen=True)
class Row:
    """What a reader sees of one check, or of all that wait for the same answers or were not run for the same cause."""

    heading: str
    state: str
    points: float
    title: str
    lines: list[str]
    word: str = ""
    """The state in the language of the course."""


def word_of(state: str, spoken: Language) -> str:
    """The state of a check as its student reads it."""
    name = {UNCHECKED: "not_checked", NOT_DONE: "not_done"}.get(state) or Verdict(state).name.lower()
    return spoken.text(f"state.{name}")


def rows(tried: Iterable[Tried], spoken: Language = ENGLISH) -> list[Row]:
    """The rows about the checks that a student can see, in order."""
    tried = [result for result in tried if result.counts]
    groups: dict[object, list[tuple[Tried, list[str]]]] = {}
    for number, (result, lines) in enumerate(zip(tried, told(tried, spoken), strict=True)):
        key = result.undone or (result.hint if result.state == UNCHECKED else number)
        groups.setdefault(key, []).append((result, lines))
    found = []
    for group in groups.values():
        (first, lines), several = group[0], len(group) > 1
        names = first.undone or ([first.cause] if first.cause else dict.fromkeys(result.cell for result, _ in group))
        points = sum(result.points for result, _ in group)
        title = spoken.text("feedback.checks", len(group)) if several else first.title
        if first.cell == first.title and not first.points:  # a test cell that is gone, with the titles of its checks
            title = spoken.text("check.test_cells", len(group))
        found.append(Row(", ".join(names), first.state, points, title, lines, word_of(first.state, spoken)))
    return found


def _tried(cell: Cell, result: CheckResult, own_code: dict[str, str], spoken: Language, known: Packages) -> Tried:
    verdict = str(result.verdict)
    if cause := result.lost:
        hint = "\n".join(filter(None, _lines(cause, spoken, known)))
        return Tried(cell.id, result.title, result.points, UNCHECKED, hint, verdict, cause=_place(cause, spoken))
    frames = own_frames(result.traceback, own_code) if result.verdict in (Verdict.ERROR, Verdict.FAILED) else []
    line, answer = "", frames[-1].cell if frames else ""
    if frames:
        frame = frames[-1]
        line = spoken.text("check.line", line=str(frame.line), cell=f"'{answer}'", code=frame.code[:MOST_CODE])
    told = wording.reason(result, wording.STUDENT, spoken), wording.meaning(result, spoken)
    hint, undone = "\n".join(filter(None, told)), tuple(result.undone)
    return Tried(cell.id, result.title, result.points, result.word, hint, verdict, undone, line, answer=answer)


def _place(cause: Note, spoken: Language) -> str:
    """Where a cause is: a cell, or what it is about."""
    if cause.cells:
        return cause.cells[0]
    if cause.kind in ("code_needs", "function_unfinished"):
        return cause.names[0]
    return spoken.text("forms.cell", number=str(cause.numbers[-1])).strip() if cause.numbers else ""


def _take_files(folder: Path, notebook: NotebookNode, scratch: Path) -> None:
    """Copy the files beside a notebook, and those in folders that it names, as far as they are few and small."""
    code = "\n".join(cell.source for cell in notebook.cells)
    paths = list(itertools.islice(folder.iterdir(), MOST_FILES))
    for path in paths.copy():
        if path.name in code and path.is_dir() and not path.is_symlink():
            paths += itertools.islice(path.rglob("*"), MOST_FILES)
    files = [path for path in paths if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb"]
    room = MOST_BYTES
    for path in sorted(files, key=lambda path: path.stat().st_size):
        room -= path.stat().st_size
        if room >= 0 and os.access(path, os.R_OK):
            target = scratch / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises VivaError with a sentence that names it."""
    if not path.exists():
        raise VivaError(f"The file {path} does not exist.")
    if path.is_dir():
        raise VivaError(f"{path} is a folder; name the notebook in it.")
    try:
        return read_file(path.resolve())
    except SubmissionError as error:
        raise VivaError(f"{path.name} {error}.") from error


def open_bytes(data: bytes, path: Path, original: Path | None = None) -> Copy:
    """The notebook in a file, repaired where ``original`` is the one that was released. Raises VivaError."""
    try:
        with limited():
            copy, repairs = _opened(data, original)
    except SubmissionError as error:
        raise VivaError(f"{path.name} {error}.") from error
    copy.remarks[:0] = wording.sentences(repairs, wording.STUDENT, copy.language)
    return copy


def _opened(data: bytes, original: Path | None) -> tuple[Copy, list[Note]]:
    notebook, repairs = salvage.read(data, trusting=True)
    if original:
        try:
            from viva.submission.cells.places import Released
            from viva.submission.cells.repair import repair  # takes a second to load
        except ModuleNotFoundError as error:
            raise VivaError(
                f"--original needs {error.name}, which is not installed here. Ask your instructor for the wheel of the "
                f"complete Viva: {doors.install('nbviva')}"
            ) from error

        first = salvage.read(read_bytes(original), trusting=True)[0]
        released = Released(first)
        repaired = repair(notebook, released)
        notebook, repairs = repaired.notebook, [*repairs, *repaired.repairs]
    try:
        copy = open_copy(notebook)
    except SubmissionError as error:
        if error.note:
            spoken = language_for(notebook)
            raise SubmissionError(wording.sentence(error.note, wording.STUDENT, spoken), error.note) from error
        raise
    if original:
        stubs = {slot.name: slot.source for slot in released.slots if slot.answers}
        copy.examination = replace(copy.examination, stubs=stubs)
    return copy, repairs
