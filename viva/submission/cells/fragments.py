"""The pieces of a submission before they are matched: identified, released texts taken out, halves joined."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import replace

from viva.engine.blueprint import ANSWERS
from viva.record import Note
from viva.submission.cells.handout import plain, quiet_lines, trees
from viva.submission.cells.joins import goes_on, groups_of, runs_of, segments, text_of, unfenced, unfolded
from viva.submission.cells.places import LOCKED, Piece, Released, Slot, about
from viva.submission.cells.texts import bound_names, is_definition, looks_like_code, parses


class Pieces:
    """The pieces in the order of the file; ``dropped`` are those that became part of another one or say nothing."""

    def __init__(self, released: Released, pieces: list[Piece]) -> None:
        self.slots, self.handout = released.slots, released.handout
        self.found = Counter(tree for piece in pieces for text in piece.code for tree in trees(text))
        texts = {slot.squeezed for slot in self.slots if slot.cell.cell_type != "code"}
        self.pieces = [piece if piece.squeezed in texts else unfenced(piece) for piece in pieces]
        self.dropped: set[Piece] = set()
        self.notes: list[Note] = []
        self.names = {slot.name: slot for slot in self.slots}
        self.ids = {slot.cell.get("id") or slot.name: slot for slot in self.slots} | self.names
        self.stubs = {slot for slot in self.slots if slot.answers and self._is_released(slot)}
        """The answers whose cells are there as they were released."""

    def take_code_out_of_texts(self) -> None:
        """Where no code gives a name of some answer, and blocks of code in a text do, take these out of it."""
        answers = [slot for slot in self.slots if slot.kind in ANSWERS and slot.cell.cell_type == "code"]
        stubs = {slot.squeezed for slot in answers}
        code = [piece for piece in self.pieces if piece.kind == "code" and piece.squeezed not in stubs]
        given = set().union(*(piece.binds for piece in code))
        wanted = set().union(*(slot.own for slot in answers if not slot.own & given))
        for piece in [piece for piece in self.pieces if wanted and piece.kind != "code"]:
            parts = unfolded(piece)
            for part in parts:
                part.kind = piece.kind if self.handout.has_code(part.source) else part.kind
            if len(parts) > 1 and any(part.kind == "code" and wanted & part.binds for part in parts):
                self.notes.append(Note("code_in_text", numbers=(piece.number,)))
                place = self.pieces.index(piece)
                self.pieces[place : place + 1] = parts

    def was_handed_out(self, piece: Piece, slot: Slot) -> bool:
        """Whether a piece is nothing but code that was handed out, and so no answer to ``slot``.

        What a student typed of it counts: what stands in the notebook more often than in the release, and what stands
        in a code cell where the stub is gone, unless it is what a program took out of a text.
        """
        found = {tree for text in piece.code for tree in trees(text)}
        if not found or not all(tree in self.handout.statements for tree in found):
            return False
        if piece.kind != "code" or piece.fenced:
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

    def take_out_released_texts(self) -> None:
        """Take cells apart that hold lines of a locked cell beside others, or of a text that stands nowhere else."""
        whole = {piece.squeezed for piece in self.pieces}
        lost = [slot for slot in self.slots if slot.kind in (*LOCKED, "text")]
        lost = [slot for slot in lost if len(slot.squeezed) >= 20 and slot.squeezed not in whole]
        runs = runs_of(lost, self.pieces)
        runs = {slot: run for slot, run in runs.items() if self._is_cut(slot, self.pieces[run[0][0]])}
        owners: dict[int, dict[int, Slot]] = {}
        for slot, run in runs.items():
            for place, line in run:
                owners.setdefault(place, {})[line] = slot
            if parts := len({place for place, _ in run}) - 1:
                self.notes.append(about("split", slot, amount=parts + 1))
        parts, done = [], set()
        for place, piece in enumerate(self.pieces):
            found = list(dict.fromkeys(owners.get(place, {}).values()))
            cut = list(segments(piece, owners[place])) if found else []
            if len(cut) > 1:
                self.notes.append(about("with_released", *found, numbers=(piece.number,)))
            rest = [self._rest(piece, text) for slot, text in cut if slot is None]
            self._leave_identity(piece, rest, found)
            if len(rest) == 1:
                rest[0].apart = piece.apart  # released texts were taken out, and what is left was cut nowhere
            for slot, _ in cut:
                if slot is None:
                    parts.append(rest.pop(0))
                elif slot not in done:
                    own = piece.part(slot.source)
                    own.kind, own.grade_id = slot.cell.cell_type, slot.name
                    parts.append(own)
                    done.add(slot)
            parts += [] if cut else [piece]
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

    def _rest(self, piece: Piece, source: str) -> Piece:
        rest = unfenced(piece.part(source, keep=True))
        if rest.kind == "markdown" and looks_like_code(source):
            rest.kind = "code"
        return rest

    def _leave_identity(self, piece: Piece, rest: list[Piece], found: list[Slot]) -> None:
        """Of what is left of a cell, only the first stays what the cell was, unless that was found in it."""
        for part in rest if self.identified(piece) in found else rest[1:]:
            part.grade_id, part.ids, part.cell_id, part.attachments = "", (), "", None

    def join_parts(self, taken: set[Piece]) -> None:
        """Join code that was split in the middle of a statement, or of a block; ``taken`` pieces are whole."""
        self._move_left()
        free = [piece for piece in self.pieces if piece.squeezed and piece not in taken]
        code = [piece for piece in free if piece.kind == "code" or goes_on(piece) or _begins_code(piece.source)]
        for group in groups_of(code):
            said = {slot for piece in group if (slot := self.identified(piece)) and slot.kind in ANSWERS}
            if len(group) > 1 and len(said) < 2:  # two answers are no halves of one
                self.whole(group)

    def _move_left(self) -> None:
        """Take the indentation off a whole answer in its own cell, as IPython does: it is no half of another."""
        for place, piece in enumerate(self.pieces):
            slot = self.identified(piece)
            if slot and slot.kind in ANSWERS and slot.own and piece.kind == "code" and goes_on(piece):
                text = textwrap.dedent(piece.source)
                if parses(text) and slot.own <= bound_names(text):
                    self.pieces[place] = replace(piece, source=text)

    def whole(self, pieces: list[Piece], between: str = "\n") -> Piece:
        """One piece for several, standing where the first one stood."""
        first = pieces[0]
        whole = replace(first, source=text_of(pieces, between), fenced="")
        whole.kind = "code" if any(piece.kind == "code" for piece in pieces) else first.kind
        whole.parts = sum(piece.parts for piece in pieces)
        identity = next((piece for piece in pieces if self.identified(piece)), first)
        whole.grade_id, whole.ids, whole.cell_id = identity.grade_id, identity.ids, identity.cell_id
        self.pieces[self.pieces.index(first)] = whole
        self.dropped |= set(pieces[1:])
        self.pieces = [piece for piece in self.pieces if piece not in pieces[1:]]
        return whole


def _begins_code(source: str) -> bool:
    """Whether a text is code, or the beginning of a function."""
    return is_definition(source) or looks_like_code(source)
