"""What a late submission costs: the course's policy, and how the gradebook keeps to it.

Theory of operation. nbgrader reckons a penalty once, when it grades a notebook automatically, and stores it beside
the scores; points given by hand afterwards escape it. Here a gradebook that ``follow`` was told of is *followed*:
whatever a session of SQLAlchemy changes in it that a penalty depends on (a score of either kind, extra credit, the
points of a cell, a time or a due date), the penalties of the notebooks concerned are reckoned anew in the same
transaction. nbgrader_config.py calls ``follow``, so this holds in formgrader's server and in nbgrader's
commands as in Viva's. What was changed without it, by SQL or by a script, ``settle`` puts right.

The policy itself is nbgrader's: a LateSubmissionPlugin, named by ``AssignLatePenalties.plugin_class``.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator

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
from sqlalchemy import URL, event, func, make_url, or_, select
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session, joinedload
from traitlets import Float
from traitlets.config import Config

DAY = 24 * 60 * 60
MOST_IDS = 500
"""So many ids are asked for at once."""
_TOUCHED = "viva: submitted notebooks whose penalty may have changed"
_policies: dict[str, Config | AssignLatePenalties] = {}
"""By the address of a followed gradebook, where its policy stands, then the step that knows it."""


class DailyPenalty(LateSubmissionPlugin):
    """A fixed share of the score for each day that has begun since the due date."""

    per_day = Float(0.1, min=0, max=1, help="The share of the score lost for each day begun.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """The points to take off ``score``: never more than the score, none when on time."""
        days = math.ceil(max(0.0, total_seconds_late) / DAY)
        return min(score, score * self.per_day * days)


def follow(config: Config, file: str = "", db_url: str = "") -> None:
    """From now on in this process, the penalties in a course's gradebook follow what they depend on.

    The gradebook is the one at ``db_url`` if given, else the one that ``config`` names, whose ``file`` lies in the
    course folder unless it says where that is.
    """
    directory = CourseDirectory(config=config)
    if file:
        config.Lateness.followed = True  # the configuration says so itself
        if "root" not in config.CourseDirectory:
            directory.root = os.path.dirname(os.path.abspath(file))
    with contextlib.suppress(ArgumentError):  # no address of a gradebook, as who opens it will say
        _policies[_address(db_url or directory.db_url)] = config


def settle(session: Session, assignments: Iterable[str] = ()) -> int:
    """Reckon the penalties of assignments, of all when none is named, and save those that change; how many did.

    A gradebook that is not followed is left alone.
    """
    names = list(assignments)
    wanted = select(SubmittedNotebook.id).join(SubmittedNotebook.assignment).join(SubmittedAssignment.assignment)
    late = Assignment.duedate.is_not(None) & SubmittedAssignment.timestamp.is_not(None)
    wanted = wanted.where(or_(late, SubmittedNotebook.late_submission_penalty.is_not(None)))
    if names:
        wanted = wanted.where(Assignment.name.in_(names))
    changed = _reckon(session, set(session.scalars(wanted)))
    if changed:
        session.commit()
    return changed


def _address(db_url: str | URL) -> str:
    return make_url(db_url).render_as_string(hide_password=False)


def _policy(session: Session) -> AssignLatePenalties | None:
    """nbgrader's step with the course's plugin; None for a gradebook that is not followed."""
    address = _address(session.get_bind().engine.url)
    known = _policies.get(address)
    if isinstance(known, Config):
        known = _policies[address] = AssignLatePenalties(config=Config(known))
        known.init_plugin()
    return known


def _reckon(session: Session, notebooks: set[str]) -> int:
    """Set the penalties of submitted notebooks, by id; how many changed."""
    policy = _policy(session) if notebooks else None
    if policy is None:
        return 0
    changed = 0
    for some in _parts(notebooks):
        known = select(SubmittedNotebook).where(SubmittedNotebook.id.in_(some))
        whole = joinedload(SubmittedNotebook.assignment).joinedload(SubmittedAssignment.assignment)
        found = session.scalars(known.options(whole)).all()
        late = [one.id for one in found if one.assignment.total_seconds_late > 0]
        summed = select(Grade.notebook_id, func.sum(Grade.score)).where(Grade.notebook_id.in_(late))
        scores = dict(session.execute(summed.group_by(Grade.notebook_id)).all()) if late else {}
        for notebook in found:
            penalty = _penalty(policy, notebook, scores.get(notebook.id) or 0.0)
            if penalty != notebook.late_submission_penalty:
                notebook.late_submission_penalty = penalty
                changed += 1
    return changed


def _penalty(policy: AssignLatePenalties, notebook: SubmittedNotebook, score: float) -> float | None:
    """The points that a notebook loses, as nbgrader has it: None where nothing is late, never more than the score."""
    seconds = notebook.assignment.total_seconds_late
    if seconds <= 0:
        return None
    penalty = policy.plugin_inst.late_submission_penalty(notebook.assignment.student_id, score, seconds)
    return None if penalty is None else max(0.0, min(penalty, score))


def _parts(ids: Iterable[str]) -> Iterator[list[str]]:
    ids = sorted(ids)
    return (ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS))


@event.listens_for(Session, "after_flush")
def _note(session: Session, _context: object) -> None:
    if not _policies:
        return
    touched = session.info.setdefault(_TOUCHED, set())
    for one in (*session.new, *session.dirty, *session.deleted):
        if isinstance(one, Grade):
            touched.add(("notebook", one.notebook_id))
        elif isinstance(one, SubmittedAssignment):
            touched.add(("submission", one.id))
        elif isinstance(one, Assignment):
            touched.add(("assignment", one.id))
        elif isinstance(one, GradeCell | TaskCell):
            touched.add(("source", one.notebook_id))


_PLACES = {
    "notebook": SubmittedNotebook.id,
    "submission": SubmittedNotebook.assignment_id,
    "assignment": Notebook.assignment_id,
    "source": SubmittedNotebook.notebook_id,
}


@event.listens_for(Session, "before_commit")
def _keep(session: Session) -> None:
    if not _policies:
        return
    session.flush()
    touched = session.info.pop(_TOUCHED, None)
    if not touched or _policy(session) is None:
        return
    found: set[str] = set()
    for kind, column in _PLACES.items():
        for some in _parts(place for of, place in touched if of == kind and place):
            wanted = select(SubmittedNotebook.id).join(SubmittedNotebook.notebook).where(column.in_(some))
            found.update(session.scalars(wanted))
    _reckon(session, found)


@event.listens_for(Session, "after_rollback")
def _forget(session: Session) -> None:
    session.info.pop(_TOUCHED, None)
