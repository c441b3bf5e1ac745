"""The command that enters the students of a course: roster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from rich.table import Table
from traitlets import Bool, Unicode

from viva import doors
from viva.cleaning import plaintext
from viva.commands.command import VivaCommand
from viva.commands.terminal import SHOWN, figures, shortened, whole
from viva.course import table
from viva.course.gradebook import agreement, identities
from viva.course.gradebook.identities import Identities
from viva.course.gradebook.joined import SAME
from viva.verdict import CourseError
from viva.wording import counted, folded
from viva_term.commands.studentdata import PersonCommand
from viva_term.joining import join, plan
from viva_term.lms import participants
from viva_term.lms.participants import Participants
from viva_term.lms.rosterfile import ROSTER, Difference, Entry, Roster
from viva_term.lms.systems import GROUPS, ROSTERS, SYSTEMS, issuer_of, systems


@doors.of_functions("viva.members", {"lti": "nbviva-lti", "canvas": "nbviva-lti"})
def members(*, command: VivaCommand) -> table.Table:
    """a system that `viva roster --from=` asks for its list, with nbgrader's columns (`id`, `first_name`, ...)"""
    raise NotImplementedError


class RosterCommand(PersonCommand):
    name = "viva-roster"
    arguments = "FILE | --from=lti | --from=canvas | --same OLD NEW | --export ID | --forget ID"
    completes = "tables"
    heading = "Class"
    description = "Read the roster from a learning system or its file; list added, changed and removed students."
    examples = """
        viva roster grades.csv --dry-run                what would change; without --dry-run, do it
        viva roster --from=lti --dry-run                ask the learning system, without a file; or --from=canvas
        viva roster --same alee a.lee2                  join two ids of one student; all grades go to alee
    """
    aliases = nbgrader_aliases | {
        "from": "RosterCommand.system",
        "id": "RosterCommand.id_from",
        "columns": "RosterCommand.columns",
        "section": "RosterCommand.section",
        "numbers": "RosterCommand.numbers",
    }
    flags = VivaCommand.flags | {
        "same": (
            {"RosterCommand": {"same": True}},
            "Join two ids of one student: first the id to keep, then the other.",
        ),
        "export": ({"RosterCommand": {"export": True}}, "Write all data of one student into a zip."),
        "forget": (
            {"RosterCommand": {"forget": True}},
            "Take all data of one student out of the course; --restore puts it back.",
        ),
        "restore": ({"RosterCommand": {"restore": True}}, "Put back what --forget took out."),
        "now": ({"RosterCommand": {"now": True}}, "With --forget: erase the data for good."),
        "dry-run": ({"RosterCommand": {"dry_run": True}}, "Only show what would change; write nothing."),
    }
    system = Unicode(
        help="The learning system: " + ", ".join({**ROSTERS.entries(), **SYSTEMS, **members.entries()}) + "."
    ).tag(config=True)
    id_from = Unicode(help="The student id to use: id, login, sis, lms, email or github.").tag(config=True)
    columns = Unicode(help="The names of the file's columns, as in id=Matriculation,email=Mail.").tag(config=True)
    section = Unicode(help="Read only this section or group.").tag(config=True)
    numbers = Unicode(help="The learning system of numbers in the gradebook whose system is unknown.").tag(config=True)
    same = Bool(False, help="Join two ids of one student.").tag(config=True)

    def run(self) -> int:
        if self.concerns_one:
            return self.run_for_one()
        if self.same:
            return self._join()
        if self.numbers:
            return self._say_whose()
        filed = {**ROSTERS.entries(SYSTEMS), **SYSTEMS}
        asks = self.system in members.entries() and not (self.extra_args and self.system in filed)
        if asks and self.extra_args:
            raise CourseError(f"--from={self.system} asks the learning system, so it needs no file.")
        if not asks and len(self.extra_args) != 1:
            lacking = self.system not in filed and members.lacking(self.system)
            raise CourseError(lacking or "Name one roster file, as in: viva roster grades.csv --dry-run")
        if not self.course.path("source", ".").is_dir():
            self.course.assignments()  # says that this is not a course
        with self.console.status("reading the roster"):
            how = (self.system, self.columns, self.id_from, self.section)
            if asks:
                people = participants.asked(members.ask(self.system, command=self), *how)
            else:
                people = participants.read(Path(self.extra_args[0]), *how)
        with self.alone(self.dry_run), self.console.status(f"comparing {len(people.entries)} students"):
            self._require_gradebook()
            roster = Roster.of(self.course, people.issuer)
            if people.system == GROUPS:
                difference, doubts = roster.grouped(people.entries)
            else:
                entries, doubts = roster.recognised(people.entries)
                difference = roster.compared(entries.values(), people.columns, self.section)
            notes = [people.notes, doubts, list(roster.remarks(difference))]
            if not self.dry_run:
                roster.write(self.course, difference)
        self._show(people, difference, notes)
        self._say(*filter(None, [roster.question]))
        return 0

    def _say_whose(self) -> int:
        """Take note of which learning system the numbers in the gradebook are that nothing tells of."""
        issuer = issuer_of(self.numbers)
        if self.numbers not in (*systems(), *members.entries()) or not issuer or issuer == "lti":
            choices = ", ".join(name for name in systems() if issuer_of(name) == name)
            raise CourseError(
                f"There is no learning system '{self.numbers}'. Name one of: {choices}. As in: --numbers=canvas"
            )
        with self.alone(self.dry_run):
            numbers, column = Identities.read(self.course.root), Roster.of(self.course).column
            of = {student: column[student] for student in numbers.unknown(column)}
            numbers.note(issuer, of, identities.SAID)
            if not self.dry_run:
                numbers.write()
        self._say(
            f"{counted(len(of), 'number')} in the gradebook belong to {self.numbers}. "
            + ("Nothing was written." if self.dry_run else f"This is recorded in {identities.FILE}.")
        )
        self.show_document(system=issuer, students=sorted(of), dry_run=self.dry_run)
        return 0

    def _require_gradebook(self) -> None:
        """Raises CourseError for a gradebook that was emptied: what goes into it is lost when a copy is restored."""
        agreement.require_kept(self.course, {submission.assignment for submission in self.course.folders("autograded")})

    def _join(self) -> int:
        """Make two students one, and say what that moves."""
        if len(self.extra_args) != 2:
            raise CourseError("Name two ids, first the one to keep: viva roster --same OLD NEW")
        with self.alone(self.dry_run):
            self._require_gradebook()
            joining = plan(self.course, *self.extra_args)
            if not self.dry_run:
                join(self.course, joining)
        outcome = (
            f"'{plaintext.line(joining.new)}' was joined with '{plaintext.line(joining.old)}', who keeps all grades."
        )
        done = "Nothing was written. Run the same command without --dry-run to write it."
        self._say(outcome, *joining.sentences(), done if self.dry_run else f"This is recorded in {SAME}.")
        self.show_document(**asdict(joining), dry_run=self.dry_run)
        return 0

    def _show(self, people: Participants, difference: Difference, notes: list[list[str]]) -> None:
        counts = Table("list", *figures("new", "changed", "gone", "unchanged"))
        parts = difference.new, difference.changed, difference.gone, difference.same
        counts.add_row(people.title, *(str(len(part)) for part in parts))
        self.console.print(counts)
        if not difference.nothing:
            self.console.print(_people(difference))
        self._say(
            *(sentence for sentences in notes for sentence in shortened(folded(sentences, differing=9))),
            *self._sentences(people, difference),
        )
        self.show_document(
            file=people.path,
            system=people.system,
            ids=people.called,
            dry_run=self.dry_run,
            new=[asdict(entry) for entry in difference.new],
            changed=[{"id": old.id, "changes": old.changes(new)} for old, new in difference.changed],
            gone=[asdict(entry) for entry in difference.gone],
            left=[asdict(entry) for entry in difference.left],
            unchanged=[entry.id for entry in difference.same],
            notes=[note for sentences in notes for note in sentences],
        )

    def _sentences(self, people: Participants, difference: Difference) -> Iterator[str]:
        """What else there is to say of a list: ids, those who left, what was written."""
        if people.system == GROUPS:
            yield "The file lists only groups, so students who are not in the file stay enrolled."
        else:
            yield (
                f"The student ids are those of the column '{plaintext.line(people.called)}'. To use another "
                "column: --id"
            )
        if len(difference.gone) > 1 and not (difference.same or difference.changed):
            yield (
                "No enrolled student is in this file. Check that it is the file of this course, from the same system."
            )
        if difference.gone:
            yield (
                f"Removed: {len(difference.gone)}. These students are not in {ROSTER} any more. The gradebook "
                "keeps their grades."
            )
        if difference.left:
            who = plaintext.some([plaintext.line(entry.id) for entry in difference.left], SHOWN)
            yield f"In the gradebook with grades, but not on the roster: {who}."
        path = self.course.root / ROSTER
        if difference.nothing:
            yield f"Nothing changes: {path} and the gradebook match the file."
        elif self.dry_run:
            yield "Nothing was written. Run the same command without --dry-run to write it."
        else:
            yield f"The roster is written to {path} and to the gradebook."


def _people(difference: Difference) -> Table:
    """Who is new, changed and gone, and what changed."""
    table = Table("", whole("student"), "name", "section", "what")
    rows = {
        "new": [(entry, entry.email) for entry in difference.new],
        "changed": [(new, _changes(old, new)) for old, new in difference.changed],
        "gone": [(entry, entry.email) for entry in difference.gone],
    }
    for change, people in rows.items():
        for entry, detail in people[:SHOWN]:
            cells = (entry.id, entry.name, entry.section or entry.group, detail)
            table.add_row(change, *(plaintext.line(cell) for cell in cells))
        if len(people) > SHOWN:
            table.add_row(change, f"and {len(people) - SHOWN} more")
    return table


def _changes(old: Entry, new: Entry) -> str:
    return "; ".join(f"{name}: {before or '-'} → {now or '-'}" for name, (before, now) in old.changes(new).items())
