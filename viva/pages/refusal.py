"""The page of a student whose submission could not be graded: why, and what to do.

It holds a sentence about the file and nothing of the assignment, so that there is no hidden line to look for.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from viva.pages.page import template
from viva.submission.files.contents import read_file
from viva.submission.submission import Submission
from viva.verdict import SubmissionError

DELIVERY = ("timestamp.txt", "submission_secret.txt")
"""What `nbgrader release_feedback` looks for beside a page."""


def write_refusals(submission: Submission, notebooks: list[str], problem: str, folder: Path) -> bool:
    """Write the page of each of the assignment's notebooks into ``folder``; whether anything in it changed.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name in DELIVERY:
        with contextlib.suppress(SubmissionError):
            files[folder / name] = read_file(submission.folder / name)
    for name in notebooks:
        place = {"assignment": submission.assignment, "student": submission.student, "notebook": name}
        page = template("refusal.html").render(place=place, problem=problem)
        files[folder / f"{name}.html"] = page.encode()
    changed = {path: data for path, data in files.items() if not path.is_file() or path.read_bytes() != data}
    for path, data in changed.items():
        path.write_bytes(data)
    return bool(changed)
