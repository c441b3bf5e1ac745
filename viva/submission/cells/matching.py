"""Which cell of a submission is which cell of the assignment.

Theory of operation. What is certain goes first. What is left is told by what it says (a function of the expected name,
the names that the tests ask for, likeness to the released text) and by where it stands between the cells that are
known. A piece that holds several slots is cut; pieces that only together are an answer are joined. No slot gets a piece
without evidence; a piece that nothing claims stays an ordinary cell of the student's. Then come, for slots that are
still blank or lack a name, the places where nobody would look. Whoever copies a test cell's identity onto another cell
gains nothing: locked cells get the released text whatever their piece says.
"""

from __future__ import annotations

from collections.abc import Callable

from viva.submission.cells.certain import take_exact_texts, take_identified
from viva.submission.cells.fragments import join_parts, take_code_out_of_texts, take_out_released_texts
from viva.submission.cells.likely import cut_answers, take_likely
from viva.submission.cells.match import Match
from viva.submission.cells.misplaced import complete, leave_copies_out, lift, look_below_stubs, take_from_locked
from viva.submission.cells.places import Piece, Released

STEPS: tuple[Callable[[Match], None], ...] = (
    take_code_out_of_texts,
    take_out_released_texts,
    take_exact_texts,
    join_parts,
    take_identified,
    take_likely,
    cut_answers,
    take_from_locked,
    look_below_stubs,
    complete,
    leave_copies_out,
    *(lift, lift, lift),  # what an answer uses may use another cell in its turn
)


def matched(released: Released, pieces: list[Piece]) -> Match:
    """The pieces of a submission with the slots that they were found for."""
    match = Match(released, pieces)
    for step in STEPS:
        step(match)
    return match
