"""The page on which a grader reads a notebook: nbgrader's own, with the answer beside the question and no network.

nbgrader_config.py names template, filters and step for nbconvert's HTML exporter, with which formgrader makes the
page. Formulas are set here as MathML, as on a student's page, where nbgrader's template fetches MathJax from a
server and waits for it before it lets a grader type.
"""

from __future__ import annotations

import difflib
import html
import re
from collections import Counter
from pathlib import Path

import nbgrader
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Comment, Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from viva.course import rubric, writtenanswers
from viva.engine.names import Names, names_of
from viva.pages import typeset, waitinglist
from viva.submission.sanitize import given_texts
from viva.verdict import CourseError

MOST_OFFERED = 9
"""So many comments that repeat are offered at a question: one for each digit."""
MOST_PIECES, LONGEST_SHOWN = 4000, 20_000
"""So many words are compared one by one; so many characters are shown of longer texts."""
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST = 500
"""A longer comment fits nobody else."""
TEMPLATE = "viva_formgrade"
THEIRS = str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates")
"""Where nbgrader's templates lie, which the template extends."""
FOLDERS = [str(Path(__file__).parent / "templates"), THEIRS]
FILTERS = {"markdown2html": "viva.pages.formgrade.markdown", "formula2html": "viva.pages.formgrade.formula"}


class AnswerFirst(NbGraderPreprocessor):
    """What the page needs beside the notebook, in nbconvert's resources.

    ``answers``: for each question how many of the cells below it are its answer; ``tested``: for each test cell the
    answer cells that it asks about; ``waiting``: which scores wait for a grader, those of tests in doubt too;
    ``queue``: how many submissions of this notebook wait, also at each question; ``version``: what the page shows, so
    that nothing is saved for a notebook that was graded again; ``differences``: for each written answer that has
    changed since it was graded, what is new in it and what is gone; ``offered``: for each question the
    comments that repeat, rubric items first.

    The answer is the cell below the question and those that follow it, up to the next cell that is graded and the
    next text of the instructor's.
    """

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        given, answers = given_texts(self, resources), {}
        for place, cell in enumerate(notebook.cells):
            if cell.cell_type == "markdown" and utils.is_task(cell):
                below = 0
                for other in notebook.cells[place + 1 :]:
                    if other.cell_type == "raw" or "nbgrader" in other.metadata or (below and other.source in given):
                        break
                    below += 1
                if below:
                    answers[cell.metadata.nbgrader["grade_id"]] = below
        resources["answers"], resources["tested"] = answers, _tested(notebook)
        resources |= {"waiting": [], "queue": None, "offered": {}, "version": ""}
        resources["differences"] = {}
        if (submission := resources.get("submission_id")) is not None:
            self._look_up(submission, resources)
            resources["differences"] = {
                name: difference(before, after)
                for name, before, after in writtenanswers.changed(notebook)
                if name in resources["waiting"]
            }
        return notebook, resources

    def _look_up(self, submission: str, resources: dict) -> None:
        """Ask the gradebook, and the course's rubric."""
        directory = CourseDirectory(parent=self)
        with Gradebook(directory.db_url) as gradebook:
            known = gradebook.find_submission_notebook_by_id(submission)
            resources["waiting"] = [grade.name for grade in known.grades if grade.needs_manual_grade]
            resources["queue"] = _queue(gradebook, known)
            resources["version"] = waitinglist.version_of(directory, known)
            try:
                items = rubric.read_items(rubric.path_of(Path(directory.root), known.assignment.assignment.name))
            except CourseError as error:
                items, resources["complaint"] = [], str(error)
            graded = {grade.name for grade in known.grades}
            for comment in known.comments:
                fitting = [one for one in items if one.cell in ("", comment.name) and comment.name in graded]
                own = [{"line": one.line, "points": one.points} for one in fitting]
                said = [{"line": text} for text in _said_before(gradebook, known, comment.name)]
                resources["offered"][comment.name] = [*own, *said][:MOST_OFFERED]


def _queue(gradebook: Gradebook, known: SubmittedNotebook) -> dict:
    """How many submissions of a notebook wait for a grader, of how many, whether others than this one do, and how many
    wait at each question."""
    waiting = waitinglist.waiting(gradebook, known.notebook_id)
    total = gradebook.db.query(SubmittedNotebook.id).filter(SubmittedNotebook.notebook_id == known.notebook_id).count()
    questions = waitinglist.by_question(gradebook, known.notebook_id)
    others = bool(waitinglist.after(waiting, known.id))
    return {"left": len(waiting), "total": total, "others": others, "questions": questions}


def difference(before: str, after: str) -> list[tuple[str, str]]:
    """What two texts share and do not share, in pieces, each with "same", "gone" or "new" before it."""
    one, other = (_PIECES.findall(text) for text in (before, after))
    if len(one) + len(other) > MOST_PIECES:  # finding the differences takes the square of it
        return [("gone", before[:LONGEST_SHOWN]), ("new", after[:LONGEST_SHOWN])]
    found = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append(("same", "".join(one[a:b])))
            continue
        found += [("gone", "".join(one[a:b]))] * (a < b) + [("new", "".join(other[c:d]))] * (c < d)
    return found


def _said_before(gradebook: Gradebook, known: SubmittedNotebook, name: str) -> list[str]:
    """The comments that others have at this question, without their rubric items, the most frequent first."""
    rows = (
        gradebook.db.query(Comment)
        .join(SubmittedNotebook, Comment.notebook_id == SubmittedNotebook.id)
        .filter(SubmittedNotebook.notebook_id == known.notebook_id, SubmittedNotebook.id != known.id)
        .filter(Comment.manual_comment.isnot(None))
    )
    found: Counter[str] = Counter()
    for comment in rows:
        lines = comment.manual_comment.splitlines() if comment.name == name else []
        if text := "\n".join(line for line in lines if not rubric.LINE.match(line.strip())).strip():
            found[text] += 1
    return [text for text, _ in found.most_common(MOST_OFFERED) if len(text) <= LONGEST]


def _tested(notebook: NotebookNode) -> dict[str, list[str]]:
    """By test cell the answer cells above it that give a name which it uses, or else those since the test before."""
    found: dict[str, list[str]] = {}
    given: dict[str, str] = {}
    near: list[str] = []
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or not about.get("grade_id"):
            continue
        names = names_of(cell.source) or Names()
        if utils.is_solution(cell):
            given |= dict.fromkeys(names.bound, about["grade_id"])
            near.append(about["grade_id"])
        elif utils.is_grade(cell):
            used = dict.fromkeys(given[name] for name in sorted(names.used & given.keys()))
            found[about["grade_id"]] = list(used) or near
            near = []
    return found


class _Renderer(IPythonRenderer):
    """nbconvert's, with formulas as MathML."""

    def block_math(self, body: str) -> str:
        return typeset.clean(typeset.formula(body, "block"))

    def inline_math(self, body: str) -> str:
        return typeset.clean(typeset.formula(body))

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


@pass_context
def markdown(context: Context, source: str) -> str:
    """Markdown as HTML, in place of the exporter's own filter."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = _Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    return MarkdownWithMath(renderer=renderer).render(source)


def formula(text: str) -> str:
    """An output in LaTeX as HTML; anything else as it was printed."""
    body = text.strip()
    for mark in ("$$", "$"):
        if body.startswith(mark) and body.endswith(mark) and len(body) > 2 * len(mark):
            return typeset.clean(typeset.formula(body[len(mark) : -len(mark)], "block"))
    if body.startswith("\\begin{"):
        return typeset.clean(typeset.formula(body, "block"))
    return f"<pre>{html.escape(text)}</pre>"
