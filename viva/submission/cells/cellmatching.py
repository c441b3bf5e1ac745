"""The match of a submission's cells (*pieces*) with the assignment's cells (*slots*).

Theory of operation. What a piece says it is, it is: whole, and where nothing contradicts it, in its place. A locked
cell is the instructor's: it is known by its text, and where it is not there whole, by its lines, which may stand in
several pieces or inside a larger one; only these are ever taken out of a piece. What has lost its identity is matched
by content, in the assignment's order first, and a piece is assigned whole or not at all. A slot whose own piece was
left as released is blank: nothing is looked for elsewhere. Whoever copies a test cell's identity onto another cell
gains nothing, as locked cells get the released text whatever their piece says.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from itertools import takewhile

from viva.notebook.cell import ANSWERS, Purpose
from viva.notebook.names import names_of
from viva.notebook.statements import acts, are_one, only_defines, runs
from viva.record import Note
from viva.submission.cells.places import Piece, Released, Slot, about
from viva.submission.cells.texts import (
    LONGEST,
    NAME,
    bound_names,
    is_front_matter,
    is_prose,
    likeness,
    lines_of,
    squeezed,
)

ADVERTISED = re.compile(r"deepnote\.com|colab\.research\.google|created in deepnote", re.IGNORECASE)
LEAST = 10
"""A shorter text (without white space) tells nothing about which cell it is."""
LEAST_LINES = 20
"""And so long are the lines of a locked cell that are found in other cells."""
ENOUGH, ENOUGH_OF_LOCKED = 0.4, 0.55
"""Evidence from which a piece in the right place is taken for an answer or an open cell, and for one that nobody had
reason to change."""


MOST_PARTS = 4
"""The most cells below its first part that a cell is looked for in."""


@dataclass(frozen=True)
class Doubt:
    """A note that something else may have been meant, and the answers that it may have cost."""

    note: Note
    slots: tuple[Slot, ...]


def doubted(kind: str, *slots: Slot, **particulars: object) -> Doubt:
    """A doubt about some answers."""
    return Doubt(about(kind, *slots, doubt=True, **particulars), slots)


def matched(released: Released, pieces: list[Piece]) -> Match:
    """The pieces of a submission with the slots that they were found for."""
    match = Match(released, pieces)
    _take_exact_texts(match)
    for slot in [slot for slot in match.missing() if slot.locked]:
        _take_lines(match, slot)
    _join_parts(match)
    _take_identified(match)
    _take_likely(match)
    _leave_stubs_out(match)
    _make_code(match)
    _doubt_inside(match)
    return match


class Match:
    """The pieces in the order of the file, and which of them were ``chosen`` for slots.

    ``dropped`` are those that are part of a locked cell, or a second copy of what was released or answered.
    """

    def __init__(self, released: Released, pieces: list[Piece]) -> None:
        self.released, self.slots, self.handout = released, released.slots, released.handout
        self.pieces = pieces
        self.dropped: set[Piece] = set()
        self.chosen: dict[Slot, Piece] = {}
        self.by_text: list[Slot] = []
        """Slots whose piece had nothing that identifies it, and another text than the released one."""
        self.notes: list[Note] = []
        self.unsure: list[Doubt] = []
        """Doubts that matching itself raises."""
        self.inside: dict[Slot, list[Piece]] = {}
        """By a locked cell whose lines were found, what stood between these."""
        self.apart: dict[int, list[Slot]] = {}
        """By the number of a cell, the locked cells that were found in it beside other text."""

    @property
    def extras(self) -> list[Piece]:
        """The student's own pieces."""
        taken = self.dropped.union(self.chosen.values())
        return [piece for piece in self.pieces if piece not in taken]

    def missing(self) -> list[Slot]:
        return [slot for slot in self.slots if slot not in self.chosen]

    def free(self) -> list[Piece]:
        """Pieces that may be any slot: those that do not say what they are."""
        return [p for p in self.extras if p.squeezed and p.copy_of is None and self.identified(p) is None]

    def is_blank(self, slot: Slot) -> bool:
        """Whether a slot for an answer has none."""
        return slot not in self.chosen or slot.is_stub(self.chosen[slot])

    def identified(self, piece: Piece) -> Slot | None:
        """The slot that a piece says it is."""
        return next((self.released.by_name[name] for name in piece.names if name in self.released.by_name), None)

    def between(self, slot: Slot, purposes: tuple[Purpose, ...] = ()) -> tuple[int, int]:
        """Between which places a slot's piece would stand, judged by others (of some purposes) that were not moved."""
        pairs = {pair: 1.0 for pair in self.chosen.items() if not purposes or pair[0].purpose in purposes}
        if not purposes:
            pairs |= {(anchor, piece): 1.0 for piece in self.extras if (anchor := self.identified(piece)) is not None}
        index = {piece: position for position, piece in enumerate(self.pieces)}
        chain = self.chain({pair: value for pair, value in pairs.items() if pair[0] is not slot})
        before = [index[piece] for anchor, piece in chain.items() if anchor.place < slot.place]
        after = [index[piece] for anchor, piece in chain.items() if anchor.place > slot.place]
        return max(before, default=-1), min(after, default=len(self.pieces))

    def was_handed_out(self, piece: Piece) -> bool:
        """Whether a piece is nothing but code that was released."""
        return bool(piece.code) and all(map(self.handout.has_code, piece.code))

    def is_answered(self, slot: Slot) -> bool:
        """Whether an answer is in its cell, or what it has to give in a cell of the student's own."""
        beside = [piece for piece in self.extras if piece.is_code and slot.own & piece.binds]
        return not self.is_blank(slot) or not all(map(self.was_handed_out, beside))

    def is_text_of_ones_own(self, piece: Piece, least: int = 20) -> bool:
        """Whether a piece is a text that a student may have written, also where it became a code cell."""
        if ADVERTISED.search(piece.source) or len(piece.squeezed) < least or is_front_matter(piece.source):
            return False
        if self.handout.has_text(piece.source):
            return False
        return is_prose(piece.source) if piece.is_code else not acts(piece.as_code)

    def is_anchored(self) -> bool:
        """Whether a cell of the assignment's that is not an answer is there as it was released."""
        return any(slot.squeezed == piece.squeezed != "" for slot, piece in self.chosen.items() if not slot.answers)

    def doubt(self, kind: str, *slots: Slot, **particulars: object) -> None:
        """Note that something else may have been meant by what became of some answers."""
        self.unsure.append(doubted(kind, *slots, **particulars))

    def chain(self, worth: dict[tuple[Slot, Piece], float]) -> dict[Slot, Piece]:
        """Choose pairs of a slot and a piece in the assignment's order, so that their worth is greatest."""
        index = {piece: position for position, piece in enumerate(self.pieces)}
        by_slot: dict[Slot, list[tuple[int, float]]] = {}
        for (slot, piece), value in worth.items():
            by_slot.setdefault(slot, []).append((index[piece], value))
        # best[n]: the most that the first n pieces are worth to the slots so far; of equals, the later piece.
        best, links = [0.0] * (len(self.pieces) + 1), []
        for slot in self.slots:
            reached, link = best.copy(), {}
            for position, value in sorted(by_slot.get(slot, ())):
                if best[position] + value >= reached[position + 1] - 1e-9:
                    reached[position + 1], link[position + 1] = best[position] + value, position
            for count in range(1, len(reached)):
                if reached[count - 1] > reached[count] + 1e-9:
                    reached[count], link[count] = reached[count - 1], -1
            links.append(link)
            best = reached
        chain, count = {}, len(self.pieces)
        for slot, link in zip(reversed(self.slots), reversed(links), strict=True):
            while link.get(count) == -1:
                count -= 1
            if count in link:
                count = link[count]
                chain[slot] = self.pieces[count]
        return chain


# Released text, word for word


def _take_exact_texts(match: Match) -> None:
    """Take locked, open and text cells that are there as they were released."""
    candidates = _pieces_with_released_text(match)
    claims = {(slot, piece): 1.0 for piece in match.pieces if (slot := match.identified(piece))}
    chain = match.chain(claims | {(slot, piece): 1.5 for slot, pieces in candidates.items() for piece in pieces})
    for slot, pieces in candidates.items():
        long = len(slot.squeezed) >= LEAST
        chosen = chain.get(slot)
        if chosen not in pieces:
            if chosen and chosen.squeezed:
                continue  # what says that it is the cell stands in its place; a copy elsewhere is the student's own
            sure = [piece for piece in pieces if long or match.identified(piece) is slot]
            chosen = next((piece for piece in sure if piece not in match.chosen.values()), None)
        if chosen is None:
            continue
        match.chosen[slot] = chosen
        if slot.locked and long:
            for piece in pieces:
                piece.copy_of = None if piece is chosen else piece.copy_of or slot


def _pieces_with_released_text(match: Match) -> dict[Slot, list[Piece]]:
    """By slot, the pieces that hold its released text: those that say they are it, else those that may be it.

    A cell that a student may edit is the piece that says so, whatever its text. A short text, or the text of two slots,
    tells nothing about a piece that says it is another slot. An answer cell with a pasted text stays an answer cell.
    """
    by_text: dict[str, list[Piece]] = {}
    for piece in match.pieces:
        by_text.setdefault(piece.squeezed, []).append(piece)
    amounts = Counter(slot.squeezed for slot in match.slots)
    claimed = set(map(match.identified, match.pieces))
    candidates: dict[Slot, list[Piece]] = {}
    for slot in match.slots:
        if slot.answers or (slot.squeezed == "" and slot.locked):
            continue
        same = [piece for piece in by_text.get(slot.squeezed, ()) if slot.squeezed or piece.is_code == slot.is_code]
        pieces = [piece for piece in same if match.identified(piece) is slot]
        if not pieces and (slot.locked or slot not in claimed):
            telling = len(slot.squeezed) >= LEAST and amounts[slot.squeezed] == 1
            owners = {piece: match.identified(piece) for piece in same}
            pieces = [piece for piece, owner in owners.items() if not owner or (telling and not owner.answers)]
        if pieces:
            candidates[slot] = pieces
    return candidates


# The lines of a locked cell in other cells


def _take_lines(match: Match, slot: Slot) -> None:
    """Find a locked cell whose lines stand, in order, in several pieces or inside a larger one.

    They are looked for between the cell's neighbours, and those of code then in the whole file.
    """
    claims = {number for number, piece in enumerate(match.pieces) if match.identified(piece) is slot and piece.squeezed}
    if len(slot.squeezed) < (1 if claims else LEAST_LINES):
        return
    low, high = match.between(slot)
    parts = _parts(match, slot, set(range(max(low, 0), min(high + 1, len(match.pieces)))))
    if not parts and slot.is_code and len(slot.squeezed) >= LEAST_LINES:
        parts = _parts_anywhere(match, slot, claims)
    if not parts:
        return
    _note_lines(match, slot, parts)
    first, last = min(parts), max(parts)
    cell = match.pieces[first].part(slot.source)
    above: list[Piece] = []
    below: list[Piece] = []
    begun = False
    for position in range(first, last + 1):
        piece = match.pieces[position]
        if position not in parts:
            below.append(piece)
            continue
        keep = match.identified(piece) is not slot  # the first part that is left of a cell stays what the cell was
        for is_slots, text in parts[position]:
            if is_slots:
                begun = True
                match.inside[slot] = below.copy()
            else:
                (below if begun else above).append(piece.part(text, keep))
                keep = False
    match.pieces[first : last + 1] = [*above, cell, *below]
    match.chosen[slot] = cell


Parts = dict[int, list[tuple[bool, str]]]
"""By place, the segments of a piece: whether it is a locked cell's, and its text."""


def _parts(match: Match, slot: Slot, places: set[int]) -> Parts:
    """The lines of a locked cell in pieces at some places; nothing where one of these may not be taken apart."""
    parts = _segmented(match, slot, places)
    whole = all(_may_be_taken_apart(match, slot, match.pieces[position], parts[position]) for position in parts)
    return parts if whole else {}


def _parts_anywhere(match: Match, slot: Slot, claims: set[int]) -> Parts:
    """The lines of a locked cell in the whole file, outside of pieces that may not be taken apart.

    Far from its place a line says less. So what says that it is the cell has to hold some of them, and they are not
    taken from the middle of what says something else.
    """
    places = set(range(len(match.pieces)))
    while parts := _segmented(match, slot, places):
        refused = {
            position
            for position, segments in parts.items()
            if not _may_be_taken_apart(match, slot, match.pieces[position], segments)
            or (position not in claims and sum(is_slots for is_slots, _ in segments) > 1)
        }
        if not refused and (not claims or claims & parts.keys()):
            return parts
        places -= refused or parts.keys()  # without what says that it is the cell, this is a copy of it
    return {}


def _segmented(match: Match, slot: Slot, places: set[int]) -> Parts:
    taken = set(match.chosen.values())
    pieces = {p: match.pieces[p] for p in sorted(places) if match.pieces[p].is_code == slot.is_code}
    lines_by_position = _lines_of(slot, {position: piece for position, piece in pieces.items() if piece not in taken})
    return {position: list(_segments(match.pieces[position], lines)) for position, lines in lines_by_position.items()}


def _lines_of(slot: Slot, pieces: dict[int, Piece]) -> dict[int, set[int]]:
    """By place, the lines of pieces that are the slot's, in its order, with as few others as can be between them."""
    stream = [(text, position, number) for position, piece in pieces.items() for number, text in piece.lines]
    indices: dict[str, list[int]] = {}
    for index, line in enumerate(stream):
        indices.setdefault(line[0], []).append(index)
    wanted = [text for _, text in lines_of(slot.source, slot.is_code)]
    best: list[int] = []
    for start in indices.get(wanted[0], ()):
        where: list[int] = []
        for text in wanted:
            line_indices = indices.get(text, ())
            next_index = bisect_left(line_indices, where[-1] + 1 if where else start)
            if next_index == len(line_indices):
                break
            where.append(line_indices[next_index])
        if len(where) < len(wanted):
            break  # and from a later start there is no more to come
        if not best or where[-1] - where[0] < best[-1] - best[0]:
            best = where
    taken: dict[int, set[int]] = {}
    for index in best:
        taken.setdefault(stream[index][1], set()).add(stream[index][2])
    return taken


def _segments(piece: Piece, slot_lines: set[int]) -> list[tuple[bool, str]]:
    """The lines of a piece, those that are the slot's apart from the others."""
    segments: list[tuple[bool, list[str]]] = []
    for number, line in enumerate(piece.source.splitlines()):
        is_slots = number in slot_lines if line.strip() or not segments else segments[-1][0]
        if not segments or segments[-1][0] != is_slots:
            segments.append((is_slots, []))
        segments[-1][1].append(line)
    texts = [(is_slots, "\n".join(lines).strip("\n")) for is_slots, lines in segments]
    return [(is_slots, text) for is_slots, text in texts if text.strip()]


def _may_be_taken_apart(match: Match, slot: Slot, piece: Piece, parts: list[tuple[bool, str]]) -> bool:
    """Whether what would be left of a piece is whole: an answer loses no line in its middle, nor all of itself."""
    rest = [text for is_slots, text in parts if not is_slots]
    owner = match.identified(piece)
    if owner and owner.answers and (not rest or sum(is_slots for is_slots, _ in parts) > 1):
        return False
    return not piece.is_code or not piece.is_python or not piece.runs or all(map(runs, rest))


def _note_lines(match: Match, slot: Slot, parts: Parts) -> None:
    for position, segments in parts.items():
        piece = match.pieces[position]
        if all(is_slots for is_slots, _ in segments):
            continue
        if match.identified(piece) is slot:
            match.notes.append(about("added_to", slot, names=(CALLED[slot.purpose],)))
        else:
            match.apart.setdefault(piece.number, []).append(slot)
    if len(parts) > 1:
        match.notes.append(about("split", slot, amount=len(parts)))


# A cell that was cut inside a block


def _join_parts(match: Match) -> None:
    """Make one piece of several that follow each other and are Python only together."""
    taken = set(match.chosen.values())
    pieces: list[Piece] = []
    left = match.pieces[::-1]
    while left:
        piece, parts = left.pop(), 0
        if piece.is_code and piece.squeezed and piece not in taken:
            below = list(takewhile(lambda part: part.is_code and part not in taken, left[: -MOST_PARTS - 1 : -1]))
            parts = next((n for n in range(len(below), 0, -1) if _is_one(match, [piece, *below[:n]])), 0)
        if parts:
            joined = [piece, *(left.pop() for _ in range(parts))]
            first = next((part for part in joined if match.identified(part)), piece)
            match.notes.append(Note("joined", numbers=tuple(dict.fromkeys(part.number for part in joined))))
            piece = replace(first, number=piece.number, source="\n".join(part.source for part in joined))
        pieces.append(piece)
    match.pieces[:] = pieces


def _is_one(match: Match, pieces: list[Piece]) -> bool:
    """Whether pieces are parts of one: where some say what they are, it is the same, and together they give it."""
    claims = [match.identified(piece) for piece in pieces]
    slots = {slot for slot in claims if slot}
    if len(slots) > 1 or not pieces[-1].squeezed or not pieces[-1].is_python:
        return False
    upper, lower = "\n".join(piece.source for piece in pieces[:-1]), pieces[-1].source
    if not claims[0] and any(slot.own.isdisjoint(bound_names(f"{upper}\n{lower}")) for slot in slots):
        return False
    return are_one(upper, lower)


def _doubt_inside(match: Match) -> None:
    """Doubt what is below a read-only cell, where code of the student's ran between its lines and does more than
    define: but for the assignment's cells that follow it, which run below it anyway."""
    owner = {piece: slot for slot, piece in match.chosen.items()}
    for slot, inside in match.inside.items():
        code = [piece for piece in inside if piece.is_code and owner.get(piece, slot).place <= slot.place]
        if slot.purpose == Purpose.READ_ONLY and slot.is_code and not all(only_defines(piece.source) for piece in code):
            below = [answer for answer in match.slots[slot.place :] if answer.purpose in ANSWERS and answer.is_code]
            match.unsure.append(Doubt(about("inside_given", slot, doubt=True), tuple(below)))


CALLED = {Purpose.READ_ONLY: "read-only cell", Purpose.TESTS: "test cell", Purpose.TASK: "question"}
"""By its purpose, what a locked cell is called."""


# Identity


def _take_identified(match: Match) -> None:
    claims: dict[Slot, list[Piece]] = {}
    for piece in match.extras:
        if (slot := match.identified(piece)) and piece.copy_of is None:
            if slot in match.chosen:
                piece.copy_of = slot
            else:
                claims.setdefault(slot, []).append(piece)
    for slot, pieces in claims.items():
        if slot.answers:
            match.chosen[slot] = _answer(match, slot, pieces)
        elif slot.locked:
            match.chosen[slot] = max(pieces, key=lambda piece: likeness(slot.source, piece.source))
            _take_rest_of_lines(match, slot)
        else:
            match.chosen[slot] = ([piece for piece in pieces if piece.squeezed] or pieces)[-1]
        for piece in pieces:
            piece.copy_of = None if piece is match.chosen[slot] else slot


def _answer(match: Match, slot: Slot, pieces: list[Piece]) -> Piece:
    """Choose one of the pieces that say they are an answer. Copies of it are dropped; other versions stay and run."""
    filled = [piece for piece in pieces if not slot.is_stub(piece)]
    if not filled:
        match.dropped |= set(pieces[1:])
        return pieces[0]
    chosen = ([piece for piece in filled if slot.own & piece.binds] or filled)[-1]
    copies = {piece for piece in filled if piece is not chosen and piece.squeezed == chosen.squeezed}
    stubs = set(pieces) - set(filled)
    match.dropped |= stubs | copies
    if any(piece.squeezed for piece in stubs):
        match.notes.append(about("released_twice", slot))
    if copies:
        match.notes.append(about("answered_twice", slot))
    if amount := len({piece.squeezed for piece in filled}) - 1:
        match.doubt("twice" if amount == 1 else "several", slot, amount=amount + 1)
    return chosen


def _take_rest_of_lines(match: Match, slot: Slot) -> None:
    """Drop the rest of a locked cell that was edited and split: pieces that hold only lines which the cell lacks."""
    position = match.pieces.index(match.chosen[slot])
    lines = Counter(map(squeezed, slot.source.splitlines())) - Counter(
        map(squeezed, match.chosen[slot].source.splitlines())
    )
    free = set(match.free())
    for step in (-1, 1):
        at = position + step
        while 0 <= at < len(match.pieces) and match.pieces[at] in free:
            piece_lines = Counter(filter(None, map(squeezed, match.pieces[at].source.splitlines())))
            if not piece_lines <= lines or len(match.pieces[at].squeezed) < LEAST:
                break
            match.dropped.add(match.pieces[at])
            match.notes.append(about("split", slot, amount=2))
            lines -= piece_lines
            at += step


# Likeness and place


def _take_likely(match: Match) -> None:
    """Take what resembles the slots that are still missing: in the assignment's order first."""
    if not match.missing():
        return
    free = match.free()
    worth = {
        (slot, piece): value
        for slot in match.missing()
        for piece in free
        if _may_be(match, slot, piece) and (value := evidence(slot, piece)) >= _enough(slot)
    }
    chain = match.chain(worth | dict.fromkeys(match.chosen.items(), 2.0))
    for slot in match.missing():
        if slot in chain:
            _accept(match, slot, chain[slot])
    for slot in [slot for slot in match.missing() if slot.purpose in ANSWERS and slot.own]:
        fitting = [p for p in match.free() if slot.own <= p.binds and _may_be(match, slot, p) and p.runs]
        if len(fitting) == 1:
            _accept(match, slot, fitting[0])
            match.doubt("taken_from_elsewhere", slot, numbers=(fitting[0].number,))
    for slot in [slot for slot in match.by_text if slot.purpose in ANSWERS]:
        _move_to_first(match, slot)
    gaps = {slot: match.between(slot) for slot in match.missing() if slot.answers or slot.purpose == Purpose.OPEN}
    for slot, gap in gaps.items():
        if sum(rival_gap == gap for rival, rival_gap in gaps.items() if rival.answers) <= slot.answers:
            _take_what_stands_there(match, slot, *gap)


def _move_to_first(match: Match, slot: Slot) -> None:
    """Let a piece that answers two exercises run at the first, whose tests ask for it before those of the second do.

    It stays where it uses at once what a cell between the two gives.
    """
    piece = match.chosen[slot]
    names, between = names_of(piece.source) if piece.is_python else None, set[str]()
    used = names.used if names else piece.uses
    for upper in reversed(match.slots[: slot.place]):
        between |= upper.gives
        between |= match.chosen[upper].gives if upper in match.chosen else set()
        answers = upper.purpose in ANSWERS and upper not in match.chosen and upper.own
        if answers and upper.own <= piece.binds - slot.own and (names or not piece.is_python) and not used & between:
            match.chosen[upper] = piece
            match.by_text[match.by_text.index(slot)] = upper
            del match.chosen[slot]
            slot = upper


def _leave_stubs_out(match: Match) -> None:
    """Released text is not an answer: a second copy of an answer's stub would undo the answer."""
    answered = [slot for slot in match.slots if slot.purpose in ANSWERS and slot.is_code and not match.is_blank(slot)]
    for piece in match.free():
        if stub := next((slot for slot in answered if slot.squeezed == piece.squeezed), None):
            match.dropped.add(piece)
            match.notes.append(about("released_twice", stub))


def _make_code(match: Match) -> None:
    """Make a piece code again if its slot is code and a program made it a text. nbgrader does so, too."""
    for slot, piece in match.chosen.items():
        if slot.is_code and not slot.locked and not piece.is_code:
            code = replace(piece, cell_type="code", source=piece.as_code, was=piece.cell_type)
            match.pieces[match.pieces.index(piece)] = match.chosen[slot] = code


def _may_be(match: Match, slot: Slot, piece: Piece) -> bool:
    """Whether a piece can be a slot at all: no locked cell is what gives more, no answer what was released."""
    if slot.locked:
        return not piece.is_code or piece.binds <= slot.gives
    if slot.answers:
        return slot.is_stub(piece) or not match.was_handed_out(piece)
    return piece.is_code == slot.is_code


def _enough(slot: Slot) -> float:
    return ENOUGH if slot.purpose in ANSWERS or slot.purpose == Purpose.OPEN else ENOUGH_OF_LOCKED


def _take_what_stands_there(match: Match, slot: Slot, low: int, high: int) -> None:
    """Take the one piece that stands where a slot would, whatever it says."""
    free = set(match.free())
    candidates = [p for p in match.pieces[low + 1 : high] if p in free and p.is_code == slot.is_code]
    if slot.is_code:
        candidates = [p for p in candidates if not ADVERTISED.search(p.source)]
    else:
        candidates = [p for p in candidates if match.is_text_of_ones_own(p, least=3) and match.is_anchored()]
    if len(candidates) == 1:
        _accept(match, slot, candidates[0])


def _accept(match: Match, slot: Slot, piece: Piece) -> None:
    match.chosen[slot] = piece
    if piece.squeezed != slot.squeezed:
        match.by_text.append(slot)


def evidence(slot: Slot, piece: Piece) -> float:
    """How much a piece looks like a slot's, from 0 to 1, and more for a stub.

    The weights were set by hand on the manglings of ``tests/mangling.py`` and on notebooks of 129 people, so that what
    tells more weighs more: a function of the expected name, the names that tests ask for, a line of the stub, likeness.
    """
    if slot.answers and slot.is_stub(piece):
        return 1.2  # where a stub was left, it is the answer's cell, and what stands beside it is the student's own
    if piece.squeezed == slot.squeezed:
        return 1.0
    alike = likeness(slot.source, piece.source)
    if slot.purpose in ANSWERS and slot.is_code:
        return _evidence_of_answer(slot, piece, alike)
    if slot.answers:
        return 0.7 * alike if piece.cell_type == slot.cell.cell_type else 0.0
    return alike if piece.cell_type == slot.cell.cell_type else alike - 0.1


def _evidence_of_answer(slot: Slot, piece: Piece, alike: float) -> float:
    if not piece.is_code and not acts(piece.as_code):
        return 0.0  # a written answer mentions the names too
    if names := slot.defines & piece.binds:
        return 0.7 + 0.3 * len(names) / len(slot.defines)
    if slot.defines:
        return 0.5 * alike
    marked = 0.9 if slot.mark and slot.mark in piece.source else 0.0
    if expected := slot.expects & piece.binds:
        # Names that no test asks for count neither way. An answer above may give an expected name, too.
        return max(marked, 0.55 + 0.45 * len(expected) / len(slot.expects) - 0.05 * (not slot.own & piece.binds))
    mentioned = ENOUGH if slot.own & set(NAME.findall(piece.source[:LONGEST])) else 0.0
    return max(marked, mentioned, 0.6 * alike)
