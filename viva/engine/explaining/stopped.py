"""Cells that did not run to their end, and the checks that this explains: one cause, however many checks it costs.

A walk from the top of the notebook to its end knows at each place which names are *broken*, and by which cause: those
that a cell was to bind which did not run to its end or is deleted, and those that later cells computed from them. A
check that does not pass and uses a broken name depends on its cause. So does a check that was not run for want of time.
Verdicts and points stay as they are; beside them stands the cause, as a note. What has an explanation of its own (an
answer that is not done yet, a refusal of the sandbox) has no cause here.

The names in the notes are what the student's process said, and a line of the student's code: pages show what of them
they may.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nbformat import NotebookNode

from viva.cleaning import plaintext
from viva.engine.examination import Examination
from viva.engine.explaining.place import MISSING, NO_MODULE, UNDEFINED, Place, Question
from viva.engine.libraries import can_be_imported
from viva.engine.outcome import Outcome
from viva.engine.timebudget import NOT_TRIED
from viva.notebook.cell import grade_id, is_locked, name_of
from viva.notebook.names import changed_in, names_in_text, names_within, reached
from viva.notebook.stubs import STUB
from viva.notebook.syntax import BLOCKS, LONGEST, blank_head, complaint_about, parsed, statements_of
from viva.record import Note, note
from viva.verdict import Verdict

PLACE = re.compile(r"Cell In\[(\d{1,9})\], line (\d{1,9})\b")
"""Where a line that was running stands, as IPython says it: the number of a run, and of a line. Students can
write such texts with thousands of digits, which Python does not read as a number."""
BINDING = re.compile(
    r"""
    ^ (?: async[ ]+def | def | class ) [ ]+ (\w+)
    | ^ (\w+ (?: [ \t]*,[ \t]* \w+ )*) [ \t]* = (?!=)
    | ^ import [ ]+ (?: [\w.]+ [ ]+ as [ ]+ )? (\w+)
    | ^ from [ ]+ [\w.]+ [ ]+ import [ ]+ (\w+)
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A line that binds names, in code with a syntax error."""
MOST_CODE = 200
"""Characters of a line or message that are shown."""
ALIKE = 0.8
"""A name that is so like another one may be misspelt."""
STEP = re.compile(r"the cell '(.*)'", re.DOTALL)
"""How a time budget names a cell that did not finish; else it names a function."""
UNDONE = Note(kind="")
"""In place of the cause of an answer that is not done yet, which explains its checks in other words."""


class Stopped:
    """Writes into each check by which cause it was lost, and into the outcome all causes in their order; knows at each
    place which names are broken by which cause."""

    def __init__(self, outcome: Outcome, cells: list[NotebookNode], examination: Examination) -> None:
        self.outcome, self.cells, self.examination = outcome, cells, examination
        self.owned = examination.plan.owned
        self.functions: dict[str, set[str]] = {}
        self.broken: dict[str, Note] = {}
        self.causes = outcome.causes
        self.everything = self._bound_somewhere()
        self.runs = {count: index for index, (_, count) in outcome.outputs.items() if count is not None}
        gone = sorted(examination.deleted, key=examination.deleted.__getitem__)  # read-only cells first
        kinds = {name: "answer_deleted" if examination.deleted[name] else "read_only_deleted" for name in gone}
        self.deleted = [self._add(Note(kinds[name], cells=(name,))) for name in gone]
        for name, cause in zip(gone, self.deleted, strict=True):
            self.broken |= dict.fromkeys(self.owned.get(name, ()), cause)

    def pass_cell(self, place: Place) -> None:
        source, names = place.source, place.names
        self.functions |= names.mentioned
        bound = names.bound | place.owned
        used = _taken(source)
        above = self._of_names(used | reached(used, self.functions))
        if parsed(source) is None and (place.errors or place.index not in self.outcome.outputs):
            self._break(self._add(self._syntax(place)), bound | _likely_bound(source))
        elif place.errors:
            cause, line = self._raised(place, above)
            if cause is not UNDONE:
                self._add(cause)
            before, rest = _split(source, line)
            for name in before - rest:
                self.broken.pop(name, None)
            self._break(cause, rest | (bound - before))
        elif above:
            self._break(above, bound)
        else:
            for name in bound:
                self.broken.pop(name, None)

    def explain(self, question: Question) -> None:
        if (cause := self._of(question)) and cause is not UNDONE:
            question.result.lost = cause

    def doubts(self) -> list[Note]:
        return []

    def _of(self, question: Question) -> Note | None:
        """The cause by which a check was lost; None for one of its own."""
        result = question.result
        if result.undone or result.verdict in (Verdict.PASSED, Verdict.PARTLY):
            return None
        if result.cause and result.cause.kind in NOT_TRIED:
            return self._add(self._unfinished(result.cause))
        if result.cause and result.cause.kind == "in_cell_of":
            return self.broken.get(result.cause.names[0])
        if not question.is_lost or result.cause:
            return None
        if name := question.undefined:
            return self.of_name(name, question.cell.source)
        if result.exception == MISSING and (match := NO_MODULE.match(result.message)) and not can_be_imported(match[1]):
            return self._add(note("code_needs", match[1]))
        used = _taken(question.source)
        return self._of_names(used | reached(used, self.functions))

    def _of_names(self, names: Iterable[str]) -> Note | None:
        """The first cause for which one of these names is broken."""
        order = {cause: number for number, cause in enumerate(self.causes)}
        causes = [self.broken[name] for name in names if name in self.broken]
        return min(causes, key=lambda cause: order.get(cause, math.inf), default=None)

    def of_name(self, name: str, source: str = "") -> Note | None:
        """The cause for which a name is not defined. What no other cell binds was bound by a deleted one, unless it is
        misspelt; in the ``source`` of a test it is not."""
        if name in self.broken or name in self.everything or not self.deleted:
            return self.broken.get(name)
        right = re.search(rf"\b{name}\b", source) or not difflib.get_close_matches(name, self.everything, 1, ALIKE)
        return self.deleted[0] if right else None

    def _add(self, cause: Note) -> Note:
        if cause not in self.causes:
            self.causes.append(cause)
        return cause

    def _break(self, cause: Note, names: Iterable[str]) -> None:
        self.broken |= dict.fromkeys(names, cause)

    def _bound_somewhere(self) -> set[str]:
        bound = set().union(*self.owned.values())
        for cell in self.cells if self.examination.deleted else ():
            if cell.cell_type == "code":
                source = cell.source if len(cell.source) <= LONGEST else ""
                bound |= names_in_text(source).bound or _likely_bound(source)
        return bound - {name for gone in self.examination.deleted for name in self.owned.get(gone, ())}

    def about(self, kind: str, index: int, *names: str, numbers: tuple[int, ...] = (), amount: float = 0.0) -> Note:
        """A note about a cell: by its name, or by its place, which then is the last number."""
        cell = self.cells[index]
        if name := grade_id(cell):
            cells: tuple[str, ...] = (name,)
        else:
            cells, numbers = (), (*numbers, index + 1)
        return note(kind, *names, cells=cells, numbers=numbers, amount=amount)

    def _syntax(self, place: Place) -> Note:
        message, line, code = complaint_about(place.cell.source)
        kind = "syntax_error" if line else "syntax_error_unplaced"
        return self.about(
            kind, place.index, message or "invalid syntax", code[:MOST_CODE], numbers=(line,) if line else ()
        )

    def _raised(self, place: Place, above: Note | None) -> tuple[Note, int]:
        """The cause for which a cell did not run to its end, and the line of it where it stopped; 0 where unknown.

        ``above`` is the cause by which names that it uses are broken.
        """
        error = place.errors[0]
        text = plaintext.uncoloured("\n".join(error["traceback"]))
        frames = [(self.runs.get(int(run)), int(line)) for run, line in PLACE.findall(text)]
        stop = Stop(place, error["ename"], error["evalue"], frames, above)
        source, cause = next((source, cause) for source in SOURCES if (cause := source(self, stop)))
        return cause, 0 if source in (out_of_time, died) else stop.line

    def _unfinished(self, cause: Note) -> Note:
        """The cause for a check that was not run: what had used up the time before it."""
        if not cause.names:
            return Note("notebook_unfinished", amount=cause.amount)
        if not (match := STEP.fullmatch(cause.names[0])):
            return note("function_unfinished", cause.names[0], amount=cause.amount)
        for index, cell in enumerate(self.cells):
            if name_of(cell) == match[1]:
                return self.about("cell_unfinished_in", index, amount=cause.amount)
        return note("function_unfinished", match[1], amount=cause.amount)


def _called(cell: NotebookNode, index: int) -> str:
    return f"'{name}'" if (name := grade_id(cell)) else str(index + 1)


@dataclass(frozen=True)
class Stop:
    """An exception that ended a cell: its class and message, the ``frames`` (a cell's index and a line) that were
    running, and the cause by which names that the cell uses are broken ``above`` it."""

    place: Place
    exception: str
    message: str
    frames: list[tuple[int | None, int]]
    above: Note | None

    @property
    def line(self) -> int:
        """The line of the cell that was running; 0 where unknown."""
        return next((line for at, line in self.frames if at == self.place.index), 0)

    @property
    def undefined(self) -> str:
        """The name that was not defined, if that was the reason."""
        match = UNDEFINED.fullmatch(self.message) if self.exception == "NameError" else None
        return match[1] if match else ""


def stub_raises(walk: Stopped, stop: Stop) -> Note | None:
    """The stub's line that raises is still there; ``notdone`` explains it."""
    return UNDONE if stop.exception == STUB else None


def name_of_another_cell(walk: Stopped, stop: Stop) -> Note | None:
    """A name is not defined, because the cell that was to give it did not."""
    source = stop.place.cell.source if is_locked(stop.place.cell) else ""
    return walk.of_name(stop.undefined, source) if stop.undefined else None


def missing_import(walk: Stopped, stop: Stop) -> Note | None:
    """A library, or a file with a module, is not there."""
    match = NO_MODULE.match(stop.message) if stop.exception == MISSING else None
    return walk.about("cell_needs", stop.place.index, match[1]) if match else None


def out_of_time(walk: Stopped, stop: Stop) -> Note | None:
    """The cell took longer than a cell can take."""
    timed = stop.exception in (Verdict.TIMEOUT, "KeyboardInterrupt")
    return walk.about("cell_unfinished", stop.place.index) if timed else None


def died(walk: Stopped, stop: Stop) -> Note | None:
    """The process ended: the cell ended it, or the memory was used up."""
    return walk.about("cell_killed", stop.place.index) if stop.exception == Verdict.KILLED else None


def value_of_another_cell(walk: Stopped, stop: Stop) -> Note | None:
    """The cell uses what another one was to give or computed from that."""
    return None if stop.undefined else stop.above


def exception(walk: Stopped, stop: Stop) -> Note:
    """Whatever else was raised, and the line that did; it may be in a function of another cell."""
    index, cells = stop.place.index, walk.cells
    reason = f"{stop.exception}: {stop.message}".partition("\n")[0].removesuffix(": ")[:MOST_CODE]
    at, number = next(((at, line) for at, line in reversed(stop.frames) if at is not None), (index, 0))
    cell, other = cells[index], cells[at]
    lines, number = other.source.splitlines(), number and number + blank_head(other.source)
    code = lines[number - 1].strip()[:MOST_CODE] if 0 < number <= len(lines) else ""
    if not code:
        return walk.about("cell_stopped_unplaced", index, reason)
    if at == index:
        kind = "read_only_stopped" if is_locked(cell) else "cell_stopped"
        return walk.about(kind, index, reason, code, numbers=(number,))
    return walk.about("cell_stopped_in", index, reason, code, _called(other, at), numbers=(number,))


SOURCES: tuple[Callable[[Stopped, Stop], Note | None], ...] = (
    stub_raises,
    name_of_another_cell,
    missing_import,
    out_of_time,
    died,
    value_of_another_cell,
    exception,
)
"""The causes for which a cell stops, in the order in which they are asked; the last one always knows one."""


def _likely_bound(source: str) -> set[str]:
    """The names that a cell with a syntax error was to bind."""
    return {name.strip() for names in BINDING.findall(source) for name in ",".join(names).split(",") if name.strip()}


def _taken(source: str) -> set[str]:
    """The names that code takes from above; not those that it has bound before, as tests bind their ``result``."""
    names = names_in_text(source)
    taken, bound = reached(names.used, names.mentioned), set[str]()
    for statement in statements_of(source):
        names = names_within(statement)
        bound |= names.given if isinstance(statement, BLOCKS) else set()
        taken |= names.used - bound
        bound |= names.given
    return taken


def _split(source: str, line: int) -> tuple[set[str], set[str]]:
    """The names that a cell binds before the statement at a line, and those that it binds or changes from there on."""
    statements = statements_of(source)
    rest = [node for node in statements if (node.end_lineno or 0) >= line]
    before = statements[: len(statements) - len(rest)]
    return names_within(*before).bound, names_within(*rest).bound | changed_in(*rest)
