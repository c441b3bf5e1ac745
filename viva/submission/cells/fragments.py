"""Cells that are not what they were: code in texts, released texts merged with others, code split in the middle."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from viva.engine.blueprint import ANSWERS
from viva.record import Note
from viva.submission.cells.joins import goes_on, groups_of, runs_of, segments, unfenced, unfolded
from viva.submission.cells.match import Match
from viva.submission.cells.places import LOCKED, Piece, Slot, about
from viva.submission.cells.texts import bound_names, is_definition, looks_like_code, parses


def take_code_out_of_texts(match: Match) -> None:
    """Where no code gives a name of some answer, and blocks of code in a text do, take these out of it."""
    answers = [slot for slot in match.slots if slot.purpose in ANSWERS and slot.cell.cell_type == "code"]
    stubs = {slot.squeezed for slot in answers}
    code = [piece for piece in match.pieces if piece.cell_type == "code" and piece.squeezed not in stubs]
    given = set().union(*(piece.binds for piece in code))
    wanted = set().union(*(slot.own for slot in answers if not slot.own & given))
    for piece in [piece for piece in match.pieces if wanted and piece.cell_type != "code"]:
        if parses(piece.source) and looks_like_code(piece.source):
            continue  # it is code as a whole
        parts = unfolded(piece)
        for part in parts:
            part.cell_type = piece.cell_type if match.handout.has_code(part.source) else part.cell_type
        if len(parts) > 1 and any(part.cell_type == "code" and wanted & part.binds for part in parts):
            match.notes.append(Note("code_in_text", numbers=(piece.number,)))
            place = match.pieces.index(piece)
            match.pieces[place : place + 1] = parts


def take_out_released_texts(match: Match) -> None:
    """Take cells apart that hold lines of a locked cell beside others, or of a text that stands nowhere else."""
    whole = {piece.squeezed for piece in match.pieces}
    lost = [slot for slot in match.slots if slot.purpose in (*LOCKED, "text")]
    lost = [slot for slot in lost if len(slot.squeezed) >= 20 and slot.squeezed not in whole]
    if not lost:
        return
    runs = runs_of(lost, match.pieces)
    runs = {slot: run for slot, run in runs.items() if _is_cut(match, slot, match.pieces[run[0][0]])}
    owners: dict[int, dict[int, Slot]] = {}
    for slot, run in runs.items():
        for place, line in run:
            owners.setdefault(place, {})[line] = slot
        if parts := len({place for place, _ in run}) - 1:
            match.notes.append(about("split", slot, amount=parts + 1))
    parts, done = [], set()
    for place, piece in enumerate(match.pieces):
        found = list(dict.fromkeys(owners.get(place, {}).values()))
        cut = list(segments(piece, owners[place])) if found else []
        if len(cut) > 1:
            match.notes.append(about("with_released", *found, numbers=(piece.number,)))
        rest = [_rest(piece, text) for slot, text in cut if slot is None]
        _leave_identity(match, piece, rest, found)
        if len(rest) == 1:
            rest[0].apart = piece.apart  # released texts were taken out, and what is left was cut nowhere
        for slot, _ in cut:
            if slot is None:
                parts.append(rest.pop(0))
            elif slot not in done:
                own = piece.part(slot.source)
                own.cell_type, own.grade_id = slot.cell.cell_type, slot.name
                parts.append(own)
                done.add(slot)
        parts += [] if cut else [piece]
    match.pieces = parts


def _is_cut(match: Match, slot: Slot, piece: Piece) -> bool:
    if slot.purpose in LOCKED:
        return True
    # A student may add to a text, which is not locked; only what was merged with another cell is taken apart.
    own = match.identified(piece)
    if own is not slot:
        return own is not None or bool(piece.binds)
    claimed = {match.identified(other) for other in match.pieces}
    lost = [other for other in match.slots if other.purpose in ANSWERS and other not in claimed]
    return any(other.own & piece.binds or (other.mark and other.mark in piece.source) for other in lost)


def _rest(piece: Piece, source: str) -> Piece:
    rest = unfenced(piece.part(source, keep=True))
    if rest.cell_type == "markdown" and looks_like_code(source):
        rest.cell_type = "code"
    return rest


def _leave_identity(match: Match, piece: Piece, rest: list[Piece], found: list[Slot]) -> None:
    """Of what is left of a cell, only the first stays what the cell was, unless that was found in it."""
    for part in rest if match.identified(piece) in found else rest[1:]:
        part.grade_id, part.ids, part.cell_id, part.attachments = "", (), "", None


def join_parts(match: Match) -> None:
    """Join code that was split in the middle of a statement, or of a block; pieces that were taken are whole."""
    taken = match.taken()
    _move_left(match)
    free = [piece for piece in match.pieces if piece.squeezed and piece not in taken]
    code = [piece for piece in free if piece.cell_type == "code" or goes_on(piece) or _begins_code(piece.source)]
    for group in groups_of(code):
        said = {slot for piece in group if (slot := match.identified(piece)) and slot.purpose in ANSWERS}
        if len(group) > 1 and len(said) < 2:  # two answers are no halves of one
            match.whole(group)


def _move_left(match: Match) -> None:
    """Take the indentation off a whole answer in its own cell, as IPython does: it is no half of another."""
    for place, piece in enumerate(match.pieces):
        slot = match.identified(piece)
        if slot and slot.purpose in ANSWERS and slot.own and piece.cell_type == "code" and goes_on(piece):
            text = textwrap.dedent(piece.source)
            if parses(text) and slot.own <= bound_names(text):
                match.pieces[place] = replace(piece, source=text)


def _begins_code(source: str) -> bool:
    """Whether a text is code, or the beginning of a function."""
    return is_definition(source) or looks_like_code(source)
