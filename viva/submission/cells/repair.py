"""A submitted notebook -> the assignment's cells in the assignment's order, and a note of each repair.

Locked cells are the released ones whatever was submitted; the student's answers stand in the answer
cells; the student's own cells stay where they stood among their neighbours. White space that a
program changed, outputs and a program's own metadata are not repairs.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader import utils

from viva.notebook.cell import ANSWERS, Purpose
from viva.notebook.programming import PYTHON, language_of, says_language
from viva.record import Note, note
from viva.submission.cells.cellmatching import CALLED, Match, matched
from viva.submission.cells.doubts import doubts_of
from viva.submission.cells.places import Piece, Released, Slot, about, pieces_of
from viva.submission.cells.texts import bound_names, squeezed

WORTH_KEEPING = 20
"""Characters that were written into a locked text."""
ELSEWHERE = "# This cell was left as released: an earlier cell defines its names."


@dataclass(frozen=True)
class Repaired:
    """A notebook with the blueprint's cells, and what it took to get there.

    ``fit`` is the share of the assignment that was submitted, from 0 to 1. ``answered`` is the number of answers.
    ``share_given`` is the share of answers in code whose names the submission gives, from 0 to 1.
    """

    notebook: NotebookNode
    repairs: list[Note]
    fit: float
    answered: int
    share_given: float = 0.0


def repair(submission: NotebookNode, release: Released) -> Repaired:
    """Bring a notebook that viva.submission.files.salvage has read into the form of the released one."""
    slots, pieces = release.slots, pieces_of(submission, release)
    first = [Note(piece.note, numbers=(piece.number,)) for piece in pieces if piece.note]
    match = matched(release, pieces)
    build = _Build(match)
    notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=copy.deepcopy(release.metadata), cells=build.cells())
    doubts = doubts_of(match, bool(submission.metadata.get("damaged")))
    repairs = [*first, *match.notes, *build.notes, *doubts]
    language = language_of(submission.metadata)
    if says_language(submission.metadata) and language.lower() != release.language.lower():
        repairs.append(note("other_kernel", language))
    present = [slot for slot in slots if slot in match.chosen and _tells(slot, match.chosen[slot])]
    answers = [slot for slot in slots if slot.answers]
    answered = [slot for slot in answers if match.is_answered(slot)]
    named = [slot for slot in answered if slot in match.chosen and slot not in match.by_text]
    share = len(named) / max(1, len(answers))  # in a file with the answers alone, which say what they are
    fit = max(len(present) / max(1, len(slots)), share if share > 0.5 else 0.0)
    code = [slot for slot in answers if slot.own and slot.is_code]
    giving = [s for s in code if s in answered and (match.is_blank(s) or s.own & match.chosen[s].binds)]
    share_given = len(giving) / max(1, len(code))
    return Repaired(notebook, list(dict.fromkeys(repairs)), fit, len(answered), share_given)


def _tells(slot: Slot, piece: Piece) -> bool:
    """Whether a piece shows that the submission is one of this assignment."""
    return slot.answers or slot.squeezed == piece.squeezed


class _Build:
    """The repaired cells, and the notes about them."""

    def __init__(self, match: Match) -> None:
        self.match, self.slots, self.chosen = match, match.slots, match.chosen
        self.notes: list[Note] = []
        self.known = {slot.cell.get("id") for slot in self.slots}
        self.given: dict[str, bool] = {}
        """The names that a cell of the student's own above gives; whether no test stands between."""
        self.beyond: set[str] = set()
        """The names that answers above give beside what they have to."""

    def cells(self) -> list[NotebookNode]:
        own_pieces = self._own_by_place()
        cells = []
        for number in range(len(self.slots) + 1):
            cells += [self._own(piece) for piece in own_pieces.get(number, ())]
            if number < len(self.slots):
                cells.append(self._cell(slot := self.slots[number]))
                if slot.purpose == Purpose.TESTS:
                    self.given = dict.fromkeys(self.given, False)
                cells += self._below(slot)
        self._note_all()
        return cells

    def _own_by_place(self) -> dict[int, list[Piece]]:
        """The student's own pieces, by the place of the slot that they stand before.

        A piece stays between its neighbours. Where cells are missing between these, it is put before the first of
        their tests, which may ask for it, and behind what was given before these.
        """
        owner = {piece: slot for slot, piece in self.chosen.items()}
        extras, above = set(self.match.extras), None
        by_place: dict[int, list[Piece]] = {}
        below = [owner[piece] for piece in self.match.pieces if piece in owner]
        for piece in self.match.pieces:
            if piece in owner:
                above = below.pop(0)
            elif piece in extras:
                start = above.place + 1 if above else 0
                end = below[0].place if below else len(self.slots)
                if end < start:  # one of the two was moved; an answer may need what stands right above it
                    start = end if below[0].purpose in ANSWERS else start
                    end = start
                tests = [slot.place for slot in self.slots[start:end] if slot.purpose == Purpose.TESTS]
                by_place.setdefault(min(tests, default=end), []).append(piece)
        return by_place

    def _cell(self, slot: Slot) -> NotebookNode:
        piece = self.chosen.get(slot)
        cell = copy.deepcopy(slot.cell)
        if slot.is_code:
            cell.outputs, cell.execution_count = [], None
        if slot.locked:
            return cell
        if slot.purpose == Purpose.ANSWER and self.match.is_blank(slot) and self._would_undo(slot):
            cell.source = ELSEWHERE if slot.language == PYTHON else ""
        # A stub that a program laid out anew is the stub; where the student emptied it, the cell is empty.
        if piece and piece.squeezed != slot.squeezed and not (piece.squeezed and slot.answers and slot.is_stub(piece)):
            cell.source = piece.source
            if (was := piece.was or piece.cell_type) != cell.cell_type:
                self.notes.append(about("other_type", slot, names=(was, cell.cell_type)))
            if piece.attachments and not slot.is_code:
                cell.attachments = piece.attachments
            if slot.is_code:
                names = bound_names(cell.source, slot.language) - slot.expects
                self.given |= dict.fromkeys(names if slot.purpose == Purpose.OPEN else (), True)
                self.beyond |= names
        return cell

    def _would_undo(self, slot: Slot) -> bool:
        """Whether a stub would undo what a cell above gives in its place.

        Where an answer above has to give the same name, a cell of the student's counts only below that answer's tests.
        Where the answer's own cell is gone, another answer counts too: two answers may have been typed into one cell.
        """
        names = slot.own & bound_names(slot.source, slot.language)
        if slot not in self.chosen and names & self.beyond:
            return True
        above = [upper for upper in self.slots[: slot.place] if upper.purpose in ANSWERS]
        asked = set().union(*(upper.expects for upper in above))
        return any(self.given[name] or name not in asked for name in names & self.given.keys())

    def _own(self, piece: Piece) -> NotebookNode:
        """A cell of the student's own."""
        if piece.is_code and not self.match.was_handed_out(piece):
            self.given |= dict.fromkeys(piece.binds, True)
        wanted = piece.cell_id if piece.cell_id and piece.cell_id not in self.known else f"own-{piece.number}"
        while wanted in self.known:
            wanted += "x"
        self.known.add(wanted)
        cell = NotebookNode(cell_type=piece.cell_type, id=wanted, metadata=NotebookNode(), source=piece.source)
        if piece.is_code:
            cell.update(outputs=[], execution_count=None)
        elif piece.attachments:
            cell.attachments = piece.attachments
        return cell

    def _below(self, slot: Slot) -> list[NotebookNode]:
        """Note that a locked cell was edited; what was written into a text stands below it."""
        piece = self.chosen.get(slot)
        if not slot.locked or piece is None or piece.squeezed == slot.squeezed:
            return []
        called = (CALLED[slot.purpose],)
        if self._as_then_released(slot, piece):
            self.notes.append(about("earlier_release", slot, names=called))
            return []
        lines = {squeezed(line) for line in slot.source.splitlines()}
        new = "".join(text for line in piece.source.splitlines() if (text := squeezed(line)) not in lines)
        keeps = not slot.is_code and not piece.is_code and len(new) >= WORTH_KEEPING
        self.notes.append(about("edited_kept" if keeps else "edited", slot, names=called))
        return [self._own(Piece(piece.number, piece.cell_type, piece.source))] if keeps else []

    def _as_then_released(self, slot: Slot, piece: Piece) -> bool:
        """Whether the checksum in a cell says that nobody has edited it since it was released."""
        then = copy.deepcopy(slot.cell)
        then.source = piece.source
        return utils.compute_checksum(then) == piece.checksum

    def _note_all(self) -> None:
        """Note the cells that were recognised, moved, missing, copied, or in one cell with other text."""
        self.notes += [about("with_released", *slots, numbers=(n,)) for n, slots in self.match.apart.items()]
        if slots := self.match.by_text:
            self.notes.append(about("recognised", *slots))
        index = {piece: number for number, piece in enumerate(self.match.pieces)}
        order = [index[self.chosen[slot]] for slot in self.slots if slot in self.chosen]
        if order != sorted(order):
            self.notes.append(Note("other_order"))
        if missing := [slot for slot in self.match.missing() if slot.squeezed]:
            self.notes.append(about("not_handed_in", *missing))
        copies = [piece.copy_of for piece in self.match.extras if piece.copy_of and piece.copy_of.locked]
        self.notes += [about("copy_kept", slot) for slot in dict.fromkeys(copies)]
