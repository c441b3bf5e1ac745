"""The answer to `viva` alone: the state of the course, and the next command. It starts fast, without nbgrader.

It is read off the folders, submissions.json, results.jsonl, the contracts and the gradebook; it is a hint, and each
command looks more closely. Student names are not shown.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from viva import editions
from viva.course.grading import seen
from viva.location import address_of, course_above, folder_of, gradebook_of, is_structured
from viva.wording import counted

RECORD = re.compile(
    rb'"assignment":"([^"]+)","student":"([^"]+)","graded":"([^"]+)"(?:,"edition":"([^"]*)")?(?:,"key":"([^"]*)")?'
)
"""The beginning of a line of results.jsonl."""
SECONDS = 2
"""The time in which a server answers, or is not asked."""
DIGITS = re.compile(r"(\d+)")
UNGRADED = """
SELECT assignment.name, COUNT(DISTINCT submitted_notebook.id) FROM grade
JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
JOIN assignment ON submitted_assignment.assignment_id = assignment.id
WHERE grade.needs_manual_grade GROUP BY assignment.name
"""
RECORDED = """
SELECT assignment.name, submitted_assignment.student_id FROM submitted_assignment
JOIN assignment ON submitted_assignment.assignment_id = assignment.id
"""
MARKED = """
SELECT assignment.name, submitted_assignment.student_id, 'points', grade.cell_id, grade.manual_score, grade.extra_credit
FROM grade
JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
JOIN assignment ON submitted_assignment.assignment_id = assignment.id
WHERE grade.manual_score IS NOT NULL OR grade.extra_credit IS NOT NULL
UNION ALL
SELECT assignment.name, submitted_assignment.student_id, comment.manual_comment, comment.cell_id, NULL, NULL
FROM comment
JOIN submitted_notebook ON comment.notebook_id = submitted_notebook.id
JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
JOIN assignment ON submitted_assignment.assignment_id = assignment.id
WHERE comment.manual_comment IS NOT NULL
"""
SINGULAR = {
    "wait": "waits",
    "were graded with an older release": "was graded with an older release",
    "need a grader": "needs a grader",
}
STEPS = ("source", "release", "submitted", "autograded", "feedback")
OUTSIDE = """This folder is not in a course.

  viva init my_course    create a course, with a first assignment
  viva demo              in an empty folder: create a course with an artificial class, to try Viva
  viva check NOTEBOOK    for students: run the visible checks of a notebook
"""
COMMANDS = "All commands: viva --help"


@dataclass
class State:
    """How far an assignment is: numbers of submissions, and of notebooks that need a grader."""

    name: str
    released: bool
    submitted: int = 0
    waiting: int = 0
    """Submissions that were never looked at, or changed since."""
    left: int = 0
    """Submissions that `viva grade` did not grade."""
    older: int = 0
    """Submissions that an older release graded."""
    unread: int = 0
    """Notebooks with written answers that a grader has not graded."""
    pages: int = 0
    """Graded submissions without a feedback page, or with one from before they were graded or marked."""

    @property
    def line(self) -> str:
        parts = ["released" if self.released else "not released"]
        parts += [counted(self.submitted, "submission")] if self.submitted else []
        parts += [f"{self.waiting} to grade"] if self.waiting else []
        parts += [f"{self.left} not gradable"] if self.left else []
        parts += [f"{self.older} graded with an older release"] if self.older else []
        parts += [f"{counted(self.unread, 'notebook')} for a grader to read"] if self.unread else []
        parts += [f"{counted(self.pages, 'feedback page')} to write"] if self.pages else []
        return ", ".join(parts)


def overview(folder: Path) -> str:
    """The state of the course at or above a folder, and the next command; outside a course how to begin."""
    course = course_above(folder)
    if not course:
        return f"{OUTSIDE}\n{COMMANDS}"
    title = f"Course {course}"
    if is_structured(Path(course)):  # its folders are somewhere else
        return f"{title}\n\n{COMMANDS}"
    book = gradebook_of(Path(course))
    asked = _asked(Path(course), book)
    states, known = _states(Path(course), book, asked or Book()), asked is not None
    width = max((len(state.name) for state in states), default=0)
    lines = [f"  {state.name:{width}}  {state.line}" for state in states]
    return "\n".join([title, "", *lines, *([""] if lines else []), f"Next: {_advice(states, known)}", COMMANDS])


def _advice(states: list[State], known: bool) -> str:
    """The next command, with its reason; ``known`` is whether the gradebook could be asked what graders must read."""
    for command, number, noun, verb in (
        ("viva grade", "waiting", "submission", "wait"),
        ("viva regrade --what-if", "older", "submission", "were graded with an older release"),
        ("jupyter lab --LabApp.default_url=/formgrader", "unread", "notebook", "need a grader"),
        ("viva feedback", "pages", "feedback page", "must be written"),
    ):
        if concerned := [state for state in states if getattr(state, number)]:
            count = sum(getattr(state, number) for state in concerned)
            name = f" {concerned[0].name}" if len(concerned) == 1 and command.startswith("viva") else ""
            verb = SINGULAR.get(verb, verb) if count == 1 else verb
            if number == "older":
                command, name = f"viva regrade {concerned[0].name} --what-if", ""
            return f"{command}{name}    ({counted(count, noun)} {verb})"
    if not states:
        return "viva new ps1    (there is no assignment)"
    if name := next((state.name for state in states if not state.released), ""):
        return f"viva release {name}    (it audits the assignment first)"
    if name := next((state.name for state in states if not state.submitted), ""):
        return f"viva grade {name}    (once there are submissions in submitted/STUDENT/{name}/)"
    return "viva report    (everything is graded)" if known else "viva report    (for the course so far)"


def _states(course: Path, book: Path | None, asked: Book) -> list[State]:
    folders = {step: course / folder_of(course, step) for step in STEPS}
    states = [
        State(name, _has(folders["release"] / name, "*.ipynb"))
        for name in _names(folders["source"])
        if _has(folders["source"] / name, "*.ipynb")
    ]
    beside = book.parent if book else course
    graded, looked_at = _graded(beside / "results.jsonl"), seen.read(beside)
    students = _names(folders["submitted"])
    for state in states:
        state.unread = asked.unread.get(state.name, 0)
        present: list[str] = []
        for student in students:
            submission, pair = folders["submitted"] / student / state.name, (state.name, student)
            if not submission.is_dir():
                continue
            state.submitted += 1
            at, edition, key = graded.get(pair, ("", "", ""))
            removed = asked.recorded is not None and pair not in asked.recorded  # as by `nbgrader db student remove`
            present += [edition] if at and not removed else []
            looked = looked_at.get(seen.key_of(*pair), seen.Looked())
            is_graded = looked.status == "graded"
            stands = at and key and not removed  # what `nbgrader autograde` recorded has no key, and is graded again
            if looked.files != seen.digest_of(submission) or (is_graded and not stands):
                state.waiting += 1
            elif not is_graded:
                state.left += 1
            elif not _has(folders["feedback"] / student / state.name, "*.html"):
                state.pages += 1
            elif asked.recorded is not None:
                state.pages += looked.page != seen.page_of(at, asked.marks.get(pair, ()))
        state.older = editions.older(beside / editions.NAME / state.name, present) if any(present) else 0
    return states


def pages(course: Path) -> tuple[Path, dict[tuple[str, str], str]]:
    """Where submissions.json lies, and by assignment and student what a page would show that were written now."""
    book = gradebook_of(course)
    beside, asked = book.parent if book else course, _asked(course, book) or Book()
    shown = {
        pair: seen.page_of(at, asked.marks.get(pair, ()))
        for pair, (at, *_) in _graded(beside / "results.jsonl").items()
    }
    return beside, shown


def _graded(results: Path) -> dict[tuple[str, str], tuple[str, str, str]]:
    """By assignment and student, when it was graded last, with which edition, and the key of its record."""
    graded: dict[tuple[str, str], tuple[str, str, str]] = {}
    with contextlib.suppress(OSError, ValueError), results.open("rb") as file:
        for line in file:
            if match := RECORD.search(line[:2000]):
                assignment, student, at, edition, key = (part.decode() for part in match.groups(b""))
                graded[assignment, student] = at, edition, key
    return graded


@dataclass
class Book:
    """What the gradebook says."""

    unread: dict[str, int] = field(default_factory=dict)
    """By assignment, the notebooks that need a grader."""
    recorded: set[tuple[str, str]] | None = None
    """The submissions that it has, by assignment and student; None where nobody could ask."""
    marks: dict[tuple[str, str], list[tuple]] = field(default_factory=lambda: defaultdict(list))
    """By assignment and student, the points and comments that people gave."""

    @classmethod
    def of(cls, ask: Callable[[str], Iterable]) -> Book:
        book = cls({name: int(count) for name, count in ask(UNGRADED)}, {(name, who) for name, who in ask(RECORDED)})
        for name, who, *mark in ask(MARKED):
            book.marks[name, who].append(tuple(mark))
        return book


def _asked(course: Path, book: Path | None) -> Book | None:
    """What the gradebook says; None where it is on a server that is not known, or does not answer at once."""
    return _in_file(book) if book else _on_server(address_of(course))


def _in_file(gradebook: Path) -> Book:
    """A gradebook in a file; nothing where that is not there, or busy."""
    if not gradebook.is_file():
        return Book()
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"{gradebook.as_uri()}?mode=ro", uri=True, timeout=0.2)) as database,
    ):
        return Book.of(lambda question: database.execute(question).fetchall())
    return Book()


def _on_server(address: str) -> Book | None:
    """A gradebook on a server; None where its address is not known, or it does not answer at once."""
    if not address.startswith("postgresql"):
        return None
    try:
        from sqlalchemy import create_engine, text  # nobody else waits for it to load

        engine = create_engine(address, connect_args={"connect_timeout": SECONDS})
        try:
            with engine.connect() as connection:
                return Book.of(lambda question: connection.execute(text(question)))
        finally:
            engine.dispose()
    except Exception:  # no driver, no server, or an address that is none: the other commands say so
        return None


def _names(folder: Path) -> list[str]:
    names = [path.name for path in _listed(folder) if path.is_dir() and not path.name.startswith(".")]
    return sorted(names, key=lambda name: [part.zfill(9) if part.isdecimal() else part for part in DIGITS.split(name)])


def _listed(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _has(folder: Path, pattern: str) -> bool:
    return any(folder.glob(pattern))
