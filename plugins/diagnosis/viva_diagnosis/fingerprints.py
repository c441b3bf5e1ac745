"""The fingerprints of an assignment: the results of each known wrong answer and each mutant at the probes.

A mistake has a *root*: a function, or a value, that behaves otherwise than the solution's, and uses no other that does.
What uses a wrong function is wrong as well, and says nothing about its own text. Only roots are kept, and only those
whose results tell enough (``behaviour.evidence``): an error, or the same constant everywhere, has many causes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from nbformat import NotebookNode

import viva
from viva.course.processes import leftovers
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.notebook.cell import is_test, name_of
from viva.notebook.names import names_of
from viva.verdict import Verdict
from viva_audit.answers import Answer, fill_in, read_answers
from viva_audit.mutants import Mutant
from viva_diagnosis.behaviour import ENOUGH, Behaviour, Outcome, agree, equal, evidence
from viva_diagnosis.probing import Probes, noted, numbers_in, probed, shaken, spots_of, varied

VERSION = 2
"""Fingerprints of another version are made anew."""
RANDOM = 5
"""The random probes of a function."""
MOST_PROBES = 24
"""The most probes of a function that tests make."""
LARGEST = 600
"""A result with more numbers is not compared."""
STUDENTS = re.compile(r"^ *students: *(?P<sentence>\S.*?) *$", re.MULTILINE)
"""The line of a wrong answer's docstring that says what students read about it."""
NOTHING = "nothing"
"""What that line says where students are to read nothing."""


class Mistake(Struct, omit_defaults=True):
    """A known mistake: where it comes from, its sentences, and what it does at the probes of its roots."""

    name: str
    sentence: str
    """For graders."""
    students: str = ""
    """For students; empty where they are told nothing."""
    mutant: bool = False
    roots: dict[str, list[list | None]] = {}
    """By key, the packed outcomes."""
    checks: dict[str, list[str]] = {}
    """By ``cell: title``, the verdict and the reason of each check that it loses."""


class Fingerprints(Struct, omit_defaults=True):
    """All that recognising mistakes in a notebook needs."""

    key: str
    """A hash of all that they depend on."""
    spots: list[tuple[str, list[str]]] = []
    """The test cells, with the keys of the names that each uses."""
    calls: dict[str, list | None] = {}
    sizes: dict[str, list[int]] = {}
    """How many numbers each probe may tell."""
    solution: dict[str, list[list | None]] = {}
    mistakes: list[Mistake] = []
    watched: dict[str, list[list[int]]] = {}
    """By key of a function whose arguments are no plain data, and by check of the tests, the calls that count."""
    version: int = VERSION

    def probes(self) -> Probes:
        return Probes(self.calls, self.watched, self.sizes)


def key_of(notebook: Path, files: Path, answers: Path, *settings: object) -> str:
    """A hash of what fingerprints depend on: the notebook with its files, the known answers, Viva."""
    digest = hashlib.sha256(repr([VERSION, viva.ENGINE, *settings]).encode())
    for path in [notebook, *sorted(files.rglob("*")), *sorted(answers.rglob("*.py"))]:
        if path.is_file():
            digest.update(f"{path.name} {path.stat().st_size}".encode("utf-8", "surrogateescape"))
            digest.update(path.read_bytes())
    return digest.hexdigest()


def sentences_of(answer: Answer) -> tuple[str, str]:
    """The sentence about a wrong answer for graders, and the one for students."""
    own = STUDENTS.search(answer.summary)
    sentence = " ".join(STUDENTS.sub("", answer.summary).strip().partition("\n\n")[0].split())
    if not own:
        return sentence, sentence
    return sentence, "" if own["sentence"].strip(" .").lower() == NOTHING else own["sentence"]


def sentence_of(mutant: Mutant) -> str:
    """The sentence about a mutant, for graders: it has a line of the solution in it."""
    before, _, after = mutant.change.partition(" -> ")
    return f"The solution with '{after.strip()}' instead of '{before.strip()}'." if after else mutant.change


class Making:
    """The making of one notebook's fingerprints."""

    def __init__(
        self, grader: Grader, release: NotebookNode, examination: Examination, data: Path | None = None
    ) -> None:
        self.grader, self.release, self.examination, self.data = grader, release, examination, data
        self.spots = spots_of(examination)
        self.solutions = examination.blueprint.solutions()

    def submission(self, sources: Mapping[str, str]) -> NotebookNode:
        """The release with these texts in its answer cells."""
        notebook = NotebookNode(self.release)
        notebook.cells = []
        for cell in self.release.cells:
            cell = NotebookNode(cell)
            cell.source = sources.get(name_of(cell), cell.source)
            notebook.cells.append(cell)
        return notebook

    def known(self, answer: Answer) -> NotebookNode:
        return fill_in(answer, self.release, self.examination.blueprint)

    def behaviour(self, notebook: NotebookNode, probes: Probes) -> Behaviour:
        spots = [spot.cell for spot in self.spots]
        return probed(self.grader, notebook, self.examination, probes, spots, self.data)

    def probes(self) -> tuple[Probes, Behaviour]:
        """The probes that count, and what the solution does there: it answers all finitely and steadily.

        A steady answer stays the same with other random numbers of the process, and nearly so where the arguments
        change by a millionth.
        """
        solution, random = self.submission(self.solutions), np.random.RandomState(51)
        probes = noted(self.grader, solution, self.examination, self.spots, self.data)
        drawn: dict[str, int] = {}
        for key, calls in probes.calls.items():
            if calls is not None:
                calls[MOST_PROBES:] = []
                extra = varied(calls, RANDOM, random)
                drawn[key] = len(calls)
                calls.extend(extra)
        first = self.behaviour(solution, probes)
        near = {
            key: calls and [shaken(call, random) for call in calls]
            for key, calls in probes.calls.items()
            if key not in probes.watched
        }
        shaken_results = first | self.behaviour(solution, Probes(near))
        dice = {cell: secret + b"again" for cell, secret in self.examination.dice.items()}
        other = Making(self.grader, self.release, dataclasses.replace(self.examination, dice=dice), self.data)
        second = other.behaviour(solution, probes)
        chosen, right = Probes(), {}
        for key, calls in probes.calls.items():
            if key not in first:
                continue
            rows = zip(first[key], second.get(key, ()), shaken_results.get(key, ()), strict=False)
            places = [
                index
                for index, (outcome, again, close) in enumerate(rows)
                if outcome is not None and counts(outcome, again, close, index >= drawn.get(key, index + 1))
            ]
            if places:
                chosen.calls[key] = calls and [calls[index] for index in places]
                right[key] = [first[key][index] for index in places]
                if key in probes.watched:
                    numbers = itertools.count()
                    chosen.watched[key] = [
                        [call for call in calls_of_check if next(numbers) in places]
                        for calls_of_check in probes.watched[key]
                    ]
                    chosen.noted[key] = len(places)
                    continue
                chosen.sizes[key] = [
                    len(outcome.numbers) + numbers_in(call)
                    for outcome, call in zip(right[key], chosen.calls[key] or [None], strict=True)
                    if outcome
                ]
                chosen.noted[key] = sum(index < drawn.get(key, 1) for index in places)
        return chosen, right

    def roots(self, notebook: NotebookNode, behaviour: Behaviour, solution: Behaviour) -> set[str]:
        """The keys at which a notebook is wrong by itself; see the head of this module."""
        wrong = {key for key, right in solution.items() if not equal(behaviour.get(key, ()), right, right)}
        return roots(wrong, uses_of(notebook, self.examination, solution))

    def mistake(
        self, name: str, sentence: str, students: str, notebook: NotebookNode, probes: Probes, right: Behaviour
    ) -> Mistake | None:
        """The fingerprint of a wrong notebook; None where it does nothing that could be recognised."""
        behaviour = self.behaviour(notebook, probes)
        mistake = Mistake(name, sentence, students)
        for key in sorted(self.roots(notebook, behaviour, right)):
            outcomes = behaviour.get(key)
            count = probes.noted[key]
            if outcomes and evidence(outcomes[:count], right[key][:count]) >= ENOUGH:
                mistake.roots[key] = [outcome.packed() if outcome else None for outcome in outcomes]
        return mistake if mistake.roots else None

    def lost(self, notebook: NotebookNode) -> dict[str, list[str]]:
        """The verdict and the reason of each check that a notebook loses."""
        outcome = self.grader.grade(notebook, self.examination, self.data)
        return {
            f"{cell}: {result.title}": [str(result.verdict), result.reason[:500]]
            for cell, results in outcome.checks.items()
            for result in results
            if result.verdict is not Verdict.PASSED
        }


def counts(outcome: Outcome, again: Outcome | None, close: Outcome | None, drawn: bool) -> bool:
    """Whether a probe counts: the solution answers it finitely and steadily; a random one is answered at all."""
    if outcome.error:
        return not drawn and again is not None and again.error == outcome.error
    if len(outcome.numbers) > LARGEST or not np.all(np.isfinite(outcome.numbers)):
        return False
    return agree(outcome, again, outcome) and agree(outcome, close, outcome)


def of_answer(making: Making, answer: Answer, probes: Probes, right: Behaviour) -> Mistake | None:
    """The fingerprint of a wrong answer, with what it loses."""
    notebook = making.known(answer)
    mistake = making.mistake(answer.name, *sentences_of(answer), notebook, probes, right)
    if mistake:
        mistake.checks = making.lost(notebook)
    return mistake


def of_mutant(making: Making, mutant: Mutant, probes: Probes, right: Behaviour) -> Mistake | None:
    """The fingerprint of a mutant. Students are told nothing: its sentence has a line of the solution in it.

    Watched functions are left out: for each of a thousand mutants of ps9 all tests would run.
    """
    calls = {key: calls for key, calls in probes.calls.items() if key not in probes.watched}
    probes = dataclasses.replace(probes, calls=calls, watched={})
    right = {key: outcomes for key, outcomes in right.items() if key in probes.calls}
    notebook = making.submission(making.solutions | {mutant.cell: mutant.source})
    name = f"{mutant.cell}, line {mutant.line}: {mutant.change}"
    mistake = making.mistake(name, sentence_of(mutant), "", notebook, probes, right)
    if mistake:
        mistake.mutant = True
    return mistake


def assembled(making: Making, probes: Probes, right: Behaviour, mistakes: list[Mistake], key: str = "") -> Fingerprints:
    """The fingerprints of a notebook; a mutant that does what a known wrong answer does is left out."""
    known = {_roots_of(mistake) for mistake in mistakes if not mistake.mutant}
    return Fingerprints(
        key,
        [(spot.cell, [key for key in spot.used if key in right]) for spot in making.spots],
        probes.calls,
        probes.sizes,
        {key: [outcome.packed() if outcome else None for outcome in outcomes] for key, outcomes in right.items()},
        [mistake for mistake in mistakes if not mistake.mutant or _roots_of(mistake) not in known],
        probes.watched,
    )


def _roots_of(mistake: Mistake) -> bytes:
    return msgspec.json.encode(mistake.roots)


@dataclass(frozen=True)
class Uses:
    """What the student's names of a notebook are made with."""

    names: Mapping[str, set[str]]
    """By key, the names that its text reaches: of a function its own text, of a value that of its cell."""
    cells: Mapping[str, str]
    """By key of a value, the answer cell that binds it: values of one cell are judged together."""


def uses_of(notebook: NotebookNode, examination: Examination, keys: Iterable[str]) -> Uses:
    """What the names of these keys use. One that is bound nowhere, or a cell that cannot be read, uses everything."""
    answers = examination.blueprint.solutions().keys()
    mentioned: dict[str, set[str]] = {}
    cells: dict[str, str] = {}
    readable = True
    for cell in notebook.cells:
        if cell.cell_type != "code" or is_test(cell):
            continue
        names = names_of(cell.source)
        if names is None:
            readable = readable and name_of(cell) not in answers
            continue
        values = names.bound - names.mentioned.keys()
        for name in names.bound:
            mentioned.setdefault(name, set()).update(names.used - values if name in values else names.mentioned[name])
            if name in values and name_of(cell) in answers:
                cells[name] = name_of(cell)
    names_by_key = {key: key.partition(":")[2] for key in keys}
    reached = {
        key: _reached(name, mentioned) if readable and name in mentioned else set(names_by_key.values())
        for key, name in names_by_key.items()
    }
    return Uses(reached, {key: cells[name] for key, name in names_by_key.items() if name in cells})


def _reached(name: str, mentioned: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    todo = [name]
    while todo:
        for used in mentioned.get(todo.pop(), ()):
            if used not in reached:
                reached.add(used)
                todo.append(used)
    return reached


def roots(wrong: set[str], uses: Uses) -> set[str]:
    """Those of the ``wrong`` keys that use no other wrong name."""
    names = {key: key.partition(":")[2] for key in wrong}
    return {
        key
        for key in wrong
        if not any(names[other] in uses.names[key] for other in wrong if names[other] != names[key])
    }


def answers_of(folder: Path, examination: Examination) -> list[Answer]:
    """The known answers of this notebook."""
    cells = {cell.id for cell in examination.blueprint.cells} | {"*"}
    return [answer for answer in read_answers(folder) if set(answer.sections) <= cells]


def write(fingerprints: Fingerprints, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    leftovers.write(path, msgspec.json.encode(fingerprints).decode())


def read(path: Path) -> Fingerprints | None:
    """The fingerprints in a file; None where there are none that this version can read."""
    try:
        fingerprints = msgspec.json.decode(path.read_bytes(), type=Fingerprints)
    except (OSError, msgspec.MsgspecError):
        return None
    return fingerprints if fingerprints.version == VERSION else None
