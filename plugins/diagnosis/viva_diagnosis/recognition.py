"""The known mistakes that a submission behaves like.

A mistake is recognised at a function, or at the values of one cell, and only where all of this holds:

- the submission lost points in a test cell that uses it;
- it differs from the solution, and uses nothing else that does: what follows from a wrong function names nothing;
- it does at every probe what the mistake does.

A mistake that was made at all of its roots counts more than one that was made at some of them, and an author's sentence
more than a mutant's. Where several remain, each of them may be meant, and graders are told all.

A student is told a mistake that two witnesses name, and no other known mistake with it: two probes at which it differs
from the solution. A plain value has one probe, and many causes lead to it: an array three times the same was said to
come of a variable of the cell above.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct
from nbformat import NotebookNode

from viva.engine.examination import Examination
from viva.notebook.cell import name_of
from viva.notebook.names import Names, names_of
from viva.wording import counted
from viva_diagnosis.behaviour import APART, ENOUGH, Behaviour, Outcome, agree, equal, evidence, unpacked
from viva_diagnosis.fingerprints import Fingerprints, Mistake, roots, uses_of

WITNESSES = 2
"""So many probes at which a submission is wrong must name a mistake before its student is told the cause."""
MOST_OFFERED = 3
"""With more sentences for one behaviour nothing is told."""


class Finding(Struct, omit_defaults=True):
    """What a part of a submission behaves like; all texts are the instructor's."""

    names: list[str]
    """The functions or values."""
    cells: list[str]
    """The test cells that lost points and use them."""
    mistakes: list[str]
    probes: int
    graders: list[str]
    """The sentences for graders."""
    students: list[str] = []
    """Those for students; none where the author forbids one of them."""
    answer: str = ""
    """The answer cell that binds the first of the names; empty where none does."""
    witnesses: int = WITNESSES
    """The probes at which the submission is wrong, as the mistake is."""

    def sentence(self, sentences: Sequence[str], whose: str = "") -> str:
        """The finding as one sentence."""
        names = " and ".join(self.names)
        give = "give" if len(self.names) > 1 else "gives"
        head = f"{whose}{names} {give} the same results as "
        tail = f" This was tried on {counted(self.probes, 'input')}." if self.probes > 1 else ""
        if self.witnesses < WITNESSES:
            tail += " Only one result was wrong, so the cause may be another."
        if len(sentences) == 1:
            return f"{head}this known mistake: “{sentences[0]}”{tail}"
        return f"{head}these known mistakes: either {' or '.join(f'“{text}”' for text in sentences)}.{tail}"


class Unnamed(Struct, omit_defaults=True):
    """A wrong behaviour that no known mistake has."""

    name: str
    """The function or value."""
    cell: str
    """The first test cell that lost points and uses it."""
    outcomes: list[list | None]
    """At the probes, packed."""
    answer: str = ""
    """The answer cell that binds the name; empty where none does."""


@dataclass(frozen=True)
class Reference:
    """Fingerprints, unpacked once for many submissions."""

    fingerprints: Fingerprints
    solution: Behaviour
    mistakes: list[tuple[Mistake, dict[str, list[Outcome | None]]]]

    @classmethod
    def of(cls, fingerprints: Fingerprints) -> Reference:
        def opened(table: Mapping[str, list[list | None]]) -> Behaviour:
            return {key: [unpacked(item) for item in items] for key, items in table.items()}

        return cls(
            fingerprints,
            opened(fingerprints.solution),
            [(mistake, opened(mistake.roots)) for mistake in fingerprints.mistakes],
        )

    def keys(self, lost: Collection[str]) -> dict[str, list[str]]:
        """The keys that these test cells use, each with those test cells."""
        keys: dict[str, list[str]] = {}
        for cell, used in self.fingerprints.spots:
            for key in used if cell in lost else ():
                keys.setdefault(key, []).append(cell)
        return keys

    def spots(self, lost: Collection[str]) -> list[str]:
        """The test cells at whose places the names have to be asked for that the ``lost`` ones use."""
        return list(dict.fromkeys(key.partition(":")[0] for key in self.keys(lost)))


def recognise(
    reference: Reference,
    notebook: NotebookNode,
    examination: Examination,
    behaviour: Behaviour,
    lost: Collection[str],
    unclear: Collection[str] = (),
) -> tuple[list[Finding], list[Unnamed]]:
    """The findings about a notebook that lost points in the test cells ``lost`` by wrong results.

    Of what the ``unclear`` test cells use nothing is known, as where a function does not end: it counts as wrong.
    """
    asked = reference.keys(lost)
    wrong = {key for key in asked if not equal(behaviour.get(key, ()), *2 * (reference.solution[key],))}
    wrong |= reference.keys(unclear).keys() - asked.keys()
    uses, answers = uses_of(notebook, examination, reference.solution), answers_of(notebook, examination)
    own = roots(wrong, uses)
    matches = {mistake.name: _matched(reference, mistake, opened, behaviour, own, wrong, uses.cells)
               for mistake, opened in reference.mistakes}  # fmt: skip
    groups: dict[tuple[str, ...], list[str]] = {}
    by_name = {mistake.name: mistake for mistake, _ in reference.mistakes}
    for key in sorted(own & asked.keys()):
        fitting = [by_name[name] for name, keys in matches.items() if key in keys]
        if chosen := _best(fitting, matches):
            groups.setdefault(tuple(sorted(mistake.name for mistake in chosen)), []).append(key)
    left = own & asked.keys() & behaviour.keys() - {key for keys in groups.values() for key in keys}
    unnamed = [
        Unnamed(name, asked[key][0], [one.packed() if one else None for one in behaviour[key]], answers.get(name, ""))
        for key, name in sorted((key, key.partition(":")[2]) for key in left)
        if evidence(behaviour[key], reference.solution[key]) >= ENOUGH
    ]
    findings = []
    for names, keys in groups.items():
        mistakes = [by_name[name] for name in names]
        graders = list(dict.fromkeys(mistake.sentence for mistake in mistakes))
        students = list(dict.fromkeys(mistake.students for mistake in mistakes))
        if len(graders) > MOST_OFFERED:
            continue
        cells = list(dict.fromkeys(cell for key in keys for cell in asked[key]))
        variables = list(dict.fromkeys(key.partition(":")[2] for key in keys))
        probes = sum(len(reference.solution[key]) for key in keys)
        witnesses = sum(_wrong_at(behaviour[key], reference.solution[key]) for key in keys)
        students = [] if "" in students or witnesses < WITNESSES or len(graders) > 1 else students
        answer = answers.get(variables[0], "")
        findings.append(Finding(variables, cells, list(names), probes, graders, students, answer, witnesses))
    return findings, unnamed


def _wrong_at(outcomes: Sequence[Outcome | None], solution: Sequence[Outcome | None]) -> int:
    """At how many probes outcomes differ from the solution's."""
    pairs = zip(outcomes, solution, strict=True)
    return sum(right is not None and not agree(outcome, right, right, APART) for outcome, right in pairs)


def answers_of(notebook: NotebookNode, examination: Examination) -> dict[str, str]:
    """By name, the answer cell that binds it."""
    answers = examination.blueprint.solutions().keys()
    return {
        name: name_of(cell)
        for cell in notebook.cells
        if cell.cell_type == "code" and name_of(cell) in answers
        for name in (names_of(cell.source) or Names()).bound
    }


def _matched(
    reference: Reference,
    mistake: Mistake,
    opened: Behaviour,
    behaviour: Behaviour,
    own: set[str],
    wrong: set[str],
    cells: Mapping[str, str],
) -> set[str]:
    """The keys at which a mistake is recognised; values of one cell only all together."""
    keys = {
        key
        for key, outcomes in opened.items()
        if key in own and equal(outcomes, behaviour.get(key, ()), reference.solution[key])
    }
    for key in list(keys):
        together = {other for other in own if cells.get(other) and cells.get(other) == cells.get(key)}
        if not together <= keys:
            keys.discard(key)
    return keys


def _best(mistakes: list[Mistake], matches: Mapping[str, set[str]]) -> list[Mistake]:
    """Of the mistakes that fit, those that an author described, and of these those made wherever they can be."""
    described = [mistake for mistake in mistakes if not mistake.mutant] or mistakes
    whole = [mistake for mistake in described if matches[mistake.name] == mistake.roots.keys()]
    return whole or described
