"""What was found for the cells of an assignment so far: a *slot* is one of those, a *piece* a cell that was handed in.

The steps of ``matching`` change it, one after the other; its own methods ask it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from viva.record import Note
from viva.submission.cells.handout import plain, quiet_lines, trees
from viva.submission.cells.joins import text_of, unfenced
from viva.submission.cells.places import Piece, Released, Slot, about
from viva.submission.cells.texts import is_front_matter, is_prose, looks_like_code, undone_functions

ADVERTISED = re.compile(r"deepnote\.com|colab\.research\.google|created in deepnote", re.IGNORECASE)


@dataclass(frozen=True)
class Doubt:
    """A note that something else may have been meant, and the answers that it may have cost."""

    note: Note
    slots: tuple[Slot, ...]


def doubted(kind: str, *slots: Slot, **particulars: object) -> Doubt:
    """A doubt about some answers."""
    return Doubt(about(kind, *slots, doubt=True, **particulars), slots)


class Match:
    """The pieces in the order of the file, and which of them were ``chosen`` for slots.

    ``dropped`` are those that became part of another one or say nothing.
    """

    def __init__(self, released: Released, pieces: list[Piece]) -> None:
        self.slots, self.handout = released.slots, released.handout
        self.found = Counter(tree for piece in pieces for text in piece.code for tree in trees(text))
        texts = {slot.squeezed for slot in self.slots if slot.cell.cell_type != "code"}
        self.pieces = [piece if piece.squeezed in texts else unfenced(piece) for piece in pieces]
        self.dropped: set[Piece] = set()
        self.chosen: dict[Slot, Piece] = {}
        self.by_text: list[Slot] = []
        """Slots whose piece had nothing that identifies it, and another text than the released one."""
        self.notes: list[Note] = []
        self.unsure: list[Doubt] = []
        """Where something else may have been meant."""
        self.names = {slot.name: slot for slot in self.slots}
        self.ids = {slot.cell.get("id") or slot.name: slot for slot in self.slots} | self.names
        self.stubs = {slot for slot in self.slots if slot.answers and self._is_released(slot)}
        """The answers whose cells are there as they were released."""

    @property
    def extras(self) -> list[Piece]:
        taken = set(self.chosen.values()) | self.dropped
        return [piece for piece in self.pieces if piece not in taken]

    def is_blank(self, slot: Slot) -> bool:
        """Whether a slot for an answer has none."""
        piece = self.chosen.get(slot)
        return piece is None or not piece.squeezed or slot.is_stub(piece) or self.is_left(slot, piece)

    def lacking(self, slot: Slot) -> set[str]:
        """The names that an answer has to give, and that neither it nor, beside what it has to, one above it gives."""
        if self.is_blank(slot):
            return set(slot.own)
        above = [other for other in self.chosen if other.answers and other.place < slot.place]
        piece, given = self.chosen[slot], [self.chosen[other].binds - other.expects for other in above]
        return slot.own.difference(piece.binds, *given) | (slot.own & undone_functions(piece.source))

    def missing(self) -> list[Slot]:
        return [slot for slot in self.slots if slot not in self.chosen]

    def taken(self) -> set[Piece]:
        return set(self.chosen.values())

    def between(self, slot: Slot, purposes: tuple[str, ...] = ()) -> tuple[int, int]:
        """Between which places a slot's piece would stand, judged by those (of some purposes) that were not moved."""
        index = {piece: place for place, piece in enumerate(self.pieces)}
        known = {pair: 1.0 for pair in self.chosen.items() if not purposes or pair[0].purpose in purposes}
        chain = self.chain(known)
        before = [index[piece] for other, piece in chain.items() if other.place < slot.place]
        after = [index[piece] for other, piece in chain.items() if other.place > slot.place]
        return max(before, default=-1), min(after, default=len(self.pieces))

    def free(self, slot: Slot | None = None) -> list[Piece]:
        """Pieces that may be any slot: the student's own, and those that lost what identified them.

        With ``slot``, those that may be its answer: nothing that was handed out.
        """
        found = [piece for piece in self.extras if piece.copy_of is None and piece.squeezed]
        if slot is None or not slot.answers:
            return found
        return [piece for piece in found if slot.is_stub(piece) or not self.was_handed_out(piece, slot)]

    def is_text_of_ones_own(self, piece: Piece, least: int = 20) -> bool:
        """Whether a piece is a text that a student may have written, also where it became a code cell."""
        if ADVERTISED.search(piece.source) or piece.fenced or len(piece.squeezed) < least:
            return False
        if self.handout.has_text(piece.source) or is_front_matter(piece.source):
            return False
        return is_prose(piece.source) if piece.cell_type == "code" else not looks_like_code(piece.source)

    def is_anchored(self) -> bool:
        """Whether a cell of the assignment's that is no answer is there as it was released."""
        known = [(slot, piece) for slot, piece in self.chosen.items() if not slot.answers]
        return any(slot.squeezed == piece.squeezed for slot, piece in known)

    def was_handed_out(self, piece: Piece, slot: Slot) -> bool:
        """Whether a piece is nothing but code that was handed out, and so no answer to ``slot``.

        What a student typed of it counts: what stands in the notebook more often than in the release, and what stands
        in a code cell where the stub is gone, unless it is what a program took out of a text.
        """
        found = {tree for text in piece.code for tree in trees(text)}
        if not found or not all(tree in self.handout.statements for tree in found):
            return False
        if piece.cell_type != "code" or piece.fenced:
            return True
        if any(self.found[tree] > self.handout.statements[tree] for tree in found):
            return False
        return slot in self.stubs or found <= self.handout.shown

    def is_left(self, slot: Slot, piece: Piece) -> bool:
        """Whether a stub was left as it was, with nothing beside it but more of what was handed out."""
        if slot.cell.cell_type != "code":
            return plain(slot.source) in plain(piece.source) and self.handout.has_text(piece.source)
        found, stub = set(trees(piece.source)), set(trees(slot.source))
        known = all(self.found[tree] <= self.handout.statements[tree] for tree in found)
        return bool(stub) and stub <= found and known and quiet_lines(piece.source) <= self.handout.quiet

    def _is_released(self, slot: Slot) -> bool:
        """Whether a stub is there as it was released, alone or in another cell; several may have the same text."""
        stub = set(trees(slot.source)) if slot.cell.cell_type == "code" else set()
        if stub and all(self.found[tree] >= self.handout.statements[tree] for tree in stub):
            return True
        mine = [piece for piece in self.pieces if slot.is_stub(piece)]
        twins = [other for other in self.slots if other.answers and other.squeezed == slot.squeezed]
        return len(mine) >= len(twins) or any(self.identified(piece) is slot for piece in mine)

    def identified(self, piece: Piece) -> Slot | None:
        """The slot that a piece says it is."""
        if slot := self.names.get(piece.grade_id):
            return slot
        return next((self.ids[name] for name in piece.ids if name in self.ids), None)

    def doubt(self, kind: str, *slots: Slot, **particulars: object) -> None:
        """Note that something else may have been meant by what became of some answers."""
        self.unsure.append(doubted(kind, *slots, **particulars))

    def whole(self, pieces: list[Piece], between: str = "\n") -> Piece:
        """One piece for several, standing where the first one stood."""
        first = pieces[0]
        whole = replace(first, source=text_of(pieces, between), fenced="")
        whole.cell_type = "code" if any(piece.cell_type == "code" for piece in pieces) else first.cell_type
        whole.parts = sum(piece.parts for piece in pieces)
        identity = next((piece for piece in pieces if self.identified(piece)), first)
        whole.grade_id, whole.ids, whole.cell_id = identity.grade_id, identity.ids, identity.cell_id
        self.pieces[self.pieces.index(first)] = whole
        self.dropped |= set(pieces[1:])
        self.pieces = [piece for piece in self.pieces if piece not in pieces[1:]]
        return whole

    def chain(self, worth: dict[tuple[Slot, Piece], float]) -> dict[Slot, Piece]:
        """Of pairs of a slot and a piece, those in the assignment's order that together are worth most."""
        index = {piece: place for place, piece in enumerate(self.pieces)}
        by_slot: dict[Slot, list[tuple[int, float]]] = {}
        for (slot, piece), value in worth.items():
            by_slot.setdefault(slot, []).append((index[piece], value))
        # best[n]: the most that the first n pieces are worth to the slots so far; of equals, the later piece.
        best, links = [0.0] * (len(self.pieces) + 1), []
        for slot in self.slots:
            here, link = best.copy(), {}
            for place, value in sorted(by_slot.get(slot, ())):
                if best[place] + value >= here[place + 1] - 1e-9:
                    here[place + 1], link[place + 1] = best[place] + value, place
            for count in range(1, len(here)):
                if here[count - 1] > here[count] + 1e-9:
                    here[count], link[count] = here[count - 1], -1
            links.append(link)
            best = here
        chain, count = {}, len(self.pieces)
        for slot, link in zip(reversed(self.slots), reversed(links), strict=True):
            while link.get(count) == -1:
                count -= 1
            if count in link:
                count = link[count]
                chain[slot] = self.pieces[count]
        return chain
