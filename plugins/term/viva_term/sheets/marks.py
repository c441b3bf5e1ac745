"""Each student's score for an assignment, or the reason why it is not written into a sheet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from nbgrader.api import Gradebook

from viva.course.course import Course
from viva.course.grades import export
from viva.course.grades.standing import Status
from viva_term.lms.rosterfile import Entry, Roster
from viva_term.sheets import number

WAITS = "grading is not finished. --unfinished writes the score now"


@dataclass(frozen=True)
class Mark:
    """What one student has. Where ``score`` is None, nothing is written, and ``why`` says why."""

    entry: Entry
    row: dict
    """As in grades.csv."""
    score: Decimal | None = None
    why: str = ""

    @property
    def student(self) -> str:
        return self.entry.id

    @property
    def points(self) -> Decimal:
        """The score of a mark that has one."""
        assert self.score is not None
        return self.score

    @property
    def excused(self) -> bool:
        return self.row["status"] == Status.EXCUSED

    @property
    def late(self) -> bool:
        return bool(self.row["seconds_late"])


@dataclass(frozen=True)
class Marks:
    """The marks of one assignment by student, and all whom the course knows."""

    assignment: str
    maximum: Decimal
    by: dict[str, Mark]
    entries: dict[str, Entry]
    raw: bool = False

    @classmethod
    def of(
        cls,
        course: Course,
        gradebook: Gradebook,
        assignment: str,
        student: str | list[str] = "*",
        raw: bool = False,
        unfinished: bool = False,
        system: str = "",
    ) -> Marks:
        """``raw`` leaves late penalties out, ``unfinished`` takes in what waits for a grader.

        The entries have the numbers of the ``system`` that the marks are for. Raises CourseError.
        """
        entries = Roster.of(course, system).seen
        by = {}
        for row in export.scores(course, gradebook, [assignment], student):
            entry = entries.get(row["student_id"], Entry(row["student_id"]))
            by[entry.id] = Mark(entry, row, *_score(row, raw, unfinished))
        maximum = number.rounded(gradebook.find_assignment(assignment).max_score)
        return cls(assignment, maximum, by, entries, raw)

    @property
    def scored(self) -> list[Mark]:
        return [mark for mark in self.by.values() if mark.score is not None]

    def warnings(self, title: str, deducts: str = "", maximum: Decimal | None = None) -> Iterator[str]:
        """Sentences about lateness, points and later submissions; ``deducts`` says what a system may deduct again."""
        late = [mark for mark in self.scored if mark.late]
        who = f"{len(late)} students are late" if len(late) > 1 else "One student is late"
        if late and self.raw:
            yield f"{who}, and late penalties are not subtracted, because of --raw."
        elif late and deducts:
            yield f"{who}; late penalties are already subtracted. {deducts} --raw writes scores without them."
        if again := [mark for mark in self.scored if mark.row["reason"]]:
            yield f"Submitted again since grading: {len(again)}. Their scores belong to the graded submission."
        if maximum is not None and maximum != self.maximum:
            yield (
                f"The maximum of {title} is {number.written(maximum)} points, but {number.written(self.maximum)} "
                "points in the gradebook. Scores are written without a change, so the percentages will differ. "
                "Correct the points in one of the two."
            )


def _score(row: dict, raw: bool, unfinished: bool) -> tuple[Decimal | None, str]:
    """The score to write, or why there is none."""
    status = row["status"]
    if status != Status.GRADED or row["score"] is None:
        return None, str(status) + (f": {row['reason']}" if row["reason"] else "")
    if row["needs_manual_grade"] and not unfinished:
        return None, WAITS
    return number.rounded(row["raw_score"] if raw else row["score"]), ""
