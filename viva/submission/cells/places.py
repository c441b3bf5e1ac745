"""The cells of an assignment (*slots*), and the cells of a submission (*pieces*)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from nbformat import NotebookNode

from viva.engine import plaincode
from viva.notebook.cell import ANSWERS, Purpose, grade_id, is_locked, name_of, purpose_of
from viva.notebook.names import names_of
from viva.notebook.programming import PYTHON as LANGUAGE
from viva.notebook.programming import language_of
from viva.notebook.statements import runs
from viva.record import Note
from viva.submission.cells.handout import Handout, is_as, plain
from viva.submission.cells.texts import (
    NAME,
    PYTHON,
    as_typed,
    bound_names,
    code_parts,
    given_names,
    lines_of,
    squeezed,
    used_names,
    words,
)
from viva.submission.files.wrapping import sides

LOCKED = (Purpose.READ_ONLY, Purpose.TESTS, Purpose.TASK)
_TOLD = re.compile(r"%(?:(?P<python>python)|md(?:-sandbox)?)[ \t]*\n")
_DEFINED = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)", re.MULTILINE)


@dataclass(eq=False)
class Slot:
    """A cell of the released notebook; ``purpose`` is as in the blueprint, but READ_ONLY whatever is locked,
    texts too, and OPEN unlocked code."""

    cell: NotebookNode
    place: int
    purpose: Purpose
    written: bool = False
    """Whether the answer to a task belongs here."""
    expects: frozenset[str] = frozenset()
    """The names that the tests ask of this answer."""
    own: frozenset[str] = frozenset()
    """Those that no answer before it gives; when it is a function, its name."""
    language: str = LANGUAGE
    """The language of the notebook's code."""

    @property
    def name(self) -> str:
        return name_of(self.cell)

    @property
    def source(self) -> str:
        return self.cell.source

    @property
    def is_code(self) -> bool:
        return self.cell.cell_type == "code"

    @property
    def answers(self) -> bool:
        return self.purpose in ANSWERS or self.written

    @property
    def locked(self) -> bool:
        return self.purpose in LOCKED

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.source)

    @cached_property
    def gives(self) -> set[str]:
        """The names that the instructor's cell gives."""
        return given_names(self.source, self.language) if self.locked and self.is_code else set()

    @cached_property
    def defines(self) -> set[str]:
        if self.language != LANGUAGE:
            return plaincode.defined(self.source, self.language)
        return set(_DEFINED.findall(self.source))

    def is_stub(self, piece: Piece) -> bool:
        """Whether a piece says no more than the released text."""
        if self.is_code:
            return squeezed(piece.as_code) in ("", self.squeezed) or is_as(piece.as_code, self.source)
        return plain(piece.source) in ("", plain(self.source))

    @cached_property
    def mark(self) -> str:
        """The first line of the stub, when it is more than a word."""
        line = next((line.strip() for line in self.source.splitlines() if line.strip()), "")
        return line if len(line) >= 12 and "YOUR " not in line else ""


@dataclass(eq=False)
class Piece:
    """A cell of the submission, or what is left of one; ``number`` is its cell's place in the file, from 1 on."""

    number: int
    cell_type: str
    source: str
    cell_id: str = ""
    names: tuple[str, ...] = ()
    """What it says it is: its grade id, its cell id, and the id that Colab and Deepnote keep."""
    checksum: str = ""
    attachments: NotebookNode | None = None
    copy_of: Slot | None = None
    refused: bool = False
    """Whether the student was told that it has a syntax error."""
    was: str = ""
    """Its type before it became code again."""
    note: str = ""
    """How it was read, where its text was read in another way: the kind of a note."""
    language: str = LANGUAGE
    """The language of the assignment's code."""

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.source)

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        return lines_of(self.source, self.is_code)

    @property
    def is_code(self) -> bool:
        return self.cell_type == "code"

    @cached_property
    def code(self) -> list[str]:
        """The code in it, also where it is a text."""
        return code_parts(self.cell_type, self.source, self.language)

    @property
    def is_python(self) -> bool:
        """Whether its code can be read; of another language's only words are."""
        return self.language == LANGUAGE

    @cached_property
    def runs(self) -> bool:
        """Whether it has no syntax error as code, as far as anybody can tell."""
        return not self.is_python or runs(self.as_code)

    @cached_property
    def as_code(self) -> str:
        """The text as a cell of code: also a text that is nothing but a block of it."""
        return self.source if self.is_code or not self.is_python else as_typed(self.source)[0]

    @cached_property
    def binds(self) -> set[str]:
        return bound_names(self.as_code, self.language) if self.is_code or self.code else set()

    @cached_property
    def gives(self) -> set[str]:
        """The names that it has given when it has run."""
        return given_names(self.source, self.language) if self.is_code else set()

    @cached_property
    def words(self) -> set[str]:
        return words(self.source)

    @cached_property
    def uses(self) -> set[str]:
        """The names that others must have given before it runs."""
        return used_names(self.source, self.language) if self.is_code else set()

    def part(self, source: str, keep: bool = False) -> Piece:
        """What is left of this piece; ``keep`` leaves it what identifies it."""
        part = replace(self, source=source)
        if not keep:
            part.names, part.cell_id, part.attachments = (), "", None
        return part


class Released:
    """A released notebook and its slots; made once, used for every submission.

    ``beside`` are the texts of other files that were released with it.
    """

    def __init__(self, notebook: NotebookNode, beside: Sequence[str] = ()) -> None:
        self.notebook, self.beside = notebook, tuple(beside)
        self.metadata, self.language = notebook.metadata, language_of(notebook.metadata)
        self.slots = _slots(notebook, self.language)
        self.handout = Handout([(cell.cell_type, cell.source) for cell in notebook.cells], beside)
        self.by_name = {slot.cell.id: slot for slot in self.slots} | {slot.name: slot for slot in self.slots}

    @property
    def graded(self) -> tuple[str, ...]:
        """The names of the cells that earn points."""
        return tuple(slot.name for slot in self.slots if slot.purpose in (Purpose.TESTS, Purpose.TASK, Purpose.MANUAL))

    def tests_of(self, answer: Slot) -> list[str]:
        """The cells that earn an answer's points: its question, the tests up to the next answer, those that name it."""
        if answer.purpose == Purpose.MANUAL:
            return [answer.name]
        if answer.written:
            return [slot.name for slot in self.slots[: answer.place] if slot.purpose == Purpose.TASK][-1:]
        after = self.slots[answer.place + 1 :]
        until = next((slot.place for slot in after if slot.purpose in ANSWERS), len(self.slots))
        tests = [slot for slot in after if slot.purpose == Purpose.TESTS]
        return [slot.name for slot in tests if slot.place < until or answer.own & words(slot.source)]


def _slots(release: NotebookNode, language: str) -> list[Slot]:
    slots: list[Slot] = []
    for number, cell in enumerate(release.cells):
        if "nbgrader" in cell.metadata and not grade_id(cell):
            del cell.metadata["nbgrader"]  # old versions marked plain cells too; nbgrader asks each for its id
        cell.setdefault("id", f"cell-{number + 1}")  # those of format 4.4 have none; the blueprint names them so too
        purpose = purpose_of(cell)
        if purpose in (Purpose.READ_ONLY, Purpose.TEXT):
            unlocked = Purpose.OPEN if cell.cell_type == "code" else Purpose.TEXT
            purpose = Purpose.READ_ONLY if is_locked(cell) else unlocked
        written = purpose == Purpose.TEXT and bool(slots) and slots[-1].purpose == Purpose.TASK
        slots.append(Slot(cell, number, purpose, written, language=language))
    _expect(slots)
    return slots


def _expect(slots: list[Slot]) -> None:
    """Find out which names each answer has to give: those that its tests use and its stub mentions."""
    available = set(PYTHON)
    tests: dict = {}
    last = None
    for slot in slots:
        if slot.is_code and slot.purpose in (Purpose.READ_ONLY, Purpose.OPEN):
            available |= given_names(slot.source, slot.language)
        elif slot.purpose in ANSWERS:
            last = slot
        elif slot.purpose == Purpose.TESTS:
            # Hiding lines may have broken it.
            read = slot.language != LANGUAGE or names_of(slot.source)
            asked = used_names(slot.source, slot.language) if read else words(slot.source)
            tests.setdefault(last, set()).update(asked)
    asked = set().union(*tests.values()) - available
    earlier: set[str] = set()
    for slot in slots:
        if slot.purpose in ANSWERS:
            mentioned = set(NAME.findall(slot.source)) & asked
            bound = bound_names(slot.source, slot.language) if slot.is_code else set()
            slot.expects = frozenset((tests.get(slot, set()) | mentioned | bound) - available)
            slot.own = frozenset(slot.defines or slot.expects - earlier or slot.expects)
            if slot.language != LANGUAGE and not slot.defines:  # tests use names of the language's own library
                slot.own = frozenset(bound & slot.expects)
            earlier |= slot.expects


def pieces_of(notebook: NotebookNode, released: Released) -> list[Piece]:
    """The cells of a submission that files.salvage has read."""
    handed_out = {slot.squeezed for slot in released.slots}
    return [_piece(cell, number, handed_out, released.language) for number, cell in enumerate(notebook.cells, 1)]


def _piece(cell: NotebookNode, number: int, handed_out: set[str], language: str) -> Piece:
    nbgrader = cell.metadata.get("nbgrader", {})
    names = (grade_id(cell), cell.id, cell.metadata.get("id", ""))
    cell_type, source, note = cell.cell_type, cell.source, ""
    if cell_type == "code" and (told := _TOLD.match(source)):  # as Databricks tells them
        cell_type, source = "code" if told["python"] else "markdown", source[told.end() :]
    if both := sides(source):
        # Of two sides one is as it was released: so the other is the student's. Of two answers none is guessed.
        typed = {squeezed(side): side for side in both if squeezed(side) not in handed_out}
        source, note = (typed.popitem()[1] if typed else both[0], "both_sides") if len(typed) < 2 else (source, "")
    if cell_type == "code" and not note and language == LANGUAGE:
        source, note = as_typed(source)
    piece = Piece(number, cell_type, source, cell.id, tuple(filter(None, names)), note=note, language=language)
    piece.checksum, piece.attachments = nbgrader.get("checksum", ""), cell.get("attachments")
    piece.refused = cell.metadata.get("refused", False)
    return piece


def about(kind: str, *slots: Slot, **particulars: Any) -> Note:
    """A note about some cells of the assignment."""
    return Note(kind, cells=tuple(slot.name for slot in slots), **particulars)
