"""A second look at the checks that a refusal cost: in one process, with the lines of the tests that students may read.

Where the solution gave plain data an object is refused, and so is what passes every comparison, as a missing value of
pandas. Such an answer may be right where it was written: an object that can be unpacked, say, in place of a list. So
the submission runs once more, in one process, as stock nbgrader runs it. What the visible lines refuse there as well
is wrong. Of what they accept a grader decides: an object can say of itself that it equals everything.

The same holds where a test says that a plain value lacks what it asks for: the value may have crossed as less than it
was, as an ``array.array`` does, which is a list here. Or a value was one of a class and came as that of its base, as of
a list with an attribute ``shape``. Or the test may have changed a copy, as of a list where the solution gave a deque.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import replace

from viva.engine.blueprint import Cell
from viva.engine.checks import HIDDEN, Check, visible_and_hidden
from viva.engine.examination import Examination
from viva.engine.outcome import Outcome
from viva.notebook.cell import Purpose
from viva.record import CheckResult, Note
from viva.verdict import Verdict

REFUSED = frozenset({"not_plain", "lied"})
"""The causes of checks that were lost by a refusal."""
LESS = re.compile(r"'(?:dict|tuple|list|set|frozenset|str|bytes|int|float|numpy\.ndarray)'")
"""What a test's AttributeError or TypeError says of a value that may have been more than this."""


def doubts(
    outcome: Outcome,
    examination: Examination,
    again: Callable[[Examination], Mapping[str, list[CheckResult]]],
    reduced: Set[tuple[str, str]] = frozenset(),
    copied: Set[tuple[str, str]] = frozenset(),
) -> list[Note]:
    """A doubt for each refusal that cost a check which may be passed in one process.

    ``again`` grades the submission once more, by another examination, and gives the results by grade cell. Checks are
    named by cell and title: before those ``reduced`` a value had come as that of its base, before those ``copied`` one
    that can be changed in place of an object.
    """
    lost = []
    for cell, checks in outcome.checks.items():
        for place, result in enumerate(checks):
            if result.earned < result.points:
                refused = _is_refused(result) or ((cell, result.title) in reduced and _is_lacking(result))
                of_copy = (cell, result.title) in copied and result.raised_by == "test"
                if refused or of_copy or _is_less(result):
                    lost.append((cell, place, refused))
    if not lost:
        return []
    results = again(in_one_process(examination))
    cells: dict[str, dict[str, None]] = {}
    for cell, place, refused in lost:
        found = results.get(cell, [])
        test = examination.cells[cell]
        kind = _kind(test, test.checks[place], found[place] if place < len(found) else None)
        if kind and (refused or (kind == "refused_accepted" and not HIDDEN.search(test.checks[place].source))):
            cells.setdefault(kind, {})[cell] = None
    return [Note(kind, tests=(*tests,), doubt=True) for kind, tests in cells.items()]


def in_one_process(examination: Examination) -> Examination:
    """The examination in which every grade cell runs in the candidate, and no hidden line of any."""
    cells = tuple(_visible(cell) if cell.purpose == Purpose.TESTS else cell for cell in examination.blueprint.cells)
    single = {cell.id: Note("declared") for cell in cells if cell.purpose == Purpose.TESTS}
    blueprint = replace(examination.blueprint, cells=cells)
    return replace(examination, blueprint=blueprint, single_process=single)


def _is_refused(result: CheckResult) -> bool:
    return result.cause is not None and result.cause.kind in REFUSED


def _is_lacking(result: CheckResult) -> bool:
    """Whether the test says that a value lacks something."""
    return result.raised_by == "test" and result.exception in ("AttributeError", "TypeError", "KeyError")


def _is_less(result: CheckResult) -> bool:
    """Whether the test met a plain value that lacks something; of wrong answers that is so in one process as well."""
    return _is_lacking(result) and LESS.search(result.reason) is not None


def _visible(cell: Cell) -> Cell:
    checks = tuple(replace(check, source=_shown(check.source)) for check in cell.checks)
    return replace(cell, source=_shown(cell.source), prelude=_shown(cell.prelude), checks=checks)


def _shown(source: str) -> str:
    return visible_and_hidden(source)[0] if HIDDEN.search(source) else source


def _kind(cell: Cell, check: Check, result: CheckResult | None) -> str:
    """The kind of doubt about a check, by its ``result`` in one process; empty where it is wrong there too."""
    if result is None or check.hidden or result.verdict in (Verdict.UNGRADED, Verdict.TIMEOUT, Verdict.KILLED):
        return "refused_unseen"
    if result.verdict in (Verdict.PASSED, Verdict.PARTLY):
        return "refused_accepted"
    # A visible line may use what a hidden one binds.
    return "refused_unseen" if HIDDEN.search(cell.source) and result.exception == "NameError" else ""
