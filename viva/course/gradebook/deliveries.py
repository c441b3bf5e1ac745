"""What was handed in and when, as the gradebook has it, for those who reckon what lateness costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime

from nbgrader.api import Grade, SubmittedAssignment
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from viva.course.deadlines.concessions import Concessions
from viva.course.deadlines.policy import LatePolicy
from viva.course.deadlines.reckoning import Delivery, Reckoning, reckon

MOST_IDS = 500
"""So many ids are asked for at once."""


def deliveries(
    session: Session, rules: LatePolicy, granted: Concessions, submissions: Collection[SubmittedAssignment]
) -> dict[str, tuple[tuple[str, str], Delivery]]:
    """What was handed in at a known time for what is due, by its id: the place, and what reckoning needs.

    Who is excused owes nothing, and spends no days.
    """
    earned = scores(session, [book.id for one in submissions for book in one.notebooks])
    found = {}
    for one in submissions:
        place = one.assignment.name, one.student_id
        due = rules.terms(place[0]).due or _aware(one.assignment.duedate)
        if due is None or one.timestamp is None or place in granted.excused:
            continue
        extended = due + one.extension if one.extension else None
        until = extended if granted.extensions is None else granted.extensions.get(place)
        score = sum(max(0.0, earned.get(book.id) or 0.0) for book in one.notebooks)
        most = float(one.assignment.max_score or 0.0)
        found[one.id] = place, Delivery(place[0], due, _aware(one.timestamp), score, most, until)
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


def scores(session: Session, notebooks: Iterable[str]) -> dict[str, float]:
    """The scores of submitted notebooks, by id."""
    found: dict[str, float] = {}
    for some in parts(notebooks):
        summed = select(Grade.notebook_id, func.sum(Grade.score)).where(Grade.notebook_id.in_(some))
        found |= dict(session.execute(summed.group_by(Grade.notebook_id)).all())
    return found


def parts(ids: Iterable[str]) -> Iterator[list[str]]:
    ids = sorted(ids)
    return (ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS))


def _aware(moment: datetime | None) -> datetime | None:
    """nbgrader's times are in UTC, and do not say so."""
    return moment and moment.replace(tzinfo=UTC)
