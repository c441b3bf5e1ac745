"""What is told by what a piece says, and by where it stands between those that are known.

A piece that holds several answers is cut. No slot gets a piece without evidence.
"""

from __future__ import annotations

from viva.engine.blueprint import ANSWERS
from viva.submission.cells.evidence import ENOUGH, ENOUGH_OF_LOCKED, IN_PLACE, evidence
from viva.submission.cells.handout import is_as
from viva.submission.cells.joins import is_clear, parted
from viva.submission.cells.match import ADVERTISED, Match
from viva.submission.cells.places import LOCKED, Piece, Slot, about


def take_likely(match: Match) -> None:
    """Take what resembles the slots that are still missing: in the assignment's order first, then what was moved."""
    if not match.missing():
        return
    worth = {
        (slot, piece): value
        for slot in match.missing()
        for piece in match.free(slot)
        if not _answers_instead(match, slot, piece) and (value := evidence(slot, piece)) + IN_PLACE >= _enough(slot)
    }
    known = dict.fromkeys(match.chosen.items(), 2.0)
    chain = match.chain(worth | known)
    for slot in match.missing():
        if slot in chain:
            _accept(match, slot, chain[slot])
    # A part of the cell above is likelier than one that would have been moved.
    cut_answers(match, named=True)
    index = {piece: place for place, piece in enumerate(match.pieces)}
    # What was moved; of several that are equally good, the later one.
    moved = [pair for pair in worth.items() if pair[0][1] in index]
    for (slot, piece), value in sorted(moved, key=lambda pair: (-pair[1], -index[pair[0][1]])):
        if value >= _enough(slot) and slot not in match.chosen and piece not in match.taken():
            _accept(match, slot, piece)
    for slot in match.missing():
        _take_what_stands_there(match, slot)


def _answers_instead(match: Match, slot: Slot, piece: Piece) -> bool:
    """Whether a piece gives what an answer has to give, and nothing of what this locked cell gives."""
    asked = set().union(*(other.own for other in match.slots if other.purpose in ANSWERS))
    return slot.purpose in LOCKED and bool(asked & piece.binds) and not slot.gives & piece.binds


def _enough(slot: Slot) -> float:
    return ENOUGH if slot.purpose in ANSWERS or slot.purpose == "open" else ENOUGH_OF_LOCKED


def _take_what_stands_there(match: Match, slot: Slot) -> None:
    """For a slot that nothing resembles: the one piece in its place."""
    low, high = match.between(slot)
    there = [piece for piece in match.free(slot) if piece in match.pieces[low + 1 : high]]
    same = [piece for piece in there if piece.squeezed == slot.squeezed]
    if same:
        match.chosen[slot] = same[0]
    elif slot.answers or slot.purpose == "open":
        there = [piece for piece in there if not ADVERTISED.search(piece.source)]
        fitting = [piece for piece in there if piece.cell_type == slot.cell.cell_type]
        rivals = [other for other in match.missing() if other.answers and match.between(other) == (low, high)]
        if slot.written:
            fitting = _written_for(match, slot, there)
        if fitting and (slot.written or rivals == [slot]):
            # These run here whichever is taken; the released stub must not undo them.
            piece = max(reversed(fitting), key=lambda piece: evidence(slot, piece))
            _accept(match, slot, piece)
            if len(fitting) > 1 and slot.own and not slot.own & piece.binds:
                match.doubt("any_of", slot, numbers=(piece.number,), amount=len(fitting))


def _written_for(match: Match, slot: Slot, there: list[Piece]) -> list[Piece]:
    """The texts that may be a written answer, of those ``there`` where it would stand.

    Below its question it may be short. Where that is gone only the one text that there is: a text says nothing
    about itmatch. Where all of the assignment's cells are, it can be of any book.
    """
    own = [piece for piece in match.free(slot) if match.is_text_of_ones_own(piece)]
    there = [piece for piece in there if match.is_text_of_ones_own(piece, least=20 if piece.cell_type == "code" else 3)]
    if any(other.purpose == "task" and other in match.chosen for other in match.slots[: slot.place]) and there:
        return there
    return own if len(own) == 1 and match.is_anchored() else []


def _accept(match: Match, slot: Slot, piece: Piece) -> None:
    match.chosen[slot] = piece
    if piece.squeezed != slot.squeezed:
        match.by_text.append(slot)


def cut_answers(match: Match, named: bool = False) -> None:
    """Take answers apart that stand in one cell, where the cell of one is missing or was left as released.

    ``named``: only such as give a name that their tests ask for.
    """
    slots = [slot for slot in match.slots if slot.purpose in ANSWERS and slot.cell.cell_type == "code"]
    for keeper in slots:
        blank = [slot for slot in slots if match.is_blank(slot)]
        if keeper in blank or not blank:
            continue
        piece = match.chosen[keeper]
        place = slots.index(keeper)
        near = [keeper]
        for step in (-1, 1):
            index = place + step
            while 0 <= index < len(slots) and slots[index] in blank:
                near.append(slots[index])
                index += step
        near.sort(key=slots.index)
        unnamed = [slot for slot in near if slot not in match.chosen and abs(slots.index(slot) - place) == 1]
        far = [slot for slot in blank if slot not in near and slot.own <= piece.binds]
        groups = [near, near[::-1], *([keeper, slot] for slot in far), *([slot, keeper] for slot in far)]
        found = [parted(group, piece.source, keeper, unnamed * (group is near and not named)) for group in groups]
        parts = max(found, key=len)
        if parts:
            _take_parts(match, piece, keeper, parts)


def _take_parts(match: Match, piece: Piece, keeper: Slot, parts: dict[Slot, str]) -> None:
    slots = sorted(parts, key=lambda slot: slot.place)
    cut = {"numbers": (piece.number,), "amount": len(parts)}
    if is_clear(parts) or all(is_as(text, slot.source) for slot, text in parts.items()):
        match.notes.append(about("cut", *slots, **cut))
    else:
        match.doubt("cut_anywhere", *slots, **cut)
    where = match.pieces.index(piece)
    for slot in parts:
        if slot is not keeper and slot in match.chosen:
            match.dropped.add(match.chosen[slot])
        match.chosen[slot] = piece.part(parts[slot], keep=slot is keeper)
    match.pieces[where : where + 1] = [match.chosen[slot] for slot in parts]
