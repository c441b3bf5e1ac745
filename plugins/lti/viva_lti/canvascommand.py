"""The command that asks Canvas, with an access token: canvas. The roster is a door of ``viva roster``."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from traitlets import Bool, Unicode

from viva.cleaning import plaintext
from viva.commands.command import VivaCommand
from viva.course.processes import leftovers
from viva.course.table import Table, csv_text
from viva.verdict import CourseError
from viva.wording import counted
from viva_lti import canvascourse, key
from viva_lti.drafts import Drafts
from viva_lti.exporting import ScoresCommand
from viva_lti.matching import matched, students
from viva_lti.members import Member
from viva_lti.settings import Canvas

ACTIONS = ("register", "export", "times")
SHOWN = 20
ISSUER = "canvas"
"""Whose the numbers are; those of Canvas's files are the same."""
COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id", "sis", "login", "section", "group")


class CanvasCommand(ScoresCommand):
    name = "viva-canvas"
    arguments = "register ADDRESS | export [ASSIGNMENT ...] | times ASSIGNMENT"
    completes = ""
    heading = "Class"
    description = (
        "Register the course with Canvas by an access token, send scores as drafts, and get times of submission."
    )
    examples = """
        viva canvas register https://canvas.example.edu/courses/12     asks for the access token
        viva canvas export ps1 --dry-run                what would be sent; without --dry-run, send it
        viva canvas times ps1                           write ps1-times.csv, for: viva collect --times=ps1-times.csv
    """
    aliases = nbgrader_aliases | {"token-file": "CanvasCommand.token_file", "keys": "Canvas.keys"}
    flags = ScoresCommand.flags | {
        "visible": ({"CanvasCommand": {"visible": True}}, "Also send scores that students see at once."),
    }
    token_file = Unicode(help="A file with the access token; without it, the command asks for it.").tag(config=True)
    visible = Bool(False, help="Also send scores that students see at once.").tag(config=True)
    settings = (Canvas,)

    def run(self) -> int:
        action, *rest = self.extra_args or [""]
        if action not in ACTIONS or (len(rest) > 1 and action != "export"):
            raise CourseError(
                "This command needs an action: 'viva canvas register ADDRESS' registers the course, 'viva canvas "
                "export' sends "
                "scores, 'viva canvas times ASSIGNMENT' gets times of submission, and 'viva roster --from=canvas' "
                "reads the roster."
            )
        if not self.course.path("source", ".").is_dir():
            self.course.assignments()  # says that this is not a course
        return {"register": self._register, "export": self._export, "times": self._times}[action](rest)

    def _export(self, names: list[str]) -> int:
        settings = Canvas(parent=self)

        def people() -> list[Member]:
            with opened(self) as there:
                return there.members()

        @contextmanager
        def drafts() -> Iterator[Drafts]:
            with opened(self) as there:
                yield Drafts(there, settings.assignments, self.visible)

        return self.export(names, settings, ISSUER, people, drafts)

    def _register(self, words: list[str]) -> int:
        """Try the token, and keep it where it works."""
        root = Path(self.course.root)
        place = canvascourse.registration_of(words[0]) if words else canvascourse.registration(root)
        path = canvascourse.path_of(place, Canvas(parent=self).folder, root)
        token, stays = self._token(path)
        with canvascourse.connected(place, token) as there:
            title, size = there.title(), len(there.members())
        if not self.dry_run:
            with self.alone():
                if stays:
                    key.write(path, token + "\n")
                canvascourse.write_registration(root, place)
        self._say(f"{place.host}: the course {plaintext.quoted(title)} has {counted(size, 'student')}.")
        if stays and not self.dry_run:
            self._say(f"The access token is {path}. Keep it secret; it is not part of the course folder.")
        self._say(
            "Nothing was written. Run the same command without --dry-run to write it."
            if self.dry_run
            else "Now run: viva roster --from=canvas --dry-run"
        )
        self.show_document(url=place.url, course=place.course, students=size, dry_run=self.dry_run)
        return 0

    def _token(self, path: Path) -> tuple[str, bool]:
        """The token, and whether it is to be written into its file. Raises CourseError and OSError."""
        if self.token_file:
            file = Path(self.token_file).expanduser().resolve()
            if file.is_relative_to(Path(self.course.root).resolve()):
                raise CourseError(f"{file} is in the course folder, which is copied and shared. Move it elsewhere.")
            if not file.is_file():
                raise CourseError(f"The file {file} does not exist. Name a file with the access token.")
            return canvascourse.require_token(file.read_text(encoding="utf-8", errors="replace")), True
        if os.environ.get(canvascourse.VARIABLE):
            return canvascourse.token(path), False
        if sys.stdin is not None and sys.stdin.isatty():
            typed = getpass.getpass("Access token (it is not shown; press Enter to keep the present one): ")
            return (canvascourse.require_token(typed), True) if typed.strip() else (canvascourse.token(path), False)
        raise CourseError(
            f"Name a file with the access token (--token-file=FILE), or put the token into {canvascourse.VARIABLE}."
        )

    def _times(self, words: list[str]) -> int:
        """Write when each student submitted last, as 'viva collect --times' reads it."""
        if not words:
            raise CourseError("Name an assignment, as in: viva canvas times ps1")
        (name,) = self.course.chosen(words)
        number = Canvas(parent=self).assignments.get(name, "")
        with self.course.gradebook() as gradebook:
            enrolled = students(self.course, gradebook, ISSUER)
        with self.console.status("asking Canvas"), opened(self) as there:
            people, doubts = matched(there.members(), enrolled, "login")
            submitted = there.times(str(there.assignment(name, str(number)).id))
        times = {
            student: f"{submitted[member.user_id]:%Y-%m-%dT%H:%M:%SZ}"
            for student, member in sorted(people.items())
            if member.user_id in submitted
        }
        unclear = {user: why for user, why in doubts.items() if user in submitted}
        for user, why in sorted(unclear.items())[:SHOWN]:
            self._say(f"No time was written for member {plaintext.line(user)}: {why}.")
        path = Path(self.course.root) / f"{name}-times.csv"
        text = csv_text(("student_id", "timestamp"), times.items())
        if self.dry_run:
            self._say(f"{counted(len(times), 'time')} of submission. Nothing was written.")
        else:
            with self.alone():
                leftovers.write(path, text)
            self._say(f"{path}: {counted(len(times), 'time')} of submission.")
        self.show_document(assignment=name, times=times, unclear=unclear, dry_run=self.dry_run)
        return 0


@contextmanager
def opened(command: VivaCommand) -> Iterator[canvascourse.Canvas]:
    """The course in Canvas, with its token. Raises CourseError."""
    root = Path(command.course.root)
    place = canvascourse.registration(root)
    token = canvascourse.token(canvascourse.path_of(place, Canvas(parent=command).folder, root))
    with canvascourse.connected(place, token) as there:
        yield there


def roster(command: VivaCommand) -> Table:
    """The list for ``viva roster --from=canvas``: a line for each student. Raises CourseError."""
    with opened(command) as there:
        groups, sets = there.groups(Canvas(parent=command).group_set)
        people = there.members(there.sections(), groups)
    notes = []
    if groups is None and sets:
        notes.append(
            f"Canvas has {sets} group sets, so no groups were read. Name one by its number, as in: "
            "c.Canvas.group_set = '99'"
        )
    if silent := [who for who in people if not who.login]:
        notes.append(
            f"Canvas does not show the logins of {counted(len(silent), 'student')}, so new students get their number "
            "in Canvas as id. The owner of the access token needs the permission to view login IDs."
        )
    rows = [
        [who.login or who.user_id, who.first_name, who.last_name, who.email, who.user_id, who.sis, who.login,
         who.section, who.group] for who in people
    ]  # fmt: skip
    columns = COLUMNS if groups is not None else COLUMNS[:-1]
    return Table(columns, {line: row[: len(columns)] for line, row in enumerate(rows, 2)}, notes, ISSUER)
