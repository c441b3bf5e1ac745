"""The common part of all commands: the course, a console, a progress bar, an exit status."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from nbgrader.api import InvalidEntry, MissingEntry
from nbgrader.apps.baseapp import NbGrader, nbgrader_aliases, nbgrader_flags
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy.exc import DBAPIError, IntegrityError
from traitlets import Bool, Int, TraitError, default
from traitlets.config.loader import Config, PyFileConfigLoader
from traitlets.utils.importstring import import_item

import viva
from viva import cli, wording
from viva.cleaning import plaintext
from viva.cli import BAD_REQUEST, NEEDS_GRADER
from viva.commands.configfile import JSONFile, PyFile, require_no_students_file
from viva.commands.terminal import ShortHelp, cleaned, console, explained, figures, print_document, zone_problem
from viva.configuration import moved, warning
from viva.course.course import Course
from viva.course.database import AGAIN, quietly, shown, telling, trouble, waiting, with_retries
from viva.course.gradebook import journal, lateness
from viva.course.grading.groupshared import shared
from viva.course.processes import leftovers, stopping
from viva.course.regrade.snapshot import snapshot
from viva.location import course_above, is_configured, may_be_strangers
from viva.submission.submission import Ending, Status
from viva.verdict import CourseError, Verdict, VivaError

FORCE = {"force": ({"BaseConverter": {"force": True}}, "Do it again, even if it is up to date.")}
FORCE["f"] = FORCE["force"]
NO_SANDBOX = {"no-sandbox": ({"Examine": {"no_sandbox": True}}, "Also grade on a machine without a sandbox.")}
JSON = {"json": ({"VivaCommand": {"json": True}}, "Print one JSON document; print everything else on stderr.")}
WORKERS = {"workers": "VivaCommand.workers"}
STRANGERS = (
    "The configuration in {folder} was not run, because a student or another user may have written it. Run "
    "'{command}' in your course folder. If {folder} is your course, add --course-dir=."
)
NAMED = 20
"""The number of students that one sentence names; --json names all."""
MEANINGS = {
    Verdict.PARTLY: "a part of the points.",
    Verdict.ERROR: "the code raised an error.",
    Verdict.TIMEOUT: "the code was too slow.",
    Verdict.KILLED: "the code stopped Python.",
    Verdict.MISSING: "the cell was not submitted.",
    Verdict.UNGRADED: "not the student's fault; see below.",
}
"""The verdicts whose names do not say it."""
NOT_DONE = {
    Status.REFUSED: "the submitted files cannot be graded.",
    Status.FAILED: "not the student's fault.",
}
"""What became of other submissions."""


def class_of(name: str) -> type[VivaCommand]:
    """The class of a command, which can be another package's, by the name that is typed."""
    return import_item(cli.subcommands()[name][0])


class VivaCommand(ShortHelp, NbGrader):
    """A step of the flow. Positional arguments are assignments; without any, all assignments."""

    version = viva.__version__
    aliases = nbgrader_aliases
    flags = nbgrader_flags | JSON
    arguments = "[ASSIGNMENT ...]"
    completes = "assignments"
    heading = "More commands"
    """Under which heading ``viva`` lists the command, where a package adds it."""
    raise_config_file_errors = True
    python_config_loader_class: type[PyFileConfigLoader] = PyFile
    json_config_loader_class = JSONFile
    writes = True
    """Whether the step writes into the course folder."""
    only_reads = False
    """Whether it writes nothing there but late penalties, into the gradebook."""
    json = Bool(False, help="Print one JSON document; print everything else on stderr.").tag(config=True)
    workers = Int(0, min=0, help="Number of submissions graded at the same time; 0 means one per core.").tag(
        config=True
    )

    settings: tuple[type, ...] = ()
    """The classes whose settings the step uses beside nbgrader's own."""

    @default("classes")
    def _classes_default(self) -> list[type]:
        return [*super()._classes_default(), *self.settings]

    @default("log_level")
    def _log_level_default(self) -> int:
        # Who only looks around says itself that there is no configuration; without a course one sentence is enough.
        return 30 if self.writes and course_above(Path.cwd()) else 40

    moved: list[str] = []
    """Sentences about settings that name classes by their old names."""
    load_cwd_config = False
    """nbgrader also reads the configuration of the working folder, which may be that of a student's submission."""

    def init_syspath(self) -> None:
        """Nothing is imported from the working folder, as nbgrader would."""

    def load_config_file(self, **options: Any) -> None:  # type: ignore[override]  # as nbgrader has it
        """Raises CourseError where a configuration would be run that may be a student's or another user's."""
        root, named = Path(self.coursedir.root), "root" in self.cli_config.get("CourseDirectory", {})
        if self.runs_config and not named and is_configured(root) and may_be_strangers(root):
            raise CourseError(STRANGERS.format(folder=root, command=self._called()))
        self._import_from_course()
        super().load_config_file(**options)

    def update_config(self, config: Config) -> None:
        """Each configuration that was loaded, before anything is made with it."""
        self.moved = list(dict.fromkeys((*self.moved, *moved(config))))
        super().update_config(config)

    @property
    def runs_config(self) -> bool:
        """Whether configurations are run, and not only read."""
        return issubclass(self.python_config_loader_class, PyFile)

    def _import_from_course(self) -> None:
        """Let a configuration import modules beside it. Raises CourseError for a folder of students' files."""
        root = self.coursedir.root
        require_no_students_file(Path(root))
        chosen = "root" in self.config.get("CourseDirectory", {}) or is_configured(Path(root))
        if self.runs_config and chosen and root not in sys.path:
            sys.path.insert(0, root)

    def initialize(self, argv: list[str] | None = None, root: str = "") -> None:
        """Read the request; the course is this folder, or else the nearest one above it that is a course."""
        try:
            super().initialize(argv, root or course_above(Path.cwd()))  # type: ignore[call-arg]  # nbgrader's has a root
            self._import_from_course()  # which the configuration may have named
        except CourseError as error:
            self.refuse(str(error))
        self.coursedir.config = self.config  # nbgrader makes it before it reads the course's nbgrader_config.py
        self.course = Course(self.coursedir)
        address = {"db_url": self.coursedir.db_url, "root": self.coursedir.root}
        lateness.follow(self.config, **address)  # now with the options of the command line
        self.console = console(errors=self.json)
        for handler in self.log.handlers:
            handler.addFilter(cleaned)

    @property
    def config_file_paths(self) -> list[str]:
        return [*super().config_file_paths, self.coursedir.root]

    def excepthook(self, etype, evalue, tb) -> None:
        sys.__excepthook__(etype, evalue, tb)

    def start(self) -> None:
        try:
            super().start()
        except TraitError as error:  # a plugin that cannot be imported
            self.refuse(str(error))
        with stopping.orderly():
            status = self._try()
        if status:
            self.exit(status)

    def _try(self) -> int:
        """Do the step; the exit status, with a sentence where it is not the step's own."""
        try:
            with telling(self._say_waiting), quietly(), leftovers.temporary_folder(), contextlib.ExitStack() as stack:
                for sentence in self.moved:
                    self._warn(sentence)
                if self.writes:
                    self._prepare(stack)
                return with_retries(self.run)
        except (VivaError, TraitError) as error:  # a TraitError is about a setting
            self._say_error(str(error))
        except KeyboardInterrupt as stopped:
            sentence, status = stopping.sentence(stopped)
            self._say_error(sentence)
            return status
        except DBAPIError as error:
            self._say_error(trouble(error, self.coursedir.db_url))
        except (MissingEntry, InvalidEntry) as error:
            self._say_error(self._unfit(error))
        except OSError as error:
            if lost := cli.lost_output():
                return lost
            name = error.filename or self.course.root
            self._say_error(f"{name} cannot be written or read: {error.strerror}. {AGAIN}")
        except MemoryError:
            self._say_error("There is too little memory, or the memory limit ('ulimit -v') is too low. " + AGAIN)
        return BAD_REQUEST

    def _prepare(self, stack: contextlib.ExitStack) -> None:
        """Report a problem of the course. On a read-only course, a command that may do so works on a copy."""
        self.course.require_folder()
        if self.course.exists() and (sentence := warning(self.config)):
            self._warn(sentence)
        if sentence := zone_problem():
            self._warn(sentence)
        if self.course.is_writable():
            stack.enter_context(shared(self.course))
        elif self.stays_outside():
            stack.enter_context(snapshot(self.course, self.config))
        else:
            self.course.require_writable()

    def stays_outside(self) -> bool:
        """Whether nothing is written into the course folder this time, as in a dry run."""
        if self.only_reads or getattr(self, "dry_run", False):
            return True
        to = getattr(self, "to", "")
        return bool(to) and not Path(self.course.root, to).resolve().is_relative_to(self.course.root.resolve())

    def _warn(self, sentence: str) -> None:
        console(errors=True, soft_wrap=True).print(sentence, style="yellow")

    def _say_waiting(self, error: DBAPIError) -> None:
        self._warn(waiting(error, self.coursedir.db_url))

    def _unfit(self, error: Exception) -> str:
        """A sentence for an entry that nbgrader missed in the gradebook, or could not write into it."""
        cause = error.__context__
        if isinstance(cause, DBAPIError) and not isinstance(cause, IntegrityError):
            return trouble(cause, self.coursedir.db_url)
        message = str(error).splitlines()[0].removeprefix("(sqlite3.IntegrityError) ")
        return (
            f"The gradebook {shown(self.coursedir.db_url)} changed during this command ({message}). Perhaps "
            "another file replaced it. Restore the newest copy, then run the same command again."
        )

    def run(self) -> int:
        """Do the step and return the exit status."""
        raise NotImplementedError

    def chosen_assignments(self) -> list[str]:
        """The assignments named on the command line or with --assignment; all when none is named."""
        named = list(self.extra_args) or ([self.coursedir.assignment_id] if self.coursedir.assignment_id else [])
        return self.course.chosen(named)

    def watch(self, outcomes: Iterator[Ending], total: int, title: str) -> list[Ending]:
        """Collect the outcomes behind a progress bar (no bar when this is not a terminal)."""
        columns = (
            *(TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()),
            TextColumn("{task.fields[pace]}  {task.fields[checks]}"),
        )
        pace = Pace(total, time.monotonic())
        with Progress(*columns, console=self.console, disable=not self.console.is_terminal) as progress:
            task = progress.add_task(title, total=total, pace="", checks="")
            collected: list[Ending] = []
            checks: Counter[Verdict] = Counter()
            for outcome in outcomes:
                collected.append(outcome)
                checks.update(outcome.verdicts)
                shown = ", ".join(f"{count} {verdict}" for verdict, count in checks.most_common())
                pace.count(outcome.status)
                progress.update(task, advance=1, checks=shown, pace=pace.shown(time.monotonic()))
        return sorted(collected, key=lambda outcome: (outcome.submission.assignment, outcome.submission.student))

    def report(self, outcomes: list[Ending], verb: str, document: bool = True, notes: bool = True) -> int:
        """Print a table by assignment and sentences about submissions, ``notes`` among them; as a ``document`` too."""
        there = {outcome.status for outcome in outcomes}
        meanings = " ".join(f"{status}: {meaning}" for status, meaning in NOT_DONE.items() if status in there)
        heads = "assignment", *(verb if status is Status.DONE else str(status) for status in Status)
        table = explained(meanings, *heads)
        counts = Counter((outcome.submission.assignment, outcome.status) for outcome in outcomes)
        for assignment in sorted({outcome.submission.assignment for outcome in outcomes}):
            table.add_row(assignment, *(str(counts[assignment, status] or "") for status in Status))
        self.console.print(table)
        self._print_verdicts(outcomes)
        self._say(*_sentences(outcomes, notes))
        failed = [outcome for outcome in outcomes if outcome.status is Status.FAILED]
        self._keep_logs([outcome for outcome in failed if outcome.log])
        if document:
            self.show_document(submissions=documents(outcomes))
        return NEEDS_GRADER if failed else 0

    def _keep_logs(self, outcomes: list[Ending]) -> None:
        """Write what there is to read about failures, and say where; nothing in a course that is read-only."""
        outcomes = outcomes if self.course.is_writable() else []
        folder = self.course.root / "report" / "log"
        for outcome in outcomes:
            # A folder by student, as everywhere: the longest name that one can have leaves no room for another.
            leftovers.write(folder / outcome.submission.student / f"{outcome.submission.assignment}.txt", outcome.log)
        if outcomes:
            names = plaintext.some([plaintext.line(outcome.submission.student) for outcome in outcomes], NAMED)
            self.console.print(f"The log files for {names} are in {folder}")

    def _print_verdicts(self, outcomes: list[Ending]) -> None:
        """How many checks of each assignment came to which verdict, where any was graded."""
        counts: dict[str, Counter] = defaultdict(Counter)
        for outcome in outcomes:
            if outcome.verdicts:
                counts[outcome.submission.assignment].update(map(str, outcome.verdicts))
        if not counts:
            return
        verdicts = [verdict for verdict in Verdict if any(count[verdict] for count in counts.values())]
        meanings = " ".join(f"{verdict}: {MEANINGS[verdict]}" for verdict in verdicts if verdict in MEANINGS)
        table = explained(meanings, "checks", *figures(*verdicts))
        for assignment, count in sorted(counts.items()):
            table.add_row(assignment, *(str(count[verdict] or "") for verdict in verdicts))
        self.console.print(table)

    def target(self, name: str) -> Path:
        """The file to write, in the course folder unless its name says otherwise. Raises CourseError."""
        path = self.course.root / name
        if path.is_dir() or not path.parent.is_dir():
            problem = "is a folder" if path.is_dir() else "is in a folder that does not exist"
            raise CourseError(f"{path} {problem}. Nothing was written. Name another file with --to.")
        return path

    def alone(self, dry_run: bool = False) -> AbstractContextManager[list[journal.Intent]]:
        """Nothing else grades or writes in the course meanwhile; a dry run waits for nobody.

        It is entered with the changes that were stopped before, and were finished now; a dry run finishes none.
        """
        from viva.course.grading import batch  # it loads the engine

        if not dry_run:
            return batch.alone(self.course, self._say)
        self.tell_of_halves()
        return nullcontext([])

    def tell_of_halves(self) -> None:
        """Say which changes were stopped: a command that only reads may show a part of each."""
        for intent in journal.pending(self.course):
            then = "run it again to finish it" if intent.waits else "the next command that writes will finish it"
            self._warn(
                f"{plaintext.quoted(intent.called)} was stopped before its end; {then}. What you read here may be "
                "only a part of it."
            )

    def show_document(self, **document: object) -> None:
        """Print what --json asks for, if it was asked for; each step does so once."""
        if self.json:
            print_document(document)

    def say_nothing_handed_in(self) -> None:
        self.show_document(submissions=[])
        where = self.course.path("submitted", "<assignment>", "<student>")
        self._say(f"There are no submissions: the folder {where} does not exist.")

    def _say(self, *sentences: str) -> None:
        """Print each sentence as one line, which the terminal breaks: copied text stays whole."""
        for sentence in sentences:
            self.console.print(sentence, soft_wrap=True)


class Pace:
    """How fast a batch works, and how long it will take. What was done before is skipped in no time: it counts as no
    work, else a batch that goes on after a Ctrl-C would seem a hundred times as fast."""

    def __init__(self, total: int, start: float) -> None:
        self.left, self.start, self.worked = total, start, 0

    def count(self, status: Status) -> None:
        self.left -= 1
        self.worked += status is not Status.UNCHANGED

    def shown(self, now: float) -> str:
        """Submissions a minute and the time left; ``now`` and ``start`` are seconds of one clock."""
        if not self.worked or now <= self.start:
            return ""
        speed = self.worked / (now - self.start)
        seconds = round(self.left / speed)
        return f"{60 * speed:.0f} a minute, {seconds // 60}:{seconds % 60:02} left"


def not_released(assignments: list[str]) -> str:
    """One sentence for the assignments of a term that are still to come."""
    return f"Left out, because not released yet: {plaintext.some(assignments, NAMED)}."


def documents(outcomes: list[Ending]) -> list[dict]:
    """The outcomes as JSON knows them."""
    return [
        {"assignment": outcome.submission.assignment, "student": outcome.submission.student}
        | {"folder": outcome.submission.folder}
        | {"status": str(outcome.status), "reason": outcome.reason, "notes": _notes(outcome)}
        | {"verdicts": Counter(map(str, outcome.verdicts))}
        for outcome in outcomes
    ]


def _sentences(outcomes: list[Ending], notes: bool) -> Iterator[str]:
    """The reasons and notes of submissions, folded: sentences of one shape become one, which names the students."""
    occurrences: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for outcome in outcomes:
        for sentence in filter(None, (outcome.reason, *(_notes(outcome) if notes else ()))):
            student = plaintext.line(outcome.submission.student)
            occurrences[outcome.submission.assignment, wording.shape(sentence)].append((student, sentence.rstrip(".")))
    for (assignment, _), same in occurrences.items():
        by_sentence: dict[str, list[str]] = defaultdict(list)
        for student, sentence in same:
            by_sentence[sentence].append(student)
        if len(by_sentence) >= wording.FEWEST:
            names = plaintext.some(list(dict.fromkeys(student for student, _ in same)), NAMED)
            yield f"{assignment}, {len(same)} times: {names}. For example, {same[0][0]}: {same[0][1]}."
            continue
        for sentence, students in by_sentence.items():
            times = f"{len(students)} times: " if len(students) > 1 else ""
            yield f"{assignment}, {times}{plaintext.some(students, NAMED)}: {sentence}."


def _notes(outcome: Ending) -> list[str]:
    """What else is worth saying about a submission, with the repairs of its notebooks."""
    repairs = [
        f"{name}.ipynb: {sentence}" for name, of in outcome.repairs.items() for sentence in wording.sentences(of)
    ]
    return [*outcome.notes, *repairs]
