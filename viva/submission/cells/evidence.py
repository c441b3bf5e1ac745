"""How much a piece looks like a slot's, from 0 to 1, and from where on it is taken for it.

The weights were set by hand on the manglings of ``tests/mangling.py`` and on notebooks of 129 people, so that what
tells more weighs more: a function of the expected name, the names that tests ask for, a line of the stub, likeness.
"""

from __future__ import annotations

from viva.engine.blueprint import ANSWERS
from viva.submission.cells.places import Piece, Slot
from viva.submission.cells.texts import LONGEST, NAME, likeness, looks_like_code

ENOUGH = 0.6
"""Evidence from which a piece is taken for an answer, or for a cell that is not locked."""
ENOUGH_OF_LOCKED = 0.75
"""And for a locked cell, which nobody had a reason to change."""
IN_PLACE = 0.2
"""What standing in the right place adds."""
DEFINES, ALL_DEFINED = 0.7, 0.3
"""A piece that defines a function of the expected name, and how much more it is where it defines all of them."""
BINDS, ALL_BOUND = 0.55, 0.45
"""The same of the names that tests ask for,"""
BINDS_OF_OTHERS = 0.05
"""less this where an answer above gives all of those, too."""
MARKED = 0.9
"""A piece in which the first line of the stub stands."""
MENTIONED = ENOUGH - IN_PLACE
"""A piece that mentions a name of the answer's own: enough in the right place."""
ALIKE_FUNCTION, ALIKE, ALIKE_IN_WORDS = 0.5, 0.6, 0.7
"""The weight of likeness to a stub that defines a function, to another, and to that of a written answer."""
OTHER_TYPE = 0.1
"""What a locked cell loses that became one of another type."""


def evidence(slot: Slot, piece: Piece) -> float:
    """How much a piece looks like a slot's."""
    if piece.squeezed == slot.squeezed:
        return 1.0
    alike = likeness(slot.source, piece.source)
    if slot.purpose in ANSWERS and slot.cell.cell_type == "code":
        return _of_code(slot, piece, alike)
    if slot.answers:
        return ALIKE_IN_WORDS * alike if piece.cell_type == slot.cell.cell_type else 0.0
    return alike if piece.cell_type == slot.cell.cell_type else alike - OTHER_TYPE


def _of_code(slot: Slot, piece: Piece, alike: float) -> float:
    if names := slot.defines & piece.binds:
        return DEFINES + ALL_DEFINED * len(names) / len(slot.defines)
    if piece.cell_type != "code" and not looks_like_code(piece.source):
        return 0.0  # a written answer mentions the names too
    if slot.defines:
        return ALIKE_FUNCTION * alike
    marked = MARKED if slot.mark and slot.mark in piece.source else 0.0
    if names := slot.expects & piece.binds:
        # What a piece binds beside what tests ask for is its own affair.
        share = len(names) / len(slot.expects)
        return max(marked, BINDS + ALL_BOUND * share - BINDS_OF_OTHERS * (not slot.own & piece.binds))
    mentioned = MENTIONED if slot.own & set(NAME.findall(piece.source[:LONGEST])) else 0.0
    return max(marked, mentioned, ALIKE * alike)
