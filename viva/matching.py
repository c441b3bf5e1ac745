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
from dataclasses import replace

from viva.slots import (
    ANSWERS,
    ENOUGH,
    IN_PLACE,
    LOCKED,
    Piece,
    Slot,
    binding_of,
    evidence,
    goes_on,
    likeness,
    parses,
    squeezed,
    start_of,
)

_ADVERTISED = re.compile(r"deepnote\.com|colab\.research\.google|created in deepnote", re.IGNORECASE)


class Matching:
    """The pieces that were found for slots (``chosen``), the student's own (``extras``), and what had to be done."""

    def __init__(self, slots: list[Slot], pieces: list[Piece]) -> None:
        self.slots, self.pieces = slots, pieces
        self.chosen: dict[Slot, Piece] = {}
        self.dropped: set[Piece] = set()
        self.notes: list[str] = []
        self.by_text: list[Slot] = []
        """Slots whose piece had nothing that identifies it, and another text than the released one."""
        self.names = {slot.name: slot for slot in slots}
        self.ids = {slot.cell.get("id") or slot.name: slot for slot in slots} | self.names
        self._cut_released_texts()
        self._take_exact_texts()
        self._take_identified()
        self._take_likely()
        self._cut_answers()
        self._look_below_stubs()
        self._join_halves()

    @property
    def extras(self) -> list[Piece]:
        taken = set(self.chosen.values()) | self.dropped
        return [piece for piece in self.pieces if piece not in taken]

    def identified(self, piece: Piece) -> Slot | None:
        """The slot that a piece says it is."""
        if slot := self.names.get(piece.grade_id):
            return slot
        return next((self.ids[name] for name in piece.ids if name in self.ids), None)

    def is_blank(self, slot: Slot) -> bool:
        """Whether a slot for an answer has none."""
        piece = self.chosen.get(slot)
        return piece is None or piece.squeezed in ("", slot.squeezed)

    def _missing(self) -> list[Slot]:
        return [slot for slot in self.slots if slot not in self.chosen]

    # What is certain

    def _cut_released_texts(self) -> None:
        """Take cells apart that hold the whole text of a locked cell, or of a text that stands nowhere else."""
        whole = {piece.squeezed for piece in self.pieces}
        lost = [slot for slot in self.slots if slot.kind in (*LOCKED, "text")]
        lost = [slot for slot in lost if len(slot.squeezed) >= 20 and slot.squeezed not in whole]
        parts: list[Piece] = []
        for piece in self.pieces:
            found = [slot for slot in lost if slot.squeezed in piece.squeezed and self._is_cut(slot, piece)]
            cut = [piece]
            for slot in found:
                cut = [part for one in cut for part in self._cut(one, slot)]
            if len(cut) > 1 or (found and cut[0].squeezed != piece.squeezed):
                names = " and ".join(f"'{slot.name}'" for slot in found)
                self.notes.append(f"cell {piece.number} held {names} together with other text, and was taken apart")
                lost = [slot for slot in lost if slot not in found]
                self._leave_identity(piece, cut, found)
            parts += cut
        self.pieces = parts

    def _is_cut(self, slot: Slot, piece: Piece) -> bool:
        if slot.kind in LOCKED:
            return True
        # A student may add to a text, which is not locked; only what was merged with another cell is taken apart.
        own = self.identified(piece)
        if own is not slot:
            return own is not None or bool(piece.binds)
        claimed = {self.identified(other) for other in self.pieces}
        lost = [other for other in self.slots if other.kind in ANSWERS and other not in claimed]
        return any(other.own & piece.binds or (other.mark and other.mark in piece.source) for other in lost)

    def _cut(self, piece: Piece, slot: Slot) -> list[Piece]:
        lines = piece.source.splitlines()
        wanted = [squeezed(line) for line in slot.source.strip().splitlines()]
        have = [squeezed(line) for line in lines]
        for start in range(len(have) - len(wanted) + 1):
            if have[start : start + len(wanted)] == wanted:
                end = start + len(wanted)
                sources = "\n".join(lines[:start]), slot.source, "\n".join(lines[end:])
                own = piece.part(slot.source)
                own.kind, own.grade_id = slot.cell.cell_type, slot.name
                around = [piece.part(source.strip("\n"), keep=True) for source in sources[::2]]
                before, after = (part if part.source.strip() else None for part in around)
                return [part for part in (before, own, after) if part]
        return [piece]

    def _leave_identity(self, piece: Piece, parts: list[Piece], found: list[Slot]) -> None:
        """Of the parts of a cell, only the first that is not another slot's text stays what the cell was."""
        own = self.identified(piece)
        released = {slot.squeezed: slot for slot in found}
        first = own not in found
        for part in parts:
            if part.squeezed not in released:
                if not first:
                    part.grade_id, part.ids, part.cell_id, part.attachments = "", (), "", None
                first = False

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
        for slot, pieces in claims.items():
            self._choose(slot, pieces)

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
                others = "the other is" if len(groups) == 2 else "the others are"
                self.notes.append(
                    f"'{slot.name}' stood {len(groups)} times with different text; the last one counts, and {others} "
                    "kept as a cell of the student's own"
                )
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
        """One piece for the parts of an answer, standing where the first one stood."""
        first = pieces[0]
        if len(pieces) == 1:
            return first
        between = "\n" if slot.cell.cell_type == "code" else "\n\n"
        whole = replace(first, source=between.join(piece.source for piece in pieces))
        identity = next((piece for piece in pieces if self.identified(piece) is slot), first)
        whole.grade_id, whole.ids, whole.cell_id = identity.grade_id, identity.ids, identity.cell_id
        self.pieces[self.pieces.index(first)] = whole
        self.dropped |= set(pieces[1:])
        self.notes.append(f"the answer in '{slot.name}' was split into {len(pieces)} cells, which were joined")
        return whole

    # What is likely

    def _between(self, slot: Slot, kinds: tuple[str, ...] = ()) -> tuple[int, int]:
        """Between which places a slot's piece would stand, judged by those (of some kinds) that were not moved."""
        index = {piece: place for place, piece in enumerate(self.pieces)}
        known = {pair: 1.0 for pair in self.chosen.items() if not kinds or pair[0].kind in kinds}
        chain = self._chain(known)
        before = [index[piece] for other, piece in chain.items() if other.place < slot.place]
        after = [index[piece] for other, piece in chain.items() if other.place > slot.place]
        return max(before, default=-1), min(after, default=len(self.pieces))

    def _free(self) -> list[Piece]:
        """Pieces that may be any slot: the student's own, and those that lost what identified them."""
        return [piece for piece in self.extras if piece.copy_of is None and piece.squeezed]

    def _take_likely(self) -> None:
        if not self._missing():
            return
        worth = {
            (slot, piece): value
            for slot in self._missing()
            for piece in self._free()
            if (value := evidence(slot, piece)) + IN_PLACE >= self._enough(slot)
        }
        known = dict.fromkeys(self.chosen.items(), 2.0)
        chain = self._chain(worth | known)
        for slot in self._missing():
            if slot in chain:
                self._accept(slot, chain[slot])
        index = {piece: place for place, piece in enumerate(self.pieces)}
        # What was moved; of several that are equally good, the later one.
        for (slot, piece), value in sorted(worth.items(), key=lambda pair: (-pair[1], -index[pair[0][1]])):
            if value >= self._enough(slot) and slot not in self.chosen and piece not in self.taken():
                self._accept(slot, piece)
        for slot in self._missing():
            self._take_what_stands_there(slot)

    def _enough(self, slot: Slot) -> float:
        return ENOUGH if slot.kind in ANSWERS or slot.kind == "open" else 0.75

    def _take_what_stands_there(self, slot: Slot) -> None:
        """For a slot that nothing resembles: the one piece in its place."""
        low, high = self._between(slot)
        there = [piece for piece in self._free() if piece in self.pieces[low + 1 : high]]
        same = [piece for piece in there if piece.squeezed == slot.squeezed]
        if same:
            self.chosen[slot] = same[0]
        elif slot.answers or slot.kind == "open":
            there = [piece for piece in there if not _ADVERTISED.search(piece.source)]
            fitting = [piece for piece in there if piece.kind == slot.cell.cell_type]
            rivals = [other for other in self._missing() if other.answers and self._between(other) == (low, high)]
            if slot.written:
                own = [piece for piece in self._free() if piece.kind == "markdown" and len(piece.squeezed) > 20]
                # A moved text says nothing about itself; the only one there is can only be this.
                fitting = fitting or (there if len(there) == 1 else own if len(own) == 1 else [])
            if fitting and (slot.written or rivals == [slot]):
                # These run here whichever is taken; the released stub must not undo them.
                self._accept(slot, max(reversed(fitting), key=lambda piece: evidence(slot, piece)))

    def _accept(self, slot: Slot, piece: Piece) -> None:
        self.chosen[slot] = piece
        if piece.squeezed != slot.squeezed:
            self.by_text.append(slot)

    def _cut_answers(self) -> None:
        """Take two answers apart that stand in one cell."""
        for slot in [slot for slot in self._missing() if slot.kind in ANSWERS]:
            others = [other for other in self.slots if other.kind in ANSWERS and other in self.chosen]
            nearest = [other for other in others if other.place < slot.place][-1:]
            for other in others:
                piece = self.chosen[other]
                mine, theirs = start_of(slot, piece.source), start_of(other, piece.source)
                if mine is None and other in nearest:
                    mine = binding_of(slot, other, piece.source)
                if mine is None or (mine == 0 and not theirs) or (theirs is None and slot.place < other.place):
                    continue
                place = max(mine, theirs or 0)
                lines = piece.source.splitlines()
                first, second = "\n".join(lines[:place]).strip("\n"), "\n".join(lines[place:]).strip("\n")
                own, rest = (second, first) if mine == place else (first, second)
                if not own.strip() or not rest.strip():
                    continue
                parts = piece.part(rest, keep=True), piece.part(own)
                where = self.pieces.index(piece)
                self.pieces[where : where + 1] = parts if mine == place else parts[::-1]
                self.chosen[other], self.chosen[slot] = parts
                self.notes.append(
                    f"cell {piece.number} held the answers '{other.name}' and '{slot.name}', and was cut in two"
                )
                break

    def _look_below_stubs(self) -> None:
        """Where a stub was left as it was and the answer stands in a cell beside it, take that."""
        for slot in self.slots:
            stub = self.chosen.get(slot)
            if stub is None or not slot.answers or not self.is_blank(slot):
                continue
            code = slot.cell.cell_type == "code"
            low, high = self._between(slot, ANSWERS if code else ())
            there = [piece for piece in self._free() if piece in self.pieces[low + 1 : high]]
            if code:
                there = [piece for piece in there if slot.own & piece.binds]
                if not there and slot.kind == "manual":
                    low = self.pieces.index(stub)
                    high = min(high, self._between(slot)[1])
                    there = [p for p in self.pieces[low + 1 : high] if p in self._free() and p.kind == "code"]
            else:
                there = [p for p in there if p.kind != "code" and not _ADVERTISED.search(p.source)]
            if there:
                best = max(len(slot.own & piece.binds) for piece in there)
                self.chosen[slot] = [piece for piece in there if len(slot.own & piece.binds) == best][-1]
                self.dropped.add(stub)
                self.notes.append(f"'{slot.name}' was left as released; its answer was taken from a cell of its own")

    def _join_halves(self) -> None:
        """Join what was split in the middle of a statement."""
        for slot in self.slots:
            if slot.kind not in ANSWERS or slot.cell.cell_type != "code" or slot not in self.chosen:
                continue
            parts = [self.chosen[slot]]
            free = set(self._free())
            while goes_on(parts[0]) and (before := self._neighbour(parts[0], -1)) in free:
                parts.insert(0, before)
            while (after := self._neighbour(parts[-1], 1)) in free and after.kind == "code":
                text = "\n".join(part.source for part in parts)
                if not goes_on(after) and (parses(text) or not parses(f"{text}\n{after.source}")):
                    break
                parts.append(after)
            if len(parts) > 1:
                self.chosen[slot] = self._joined(slot, parts)

    def _neighbour(self, piece: Piece, step: int) -> Piece | None:
        place = self.pieces.index(piece) + step
        while 0 <= place < len(self.pieces) and self.pieces[place] in self.dropped:
            place += step
        return self.pieces[place] if 0 <= place < len(self.pieces) else None
