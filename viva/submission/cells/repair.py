"""A submitted notebook -> the assignment's cells in the assignment's order, and a note of each repair.

Locked cells are the released ones whatever was handed in; the student's answers stand in the answer
cells; the student's own cells stay where they stood among their neighbours. White space that a
program changed, outputs and a program's own metadata are no repair.
"""

from __future__ import annotations

import copy
import difflib
import re
from collections import Counter
from dataclasses import dataclass, replace

from nbformat import NotebookNode
from nbgrader import utils

from viva.engine.blueprint import ANSWERS, language_of
from viva.record import Note, note
from viva.submission.cells.doubts import doubts_of
from viva.submission.cells.match import Match
from viva.submission.cells.matching import matched
from viva.submission.cells.places import LOCKED, Piece, Released, Slot, about, pieces_of
from viva.submission.cells.texts import likeness, parses, squeezed

WORTH_KEEPING = 20
"""Characters that were written into a locked text."""
_CALLED = {"given": "given cell", "tests": "test cell", "task": "question"}
"""By its purpose, what a locked cell is called."""


@dataclass(frozen=True)
class Repaired:
    """A notebook with the blueprint's cells, and what it took to get there.

    ``fit`` says how much of the assignment was in the submission, from 0 to 1; ``told`` in how many of its answers
    to code stands what they have to give, from 0 to 1; ``answered`` how many answers it holds.
    """

    notebook: NotebookNode
    repairs: list[Note]
    fit: float
    answered: int
    told: float = 0.0


def repair(submission: NotebookNode, release: Released) -> Repaired:
    """Bring a notebook that viva.submission.files.salvage has read into the form of the released one."""
    slots = release.slots
    pieces = pieces_of(submission)
    if not submission.metadata.get("damaged") and release.is_all_of(pieces):
        return _as_released(submission, release)
    twice = [number for number, count in Counter(piece.number for piece in pieces).items() if count > 1]
    first = [Note("both_sides", numbers=(number,)) for number in twice]
    first += [Note(piece.copied, numbers=(piece.number,)) for piece in pieces if piece.copied]
    first += undo_marimo(pieces, slots) if submission.metadata.get("marimo") else []
    matching = matched(release, pieces)
    build = _Build(matching)
    notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=copy.deepcopy(release.metadata), cells=build.cells())
    language = language_of(submission.metadata)
    doubts = doubts_of(matching, bool(submission.metadata.get("damaged")), build.below.values())
    repairs = [*first, *matching.notes, *build.notes, *doubts]
    if language.lower() != language_of(release.metadata).lower():
        repairs.append(note("other_kernel", language))
    present = [slot for slot in slots if slot in matching.chosen and _tells(slot, matching.chosen[slot])]
    answers = [slot for slot in slots if slot.answers]
    answered = [slot for slot in answers if not matching.is_blank(slot)]
    named = [slot for slot in answered if slot not in matching.by_text]
    share = len(named) / max(1, len(answers))  # in a file with the answers alone, which say what they are
    fit = max(len(present) / max(1, len(slots)), share if share > 0.5 else 0.0)
    code = [slot for slot in answers if slot.own and slot.cell.cell_type == "code"]
    giving = [slot for slot in code if slot in answered and slot.own & matching.chosen[slot].binds]
    told = len(giving) / max(1, len(code))
    return Repaired(notebook, list(dict.fromkeys(repairs)), fit, len(answered), told)


def _as_released(submission: NotebookNode, release: Released) -> Repaired:
    """A notebook in which nothing is a student's."""
    cells = [copy.deepcopy(slot.cell) for slot in release.slots]
    same = [squeezed(cell.source) for cell in cells] == [squeezed(cell.source) for cell in submission.cells]
    notes = [] if same else [Note("nothing_own")]
    notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=copy.deepcopy(release.metadata), cells=cells)
    return Repaired(notebook, notes, 1.0, 0)


def undo_marimo(pieces: list[Piece], slots: list[Slot]) -> list[Note]:
    """Give names back, in place, that marimo changed: one cell alone may bind a name, and a second gets a number."""
    known = set().union(*(slot.expects for slot in slots))
    found: dict[str, str] = {}
    for piece in pieces:
        new = {name: re.sub(r"_\d+$", "", name) for name in piece.binds}
        found |= {name: old for name, old in new.items() if old != name and old in known and name not in known}
    if not found:
        return []
    for place, piece in enumerate(pieces):
        source = re.sub(r"\w+_\d+", lambda match: found.get(match[0], match[0]), piece.source)
        pieces[place] = replace(piece, source=source)
    return [note("marimo", *sorted(found))]


def _tells(slot: Slot, piece: Piece) -> bool:
    """Whether a piece shows that the submission is one of this assignment."""
    return slot.answers or slot.squeezed == piece.squeezed


class _Build:
    """The repaired cells, and the notes about them."""

    def __init__(self, matching: Match) -> None:
        self.matching, self.slots, self.chosen = matching, matching.slots, matching.chosen
        self.extras = matching.extras
        self.notes: list[Note] = []
        self.below: dict[Slot, str] = {}
        """What a student added to a given cell."""
        self.known = {slot.cell.get("id") for slot in self.slots}

    def cells(self) -> list[NotebookNode]:
        around = self._places_of_extras()
        cells = [self._own(piece) for piece in around.get(None, ([], []))[1]]
        for slot in self.slots:
            before, after = around.get(slot, ([], []))
            cells += [self._own(piece) for piece in before]
            cells.append(self._cell(slot))
            if added := self.below.get(slot):
                cells.append(self._own(Piece(0, slot.cell.cell_type, added)))
            cells += [self._own(piece) for piece in after]
        self._note_all()
        return cells

    def _places_of_extras(self) -> dict[Slot | None, tuple[list[Piece], list[Piece]]]:
        """By slot, the student's own pieces that go before and after it."""
        owner = {piece: slot for slot, piece in self.chosen.items()}
        extras, around, before = set(self.extras), {}, None
        for place, piece in enumerate(self.matching.pieces):
            if piece in owner:
                before = owner[piece]
            elif piece in extras:
                after = next((owner[other] for other in self.matching.pieces[place:] if other in owner), None)
                # A cell above an answer that was moved up goes with it: the answer may need it.
                with_next = after and before and after.place < before.place and after.purpose in ANSWERS
                beside = around.setdefault(after if with_next else before, ([], []))
                beside[0 if with_next else 1].append(piece)
        return around

    def _cell(self, slot: Slot) -> NotebookNode:
        piece = self.chosen.get(slot)
        cell = copy.deepcopy(slot.cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if slot.purpose in LOCKED:
            if piece is not None and piece.squeezed != slot.squeezed:
                self._note_edited(slot, piece)
        elif piece is None:
            if self._stands_elsewhere(slot):
                cell.source = "# This cell was not handed in; what it asks for stands in another cell."
        elif piece.squeezed != slot.squeezed and not (piece.squeezed and self._says_nothing(slot, piece)):
            cell.source = self._answer(slot, piece)
            if piece.attachments and cell.cell_type != "code":
                cell.attachments = piece.attachments
        return cell

    def _says_nothing(self, slot: Slot, piece: Piece) -> bool:
        return slot.is_stub(piece) or (slot.answers and self.matching.is_left(slot, piece))

    def _answer(self, slot: Slot, piece: Piece) -> str:
        cell_type = slot.cell.cell_type
        was = "markdown" if piece.fenced else piece.cell_type
        if was != cell_type:
            self.notes.append(about("other_type", slot, names=(was, cell_type)))
        if piece.parts > 1:
            self.notes.append(about("answer_split", slot, amount=piece.parts))
        return piece.fenced if piece.fenced and cell_type != "code" else piece.source

    def _stands_elsewhere(self, slot: Slot) -> bool:
        """Whether another cell of the student's gives what a missing answer asks for, which its stub would undo."""
        if slot.purpose != "answer":
            return False
        own = [piece for other, piece in self.chosen.items() if other.answers or other.purpose == "open"]
        found = [piece for piece in [*own, *self.extras] if slot.own & piece.binds]
        return any(not self.matching.was_handed_out(piece, slot) for piece in found)

    def _own(self, piece: Piece) -> NotebookNode:
        """A cell of the student's own."""
        wanted = piece.cell_id if piece.cell_id and piece.cell_id not in self.known else f"own-{piece.number}"
        while wanted in self.known:
            wanted += "x"
        self.known.add(wanted)
        cell_type = "markdown" if piece.fenced else piece.cell_type
        cell = NotebookNode(
            cell_type=cell_type, id=wanted, metadata=NotebookNode(), source=piece.fenced or piece.source
        )
        if cell_type == "code":
            cell.update(outputs=[], execution_count=None)
        elif piece.attachments:
            cell.attachments = piece.attachments
        return cell

    def _note_edited(self, slot: Slot, piece: Piece) -> None:
        if self._as_then_released(slot, piece):
            self.notes.append(about("earlier_release", slot, names=(_CALLED[slot.purpose],)))
            return
        text = slot.cell.cell_type != "code"
        added = _added_words(slot.source, piece.source) if text else ""
        if slot.purpose == "given" and not text:
            added = _added(slot.source, piece.source)
        if added:
            self.below[slot] = added
        what = ("edited_kept" if added == piece.source else "added_to") if added else "edited"
        self.notes.append(about(what, slot, names=(_CALLED[slot.purpose],)))

    def _as_then_released(self, slot: Slot, piece: Piece) -> bool:
        """Whether the checksum in a cell says that nobody has edited it since it was released."""
        if not piece.checksum or piece.checksum == slot.cell.metadata.get("nbgrader", {}).get("checksum"):
            return False
        then = copy.deepcopy(slot.cell)
        then.source = piece.source
        return utils.compute_checksum(then) == piece.checksum

    def _note_all(self) -> None:
        """What was recognised, moved, missing or there twice."""
        if slots := self.matching.by_text:
            self.notes.append(about("recognised", *slots))
        place = {piece: index for index, piece in enumerate(self.matching.pieces)}
        order = [place[self.chosen[slot]] for slot in self.slots if slot in self.chosen]
        if order != sorted(order):
            self.notes.append(Note("other_order"))
        if missing := self.matching.missing():
            self.notes.append(about("not_handed_in", *missing))
        copies = [piece.copy_of for piece in self.extras if piece.copy_of and piece.copy_of.purpose in LOCKED]
        self.notes += [about("copy_kept", slot) for slot in dict.fromkeys(copies)]


def _added(released: str, handed_in: str) -> str:
    """The lines that were added to a cell that is otherwise as released; empty when they make no sense alone."""
    one = [line.rstrip() for line in released.strip().splitlines()]
    other = [line.rstrip() for line in handed_in.strip().splitlines()]
    if len(other) > 2000:
        return ""
    added: list[str] = []
    for tag, first, last, start, end in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "insert":
            added += other[start:end]
        elif tag != "equal" and squeezed("".join(one[first:last])) != squeezed("".join(other[start:end])):
            return ""
    text = "\n".join(added).strip("\n")
    return text if text.strip() and parses(text) else ""


def _added_words(released: str, handed_in: str) -> str:
    """What was written into a text: the lines that are new, the whole text if others changed too, or nothing."""
    lines = {squeezed(line) for line in released.splitlines()}
    new = [line for line in handed_in.splitlines() if squeezed(line) not in lines]
    if lines <= {squeezed(line) for line in handed_in.splitlines()}:
        return "\n".join(new) if len(squeezed("".join(new))) >= WORTH_KEEPING else ""
    grown = len(squeezed(handed_in)) - len(squeezed(released)) >= WORTH_KEEPING
    return handed_in if grown or likeness(released, handed_in) < 0.5 else ""
