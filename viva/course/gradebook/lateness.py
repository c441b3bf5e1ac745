"""The penalties of late submissions, in the gradebook.

Theory of operation. nbgrader reckons a penalty once, when it grades a notebook automatically, and stores it beside
the scores; points given by hand afterwards escape it. Here a gradebook that was given to ``follow`` is *followed*:
whatever a session of SQLAlchemy changes in it that a penalty depends on (a score of either kind, extra credit, the
points of a cell, a time or a due date), the penalties of the notebooks concerned are reckoned anew in the same
transaction. nbgrader_config.py calls ``follow``, so this holds in formgrader's server and in nbgrader's
commands as in Viva's. What was changed without it, by SQL or by a script, ``settle`` puts right.

The policy is a LateSubmissionPlugin of nbgrader's, named by ``AssignLatePenalties.plugin_class``. Viva's own,
LatePolicy, speaks of whole assignments and of all that a student submitted; what it takes off is shared out among the
notebooks by their scores. Any other is asked notebook by notebook, as nbgrader does. Due times of the configuration and
extensions of extensions.csv are written into the gradebook, so that formgrader and nbgrader's commands say the same.
"""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import (
    Assignment,
    Grade,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import URL, event, func, make_url, or_, select, update
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import InstrumentedAttribute, Session, joinedload
from sqlalchemy.orm.util import identity_key
from traitlets.config import Config

from viva.course.deadlines.concessions import Concessions
from viva.course.deadlines.policy import DailyPenalty, LatePolicy
from viva.course.deadlines.rule import Delivery, Reckoning, reckon
from viva.verdict import CourseError

# Submissions and their times, as the gradebook has them, for late penalties.

MOST_IDS = 500
"""The number of ids in one query."""


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
    statement = select(Assignment.id, Assignment.name, Assignment.duedate, Assignment.max_score)
    assignments = {key: columns for key, *columns in session.execute(statement)}
    submission, book = SubmittedAssignment, SubmittedNotebook
    query = select(
        submission.id, submission.assignment_id, submission.student_id, submission.timestamp, submission.extension
    ).distinct()
    if column is not None and column.class_ is book:
        query = query.join(book, book.assignment_id == submission.id)
    submissions: dict[str, Submitted] = {}
    queries = [query] if column is None else [query.where(column.in_(part)) for part in parts(ids)]
    for part_query in queries:
        for key, of, student, at, extension in session.execute(part_query):
            name, due, most = assignments[of]
            submissions[key] = Submitted(key, name, student, due, at, extension, float(most or 0.0))
    for part in parts(submissions):
        books = select(book.id, book.assignment_id, book.late_submission_penalty).where(book.assignment_id.in_(part))
        for key, of, penalty in session.execute(books.order_by(book.id)):
            submissions[of].notebooks[key] = penalty
    return list(submissions.values())


def deliveries(
    rules: LatePolicy, granted: Concessions, submissions: Iterable[Submitted], earned: Mapping[str, float | None]
) -> dict[tuple[str, str], Delivery]:
    """The submissions that have a time and a deadline, with the points that their notebooks have ``earned``.

    Who is excused owes nothing, and spends no days.
    """
    delivered, dues = {}, {}
    for submission in submissions:
        if submission.assignment not in dues:
            dues[submission.assignment] = rules.terms(submission.assignment).due or _aware(submission.due)
        due = dues[submission.assignment]
        if due is None or submission.at is None or submission.place in granted.excused:
            continue
        until = granted.deadline(submission.place, due, submission.extension)
        score = sum(max(0.0, earned.get(book) or 0.0) for book in submission.notebooks)
        extended = until if until != due else None
        delivered[submission.place] = Delivery(
            submission.assignment, due, submission.at.replace(tzinfo=UTC), score, submission.most, extended
        )
    return delivered


def deadlines(
    session: Session, rules: LatePolicy, granted: Concessions, places: Collection[tuple[str, str]]
) -> dict[tuple[str, str], datetime | None]:
    """When submissions are due for their students, by assignment and student, in UTC; None where there is no deadline.

    Raises CourseError for a policy that is none.
    """
    due_dates = {name: _aware(due) for name, due in session.execute(select(Assignment.name, Assignment.duedate))}
    dues = {name: rules.terms(name).due or due_dates.get(name) for name in {assignment for assignment, _ in places}}
    submission = SubmittedAssignment
    query = select(Assignment.name, submission.student_id, submission.extension).join(
        Assignment, Assignment.id == submission.assignment_id
    )
    extensions = {
        (name, who): extension
        for name, who, extension in session.execute(query.where(submission.extension.is_not(None)))
    }
    return {
        pair: granted.deadline(pair, due, extensions.get(pair)) if (due := dues[pair[0]]) else None for pair in places
    }


def all_reckoned(rules: LatePolicy, deliveries: dict[tuple[str, str], Delivery]) -> dict[tuple[str, str], Reckoning]:
    terms = {name: rules.terms(name) for name in {assignment for assignment, _ in deliveries}}
    late_days = {name: term.late_days for name, term in terms.items() if term.late_days is not None}
    by_student: dict[str, list[Delivery]] = defaultdict(list)
    for (_, student), delivery in deliveries.items():
        by_student[student].append(delivery)
    only = {name: term.rule for name, term in terms.items()}
    return {
        (name, student): result
        for student, theirs in by_student.items()
        for name, result in reckon(theirs, only, rules.place, rules.budget, late_days).items()
    }


def shared(penalty: float, scores: list[float]) -> list[float]:
    """A penalty divided in proportion to scores; the shares add up to it, and none exceeds its score."""
    whole = sum(scores)
    shares = [round(penalty * score / whole, 9) if whole else 0.0 for score in scores]
    if shares:
        last = max(range(len(scores)), key=scores.__getitem__)
        shares[last] = round(shares[last] + penalty - sum(shares), 9)
    return shares


def scores(session: Session, notebooks: Iterable[str]) -> dict[str, float | None]:
    """The scores of submitted notebooks, by id; None where no cell has one."""
    sums: dict[str, float | None] = {}
    for part in parts(notebooks):
        summed = select(Grade.notebook_id, func.sum(Grade.score)).where(Grade.notebook_id.in_(part))
        for book, score in session.execute(summed.group_by(Grade.notebook_id)):
            sums[book] = score
    return sums


def parts(ids: Iterable[str]) -> Iterator[list[str]]:
    ids = sorted(ids)
    return (ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS))


def _aware(moment: datetime | None) -> datetime | None:
    """nbgrader's times are in UTC, and do not say so."""
    return moment and moment.replace(tzinfo=UTC)


__all__ = ["DailyPenalty", "follow", "policy", "reckonings", "settle"]  # where courses name the first of them

_TOUCHED = "viva: submitted notebooks whose penalty may have changed"


@dataclass
class _Followed:
    """A followed gradebook: the configuration of its course, where that lies, and, once asked for, its plugin."""

    config: Config
    root: Path
    plugin: LateSubmissionPlugin | None = None

    def written(self) -> list[str]:
        """The assignments in the course's source folder, which the gradebook knows once they are released."""
        directory = CourseDirectory(config=self.config)
        directory.root = str(self.root)
        source = Path(directory.format_path(directory.source_directory, ".", "."))
        return [folder.name for folder in source.glob("*/")]


_followed: dict[str, _Followed] = {}
"""By the address of the gradebook."""


def follow(config: Config, file: str = "", db_url: str = "", root: str = "") -> None:
    """From now on, this process computes penalties of a course's gradebook again whenever a cause of them changes.

    The gradebook is the one at ``db_url`` if given, else the one that ``config`` names, whose ``file`` lies in the
    course folder unless it says where that is, or ``root`` does.
    """
    directory = CourseDirectory(config=config)
    if root:
        directory.root = root
    if file:
        config.Lateness.followed = True  # the configuration says so itself
        if "root" not in config.CourseDirectory:
            directory.root = str(Path(file).absolute().parent)
    with contextlib.suppress(ArgumentError, ValueError):  # no address of a gradebook, as who opens it will say
        _followed[_address(db_url or directory.db_url)] = _Followed(config, Path(directory.root))


def policy(session: Session) -> LatePolicy | None:
    """The policy of a followed gradebook, if it is Viva's."""
    followed = _of(session)
    return followed.plugin if followed and isinstance(followed.plugin, LatePolicy) else None


def settle(session: Session) -> int:
    """Compute all penalties, save those that change, and return their number.

    A gradebook that is not followed is left alone. Raises CourseError for a policy or an extension that is none.
    """
    followed = _of(session)
    if followed and isinstance(followed.plugin, LatePolicy):
        followed.plugin.check([*session.scalars(select(Assignment.name)), *followed.written()])
        _align(session, followed, session.scalars(select(Assignment)))
    wanted = select(SubmittedNotebook.id).join(SubmittedNotebook.assignment).join(SubmittedAssignment.assignment)
    late = Assignment.duedate.is_not(None) & SubmittedAssignment.timestamp.is_not(None)
    wanted = wanted.where(or_(late, SubmittedNotebook.late_submission_penalty.is_not(None)))
    changed = _reckon(session, set(session.scalars(wanted)))
    session.commit()  # whatever changed: a query has flushed due times already, and the session looks clean
    return changed


def reckonings(
    session: Session, rules: LatePolicy, students: Collection[str] = (), granted: Concessions | None = None
) -> dict[tuple[str, str], Reckoning]:
    """The late penalties by a policy, by assignment and student, of all students when none is named.

    Only what was submitted at a known time for an assignment that is due is in it. Raises CourseError for a policy or
    an extension that is none. The gradebook has to be followed; it is only read. ``granted`` stands in place of what
    the course's files grant.
    """
    column = SubmittedAssignment.student_id if students else None
    submissions = submitted(session, column, students)
    earned = scores(session, [book for submission in submissions for book in submission.notebooks])
    if granted is None:
        followed = _of(session)
        assert followed is not None  # the gradebook is followed
        granted = Concessions.of(followed.root, rules.place)
    return all_reckoned(rules, deliveries(rules, granted, submissions, earned))


def _address(db_url: str | URL) -> str:
    return make_url(db_url).render_as_string(hide_password=False)


def _of(session: Session) -> _Followed | None:
    followed = _followed.get(_address(session.get_bind().engine.url)) if _followed else None
    if followed and followed.plugin is None:
        step = AssignLatePenalties(config=Config(followed.config))
        step.init_plugin()
        followed.plugin = step.plugin_inst
    return followed


def _align(session: Session, followed: _Followed, assignments: Iterable[Assignment]) -> None:
    """Tell the gradebook when assignments are due, and who has more time, where the course says so."""
    rules, names = followed.plugin, {}
    assert isinstance(rules, LatePolicy)
    for assignment in assignments:
        due = rules.terms(assignment.name).due
        if due and assignment.duedate != due.replace(tzinfo=None):
            assignment.duedate = due.replace(tzinfo=None)
        names[assignment.id] = assignment.name
    granted = Concessions.of(followed.root, rules.place)
    dues = {
        assignment.id: _aware(assignment.duedate)
        for assignment in session.scalars(select(Assignment).where(Assignment.id.in_(names)))
    }
    chosen = SubmittedAssignment.assignment_id.in_(names)
    students = {student for _, student in granted.extensions or ()}
    having = or_(SubmittedAssignment.extension.is_not(None), SubmittedAssignment.student_id.in_(students))
    for submission in session.scalars(select(SubmittedAssignment).where(chosen, having)):
        pair, due = (names[submission.assignment_id], submission.student_id), dues[submission.assignment_id]
        if due is None and granted.extensions is None:
            continue  # the gradebook's own extension waits for a deadline
        extension = granted.deadline(pair, due, submission.extension) - due if due else None
        if submission.extension != (extension or None):
            submission.extension = extension or None


def _reckon(session: Session, notebooks: set[str]) -> int:
    """Set the penalties of submitted notebooks, by id; how many changed."""
    followed = _of(session) if notebooks else None
    if followed is None:
        return 0
    if isinstance(followed.plugin, LatePolicy):
        return _keep_policy(session, followed, notebooks)
    changed = 0
    _take_turns(session, notebooks)
    for part in parts(notebooks):
        wanted = select(SubmittedNotebook).where(SubmittedNotebook.id.in_(part))
        whole = joinedload(SubmittedNotebook.assignment).joinedload(SubmittedAssignment.assignment)
        submitted_notebooks = session.scalars(wanted.options(whole)).all()
        late = [
            late_notebook.id for late_notebook in submitted_notebooks if late_notebook.assignment.total_seconds_late > 0
        ]
        earned = scores(session, late)
        for notebook in submitted_notebooks:
            penalty = _penalty(followed.plugin, notebook, earned.get(notebook.id) or 0.0)
            if penalty != notebook.late_submission_penalty:
                notebook.late_submission_penalty = penalty
                changed += 1
    return changed


def _keep_policy(session: Session, followed: _Followed, notebooks: set[str]) -> int:
    """The same by Viva's policy: of whole assignments, and of all of a student's where there is a budget of days."""
    rules = followed.plugin
    assert isinstance(rules, LatePolicy)
    _take_turns(session, notebooks)
    touched = {submission.assignment for submission in submitted(session, SubmittedNotebook.id, notebooks)}
    _align(session, followed, session.scalars(select(Assignment).where(Assignment.name.in_(touched))))
    submissions = submitted(session, SubmittedNotebook.id, notebooks)
    if rules.budget:
        submissions = submitted(
            session, SubmittedAssignment.student_id, {submission.student for submission in submissions}
        )
    earned = scores(session, [book for submission in submissions for book in submission.notebooks])
    granted = Concessions.of(followed.root, rules.place)
    reckoned = all_reckoned(rules, deliveries(rules, granted, submissions, earned))
    penalties: dict[str, float | None] = {}
    for submission in submissions:
        result = reckoned.get(submission.place) if submission.late else None
        each = [max(0.0, earned.get(book) or 0.0) for book in submission.notebooks]
        shares = shared(result.penalty, each) if result else [None] * len(each)
        new = dict(zip(submission.notebooks, shares, strict=True))
        penalties |= {book: share for book, share in new.items() if share != submission.notebooks[book]}
    _save(session, penalties)
    return len(penalties)


def _save(session: Session, penalties: dict[str, float | None]) -> None:
    """Write penalties, by submitted notebook; the objects of the session are updated too."""
    rows = []
    for book, penalty in penalties.items():
        held = session.identity_map.get(identity_key(SubmittedNotebook, book))
        if held is None:
            rows.append({"id": book, "late_submission_penalty": penalty})
        else:
            held.late_submission_penalty = penalty
    if rows:
        session.execute(update(SubmittedNotebook), rows)


def _take_turns(session: Session, notebooks: set[str]) -> None:
    """Wait for other processes that compute the same penalties, and read the results. SQLite has one writer anyway."""
    for part in parts(notebooks):
        chosen = select(SubmittedNotebook.id).where(SubmittedNotebook.id.in_(part)).order_by(SubmittedNotebook.id)
        session.execute(chosen.with_for_update())


def _penalty(plugin: LateSubmissionPlugin, notebook: SubmittedNotebook, score: float) -> float | None:
    """The points that a notebook loses, as nbgrader has it: None where nothing is late, never more than the score."""
    seconds = notebook.assignment.total_seconds_late
    if seconds <= 0:
        return None
    penalty = plugin.late_submission_penalty(notebook.assignment.student_id, score, seconds)
    return None if penalty is None else max(0.0, min(penalty, score))


@event.listens_for(Session, "after_flush")
def _note(session: Session, _context: object) -> None:
    if not _followed:
        return
    touched = session.info.setdefault(_TOUCHED, defaultdict(set))
    # An assignment is dirty as soon as somebody submits it; whoever else did is not concerned.
    changed = (row for row in session.dirty if session.is_modified(row, include_collections=False))
    for row in (*session.new, *changed, *session.deleted):
        for kind, key, column in _CONCERNED:
            if isinstance(row, kind):
                touched[column].add(getattr(row, key))


_CONCERNED = (
    (SubmittedNotebook, "id", SubmittedNotebook.id),  # nbgrader's own step sets a penalty that knows of no assignment
    (Grade, "notebook_id", SubmittedNotebook.id),
    (SubmittedAssignment, "id", SubmittedNotebook.assignment_id),
    (Assignment, "id", Notebook.assignment_id),
    (GradeCell | TaskCell, "notebook_id", SubmittedNotebook.notebook_id),
)
"""The rows that a penalty depends on, and for each the value and the column that find the submitted notebooks."""


@event.listens_for(Session, "before_commit")
def _keep(session: Session) -> None:
    if not _followed:
        return
    session.flush()
    touched = session.info.pop(_TOUCHED, None)
    if not touched or _of(session) is None:
        return
    notebooks: set[str] = set()
    for column, places in touched.items():
        for part in parts(filter(None, places)):
            wanted = select(SubmittedNotebook.id).join(SubmittedNotebook.notebook).where(column.in_(part))
            notebooks.update(session.scalars(wanted))
    try:
        _reckon(session, notebooks)
    except CourseError as error:  # scores are saved all the same; every command of Viva's refuses with this sentence
        logging.getLogger("viva").error("Late penalties were not computed. %s", error)
    session.flush()
    session.info.pop(_TOUCHED, None)  # these penalties are up to date


@event.listens_for(Session, "after_rollback")
def _forget(session: Session) -> None:
    session.info.pop(_TOUCHED, None)
