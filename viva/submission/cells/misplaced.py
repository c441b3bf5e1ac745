"""Answers that stand where nobody would look: in a given cell, beside their stub, in two cells, or twice."""

from __future__ import annotations

from collections import Counter

from viva.engine.blueprint import ANSWERS
from viva.record import Note
from viva.submission.cells.handout import trees
from viva.submission.cells.joins import code_in, statements
from viva.submission.cells.match import Doubt, Match
from viva.submission.cells.places import LOCKED, Piece, Slot, about
from viva.submission.cells.texts import bound_names, names_read, parses


def take_from_locked(match: Match) -> None:
    """Take an answer that stands nowhere else out of a given cell that was edited."""
    for slot in [slot for slot in match.missing() if slot.purpose in ANSWERS and slot.own]:
        for other, piece in list(match.chosen.items()):
            if other.purpose in LOCKED and piece.squeezed != other.squeezed and slot.own <= piece.binds:
                parts = statements(piece.source)
                mine = [slot.own & bound_names(part) and not match.handout.has_code(part) for part in parts]
                start = next((at for at, part in enumerate(parts) if mine[at]), len(parts))
                if text := "\n".join(parts[start:]).strip("\n"):
                    rest = piece.part("\n".join(parts[:start]), keep=True)
                    match.chosen[other], match.chosen[slot] = rest, piece.part(text)
                    where = match.pieces.index(piece)
                    match.pieces[where : where + 1] = [rest, match.chosen[slot]]
                    match.unsure.append(Doubt(about("in_given", slot, other, doubt=True), (slot,)))
                    break


def look_below_stubs(match: Match) -> None:
    """Where a stub was left as it was and the answer stands in a cell beside it, take that."""
    for slot in match.slots:
        stub, far = match.chosen.get(slot), None
        if stub is None or not slot.answers or not match.is_blank(slot):
            continue
        code = slot.cell.cell_type == "code"
        low, high = match.between(slot, ANSWERS if code else ())
        there = [piece for piece in match.free(slot) if piece in match.pieces[low + 1 : high]]
        if code:
            there = [piece for piece in there if slot.own & piece.binds and code_in(piece) == piece.source]
            if not there and len(far := _only_answer_to(match, slot)) == 1:
                there = far
            if not there and slot.purpose == "manual":
                low = match.pieces.index(stub)
                high = min(high, match.between(slot)[1])
                there = [p for p in match.pieces[low + 1 : high] if p in match.free(slot) and p.cell_type == "code"]
        else:
            there = [piece for piece in there if match.is_text_of_ones_own(piece, least=1)]
        if there:
            best = max(len(slot.own & piece.binds) for piece in there)
            match.chosen[slot] = [piece for piece in there if len(slot.own & piece.binds) == best][-1]
            if not code or not stub.squeezed or trees(stub.source):  # a comment alone stays as a cell of its own
                match.dropped.add(stub)
            if there is far:
                match.doubt("beside_stub_far", slot)
            elif len(there) == 1:
                match.notes.append(about("beside_stub", slot))
            else:
                match.doubt("beside_stub_several", slot, amount=len(there))


def _only_answer_to(match: Match, slot: Slot) -> list[Piece]:
    """The cells that give all that is asked of an answer, wherever they stand."""
    return [p for p in match.free(slot) if p.cell_type == "code" and slot.own and slot.own <= p.binds]


def complete(match: Match) -> None:
    """Join an answer with the one cell that gives names which it lacks, where that cell cannot run."""
    for slot in [slot for slot in match.slots if slot.purpose in ANSWERS and slot.own and not match.is_blank(slot)]:
        piece = match.chosen[slot]
        if piece.cell_type != "code" or not (missing := match.lacking(slot)):
            continue
        rest = [other for other in match.free(slot) if other.cell_type == "code" and missing & other.binds]
        if len(rest) != 1 or not _stands_wrong(match, rest[0], slot):
            continue
        pair = sorted([piece, rest[0]], key=match.pieces.index)
        if piece.words & rest[0].binds:
            pair = [rest[0], piece]
        whole = piece.part("\n".join(part.source for part in pair), keep=True)
        whole.parts = piece.parts + rest[0].parts
        match.pieces[match.pieces.index(piece)] = match.chosen[slot] = whole
        match.dropped.add(rest[0])
        match.doubt("completed", slot, numbers=(rest[0].number,))


def _stands_wrong(match: Match, piece: Piece, slot: Slot) -> bool:
    """Whether a piece stands below the tests of an answer, or above a cell that alone gives it a name it uses."""
    place = match.pieces.index(piece)
    tests = [other for other in match.slots if other.place > slot.place and other.purpose == "tests"]
    if any(match.pieces.index(match.chosen[test]) < place for test in tests[:1] if test in match.chosen):
        return True
    above = set().union(*(other.binds for other in match.pieces[:place]))
    below = {name for other in match.chosen.values() if match.pieces.index(other) > place for name in other.binds}
    needs = piece.uses if parses(piece.source) else piece.words
    return bool(needs & below - above - piece.binds)


def leave_copies_out(match: Match) -> None:
    """A second copy of an answer would do again what the answer changes in place, and one of its stub undo it."""
    for slot in [slot for slot in match.slots if slot.purpose in ANSWERS and not match.is_blank(slot)]:
        for piece in match.extras:
            if piece.squeezed == slot.squeezed:
                match.dropped.add(piece)
                match.notes.append(about("released_twice", slot))
            elif piece.squeezed == match.chosen[slot].squeezed and (piece.copy_of is slot or len(piece.squeezed) > 40):
                match.dropped.add(piece)
                match.notes.append(about("answered_twice", slot))


def lift(match: Match) -> None:
    """Put a cell of the student's own above the answer that needs it, when nothing else gives any of its names.

    So a student ran them, in an order that the notebook does not have.
    """
    users = [slot for slot in match.slots if slot.purpose in ANSWERS and not match.is_blank(slot)]
    users = {*(match.chosen[slot] for slot in users), *match.free()}
    given = Counter(name for each in (*match.slots, *match.pieces) for name in each.gives)
    for piece in match.free():
        if piece.gives and all(given[name] == 1 for name in piece.gives):
            above = match.pieces[: match.pieces.index(piece)]
            user = next((user for user in above if user in users and piece.gives & user.words & user.uses), None)
            if user and _runs_before(match, user, piece):
                match.pieces.remove(piece)
                match.pieces.insert(match.pieces.index(user), piece)
                match.notes.append(Note("lifted", numbers=(piece.number, user.number)))


def _runs_before(match: Match, user: Piece, piece: Piece) -> bool:
    """Whether something from ``user`` to ``piece`` needs what the latter gives before a function is called."""
    between = match.pieces[match.pieces.index(user) : match.pieces.index(piece)]
    code = [each for each in between if each.cell_type == "code"]
    given = piece.gives.union(*(each.binds for each in code))
    return any((names := names_read(each.source)) is None or given & (names.used - names.given) for each in code)
