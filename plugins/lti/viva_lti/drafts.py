"""Scores into Canvas's gradebook, as drafts that students do not see until somebody posts them.

Nothing is sent twice blindly: a score whose answer was lost is looked for by the next run. Columns where one score
would go to others too, or would count otherwise, are refused: group assignments that are graded as one, moderated and
anonymous ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec

from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva.wording import counted
from viva_lti.canvascourse import Assignment, Canvas
from viva_lti.scores import CHANGED, Column, Result, Score
from viva_lti.transport import PlatformError, are_points

UNGRADED = ("not_graded", "pass_fail")
CENT = Decimal("0.01")
REFUSALS = {
    404: "it does not know this member, or this assignment is not for them",
    CHANGED: "somebody changed the grade there at the same time; run the same command again to see it",
}


class _Comment(msgspec.Struct, frozen=True):
    comment: str | None = None


class _Graded(msgspec.Struct, frozen=True):
    user_id: int | str
    score: float | None = None
    entered_score: float | None = None
    excused: bool | None = None
    posted_at: str | None = None
    late: bool | None = None
    submission_comments: list[_Comment] = []

    @property
    def points(self) -> float | None:
        """What was entered, before Canvas's own late policy."""
        return self.score if self.entered_score is None else self.entered_score


class _LatePolicy(msgspec.Struct, frozen=True):
    late_submission_deduction_enabled: bool | None = None


class _Policies(msgspec.Struct, frozen=True):
    late_policy: _LatePolicy = _LatePolicy()


class Present(Result, frozen=True):
    """What a student has there."""

    excused: bool = False
    posted: bool = False
    posted_at: str | None = None

    @property
    def state(self) -> tuple:
        return self.score, self.excused, self.posted_at

    @property
    def is_empty(self) -> bool:
        return self.score is None and not self.excused and self.posted_at is None

    @property
    def status(self) -> str:
        return "excused there" if self.excused else ""

    @property
    def held(self) -> str:
        return "the student would see it at once, because Canvas shows this column" if self.posted else ""


@dataclass
class Drafts:
    """The columns of a course in Canvas, which are its assignments."""

    there: Canvas
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """By our name of an assignment, the number of Canvas's, as the settings say."""
    visible: bool = False
    """Whether scores may go where students see them at once."""
    refusals: ClassVar[Mapping[int, str]] = REFUSALS
    submitted: dict[str, dict[str, _Graded]] = field(default_factory=dict)
    """By column and a student's number, what was read there."""

    @property
    def host(self) -> str:
        return self.there.place.host

    def column(self, assignment: str, earlier: Collection[str] = ()) -> Column | None:
        """Canvas's assignment. Raises PlatformError, and CourseError where not exactly one takes drafts."""
        sent = {address.rpartition("/")[2]: address for address in earlier}
        numbers = {number for number, address in sent.items() if address == self._id(number)}
        found = self.there.assignment(assignment, str(self.numbers.get(assignment, "")), numbers)
        title, most = plaintext.quoted(found.name or ""), found.points_possible
        if reason := _unfit(found):
            raise CourseError(f"Scores cannot be sent to {title} in Canvas: {reason}. Change that in Canvas.")
        if not found.post_manually and not self.visible:
            raise CourseError(
                f"Students would see their scores of {title} at once, because Canvas posts them automatically. In "
                "Canvas's gradebook, open the menu of the column, Grade Posting Policy, and choose Manually. Or run "
                "the command "
                "with --visible."
            )
        return Column(self._id(str(found.id)), found.name or "", most)

    def make(self, assignment: str, maximum: Decimal) -> Column:
        """Raises CourseError: people make assignments there."""
        raise CourseError(f"Create the assignment {plaintext.quoted(assignment)} in Canvas.")

    def results(self, column: Column) -> dict[str, Result]:
        """By user, what is in a column. Raises PlatformError."""
        path = f"assignments/{_number(column)}/submissions"
        listed = self.there.listed("submissions", _Graded, path, include=["submission_comments"])
        for one in listed:
            self._require_finite(one)
        self.submitted[column.id] = {str(one.user_id): one for one in listed}
        return {user: self._present(column, one) for user, one in self.submitted[column.id].items()}

    def present(self, column: Column, user: str) -> Result | None:
        """What one student has in it now. Raises PlatformError."""
        path = f"assignments/{_number(column)}/submissions/{quote(user, safe='')}"
        now = self.there.read("a score", _Graded, path, include=["submission_comments"])
        if str(now.user_id) != user:
            raise PlatformError(f"{self.host} sent the score of another student. Run the same command again.")
        self._require_finite(now)
        self.submitted.setdefault(column.id, {})[user] = now
        return self._present(column, now)

    def _present(self, column: Column, one: _Graded) -> Present:
        points = None if one.excused else one.points
        posted = bool(one.posted_at) and not self.visible
        return Present(str(one.user_id), points, column.score_maximum, bool(one.excused), posted, one.posted_at)

    def remarks(self, column: Column | None, scores: list[Score]) -> list[str]:
        """Whether Canvas's own late policy will deduct from the scores. Raises PlatformError."""
        submitted = self.submitted.get(column.id, {}) if column else {}
        late = [score for score in scores if score.user in submitted and submitted[score.user].late]
        if not late or not self._deducts():
            return []
        return [
            f"Canvas's own late policy deducts points from {counted(len(late), 'score')}, because the submissions "
            "are late there. Viva's late penalty would be subtracted too. Turn off Canvas's policy for late "
            "submissions, or send scores with --raw."
        ]

    def send(self, column: Column, score: Score) -> Result | None:
        """Send one score, and the comment if it was not there when it was read. Raises PlatformError."""
        path = f"assignments/{_number(column)}/submissions/{quote(score.user, safe='')}"
        now = self.submitted.get(column.id, {}).get(score.user, _Graded(score.user))
        points = score.points
        if column.score_maximum is not None:
            scaled = score.points * Decimal(repr(column.score_maximum)) / score.maximum
            points = scaled.quantize(CENT, ROUND_HALF_UP)
        body: dict[str, Any] = {"submission": {"posted_grade": str(points), "prefer_points_over_scheme": True}}
        if score.comment and score.comment not in {comment.comment for comment in now.submission_comments}:
            body["comment"] = {"text_comment": score.comment}
        seen = self.there.put("a score", _Graded, path, body)
        self._require_finite(seen)
        if seen.points is None or abs(Decimal(repr(seen.points)) - points) > CENT:
            raise PlatformError(f"{self.host} shows another score than the one that was sent. Check it there.")
        return self._present(column, seen)

    def _deducts(self) -> bool:
        try:
            return bool(self.there.read("the late policy", _Policies, "late_policy").late_policy
                        .late_submission_deduction_enabled)  # fmt: skip
        except PlatformError as error:
            if error.status == 404:  # the course has none
                return False
            raise

    def _require_finite(self, one: _Graded) -> None:
        if not are_points(one.points):
            raise PlatformError(f"{self.host} has a score that is not a number.")

    def _id(self, number: str) -> str:
        return f"{self.there.place.url}/courses/{self.there.place.course}/assignments/{number}"


def _number(column: Column) -> str:
    return quote(column.id.rpartition("/")[2], safe="")


def _unfit(found: Assignment) -> str:
    """Why an assignment cannot take points for one student; empty where it can."""
    most = found.points_possible
    if not found.published:
        return "it is not published"
    if found.grading_type in UNGRADED or not most or not math.isfinite(most) or most < 0:
        return "it is not graded by points, or has 0 points"
    if found.moderated_grading or found.anonymous_grading or found.anonymize_students:
        return "it is graded in a moderated or anonymous way"
    if found.group_category_id is not None and not found.grade_group_students_individually:
        return "all students of a group would get the score, because Canvas does not grade them individually"
    return ""
