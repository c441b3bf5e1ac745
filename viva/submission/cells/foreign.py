"""Answers that fit to another place than the grader's: to another platform, or to given cells as they were edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from viva.engine.blueprint import ANSWERS
from viva.record import note
from viva.submission.cells.match import Doubt, Match
from viva.submission.cells.neverrun import of_platform
from viva.submission.cells.places import LOCKED, Piece, Slot
from viva.submission.cells.texts import NAME, given_names, names_read, words


def tests_of(slots: list[Slot], answer: Slot) -> list[str]:
    """The cells that earn an answer's points: its question, the tests up to the next answer, those that name it."""
    if answer.purpose == "manual":
        return [answer.name]
    if answer.written:
        return [slot.name for slot in slots if slot.purpose == "task" and slot.place < answer.place][-1:]
    after = [slot for slot in slots if slot.place > answer.place]
    until = next((slot.place for slot in after if slot.purpose in ANSWERS), len(slots))
    tests = [slot for slot in after if slot.purpose == "tests"]
    return [slot.name for slot in tests if slot.place < until or answer.own & set(NAME.findall(slot.source))]


def foreign(matching: Match, kept: Iterable[str]) -> Iterator[Doubt]:
    """The doubts about them. What was ``kept`` below given cells is the student's own code, too."""
    answers = [slot for slot in matching.slots if slot.purpose in ANSWERS and slot.cell.cell_type == "code"]
    yield from _below_platform(matching, [slot for slot in answers if slot in matching.chosen])
    yield from _edited(matching, answers, set().union(*map(given_names, kept)))


def _below_platform(matching: Match, answered: list[Slot]) -> Iterator[Doubt]:
    """Answers that use what a cell of the student's own gives below a line that could not run."""
    for piece in [piece for piece in matching.extras if piece.cell_type == "code"]:
        platform, below = of_platform(piece.source)
        every = (*matching.slots, *matching.extras, *matching.chosen.values())
        others = [other for other in every if other is not piece]
        names = given_names(below).difference(*(other.gives for other in others)) if platform else set()
        if users := tuple(slot for slot in answered if names & _needed(matching.chosen[slot])):
            yield Doubt(note("own_platform", platform, numbers=(piece.number,), doubt=True), users)


def _edited(matching: Match, answers: list[Slot], kept: set[str]) -> Iterator[Doubt]:
    """Answers that fit to given cells and tests as they were edited, and not to those that were put back."""
    locked = [(slot, piece) for slot, piece in matching.chosen.items() if slot.purpose in LOCKED]
    edited = {slot: piece for slot, piece in locked if piece.cell_type == "code" and piece.squeezed != slot.squeezed}
    own = [*matching.extras, *(piece for slot, piece in matching.chosen.items() if slot.purpose not in LOCKED)]
    for slot in answers if edited else ():
        piece = matching.chosen.get(slot)
        if piece is None or matching.is_blank(slot):
            continue
        given = kept.union(*(each.gives for each in (*matching.slots, *own) if each is not piece))
        for other, text in edited.items():
            if names := _needed(piece) & text.gives - given:
                yield Doubt(note("uses_edited", *sorted(names), cells=(slot.name, other.name), doubt=True), (slot,))
        tests = tests_of(matching.slots, slot)
        asked = [edited[other].words - words(other.source) for other in edited if other.name in tests]
        new = piece.binds.intersection(set().union(*asked))
        if new and matching.lacking(slot):
            yield Doubt(note("renamed", *sorted(new), cells=(slot.name,), doubt=True), (slot,))


def _needed(piece: Piece) -> set[str]:
    """The names that a cell uses, also where it gives them anew."""
    names = names_read(piece.source)
    return names.needed if names else set()
