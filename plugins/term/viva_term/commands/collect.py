"""The command that collects submissions from archives of learning systems: collect."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.plugins.zipcollect import FileNameCollectorPlugin
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from traitlets import Bool, List, Unicode

from viva.cleaning import plaintext
from viva.cleaning.plaintext import quoted
from viva.commands.command import NEEDS_GRADER, VivaCommand
from viva.commands.terminal import SHOWN, explained, figures, shortened, whole
from viva.course.gradebook import agreement
from viva.course.grades.standing import UNMATCHED
from viva.course.processes import leftovers, stopping
from viva.course.releasing import contract
from viva.folder import walk
from viva.verdict import CourseError
from viva.wording import counted, folded
from viva_term.archives import companion
from viva_term.archives.attempt import Attempt, digest_of_file
from viva_term.archives.collected import NEWEST, Collection, Plan, Status
from viva_term.archives.intake import Intake, unnamed
from viva_term.archives.layouts import ARCHIVES, LAYOUTS, About, layouts
from viva_term.archives.ledger import ATTEMPTS, Row
from viva_term.archives.sendermatching import MATCHES, Class, Matches, shown
from viva_term.archives.times import Collect, Times, zone_of
from viva_term.archives.unmatched import Unmatched
from viva_term.lms.rosterfile import Roster

LEGEND = (
    "newer: a newer attempt counts now. not counted: an attempt that does not count. time set: the files are the "
    "same, but the time or the group changed. unmatched: files whose student is unknown."
)
"""What the heads of the table mean."""


class CollectCommand(VivaCommand):
    name = "viva-collect"
    arguments = "ARCHIVE ..."
    completes = "files"
    heading = "Class"
    description = "Unpack submissions from a learning system into submitted/; the newest attempt counts."
    examples = """
        viva collect submissions.zip --assignment=ps1 --dry-run       what would be collected; nothing is written
        viva collect moodle.zip --assignment=ps1 --times=grades.csv --zone=Europe/Berlin
        viva collect canvas.zip --assignment=ps1 --time='2026-10-05 23:59'    one time for all
        viva collect --assignment=ps1                                 assign the submissions in unmatched/
        viva collect --assignment=ps1 --student=anna --attempt=1      an earlier attempt counts
    """
    aliases = nbgrader_aliases | {
        "from": "CollectCommand.system",
        "times": "CollectCommand.times",
        "time": "CollectCommand.time",
        "zone": "Collect.zone",
        "attempt": "CollectCommand.attempt",
    }
    flags = VivaCommand.flags | {
        "dry-run": ({"CollectCommand": {"dry_run": True}}, "Only show what would be collected; write nothing."),
        "no-times": ({"CollectCommand": {"no_times": True}}, "Also collect submissions without a submission time."),
    }
    system = Unicode(help=f"The learning system: {', '.join([*ARCHIVES.entries(), *LAYOUTS])}.").tag(config=True)
    times = List(Unicode(), help="Files with submission times: a worksheet, metadata, an index, a CSV.").tag(
        config=True
    )
    time = Unicode(help="The submission time of all submissions that have none.").tag(config=True)
    attempt = Unicode(help="Which attempt counts: newest, first, or a number.").tag(config=True)
    no_times = Bool(False, help="Also collect submissions without a submission time.").tag(config=True)
    dry_run = Bool(False, help="Only show what would be collected.").tag(config=True)
    settings = (Collect, FileNameCollectorPlugin)

    def run(self) -> int:
        if not self.coursedir.assignment_id:
            raise CourseError("Name the assignment, as in: viva collect submissions.zip --assignment=ps1")
        (self.assignment,) = self.course.chosen([self.coursedir.assignment_id])
        waiting = Unmatched(self.course, self.assignment)
        if not self.extra_args and not waiting.rows and not self.attempt:
            raise CourseError(
                "Name an archive or an unpacked folder, as in: viva collect submissions.zip "
                f"--assignment={self.assignment}"
            )
        zone = zone_of(self.config)
        room = Path(tempfile.mkdtemp())
        with self.alone(self.dry_run):
            if not (book := self.course.gradebook_file) or book.exists():  # without one, roster.csv has the class
                agreement.require_kept(self.course, [self.assignment])
            roster = Roster.of(self.course)
            matches = Matches.read(self.course.root / MATCHES, roster)
            people = Class(roster, matches, self.assignment)
            intake = self._intake(people, room)
            intake.match(people, waiting)
            collection = Collection(self.course, self.assignment, self.attempt)
            restated = "zone" in self.cli_config.get("Collect", {})
            times = Times(zone, intake.companions, self.time, restated, self.no_times, people.students)
            intake.date(times, collection.known)
            intake.refuse_links(self._given())
            before = list(intake.before(collection.of_others))
            plans = self._plans(intake, collection)
            for plan in plans:
                if plan.status is Status.REFUSED:
                    intake.refuse(plan.student, " ".join(plan.notes))
            if not self.dry_run:
                self._write(plans, collection, intake, waiting)
        return max(self._tell_before(before), self._show(intake, plans, roster))

    def _intake(self, people: Class, room: Path) -> Intake:
        """What the archives hold."""
        intake = Intake(companions=[companion.read(Path(name)) for name in self.times])
        regexp = FileNameCollectorPlugin(config=self.config).named_regexp
        notebooks = set(contract.names_of(self.course, self.assignment))
        for name in self.extra_args:
            with self._progress(f"reading {plaintext.line(Path(name).name)}") as advance:
                expected = About(self.assignment, people.known, people.names, regexp)
                intake.read(Path(name), expected, room, notebooks, self.system, progress=advance)
        books = {name: contract.names_of(self.course, name) for name in self.course.assignments()}
        intake.require_about(self.assignment, books)
        return intake

    def _given(self) -> set[str]:
        """The hashes of the files that every student was given."""
        files = contract.files_of(self.course.directory, self.assignment)
        paths = [path for folder in (self.course.path("release", self.assignment), files) for path in walk(folder)]
        return {digest_of_file(path) for path in paths if path.is_file()}

    def _plans(self, intake: Intake, collection: Collection) -> list[Plan]:
        chosen = self.coursedir.student_id
        students = {name for name in intake.students if chosen in ("*", name)}
        if self.attempt:
            students |= {name for name in collection.ledger.rows if chosen in ("*", name)}
            if chosen != "*" and chosen not in students:
                raise CourseError(f"'{plaintext.line(chosen)}' has no collected attempt of {self.assignment}.")
        plans = []
        for student in sorted(students):
            stopping.check()
            plans.append(collection.plan(student, intake.students.get(student, [])))
        return plans

    def _write(self, plans: list[Plan], collection: Collection, intake: Intake, waiting: Unmatched) -> None:
        """Each student's folder is written whole; the ledger is written also when this is stopped."""
        leftovers.finish_builds(self.course.folders_around("submitted"))
        for folder in (collection.ledger.folder, waiting.folder):
            leftovers.finish_builds(folder.glob("*"))
        try:
            with self._progress("writing") as advance:
                for number, plan in enumerate(plans, 1):
                    collection.write(plan)
                    advance(number, len(plans))
        finally:
            with stopping.postponed():
                if plans:
                    collection.ledger.write()
        for attempt, _ in intake.unmatched:
            waiting.keep(attempt)
        for attempt, match in intake.left:
            waiting.keep(attempt, match.students)
        waiting.settle(intake.settled({plan.student for plan in plans if plan.status is not Status.REFUSED}))
        waiting.write()

    @contextlib.contextmanager
    def _progress(self, title: str) -> Iterator:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=self.console, disable=not self.console.is_terminal) as progress:
            task = progress.add_task(title)
            yield lambda done, total: progress.update(task, completed=done, total=total)

    def _show(self, intake: Intake, plans: list[Plan], roster: Roster) -> int:
        lost = unnamed(intake.unmatched)
        refused = [plan for plan in plans if plan.status is Status.REFUSED]
        self._print_counts(intake, plans, len(lost))
        self._print_unmatched(lost, roster)
        self._print_left(intake)
        self._print_packed(intake)
        left_out = [f"{one.path.name}: {sentence}" for one in intake.sources for sentence in one.left_out]
        lists = [left_out, intake.of_files, intake.notes, [note for plan in plans for note in plan.notes]]
        self._say(
            *(one for some in lists for one in shortened(folded(some))), *self._sentences(intake, plans, lost, roster)
        )
        self.show_document(
            assignment=self.assignment,
            dry_run=self.dry_run,
            archives=[
                {"path": one.path, "system": one.system, "members": one.members, "left_out": one.left_out}
                for one in intake.sources
            ],
            students=[_document(plan) for plan in plans],
            unmatched=[
                {"sender": sender, "why": match.problem, "nearest": match.nearest} for sender, match in lost
            ],
            left_out=[
                {"sender": shown(one.sender), "students": match.students, "why": one.problem or one.refused}
                for one, match in intake.left
            ],
            packed=[{"sender": shown(one.sender), "why": " ".join(one.packed)} for one in intake.packed],
            notes=[note for some in lists for note in some],
        )  # fmt: skip
        return NEEDS_GRADER if lost or refused or intake.left or intake.packed else 0

    def _tell_before(self, before: list[tuple[Attempt, Row]]) -> int:
        """Say which submissions are another student's now: who had them keeps them until a person decides."""
        for attempt, row in before:
            found = f" (found by {row.by})" if row.by else ""
            self._say(
                f"Attempt {row.attempt} is in the folder of {quoted(row.student_id)}{found}, but its sender "
                f"{quoted(shown(attempt.sender))} is another student now. If {quoted(row.student_id)} did not send it, "
                "delete the line in "
                f"{ATTEMPTS}/{self.assignment}.csv and the folder "
                f"{self.course.path('submitted', self.assignment, row.student_id)}. Then correct the score in "
                "formgrader."
            )
        return NEEDS_GRADER if before else 0

    def _print_counts(self, intake: Intake, plans: list[Plan], lost: int) -> None:
        names = [status for status in Status if status is not Status.REFUSED]
        table = Table("archive", "system", "files", "attempts", "left out")
        for source in intake.sources:
            cells = plaintext.line(source.path.name), layouts()[source.system].title
            numbers = source.members, len(source.attempts), len(source.left_out) or ""
            table.add_row(*cells, *map(str, numbers))
        if intake.sources:
            self.console.print(table)
        counts = Counter(plan.status for plan in plans)
        heads = figures(*map(str, names), "unmatched")
        table = explained(LEGEND, "assignment", *heads)
        table.add_row(self.assignment, *(str(counts[name] or "") for name in names), str(lost or ""))
        self.console.print(table)

    def _print_unmatched(self, lost: list, roster: Roster) -> None:
        if not lost:
            return
        table = Table(whole("unmatched"), "why", "nearest in the class")
        for sender, match in lost[:SHOWN]:
            near = ", ".join(f"{student} ({roster.entries[student].name})" for student in match.nearest)
            table.add_row(*(plaintext.line(cell) for cell in (sender, match.problem, near)))
        if len(lost) > SHOWN:
            table.add_row(f"and {len(lost) - SHOWN} more")
        self.console.print(table)

    def _print_left(self, intake: Intake) -> None:
        if not intake.left:
            return
        table = Table(whole("left out"), "student", "why")
        for attempt, match in intake.left[:SHOWN]:
            cells = shown(attempt.sender), ", ".join(match.students), attempt.problem or attempt.refused
            table.add_row(*(plaintext.line(cell) for cell in cells))
        if len(intake.left) > SHOWN:
            table.add_row(f"and {len(intake.left) - SHOWN} more")
        self.console.print(table)

    def _print_packed(self, intake: Intake) -> None:
        if not intake.packed:
            return
        table = Table(whole("stays packed"), "why")
        for attempt in intake.packed[:SHOWN]:
            table.add_row(plaintext.line(shown(attempt.sender)), plaintext.line(" ".join(attempt.packed), 500))
        if len(intake.packed) > SHOWN:
            table.add_row(f"and {len(intake.packed) - SHOWN} more")
        self.console.print(table)

    def _sentences(self, intake: Intake, plans: list[Plan], lost: list, roster: Roster) -> Iterator[str]:
        keeps = "will be" if self.dry_run else "are"
        if lost and roster.question:
            yield roster.question
        if lost:
            sender, _ = lost[0]
            yield (
                f"{counted(len(lost), 'unidentified submission')}. "
                + ("The course has no students yet. Read the roster first: viva roster FILE. " if not roster.entries
                   else "")
                + f"The files {keeps} kept in {UNMATCHED}/{self.assignment}/. For each sender, add a line to {MATCHES} "
                f"after its first line (sender,student_id), such as: {_csv_cell(sender)},<student_id>   (or '-' if "
                f"the sender is not a student). Then: viva collect --assignment={self.assignment}"
            )  # fmt: skip
        if intake.left:
            yield (
                f"Not collected, or only partly: {counted(len(intake.left), 'submission')}. The files that could "
                f"be read {keeps} kept in {UNMATCHED}/{self.assignment}/. {UNMATCHED}/{self.assignment}.csv "
                f"{('will have' if self.dry_run else 'has')} the reasons. Check each one, then delete its folder "
                "there."
            )
        if intake.packed:
            yield (
                f"Not unpacked, or only partly: the archives of {counted(len(intake.packed), 'submission')}. They "
                "are in the submission's folder. A zip is graded as it is. Unpack other archives there yourself."
            )
        if graded := [plan for plan in plans if plan.graded]:
            who = ", ".join(shortened([f"'{plan.student}'" for plan in graded]))
            yield f"Changed since grading: {who}. Run: viva grade {self.assignment}"
        beside = [
            f"attempt {plan.row.attempt} of '{plan.student}'" for plan in plans if plan.row and len(plan.rows) > 1
        ]
        if beside:
            who = ", ".join(shortened(beside))
            yield (
                f"Some students have several attempts. These attempts count: {who}. The others "
                f"{'will be' if self.dry_run else 'are'} kept in attempts/{self.assignment}/. To select another "
                f"one: --attempt=N --student=ID; to select the newest again: --attempt={NEWEST} --student=ID."
            )
        if self.dry_run:
            yield "Nothing was written. Run the same command without --dry-run to write it."
        elif all(plan.status in (Status.UNCHANGED, Status.REFUSED) for plan in plans):
            yield "Nothing changed in submitted/."
        else:
            yield f"Collected into {self.course.path('submitted', self.assignment, '<student>')}. Now: viva grade"


def _document(plan: Plan) -> dict:
    row = plan.row
    return {
        "student": plan.student,
        "status": str(plan.status),
        "attempt": row.attempt if row else None,
        "attempts": len(plan.rows),
        "timestamp": row.timestamp if row else "",
        "group": row.group if row else "",
        "sender": row.sender if row else "",
        "by": row.by if row else "",
        "files": sorted(plan.files.get(row.attempt, {})) if row else [],
        "graded_before": plan.graded,
        "notes": plan.notes,
    }


def _csv_cell(text: str) -> str:
    text = plaintext.line(text)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',;"') else text
