"""The command that talks with Canvas, with an access token: canvas."""

from __future__ import annotations

import csv
import getpass
import io
import sys
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from traitlets import Bool, Unicode

from viva.commands.command import VivaCommand
from viva.course.processes import leftovers
from viva.course.table import Table
from viva.verdict import CourseError
from viva.wording import counted
from viva_lti import canvas, key
from viva_lti.exporting import ScoresCommand
from viva_lti.matching import matched, students
from viva_lti.scoreplan import ScorePlan
from viva_lti.settings import Canvas

ACTIONS = ("register", "export", "times")
COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id", "sis", "login", "section", "group")


class CanvasCommand(ScoresCommand):
    name = "viva-canvas"
    arguments = "register ADDRESS | export [ASSIGNMENT ...] | times ASSIGNMENT ..."
    completes = ""
    heading = "Class"
    description = "Register the course with Canvas by an access token, send scores as drafts, and get submission times."
    examples = """
        viva canvas register https://canvas.example.edu/courses/12     asks for the access token
        viva canvas export ps1 --dry-run                what would be sent; without --dry-run, send it
        viva canvas times ps1                           write ps1-times.csv, for: viva collect --times=ps1-times.csv
    """
    aliases = nbgrader_aliases | {"token-file": "CanvasCommand.token_file", "keys": "Canvas.keys"}
    flags = ScoresCommand.flags | {
        "visible": (
            {"CanvasCommand": {"visible": True}},
            "Also send scores that students see at once, as Canvas posts them automatically.",
        ),
    }
    token_file = Unicode(help="A file with the access token; without it, the command asks for it.").tag(config=True)
    visible = Bool(False, help="Also send scores that students see at once.").tag(config=True)
    settings = (Canvas,)

    def run(self) -> int:
        action, *rest = self.extra_args or [""]
        if action not in ACTIONS:
            raise CourseError(
                "Say what to do: 'viva canvas register' registers the course, 'viva canvas export' sends scores, "
                "'viva canvas times' gets the times of submission, and 'viva roster --from=canvas' reads the roster."
            )
        if not self.course.path("source", ".").is_dir():
            self.course.assignments()  # says that this is not a course
        self.there = Canvas(parent=self)
        return {"register": self._register, "export": self._export, "times": self._times}[action](rest)

    def _register(self, words: list[str]) -> int:
        """Try the token, and keep it where it works."""
        root = Path(self.course.root)
        place = canvas.registration_of(words[0]) if len(words) == 1 else canvas.registration(root)
        path = key.path_of(place.url, self.there.folder, root, canvas.ENDING)
        token = self._token(path)
        with canvas.connected(place, token) as course:
            title, size = course.title(), len(course.members())
        if not self.dry_run:
            with self.alone():
                key.write(path, token + "\n")
                canvas.write_registration(root, place)
        self._say(
            f"{place.host}: the course '{title}' has {counted(size, 'student')}.",
            f"The access token is {path}. Keep it secret; it is not part of the course folder.",
            "Now run: viva roster --from=canvas --dry-run",
        )
        self.show_document(url=place.url, course=place.course, students=size, token=str(path), dry_run=self.dry_run)
        return 0

    def _token(self, path: Path) -> str:
        """The token that was typed or is in a file. Raises CourseError."""
        if self.token_file:
            file = Path(self.token_file).expanduser().resolve()
            if file.is_relative_to(self.course.root.resolve()):
                raise CourseError(f"{file} is in the course folder, which is copied and shared. Move it elsewhere.")
            return canvas.require_token(file.read_text(encoding="utf-8", errors="replace"))
        if not sys.stdin.isatty():
            raise CourseError("Name a file with the access token: --token-file=FILE")
        typed = getpass.getpass("Access token (nothing is shown; Enter alone keeps the present one): ")
        return canvas.require_token(typed) if typed.strip() else canvas.token(path)

    def _opened(self, **more):
        return opened(self, self.there, **more)

    def _export(self, names: list[str]) -> int:
        def people():
            with self._opened() as course:
                return course.members()

        def grades():
            return self._opened(numbers=dict(self.there.assignments), visible=self.visible)

        return self.export(names, self.there, people, grades)

    def remarks(self, plan: ScorePlan) -> list[str]:
        return []

    def _times(self, names: list[str]) -> int:
        """Write when each student submitted last, as 'viva collect --times' reads it."""
        if not names:
            raise CourseError("Name an assignment, as in: viva canvas times ps1")
        with self.course.gradebook() as gradebook:
            enrolled = students(self.course, gradebook)
        with self._opened(numbers=dict(self.there.assignments), visible=True) as course:
            people, _ = matched(course.members(), enrolled, self.there.username_key)
            for name in names:
                column = course.column(name)
                assert column is not None
                submitted = course.submissions(column.id)
                text = io.StringIO()
                rows = csv.writer(text, lineterminator="\n")
                rows.writerow(("student_id", "timestamp"))
                times = {
                    student: submitted[member.user_id].submitted_at
                    for student, member in sorted(people.items())
                    if member.user_id in submitted and submitted[member.user_id].submitted_at
                }
                rows.writerows(times.items())
                path = Path(self.course.root) / f"{name}-times.csv"
                if not self.dry_run:
                    leftovers.write(path, text.getvalue())
                self._say(f"{path}: {counted(len(times), 'time')} of submission.")
        return 0


def opened(command: VivaCommand, there: Canvas, **more):
    root = Path(command.course.root)
    place = canvas.registration(root)
    token = canvas.token(key.path_of(place.url, there.folder, root, canvas.ENDING))
    return canvas.connected(place, token, **more)


def roster(command: VivaCommand) -> Table:
    """The list for ``viva roster --from=canvas``: a line for each student. Raises CourseError."""
    with opened(command, Canvas(parent=command)) as course:
        people = course.roster()
    rows = [
        [who.login or who.user_id, who.first_name, who.last_name, who.email, who.user_id, who.sis, who.login,
         who.section, who.group] for who in people
    ]  # fmt: skip
    return Table(COLUMNS, dict(enumerate(rows, 2)), [])
