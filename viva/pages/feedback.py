"""Feedback for students: nbgrader's GenerateFeedback with Viva's page, for many submissions at once.

Theory of operation. ``PageExporter`` stands where nbgrader has its HTML exporter, so that `nbgrader
generate_feedback`, the button in formgrader and `viva feedback` write the same pages to the same places. It
reads results and gradebook, sets the page, and looks for every hidden line of the assignment in what came
out. Where it finds one it raises, and that page is not written. `viva feedback` writes the submission's other pages
all the same; nbgrader's own command removes all feedback of a submission that it could not convert, the older too.
What cannot be graded because of what was submitted has a page that says so, from `viva feedback` alone.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

from msgspec import structs
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader import converters, utils
from nbgrader.api import Gradebook
from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import DBAPIError, SAWarning, SQLAlchemyError
from traitlets import Bool, Enum, List, Type, Unicode
from traitlets.config import Config

import viva
from viva import language, wording
from viva.course.course import Course
from viva.course.database import AGAIN, trouble, with_retries
from viva.course.gradebook import agreement
from viva.course.gradebook.results import Results
from viva.course.grading.batch import cores
from viva.course.grading.inbox import Inbox
from viva.course.grading.marking import memory_log
from viva.course.grading.overrides import OneFolder
from viva.course.processes import stopping
from viva.course.processes.workers import Workers
from viva.course.releasing import contract
from viva.course.source.markers import require_usual_hidden
from viva.engine.blueprint import read_notebook
from viva.folder import remove, walk
from viva.language import ENGLISH, Language
from viva.pages.additions import STUDENT, Asked, additions, by_cell
from viva.pages.hidden import Hidden, Veil, hidden_of
from viva.pages.page import Marks, Page, template
from viva.record import Note, NotebookRecord, SubmissionRecord
from viva.submission.files.beside import DELIVERY, returned
from viva.submission.files.contents import read_file
from viva.submission.files.handin import place_problem
from viva.submission.submission import Ending, Status, Submission
from viva.verdict import CourseError, LeakError, SubmissionError, VivaError

FULL = "full"
"""What a page shows unless the course says otherwise: everything that its student may read."""


class PageExporter(Exporter):
    """A graded notebook as the page for its student."""

    show_marking_scheme = Bool(False, help="Show students the marking schemes of manually graded answers.").tag(
        config=True
    )
    shows = Enum(
        (FULL, "score", "visible"),
        FULL,
        help="What students read: the full page, the score alone, or visible checks only.",
    ).tag(config=True)
    language = Unicode("en", help="The language of the sentences that students read: de, en, es, fr or zh.").tag(
        config=True
    )
    notebook_language = Unicode("en", help="The language of the course's notebooks, such as en.").tag(config=True)
    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **more: object) -> tuple[str, dict]:  # type: ignore[override]  # as nbconvert's own exporters of text
        """Raises LeakError when a hidden line of the assignment is on the page, and CourseError for its language."""
        nb, resources = super().from_notebook_node(nb, resources, **more)
        names = resources["nbgrader"]
        directory = getattr(self.parent, "coursedir", None) or CourseDirectory(parent=self)
        knowledge = _knowledge(self.config, self.show_marking_scheme)
        source = contract.folder_of(directory, names["assignment"])
        hidden = knowledge.hidden(nb, source)
        marks = _marks(names["db_url"], names["notebook"], names["assignment"], names["student"])
        record = _record(directory, names["assignment"], names["student"])
        folder = Path(directory.format_path(directory.autograded_directory, names["student"], names["assignment"]))
        spoken = language.named(self.language), self.notebook_language
        page = Page(nb, names, marks, record, hidden, knowledge.veil, knowledge.unveiled, folder, *spoken)
        added = _added(directory, self.shows, names["assignment"], names["notebook"], names["student"])
        text = page.render(self.shows, added)
        key = key_of(folder, source, marks, record, names["notebook"], _facts(_settings(self.config), added))
        if leaks := hidden.found(text, page.own().values()):
            rest = f" (and {len(leaks) - 1} more)" if len(leaks) > 1 else ""
            raise LeakError(
                f"the page of {names['notebook']}.ipynb was not written, because students would see "
                f"{leaks[0]}{rest}. Look for this line in the notebook in {folder.relative_to(directory.root)}"
            )
        return sealed(text, key), resources


class _Knowledge:
    """What is the same for every page: what students may read, and the hidden lines of assignments."""

    def __init__(self, config: Config, scheme: bool) -> None:
        require_usual_hidden(config)
        self.veil = Veil(config)
        self.unveiled = Veil(config, scheme=True) if scheme else None
        self.known: dict[tuple, Hidden] = {}

    def hidden(self, graded: NotebookNode, folder: Path) -> Hidden:
        """The hidden lines of the assignment in ``folder``, and of the tests that a notebook was graded with."""
        files = tuple((path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.ipynb")))
        tests = [cell for cell in graded.cells if utils.is_grade(cell) and not utils.is_solution(cell)]
        key = files, tuple(cell.source for cell in tests)
        if key not in self.known:
            notebooks = [read_notebook(path) for path, _ in files]
            self.known[key] = hidden_of([*notebooks, new_notebook(cells=tests)], self.unveiled or self.veil)
        return self.known[key]


_kept: list[tuple[Config, bool, _Knowledge]] = []


def _knowledge(config: Config, scheme: bool) -> _Knowledge:
    """That of this process for the last configuration it was asked with."""
    if not (_kept and _kept[0][0] == config and _kept[0][1] == scheme):
        _kept[:] = [(copy.deepcopy(config), scheme, _Knowledge(config, scheme))]
    return _kept[0][2]


def _settings(config: Config) -> list:
    """What the configuration says about pages: which markers hide what, whether schemes are shown, and the language."""
    sections = ("ClearSolutions", "ClearHiddenTests", "ClearMarkScheme", "PageExporter")
    settings = [(name, sorted(map(repr, config[name].items()))) for name in sections if config.get(name)]
    spoken = language.of_course(config)
    return [*settings, spoken.tag, spoken.digest]


def _added(
    directory: CourseDirectory, shows: str, assignment: str, notebook: str, student: str
) -> dict[str, list[str]]:
    """By test cell, what other packages add to a full page; nothing to a page with less on it. Raises CourseError."""
    if shows != FULL:
        return {}
    return by_cell(additions(Course(directory), Asked(STUDENT, assignment, notebook, student)))


def _facts(settings: list, added: dict[str, list[str]]) -> list:
    """What a page depends on beside the submission and the assignment."""
    return [*settings, *([added] if added else [])]


Found = TypeVar("Found")

_open: dict[str, Gradebook] = {}
"""A worker of `viva feedback` opens the gradebook once, and does not outlive the command."""
_kept_open: list[str] = []
"""The addresses of which it does."""


def _marks(url: str, notebook: str, assignment: str, student: str) -> Marks:
    """What the gradebook says of a notebook. Raises CourseError as ``_asked`` does."""
    return _asked(url, lambda gradebook: Marks.of(gradebook, notebook, assignment, student))


def _asked(url: str, ask: Callable[[Gradebook], Found]) -> Found:
    """What the gradebook answers; it is asked again, by another connection, where that was lost.

    Raises CourseError where the connection stays away.
    """

    def once() -> Found:
        if url not in _kept_open:
            with Gradebook(url) as gradebook:
                return ask(gradebook)
        if url not in _open:
            _open[url] = Gradebook(url)
        return ask(_open[url])

    try:
        return with_retries(once, before_again=lambda: _close(url))
    except DBAPIError as error:
        _close(url)
        raise CourseError(trouble(error, url)) from error


def _close(url: str) -> None:
    """Give up a connection that was lost, with what SQLAlchemy remembers of it."""
    if gradebook := _open.pop(url, None):
        with contextlib.suppress(SQLAlchemyError):
            gradebook.close()


def _record(directory: CourseDirectory, assignment: str, student: str) -> SubmissionRecord:
    """What results.jsonl holds of a submission; the file is read once for each state of it."""
    results, empty = Results.of(directory), SubmissionRecord(assignment, student)
    if not results.path.exists():
        return empty
    status = results.path.stat()
    state = results.path, status.st_ino, status.st_mtime_ns, status.st_size
    if state not in _last:
        _last.clear()
        _last[state] = results.read()
    return _last[state].get((assignment, student), empty)


_last: dict[tuple, dict[tuple[str, str], SubmissionRecord]] = {}


class GenerateFeedback(converters.GenerateFeedback):
    """nbgrader's converter with Viva's page as the default."""

    exporter_class = Type(PageExporter, klass=Exporter).tag(config=True)
    preprocessors: List = List([]).tag(config=True)

    def start(self) -> None:
        """Raises LeakError when a page was withheld, after the other pages were written."""
        self.withheld: list[str] = []
        try:
            super().start()
        except NbGraderException:
            if not self.withheld or len(self.withheld) < len(self.notebooks):
                raise
        if self.withheld:
            rest = len(self.notebooks) - len(self.withheld)
            written = f"its other page{'s were' if rest > 1 else ' was'} written"
            raise LeakError("; ".join([*self.withheld, *([written] if rest else [])]))

    def convert_single_notebook(self, notebook_filename: str) -> None:
        try:
            super().convert_single_notebook(notebook_filename)
        except LeakError as leak:
            self.log.error("%s", leak)
            self.withheld.append(str(leak))
            if len(self.withheld) == len(self.notebooks):
                raise  # without a page the submission gets no folder


def write_feedback(
    course: Course, submissions: list[Submission], *, config: Config, workers: int | None = None
) -> Iterator[Ending]:
    """Write the feedback of every submission that was graded or cannot be, yielding an ending for each.

    Pages that would come out the same are left alone, unless ``BaseConverter.force`` is in the config.
    """
    usual, broken = [], {name: _unreadable(course, name, config) for name in {sent.assignment for sent in submissions}}
    unrecorded = agreement.unrecorded(course, broken)
    for submission in submissions:
        if problem := broken[submission.assignment] or unrecorded.get(
            (submission.assignment, submission.student)
        ):  # nbgrader would remove the page that is there
            yield Ending(submission, Status.FAILED, problem)
        else:
            usual.append(submission)
    if not usual:
        return
    again = GenerateFeedback(config=config).force
    always = copy.deepcopy(config)
    always.GenerateFeedback.force = True
    inbox = Inbox.of(course, {submission.assignment for submission in usual}, nameless=True)
    folders = {name: contract.folder_of(course.directory, name) for name in broken}
    job = _Conversion(always, again, course, inbox, PageExporter(config=config).shows, folders)
    todo = []
    for submission in usual:  # looking takes a millisecond, and a worker starts with what one look found
        if job.is_unchanged(submission):
            yield Ending(submission, Status.UNCHANGED)
        else:
            todo.append(submission)
    if not todo:
        return
    with stopping.postponed(), Workers(cores(workers, len(todo)), lambda slot: job) as pool:
        for submission, ending in pool.map(todo):
            yield ending or Ending(submission, Status.FAILED, "its process stopped twice; try again")


def _unreadable(course: Course, assignment: str, config: Config) -> str:
    """Why the hidden lines of an assignment cannot be known, if they cannot."""
    try:
        require_usual_hidden(config)
        language.of_course(config)
        for path in sorted(contract.folder_of(course.directory, assignment).glob("*.ipynb")):
            read_notebook(path)
    except VivaError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class _Conversion:
    """nbgrader's converter, applied to one submission; a page of Viva's own for one that cannot be graded."""

    config: Config
    again: bool
    """Whether pages are written that would come out the same."""
    course: Course
    inbox: Inbox
    shows: str
    folders: dict[str, Path]
    """By assignment, the folder of its complete notebooks."""
    marks: dict[str, dict[str, dict[str, Marks]]] = field(default_factory=dict)
    """By assignment and student, what the gradebook had of the class when its first page was looked at."""

    @functools.cached_property
    def settings(self) -> list:
        return _settings(self.config)

    def __call__(self, submission: Submission) -> Ending:
        if self.course.path("autograded", submission.assignment, submission.student).is_dir():
            return self._convert(submission)
        return self._refuse(submission)

    def _refuse(self, submission: Submission) -> Ending:
        try:
            expected = submission.assignment in self.inbox.expected and not place_problem(submission)
            opened = self.inbox.open(submission) if expected else None
            spoken = language.of_course(self.config)
        except VivaError as error:
            return Ending(submission, Status.FAILED, str(error))
        if not opened or not opened.reasons:
            return Ending(submission, Status.REFUSED, "it was not graded, so there is no feedback")
        folder = self.course.path("feedback", submission.assignment, submission.student)
        try:
            notebooks = list(self.inbox.expected[submission.assignment].notebooks)
            if not write_refusals(submission, notebooks, opened.reasons, folder, spoken) and not self.again:
                return Ending(submission, Status.UNCHANGED)
            GenerateFeedback(coursedir=self.course.directory, config=self.config).set_permissions(
                submission.assignment, submission.student
            )
        except OSError as error:
            return Ending(submission, Status.FAILED, f"its page cannot be written: {error.strerror}. {AGAIN}")
        return Ending(submission, Status.DONE, "", (f"its page says why it could not be graded: {opened.problem}",))

    def _convert(self, submission: Submission) -> Ending:
        log, stream = memory_log(f"{submission.assignment}/{submission.student}")
        directory = OneFolder(config=self.config, log=log)
        directory.root = str(self.course.root)
        directory.assignment_id = submission.assignment
        directory.student_id = submission.student
        # nbgrader builds its rows in an order that SQLAlchemy frowns upon.
        warnings.filterwarnings("ignore", "Object of type .* not in session", SAWarning)
        try:
            if directory.db_url not in _kept_open:
                _kept_open.append(directory.db_url)
            if not self._marks(submission):
                return Ending(submission, Status.REFUSED, self._unrecorded(submission))
            GenerateFeedback(coursedir=directory, config=self.config, log=log).start()
        except (LeakError, CourseError) as error:
            return Ending(submission, Status.FAILED, str(error), (), stream.getvalue())
        except Exception as error:
            if not isinstance(error, NbGraderException):
                log.exception("The submission could not be converted.")
            return Ending(submission, Status.FAILED, _reason(stream.getvalue()), (), stream.getvalue())
        return Ending(submission, Status.DONE)

    def _marks(self, submission: Submission) -> dict[str, Marks]:
        """The marks of a submission, by notebook; none where the gradebook does not have it, as after
        `nbgrader db student remove`, which leaves the graded notebooks."""
        name = submission.assignment
        if name not in self.marks:
            found = _asked(self.course.directory.db_url, lambda book: Marks.of_class(book, name))
            self.marks[name] = {}
            for (student, notebook), marks in found.items():
                self.marks[name].setdefault(student, {})[notebook] = marks
        return self.marks[name].get(submission.student, {})

    def _unrecorded(self, submission: Submission) -> str:
        return (
            "the gradebook does not have it, perhaps because the student was removed from it. To grade it again, run: "
            f"viva grade {submission.assignment} --student={submission.student}"
        )

    def is_unchanged(self, submission: Submission) -> bool:
        """Whether every page is there, as it would be written now."""
        if self.again:
            return False
        try:
            return self._unchanged(submission)
        except (OSError, VivaError):  # who writes the pages says so
            return False

    def _unchanged(self, submission: Submission) -> bool:
        assignment, student, directory = submission.assignment, submission.student, self.course.directory
        graded = self.course.path("autograded", assignment, student)
        pages = self.course.path("feedback", assignment, student)
        files = {path.relative_to(graded) for path in walk(graded, directory.ignore)}
        beside = {path.relative_to(pages) for path in walk(pages)}
        notebooks = [path.stem for path in files if path.suffix == ".ipynb" and len(path.parts) == 1]
        expected = {Path(f"{name}.html") for name in notebooks}
        if not notebooks or expected != {path for path in beside if path.suffix == ".html" and len(path.parts) == 1}:
            return False
        # An earlier version copied all of a student's files.
        if (copied := (beside - expected) & files) and copied - set(returned(graded, directory.ignore)):
            return False
        record, marks = _record(directory, assignment, student), self._marks(submission)
        for name in notebooks:
            if name not in marks:
                return False
            added = _added(directory, self.shows, assignment, name, student)
            facts = _facts(self.settings, added)
            key = key_of(graded, self.folders[assignment], marks[name], record, name, facts)
            if key_on(pages / f"{name}.html") != key:
                return False
        return True


def _reason(log: str) -> str:
    """A sentence for the error in nbgrader's log."""
    if "database is locked" in log:
        return "the gradebook is locked by another program; close it and try again"
    errors = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception|Entry)): (.+)$", log, flags=re.MULTILINE)
    if not errors:
        return "nbgrader could not convert it; see the log"
    name, message = errors[-1]
    if name == CourseError.__name__:
        return message
    if system := re.match(r"\[Errno \d+\] ([^:]+)", message):
        return f"nbgrader could not read or write it: {system[1]}. {AGAIN}"
    return f"nbgrader could not convert it: {message} ({name})"


# The page of a student whose submission could not be graded: why, and what to do.
#
# It holds a sentence about the file and nothing of the assignment, so that there is no hidden line to look for.


def write_refusals(
    submission: Submission, notebooks: list[str], reasons: Sequence[Note], folder: Path, spoken: Language = ENGLISH
) -> bool:
    """Write the page of each of the assignment's notebooks into ``folder``; whether anything in it changed.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name in DELIVERY:
        with contextlib.suppress(SubmissionError):
            files[folder / name] = read_file(submission.folder / name)
    problem = wording.standing_alone(wording.joined(reasons, wording.STUDENT, spoken), spoken)
    for name in notebooks:
        names = {"assignment": submission.assignment, "student": submission.student, "notebook": name}
        page = template("refusal.html", spoken).render(place=names, problem=problem, lang="")
        files[folder / f"{name}.html"] = page.encode()
    changed = {path: data for path, data in files.items() if not path.is_file() or path.read_bytes() != data}
    for path, data in changed.items():
        if path.is_dir():  # an older version copied whatever was submitted
            remove(path)
        path.write_bytes(data)
    return bool(changed)


# The last line of a page: of what it was made, and what it says, so that one that would come out the same is left.
#
# It stands below the page and not beside it, so that whoever writes the page (`viva feedback`, nbgrader's command, the
# button in formgrader) writes it too, and so that a page that was cut off or edited has none.

MADE_BY = (
    "verdict.py",
    "record.py",
    "language.py",
    "wording.py",
    "words.toml",
    "course/gradebook/classbook.py",
    "course/gradebook/lateness.py",
    "engine/checks.py",
    "engine/outcome.py",
    "engine/plaincode.py",
    "engine/explaining/*.py",
    "notebook/*.py",
    "pages/*.py",
    "pages/templates/feedback.*",
    "pages/templates/family.css",
    "pages/templates/messages.txt",
    "cleaning/*.py",
)
"""What of this package has a say in how a page looks; the file of a page's language is in its key too."""
SEALED = 100
"""The bytes at the end of a page in which its seal lies."""
SEAL = re.compile(rb"\n<!-- ([0-9a-f]{32}) ([0-9a-f]{32}) -->\n?\Z")


def key_of(folder: Path, source: Path, marks: Marks, record: SubmissionRecord, notebook: str, settings: object) -> str:
    """A hash of everything that the page of a notebook depends on.

    ``folder`` holds the graded notebook with its files, ``source`` the instructor's; ``record`` is the submission's
    line of results.jsonl, of which the times do not count.
    """
    digest = hashlib.sha256(f"{viva.ENGINE} {_maker()} {notebook} {settings!r}".encode())
    for known_field in fields(marks):
        value = getattr(marks, known_field.name)
        value = value.items() if isinstance(value, dict) else value
        digest.update(repr(sorted(value) if isinstance(value, Set) else value).encode())
    book = record.notebooks.get(notebook, NotebookRecord())
    results = [
        (cell, [structs.replace(result, seconds=0.0) for result in results_of_cell])
        for cell, results_of_cell in book.checks.items()
    ]
    facts = results, book.repairs, book.sanitized, record.sandboxed, len(record.faults)
    digest.update(repr(facts).encode("utf-8", "backslashreplace"))
    _add(digest, folder, (path for path in walk(folder) if path.is_file()))
    digest.update(_content(tuple((path, path.stat().st_mtime_ns) for path in sorted(source.glob("*.ipynb")))))
    return digest.hexdigest()[:32]


@functools.lru_cache(maxsize=64)
def _content(files: tuple[tuple[Path, int], ...]) -> bytes:
    """A hash of files, each with the time when it was changed last."""
    digest = hashlib.sha256()
    for path, _ in files:
        _add(digest, path.parent, [path])
    return digest.digest()


@functools.cache
def _maker() -> str:
    root, digest = Path(viva.__file__).parent, hashlib.sha256()
    _add(digest, root, [path for pattern in MADE_BY for path in sorted(root.glob(pattern))])
    return digest.hexdigest()


def _add(digest: hashlib._Hash, root: Path, paths: Iterable[Path]) -> None:
    for path in paths:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root)} {len(data)} ".encode("utf-8", "surrogateescape"))
        digest.update(data)


def sealed(page: str, key: str) -> str:
    """A page with its seal."""
    page = page.rstrip("\n")
    return f"{page}\n<!-- {key} {_digest(page.encode())} -->\n"


def key_on(path: Path) -> str:
    """The key that a page was sealed with; empty where it is not as it was written."""
    try:
        data = path.read_bytes()
    except OSError:
        return ""
    end = max(0, len(data) - SEALED)
    seal = SEAL.search(data, end)
    return seal[1].decode() if seal and _digest(data[: seal.start()]) == seal[2].decode() else ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
