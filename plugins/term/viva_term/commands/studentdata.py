"""The options of `viva roster` for the data of one student: --forget, --restore, --export."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.table import Table
from traitlets import Bool

from viva.cleaning import plaintext
from viva.cleaning.plaintext import quoted
from viva.commands.command import VivaCommand
from viva.commands.terminal import SHOWN, figures
from viva.course.course import Course
from viva.verdict import CourseError
from viva_term.privacy import dossier, forgetting
from viva_term.privacy.forgetting import Store
from viva_term.privacy.traces import OWN_ZIP, Traces, gather


class PersonCommand(VivaCommand):
    """The options that concern one student."""

    forget = Bool(False, help="Take all data of one student out of the course.").tag(config=True)
    restore = Bool(False, help="Put back what --forget took out.").tag(config=True)
    export = Bool(False, help="Write all data of one student into a zip.").tag(config=True)
    now = Bool(False, help="With --forget: erase it for good.").tag(config=True)
    dry_run = Bool(False, help="Only show what would change.").tag(config=True)

    @property
    def concerns_one(self) -> bool:
        return self.forget or self.restore or self.export

    def run_for_one(self) -> int:
        if self.forget + self.restore + self.export > 1:
            raise CourseError("--forget, --restore and --export are different requests. Choose one of them.")
        option = "forget" if self.forget else "restore" if self.restore else "export"
        if len(self.extra_args) != 1:
            raise CourseError(f"Name one student: viva roster --{option} ID. {forgetting.listed(self.course)}")
        (student,) = self.extra_args
        if not self.course.exists():
            self.course.assignments()  # says that this is not a course
        return {"forget": self._forget, "restore": self._restore, "export": self._export}[option](student)

    def _forget(self, student: str) -> int:
        with self.alone(self.dry_run):
            traces = self._gathered(student)
            store = Store(self.course, traces.person.id if traces else student)
            if traces:
                self._show_traces(traces)
                if not (self.dry_run or traces.nothing):
                    store.forget(traces)
            if self.now and not self.dry_run:
                store.erase()
        self._say(*self._ending(traces, store))
        self.show_document(**_document(self.course, traces), dry_run=self.dry_run, erased=self.now and not self.dry_run)
        return 0

    def _gathered(self, student: str) -> Traces | None:
        """The traces of a student; None where all were taken away before, and --now erases them."""
        try:
            with self.console.status(f"searching the course for {plaintext.line(student)}"):
                return gather(self.course, student)
        except CourseError:
            if student in forgetting.waiting(self.course):
                return None
            raise

    def _ending(self, traces: Traces | None, store: Store) -> Iterator[str]:
        who = traces.person.called if traces else quoted(store.folder.name)
        if self.dry_run:
            yield "Nothing was written. Run the same command without --dry-run to write it."
        elif self.now:
            yield f"All data of {who} was erased from this course. It cannot be restored."
        elif store.runs:
            yield (
                f"The data of {who} is now in {store.folder}. Put it back: viva roster --restore {store.folder.name}. "
                f"Erase it for good: viva roster --forget {store.folder.name} --now"
            )
        if traces and traces.pages and not self.dry_run:
            yield "Files about the whole class were removed too. Write them again: viva report, viva export."
        if not self.dry_run and self.course.gradebook_file is None:
            yield "The gradebook is on a server, which may keep deleted rows until its administrator runs VACUUM FULL."
        yield "Backups, the history of git and the learning system are not in the course folder: look there too."

    def _restore(self, student: str) -> int:
        with self.alone() as finished:
            store = Store(self.course, student)
            done = [intent for intent in finished if (intent.kind, intent.about["student"]) == ("restore", student)]
            lost = 0 if done and not store.runs else store.restore()
        self._say(f"The data of {quoted(student)} is in the course again.")
        if lost:
            self._say(
                f"{lost} parts cannot be put back, because their file or assignment changed. They stay in "
                f"{store.folder}. Copy what you need, then erase them: viva roster --forget {student} --now"
            )
        self.show_document(student=student, lost=lost)
        return 0

    def _export(self, student: str) -> int:
        with self.alone(self.dry_run):
            traces = gather(self.course, student)
            path = self.target(f"{traces.person.id}{OWN_ZIP}")
            self._show_traces(traces)
            if not self.dry_run:
                count = dossier.write(self.course, traces, path)
                self._say(
                    f"{path} has {count} files. The folder '{dossier.HIDDEN}' in it shows hidden tests: delete it "
                    "before you give the zip to the student, if you use the tests again."
                )
        self.show_document(**_document(self.course, traces), dry_run=self.dry_run, path=str(path))
        return 0

    def _show_traces(self, traces: Traces) -> None:
        table = Table("data of this student", *figures("parts"), "where")
        for title, places in _places(self.course, traces).items():
            if places:
                where = plaintext.some([plaintext.line(location) for location in places], 3)
                table.add_row(title, str(sum(places.values())), where)
        self.console.print(table)
        if traces.nothing:
            self._say(f"The course has no data of {traces.person.called}.")
        self._say(*_sentences(self.course, traces))


def _places(course: Course, traces: Traces) -> dict[str, Counter[str]]:
    """By kind of data, how much lies where."""
    places: dict[str, Counter[str]] = {
        "folders and files": Counter(str(_relative(course, path)) for path in traces.whole),
        "rows of files": Counter(),
        "rows of the gradebook": Counter(),
        "in archives": Counter(
            {str(_relative(course, path)): len(members.names) for path, members in traces.archives.items()}
        ),
        "files about the class": Counter(str(_relative(course, path)) for path in traces.pages),
    }
    for path, cuts in traces.cuts.items():
        places["rows of files"][str(_relative(course, path))] += len(cuts.cuts)
    for book, rows in traces.books.items():
        if rows:
            name = str(_relative(course, book)) if book else "the gradebook"
            places["rows of the gradebook"][name] += sum(map(len, rows.values()))
    return places


def _sentences(course: Course, traces: Traces) -> Iterator[str]:
    """What stays, and where a person has to look."""
    if traces.mentions:
        names = [plaintext.line(str(_relative(course, path))) for path in traces.mentions]
        yield (
            f"Not changed: {len(names)} files of others mention this student: {plaintext.some(names, SHOWN)}. Read "
            "them, and decide what to remove."
        )
    if traces.comments:
        yield f"Not changed: {traces.comments} comments on the work of others in the gradebook mention this student."
    if traces.unread:
        names = [plaintext.line(str(_relative(course, path))) for path in traces.unread]
        yield f"Not searched, because of their format or size: {plaintext.some(names, SHOWN)}."
    if traces.exchange:
        names = [plaintext.line(str(path)) for path in traces.exchange]
        yield (
            f"Not changed: nbgrader's exchange has {len(names)} submissions of this student: "
            f"{plaintext.some(names, SHOWN)}. Delete them there. Otherwise they are collected again."
        )


def _document(course: Course, traces: Traces | None) -> dict[str, object]:
    if traces is None:
        return {}
    return {
        "student": traces.person.id,
        "ids": sorted(traces.person.ids),
        "places": {re.sub(r"\W+", "_", title): dict(places) for title, places in _places(course, traces).items()},
        "mentions": [str(_relative(course, path)) for path in traces.mentions],
        "comments": traces.comments,
        "unread": [str(_relative(course, path)) for path in traces.unread],
        "exchange": [str(path) for path in traces.exchange],
    }


def _relative(course: Course, path: Path) -> Path:
    return path.relative_to(course.root) if path.is_relative_to(course.root) else path
