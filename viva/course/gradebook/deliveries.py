"""What was handed in and when, as the gradebook has it, for those who reckon what lateness costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from viva.course.deadlines.concessions import Concessions
from viva.course.deadlines.policy import LatePolicy
from viva.course.deadlines.reckoning import Delivery, Reckoning, reckon

MOST_IDS = 500
"""So many ids are asked for at once."""


@dataclass(frozen=True)
class Submitted:
    """A submission as the gradebook has it; times are in UTC, and nbgrader's do not say so."""

    id: str
    assignment: str
    student: str
    due: datetime | None
    at: datetime | None
    extension: timedelta | None
    most: float
    notebooks: dict[str, float | None] = field(default_factory=dict)
    """By id, what each loses by now; None where it is not late."""

    @property
    def place(self) -> tuple[str, str]:
        return self.assignment, self.student

    @property
    def late(self) -> bool:
        """Whether nbgrader calls it late."""
        return bool(self.due and self.at and self.at > self.due + (self.extension or timedelta()))


def submitted(
    session: Session, column: InstrumentedAttribute | None = None, ids: Iterable[str] = ()
) -> list[Submitted]:
    """The submissions that have one of some ``ids`` in a column of theirs or of their notebooks; all without a column.

    nbgrader's objects would have the database sum up scores for each of them, which takes a millisecond or more.
    """
    about = select(Assignment.id, Assignment.name, Assignment.duedate, Assignment.max_score)
    known = {key: about for key, *about in session.execute(about)}
    own, book = SubmittedAssignment, SubmittedNotebook
    query = select(own.id, own.assignment_id, own.student_id, own.timestamp, own.extension).distinct()
    if column is not None and column.class_ is book:
        query = query.join(book, book.assignment_id == own.id)
    found: dict[str, Submitted] = {}
    queries = [query] if column is None else [query.where(column.in_(some)) for some in parts(ids)]
    for one in queries:
        for key, of, student, at, extension in session.execute(one):
            name, due, most = known[of]
            found[key] = Submitted(key, name, student, due, at, extension, float(most or 0.0))
    for some in parts(found):
        books = select(book.id, book.assignment_id, book.late_submission_penalty).where(book.assignment_id.in_(some))
        for key, of, penalty in session.execute(books.order_by(book.id)):
            found[of].notebooks[key] = penalty
    return list(found.values())


def deliveries(
    rules: LatePolicy, granted: Concessions, submissions: Iterable[Submitted], earned: Mapping[str, float | None]
) -> dict[tuple[str, str], Delivery]:
    """What was handed in at a known time for what is due, with what its notebooks have ``earned``.

    Who is excused owes nothing, and spends no days.
    """
    found, dues = {}, {}
    for one in submissions:
        if one.assignment not in dues:
            dues[one.assignment] = rules.terms(one.assignment).due or _aware(one.due)
        due = dues[one.assignment]
        if due is None or one.at is None or one.place in granted.excused:
            continue
        extended = due + one.extension if one.extension else None
        until = extended if granted.extensions is None else granted.extensions.get(one.place)
        score = sum(max(0.0, earned.get(book) or 0.0) for book in one.notebooks)
        found[one.place] = Delivery(one.assignment, due, one.at.replace(tzinfo=UTC), score, one.most, until)
    return found


def all_reckoned(rules: LatePolicy, deliveries: dict[tuple[str, str], Delivery]) -> dict[tuple[str, str], Reckoning]:
    terms = {name: rules.terms(name) for name in {assignment for assignment, _ in deliveries}}
    late_days = {name: one.late_days for name, one in terms.items() if one.late_days is not None}
    by_student: dict[str, list[Delivery]] = defaultdict(list)
    for (_, student), delivery in deliveries.items():
        by_student[student].append(delivery)
    only = {name: one.rule for name, one in terms.items()}
    return {
        (name, student): result
        for student, theirs in by_student.items()
        for name, result in reckon(theirs, only, rules.place, rules.budget, late_days).items()
    }


def shared(penalty: float, scores: list[float]) -> list[float]:
    """A penalty, shared out by scores; the shares add up to it, and none is more than its score."""
    whole = sum(scores)
    shares = [round(penalty * score / whole, 9) if whole else 0.0 for score in scores]
    if shares:
        last = max(range(len(scores)), key=scores.__getitem__)
        shares[last] = round(shares[last] + penalty - sum(shares), 9)
    return shares


def scores(session: Session, notebooks: Iterable[str]) -> dict[str, float | None]:
    """The scores of submitted notebooks, by id; None where no cell has one."""
    found: dict[str, float | None] = {}
    for some in parts(notebooks):
        summed = select(Grade.notebook_id, func.sum(Grade.score)).where(Grade.notebook_id.in_(some))
        for book, score in session.execute(summed.group_by(Grade.notebook_id)):
            found[book] = score
    return found


def parts(ids: Iterable[str]) -> Iterator[list[str]]:
    ids = sorted(ids)
    return (ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS))


def _aware(moment: datetime | None) -> datetime | None:
    """nbgrader's times are in UTC, and do not say so."""
    return moment and moment.replace(tzinfo=UTC)
