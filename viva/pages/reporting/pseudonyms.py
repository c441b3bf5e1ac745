"""Names that do not identify students: the same in all reports of a course, and kept nowhere else."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import itertools
import json
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.course.grades.standing import Standings
from viva.course.processes import leftovers
from viva.folder import MOST_FILES, walk
from viva.submission.files.contents import ZIP, first_bytes, opened_zip
from viva.verdict import CourseError, SubmissionError

# The cells of graded notebooks as the report reads them, and where formgrader shows them.


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


def answers_in(cells: list[dict]) -> dict[str, str]:
    """The code that a student wrote, by answer cell."""
    answers = (cell for cell in cells if cell["type"] == "code" and cell["nbgrader"].get("solution"))
    return {str(cell["nbgrader"].get("grade_id", "")): cell["source"] for cell in answers}


def code_in(path: Path) -> dict[str, str]:
    """The code of a notebook that students were given, by place."""
    return {str(position): cell["source"] for position, cell in enumerate(read_cells(path)) if cell["type"] == "code"}


def focus(cells: list[dict], name: str) -> int:
    """The number by which formgrader's address puts a cell's score in focus: of what Tab reaches, from 1.

    On its page a graded cell has two boxes for points, an answer or a question one for a comment; the arrow to the
    next submission is the first of all.
    """
    position = 1
    for cell in cells:
        tags = cell["nbgrader"]
        if name and tags.get("grade_id") == name:
            return position
        position += 2 * bool(tags.get("grade") or tags.get("task")) + bool(tags.get("solution") or tags.get("task"))
    return 0


LONGEST = 80
SHORTEST = 3
"""A shorter name is not looked for in texts, where it would be found in every word and number."""


class Pseudonyms:
    """How students are called in a report: by their id, or by a pseudonym that a secret key makes of it."""

    def __init__(self, key: bytes | None = None, ids: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        """``ids`` are all ids, ``names`` further names that may stand in texts, by the id they belong to.

        Without a key students keep their ids.
        """
        self.key = key
        self.others = dict.fromkeys(filter(None, names), "a student")
        self.ids = {student: self.of(student) for student in ids}
        hidden = {name.lower(): shown for name, shown in (self.others | self.ids).items() if len(name) >= SHORTEST}
        self.hidden = hidden if key else {}
        self.pattern = pattern_of(self.hidden)

    def of(self, student: str) -> str:
        """What to call a student."""
        if self.key is None:
            return plaintext.line(student, LONGEST)
        return f"student-{hmac.new(self.key, student.encode(errors='surrogateescape'), hashlib.sha256).hexdigest()[:8]}"

    def text(self, text: str) -> str:
        """A text of anybody's without the ids and names of students."""
        if self.pattern is None:
            return text
        return self.pattern.sub(lambda match: self.hidden[match[0].lower()], text)


def pattern_of(names: Iterable[str]) -> re.Pattern | None:
    """What finds names in a text, the longest first; None where there are none.

    A name ends where letters and digits do: "anna_2" and "/home/anna/" hold one, "savanna" does not.
    """
    either = "|".join(map(re.escape, sorted(filter(None, names), key=len, reverse=True)))
    return re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])", re.IGNORECASE) if either else None


def files_of(folder: Path) -> set[str]:
    """The names of files that were submitted, also in zips, as sentences name them."""
    shown_names: set[str] = set()
    for path in itertools.islice(walk(folder), MOST_FILES):
        names = [os.path.relpath(path, folder), path.name]
        if first_bytes(path, len(ZIP)) == ZIP:
            with contextlib.suppress(SubmissionError), opened_zip(path) as archive:
                names += itertools.islice(archive.namelist(), MOST_FILES)
        shown_names |= {shown for name in names for shown in (plaintext.line(name), plaintext.quoted(name)[1:-1])}
    # A plain word stands in sentences for itself.
    return {name for name in shown_names if len(name) >= SHORTEST and not re.fullmatch("[a-z]+|timestamp.txt", name)}


def known_names(course: Course) -> tuple[set[str], set[str]]:
    """The ids of all students of a course, and the names and addresses that the gradebook or they themselves tell."""
    records = Results.of(course.directory).read()
    ids = {student for _, student in records}
    typed: set[str] = set()
    for record in records.values():
        typed.update(*(book.names for book in record.notebooks.values()))
    released = _given_words(course) if typed else set()
    typed = {name for name in typed if name.lower() not in released}
    ids |= {submission.student for submission in course.submissions(course.assignments())}
    with course.gradebook() as gradebook:
        students = gradebook.students
        ids |= set(Standings(course, gradebook, course.assignments()).students)
        personal = {name for s in students for name in (s.first_name, s.last_name, s.email, s.lms_user_id) if name}
    return ids, personal | typed


def _given_words(course: Course) -> set[str]:
    """The words of all released notebooks, which an anonymous report needs, whatever students call themselves."""
    released = (path for name in course.assignments() for path in course.path("release", name).glob("*.ipynb"))
    return {
        word.lower() for path in released for cell in read_cells(path) for word in re.findall(r"\w+", cell["source"])
    }


def key_in(path: Path, private: bool = False) -> bytes:
    """The course's secret key, made when there is none yet; without it nobody can tell who a pseudonym is.

    ``private`` says that only this user's file counts. Raises CourseError for another user's, who knows the key.
    """
    with contextlib.suppress(FileNotFoundError):
        if key := _read(path, private):
            return key
    leftovers.write(path, f"{secrets.token_hex(32)}\n", 0o600)  # half a key, or none, would hide nobody
    return _read(path, private)


def _read(path: Path, private: bool) -> bytes:
    if private and path.is_symlink():
        raise _foreign(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | ((os.O_NOFOLLOW | os.O_NONBLOCK) if private else 0))
    with os.fdopen(descriptor, "rb") as file:
        if private and os.fstat(descriptor).st_uid != os.geteuid():
            raise _foreign(path)
        return file.read().strip()


def _foreign(path: Path) -> CourseError:
    return CourseError(
        f"No report was written. {path} has the key of the pseudonyms, but this file is a link or belongs to another "
        "user. That user could find the students' names. With --to, name a folder that only you can write to."
    )
