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

from dataclasses import replace

from viva.slots import ANSWERS, LOCKED, Piece, Slot, evidence, goes_on, likeness, parses, squeezed, start_of

ENOUGH = 0.6
"""Evidence from which a piece is taken for a slot."""
IN_PLACE = 0.2
"""What standing in the right place adds to the evidence."""


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
                self._leave_identity(piece, cut)
            parts += cut
        self.pieces = parts

    def _is_cut(self, slot: Slot, piece: Piece) -> bool:
        if slot.kind in LOCKED:
            return True
        # A student may add to a text, which is not locked; only what was merged with another cell is taken apart.
        return self.identified(piece) not in (None, slot) or (self.identified(piece) is None and bool(piece.binds))

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

    def _leave_identity(self, piece: Piece, parts: list[Piece]) -> None:
        """Of the parts of a cell, only the first that is not another slot's text stays what the cell was."""
        own = self.identified(piece)
        first = True
        for part in parts:
            if self.names.get(part.grade_id) not in (None, own) or own is None or own.squeezed == part.squeezed:
                continue
            if not first or own.kind in LOCKED:
                part.grade_id, part.ids, part.cell_id, part.attachments = "", (), "", None
            first = False

    def _take_exact_texts(self) -> None:
        for slot in self.slots:
            if slot.kind not in (*LOCKED, "text") or len(slot.squeezed) < 10:
                continue
            twins = [other for other in self.slots if other.squeezed == slot.squeezed]
            same = [piece for piece in self.pieces if piece.squeezed == slot.squeezed and piece not in self.taken()]
            mine = [piece for piece in same if self.identified(piece) is slot]
            if not mine and len(twins) == 1:
                # An answer cell into which a student pasted this text stays an answer cell.
                mine = [piece for piece in same if not (other := self.identified(piece)) or other.kind not in ANSWERS]
            if mine:
                self.chosen[slot] = mine[0]
                for piece in same:
                    piece.copy_of = None if piece is mine[0] else slot

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
        """The places of the known pieces before and after a slot, of any kind or of these."""
        index = {piece: place for place, piece in enumerate(self.pieces)}
        known = [other for other in self.slots if other in self.chosen and (not kinds or other.kind in kinds)]
        before = max((other for other in known if other.place < slot.place), key=lambda o: o.place, default=None)
        after = min((other for other in known if other.place > slot.place), key=lambda o: o.place, default=None)
        return (
            index[self.chosen[before]] if before else -1,
            index[self.chosen[after]] if after else len(self.pieces),
        )

    def _free(self) -> list[Piece]:
        """Pieces that may be any slot: the student's own, and those that lost what identified them."""
        return [piece for piece in self.extras if piece.copy_of is None and piece.squeezed]

    def _take_likely(self) -> None:
        free = self._free()
        index = {piece: place for place, piece in enumerate(self.pieces)}
        pairs = []
        for slot in self._missing():
            low, high = self._between(slot)
            for piece in free:
                worth = evidence(slot, piece)
                near = IN_PLACE if low < index[piece] < high else 0.0
                enough = ENOUGH if slot.kind in ANSWERS or slot.kind == "open" else 0.75
                if worth + near >= enough:
                    pairs.append((round(worth + near, 3), index[piece], slot, piece))
        # Of several that are equally good, the later one.
        for _, _, slot, piece in sorted(pairs, key=lambda pair: (-pair[0], -pair[1], pair[2].place)):
            if slot not in self.chosen and piece not in self.taken():
                self._accept(slot, piece)
        for slot in self._missing():
            self._take_what_stands_there(slot)

    def _take_what_stands_there(self, slot: Slot) -> None:
        """For a slot that nothing resembles: the one piece in its place."""
        low, high = self._between(slot)
        there = [piece for piece in self._free() if piece in self.pieces[low + 1 : high]]
        same = [piece for piece in there if piece.squeezed == slot.squeezed]
        if same:
            self.chosen[slot] = same[0]
        elif slot.answers or slot.kind == "open":
            there = [piece for piece in there if piece.kind == slot.cell.cell_type]
            rivals = [other for other in self._missing() if other.answers and self._between(other) == (low, high)]
            if there and (slot.written or (len(there) == 1 and rivals == [slot])):
                self._accept(slot, there[-1] if slot.written else there[0])

    def _accept(self, slot: Slot, piece: Piece) -> None:
        self.chosen[slot] = piece
        if piece.squeezed != slot.squeezed:
            self.by_text.append(slot)

    def _cut_answers(self) -> None:
        """Take two answers apart that stand in one cell."""
        for slot in [slot for slot in self._missing() if slot.kind in ANSWERS]:
            for other in [other for other in self.slots if other.kind in ANSWERS and other in self.chosen]:
                piece = self.chosen[other]
                mine, theirs = start_of(slot, piece.source), start_of(other, piece.source)
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
                wanted = slot.defines or slot.expects
                there = [piece for piece in there if wanted & piece.binds]
                if not there and slot.kind == "manual":
                    low = self.pieces.index(stub)
                    high = min(high, self._between(slot)[1])
                    there = [p for p in self.pieces[low + 1 : high] if p in self._free() and p.kind == "code"]
            else:
                there = [piece for piece in there if piece.kind != "code"]
            if there:
                best = max(len((slot.defines or slot.expects) & piece.binds) for piece in there)
                likely = [p for p in there if len((slot.defines or slot.expects) & p.binds) == best]
                self.chosen[slot] = likely[-1]
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
