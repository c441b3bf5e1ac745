"""A large graded course from a small one: its submissions again and again, under other students' names.

The gradebook and ``results.jsonl`` are written by the batch's own writer, many in a transaction, so that what it costs
to record one submission is measured at sizes that take hours to grade. ``submitted/`` and ``autograded/`` are copied.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
from nbgrader.api import Comment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import delete, event
from sqlalchemy.engine import Engine
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from viva.course.course import Course
from viva.course.gradebook import health
from viva.course.gradebook.recording import Graded, Writer
from viva.course.gradebook.results import Results
from viva.course.grading.batch import IN_ONE_TRANSACTION
from viva.record import SubmissionRecord, decode, encode

STEPS = ("submitted", "autograded")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("small", type=Path, help="a course that is graded")
    parser.add_argument("large", type=Path, help="a new folder")
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--no-files", action="store_true", help="only the gradebook and results.jsonl")
    parser.add_argument("--no-indexes", action="store_true", help="the gradebook as nbgrader makes it")
    options = parser.parse_args()
    for line in table(
        fill(options.small, options.large, options.submissions, not options.no_files, not options.no_indexes)
    ):
        print(line, flush=True)


def table(rows: Iterable[dict]) -> Iterator[str]:
    """Rows of ``fill`` as Markdown."""
    yield "| submissions | writer, ms of processor time each | SQL statements each | its memory, MiB | gradebook, MiB |"
    yield "|---|---|---|---|---|"
    for row in rows:
        memory, size = (row[key] / 2**20 for key in ("memory", "size"))
        each = f"{1000 * row['spent']:.1f} | {row['statements']:.1f} | {memory:.0f} | {size:.1f}"
        yield f"| {row['until']} | {each} |"


def fill(small: Path, large: Path, count: int, files: bool = True, quick: bool = True) -> Iterator[dict]:
    """Write the large course; of each tenth, what recording a submission of it cost."""
    large.mkdir(parents=True)
    for name in ("source", "release", ".contracts"):
        shutil.copytree(small / name, large / name)
    for name in ("nbgrader_config.py", "gradebook.db"):
        shutil.copy(small / name, large)
    course, config = _load(large)
    with course.gradebook() as gradebook, gradebook.engine.begin() as connection:
        for table in (Grade, Comment, SubmittedNotebook, SubmittedAssignment, Student):
            connection.execute(delete(table.__table__))
    if quick:
        health.quicken(course)
    known = list(_graded(small))
    jobs = (_renamed(*known[number % len(known)], number // len(known)) for number in range(count))
    statements, done = itertools.count(), 0
    event.listen(Engine, "before_cursor_execute", lambda *_: next(statements))
    writer, results = Writer(course.directory, config), Results.of(course.directory)
    for tenth in range(1, 11):
        part = list(itertools.islice(jobs, count * tenth // 10 - done))
        before, begun, counted = time.process_time(), time.monotonic(), next(statements)
        for start in range(0, len(part), IN_ONE_TRANSACTION):
            some = part[start : start + IN_ONE_TRANSACTION]
            writer.record([graded for _, graded, _ in some])
            results.add(record for _, _, record in some)
        done += len(part)
        yield {
            "until": done,
            "spent": (time.process_time() - before) / max(1, len(part)),
            "seconds": (time.monotonic() - begun) / max(1, len(part)),
            "statements": (next(statements) - counted) / max(1, len(part)),
            "memory": psutil.Process().memory_full_info().uss,
            "size": (large / "gradebook.db").stat().st_size,
        }
        if files:
            for old, graded, _ in part:
                for step in STEPS:
                    _copy(*(root / step / who for root, who in ((small, old), (large, graded.student))), graded)
    writer.close()
    results.tidy()


def _load(root: Path) -> tuple[Course, Config]:
    config = Config(PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config())
    config.CourseDirectory.root = str(root)
    return Course(CourseDirectory(config=config)), config


def _graded(root: Path) -> Iterator[tuple[Graded, SubmissionRecord]]:
    """All that a small course's gradebook and results say, as its workers handed it to the writer."""
    records = Results(root / "results.jsonl").read()
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "viva") as gradebook:
        for (assignment, student), record in sorted(records.items(), key=lambda one: (one[0][1], one[0][0])):
            known = gradebook.find_submission(assignment, student)
            scores = {
                book.name: {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in book.grades}
                for book in known.notebooks
            }
            remarks = {
                book.name: {comment.name: comment.auto_comment for comment in book.comments} for book in known.notebooks
            }
            yield Graded(assignment, student, known.timestamp, scores, remarks), record


def _renamed(graded: Graded, record: SubmissionRecord, time: int) -> tuple[str, Graded, SubmissionRecord]:
    """The same of another student, and who the first is."""
    student, fresh = f"{graded.student}-{time:04}", decode(encode(record))
    fresh.student = student
    return graded.student, replace(graded, student=student), fresh


def _copy(old: Path, new: Path, graded: Graded) -> None:
    shutil.copytree(old / graded.assignment, new / graded.assignment)


if __name__ == "__main__":
    main()
