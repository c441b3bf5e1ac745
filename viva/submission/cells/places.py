"""The cells of an assignment, the cells of a submission, and how much one looks like another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nbformat import NotebookNode
from nbgrader import utils

from viva.engine.blueprint import ANSWERS
from viva.record import Note
from viva.submission.cells.copied import as_typed
from viva.submission.cells.handout import Handout, is_as, plain, trees
from viva.submission.cells.texts import (
    DEFINITION,
    NAME,
    PYTHON,
    QUIET,
    bound_names,
    code_parts,
    given_names,
    is_front_matter,
    squeezed,
    used_names,
    words,
)
from viva.submission.files.conflict import sides

LOCKED = ("given", "tests", "task")
_TOLD = re.compile(r"%(?:(?P<python>python)|md(?:-sandbox)?)[ \t]*\n")
_USED = re.compile(r"(?<![\w.])([^\W\d]\w*)\b(?!\s*=[^=])")
_LOOP = re.compile(r"\bfor\s+([\w\s,()]+?)\s+in\b")


@dataclass(eq=False)
class Slot:
    """A cell of the released notebook; ``purpose`` is as in the blueprint, but ``given`` whatever is locked,
    texts too, and ``open`` unlocked code."""

    cell: NotebookNode
    place: int
    purpose: str
    written: bool = False
    """Whether the answer to a task belongs here."""
    expects: frozenset[str] = frozenset()
    """The names that the tests ask of this answer."""
    own: frozenset[str] = frozenset()
    """Those that no answer before it gives; when it is a function, its name."""

    @property
    def name(self) -> str:
        return self.cell.metadata.get("nbgrader", {}).get("grade_id") or self.cell.id

    @property
    def source(self) -> str:
        return self.cell.source

    @property
    def answers(self) -> bool:
        return self.purpose in ANSWERS or self.written

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.source)

    @cached_property
    def gives(self) -> set[str]:
        """What the instructor's own cell gives."""
        return given_names(self.source) if self.purpose in LOCKED else set()

    @cached_property
    def defines(self) -> set[str]:
        return {match[1] for line in self.source.splitlines() if (match := DEFINITION.match(line))}

    def is_stub(self, piece: Piece) -> bool:
        """Whether a piece says no more than the released text."""
        if self.cell.cell_type == "code":
            return piece.squeezed == self.squeezed or is_as(piece.source, self.source)
        return plain(piece.source) == plain(self.source)

    @cached_property
    def mark(self) -> str:
        """The first line of the stub, when it is more than a word."""
        line = next((line.strip() for line in self.source.splitlines() if line.strip()), "")
        return line if len(line) >= 12 and "YOUR " not in line else ""


@dataclass(eq=False)
class Piece:
    """A cell of the submission, or a part of one; ``number`` is its cell's place in the file, from 1 on."""

    number: int
    cell_type: str
    source: str
    cell_id: str = ""
    grade_id: str = ""
    ids: tuple[str, ...] = ()
    checksum: str = ""
    attachments: NotebookNode | None = None
    copy_of: Slot | None = None
    fenced: str = ""
    """The text that this code was a block in."""
    parts: int = 1
    """Of so many cells it was joined."""
    apart: bool = False
    """Whether it is a part of a cell."""
    refused: bool = False
    """Whether the student was told that it is not Python."""
    copied: str = ""
    """What was taken off that copying had added: the kind of a note."""

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.source)

    @cached_property
    def code(self) -> list[str]:
        """The code in it, also where it is a text."""
        return code_parts(self.cell_type, self.source)

    @cached_property
    def binds(self) -> set[str]:
        return bound_names(self.source)

    @cached_property
    def gives(self) -> set[str]:
        return given_names(self.source) if self.cell_type == "code" else set()

    @cached_property
    def words(self) -> set[str]:
        return words(self.source)

    @cached_property
    def uses(self) -> set[str]:
        """The names that others must have given before it runs."""
        return used_names(self.source) if self.cell_type == "code" else set()

    def part(self, source: str, keep: bool = False) -> Piece:
        """A part of this piece; ``keep`` leaves it what identifies it."""
        part = replace(self, source=source, fenced="", parts=1, apart=True)
        if not keep:
            part.grade_id, part.ids, part.cell_id, part.attachments = "", (), "", None
        return part


class Released:
    """A released notebook and its slots; made once, used for every submission.

    ``beside`` are the texts of other files that were handed out with it.
    """

    def __init__(self, notebook: NotebookNode, beside: Sequence[str] = ()) -> None:
        self.notebook, self.beside = notebook, tuple(beside)
        self.metadata = notebook.metadata
        self.slots = _slots(notebook)
        self.handout = Handout([(cell.cell_type, cell.source) for cell in notebook.cells], beside)

    def is_all_of(self, pieces: list[Piece]) -> bool:
        """Whether the pieces are the released notebook, without anything of a student's: so nothing is to be found."""
        answers = [slot for slot in self.slots if slot.answers]
        claims = ((slot, piece) for slot in answers for piece in pieces if slot.name in (piece.grade_id, *piece.ids))
        if not all(not one.squeezed or slot.squeezed in one.squeezed or slot.is_stub(one) for slot, one in claims):
            return False  # so it is of nearly all, and what follows takes long
        texts = [piece.source for piece in pieces if piece.cell_type != "code" and not is_front_matter(piece.source)]
        code = [text for piece in pieces if piece.squeezed for text in piece.code]
        stubs = Counter(tree for slot in answers if slot.cell.cell_type == "code" for tree in trees(slot.source))
        found = Counter(tree for text in code for tree in trees(text))
        return (
            all(map(self.handout.has_text, texts))
            and self.handout.has_all(code)
            and stubs <= found
            and 2 * found.total() >= self.handout.statements.total()
        )

    @property
    def graded(self) -> tuple[str, ...]:
        """The names of the cells that earn points."""
        return tuple(slot.name for slot in self.slots if slot.purpose in ("tests", "task", "manual"))


def _slots(release: NotebookNode) -> list[Slot]:
    slots: list[Slot] = []
    for place, cell in enumerate(release.cells):
        nbgrader = cell.metadata.get("nbgrader", {})
        if "nbgrader" in cell.metadata and not nbgrader.get("grade_id"):
            del cell.metadata["nbgrader"]  # old versions marked plain cells too; nbgrader asks each for its id
        cell.setdefault("id", f"cell-{place + 1}")  # those of format 4.4 have none; the blueprint names them so too
        if utils.is_task(cell):
            purpose = "task"
        elif utils.is_grade(cell):
            purpose = "manual" if utils.is_solution(cell) else "tests"
        elif utils.is_solution(cell):
            purpose = "answer"
        elif nbgrader.get("locked"):
            purpose = "given"
        else:
            purpose = "open" if cell.cell_type == "code" else "text"
        written = purpose == "text" and bool(slots) and slots[-1].purpose == "task"
        slots.append(Slot(cell, place, purpose, written))
    _expect(slots)
    return slots


def _expect(slots: list[Slot]) -> None:
    """Find out which names each answer has to give: those that its tests use and its stub mentions."""
    given, tests = set(PYTHON), {}
    last = None
    for slot in slots:
        if slot.purpose in ("given", "open"):
            given |= given_names(slot.source)
        elif slot.purpose in ANSWERS:
            last = slot
        elif slot.purpose == "tests":
            code = QUIET.sub("", slot.source)
            local = bound_names(code) | {name for loop in _LOOP.findall(code) for name in NAME.findall(loop)}
            tests.setdefault(last, set()).update(set(_USED.findall(code)) - local)
    asked = set().union(*tests.values()) - given
    earlier: set[str] = set()
    for slot in slots:
        if slot.purpose in ANSWERS:
            mentioned = set(NAME.findall(slot.source)) & asked
            slot.expects = frozenset((tests.get(slot, set()) | mentioned | bound_names(slot.source)) - given)
            slot.own = frozenset(slot.defines or slot.expects - earlier or slot.expects)
            earlier |= slot.expects


def pieces_of(notebook: NotebookNode) -> list[Piece]:
    """The cells of a submission that files.salvage has read; one with a conflict is two, ours the later."""
    pieces = []
    for number, cell in enumerate(notebook.cells, 1):
        nbgrader = cell.metadata.get("nbgrader", {})
        ids = tuple(name for name in (cell.id, cell.metadata.get("id", "")) if name)
        identity = {"cell_id": cell.id, "grade_id": nbgrader.get("grade_id", ""), "ids": ids}
        identity |= {"checksum": nbgrader.get("checksum", ""), "attachments": cell.get("attachments")}
        identity["refused"] = cell.metadata.get("refused", False)
        for source in reversed(sides(cell.source) or [cell.source]):
            cell_type, source = _as_meant(cell.cell_type, source)
            text, copied = as_typed(source) if cell_type == "code" else (source, "")
            pieces.append(Piece(number, cell_type, text, **identity, copied=copied))
    return pieces


def _as_meant(cell_type: str, source: str) -> tuple[str, str]:
    """Type and text of a cell, without the magics by which Databricks tells them."""
    if cell_type == "code" and (told := _TOLD.match(source)):
        cell_type, source = "code" if told["python"] else "markdown", source[told.end() :]
    return cell_type, source


def about(kind: str, *slots: Slot, **particulars: object) -> Note:
    """A note about some cells of the assignment."""
    return Note(kind, cells=tuple(slot.name for slot in slots), **particulars)
