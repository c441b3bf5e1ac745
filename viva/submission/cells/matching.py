"""Which cell of a submission is which cell of the assignment.

Theory of operation. A *slot* is a cell of the released notebook, a *piece* a cell of the submission or
a part of one. What is certain goes first: the text of a locked cell, word for word; nbgrader's grade id;
the cell's id, also where Colab keeps it. What is left is told by what it says (a function of the
expected name, the names that the tests ask for, likeness to the released text) and by where it stands
between the cells that are known. A piece that holds several slots is cut; pieces that only together
are an answer are joined. No slot gets a piece without evidence; a piece that nothing claims stays an
ordinary cell of the student's. Whoever copies a test cell's identity onto another cell gains nothing:
locked cells get the released text whatever their piece says.
"""

from __future__ import annotations

import re

from viva.engine.blueprint import ANSWERS
from viva.submission.cells.fragments import Pieces
from viva.submission.cells.handout import is_as
from viva.submission.cells.joins import goes_on, is_clear, parted
from viva.submission.cells.places import ENOUGH, IN_PLACE, LOCKED, Doubt, Piece, Released, Slot, about, evidence
from viva.submission.cells.texts import is_front_matter, is_prose, likeness, looks_like_code

_ADVERTISED = re.compile(r"deepnote\.com|colab\.research\.google|created in deepnote", re.IGNORECASE)


class Matching(Pieces):
    """The pieces that were found for slots (``chosen``), the student's own (``extras``), and what had to be done."""

    def __init__(self, released: Released, pieces: list[Piece]) -> None:
        super().__init__(released, pieces)
        self.chosen: dict[Slot, Piece] = {}
        self.by_text: list[Slot] = []
        """Slots whose piece had nothing that identifies it, and another text than the released one."""
        self.unsure: list[Doubt] = []
        """Where something else may have been meant."""
        self.take_code_out_of_texts()
        self.take_out_released_texts()
        self._take_exact_texts()
        self.join_parts(self.taken())
        self._take_identified()
        self._take_likely()
        self._cut_answers()

    def doubt(self, kind: str, *slots: Slot, **particulars: object) -> None:
        """Note that something else may have been meant by what became of some answers."""
        self.unsure.append(Doubt(about(kind, *slots, doubt=True, **particulars), slots))

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
        return slot.own.difference(
            self.chosen[slot].binds, *(self.chosen[other].binds - other.expects for other in above)
        )

    def missing(self) -> list[Slot]:
        return [slot for slot in self.slots if slot not in self.chosen]

    # What is certain

    def _take_exact_texts(self) -> None:
        same: dict[Slot, list[Piece]] = {}
        texts = [slot.squeezed for slot in self.slots]
        by_text: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            by_text.setdefault(piece.squeezed, []).append(piece)
        for slot in self.slots:
            if slot.kind not in (*LOCKED, "text") or len(slot.squeezed) < 10:
                continue
            found = by_text.get(slot.squeezed, [])
            if slot.kind == "text" and any(
                self.identified(piece) is slot for piece in self.pieces if piece not in found
            ):
                continue
            twins = texts.count(slot.squeezed)
            mine = [piece for piece in found if self.identified(piece) is slot]
            if not mine and twins == 1:
                # An answer cell into which a student pasted this text stays an answer cell.
                mine = [piece for piece in found if not (other := self.identified(piece)) or other.kind not in ANSWERS]
            if mine:
                same[slot] = mine
        chain = self._chain({(slot, piece): 1.0 for slot, found in same.items() for piece in found})
        for slot, found in same.items():
            self.chosen[slot] = chain.get(slot, found[0])
            for piece in found:
                piece.copy_of = None if piece is self.chosen[slot] else slot

    def _chain(self, worth: dict[tuple[Slot, Piece], float]) -> dict[Slot, Piece]:
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

    def taken(self) -> set[Piece]:
        return set(self.chosen.values())

    def _take_identified(self) -> None:
        claims: dict[Slot, list[Piece]] = {}
        for piece in self.pieces:
            slot = self.identified(piece)
            if slot and piece not in self.taken() and piece.copy_of is None:
                if slot in self.chosen:
                    piece.copy_of = slot
                else:
                    claims.setdefault(slot, []).append(piece)
        self._doubt_names(claims)
        for slot, pieces in claims.items():
            if pieces:
                self._choose(slot, pieces)

    def _doubt_names(self, claims: dict[Slot, list[Piece]]) -> None:
        """Take no cell's word for it that gives none of its slot's names, and all of one that nobody else gives.

        So it is when an answer cell was copied to type another answer into it, or answers changed places.
        """
        answers = [slot for slot in self.slots if slot.kind in ANSWERS and slot.cell.cell_type == "code" and slot.own]
        gives = {
            slot: [p for p in claims.get(slot, ()) if p.squeezed != slot.squeezed and slot.own & p.binds]
            for slot in answers
        }
        for slot in answers:
            for piece in [p for p in claims.get(slot, ()) if not slot.own & p.binds and not slot.is_stub(p)]:
                others = [other for other in answers if other.own <= piece.binds and not gives[other]]
                if len(others) == 1:
                    claims[slot].remove(piece)
                    claims.setdefault(others[0], []).append(piece)
                    piece.grade_id = others[0].name
                    self.doubt("changed_places", slot, others[0], numbers=(piece.number,))

    def _choose(self, slot: Slot, pieces: list[Piece]) -> None:
        """One of the pieces that all say they are the slot; the others stay as the student's own."""
        if slot.kind in LOCKED:
            chosen = max(pieces, key=lambda piece: likeness(slot.source, piece.source))
        else:
            filled = [piece for piece in pieces if piece.squeezed not in ("", slot.squeezed)]
            self.dropped |= {piece for piece in pieces if piece not in filled[-1:] and piece not in filled}
            groups = self._alternatives(slot, filled) if filled else [pieces[:1]]
            self.dropped -= set(groups[-1])
            if len({"".join(piece.squeezed for piece in group) for group in groups}) > 1:
                self.doubt("twice" if len(groups) == 2 else "several", slot, amount=len(groups))
            chosen = self._joined(slot, groups[-1])
        self.chosen[slot] = chosen
        for piece in pieces:
            if piece is not chosen:
                piece.copy_of = slot

    def _alternatives(self, slot: Slot, pieces: list[Piece]) -> list[list[Piece]]:
        """Copies apart, the parts of one answer together."""
        groups = [[pieces[0]]]
        for piece in pieces[1:]:
            before = groups[-1][-1]
            adjacent = self.pieces.index(piece) == self.pieces.index(before) + 1
            binds = set().union(*(other.binds for other in groups[-1]))
            copy = likeness(before.source, piece.source) >= 0.6 or binds & piece.binds
            if adjacent and (goes_on(piece) or not copy):
                groups[-1].append(piece)
            else:
                groups.append([piece])
        return groups

    def _joined(self, slot: Slot, pieces: list[Piece]) -> Piece:
        between = "\n" if slot.cell.cell_type == "code" else "\n\n"
        return pieces[0] if len(pieces) == 1 else self.whole(pieces, between)

    # What is likely

    def between(self, slot: Slot, kinds: tuple[str, ...] = ()) -> tuple[int, int]:
        """Between which places a slot's piece would stand, judged by those (of some kinds) that were not moved."""
        index = {piece: place for place, piece in enumerate(self.pieces)}
        known = {pair: 1.0 for pair in self.chosen.items() if not kinds or pair[0].kind in kinds}
        chain = self._chain(known)
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

    def _take_likely(self) -> None:
        if not self.missing():
            return
        worth = {
            (slot, piece): value
            for slot in self.missing()
            for piece in self.free(slot)
            if not self._answers_instead(slot, piece)
            and (value := evidence(slot, piece)) + IN_PLACE >= self._enough(slot)
        }
        known = dict.fromkeys(self.chosen.items(), 2.0)
        chain = self._chain(worth | known)
        for slot in self.missing():
            if slot in chain:
                self._accept(slot, chain[slot])
        # A part of the cell above is likelier than one that would have been moved.
        self._cut_answers(named=True)
        index = {piece: place for place, piece in enumerate(self.pieces)}
        # What was moved; of several that are equally good, the later one.
        moved = [pair for pair in worth.items() if pair[0][1] in index]
        for (slot, piece), value in sorted(moved, key=lambda pair: (-pair[1], -index[pair[0][1]])):
            if value >= self._enough(slot) and slot not in self.chosen and piece not in self.taken():
                self._accept(slot, piece)
        for slot in self.missing():
            self._take_what_stands_there(slot)

    def _answers_instead(self, slot: Slot, piece: Piece) -> bool:
        """Whether a piece gives what an answer has to give, and nothing of what this locked cell gives."""
        asked = set().union(*(other.own for other in self.slots if other.kind in ANSWERS))
        return slot.kind in LOCKED and bool(asked & piece.binds) and not slot.gives & piece.binds

    def _enough(self, slot: Slot) -> float:
        return ENOUGH if slot.kind in ANSWERS or slot.kind == "open" else 0.75

    def _take_what_stands_there(self, slot: Slot) -> None:
        """For a slot that nothing resembles: the one piece in its place."""
        low, high = self.between(slot)
        there = [piece for piece in self.free(slot) if piece in self.pieces[low + 1 : high]]
        same = [piece for piece in there if piece.squeezed == slot.squeezed]
        if same:
            self.chosen[slot] = same[0]
        elif slot.answers or slot.kind == "open":
            there = [piece for piece in there if not _ADVERTISED.search(piece.source)]
            fitting = [piece for piece in there if piece.kind == slot.cell.cell_type]
            rivals = [other for other in self.missing() if other.answers and self.between(other) == (low, high)]
            if slot.written:
                fitting = self._written_for(slot, there)
            if fitting and (slot.written or rivals == [slot]):
                # These run here whichever is taken; the released stub must not undo them.
                piece = max(reversed(fitting), key=lambda piece: evidence(slot, piece))
                self._accept(slot, piece)
                if len(fitting) > 1 and slot.own and not slot.own & piece.binds:
                    self.doubt("any_of", slot, numbers=(piece.number,), amount=len(fitting))

    def _written_for(self, slot: Slot, there: list[Piece]) -> list[Piece]:
        """The texts that may be a written answer, of those ``there`` where it would stand.

        Below its question it may be short. Where that is gone only the one text that there is: a text says nothing
        about itself. Where all of the assignment's cells are, it can be of any book.
        """
        own = [piece for piece in self.free(slot) if self.is_text_of_ones_own(piece)]
        there = [piece for piece in there if self.is_text_of_ones_own(piece, least=20 if piece.kind == "code" else 3)]
        if any(other.kind == "task" and other in self.chosen for other in self.slots[: slot.place]) and there:
            return there
        return own if len(own) == 1 and self.is_anchored() else []

    def is_anchored(self) -> bool:
        """Whether a cell of the assignment's that is no answer is there as it was released."""
        known = [(slot, piece) for slot, piece in self.chosen.items() if not slot.answers]
        return any(slot.squeezed == piece.squeezed for slot, piece in known)

    def _accept(self, slot: Slot, piece: Piece) -> None:
        self.chosen[slot] = piece
        if piece.squeezed != slot.squeezed:
            self.by_text.append(slot)

    def _cut_answers(self, named: bool = False) -> None:
        """Take answers apart that stand in one cell, where the cell of one is missing or was left as released.

        ``named``: only such as give a name that their tests ask for.
        """
        slots = [slot for slot in self.slots if slot.kind in ANSWERS and slot.cell.cell_type == "code"]
        for keeper in slots:
            blank = [slot for slot in slots if self.is_blank(slot)]
            if keeper in blank or not blank:
                continue
            piece = self.chosen[keeper]
            place = slots.index(keeper)
            near = [keeper]
            for step in (-1, 1):
                index = place + step
                while 0 <= index < len(slots) and slots[index] in blank:
                    near.append(slots[index])
                    index += step
            near.sort(key=slots.index)
            unnamed = [slot for slot in near if slot not in self.chosen and abs(slots.index(slot) - place) == 1]
            far = [slot for slot in blank if slot not in near and slot.own <= piece.binds]
            groups = [near, near[::-1], *([keeper, slot] for slot in far), *([slot, keeper] for slot in far)]
            found = [parted(group, piece.source, keeper, unnamed * (group is near and not named)) for group in groups]
            parts = max(found, key=len)
            if parts:
                self._take_parts(piece, keeper, parts)

    def _take_parts(self, piece: Piece, keeper: Slot, parts: dict[Slot, str]) -> None:
        slots = sorted(parts, key=lambda slot: slot.place)
        cut = {"numbers": (piece.number,), "amount": len(parts)}
        if is_clear(parts) or all(is_as(text, slot.source) for slot, text in parts.items()):
            self.notes.append(about("cut", *slots, **cut))
        else:
            self.doubt("cut_anywhere", *slots, **cut)
        where = self.pieces.index(piece)
        for slot in parts:
            if slot is not keeper and slot in self.chosen:
                self.dropped.add(self.chosen[slot])
            self.chosen[slot] = piece.part(parts[slot], keep=slot is keeper)
        self.pieces[where : where + 1] = [self.chosen[slot] for slot in parts]

    def is_text_of_ones_own(self, piece: Piece, least: int = 20) -> bool:
        """Whether a piece is a text that a student may have written, also where it became a code cell."""
        if _ADVERTISED.search(piece.source) or piece.fenced or len(piece.squeezed) < least:
            return False
        if self.handout.has_text(piece.source) or is_front_matter(piece.source):
            return False
        return is_prose(piece.source) if piece.kind == "code" else not looks_like_code(piece.source)
