"""The data of the report, gathered from a course's results, gradebook and graded notebooks.

Every figure and list of an assignment is about the same students: who is excused from it is in the list of the excused
alone; a student who left the course is in all where they submitted something, and missing nowhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from statistics import mean, median
from urllib.parse import quote

from nbgrader.api import Gradebook

from viva import doors, wording
from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook import classbook, lateness
from viva.course.gradebook.results import Results
from viva.course.grades.standing import Standing, Standings, Status
from viva.course.releasing import contract
from viva.folder import walk
from viva.pages.additions import REPORT, Asked, additions
from viva.pages.reporting import similarity
from viva.pages.reporting.itemanalysis import items
from viva.pages.reporting.pseudonyms import Pseudonyms, answers_in, code_in, files_of, focus, pattern_of, read_cells
from viva.record import Note, NotebookRecord, SubmissionRecord, doubtful
from viva.verdict import Verdict

DETAIL = 300
"""The most characters of a sentence about a submission that are shown."""
EVIDENCE = 10
"""The most groups of similar answers of a notebook that are shown side by side."""
TEXT = 20_000
"""The most characters of each of the two that are shown."""
WAITING = {
    "ungraded": "The grader failed, not the student. Read the log, then grade again, or grade manually.",
    "killed": "The code stopped Python or used too much memory.",
    "not graded": "The submission has no result: 'viva grade' did not run yet, or it failed.",
    "submitted again": "There is a newer submission. The grade is for the older one. Run 'viva grade' again.",
    "uncertain repair": "A repair may be wrong, an answer cannot run, or a check has its points for a wrong reason.",
    "manual grading": "A written answer or a score must be graded manually.",
    "refused": "Nothing to grade: the submitted file cannot be read. Run 'viva feedback' to tell the student why.",
}
"""By reason, what to do; what a grader has nothing to do for comes last."""


@dataclass(frozen=True)
class People:
    """What is known about the students beside the gradebook."""

    left: frozenset[str] = frozenset()
    """Students who are no longer enrolled."""
    groups: Callable[[str], list[set[str]]] = lambda assignment: []
    """The groups that submitted an assignment together, by its name."""


ALONE = People()
"""Of a course without a roster."""


@doors.of_functions("viva.people")
def people(*, course: Course) -> People:
    """who left, and who works in a group, for the report"""
    raise NotImplementedError


def people_of(course: Course) -> People:
    """What installed packages know about the students of a course. Raises CourseError."""
    parts = people.ask_all(course=course)
    left = frozenset(student for part in parts for student in part.left)
    return People(left, lambda assignment: [group for part in parts for group in part.groups(assignment)])


def gather(course: Course, assignments: list[str], names: Pseudonyms, server: str, people: People = ALONE) -> dict:
    """All figures of the report, with students called as ``names`` has it and links to the formgrader at ``server``."""
    records = _records(course)
    with course.gradebook() as gradebook:
        standings = Standings(course, gradebook, assignments)
        graded = [record for name in assignments for record in records[name].values()]
        return {
            "course": str(course.directory.course_id),
            "server": server,
            "until": max((record.graded for record in graded), default="")[:16],
            "without_sandbox": sum(not record.sandboxed for record in graded),
            # One after the other: each holds the notebooks of its assignment.
            "assignments": [
                _Part(course, gradebook, name, records[name], standings, people, names, server).figures()
                for name in assignments
            ],
        }


def lists(course: Course, assignments: list[str], server: str, names: Pseudonyms) -> list[dict]:
    """What waits for a grader and what is flagged, by assignment, as ``gather`` has it, without what takes time."""
    records = _records(course)
    with course.gradebook() as gradebook:
        standings = Standings(course, gradebook, assignments)
        parts = (_Part(course, gradebook, name, records[name], standings, ALONE, names, server) for name in assignments)
        return [part.lists() for part in parts]


def _records(course: Course) -> dict[str, dict[str, SubmissionRecord]]:
    """What is recorded, by assignment and student."""
    by_assignment: dict[str, dict[str, SubmissionRecord]] = defaultdict(dict)
    for (assignment, student), record in Results.of(course.directory).read().items():
        by_assignment[assignment][student] = record
    return by_assignment


def _order(row: dict) -> tuple[list[str], str]:
    """By student, numbers as numbers, then by notebook."""
    parts = re.split(r"(\d+)", row["student"])
    return [part.zfill(9) if part.isdecimal() else part for part in parts], row["notebook"]


class _Part:
    """One assignment."""

    def __init__(
        self,
        course: Course,
        gradebook: Gradebook,
        name: str,
        records: dict[str, SubmissionRecord],
        standings: Standings,
        people: People,
        names: Pseudonyms,
        server: str,
    ) -> None:
        self.course, self.name, self.names, self.server = course, name, names, server
        self.standings, self.people = standings, people
        self.excused = self._with(Status.EXCUSED)
        self.missing = self._with(Status.MISSING).keys() - people.left
        handed_in = {person for person in standings.students if standings.of(name, person).status is not Status.MISSING}
        self.known = (handed_in | self.missing) - self.excused.keys()
        self.records = {student: record for student, record in records.items() if student not in self.excused}
        self.older = contract.older(course, name, {(name, student): record for student, record in records.items()})
        scores, late, self.maximum, self.notebooks = classbook.scores(gradebook, name)
        self.late = late - self.excused.keys()
        rules = lateness.policy(gradebook.db())
        reckoned = lateness.reckonings(gradebook.db(), rules) if rules else {}
        self.reckoned = {student: reckoning for (of, student), reckoning in reckoned.items() if of == name}
        self.scores = {student: scores[student] for student in self._with(Status.GRADED) if student in scores}
        self.patterns: dict[str, re.Pattern | None] = {}
        self.numbers: dict[tuple[str, str], int] = {}
        self.places = classbook.places(gradebook, name)
        self.by_hand = [row for row in classbook.by_hand(gradebook, name) if row[0] not in self.excused]
        self.cells = {
            (student, book): read_cells(course.path("autograded", name, student) / f"{book}.ipynb")
            for student in sorted(self.scores)
            for book in self.notebooks
        }

    def lists(self) -> dict:
        """What waits and what is flagged; where names are hidden, with formgrader's numbers of submissions."""
        if self.names.key is not None:
            present = {key: place for place, key in self.places.items() if self._is_graded(*place)}
            for book in self.notebooks:
                keys = sorted(key for key, (_, name) in present.items() if name == book)
                self.numbers |= {present[key]: number for number, key in enumerate(keys, 1)}
        told = {"waiting": list(self.waiting()), "older": self.older, "integrity": self.integrity()}
        return {"name": self.name} | told

    def _is_graded(self, student: str, book: str) -> bool:
        return (self.course.path("autograded", self.name, student) / f"{book}.ipynb").is_file()

    def _called(self, student: str, book: str) -> str:
        """How a list calls the student of a notebook."""
        number = self.numbers.get((student, book))
        return f"Submission #{number}" if number else self.names.of(student)

    def _with(self, status: Status) -> dict[str, Standing]:
        return self.standings.with_status(self.name, status)

    def figures(self) -> dict:
        scores = sorted(self.scores.values())
        return {
            "name": self.name,
            "maximum": self.maximum,
            "students": len(self.known),
            "handed_in": len(self.known) - len(self.missing),
            "graded": len(self.scores),
            "late": self._late(),
            "missing": sorted(map(self.names.of, self.missing)),
            "refused": self._reasons(self._with(Status.REFUSED)),
            "excused": self._reasons(self.excused),
            "median": median(scores) if scores else None,
            "mean": mean(scores) if scores else None,
            "scores": scores,
            "checks": [self._check(item) for item in items(self.records.values())],
            "waiting": list(self.waiting()),
            "older": self.older,
            "repairs": self._told("repairs", lambda record: record.repairs),
            "integrity": self.integrity(),
            "added": self._added(),
            "similar": [self._similar(book) for book in self.notebooks],
            "speed": self._speed(),
        }

    def _added(self) -> list[dict]:
        """What other packages say about test cells, the sentence about most students first. Raises CourseError."""
        rows = []
        for part in additions(self.course, Asked(REPORT, self.name)):
            students = [student for student in part.students if student in self.known]
            links = [
                {"student": self.names.of(who), "link": self._link(who, part.notebook, part.cell)} for who in students
            ]
            text = plaintext.line(self.names.text(part.text), DETAIL)
            rows.append({"notebook": self._shown(part.notebook), "cell": self._shown(part.cell), "text": text,
                         "students": links})  # fmt: skip
        return sorted((row for row in rows if row["students"]), key=lambda row: (-len(row["students"]), row["text"]))

    def _late(self) -> list[dict]:
        """Who was late, and what that costs, line by line."""
        lines = {
            who: "; ".join(wording.sentences(self.reckoned[who].notes())) for who in self.late & self.reckoned.keys()
        }
        rows = [{"student": self.names.of(who), "reason": lines.get(who, "")} for who in self.late]
        return sorted(rows, key=lambda row: row["student"])

    def _reasons(self, standings: dict[str, Standing]) -> list[dict]:
        rows = [
            {"student": self.names.of(student), "reason": self._shown(why.reason, student)}
            for student, why in standings.items()
        ]
        return sorted(rows, key=lambda row: row["student"])

    def _check(self, item) -> dict:
        texts = {key: plaintext.line(getattr(item, key), DETAIL) for key in ("notebook", "cell", "title")}
        row = asdict(item) | texts | {"rate": item.rate}
        for mistake in row["mistakes"]:
            mistake["reason"] = self.names.text(mistake["reason"])
        return row

    def _link(self, student: str, book: str, cell: str = "") -> str:
        """The page of formgrader where something can be done about a notebook, with the cell's score in focus."""
        key = self.places.get((student, book))
        if key is None:
            return f"{self.server}/formgrader/manage_submissions/{quote(self.name, safe='')}/"
        index = focus(self.cells.get((student, book), []), cell)
        return f"{self.server}/formgrader/submissions/{quote(key, safe='')}/?index={index}"

    def _first(self) -> str:
        """The address at which formgrader opens the first answer that waits and that no other grader has open."""
        book = min(book for _, book, _ in self.by_hand)
        return f"{self.server}/formgrader/viva/first/{quote(self.name, safe='')}/{quote(book, safe='')}"

    def waiting(self) -> Iterator[dict]:
        """Who needs a grader, by what for."""
        groups: dict[str, list[dict]] = {why: [] for why in WAITING}

        def wait(why: str, student: str, book: str, detail: str, cell: str = "") -> None:
            row = {
                "student": self._called(student, book),
                "notebook": self._shown(book),
                "detail": self._shown(detail, student),
            }
            groups[why].append(row | {"link": self._link(student, book, cell)})

        for student, record in self.records.items():
            seen = set()
            for book, cell, result in record.results():
                event = result.verdict, book
                if result.verdict in (Verdict.UNGRADED, Verdict.KILLED) and event not in seen:
                    seen.add(event)
                    detail = f"{result.title}: {wording.reason(result)}"
                    wait(str(result.verdict), student, book, detail, cell)
            for book, book_record in record.notebooks.items():
                doubts = [repair for repair in book_record.repairs if repair.doubt]
                concerned = set(doubtful(doubts, book_record.checks))
                if any(not doubt.tests for doubt in doubts):
                    concerned |= {cell for name, cell, result in record.results() if name == book and not result.earned}
                if first := next((cell for cell in book_record.checks if cell in concerned), None):
                    wait("uncertain repair", student, book, "; ".join(wording.sentences(doubts)), first)
        for status in (Status.REFUSED, Status.NOT_GRADED):
            for student, standing in self._with(status).items():
                wait(str(status), student, "", standing.reason)
        for student, standing in self._with(Status.GRADED).items():
            if standing.reason:
                wait("submitted again", student, "", standing.reason)
        for student, book, cells in self.by_hand:
            graded = self.cells.get((student, book), [])
            waiting = sorted(cells, key=partial(focus, graded))  # in the notebook's order
            wait("manual grading", student, book, ", ".join(waiting), waiting[0])
        for why, rows in groups.items():
            if rows:
                rows.sort(key=_order)
                first = self._first() if why == "manual grading" else rows[0]["link"]
                yield {"why": why, "help": WAITING[why], "rows": rows, "first": first}

    def integrity(self) -> list[dict]:
        """What student code did to its process, and what was removed from pages."""
        return self._told("facts", lambda book: [*book.integrity, *book.sanitized])

    def _told(self, column: str, notes: Callable[[NotebookRecord], list[Note]]) -> list[dict]:
        """What some notes say of each notebook that has any."""
        rows = []
        for student, record in self.records.items():
            for book, book_record in record.notebooks.items():
                if sentences := [self._shown(sentence, student) for sentence in wording.sentences(notes(book_record))]:
                    row = {"student": self._called(student, book), "notebook": self._shown(book), column: sentences}
                    rows.append(row | {"link": self._link(student, book)})
        return sorted(rows, key=_order)

    def _similar(self, book: str) -> dict:
        answers = {
            student: answers_in(cells) for (student, name), cells in self.cells.items() if name == book and cells
        }
        released = code_in(self.course.path("release", self.name) / f"{book}.ipynb")
        comparison = similarity.compare(answers, released, self.people.groups(self.name))
        groups: list[dict] = []
        for group in comparison.groups():
            best = group.best
            shown = {"students": [self.names.of(student) for student in group.students], "pairs": len(group.pairs)}
            shown |= {"share": best.share, "shared": best.shared, "one": self.names.of(best.first)}
            shown |= {"other": self.names.of(best.second), "evidence": []}
            if len(groups) < EVIDENCE:
                shown["evidence"] = self._evidence(answers[best.first], answers[best.second], comparison.rare)
            groups.append(shown)
        pairs = [
            {
                "one": self.names.of(pair.first),
                "other": self.names.of(pair.second),
                "shared": pair.shared,
                "of": pair.of,
            }
            for pair in comparison.pairs
        ]
        return {"notebook": book, "compared": len(answers) - len(comparison.short), "short": len(comparison.short)} | {
            "pairs": pairs,
            "groups": groups,
        }

    def _evidence(self, first: dict, second: dict, rare: frozenset[int]) -> list[dict]:
        """Cell by cell, both texts in pieces (whether it matches, text); cells without a match are left out."""
        sides = similarity.matching(first, second, rare)
        rows, left = [], [TEXT, TEXT]
        for cell in dict.fromkeys((*sides[0], *sides[1])):
            pieces = [side.get(cell, []) for side in sides]
            if any(matches for side in pieces for matches, _ in side):
                texts = [self._cut(side, left, side_number) for side_number, side in enumerate(pieces)]
                rows.append({"cell": cell, "one": texts[0], "other": texts[1]})
        return rows

    def _cut(self, pieces: list[tuple[bool, str]], left: list[int], side: int) -> list[tuple[bool, str]]:
        """The pieces as they are shown, as far as there are characters ``left``."""
        shown = []
        for matches, text in pieces:
            if len(text) > left[side]:
                text = text[: max(0, left[side])] + "\n… (the rest is in autograded/)"
            shown.append((matches, self.names.text(plaintext.lines(text))))
            left[side] -= len(text)
            if left[side] <= 0:
                break
        return shown

    def _speed(self) -> dict:
        seconds = [record.seconds for record in self.records.values() if record.seconds > 0]
        return {
            "submissions": len(seconds),
            "total": sum(seconds),
            "median": median(seconds) if seconds else None,
            "slowest": max(seconds, default=None),
        }

    def _shown(self, text: str, student: str = "") -> str:
        """A text in one line, in an anonymous report also without the names of files that the student submitted."""
        if self.names.key is None:
            return plaintext.line(text, DETAIL)
        if student not in self.patterns:
            submission = self.standings.submitted.get((self.name, student))
            notebooks = contract.notebooks_of(self.course, self.name)
            released = {path.name for path in [*notebooks, *walk(contract.files_of(self.course.directory, self.name))]}
            self.patterns[student] = pattern_of(files_of(submission.folder) - released if submission else ())
        pattern = self.patterns[student]
        text = self.names.text(pattern.sub("a file", text) if pattern else text)
        return self.names.text(plaintext.line(text, DETAIL))
