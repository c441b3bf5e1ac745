"""Answers that stand where nobody would look: in a given cell, beside their stub, in two cells, or twice.

A step after matching, for slots that are still blank or lack a name. What had to be chosen is told in ``unsure``.
"""

from __future__ import annotations

from collections import Counter

from viva.engine.blueprint import ANSWERS
from viva.record import Note
from viva.submission.cells.handout import trees
from viva.submission.cells.joins import code_in, statements
from viva.submission.cells.matching import Matching
from viva.submission.cells.places import LOCKED, Doubt, Piece, Released, Slot, about
from viva.submission.cells.texts import bound_names, names_read, parses

LIFTS = 3
"""What an answer uses may use another cell in its turn."""


class Settled(Matching):
    """A matching in which the answers that stood elsewhere are in their slots."""

    def __init__(self, released: Released, pieces: list[Piece]) -> None:
        super().__init__(released, pieces)
        self._take_from_locked()
        self._look_below_stubs()
        self._complete()
        self._leave_copies_out()
        for _ in range(LIFTS):
            self._lift()

    def _take_from_locked(self) -> None:
        """Take an answer that stands nowhere else out of a given cell that was edited."""
        for slot in [slot for slot in self.missing() if slot.kind in ANSWERS and slot.own]:
            for other, piece in list(self.chosen.items()):
                if other.kind in LOCKED and piece.squeezed != other.squeezed and slot.own <= piece.binds:
                    parts = statements(piece.source)
                    mine = [slot.own & bound_names(part) and not self.handout.has_code(part) for part in parts]
                    start = next((at for at, part in enumerate(parts) if mine[at]), len(parts))
                    if text := "\n".join(parts[start:]).strip("\n"):
                        rest = piece.part("\n".join(parts[:start]), keep=True)
                        self.chosen[other], self.chosen[slot] = rest, piece.part(text)
                        where = self.pieces.index(piece)
                        self.pieces[where : where + 1] = [rest, self.chosen[slot]]
                        self.unsure.append(Doubt(about("in_given", slot, other, doubt=True), (slot,)))
                        break

    def _look_below_stubs(self) -> None:
        """Where a stub was left as it was and the answer stands in a cell beside it, take that."""
        for slot in self.slots:
            stub, far = self.chosen.get(slot), None
            if stub is None or not slot.answers or not self.is_blank(slot):
                continue
            code = slot.cell.cell_type == "code"
            low, high = self.between(slot, ANSWERS if code else ())
            there = [piece for piece in self.free(slot) if piece in self.pieces[low + 1 : high]]
            if code:
                there = [piece for piece in there if slot.own & piece.binds and code_in(piece) == piece.source]
                if not there and len(far := self._only_answer_to(slot)) == 1:
                    there = far
                if not there and slot.kind == "manual":
                    low = self.pieces.index(stub)
                    high = min(high, self.between(slot)[1])
                    there = [p for p in self.pieces[low + 1 : high] if p in self.free(slot) and p.kind == "code"]
            else:
                there = [piece for piece in there if self.is_text_of_ones_own(piece, least=1)]
            if there:
                best = max(len(slot.own & piece.binds) for piece in there)
                self.chosen[slot] = [piece for piece in there if len(slot.own & piece.binds) == best][-1]
                if not code or not stub.squeezed or trees(stub.source):  # a comment alone stays as a cell of its own
                    self.dropped.add(stub)
                if there is far:
                    self.doubt("beside_stub_far", slot)
                elif len(there) == 1:
                    self.notes.append(about("beside_stub", slot))
                else:
                    self.doubt("beside_stub_several", slot, amount=len(there))

    def _only_answer_to(self, slot: Slot) -> list[Piece]:
        """The cells that give all that is asked of an answer, wherever they stand."""
        return [p for p in self.free(slot) if p.kind == "code" and slot.own and slot.own <= p.binds]

    def _complete(self) -> None:
        """Join an answer with the one cell that gives names which it lacks, where that cell cannot run."""
        for slot in [slot for slot in self.slots if slot.kind in ANSWERS and slot.own and not self.is_blank(slot)]:
            piece = self.chosen[slot]
            if piece.kind != "code" or not (missing := self.lacking(slot)):
                continue
            rest = [other for other in self.free(slot) if other.kind == "code" and missing & other.binds]
            if len(rest) != 1 or not self._stands_wrong(rest[0], slot):
                continue
            pair = sorted([piece, rest[0]], key=self.pieces.index)
            if piece.words & rest[0].binds:
                pair = [rest[0], piece]
            whole = piece.part("\n".join(part.source for part in pair), keep=True)
            whole.parts = piece.parts + rest[0].parts
            self.pieces[self.pieces.index(piece)] = self.chosen[slot] = whole
            self.dropped.add(rest[0])
            self.doubt("completed", slot, numbers=(rest[0].number,))

    def _stands_wrong(self, piece: Piece, slot: Slot) -> bool:
        """Whether a piece stands below the tests of an answer, or above a cell that alone gives it a name it uses."""
        place = self.pieces.index(piece)
        tests = [other for other in self.slots if other.place > slot.place and other.kind == "tests"]
        if any(self.pieces.index(self.chosen[test]) < place for test in tests[:1] if test in self.chosen):
            return True
        above = set().union(*(other.binds for other in self.pieces[:place]))
        below = {name for other in self.chosen.values() if self.pieces.index(other) > place for name in other.binds}
        needs = piece.uses if parses(piece.source) else piece.words
        return bool(needs & below - above - piece.binds)

    def _leave_copies_out(self) -> None:
        """A second copy of an answer would do again what the answer changes in place, and one of its stub undo it."""
        for slot in [slot for slot in self.slots if slot.kind in ANSWERS and not self.is_blank(slot)]:
            for piece in self.extras:
                if piece.squeezed == slot.squeezed:
                    self.dropped.add(piece)
                    self.notes.append(about("released_twice", slot))
                elif piece.squeezed == self.chosen[slot].squeezed and (
                    piece.copy_of is slot or len(piece.squeezed) > 40
                ):
                    self.dropped.add(piece)
                    self.notes.append(about("answered_twice", slot))

    def _lift(self) -> None:
        """Put a cell of the student's own above the answer that needs it, when nothing else gives any of its names.

        So a student ran them, in an order that the notebook does not have.
        """
        users = [slot for slot in self.slots if slot.kind in ANSWERS and not self.is_blank(slot)]
        users = {*(self.chosen[slot] for slot in users), *self.free()}
        given = Counter(name for each in (*self.slots, *self.pieces) for name in each.gives)
        for piece in self.free():
            if piece.gives and all(given[name] == 1 for name in piece.gives):
                above = self.pieces[: self.pieces.index(piece)]
                user = next((user for user in above if user in users and piece.gives & user.words & user.uses), None)
                if user and self._runs_before(user, piece):
                    self.pieces.remove(piece)
                    self.pieces.insert(self.pieces.index(user), piece)
                    self.notes.append(Note("lifted", numbers=(piece.number, user.number)))

    def _runs_before(self, user: Piece, piece: Piece) -> bool:
        """Whether something from ``user`` to ``piece`` needs what the latter gives before a function is called."""
        between = self.pieces[self.pieces.index(user) : self.pieces.index(piece)]
        code = [each for each in between if each.kind == "code"]
        given = piece.gives.union(*(each.binds for each in code))
        return any((names := names_read(each.source)) is None or given & (names.used - names.given) for each in code)
