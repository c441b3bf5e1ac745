"""The results of an audit as plain data, and the reasons for which a mutant may survive."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from viva.cleaning import plaintext
from viva.engine.dialogue.expected import ANY, NOTHING, PLAIN, readable
from viva.folder import read_utf8
from viva.record import Fault
from viva.verdict import AnswerError
from viva.wording import counted
from viva_audit.checkname import CheckName, Ruling

STATES = ("killed", "survived", "equal", "unproven", "excused")
LISTED = 4
"""The most answers of a kind that are named at the terminal; the page names all."""


@dataclass
class Proof:
    """One known answer, what it should lose, and what it lost."""

    name: str
    case: str
    """untouched, solution, again, right or wrong; JSON knows it as ``kind``"""
    expected: list[CheckName]
    lost: dict[CheckName, Ruling]
    seconds: float = 0.0
    faults: list[Fault] = field(default_factory=list)
    unwarned: list[CheckName] = field(default_factory=list)
    """The checks that a wrong answer loses though it passes all that students see."""
    reason: str = ""
    """Why no visible check warns of it, as its docstring says."""

    @property
    def holds(self) -> bool:
        return set(self.expected) == set(self.lost) and not self.faults

    def sentences(self) -> list[str]:
        """What does not hold."""
        who = {
            "untouched": "An untouched notebook",
            "solution": "The solution",
            "again": "The solution, run again,",
        }.get(self.case, f"The {self.case} answer {self.name}")
        sentences = [f"{who} could not be graded: {fault.what}" for fault in self.faults]
        sentences += [
            f"{who} fails '{check}': {ruling}" for check, ruling in self.lost.items() if check not in self.expected
        ]
        kept = [check for check in self.expected if check not in self.lost]
        return sentences + [f"{who} passes '{check}', but must fail it." for check in kept]

    def record(self) -> dict:
        lost = {str(check): str(ruling) for check, ruling in self.lost.items()}
        faults = [str(fault) for fault in self.faults]
        fields = {"kind" if name == "case" else name: value for name, value in vars(self).items()}
        texts = {"expected": _texts(self.expected), "unwarned": _texts(self.unwarned)}
        return fields | texts | {"lost": lost, "faults": faults}


@dataclass
class Fate:
    """What became of a mutant: killed (by which checks), survived, equal, unproven or excused.

    It is equal where so many ``calls`` on so many ``inputs`` gave what the solution gives, and unproven where a value
    cannot be compared. A survivor differs at ``call``: the solution's result is ``right``, its own is ``wrong``.
    """

    cell: str
    operator: str
    change: str
    diff: str
    status: str = "killed"
    killers: list[CheckName] = field(default_factory=list)
    note: str = ""
    nearest: CheckName | None = None
    surprise: bool = False
    """Whether only hidden lines notice it."""
    calls: int = 0
    inputs: int = 0
    call: str = ""
    right: str = ""
    wrong: str = ""
    line: int = 0
    owner: str = ""
    number: int = 0
    """Its place among the mutants of the notebook, from 1 on."""

    @property
    def example(self) -> str:
        """The input on which a survivor differs, with both results; empty where there is none."""
        return f"{self.call} gives {self.right}; with the mistake it gives {self.wrong}" if self.call else ""

    @property
    def compared(self) -> str:
        """What an equal mutant was compared by."""
        if not self.calls:
            return "it gives all names the same values and the same code"
        return f"it gave the same results as the solution in {self.calls} calls on {self.inputs} different inputs"

    def record(self) -> dict:
        return vars(self) | {"killers": _texts(self.killers), "nearest": str(self.nearest or "")}


@dataclass
class CheckScore:
    """How much a check contributes: ``kills`` of ``mutants`` that it could kill, ``alone`` of them no other kills."""

    check: CheckName
    points: float
    hidden: bool
    answers: list[str]
    """The answer cells without which the check fails."""
    kills: int = 0
    mutants: int = 0
    alone: int = 0
    surprises: list[str] = field(default_factory=list)
    """The wrong answers that lose it, pass all that students see, and do not say why."""

    def record(self) -> dict:
        return vars(self) | {"check": str(self.check)}


@dataclass
class Exercise:
    """What became of the mutants of one answer, by state; and how many only hidden lines notice."""

    cell: str
    states: dict[str, int]
    surprises: int

    @property
    def tried(self) -> int:
        return self.states["killed"] + self.states["survived"]


@dataclass
class Audit:
    """What was proven about one notebook of an assignment, and what was not; ``record`` is it as JSON knows it."""

    assignment: str
    notebook: str
    proofs: list[Proof] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    scores: list[CheckScore] = field(default_factory=list)
    together: list[list[CheckName]] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    """By path, what the solution's answers are, as grading enforces it; see kind_in_words."""
    single_process: list[str] = field(default_factory=list)
    """A sentence about each single-process cell."""
    alone: dict[str, list[CheckName]] = field(default_factory=dict)
    """By answer cell, the checks that pass when all other answers are blank."""
    errors: list[str] = field(default_factory=list)
    """What must be corrected, beside the proofs that do not hold and the survivors, a sentence each."""
    warnings: list[str] = field(default_factory=list)
    """Style, and what was not proven; none of it keeps a notebook from its release."""
    remarks: list[str] = field(default_factory=list)
    """What an author may want to know, a sentence each."""
    untold: list[str] = field(default_factory=list)
    """Hidden lines that `viva feedback` cannot look for in the pages of students."""
    degenerate: dict[CheckName, list[tuple[str, str]]] = field(default_factory=dict)
    """By check, the degenerate answers that pass it: the answer cell, empty for all of them, and what it returns."""
    solutions: dict[str, str] = field(default_factory=dict)
    """By answer cell, the solution without its marks."""
    unseen: dict[str, str] = field(default_factory=dict)
    """The answer cells at which no check looks, each with the sentence that says so."""
    slowest: float = 0.0
    megabytes: int = 0
    limit: float = 0.0
    budget: float = 0.0
    """Seconds that a submitted notebook may take in all."""
    points: float = 0.0
    seconds: float = 0.0
    sandboxed: bool = True

    def count(self, status: str) -> int:
        return sum(fate.status == status for fate in self.fates)

    @property
    def score(self) -> float:
        """The share of mutants that are killed, of all that are killed or survived."""
        counted = self.count("killed") + self.count("survived")
        return self.count("killed") / counted if counted else 1.0

    def complaints(self) -> list[str]:
        """All errors but the survivors, a sentence each; what nobody knows of a mutant is one, too."""
        first = [(proof.lost, proof.faults) for proof in self.proofs if proof.case == "solution"]
        proofs = [proof for proof in self.proofs if proof.case != "again" or (proof.lost, proof.faults) not in first]
        sentences = (sentence for proof in proofs for sentence in proof.sentences())
        return [*self.errors, *sentences, *unknown(self.fates)]

    def survivors(self) -> list[Fate]:
        return [fate for fate in self.fates if fate.status == "survived"]

    def gaps(self) -> list[list[Fate]]:
        """The survivors by what no check looks at: a whole function where all its mutants survived, else a line."""
        owners: dict[tuple[str, str], set[str]] = {}
        for fate in self.fates:
            owners.setdefault((fate.cell, fate.owner), set()).add(fate.status)
        groups: dict[tuple, list[Fate]] = {}
        for fate in self.survivors():
            unseen = fate.owner and "killed" not in owners[fate.cell, fate.owner]
            groups.setdefault((fate.cell, fate.owner if unseen else fate.line), []).append(fate)
        return list(groups.values())

    def exercises(self) -> list[Exercise]:
        """What became of the mutants of each answer."""
        cells = dict.fromkeys([*self.solutions, *(fate.cell for fate in self.fates)])
        return [
            Exercise(cell, {state: sum(f.cell == cell and f.status == state for f in self.fates) for state in STATES},
                     sum(fate.cell == cell and fate.surprise for fate in self.fates))
            for cell in cells
        ]  # fmt: skip

    def lines(self, cell: str) -> list[tuple[str, dict[str, int]]]:
        """The lines of a solution, each with the number of its mutants by what became of them."""
        counts: dict[int, dict[str, int]] = {}
        for fate in self.fates:
            if fate.cell == cell:
                at_line = counts.setdefault(fate.line, {})
                at_line[fate.status] = at_line.get(fate.status, 0) + 1
        return [
            (line, {state: counts[number][state] for state in STATES if state in counts.get(number, {})})
            for number, line in enumerate(self.solutions.get(cell, "").splitlines(), start=1)
        ]

    def blocking(self) -> list[str]:
        """All errors, the survivors last; what a release waits for."""
        return [*self.complaints(), *map(gap_in_words, self.gaps())]

    def summary(self) -> dict:
        """What the table and the sentences at the terminal say, as JSON knows it."""
        fates = {name: self.count(name) for name in STATES}
        right, wrong = ([proof.holds for proof in self.proofs if proof.case == case] for case in ("right", "wrong"))
        return {
            "assignment": self.assignment, "notebook": self.notebook, "passed": self.passed, "outcome": self.outcome,
            "seconds": self.seconds,
            "right": len(right), "right_hold": sum(right), "wrong": len(wrong), "wrong_hold": sum(wrong),
            "mutants": fates, "surprises": sum(fate.surprise for fate in self.fates),
            "exercises": [vars(exercise) for exercise in self.exercises()],
            "gaps": [gap_in_words(gap) for gap in self.gaps()], "kinds": self.kinds,
            "survivors": [fate.record() for fate in self.survivors()],
            "complaints": self.complaints(), "warnings": self.warnings, "remarks": self.remarks,
        }  # fmt: skip

    def record(self) -> dict:
        return vars(self) | {
            "proofs": [proof.record() for proof in self.proofs],
            "fates": [fate.record() for fate in self.fates],
            "scores": [score.record() for score in self.scores],
            "together": [_texts(checks) for checks in self.together],
            "alone": {cell: _texts(checks) for cell, checks in self.alone.items()},
            "degenerate": {str(check): forms for check, forms in self.degenerate.items()},
        }

    @property
    def failed(self) -> bool:
        """Whether there is an error, which keeps the assignment from its release."""
        open_questions = self.count("survived") or self.count("unproven")
        return bool(self.errors or open_questions or not all(proof.holds for proof in self.proofs))

    @property
    def passed(self) -> bool:
        """Whether something was proven, and nothing is wrong."""
        tried = [proof for proof in self.proofs if proof.case in ("right", "wrong")]
        return not self.failed and bool(tried or self.count("killed"))

    @property
    def outcome(self) -> str:
        return "failed" if self.failed else "passed" if self.passed else "not tested"


def unknown(fates: list[Fate]) -> list[str]:
    """A sentence on the mutants of each answer that no check notices and that could not be compared, by the reason."""
    groups: dict[tuple[str, str], list[Fate]] = {}
    for fate in fates:
        if fate.status == "unproven":
            groups.setdefault((fate.cell, fate.note), []).append(fate)
    return [
        f"No check notices {counted(len(group), 'mutant')} of '{cell}'. It is unknown whether they are wrong: "
        f"{note}. Add a check that fails them, or list their lines in excused.toml. For example: {group[0].change}"
        for (cell, note), group in groups.items()
    ]


def gap_in_words(gap: list[Fate]) -> str:
    """A sentence on survivors that one check would notice."""
    first, number = gap[0], len(gap)
    if number == 1:
        return f"A wrong version of '{first.cell}' passes every check: {first.change}"
    where = f"line {first.line} of '{first.cell}'" if first.line else f"'{first.cell}'"
    if first.owner and len({fate.line for fate in gap}) > 1:
        where = f"'{first.owner}' in '{first.cell}'"
    return f"{number} wrong versions of {where} pass every check, for example: {first.change}"


def _texts(checks: list[CheckName]) -> list[str]:
    return [str(check) for check in checks]


WORDS = {
    PLAIN: "plain data",
    NOTHING: "plain data",
    ANY: "anything (allowed)",
    "": "function or object",
}


def kind_in_words(kind: str) -> str:
    """What a recorded kind lets a student's answer be."""
    if kind in WORDS:
        return WORDS[kind]
    return f"the library's {kind.replace(':', '.').rstrip('.')}"


def kinds_in_words(kinds: dict[str, str]) -> str:
    """The paths of all answers by their kinds, in a line; of many of a kind the first few."""
    paths: dict[str, list[str]] = {}
    for path, kind in kinds.items():
        paths.setdefault(kind_in_words(kind), []).append(readable(path))
    parts = {}
    for words, names in paths.items():
        parts[words] = f"{plaintext.some(names, len(names) if words == WORDS[ANY] else LISTED)}: {words}"
    return "; ".join(parts[words] for words in sorted(parts))


def weakened(before: dict, now: Audit) -> list[str]:
    """The checks that no longer notice mutants which they noticed in an earlier audit, read from its record.

    For a check that has another title now, or is gone, all of its cell's answer.
    """
    checks = {score.check for score in now.scores}
    known = {(fate.cell, fate.operator, fate.change): fate for fate in now.fates}
    missed: dict[CheckName, list[Fate]] = {}
    for old in before.get("fates", []):
        fate = known.get((old["cell"], old["operator"], old["change"]))
        if not fate:
            continue
        for check in map(CheckName.read, old["killers"]):
            instead = check not in checks and any(killer.cell == check.cell for killer in fate.killers)
            if check not in fate.killers and not instead:
                missed.setdefault(check, []).append(fate)
    return [
        f"The check '{check}' no longer notices {len(fates)} mutant{'s' * (len(fates) != 1)} that it noticed "
        f"in the last audit, for example in '{fates[0].cell}': {fates[0].change}"
        for check, fates in missed.items()
    ]


def unanswered(now: Audit) -> list[str]:
    """That no known answer was graded, if so."""
    if any(proof.case in ("right", "wrong") for proof in now.proofs):
        return []
    where = f"answers/{now.assignment}/right and wrong"
    return [f"Only the solution was graded. For a stronger audit, add known answers to {where}."]


# --- excuses


@dataclass(frozen=True)
class Excuse:
    """Why mutants of a cell may survive: those with one of the ``changes``, or all of an operator."""

    cell: str
    reason: str
    changes: tuple[str, ...] = ()
    operator: str = ""

    def fits(self, fate: Fate) -> bool:
        return self.cell == fate.cell and (
            fate.change in self.changes or (not self.changes and self.operator == fate.operator)
        )


def excuse(fates: list[Fate], excuses: list[Excuse]) -> list[str]:
    """Excuse the mutants that no check notices for which there is a reason; a sentence on each excuse that fits none.

    An excuse of a mutant that was proven equivalent stays: the proof is by numbers, whose rounding differs by machine.
    """
    used = set()
    for fate in fates:
        for index, reason in enumerate(excuses):
            if fate.surprise and reason.fits(fate):
                used.add(index)
                fate.surprise, fate.note = False, reason.reason
            if fate.status in ("survived", "equal", "unproven") and reason.fits(fate):
                used.add(index)
                if fate.status in ("survived", "unproven"):
                    fate.status, fate.note = "excused", reason.reason
    return [
        f"No mutant matches the excuse '{reason.reason}'. Remove the excuse."
        for index, reason in enumerate(excuses)
        if index not in used
    ]


def read_excuses(path: Path) -> list[Excuse]:
    """The entries ``[[excuse]]`` of a file: ``cell``, ``reason``, and ``changes`` or an ``operator``.

    Raises AnswerError when an entry is not like that.
    """
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(read_utf8(path)).get("excuse", [])
    except tomllib.TOMLDecodeError as error:
        raise AnswerError(f"{path} is not valid TOML: {error}.") from error
    excuses = []
    for entry in entries:
        keys = {"cell", "reason", "changes", "operator"}
        if not ({"cell", "reason"} <= entry.keys() <= keys and ("changes" in entry) != ("operator" in entry)):
            raise AnswerError(f"{path}: an excuse needs 'cell', 'reason', and either 'changes' or 'operator'.")
        if len(str(entry["reason"]).split()) < 4:
            raise AnswerError(f"{path}: the reason '{entry['reason']}' is too short. Write at least four words.")
        excuses.append(Excuse(**entry | {"changes": tuple(entry.get("changes", ()))}))
    return excuses
