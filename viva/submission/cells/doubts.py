"""What a human should look at in a repaired submission, where its tests do not pass.

Theory of operation. Repair places what it can tell apart, and never guesses. What remains is of few kinds: an answer
that does not give the names its tests ask for, while another cell does; code in a text; half a statement; a place
where the repair had to choose; a written answer that is missing while a text stands elsewhere; cells that were lost
with a part of the file. Each doubt names the test cells that it may cost. Verdicts do not depend on it:
such a test cell earns what it earns, and waits for a grader when that is not everything. A cell in which a student
tried something out is no doubt, whatever it binds, where the answer gives the same names, unless it defines the
answer's function again.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from msgspec import structs

from viva.engine.blueprint import ANSWERS
from viva.record import Note, note
from viva.submission.cells.foreign import foreign, tests_of
from viva.submission.cells.joins import changed_names, code_in, goes_on
from viva.submission.cells.match import Doubt, Match, doubted
from viva.submission.cells.neverrun import why_not_run
from viva.submission.cells.places import LOCKED, Piece, Slot
from viva.submission.cells.texts import (
    NAME,
    bound_names,
    given_names,
    is_prose,
    likeness,
    looks_like_code,
    parses,
    used_names,
)

COPY = 0.8
"""So much like an answer is another version of it."""
WORDS = 60
"""Characters of a text that may be an answer, though the cell for it was left as released."""


def doubts_of(matching: Match, damaged: bool = False, kept: Iterable[str] = ()) -> list[Note]:
    """The doubts about a matching; ``damaged`` says that a part of the file could not be read.

    What was added to given cells, and ``kept`` below them, is the student's own code, too.

    Each names the tests of the answers that it is about, and of those that use what these give.
    """
    doubts, found = _Doubts(matching, damaged, kept), []
    for doubt in doubts.all():
        tests = {test for slot in doubts.with_users(doubt.slots) for test in tests_of(matching.slots, slot)}
        found.append(structs.replace(doubt.note, tests=tuple(sorted(tests))))
    return found


class _Doubts:
    def __init__(self, matching: Match, damaged: bool, kept: Iterable[str]) -> None:
        self.matching, self.damaged, self.kept = matching, damaged, kept
        self.slots, self.chosen, self.extras = matching.slots, matching.chosen, matching.extras
        self.answers = [slot for slot in self.slots if slot.purpose in ANSWERS and slot.cell.cell_type == "code"]
        self.index = {piece: place for place, piece in enumerate(matching.pieces)}
        self.owner = {piece: slot for slot, piece in self.chosen.items() if piece.squeezed != slot.squeezed}
        self.wanting = {slot: self._wanting(slot) for slot in self.answers if slot in self.chosen}
        self.names = {piece: self._names_of(piece) for piece in [*self.extras, *self.owner]}

    def all(self) -> Iterator[Doubt]:
        yield from self.matching.unsure
        for piece, slots in self._unplaced().items():
            yield doubted("may_belong", *slots, numbers=(piece.number,))
        if self._was_rebuilt():
            yield Doubt(Note("rebuilt", doubt=True), tuple(self.answers))
        yield from self._out_of_order()
        yield from self._beside_blanks()
        yield from self._not_run()
        yield from foreign(self.matching, self.kept)
        yield from self._written()
        lost = tuple(slot for slot in self.slots if slot.answers and self.matching.is_blank(slot))
        if lost and self.damaged:
            yield doubted("may_be_lost", *lost)
        elif lost and self._was_emptied():
            yield Doubt(Note("emptied", doubt=True), lost)

    def with_users(self, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        """Some answers, and those below that use what they or given cells give, or names that nobody gives."""
        found, names = list(slots), set()
        for slot in self.slots:
            piece = self.chosen.get(slot)
            if slot in self.answers and names and piece and not self.matching.is_blank(slot) and slot not in found:
                found += [slot] if names & used_names(piece.source) or self.wanting[slot] else []
            if slot in found and slot.purpose in ANSWERS:
                names |= slot.own | (piece.binds | piece.gives if piece else set())
            elif slot.purpose == "given" and names & used_names(slot.source):
                names |= slot.gives
        return tuple(found)

    def _was_emptied(self) -> bool:
        """Whether more than half of the locked code is empty cells."""
        locked = [slot for slot in self.slots if slot.purpose in LOCKED and slot.cell.cell_type == "code"]
        empty = [slot for slot in locked if slot in self.chosen and not self.chosen[slot].squeezed]
        return 2 * len(empty) > len(locked)

    def _was_rebuilt(self) -> bool:
        """Whether answers without identity were joined, cut, moved or left out, so that any of them may be wrong."""
        found = [self.chosen[slot] for slot in self.answers if slot in self.chosen]
        places = [self.index[piece] for piece in found]
        others = any(piece.parts > 1 or piece.apart for piece in found) or places != sorted(places)
        lost = any(slot in self.matching.by_text for slot in self.answers)
        blank = all(map(self.matching.is_blank, self.answers))
        return lost and not blank and (others or len(found) < len(self.answers))

    def _out_of_order(self) -> Iterator[Doubt]:
        """Answers without identity that use what only an answer below should give, as if two had changed places."""
        asked: set[str] = set()
        for place, slot in enumerate(self.answers):
            below = [self.chosen[other].binds for other in self.answers[place + 1 :] if other in self.chosen]
            if slot in self.matching.by_text and (self.wanting[slot] - asked) & set().union(*below):
                yield doubted("uses_below", slot)
            asked |= slot.expects

    def _beside_blanks(self) -> Iterator[Doubt]:
        """Blank answers where a cell of the student's gives what their other answers use, by whatever names."""
        given = [slot for slot in self.answers if slot in self.chosen and not self.matching.is_blank(slot)]
        used = set().union(*(self.chosen[slot].uses for slot in given))
        for slot in [slot for slot in self.answers if self.matching.is_blank(slot)]:
            low, high = self.matching.between(slot, ANSWERS)
            for piece in self.matching.pieces[low + 1 : high]:
                if piece in self.extras and piece.copy_of is None and piece.gives & used:
                    yield doubted("may_be_answer", slot, numbers=(piece.number,))

    def _not_run(self) -> Iterator[Doubt]:
        """Answers that were found as texts, and are no code, and those that could not run as they stand."""
        for slot in self.answers:
            piece = self.chosen.get(slot)
            if piece and piece.cell_type != "code" and not parses(piece.source):
                yield doubted("answered_in_text", slot)
                continue
            blank = piece is None or self.matching.is_blank(slot)
            if blank or (piece.refused and not parses(piece.source)):
                continue  # nobody damaged what the student saw refused
            if why := why_not_run(piece.source, slot, self.wanting[slot]):
                kind, *names = why
                yield Doubt(note(kind, *names, cells=(slot.name,), doubt=True), (slot,))

    def _wanting(self, slot: Slot) -> set[str]:
        """The names that an answer uses, and that no cell of the instructor's and none above it gives."""
        piece = self.chosen[slot]
        above = [other for other in self.matching.pieces if self.index[other] < self.index[piece]]
        return piece.uses.difference(*(other.gives for other in (*self.slots, *above)))

    def _may_belong(self, piece: Piece, slot: Slot) -> bool:
        """Whether a cell gives names that an answer lacks; another answer has to give all, as names are used twice."""
        if self.matching.was_handed_out(piece, slot):
            return False
        if slot not in self.chosen and self._mentions(piece, slot):
            return True
        if (
            self.matching.is_blank(slot)
            and piece in self.extras
            and not parses(piece.source)
            and piece.cell_type != "markdown"
        ):
            return _seems_to_give(piece, slot)
        if self._runs_in_place(piece, slot):
            return False
        if self.names[piece] & self.wanting.get(slot, set()):
            return True
        missing = self.matching.lacking(slot)
        names = self.names[piece] | (piece.binds if piece.apart else set())
        if piece in self.extras or self.owner[piece].purpose not in ANSWERS:
            return bool(missing & names)
        return bool(missing & names) and missing <= names

    def _mentions(self, piece: Piece, slot: Slot) -> bool:
        """Whether a cell speaks of what an answer gives; a text does only where code seems to stand in it."""
        if piece.cell_type == "code" and not piece.fenced:
            return bool(slot.own & set(NAME.findall(piece.source)))
        return _seems_to_give(piece, slot) and not self.matching.handout.has_text(piece.source)

    def _runs_in_place(self, piece: Piece, slot: Slot) -> bool:
        """Whether a whole cell of the student's stands right below an answer, and runs there as if part of it."""
        if (
            piece in self.owner
            or piece.cell_type != "code"
            or slot in self.matching.by_text
            or not parses(piece.source)
        ):
            return False
        answer = self.chosen.get(slot)
        below = self.matching.pieces[self.index[answer] + 1 :] if answer else []
        return piece in itertools.takewhile(lambda other: other in self.extras and parses(other.source), below)

    def _names_of(self, piece: Piece) -> set[str]:
        """The names that a cell of the student's gives beside what is expected of it."""
        code, slot = self._code_in(piece), self.owner.get(piece)
        if slot is None:
            return bound_names(code) | changed_names(code)
        return bound_names(code) - (slot.own | slot.expects if slot.purpose in ANSWERS else given_names(slot.source))

    def _code_in(self, piece: Piece) -> str:
        """The code of a cell; of a text without what was handed out."""
        if piece.cell_type == "code" and not piece.fenced:
            return code_in(piece)
        handout = self.matching.handout
        return "\n".join(text for text in piece.code if not handout.has_code(text) and not handout.has_text(text))

    def _unplaced(self) -> dict[Piece, list[Slot]]:
        """The cells that may belong to answers, with those answers."""
        found: dict[Piece, list[Slot]] = {}
        for piece in self.names:
            slots = [slot for slot in self.answers if self._may_belong(piece, slot)]
            free = piece in self.extras and (piece.copy_of is None or piece.copy_of.purpose not in LOCKED)
            if free or self._is_guessed(piece):
                slots += self._of_own_cell(piece, self.names[piece], bool(slots))
            if slots:
                found[piece] = list(dict.fromkeys(slots))
        return found

    def _is_guessed(self, piece: Piece) -> bool:
        """Whether a cell was taken for one that is no answer, or for an answer of which it gives nothing."""
        slot = self.owner.get(piece)
        unlike = slot in self.matching.by_text and not slot.own & piece.binds
        return slot is not None and (slot.purpose not in ANSWERS or unlike)

    def _of_own_cell(self, piece: Piece, names: set[str], known: bool) -> list[Slot]:
        """The answers that a cell of the student's own may belong to, though they give all their names."""
        if piece.cell_type != "code" or piece.fenced:
            slots = [slot for slot in self.answers if names & (slot.own | slot.expects)]
            doubtful = bool(self._code_in(piece)) and bool(self.matching.by_text)
        else:
            slots = [slot for slot in self.answers if self._is_version(piece, slot, names)]
            broken = [slot for slot in self.answers if slot in self.chosen and not parses(self.chosen[slot].source)]
            if goes_on(piece) or (broken and not parses(piece.source) and not is_prose(piece.source)):
                return slots + (broken or self._near(piece))
            doubtful = bool(self._lost() and self.matching.by_text) and looks_like_code(piece.source)
        return slots or ((self._lost() or self._near(piece)) if doubtful and not known else [])

    def _lost(self) -> list[Slot]:
        return [slot for slot in self.answers if slot not in self.chosen and slot not in self.matching.stubs]

    def _is_version(self, piece: Piece, slot: Slot, names: set[str]) -> bool:
        """Whether a cell of code is another version of an answer, so that both have run."""
        told = any(slot in doubt.slots for doubt in self.matching.unsure)
        if told or slot not in self.chosen or not names & slot.own:
            return False
        chosen, nameless = self.chosen[slot], slot in self.matching.by_text
        if piece.binds & chosen.binds & slot.defines and (nameless or self.index[piece] > self.index[chosen]):
            return True
        if nameless and slot.own <= piece.binds and not self.matching.was_handed_out(piece, slot):
            return True  # either could be the answer
        return piece.copy_of is slot or likeness(self.chosen[slot].source, piece.source) >= COPY

    def _near(self, piece: Piece) -> list[Slot]:
        """The answers before and after a cell."""
        place = {slot: self.index[self.chosen[slot]] for slot in self.answers if slot in self.chosen}
        before = [slot for slot in place if place[slot] < self.index[piece]]
        after = [slot for slot in place if place[slot] > self.index[piece]]
        return before[-1:] + after[:1]

    def _written(self) -> Iterator[Doubt]:
        blank = tuple(
            slot
            for slot in self.slots
            if slot.answers and slot.cell.cell_type != "code" and self.matching.is_blank(slot)
        )
        there = any(slot in self.chosen for slot in blank)
        texts = [p for p in self.extras if self.matching.is_text_of_ones_own(p, least=WORDS if there else 20)]
        if len(texts) > 1 and not self.matching.is_anchored():
            return  # a book's own, in a notebook without the question
        for piece in texts if blank else ():
            yield doubted("may_be_answer", *blank, numbers=(piece.number,))


def _seems_to_give(piece: Piece, slot: Slot) -> bool:
    """Whether a cell that may not be whole defines or binds what an answer has to give."""
    return any(re.search(rf"\bdef {name}\b|\b{name} *=[^=]", piece.source) for name in slot.own)
