"""Columns, results and scores of a learning system (Assignment and Grade Services 2.0).

The standard calls a column a line item. A column of this course's is known by its ``resourceId``, so that whoever
renames it or moves it there changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import ClassVar
from urllib.parse import urlsplit, urlunsplit

from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva_lti.connection import COLUMN, Connection
from viva_lti.registration import require_address
from viva_lti.scores import CHANGED, Column, Result, Score
from viva_lti.transport import PlatformError, are_points, site_of

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
    remakes: bool = False
    """Whether a column that was deleted there is made again."""
    refusals: ClassVar[Mapping[int, str]] = {
        400: "it does not grade this member",
        404: "it does not know this member, or the column was deleted",
        CHANGED: "it has a newer grade; run the same command again to see it",
        422: "it does not grade this member",
    }

    @property
    def host(self) -> str:
        return self.connection.registration.host

    def column(self, assignment: str, earlier: Collection[str] = ()) -> Column | None:
        """The column of an assignment, if there is one: the one that scores went into ``earlier`` by its own address.

        Some systems lose ``resourceId``, and a list that is asked for by it would not have the column. Raises
        PlatformError, and CourseError where there are two, or where the one with scores was deleted.
        """
        ours = [address for address in earlier if site_of(address) in self.connection.sites]
        for address in reversed(ours):
            if column := self._at(address):
                return self._checked(column)
        columns = self._listed(assignment, ours)
        if len({column.id for column in columns}) > 1:
            raise CourseError(
                f"{self.host} has {len(columns)} columns for {assignment}: "
                f"{plaintext.some([plaintext.quoted(column.label) for column in columns], 5)}. Delete all but one "
                "there."
            )
        if ours and not columns and not self.remakes:
            raise CourseError(
                f"{self.host} does not have the column of {assignment} any more. Nothing was sent. To make a new "
                "column with all scores, run the same command with --overwrite."
            )
        return self._checked(columns[0]) if columns else None

    def _at(self, address: str) -> Column | None:
        """The column at its own address; None where it is not there, or the system does not show single columns."""
        try:
            return self.connection.formed("a column", self.connection.read("a column", address, COLUMN), Column)
        except PlatformError as error:
            if error.status in (400, 403, 404, 405, 410, 501):
                return None
            raise

    def _listed(self, assignment: str, earlier: Collection[str]) -> list[Column]:
        """The columns that are this assignment's by ``resourceId``, or that scores went into."""
        name = OURS + assignment
        return [
            column
            for answer in self.connection.pages("columns", self._address, COLUMNS, resource_id=name)
            for column in self.connection.formed("columns", answer, list[Column])
            if str(column.resource_id) == name or column.id in earlier
        ]

    def make(self, assignment: str, maximum: Decimal) -> Column:
        """Make the column of an assignment. Raises PlatformError."""
        body = {"label": assignment, "scoreMaximum": float(maximum), "resourceId": OURS + assignment, "tag": "viva"}
        answer = self.connection.send("a new column", self._address, body, COLUMN)
        return self._checked(self.connection.formed("a new column", answer, Column))

    def results(self, column: Column) -> dict[str, Result]:
        """By user, what is in a column. Raises PlatformError."""
        return {str(result.user_id): result for result in self._results(column)}

    def present(self, column: Column, user: str) -> Result | None:
        """What one user has in it now. Raises PlatformError."""
        found = (result for result in self._results(column, user_id=user) if str(result.user_id) == user)
        return next(found, None)

    def _results(self, column: Column, **parameters: str) -> Iterator[Result]:
        for answer in self.connection.pages("results", _below(column.id, "results"), RESULTS, **parameters):
            for result in self.connection.formed("results", answer, list[Result]):
                if not (are_points(result.score) and are_points(result.maximum)):
                    raise PlatformError(f"{self.host} has a score that is not a number of points.")
                yield result

    def remarks(self, column: Column | None, scores: list[Score]) -> list[str]:
        """Nothing: a platform does not tell what it does with a score."""
        return []

    def send(self, column: Column, score: Score) -> Result | None:
        """Send one score. Raises PlatformError, whose status says whether only this one was refused."""
        self.connection.send("a score", _below(column.id, "scores"), document(score), SCORE)
        return self.present(column, score.user)

    @property
    def _address(self) -> str:
        if address := self.connection.registration.lineitems:
            return address
        raise CourseError(
            "The address of the course's score columns is unknown. Run 'viva lti register' with --lineitems=URL."
        )

    def _checked(self, column: Column) -> Column:
        try:
            require_address(column.id)
        except CourseError as error:
            raise PlatformError(f"{self.host} has a column without an address. {error}") from error
        self.connection.require_own("a column", column.id)
        if not are_points(column.score_maximum) or (column.score_maximum or 0) < 0:
            raise PlatformError(f"{self.host} has a column whose maximum is not a number of points.")
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
