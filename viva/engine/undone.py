"""Answers that are not done yet, and the checks that this explains.

An answer is not done while nothing was written into it, or while the line of the stub that raises is still in its
way. What a check of it comes to (a wrong number, a NameError, a NotImplementedError) then says nothing to a student.
Verdicts and points stay as they are; beside them stands which answers a check waits for. Three things tell:

- the check ended with a NotImplementedError that such an answer's function raised: student code may raise one of its
  own, with a message or where a condition holds, and that is an error like others;
- it ended with a NameError for a name that such an answer, or a cell that stopped for want of one, was to bind;
- else it is about the last answer above it that it uses, and that is not done.

What was released is known in grading and not in `viva check`; there a stub is told by its form alone.

A library that a student's cells import and that is not installed where they are graded is told as well: nothing below
ran, the student's own machine may have it, and the answer may be right. A grader looks at it, and is told what to
install. That it is not there is said by the student's process, and is believed only of what a cell's text imports and
nobody here finds; it gives no points.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from viva.engine.blueprint import Cell
from viva.engine.checks import Check
from viva.engine.examination import Examination
from viva.engine.names import NOTHING, Names, names_of, nodes_of, parsed
from viva.engine.outcome import Outcome
from viva.notebook.cell import ANSWERS, Purpose, grade_id, name_of
from viva.record import CheckResult, Note, note
from viva.verdict import Verdict

STUB = "NotImplementedError"
LOST = (Verdict.FAILED, Verdict.ERROR)
ANY = "*"
"""Stands for whatever an answer was to bind, where nobody says what that is."""
LONGEST = 200_000
"""A longer cell is not looked at; nobody types as much."""
UNDEFINED = re.compile(r"name '(\w+)' is not defined")
FRAME = re.compile(r'^[ \t]*File "[^"\n]*", line \d+, in (\S+)\n(.*)$', re.MULTILINE)
_IDLE = ("pass", "...", "return", "return None", f"raise {STUB}", f"raise {STUB}()")
_BLOCKS = ast.For | ast.While | ast.With
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class State:
    """How far an answer is: whether it is ``idle`` (nothing was written), its ``functions`` that are not done, and
    whether the stub's line ``raises`` outside of them; ``bound`` are the names that come before that line."""

    idle: bool = False
    functions: frozenset[str] = frozenset()
    raises: bool = False
    bound: frozenset[str] = frozenset()


@functools.lru_cache(1024)
def state_of(source: str, stub: str = "") -> State:
    """The state of an answer; ``stub`` is its text as it was released, if that is known."""
    if len(source) > LONGEST:
        return State()
    trivial = {*_IDLE, *_lines(stub)}
    tree = _tree(source)
    idle = trivial.issuperset(_lines(source)) or (
        tree is not None and all(_is_idle(node, trivial) for node in tree.body)
    )
    if tree is None:
        return State(idle)
    lines = {*_IDLE, *(line for line in trivial if line.startswith(f"raise {STUB}"))}
    functions = _undone(tree, lines)
    if not idle and (released := _tree(stub) if stub else None):
        functions &= _undone(released, lines)
    index = next((index for index, node in enumerate(tree.body) if _raises(node, trivial)), None)
    if index is None:
        return State(idle, functions)
    inside = not isinstance(tree.body[index], ast.Raise)  # what a loop was to fill is not there yet
    before = [] if inside else [node for node in tree.body[:index] if not _is_beginning(node, trivial)]
    bound = names_of("\n".join(map(ast.unparse, before))) or Names()
    return State(idle, functions, True, frozenset(bound.bound))


def mark(outcome: Outcome, notebook: NotebookNode, examination: Examination) -> None:
    """Write into each check that was not passed for what it waits."""
    if any(result.verdict in LOST for results in outcome.checks.values() for result in results):
        _Walk(outcome, examination).through(notebook)


class _Walk:
    """Goes through a notebook, and knows at each place which names are missing for want of which answers."""

    def __init__(self, outcome: Outcome, examination: Examination) -> None:
        self.outcome, self.examination = outcome, examination
        self.cells = {cell.id: cell for cell in examination.blueprint.cells}
        self.missing: dict[str, frozenset[str]] = {}
        self.raising: dict[str, frozenset[str]] = {}
        """The answers in which a function is not done, by function."""
        self.owner: dict[str, str] = {}
        """The last answer that binds a name, by name."""
        self.order: list[str] = []

    def through(self, notebook: NotebookNode) -> None:
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            name = name_of(cell)
            expected = self.cells.get(name)
            if expected is not None and expected.purpose == Purpose.TESTS:
                for check, result in zip(expected.checks, self.outcome.checks.get(name, []), strict=False):
                    if result.verdict in LOST:
                        result.undone = sorted(self._causes(expected, check, result), key=self.order.index)
            else:
                self._pass(name, cell.source, expected, self.outcome.outputs.get(index, ([], None))[0])

    def _pass(self, name: str, source: str, expected: Cell | None, outputs: list[dict]) -> None:
        """Go over a cell that is not a test: what it leaves missing, and what it gives."""
        errors = {item["ename"]: item["evalue"] for item in outputs if item["output_type"] == "error"}
        owned = self.examination.plan.owned.get(name, frozenset())
        names = _names(source)
        state = State()
        if expected is not None and expected.purpose in ANSWERS:
            self.order.append(name)
            self.owner |= dict.fromkeys(owned, name)
            state = state_of(source, self.examination.stubs.get(name, ""))
        stopped = state.raises and STUB in errors
        lacking = set(state.functions) | (set(owned) if state.idle or stopped else set())
        lacking -= state.bound if stopped else set()
        if (state.idle or stopped) and name not in self.examination.plan.owned:
            lacking.add(ANY)
        causes = frozenset([name]) if lacking else self._wanted(errors, names)
        if causes and not lacking:
            lacking = set(owned) | names.bound
        if not errors or lacking:
            for binding in (names.bound | owned) - lacking:
                self.missing.pop(binding, None)
                self.raising.pop(binding, None)
        self.missing |= dict.fromkeys(lacking, causes)
        self.raising |= dict.fromkeys(state.functions, causes)

    def _wanted(self, errors: dict[str, str], names: Names) -> frozenset[str]:
        """The answers for want of which a cell stopped."""
        if match := UNDEFINED.fullmatch(errors.get("NameError", "")):
            return self._missing(match[1])
        if STUB in errors:
            return frozenset().union(*(self.raising[function] for function in names.used & self.raising.keys()))
        return frozenset()

    def _missing(self, name: str) -> frozenset[str]:
        return self.missing.get(name) or self.missing.get(ANY, frozenset())

    def _causes(self, cell: Cell, check: Check, result: CheckResult) -> frozenset[str]:
        """The answers that a check waits for."""
        if result.exception == STUB:
            frames = FRAME.findall(result.traceback)
            function, line = frames[-1] if frames else ("", "")
            return self.raising.get(function, frozenset()) if line.strip().startswith(f"raise {STUB}") else frozenset()
        if name := undefined(result):
            return self._missing(name)
        used = _names(f"{cell.prelude}\n{check.source}").used & self.owner.keys()
        last = max((self.owner[name] for name in used), key=self.order.index, default="")
        needed = {name for name in used if self.owner[name] == last}
        if not needed or not self.missing.keys() >= needed:
            return frozenset()
        return frozenset().union(*(self.missing[name] for name in needed))


def undefined(result: CheckResult) -> str:
    """The name for want of which a check ended; empty where it did not."""
    match = UNDEFINED.match(result.message.strip()) if result.exception == "NameError" else None
    return match[1] if match else ""


def _names(source: str) -> Names:
    try:
        return (names_of(source) if len(source) <= LONGEST else None) or Names()
    except (RecursionError, MemoryError):
        return Names()


def _tree(source: str) -> ast.Module | None:
    try:
        return parsed(source)
    except (RecursionError, MemoryError):
        return None


def _lines(source: str) -> Iterator[str]:
    """The lines of code, without comments and white space of their own."""
    for line in source.splitlines():
        if words := line.partition("#")[0].split():
            yield " ".join(words)


def _undone(tree: ast.Module, trivial: set[str]) -> frozenset[str]:
    """The functions that do nothing, or raise whatever they are given."""
    return frozenset(
        node.name
        for node in nodes_of(tree)
        if isinstance(node, _FUNCTIONS)
        if all(_is_idle(inner, trivial) for inner in node.body) or any(_raises(inner, trivial) for inner in node.body)
    )


def _is_idle(node: ast.stmt, trivial: set[str]) -> bool:
    """Whether a statement does nothing: also a function or a loop around nothing."""
    if isinstance(node, _BLOCKS | _FUNCTIONS | ast.ClassDef):
        return all(_is_idle(inner, trivial) for inner in node.body)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass | ast.Return | ast.Raise) and ast.unparse(node) in trivial


def _raises(node: ast.stmt, trivial: set[str]) -> bool:
    """Whether a statement is the line of the stub that raises, or a loop around it; no condition stands before it."""
    if isinstance(node, _BLOCKS):
        return any(_raises(inner, trivial) for inner in node.body)
    return isinstance(node, ast.Raise) and bool(node.exc) and STUB in (text := ast.unparse(node)) and text in trivial


def _is_beginning(node: ast.stmt, trivial: set[str]) -> bool:
    """Whether a statement only makes a place for what the answer was to fill, or was released."""
    value = getattr(node, "value", None)
    empty = isinstance(value, ast.List | ast.Tuple | ast.Dict) and not list(ast.iter_child_nodes(value))[1:]
    return isinstance(value, ast.Constant) or empty or set(_lines(ast.unparse(node))) <= trivial


# --- libraries that are not installed


MISSING = "ModuleNotFoundError"
NO_MODULE = re.compile(r"No module named '(\w{1,60})(?:\.[\w.]*)?'")
FROM_MODULE = re.compile(
    r"cannot\ import\ name\ '[^']*'\ from\ (?:partially\ initialized\ module\ )? '(\w{1,60})", re.VERBOSE
)
FOR_WANT = frozenset({"NameError", MISSING})
"""The exceptions of a test that uses a name from below such an import."""


def import_fails(error: str, message: str) -> bool:
    """Whether an exception says that something which is installed here cannot be imported.

    What is not installed may be a module that students submit.
    """
    if error == "OSError":
        return "shared object" in message
    match = NO_MODULE.search(message) or FROM_MODULE.search(message)
    return error in ("ImportError", MISSING) and (not match or is_installed(match[1]))


def libraries_lacking(outcome: Outcome, notebook: NotebookNode, examination: Examination) -> list[Note]:
    """A doubt for each library and cell; it concerns the checks below that ended for want of a name or a module."""
    ended = [
        cell
        for cell, results in outcome.checks.items()
        if any(result.verdict is Verdict.ERROR and result.exception in FOR_WANT for result in results)
    ]
    named = {match[1] for text in _told(outcome) for match in NO_MODULE.finditer(text)} if ended else set()
    named = {name for name in named if not is_installed(name)}
    tests = {cell.id for cell in examination.blueprint.cells if cell.purpose == Purpose.TESTS}
    doubts = []
    for index, cell in enumerate(notebook.cells if named else ()):
        name = grade_id(cell)
        if cell.cell_type != "code" or name in tests or len(cell.source) > LONGEST:
            continue
        below = {grade_id(later) for later in notebook.cells[index:]}
        if concerned := tuple(test for test in ended if test in below):
            for library in sorted(named & _imported(cell.source)):
                kind, cells = ("library", (name,)) if name else ("own_library", ())
                doubts.append(note(kind, library, cells=cells, tests=concerned, doubt=True))
    return list(dict.fromkeys(doubts))


def _told(outcome: Outcome) -> list[str]:
    """The messages of cells and checks about modules."""
    outputs = [item for items, _ in outcome.outputs.values() for item in items if item["output_type"] == "error"]
    cells = [item["evalue"] for item in outputs if item["ename"] == MISSING]
    results = [result for results in outcome.checks.values() for result in results]
    return cells + [result.message for result in results if result.exception == MISSING]


def is_installed(name: str) -> bool:
    """Whether a package can be imported where this process runs."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _imported(source: str) -> set[str]:
    """The libraries that a cell imports, also in its functions."""
    libraries = set()
    for node in nodes_of(parsed(source) or NOTHING):
        match node:
            case ast.Import(names=aliases):
                libraries |= {alias.name.partition(".")[0] for alias in aliases}
            case ast.ImportFrom(module=str(module), level=0):
                libraries.add(module.partition(".")[0])
    return libraries
