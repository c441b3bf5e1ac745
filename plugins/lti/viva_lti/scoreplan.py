"""What each student's score becomes: sent, unchanged, or left, and why. Nothing is sent while this is found out.

A grade there that is not the last one sent was entered by somebody, and stays. So a score is sent only where the system
has none, where it has what was sent last, or with ``overwrite``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from urllib.parse import quote

from nbgrader.api import Gradebook

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook.identities import Identities
from viva.course.grades import export
from viva.course.grades.sheetplan import Line, Plan
from viva.course.grades.standing import Status
from viva.verdict import CourseError
from viva_lti.matching import Student, matched, students
from viva_lti.members import Member
from viva_lti.scores import Column, Grades, Result, Score
from viva_lti.sent import Sending, Sent
from viva_lti.settings import LmsSettings

NOISE, HUNDREDTH = Decimal("1e-9"), Decimal("0.01")
LONGEST = 2000
"""Characters of a comment."""


@dataclass
class ScorePlan(Plan):
    """The plan of an export, and the scores that it sends."""

    scores: list[Score] = field(default_factory=list)
    arrived: list[Score] = field(default_factory=list)
    """Scores that are there, and that a command was about to send when it was killed."""
    maximum: Decimal = Decimal(0)
    existing: Column | None = None
    """The column in the system; None where it is still to be made."""
    there: dict[str, Result] = field(default_factory=dict)
    """By user, what was in it when this was planned."""


@dataclass(frozen=True)
class There:
    """What a system was found to have of a course and an assignment."""

    host: str
    issuer: str
    """Whose the numbers of the members are (``viva.course.gradebook.identities``)."""
    members: list[Member]
    column: Column | None = None
    results: dict[str, Result] = field(default_factory=dict)

    @classmethod
    def read(cls, grades: Grades, issuer: str, members: list[Member], sent: Sent) -> There:
        """Raises CourseError, among them PlatformError."""
        column = grades.column(sent.assignment, sent.columns())
        return cls(grades.host, issuer, members, column, grades.results(column) if column else {})


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line."""

    student: str = "*"
    overwrite: bool = False
    raw: bool = False


def planned(
    course: Course, gradebook: Gradebook, sent: Sent, there: There, settings: LmsSettings, wishes: Wishes
) -> ScorePlan:
    """What sending an assignment's scores would do; nothing is asked for any more. Raises CourseError."""
    assignment, host, column, results = sent.assignment, there.host, there.column, there.results
    maximum = rounded(gradebook.find_assignment(assignment).max_score)
    if maximum <= 0:
        raise CourseError(f"{assignment} has no points, so there is no score to send.")
    plan = ScorePlan(
        sent.path, f"{settings.title}: {host}", assignment, maximum=maximum, existing=column, there=results
    )
    plan.column = column.label if column else f"{assignment} (new)"
    if column and column.score_maximum is not None and rounded(column.score_maximum) != maximum:
        plan.warnings.append(
            f"{host} has a maximum of {written(rounded(column.score_maximum))} points for {assignment}, and the "
            f"gradebook {written(maximum)}. The scores are converted; correct the points in one of the two."
        )
    sendings = sent.read(column.id) if column else {}
    enrolled = students(course, gradebook, there.issuer)
    people, doubts = matched(there.members, enrolled, settings.username_key)
    names = {member.user_id: member.name for member in there.members}
    if doubts and (question := Identities.read(course.root).question(_numbers(gradebook))):
        plan.warnings.append(question)
    plan.strangers += [Line("", names[user], f"member {user} {why}") for user, why in sorted(doubts.items())]
    notebooks = [notebook.name for notebook in gradebook.find_assignment(assignment).notebooks]
    for row in export.scores(course, gradebook, [assignment], wishes.student):
        student = enrolled.get(row["student_id"], Student(row["student_id"]))
        points, why = _points(row, wishes.raw)
        if points is None:
            plan.left.append(Line(student.id, student.name, why))
        elif student.id not in people:
            plan.absent.append(Line(student.id, student.name, written(points)))
        else:
            user = people[student.id].user_id
            comment = _comment(course, settings, row, notebooks, wishes.raw)
            score = Score(user, points, maximum, comment, student.id)
            _decide(plan, Line(student.id, student.name, written(points)), score, results.get(user),
                    sendings.get(user, []), wishes.overwrite)  # fmt: skip
    return plan


def _numbers(gradebook: Gradebook) -> dict[str, str]:
    """nbgrader's column of numbers, by student."""
    return {student.id: student.lms_user_id or "" for student in gradebook.students}


def rounded(score: float) -> Decimal:
    """The score with two decimals, half a hundredth rounded up; a float's noise goes before."""
    return Decimal(repr(float(score))).quantize(NOISE).quantize(HUNDREDTH, ROUND_HALF_UP)


def written(score: Decimal) -> str:
    """The score without zeros at its end: 7.5, 10, 0."""
    text = f"{score:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _points(row: dict, raw: bool) -> tuple[Decimal | None, str]:
    """The points of a student, or why there are none to send."""
    if row["status"] != Status.GRADED or row["score"] is None:
        return None, str(row["status"]) + (f": {row['reason']}" if row["reason"] else "")
    if row["needs_manual_grade"]:
        return None, "grading is not finished"
    return rounded(row["raw_score"] if raw else row["score"]), ""


def _comment(course: Course, settings: LmsSettings, row: dict, notebooks: list[str], raw: bool) -> str:
    """What a student reads beside the score: the penalty in it, and where the page is."""
    return "\n".join(_sentences(course, settings, row, notebooks, raw))[:LONGEST]


def _sentences(course: Course, settings: LmsSettings, row: dict, notebooks: list[str], raw: bool) -> Iterator[str]:
    student, assignment = row["student_id"], row["assignment"]
    if row["late_submission_penalty"] and not raw:
        score, penalty = (written(rounded(row[name])) for name in ("raw_score", "late_submission_penalty"))
        yield f"Late penalty: {penalty} of {score} points."
    if not settings.pages:
        return
    addresses = []
    for notebook in notebooks:
        if course.path("feedback", assignment, student).joinpath(f"{notebook}.html").is_file():
            values = {"student": student, "assignment": assignment, "notebook": notebook}
            try:
                addresses.append(
                    settings.pages.format(**{name: quote(value, safe="") for name, value in values.items()})
                )
            except (KeyError, IndexError, ValueError) as error:
                raise CourseError(
                    f"c.{type(settings).__name__}.pages can have only {{student}}, {{assignment}} and {{notebook}} in "
                    f"braces. Now it is {plaintext.quoted(settings.pages)}."
                ) from error
    yield from (f"Feedback: {address}" for address in dict.fromkeys(addresses))


def _decide(
    plan: ScorePlan, line: Line, score: Score, result: Result | None, sendings: list[Sending], overwrite: bool
) -> None:
    """Put one student into one part of the plan."""
    present = _scaled(result, score.maximum)
    last = sendings[-1] if sendings else None
    ours = [sending.points * score.maximum / sending.maximum for sending in sendings]

    def is_there(points: Decimal) -> bool:
        return has(result, points, score.maximum)

    def send(lines: list[Line], what: str) -> None:
        if result and result.held:
            plan.left.append(Line(line.student, line.name, f"{result.held}; --visible sends {line.what}"))
        else:
            lines.append(Line(line.student, line.name, what))
            plan.scores.append(score)

    def entered(reason: str) -> None:
        if overwrite:
            send(plan.replaced, f"{reason} → {line.what}")
        else:
            plan.left.append(Line(line.student, line.name, f"{reason}; --overwrite sends {line.what}"))

    if present is None and result and result.status:
        entered(result.status)
    elif present is not None and not any(is_there(points) for points in [*ours, score.points]):
        entered(f"{written(_short(present))} was entered there")
    elif last and last.done and last.is_of(score):
        plan.unchanged.append(line)
    elif present is None:
        if any(sending.done for sending in sendings):
            entered("the score that was sent before is not there any more")
        else:
            send(plan.written, line.what)
    elif not is_there(score.points):
        send(plan.replaced, f"{written(_short(present))} → {line.what}")
    elif last is None or score.points not in ours:  # somebody entered the same, or the list of what was sent is lost
        plan.unchanged.append(line)
    elif last.is_of(score):
        plan.unchanged.append(line)
        plan.arrived.append(score)
    else:
        send(plan.replaced, f"{line.what}, with another comment")


def has(result: Result | None, points: Decimal, maximum: Decimal) -> bool:
    """Whether a result is these points of the gradebook's, as far as the system's rounding lets that be told."""
    present, tolerance = _scaled(result, maximum), HUNDREDTH
    if present is None or result is None:
        return False
    if result.maximum:  # the system rounds to a hundredth of its own points
        tolerance *= max(Decimal(1), maximum / Decimal(repr(result.maximum)))
    return abs(present - points) < tolerance


def _scaled(result: Result | None, maximum: Decimal) -> Decimal | None:
    """A result in points of the gradebook; None where there is none."""
    if result is None or result.score is None:
        return None
    return Decimal(repr(result.score)) * maximum / Decimal(repr(result.maximum or 1.0))


def _short(points: Decimal) -> Decimal:
    return points.quantize(HUNDREDTH, ROUND_HALF_UP)
