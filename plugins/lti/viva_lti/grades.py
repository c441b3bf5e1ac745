"""Columns, results and scores of a learning system (Assignment and Grade Services 2.0).

The standard calls a column a line item. A column of this course's is known by its ``resourceId``, so that whoever
renames it or moves it there changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import ClassVar
from urllib.parse import urlsplit, urlunsplit

from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva_lti.connection import COLUMN, Connection
from viva_lti.registration import require_address
from viva_lti.scores import Column, Result, Score
from viva_lti.transport import PlatformError

NAMESPACE = "https://purl.imsglobal.org/spec/lti-ags/scope/"
SCOPES = tuple(NAMESPACE + name for name in ("lineitem", "result.readonly", "score"))
COLUMNS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
SCORE = "application/vnd.ims.lis.v1.score+json"
OURS = "viva:"
"""What the ``resourceId`` of a column of ours begins with."""


@dataclass(frozen=True)
class LineItems:
    """The columns of a course that this tool may see, which are its own."""

    connection: Connection
    refusals: ClassVar[Mapping[int, str]] = {
        400: "it does not grade this member",
        404: "it does not know this member, or the column was deleted",
        409: "it has a grade that is as new; run the same command again to see it",
        422: "it does not grade this member",
    }

    @property
    def host(self) -> str:
        return self.connection.registration.host

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
                f"{self.host} has {len(columns)} columns for {assignment}: "
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

    def remarks(self, column: Column | None, scores: list[Score]) -> list[str]:
        """Nothing: a platform does not tell what it does with a score."""
        return []

    def send(self, column: Column, score: Score) -> None:
        """Send one score. Raises PlatformError, whose status says whether only this one was refused."""
        self.connection.send("a score", _below(column.id, "scores"), document(score), SCORE)

    @property
    def _address(self) -> str:
        if address := self.connection.registration.lineitems:
            return address
        raise CourseError("The address of columns is not registered. Run 'viva lti register' with --lineitems=URL.")

    def _checked(self, column: Column) -> Column:
        try:
            require_address(column.id)
        except CourseError as error:
            raise PlatformError(f"{self.host} has a column without an address. {error}") from error
        return column


def _below(address: str, name: str) -> str:
    """An address within a column's, whose part behind the question mark stays."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def document(score: Score) -> dict[str, object]:
    """As the standard writes it. A system may refuse a time that is not newer than what it has."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    document: dict[str, object] = {
        "userId": score.user,
        "scoreGiven": float(score.points),
        "scoreMaximum": float(score.maximum),
        "timestamp": now,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }
    return document | ({"comment": score.comment} if score.comment else {})
