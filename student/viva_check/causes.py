"""Why checks cannot run: each cause is told once, with what to do; the checks that depend on it are not told apart.

A walk from the top of the notebook to its end knows at each place which names are *broken*, and by which cause: those
that a cell was to bind which did not run to its end or is deleted, and those that later cells computed from them. A
check that does not pass and uses a broken name depends on its cause. So does a check that was not run for want of time.
Verdicts stay as they are; nothing here is read in grading. An answer that is not done yet is told by ``engine/undone``.
"""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from viva import wording
from viva.cleaning import plaintext
from viva.engine.blueprint import Cell
from viva.engine.checks import Check
from viva.engine.names import NOTHING, Names, changed_in, names_in, names_of, parsed
from viva.engine.outcome import Outcome
from viva.engine.ownership import reached
from viva.engine.timebudget import NOT_TRIED
from viva.engine.undone import MISSING, NO_MODULE, STUB, UNDEFINED, is_installed, undefined
from viva.record import CheckResult
from viva.submission.studentcopy import Copy
from viva.verdict import Verdict

PLACE = re.compile(r"Cell In\[(\d+)\], line (\d+)")
"""Where a line that was running stands, as IPython says it: the number of a run, and of a line."""
COLOURS = re.compile(r"\x1b\[[\d;]*m")
BINDING = re.compile(
    r"""
    ^ (?: async[ ]+def | def | class ) [ ]+ (\w+)
    | ^ (\w+ (?: \s*,\s* \w+ )*) \s* = (?!=)
    | ^ import [ ]+ (?: [\w.]+ [ ]+ as [ ]+ )? (\w+)
    | ^ from [ ]+ [\w.]+ [ ]+ import [ ]+ (\w+)
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A line that binds names, in code with a syntax error."""
PACKAGES = {"sklearn": "scikit-learn", "skimage": "scikit-image", "PIL": "pillow", "cv2": "opencv-python"}
"""The names under which libraries are installed, where these are others."""
MOST_CODE = 200
"""Characters of a line or message that are shown."""
ALIKE = 0.8
"""A name that is so like another one may be misspelt."""
AGAIN = "Correct it, then check again."
LOOP = "Does a loop in it never end? Correct it, then check again."
RESTORE = "Undo the deletion, or copy the cell from the original notebook."


@dataclass(frozen=True)
class Cause:
    """One cause: the ``cell`` that has it, ``what`` happened as a clause, the line of ``code``, and what to do."""

    cell: str
    what: str
    remedy: str
    code: str = ""
    alone: bool = False
    """Whether it is worth a remark where no check depends on it."""

    @property
    def lines(self) -> list[str]:
        return [line for line in (f"because {self.what}", self.code, self.remedy) if line]

    @property
    def remark(self) -> str:
        line = f", in {plaintext.quoted(self.code, 60)}" if self.code else ""
        return f"{self.what}{line}. {self.remedy.removesuffix('.')}"


UNDONE = Cause("", "", "")
"""An answer that is not done yet, which explains its checks in other words."""


class Walk:
    """Goes through a notebook in order; ``of`` says by which cause a check is lost, once the walk has come to it."""

    def __init__(self, copy: Copy, outcome: Outcome) -> None:
        self.copy, self.outcome = copy, outcome
        self.owned = copy.examination.plan.owned
        self.functions: dict[str, set[str]] = {}
        self.broken: dict[str, Cause] = {}
        self.found: list[Cause] = []
        """All causes in their order."""
        self.everything = self._bound_somewhere()
        self.runs = {count: index for index, (_, count) in outcome.outputs.items() if count is not None}
        gone = sorted(copy.deleted, key=copy.deleted.__getitem__)  # read-only cells first
        self.deleted = [self._cause(name, _deletion(name, copy.deleted[name]), RESTORE, alone=True) for name in gone]
        for cause in self.deleted:
            self.broken |= dict.fromkeys(self.owned.get(cause.cell, ()), cause)

    def over(self, index: int, cell: NotebookNode, cells: list[NotebookNode]) -> None:
        """Go over a code cell that is not a test."""
        names = _names(cell.source)
        self.functions |= names.mentioned
        errors = [item for item in self.outcome.outputs.get(index, ([], None))[0] if item["output_type"] == "error"]
        bound = names.bound | self.owned.get(_name(cell), frozenset())
        used = _taken(cell.source)
        needed = used | reached(used, self.functions)
        above = self._of_names(needed)
        if parsed(cell.source) is None:
            self._break(self._syntax(cell), bound | _likely_bound(cell.source))
        elif errors:
            cause, line = self._raised(index, cell, cells, errors[0], above)
            before, rest = _split(cell.source, line)
            for name in before - rest:
                self.broken.pop(name, None)
            self._break(cause, rest | (bound - before))
        elif above:
            self._break(above, bound)
        else:
            for name in bound:
                self.broken.pop(name, None)

    def of(self, cell: Cell, check: Check, result: CheckResult) -> Cause | None:
        """The cause by which a check was lost; None for one of its own."""
        if result.undone or result.verdict in (Verdict.PASSED, Verdict.PARTLY):
            return None
        if result.cause and result.cause.kind in NOT_TRIED:
            what = wording.sentence(result.cause).removeprefix("not run: ")
            return self._known(Cause(_bare(*result.cause.names), what, LOOP))
        if result.cause and result.cause.kind == "in_cell_of":
            return _told(self.broken.get(result.cause.names[0]))
        if result.verdict not in (Verdict.FAILED, Verdict.ERROR) or result.cause:
            return None
        if name := undefined(result):
            return _told(self._of_name(name, cell.source))
        if result.exception == MISSING and (match := NO_MODULE.match(result.message)) and not is_installed(match[1]):
            return self._known(_library("your code", match[1]))
        used = _taken(f"{cell.prelude}\n{check.source}")
        return _told(self._of_names(used | reached(used, self.functions)))

    def _of_names(self, names: Iterable[str]) -> Cause | None:
        """The first cause for which one of these names is broken."""
        causes = [self.broken[name] for name in names if name in self.broken]
        return min(causes, key=lambda cause: self.found.index(cause) if cause in self.found else math.inf, default=None)

    def _of_name(self, name: str, source: str = "") -> Cause | None:
        """The cause for which a name is not defined. What no other cell binds was bound by a deleted one, unless it is
        misspelt; in the ``source`` of a test it is not."""
        if name in self.broken or name in self.everything or not self.deleted:
            return self.broken.get(name)
        right = re.search(rf"\b{name}\b", source) or not difflib.get_close_matches(name, self.everything, 1, ALIKE)
        return self.deleted[0] if right else None

    def _known(self, cause: Cause) -> Cause:
        if cause not in self.found:
            self.found.append(cause)
        return cause

    def _break(self, cause: Cause, names: Iterable[str]) -> None:
        self.broken |= dict.fromkeys(names, cause)

    def _bound_somewhere(self) -> set[str]:
        bound = set().union(*self.owned.values())
        for cell in self.copy.notebook.cells:
            if cell.cell_type == "code":
                names = names_of(cell.source)
                bound |= names.bound if names else _likely_bound(cell.source)
        return bound - {name for gone in self.copy.deleted for name in self.owned.get(gone, ())}

    def _cause(self, cell: str, what: str, remedy: str, code: str = "", alone: bool = False) -> Cause:
        return self._known(Cause(cell, what, remedy, code[:MOST_CODE], alone))

    def _title(self, cell: NotebookNode) -> str:
        """The cell as a sentence names it: by the assignment's name, or by its place."""
        if name := cell.metadata.get("nbgrader", {}).get("grade_id"):
            return f"the {'read-only ' if _is_locked(cell) else ''}cell '{name}'"
        place = next((number for number, other in enumerate(self.copy.notebook.cells, 1) if other is cell), 0)
        return f"your own cell (number {place} in the notebook)"

    def _syntax(self, cell: NotebookNode) -> Cause:
        message, number, code = complaint(cell.source)
        where = f" in line {number}" if number else ""
        what = f"{self._title(cell)} has a syntax error{where}{f': {message}' if message else ''}"
        return self._cause(_name(cell), what, AGAIN, code, alone=True)

    def _raised(
        self, index: int, cell: NotebookNode, cells: list[NotebookNode], error: Mapping, above: Cause | None
    ) -> tuple[Cause, int]:
        """The cause for which a cell did not run to its end, and the line of it where it stopped; 0 where unknown."""
        name, message, title = error["ename"], error["evalue"], self._title(cell)
        text = COLOURS.sub("", "\n".join(error["traceback"]))
        places = [(self.runs.get(int(run)), int(line)) for run, line in PLACE.findall(text)]
        line = next((line for at, line in places if at == index), 0)
        if name == STUB:
            return UNDONE, line
        if match := UNDEFINED.fullmatch(message) if name == "NameError" else None:
            if cause := self._of_name(match[1], cell.source if _is_locked(cell) else ""):
                return cause, line
        elif name == MISSING and (match := NO_MODULE.match(message)):
            return self._known(_library(title, match[1], _name(cell))), line
        elif name == Verdict.TIMEOUT or name == "KeyboardInterrupt":
            return self._cause(_name(cell), f"{title} did not finish", LOOP), 0
        elif name == Verdict.KILLED:
            remedy = "Does it call exit(), or make very large arrays? Correct it, then check again."
            return self._cause(_name(cell), f"{title} ended Python or used too much memory", remedy), 0
        elif above:
            return above, line
        at, number = next(((at, line) for at, line in reversed(places) if at is not None), (index, line))
        lines = cells[at].source.splitlines()
        number += _blank(cells[at].source)
        code = lines[number - 1].strip() if places and 0 < number <= len(lines) else ""
        where = f" in line {number}" if code else ""
        where += f" of {self._title(cells[at])}" if code and at != index else ""
        reason = f"{name}: {message}".partition("\n")[0].removesuffix(": ")[:MOST_CODE]
        remedy = AGAIN
        if _is_locked(cell) and at == index:
            remedy = "You cannot change this cell: look at the cells above it, and at the files that it reads."
        return self._cause(_name(cell), f"{title} stopped{where}: {reason}", remedy, code), line


def _told(cause: Cause | None) -> Cause | None:
    return None if cause is UNDONE else cause


def complaint(source: str) -> tuple[str, int, str]:
    """Python's message about a syntax error, the number of the line in the cell, and the line; empty where unknown."""
    try:
        ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError as error:
        text, number = (error.text or "").strip()[:MOST_CODE], (error.lineno or 0) + _blank(source)
        lines = source.splitlines()
        # A magic is read as a call, which the student never wrote.
        return error.msg, number if 0 < number <= len(lines) and lines[number - 1].strip() == text else 0, text
    except (ValueError, RecursionError, MemoryError):
        pass
    return "", 0, ""


def _deletion(name: str, answer: bool) -> str:
    return f"the {'answer' if answer else 'read-only'} cell '{name}' was deleted"


def _library(title: str, name: str, cell: str = "") -> Cause:
    remedy = f"Install it, then check again: python -m pip install {PACKAGES.get(name, name)}"
    return Cause(cell or name, f"{title} needs {name}, which is not installed here", remedy, alone=True)


def _bare(step: str = "") -> str:
    """The name of a cell or function that did not finish."""
    return step.removeprefix("the cell '").removesuffix("'")


def _names(source: str) -> Names:
    return names_of(source) or Names()


def _name(cell: NotebookNode) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", "")


def _is_locked(cell: NotebookNode) -> bool:
    marks = cell.metadata.get("nbgrader", {})
    return bool(marks.get("locked")) and not marks.get("solution")


def _blank(source: str) -> int:
    """The number of empty lines at the head of a cell, which IPython does not count."""
    return source[: len(source) - len(source.lstrip())].count("\n")


def _likely_bound(source: str) -> set[str]:
    """The names that a cell with a syntax error was to bind."""
    return {name.strip() for found in BINDING.findall(source) for name in ",".join(found).split(",") if name.strip()}


def _taken(source: str) -> set[str]:
    """The names that code takes from above; not those that it has bound before, as tests bind their ``result``."""
    names = _names(source)
    taken, bound = reached(names.used, names.mentioned), set[str]()
    for statement in (parsed(source) or NOTHING).body:
        try:
            names = names_in(statement)
        except RecursionError:
            continue
        bound |= names.given if isinstance(statement, ast.For | ast.While | ast.With | ast.If | ast.Try) else set()
        taken |= names.used - bound
        bound |= names.given
    return taken


def _split(source: str, line: int) -> tuple[set[str], set[str]]:
    """The names that a cell binds before the statement at a line, and those that it binds or changes from there on."""
    statements = (parsed(source) or NOTHING).body
    rest = [node for node in statements if (node.end_lineno or 0) >= line]
    try:
        before = names_in(*statements[: len(statements) - len(rest)]).bound
        return before, names_in(*rest).bound.union(*map(changed_in, rest))
    except RecursionError:
        return set(), set()
