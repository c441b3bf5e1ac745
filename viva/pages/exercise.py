"""The exercises of a page: grade cells under one heading, and the results of their checks."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, field

from markupsafe import Markup

from viva.language import ENGLISH, Language
from viva.notebook.stubs import STUB
from viva.pages.explanation import Explanation
from viva.verdict import Verdict


@dataclass
class Grade:
    """What the gradebook has of one grade cell."""

    score: float
    most: float
    waiting: bool
    by_hand: float | None


@dataclass(frozen=True)
class Lost:
    """Why a cell did not run to its end, as its student reads it; the ``cell`` is empty where it is not one."""

    sentence: str
    cell: str = ""
    code: str = ""
    """The student's line."""


@dataclass
class Line:
    """A check as its student reads it."""

    title: str
    points: float
    earned: float
    verdict: Verdict
    explanation: Explanation
    undone: tuple[str, ...] = ()
    """The answers that are not done yet and explain why it was not passed."""
    lost: Lost | None = None
    """The cause by which it was lost, if that is not its own."""
    visible: bool = True
    """Whether students were given what it asks for."""
    times: int = 1
    """How many checks of the exercise ended the same way, at the same line of the student's code."""
    as_in: str = ""
    """The title of the first of them, where this is another one."""

    def words(self, language: Language = ENGLISH) -> str:
        """The verdict as its student reads it."""
        return language.text(f"verdict.{self.verdict.name.lower()}")


@dataclass
class Question:
    """A grade cell: its checks or, where a grader reads the answer, what they made of it."""

    id: str
    name: Markup
    grade: Grade
    manual: bool
    unanswered: bool = False
    """Whether it was left as it was given out, and a person would read it."""
    lines: list[Line] = field(default_factory=list)
    comment: str = ""
    scheme: str = ""

    @property
    def begun(self) -> list[Line]:
        """The checks that have a result of their own: they wait for no answer, and no cell above them is the cause."""
        return [line for line in self.lines if not line.undone and not line.lost]

    @property
    def changed(self) -> bool:
        """Whether a grader gave a test cell another score than its checks."""
        return not self.manual and self.grade.by_hand is not None


@dataclass
class Folded:
    """Checks of an exercise that are shown together, for one reason."""

    lines: list[Line]

    @property
    def points(self) -> float:
        return sum(line.points for line in self.lines)

    @property
    def earned(self) -> float:
        return sum(line.earned for line in self.lines)


@dataclass
class Waiting(Folded):
    """Checks that wait for answers which are not done yet."""

    answers: tuple[str, ...]
    still_raises: frozenset[str] = frozenset()
    """Those of the answers in which the line of the stub stands; the others are empty."""


@dataclass
class Dependent(Folded):
    """Checks that were lost by one cause, which is said in the ``first`` exercise alone."""

    cause: Lost
    first: bool


@dataclass
class Exercise:
    """What stands under one heading: a row that unfolds to its checks."""

    name: Markup
    questions: list[Question]
    waiting: list[Waiting]
    dependent: list[Dependent] = field(default_factory=list)

    @property
    def lines(self) -> list[Line]:
        return [line for question in self.questions for line in question.lines]

    @property
    def grade(self) -> Grade:
        """The points of all its grade cells together."""
        grades = [question.grade for question in self.questions]
        waits = any(grade.waiting for grade in grades)
        return Grade(sum(grade.score for grade in grades), sum(grade.most for grade in grades), waits, None)

    @property
    def undone(self) -> bool:
        """Whether nothing of it is done yet."""
        if self.lines:
            return all(line.undone for line in self.lines)
        return all(question.unanswered for question in self.questions)

    def state(self, language: Language = ENGLISH) -> str:
        """The result of its checks, in a few words; empty where it has none."""
        if self.undone:
            return language.text("verdict.not_done")
        if not self.lines:
            return ""
        if len(self.lines) == 1 and self.lines[0].verdict in (Verdict.PASSED, Verdict.PARTLY):
            return self.lines[0].words(language)
        if all(line.verdict is Verdict.PASSED for line in self.lines):
            return language.text("exercise.all_passed")
        return passed_of(self.lines, language)

    @property
    def open(self) -> bool:
        """Whether there is more to read in it than that all is well, or nothing was done."""
        told = (
            line.verdict is not Verdict.PASSED or line.explanation.sentence for line in self.lines if not line.undone
        )
        return any(told) or any(question.comment or question.changed for question in self.questions)


def passed_of(lines: list[Line], language: Language = ENGLISH) -> str:
    """How many of some checks passed, and how many are partly right."""
    passed, partly = (sum(line.verdict is verdict for line in lines) for verdict in (Verdict.PASSED, Verdict.PARTLY))
    if partly:
        return language.text("exercise.passed_partly", len(lines), passed=passed, partly=partly)
    return language.text("exercise.passed", len(lines), passed=passed)


def exercises_of(questions: list[Question], cells: dict[str, str]) -> list[Exercise]:
    """Questions that follow each other under one heading are an exercise; ``cells`` are the student's cells."""
    exercises, causes = [], set[Lost]()
    for name, group in itertools.groupby(questions, key=lambda question: question.name):
        members = list(group)
        waiting: dict[tuple[str, ...], list[Line]] = defaultdict(list)
        for line in (line for question in members for line in question.lines if line.undone):
            waiting[line.undone].append(line)
        parts = [
            Waiting(lines, answers, frozenset(answer for answer in answers if STUB in cells.get(answer, "")))
            for answers, lines in waiting.items()
        ]
        _fold([line for question in members for line in question.begun])
        lost: dict[Lost, list[Line]] = defaultdict(list)
        for line in (line for question in members for line in question.lines):
            if line.lost:
                lost[line.lost].append(line)
        dependent = [Dependent(lines, cause, cause not in causes) for cause, lines in lost.items()]
        causes |= lost.keys()
        exercises.append(Exercise(name, members, parts, dependent))
    return exercises


def _fold(lines: list[Line]) -> None:
    """Note which checks ended in the same error at the same place: it is told once, with how often it came."""
    first: dict[tuple, Line] = {}
    for line in lines:
        explanation = line.explanation
        if not explanation.frames:
            continue
        earlier = first.setdefault((explanation.sentence, explanation.frames, explanation.printed, line.visible), line)
        if earlier is not line:
            earlier.times += 1
            line.as_in = earlier.title
