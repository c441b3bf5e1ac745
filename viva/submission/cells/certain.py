"""What is certain: the text of a locked cell, word for word; nbgrader's grade id; the cell's id, as Colab keeps it."""

from __future__ import annotations

from viva.engine.blueprint import ANSWERS
from viva.submission.cells.joins import goes_on
from viva.submission.cells.match import Match
from viva.submission.cells.places import LOCKED, Piece, Slot
from viva.submission.cells.texts import likeness


def take_exact_texts(match: Match) -> None:
    """Take locked cells and texts that are there word for word."""
    same: dict[Slot, list[Piece]] = {}
    texts = [slot.squeezed for slot in match.slots]
    by_text: dict[str, list[Piece]] = {}
    for piece in match.pieces:
        by_text.setdefault(piece.squeezed, []).append(piece)
    for slot in match.slots:
        if slot.purpose not in (*LOCKED, "text") or len(slot.squeezed) < 10:
            continue
        found = by_text.get(slot.squeezed, [])
        if slot.purpose == "text" and any(
            match.identified(piece) is slot for piece in match.pieces if piece not in found
        ):
            continue
        twins = texts.count(slot.squeezed)
        mine = [piece for piece in found if match.identified(piece) is slot]
        if not mine and twins == 1:
            # An answer cell into which a student pasted this text stays an answer cell.
            mine = [piece for piece in found if not (other := match.identified(piece)) or other.purpose not in ANSWERS]
        if mine:
            same[slot] = mine
    chain = match.chain({(slot, piece): 1.0 for slot, found in same.items() for piece in found})
    for slot, found in same.items():
        match.chosen[slot] = chain.get(slot, found[0])
        for piece in found:
            piece.copy_of = None if piece is match.chosen[slot] else slot


def take_identified(match: Match) -> None:
    """Take the pieces that say which slot they are."""
    claims: dict[Slot, list[Piece]] = {}
    for piece in match.pieces:
        slot = match.identified(piece)
        if slot and piece not in match.taken() and piece.copy_of is None:
            if slot in match.chosen:
                piece.copy_of = slot
            else:
                claims.setdefault(slot, []).append(piece)
    _doubt_names(match, claims)
    for slot, pieces in claims.items():
        if pieces:
            _choose(match, slot, pieces)


def _doubt_names(match: Match, claims: dict[Slot, list[Piece]]) -> None:
    """Take no cell's word for it that gives none of its slot's names, and all of one that nobody else gives.

    So it is when an answer cell was copied to type another answer into it, or answers changed places.
    """
    answers = [slot for slot in match.slots if slot.purpose in ANSWERS and slot.cell.cell_type == "code" and slot.own]
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
                match.doubt("changed_places", slot, others[0], numbers=(piece.number,))


def _choose(match: Match, slot: Slot, pieces: list[Piece]) -> None:
    """One of the pieces that all say they are the slot; the others stay as the student's own."""
    if slot.purpose in LOCKED:
        chosen = max(pieces, key=lambda piece: likeness(slot.source, piece.source))
    else:
        filled = [piece for piece in pieces if piece.squeezed not in ("", slot.squeezed)]
        match.dropped |= set(pieces) - set(filled)
        groups = _alternatives(match, filled) if filled else [pieces[:1]]
        match.dropped -= set(groups[-1])
        if len({"".join(piece.squeezed for piece in group) for group in groups}) > 1:
            match.doubt("twice" if len(groups) == 2 else "several", slot, amount=len(groups))
        chosen = _joined(match, slot, groups[-1])
    match.chosen[slot] = chosen
    for piece in pieces:
        if piece is not chosen:
            piece.copy_of = slot


def _alternatives(match: Match, pieces: list[Piece]) -> list[list[Piece]]:
    """Copies apart, the parts of one answer together."""
    groups = [[pieces[0]]]
    for piece in pieces[1:]:
        before = groups[-1][-1]
        adjacent = match.pieces.index(piece) == match.pieces.index(before) + 1
        binds = set().union(*(other.binds for other in groups[-1]))
        copy = likeness(before.source, piece.source) >= 0.6 or binds & piece.binds
        if adjacent and (goes_on(piece) or not copy):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _joined(match: Match, slot: Slot, pieces: list[Piece]) -> Piece:
    between = "\n" if slot.cell.cell_type == "code" else "\n\n"
    return pieces[0] if len(pieces) == 1 else match.whole(pieces, between)
