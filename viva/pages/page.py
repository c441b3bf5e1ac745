"""The page that a student gets back: what is on it, and the template that it is set with."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from msgspec import structs
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook, MissingEntry

from viva import wording
from viva.course.gradebook import classbook, lateness
from viva.language import ENGLISH, Language
from viva.notebook.cell import name_of
from viva.notebook.programming import language_of
from viva.pages import typeset
from viva.pages.exercise import Grade, Line, Lost, Question, exercises_of, passed_of
from viva.pages.explanation import Explainer, visible_checks
from viva.pages.hidden import Hidden, Veil
from viva.record import UNEARNED, Note, NotebookRecord, SubmissionRecord

NO_RESPONSE = "No response."
"""What nbgrader's automatic comment says; no grader said it."""
STOPPED = ("cell_stopped", "cell_stopped_unplaced", "cell_stopped_in", "read_only_stopped")
"""The causes that hold what an exception said."""
NAME = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


@dataclass
class Marks:
    """What the gradebook has of one notebook of a submission."""

    score: float
    most: float
    penalty: float
    waiting: bool
    handed_in: datetime | None
    due: datetime | None
    seconds_late: float
    grades: dict[str, Grade]
    comments: dict[str, str]
    arithmetic: tuple[Note, ...] = ()
    """The late penalty of the whole submission, line by line."""
    notebooks: int = 1
    unanswered: frozenset[str] = frozenset()
    """Of what nbgrader says that there is no response."""

    @classmethod
    def of(cls, gradebook: Gradebook, notebook: str, assignment: str, student: str) -> Marks:
        """Raises MissingEntry when the gradebook does not know the submission."""
        marks = cls.of_class(gradebook, assignment, student).get((student, notebook))
        if marks is None:
            raise MissingEntry(f"The gradebook has no {notebook}.ipynb of {student} for {assignment}.")
        return marks

    @classmethod
    def of_class(cls, gradebook: Gradebook, assignment: str, student: str = "") -> dict[tuple[str, str], Marks]:
        """By student and notebook, of all who are entered for an assignment, or of one; in a few queries."""
        graded, comments = classbook.marked(gradebook, assignment, student)
        books = classbook.notebooks(gradebook, assignment, student)
        books_of = Counter(book.student for book in books)
        arithmetic = _arithmetic(gradebook, assignment, student)
        return {
            (book.student, book.name): cls._built(
                book, graded[book.id], comments[book.id], arithmetic, books_of[book.student]
            )
            for book in books
        }

    @classmethod
    def _built(
        cls, book: classbook.Book, graded: list, remarks: list, arithmetic: dict[str, tuple[Note, ...]], all: int
    ) -> Marks:
        grades = {
            name: Grade(score or 0.0, most or 0.0, bool(waiting), by_hand)
            for name, score, most, waiting, by_hand in graded
        }
        unanswered = {name for name, comment, by_hand in remarks if comment == NO_RESPONSE and not by_hand}
        comments = {name: text for name, text, _ in remarks if (text or "").strip() and name not in unanswered}
        return cls(
            math.fsum(grade.score for grade in grades.values()),
            math.fsum(grade.most for grade in grades.values()),
            book.penalty,
            any(grade.waiting for grade in grades.values()),
            book.handed_in,
            book.due,
            book.seconds_late,
            grades,
            comments,
            arithmetic.get(book.student, ()),
            all,
            frozenset(unanswered),
        )

    @property
    def open_points(self) -> float:
        """The points of what waits for a grader."""
        return sum(grade.most for grade in self.grades.values() if grade.waiting)

    @property
    def judged_again(self) -> bool:
        """Whether a grader is to look again at a score that a grader gave."""
        return any(grade.waiting and grade.by_hand is not None for grade in self.grades.values())


def _arithmetic(gradebook: Gradebook, assignment: str, student: str) -> dict[str, tuple[Note, ...]]:
    """By student, how the late penalty was reckoned, where Viva's policy did that."""
    session = gradebook.db()
    rules = lateness.policy(session)
    reckonings = lateness.reckonings(session, rules, [student] if student else ()) if rules else {}
    return {person: tuple(reckoning.notes()) for (name, person), reckoning in reckonings.items() if name == assignment}


@dataclass
class Shown:
    """A cell of the notebook as it is shown."""

    id: str
    style: str
    source: Markup
    label: str = ""
    outputs: list[dict] = field(default_factory=list)
    grade: Grade | None = None
    comment: str = ""


class Page:
    """One graded notebook as the page for its student."""

    def __init__(
        self,
        notebook: NotebookNode,
        identity: dict,
        marks: Marks,
        record: SubmissionRecord,
        hidden: Hidden,
        veil: Veil,
        unveiled: Veil | None = None,
        folder: Path | None = None,
        language: Language = ENGLISH,
        notebook_language: str = ENGLISH.html,
    ) -> None:
        """``record`` is the submission's line of results.jsonl; ``unveiled`` is given where students read marking
        schemes; in ``folder`` lie the pictures that were submitted beside the notebook. The page speaks ``language``;
        the notebook and what graders wrote are in ``notebook_language``."""
        self.language = language
        self.lang = Markup(' lang="{}"').format(notebook_language) if notebook_language != language.html else ""
        self.notebook, self.place, self.marks, self.record = notebook, identity, marks, record
        self.hidden, self.folder, self.unveiled = hidden, folder, unveiled
        self.known = record.notebooks.get(identity["notebook"], NotebookRecord())
        self.written_in = language_of(notebook.metadata)
        self.names = self._names()
        self.texts = [veil.shown(cell) if _instructors(cell) else cell.source for cell in notebook.cells]

    def _names(self) -> list[str]:
        """A name for each cell: its grade id or its id, and its number where those are another's already."""
        names: list[str] = []
        for number, cell in enumerate(self.notebook.cells):
            name = name_of(cell) or str(number)
            names.append(name if name not in names else f"{name}-{number}")
        return names

    def own(self) -> dict[str, str]:
        """By name, the cells that are the student's."""
        return {
            name: cell.source
            for name, cell in zip(self.names, self.notebook.cells, strict=True)
            if not _instructors(cell)
        }

    def render(self, shows: str = "full", added: Mapping[str, list[str]] = MappingProxyType({})) -> str:
        """The page, with all or some of it, as PageExporter says; ``added`` are sentences of other packages, by cell.

        It holds only what students may read, as far as this module can know; hidden.py looks again."""
        marks = self.marks
        exercises = exercises_of(list(self.questions()), self.own())
        cells, language = list(self._cells()), self.language
        late = wording.span(marks.seconds_late, language) if marks.seconds_late > 0 and not marks.arithmetic else ""
        checks = [line for exercise in exercises for line in exercise.lines]
        return template("feedback.html", language).render(
            lang=self.lang,
            late=late,
            checks=checks,
            passed=passed_of(checks, language) if checks else "",
            arithmetic=_told(marks.arithmetic, language),
            place=self.place,
            title=self.place["assignment"],
            marks=marks,
            score=marks.score - marks.penalty,
            exercises=exercises,
            restored={cell for note in self.known.repairs if note.kind == "not_handed_in" for cell in note.cells},
            notes=list(self._notes()),
            cells=cells,
            unearned=_told((note for note in self.known.repairs if note.kind in UNEARNED), language),
            can_rise=not marks.judged_again
            and not any(note.kind in UNEARNED for note in self.known.repairs if note.doubt),
            repairs=_told((note for note in self.known.repairs if note.kind not in UNEARNED), language),
            sanitized=_told(self.known.sanitized, language),
            faults=len(self.record.faults),
            sandboxed=self.record.sandboxed,
            level=typeset.demoted,
            added=added,
            english="" if language.is_english else Markup(' lang="en"'),
            shows=shows,
        )

    def questions(self) -> Iterator[Question]:
        """The grade cells in order, with what their checks came to, as their student may read it."""
        explainer = self.explainer()
        visible = visible_checks(
            [(name, cell.source, text) for name, cell, text in self._named() if cell.cell_type == "code"],
            self.written_in,
        )
        heading = ""
        for name, cell, text in self._named():
            if cell.cell_type == "markdown" and (headings := NAME.findall(text)):
                heading = headings[0 if utils.is_task(cell) else -1]
            grade = self.marks.grades.get(name)
            if grade is None or not (utils.is_grade(cell) or utils.is_task(cell)):
                continue
            manual = utils.is_task(cell) or utils.is_solution(cell)
            question = Question(name, _title(heading or name), grade, manual, name in self.marks.unanswered)
            question.comment = self._prose(self.marks.comments.get(name, ""))
            for result in self.known.checks.get(name, []):
                seen = (name, result.title) in visible or (result.title == name and (name, "") in visible)
                parts = result.points, result.earned, result.verdict, explainer.explain(result, seen)
                lost = self._lost(result.lost, explainer) if result.lost and not result.undone else None
                question.lines.append(Line(result.title, *parts, tuple(result.undone), lost, seen))
            if utils.is_task(cell) and self.unveiled:
                question.scheme = self._prose(_added(text, self.unveiled.shown(cell)))
            yield question

    def _lost(self, cause: Note, explainer: Explainer) -> Lost:
        """Why a cell did not run to its end; of what its exception said as much as of a hidden check."""
        place = cause.numbers[-1] - 1 if cause.numbers else -1
        cell = cause.cells[0] if cause.cells else self.names[place] if 0 <= place < len(self.names) else ""
        names, own = cause.names, self.own()
        code = names[1] if len(names) > 1 and any(names[1] in source for source in own.values()) else ""
        if cause.kind in STOPPED and names:
            cause = structs.replace(cause, names=(explainer.told(names[0]), *names[1:]))
        sentence = wording.standing_alone(wording.sentence(cause, wording.STUDENT, self.language), self.language)
        return Lost(sentence, cell if cell in self.names else "", code)

    def _named(self) -> Iterator[tuple[str, NotebookNode, str]]:
        yield from zip(self.names, self.notebook.cells, self.texts, strict=True)

    def explainer(self) -> Explainer:
        """Knows what may be shown of a check."""
        tests = [cell.source for cell in self.notebook.cells if _instructors(cell) and cell.cell_type == "code"]
        public = "\n".join(self.texts)
        return Explainer(self.own(), public, tuple(tests), self.hidden, self.language)

    def _prose(self, text: str) -> Markup:
        return typeset.prose(text, language=self.language)

    def _notes(self) -> Iterator[tuple[str, Markup]]:
        """Comments on cells that have no points."""
        for name, _, _ in self._named():
            if name in self.marks.comments and name not in self.marks.grades:
                yield name, self._prose(self.marks.comments[name])

    def _cells(self) -> Iterator[Shown]:
        for name, cell, text in self._named():
            graded = utils.is_grade(cell) or utils.is_task(cell)
            test = graded and cell.cell_type == "code" and not utils.is_solution(cell)
            style = "text" if cell.cell_type == "markdown" else "tests" if test else "code"
            if cell.cell_type == "markdown":
                source = typeset.prose(text, cell.get("attachments"), self.folder, self.language)
            else:
                source = typeset.code(text, self.written_in)
            label = "" if style == "text" else self.language.text(f"feedback.{_label(cell, style)}_label")
            view = Shown(name, style, source, label)
            view.grade = self.marks.grades.get(name) if graded else None
            view.comment = self._prose(self.marks.comments.get(name, ""))
            if cell.cell_type == "code" and not test:
                view.outputs = [self._output(item, name) for item in cell.get("outputs", [])]
            yield view

    def _output(self, item: NotebookNode, cell: str) -> dict[str, object]:
        """An output as it is shown. Code that a hidden check called may have remembered with what."""
        shown = typeset.output(item, cell, self.language)
        text = str(shown.get("text") or shown.get("html") or shown.get("alt") or "")
        if self.hidden.remembered(text, "\n".join(self.own().values())):
            return {"style": "text", "text": self.language.text("feedback.remembered"), "ours": True}
        return shown


def _told(notes: Iterable[Note], language: Language) -> list[str]:
    """What a student reads of repairs of their file, and of what was taken out: nothing where it means nothing."""
    sentences = wording.sentences(notes, wording.STUDENT, language)
    return [typeset.plain(wording.standing_alone(sentence, language)) for sentence in sentences]


def _instructors(cell: NotebookNode) -> bool:
    """Whether the text of a cell is the instructor's, so that nbgrader's markers mean something in it."""
    if utils.is_solution(cell):
        return False
    return utils.is_grade(cell) or utils.is_task(cell) or utils.is_locked(cell)


def _label(cell: NotebookNode, style: str) -> str:
    if style == "tests":
        return style
    if utils.is_solution(cell):
        return "answer"
    return "given" if utils.is_locked(cell) else "code"


def _added(text: str, whole: str) -> str:
    """The lines that stand in ``whole`` and not in ``text``, without markers."""
    lines = set(text.splitlines())
    added = [line for line in whole.splitlines() if "MARK SCHEME" not in line]
    start = next((number for number, line in enumerate(added) if line not in lines), len(added))
    return "\n".join(added[start:])


def _title(heading: str) -> Markup:
    """A heading without its points, as one line of HTML."""
    text = re.sub(r"\s*\([\d.]+ points?\)\s*$", "", heading)
    return Markup(re.sub(r"</?(?:h1|a)\b[^>]*>", "", str(typeset.prose(f"# {text}"))).strip())


def environment(filters: dict[str, Callable], package: str = "") -> Environment:
    """The templates of this package, and those of another ``package``, a plug-in's.

    Every text in them is escaped, and nothing that is not there stays blank.
    """
    loader = ChoiceLoader([PackageLoader(name) for name in (package, "viva.pages") if name])
    pages = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    pages.filters |= filters
    return pages


@functools.cache
def template(name: str, language: Language = ENGLISH) -> Template:
    """A template that speaks a language: ``say`` has its sentences, ``time`` its times."""

    def say(key: str, count: float | None = None, **fields: Any) -> Markup:
        words, values = language.template(key, count, fields)
        return Markup(words).format(**values)

    pages = environment({"plain": typeset.plain})
    pages.globals |= {"say": say, "time": language.time, "page_lang": language.html, "language": language}
    return pages.get_template(name)
