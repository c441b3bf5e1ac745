"""What formgrader's server does with the files of students: it shows pictures, offers all others as downloads, and
reads no configuration among them.

Theory of operation. Formgrader's pages, and their rights, belong to the origin of the Jupyter server. A page, a drawing
or a script of a student's that is shown there can do all that a grader can. So a file is never shown by its own word:
the server names the type of a picture, forbids the browser to guess another one, and sandboxes whatever it is. Links to
a course's folder, as ``/formgrader?path=``, have nbgrader run the configuration there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nbgrader.api import MissingEntry
from nbgrader.server_extensions.formgrader import handlers as theirs
from tornado import web

from viva.location import course_of_students_files, may_be_strangers
from viva.submission.files.beside import picture_type

SANDBOX = "sandbox; default-src 'none'"


class SubmittedFiles(theirs.SubmissionFilesHandler):
    """A file beside a graded notebook."""

    def parse_url_path(self, url_path: str) -> str:
        """The path of a file in the submission's folder, which becomes the ``root``."""
        submission, _, path = url_path.lstrip("/").partition("/")
        try:
            submitted = self.gradebook.find_submission_notebook_by_id(submission)
        except MissingEntry:
            raise web.HTTPError(404, f"Invalid submission: {submission}") from None
        key = submitted.student.id, submitted.assignment.assignment.name
        self.root = os.path.abspath(self.coursedir.format_path(self.coursedir.autograded_directory, *key))
        return path.replace("/", os.sep)

    def get_content_type(self) -> str:
        return picture_type(str(self.absolute_path)) or "application/octet-stream"

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Content-Security-Policy", SANDBOX)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cache-Control", "no-store")
        if not picture_type(str(self.absolute_path)):
            self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(os.path.basename(path))}")


class Start(theirs.FormgraderHandler):
    """The first page, which may name the folder of a course."""

    def get(self, *parts: Any, **arguments: Any) -> Any:
        if path := self.get_argument("path", ""):
            folder, top = Path(os.path.abspath(path)), self.settings["nbgrader_formgrader"].root_dir
            is_outside = not any(
                Path(real(path)).is_relative_to(real(top)) for real in (os.path.abspath, os.path.realpath)
            )
            if course_of_students_files(folder) or may_be_strangers(folder) or is_outside:
                raise web.HTTPError(
                    400,
                    f"{folder} was not opened as a course, because a student or another user may have written its "
                    "configuration. Open formgrader in your course folder.",
                )
        return super().get(*parts, **arguments)


OURS = {theirs.SubmissionFilesHandler: SubmittedFiles, theirs.FormgraderHandler: Start}
"""By handler of nbgrader's, the one in its place."""


def replace_in(handlers: list[tuple]) -> None:
    """Put these handlers in the place of nbgrader's in a list of formgrader's."""
    handlers[:] = [(address, OURS.get(handler, handler), *rest) for address, handler, *rest in handlers]
