"""What a course's results, gradebook and graded notebooks say, gathered as plain data for the report."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import mean, median
from urllib.parse import quote

from nbgrader.api import Gradebook

from viva.cleaning import legible
from viva.course import Course, Submission
from viva.gradebook import classbook
from viva.gradebook.results import Results
from viva.inbox import Inbox
from viva.reporting import similarity
from viva.reporting.itemanalysis import items, number, results
from viva.reporting.pseudonyms import Names
from viva.verdict import Verdict, VivaError

DETAIL = 300
"""So many characters of a sentence about a submission are shown."""
EVIDENCE = 10
"""So many groups of similar answers are shown side by side, for each notebook."""
DOUBTFUL = ("a human should look at", "it may be another notebook", "bytes that are no text")
"""What a repair says when something else could have been meant."""
WAITING = {
    "ungraded": "The grader failed at a check: look at the log, then grade again or by hand.",
    "killed": "The code ended its own process, or used more memory than it may.",
    "not graded": "It was handed in and has no result: it cannot be graded, or 'viva grade' did not run yet.",
    "repair in doubt": "The notebook was damaged, and something else may have been meant.",
    "to be graded by hand": "A written answer or a score waits for a grader.",
}


def gather(course: Course, assignments: list[str], names: Names, server: str) -> dict:
    """All figures of the report, with students called as ``names`` has it and links to the formgrader at ``server``."""
    records: dict[str, dict[str, dict]] = defaultdict(dict)
    for (assignment, student), record in Results.of(course.directory).read().items():
        records[str(assignment)][str(student)] = record
    with course.gradebook() as gradebook:
        parts = [_Part(course, gradebook, name, records[name], names, server) for name in assignments]
        return {
            "course": str(course.directory.course_id),
            "until": max((str(r.get("graded", "")) for part in parts for r in part.records.values()), default="")[:16],
            "unwalled": sum(record.get("wall") is False for part in parts for record in part.records.values()),
            "assignments": [part.figures() for part in parts],
        }


def known_names(course: Course) -> tuple[set[str], set[str]]:
    """The ids of all students of a course, and the names and addresses that the gradebook has of them."""
    ids = {student for _, student in Results.of(course.directory).read()}
    ids |= {submission.student for submission in course.submissions(course.assignments())}
    with course.gradebook() as gradebook:
        students = gradebook.students
        ids |= {student.id for student in students}
        others = {name for s in students for name in (s.first_name, s.last_name, s.email, s.lms_user_id) if name}
    return ids, others


class _Part:
    """One assignment."""

    def __init__(
        self, course: Course, gradebook: Gradebook, name: str, records: dict[str, dict], names: Names, server: str
    ) -> None:
        self.course, self.name, self.records, self.names, self.server = course, name, records, names, server
        self.inbox = Inbox.of(course, [name])
        self.submitted = {submission.student: submission for submission in course.submissions([name])}
        self.scores, self.late, self.maximum, self.notebooks = classbook.scores(gradebook, name)
        self.handed = self.submitted.keys() | self.scores.keys()
        self.known = {student.id for student in gradebook.students} | self.handed
        self.places = classbook.places(gradebook, name)
        self.by_hand = classbook.by_hand(gradebook, name)
        self.cells = {
            (student, book): read_cells(course.path("autograded", name, student) / f"{book}.ipynb")
            for student in sorted(self.scores)
            for book in self.notebooks
        }

    def figures(self) -> dict:
        scores = sorted(self.scores.values())
        return {
            "name": self.name,
            "maximum": self.maximum,
            "students": len(self.known),
            "handed_in": len(self.handed),
            "graded": len(self.scores),
            "late": sorted(map(self.names.of, self.late)),
            "missing": sorted(map(self.names.of, self.known - self.handed)),
            "median": median(scores) if scores else None,
            "mean": mean(scores) if scores else None,
            "scores": scores,
            "checks": [self._check(item) for item in items(self.records.values())],
            "waiting": list(self._waiting()),
            "integrity": sorted(self._integrity(), key=lambda row: (row["student"], row["notebook"])),
            "similar": [self._similar(book) for book in self.notebooks],
            "speed": self._speed(),
        }

    def _check(self, item) -> dict:
        texts = {key: legible.line(getattr(item, key), DETAIL) for key in ("notebook", "cell", "title")}
        found = asdict(item) | texts | {"rate": item.rate}
        for mistake in found["mistakes"]:
            mistake["reason"] = self.names.text(mistake["reason"])
        return found

    def _link(self, student: str, book: str, cell: str = "") -> str:
        """The page of formgrader where something can be done about a notebook, with the cell's score in focus."""
        place = self.places.get((student, book))
        if place is None:
            return f"{self.server}/formgrader/manage_submissions/{quote(self.name, safe='')}/"
        index = focus(self.cells.get((student, book), []), cell)
        return f"{self.server}/formgrader/submissions/{quote(place, safe='')}/?index={index}"

    def _waiting(self) -> Iterator[dict]:
        """Who needs a human, by what for."""
        found: dict[str, list[dict]] = {why: [] for why in WAITING}

        def note(why: str, student: str, book: str, detail: str, cell: str = "") -> None:
            row = {"student": self.names.of(student), "notebook": self._shown(book), "detail": self._shown(detail)}
            found[why].append(row | {"link": self._link(student, book, cell)})

        for student, record in self.records.items():
            seen = set()
            for book, cell, result in results(record):
                verdict = result.get("verdict")
                if verdict in (Verdict.UNGRADED, Verdict.KILLED) and (verdict, book) not in seen:
                    seen.add((verdict, book))
                    detail = f"{result['title']}: {result.get('reason') or ''}"
                    note(str(verdict), student, book, detail, cell)
            repairs = record.get("repairs")
            for book, sentences in (repairs if isinstance(repairs, dict) else {}).items():
                told = map(str, sentences if isinstance(sentences, list) else [])
                doubts = [one for one in told if any(doubt in one for doubt in DOUBTFUL)]
                if doubts and any(not result["earned"] for name, _, result in results(record) if name == book):
                    note("repair in doubt", student, book, "; ".join(doubts))
        for student in self.submitted.keys() - self.records.keys() - self.scores.keys():
            note("not graded", student, "", self._problem(self.submitted[student]))
        for student, book, cells in self.by_hand:
            note("to be graded by hand", student, book, ", ".join(cells), cells[0])
        for why, rows in found.items():
            if rows:
                rows.sort(key=lambda row: (row["student"], row["notebook"]))
                yield {"why": why, "help": WAITING[why], "rows": rows}

    def _problem(self, submission: Submission) -> str:
        """Why a submission cannot be graded; empty when it can, and was not yet."""
        try:
            return self.inbox.open(submission).problem if self.name in self.inbox.expected else ""
        except VivaError as error:
            return str(error)

    def _integrity(self) -> Iterator[dict]:
        for student, record in self.records.items():
            facts: dict[str, list[str]] = {}
            for part in (record.get("integrity"), record.get("sanitized")):
                for book, sentences in (part if isinstance(part, dict) else {}).items():
                    told = [self._shown(str(one)) for one in sentences] if isinstance(sentences, list) else []
                    facts.setdefault(book, []).extend(told)
            for book, told in facts.items():
                if told:
                    row = {"student": self.names.of(student), "notebook": self._shown(book), "facts": told}
                    yield row | {"link": self._link(student, str(book))}

    def _similar(self, book: str) -> dict:
        answers = {student: _answers(cells) for (student, name), cells in self.cells.items() if name == book and cells}
        found = similarity.compare(answers, _given(self.course.path("release", self.name) / f"{book}.ipynb"))
        groups = []
        for group in found.groups():
            best = group.best
            shown = {"students": [self.names.of(student) for student in group.students], "pairs": len(group.pairs)}
            shown |= {"share": best.share, "shared": best.shared, "one": self.names.of(best.one)}
            shown |= {"other": self.names.of(best.other), "evidence": []}
            if len(groups) < EVIDENCE:
                shown["evidence"] = self._evidence(answers[best.one], answers[best.other], found.rare)
            groups.append(shown)
        pairs = [
            {"one": self.names.of(pair.one), "other": self.names.of(pair.other), "shared": pair.shared, "of": pair.of}
            for pair in found.pairs
        ]
        return {"notebook": book, "compared": len(answers) - len(found.short), "short": len(found.short)} | {
            "pairs": pairs,
            "groups": groups,
        }

    def _evidence(self, one: dict, other: dict, rare: frozenset[int]) -> list[dict]:
        """Cell by cell, both texts in pieces (whether it matches, text); cells without a match are left out."""
        sides = similarity.matching(one, other, rare)
        rows = []
        for cell in dict.fromkeys((*sides[0], *sides[1])):
            pieces = [side.get(cell, []) for side in sides]
            if any(matches for side in pieces for matches, _ in side):
                texts = [[(matches, self.names.text(legible.lines(text))) for matches, text in side] for side in pieces]
                rows.append({"cell": cell, "one": texts[0], "other": texts[1]})
        return rows

    def _speed(self) -> dict:
        seconds = [number(record.get("seconds")) for record in self.records.values()]
        known = [one for one in seconds if one > 0]
        return {
            "submissions": len(known),
            "total": sum(known),
            "median": median(known) if known else None,
            "slowest": max(known, default=None),
        }

    def _shown(self, text: str) -> str:
        return self.names.text(legible.line(text, DETAIL))


def read_cells(path: Path) -> list[dict]:
    """The cells of a graded notebook; none when it cannot be read. Validation would take most of the report's time."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return [
            {
                "type": cell["cell_type"],
                "source": "".join(cell["source"]),
                "nbgrader": cell.get("metadata", {}).get("nbgrader", {}),
            }
            for cell in cells
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _answers(cells: list[dict]) -> dict[str, str]:
    """The code that a student wrote, by answer cell."""
    own = (cell for cell in cells if cell["type"] == "code" and cell["nbgrader"].get("solution"))
    return {str(cell["nbgrader"].get("grade_id", "")): cell["source"] for cell in own}


def _given(path: Path) -> dict[str, str]:
    """The code that students were given."""
    return {str(place): cell["source"] for place, cell in enumerate(read_cells(path)) if cell["type"] == "code"}


def focus(cells: list[dict], name: str) -> int:
    """The number by which formgrader's address puts a cell's score in focus: of what Tab reaches, from 1.

    On its page a graded cell has two boxes for points, an answer or a question one for a comment; the arrow to the
    next submission is the first of all.
    """
    place = 1
    for cell in cells:
        about = cell["nbgrader"]
        if name and about.get("grade_id") == name:
            return place
        place += 2 * bool(about.get("grade") or about.get("task")) + bool(about.get("solution") or about.get("task"))
    return 0
