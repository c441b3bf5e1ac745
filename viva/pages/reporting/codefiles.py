"""The answers of a class as files of code, for programs that compare such files: Dolos and JPlag.

A zip for each notebook. ``info.csv`` in it is the list that Dolos reads, and each student has a folder, as JPlag wants
it. The code that students got is a template in both: what it shares with an answer does not count.
"""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from viva.course.course import Course
from viva.course.processes import leftovers
from viva.course.releasing import contract
from viva.course.table import csv_text
from viva.pages.reporting.pseudonyms import Pseudonyms, answers_in, code_in, read_cells
from viva.submission.files import timestamp
from viva.submission.submission import Submission
from viva.verdict import SubmissionError

TOOLS = ("dolos",)
COLUMNS = ("filename", "full_name", "created_at", "ignored")
TEMPLATE = "released"
"""The folder of the code that students got."""
EPOCH = (1980, 1, 1, 0, 0, 0)


def write(course: Course, assignment: str, names: Pseudonyms, folder: Path) -> dict[Path, int]:
    """Write a zip for each notebook of an assignment; returns the number of answers in it, by path."""
    graded = [entry for entry in course.folders("autograded") if entry.assignment == assignment]
    zips = {}
    for notebook in contract.names_of(course, assignment):
        rows: list[tuple[str, str, str, str]] = []
        files: dict[str, str] = {}
        for entry in graded:
            if answers := answers_in(read_cells(entry.folder / f"{notebook}.ipynb")):
                student = names.of(entry.student)
                path = f"{student}/{notebook}.py"
                files[path] = names.text(_code(answers))
                rows.append((path, student, _time(course, entry), "false"))
        template = TEMPLATE
        while f"{template}/{notebook}.py" in files:
            template += "_"
        files[f"{template}/{notebook}.py"] = _code(code_in(course.path("release", assignment) / f"{notebook}.ipynb"))
        rows.append((f"{template}/{notebook}.py", template, "", "true"))
        target = folder / f"{assignment}-{notebook}-dolos.zip"
        with leftovers.whole(target) as file:
            file.buffer.write(_zip(files | {"info.csv": _table(rows)}))
        zips[target] = len(rows) - 1
    return zips


def _code(cells: Mapping[str, str]) -> str:
    """Cells as one file, each under its name."""
    return "\n\n".join(f"# {name}\n{source}" for name, source in cells.items()) + "\n"


def _time(course: Course, entry: Submission) -> str:
    """When something was submitted; empty where nobody knows."""
    with contextlib.suppress(SubmissionError):
        submission = Submission(
            entry.assignment,
            entry.student,
            course.path("submitted", entry.assignment, entry.student),
            course.zones,
        )
        if when := timestamp.of(submission):
            return timestamp.in_utc(when).isoformat(" ", "seconds")
    return ""


def _table(rows: list[tuple[str, str, str, str]]) -> str:
    """The list as Dolos reads it, which knows no mark before a name."""
    return csv_text(COLUMNS, rows, exact=True)


def _zip(files: Mapping[str, str]) -> bytes:
    """The same files give the same bytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(files.items()):
            member = zipfile.ZipInfo(name, EPOCH)
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(member, text.encode(errors="replace"))
    return data.getvalue()
