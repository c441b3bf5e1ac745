"""Columns, results and scores of a learning system (Assignment and Grade Services 2.0).

The standard calls a column a line item. A column of this course's is known by its ``resourceId``, so that whoever
renames it or moves it there changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import urlsplit, urlunsplit

import msgspec

from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva_lti.connection import COLUMN, Connection
from viva_lti.registration import require_address
from viva_lti.transport import PlatformError

NAMESPACE = "https://purl.imsglobal.org/spec/lti-ags/scope/"
SCOPES = tuple(NAMESPACE + name for name in ("lineitem", "result.readonly", "score"))
COLUMNS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
SCORE = "application/vnd.ims.lis.v1.score+json"
OURS = "viva:"
"""What the ``resourceId`` of a column of ours begins with."""


class Column(msgspec.Struct, frozen=True):
    id: str
    label: str = ""
    score_maximum: float | None = msgspec.field(default=None, name="scoreMaximum")
    resource_id: str | int | None = msgspec.field(default=None, name="resourceId")


class Result(msgspec.Struct, frozen=True):
    """What a student has in a column, whoever entered it."""

    user_id: str | int = msgspec.field(name="userId")
    score: float | None = msgspec.field(default=None, name="resultScore")
    maximum: float | None = msgspec.field(default=None, name="resultMaximum")


@dataclass(frozen=True)
class Score:
    """A score as it is sent."""

    user: str
    points: Decimal
    maximum: Decimal
    comment: str = ""
    student: str = ""
    """The student's id in the course, which the system does not get."""

    def document(self) -> dict[str, object]:
        """As the standard writes it. A system may refuse a time that is not newer than what it has."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        document: dict[str, object] = {
            "userId": self.user,
            "scoreGiven": float(self.points),
            "scoreMaximum": float(self.maximum),
            "timestamp": now,
            "activityProgress": "Completed",
            "gradingProgress": "FullyGraded",
        }
        return document | ({"comment": self.comment} if self.comment else {})


@dataclass(frozen=True)
class Grades:
    """The columns of a course that this tool may see, which are its own."""

    connection: Connection

    def column(self, assignment: str, earlier: Collection[str] = ()) -> Column | None:
        """The column of an assignment, if there is one. Some systems lose ``resourceId``: ``earlier`` ones count too.

        Raises PlatformError, and CourseError where there are two.
        """
        address, name = self._address, OURS + assignment
        columns = [
            column
            for answer in self.connection.pages("columns", address, COLUMNS, resource_id=name)
            for column in self.connection.formed("columns", answer, list[Column])
            if str(column.resource_id) == name or column.id in earlier
        ]
        if len({column.id for column in columns}) > 1:
            raise CourseError(
                f"{self.connection.registration.host} has {len(columns)} columns for {assignment}: "
                f"{plaintext.some([plaintext.quoted(column.label) for column in columns], 5)}. Delete all but one "
                "there."
            )
        return self._checked(columns[0]) if columns else None

    def make(self, assignment: str, maximum: Decimal) -> Column:
        """Make the column of an assignment. Raises PlatformError."""
        body = {"label": assignment, "scoreMaximum": float(maximum), "resourceId": OURS + assignment, "tag": "viva"}
        answer = self.connection.send("a new column", self._address, body, COLUMN)
        return self._checked(self.connection.formed("a new column", answer, Column))

    def results(self, column: Column) -> dict[str, Result]:
        """By user, what is in a column. Raises PlatformError."""
        return {
            str(result.user_id): result
            for answer in self.connection.pages("results", _below(column.id, "results"), RESULTS)
            for result in self.connection.formed("results", answer, list[Result])
        }

    def send(self, column: Column, score: Score) -> None:
        """Send one score. Raises PlatformError, whose status says whether only this one was refused."""
        self.connection.send("a score", _below(column.id, "scores"), score.document(), SCORE)

    @property
    def _address(self) -> str:
        if address := self.connection.registration.lineitems:
            return address
        raise CourseError("The address of columns is not registered. Run 'viva lti register' with --lineitems=URL.")

    def _checked(self, column: Column) -> Column:
        try:
            require_address(column.id)
        except CourseError as error:
            raise PlatformError(
                f"{self.connection.registration.host} has a column without an address. {error}"
            ) from error
        return column


def _below(address: str, name: str) -> str:
    """An address within a column's, whose part behind the question mark stays."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))
