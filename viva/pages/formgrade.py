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
from msgspec import to_builtins
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Comment, Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from viva.course.course import Course
from viva.course.examining import writtenanswers
from viva.course.gradebook import rubric
from viva.notebook.cell import grade_id
from viva.notebook.names import Names, names_of
from viva.pages import groupcomment, rubricedit, typeset, waitinglist
from viva.pages.additions import GRADER, Asked, additions, by_cell
from viva.submission.sanitize import given_texts
from viva.verdict import CourseError

MOST_OFFERED = 9
"""The most repeated comments that are offered at a question: one for each digit."""
MOST_PIECES, LONGEST_SHOWN = 4000, 20_000
"""The most words that are compared one by one, and the most characters of longer texts that are shown."""
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST = 500
"""A longer comment fits nobody else."""
TEMPLATE = "viva_formgrade"
WRITTEN = "viva_written"
"""The metadata, in this page alone, of a text that the student wrote: what was typed is shown, too."""
MARKED = re.compile(r"[*_`\\$<#>|~\[]")
"""What Markdown may show otherwise than it was typed."""
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
    comments that repeat, rubric items first; ``rubric``: the version of its file, None where nobody can read it;
    ``added``: by test cell, the sentences of other packages; ``groups``: by
    answer cell, the answers of other students that are like this one.

    The answer is the cell below the question and those that follow it, up to the next cell that is graded and the
    next text of the instructor's.
    """

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        instructors, answers = given_texts(self, resources), {}
        for position, cell in enumerate(notebook.cells):
            if utils.is_solution(cell) and not utils.is_task(cell):
                cell.metadata[WRITTEN] = True
            if cell.cell_type == "markdown" and utils.is_task(cell):
                below = 0
                for after in notebook.cells[position + 1 :]:
                    if (
                        after.cell_type == "raw"
                        or "nbgrader" in after.metadata
                        or (below and after.source in instructors)
                    ):
                        break
                    below += 1
                for answer in notebook.cells[position + 1 : position + 1 + below]:
                    answer.metadata[WRITTEN] = True
                if below:
                    answers[grade_id(cell)] = below
        resources["answers"], resources["tested"] = answers, _tested(notebook)
        resources |= {"waiting": [], "queue": None, "offered": {}, "version": ""}
        resources |= {"differences": {}, "added": {}, "groups": {}, "rubric": None}
        if (submission := resources.get("submission_id")) is not None:
            self._look_up(submission, resources)
            resources["differences"] = {
                name: difference(before, now)
                for name, before, now in writtenanswers.changed(notebook)
                if name in resources["waiting"]
            }
        return notebook, resources

    def _look_up(self, submission: str, resources: dict) -> None:
        """Ask the gradebook, and the course's rubric."""
        directory = CourseDirectory(parent=self)
        with Gradebook(directory.db_url) as gradebook:
            submitted = gradebook.find_submission_notebook_by_id(submission)
            resources["waiting"] = [grade.name for grade in submitted.grades if grade.needs_manual_grade]
            resources["queue"] = _queue(gradebook, submitted)
            resources["version"] = waitinglist.version_of(directory, submitted)
            try:
                file = rubricedit.file_of(Path(directory.root), submitted)
                items, resources["rubric"] = list(file.items.values()), file.version
            except CourseError as error:
                items, resources["complaint"] = [], str(error)
            asked = Asked(GRADER, submitted.assignment.assignment.name, submitted.name, submitted.student.id)
            course = Course(directory)
            try:
                added = additions(course, asked)
            except CourseError as error:
                added, resources["complaint"] = [], str(error)
            resources["added"] = by_cell(added)
            alike = groupcomment.groups(gradebook, submitted, added)
            resources["groups"] = to_builtins(groupcomment.rows(course, gradebook, submitted, alike))
            graded = {grade.name for grade in submitted.grades}
            for comment in submitted.comments:
                fitting = [item for item in items if item.cell in ("", comment.name) and comment.name in graded]
                comments = [{"line": text} for text in _said_before(gradebook, submitted, comment.name)]
                offered = [*map(rubricedit.shown, fitting), *comments]
                resources["offered"][comment.name] = offered[:MOST_OFFERED]


def _queue(gradebook: Gradebook, submitted: SubmittedNotebook) -> dict:
    """How many submissions of a notebook wait for a grader, of how many, whether others than this one do, and how many
    wait at each question."""
    waiting = waitinglist.waiting(gradebook, submitted.notebook_id)
    total = (
        gradebook.db.query(SubmittedNotebook.id).filter(SubmittedNotebook.notebook_id == submitted.notebook_id).count()
    )
    questions = waitinglist.by_question(gradebook, submitted.notebook_id)
    waits_elsewhere = bool(waitinglist.after(waiting, submitted.id))
    return {"left": len(waiting), "total": total, "others": waits_elsewhere, "questions": questions}


def difference(before: str, after: str) -> list[tuple[str, str]]:
    """What two texts share and do not share, in pieces, each with "same", "gone" or "new" before it."""
    old, new = (_PIECES.findall(text) for text in (before, after))
    if len(old) + len(new) > MOST_PIECES:  # finding the differences takes the square of it
        return [("gone", before[:LONGEST_SHOWN]), ("new", after[:LONGEST_SHOWN])]
    pieces = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(("same", "".join(old[a:b])))
            continue
        pieces += [("gone", "".join(old[a:b]))] * (a < b) + [("new", "".join(new[c:d]))] * (c < d)
    return pieces


def _said_before(gradebook: Gradebook, submitted: SubmittedNotebook, name: str) -> list[str]:
    """The comments that others have at this question, without their rubric items, the most frequent first."""
    rows = (
        gradebook.db.query(Comment)
        .join(SubmittedNotebook, Comment.notebook_id == SubmittedNotebook.id)
        .filter(SubmittedNotebook.notebook_id == submitted.notebook_id, SubmittedNotebook.id != submitted.id)
        .filter(Comment.manual_comment.isnot(None))
    )
    counts: Counter[str] = Counter()
    for comment in rows:
        lines = comment.manual_comment.splitlines() if comment.name == name else []
        if text := "\n".join(line for line in lines if not rubric.LINE.match(line.strip())).strip():
            counts[text] += 1
    return [text for text, _ in counts.most_common(MOST_OFFERED) if len(text) <= LONGEST]


def _tested(notebook: NotebookNode) -> dict[str, list[str]]:
    """By test cell the answer cells above it that give a name which it uses, or else those since the test before."""
    answers: dict[str, list[str]] = {}
    cell_of: dict[str, str] = {}
    near: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or not (name := grade_id(cell)):
            continue
        names = names_of(cell.source) or Names()
        if utils.is_solution(cell):
            cell_of |= dict.fromkeys(names.bound, name)
            near.append(name)
        elif utils.is_grade(cell):
            used = dict.fromkeys(cell_of[name] for name in sorted(names.used & cell_of.keys()))
            answers[name] = list(used) or near
            near = []
    return answers


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
    rendered = MarkdownWithMath(renderer=renderer).render(typeset.with_products(source))
    if not (context.get("cell", {}).get("metadata", {}).get(WRITTEN) and MARKED.search(source)):
        return rendered
    typed = html.escape(source[: typeset.LONGEST_TEXT])
    return f'{rendered}<details class="viva-typed"><summary>As typed</summary><pre>{typed}</pre></details>'


def formula(text: str) -> str:
    """An output in LaTeX as HTML; anything else as it was printed."""
    body = text.strip()
    for mark in ("$$", "$"):
        if body.startswith(mark) and body.endswith(mark) and len(body) > 2 * len(mark):
            return typeset.clean(typeset.formula(body[len(mark) : -len(mark)], "block"))
    if body.startswith("\\begin{"):
        return typeset.clean(typeset.formula(body, "block"))
    return f"<pre>{html.escape(text)}</pre>"
