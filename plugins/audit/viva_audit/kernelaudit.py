"""The audit of a notebook that is not in Python: wrong versions of its solution, by the package of its language.

Everything is graded by the same trials as in Python. Only what reads a solution is the package's
(``KernelDialogue.mistakes``); where there is none, known answers alone are tried. A mutant that no check notices is
equal to the solution where all names have the same values after it; functions are not called for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from viva.engine.blueprint import Blueprint
from viva.engine.kerneldialogue import Degenerate, Slip
from viva.wording import counted
from viva_audit.checkname import CheckName
from viva_audit.judgement import lost_by
from viva_audit.mutants import Mutant, change_of, solution_lines

MOST = 24
"""The most mutants of one answer: each is run by kernels of its own."""
UNWATCHED: dict[str, Any] = {"kinds": {}, "results": {}, "integers": (), "megabytes": 0}
"""What a watched run of the solution would show."""
Wrong = dict[str, tuple[list[Slip], list[Degenerate]]]
"""By answer cell, what a package made of its solution."""


def read(found: dict[str, tuple[list[dict], list[dict]]]) -> Wrong:
    """What a worker says of a notebook's solutions (``trials.Worker.mistakes``)."""
    return {
        cell: ([Slip(**slip) for slip in slips], [Degenerate(**answer) for answer in answers])
        for cell, (slips, answers) in found.items()
    }


def mutants_of(wrong: Wrong, blueprint: Blueprint) -> tuple[list[Mutant], list[str]]:
    """The mutants that are tried, in the order of their places, and a sentence for each answer with more."""
    mutants, sentences = [], []
    sources = {cell.id: cell.source for cell in blueprint.cells}
    for cell, (slips, _) in wrong.items():
        _, inside = solution_lines(sources[cell])
        slips = [slip for slip in slips if slip.line in inside]
        chosen = _spread(slips)
        for slip in chosen:
            change = change_of(slip.original, slip.source)
            mutants.append(Mutant(cell, slip.mistake, change, slip.source, slip.original, slip.line, slip.owner))
        if left := len(slips) - len(chosen):
            sentences.append(f"Cell '{cell}': {counted(left, 'more mutant')} of this answer were not tried.")
    return mutants, sentences


def _spread(slips: list[Slip]) -> list[Slip]:
    """Of many slips some, of each mistake in turn: first those in different places."""
    chosen: list[int] = []
    by_mistake: dict[str, list[int]] = {}
    for index, slip in enumerate(slips):
        by_mistake.setdefault(slip.mistake, []).append(index)
    while len(chosen) < MOST and any(by_mistake.values()):
        for left in by_mistake.values():
            if left and len(chosen) < MOST:
                lines = {slips[index].line for index in chosen}
                new = next((index for index in left if slips[index].line not in lines), left[0])
                left.remove(new)
                chosen.append(new)
    return [slips[index] for index in sorted(chosen)]


def passing_with_nothing(
    wrong: Wrong,
    without: dict[str, set[CheckName]],
    ground: dict[str, tuple],
    run: Callable[[Iterable[tuple]], dict],
) -> Iterator[tuple[CheckName, str, str]]:
    """The checks that pass though an answer has nothing in it, with the answer cell and what it was.

    ``without`` has by answer cell the checks that the solution loses without it, ``ground`` says in which notebook it
    is tried, and ``run`` gives the results of such jobs.
    """

    def job(cell: str, form: str, source: str, only: bool) -> tuple:
        notebook, examination, limit = ground[cell]
        return ("nothing", cell, form, only), "grade_changed", notebook, {cell: source}, examination, limit

    answers = [(cell, answer) for cell, (_, degenerate) in wrong.items() for answer in degenerate if without.get(cell)]
    trials = run([job(cell, answer.form, answer.source, False) for cell, answer in answers])
    passing: dict[tuple[str, str], set[CheckName]] = {}
    for cell, answer in answers:
        trial = trials["nothing", cell, answer.form, False]
        if trial and not trial.faults and (kept := without[cell] - set(lost_by(trial))):
            passing[cell, answer.form] = kept
    again = [
        job(cell, answer.form, answer.only_right, True) for cell, answer in answers if (cell, answer.form) in passing
    ]
    trials = run(again)
    for (cell, form), kept in passing.items():
        for check in sorted(kept & set(lost_by(trials["nothing", cell, form, True])), key=str):
            yield check, cell, form


def passed_by_nothing(found: Iterable[tuple[CheckName, str, str]], looked_at: bool) -> list[str]:
    """A sentence on each check that passes with nothing; ``looked_at`` where grading leaves that to a grader."""
    forms: dict[tuple[CheckName, str], list[str]] = {}
    for check, cell, form in found:
        forms.setdefault((check, cell), []).append(form)
    rest = " In grading it then waits for a grader." if looked_at else ""
    return [
        f"The check '{check}' passes even if the functions and values of '{cell}' are {' or '.join(names)}.{rest} Also "
        "compare the length."
        for (check, cell), names in forms.items()
    ]
