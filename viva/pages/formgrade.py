"""The page on which a grader reads a notebook: nbgrader's own, with the answer beside the question and no network.

nbgrader_config.py names template, filters and step for nbconvert's HTML exporter, with which formgrader makes the
page. Formulas are set here as MathML, as on a student's page, where nbgrader's template fetches MathJax from a
server and waits for it before it lets a grader type.
"""

from __future__ import annotations

import html
from pathlib import Path

import nbgrader
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from viva.pages import typeset
from viva.submission.sanitize import given_texts

TEMPLATE = "viva_formgrade"
THEIRS = str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates")
"""Where nbgrader's templates lie, which the template extends."""
FOLDERS = [str(Path(__file__).parent / "templates"), THEIRS]
FILTERS = {"markdown2html": "viva.pages.formgrade.markdown", "formula2html": "viva.pages.formgrade.formula"}


class AnswerFirst(NbGraderPreprocessor):
    """``resources["answers"]`` says for each question how many of the cells below it are its answer, and
    ``resources["waiting"]`` which scores wait for a grader: those of tests in doubt too.

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
        resources["answers"], resources["waiting"] = answers, self._waiting(resources.get("submission_id"))
        return notebook, resources

    def _waiting(self, submission: str | None) -> list[str]:
        if submission is None:
            return []
        with Gradebook(CourseDirectory(parent=self).db_url) as gradebook:
            grades = gradebook.find_submission_notebook_by_id(submission).grades
            return [grade.name for grade in grades if grade.needs_manual_grade]


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
    """An output in LaTeX as HTML; what is no formula as it was printed."""
    body = text.strip()
    for mark in ("$$", "$"):
        if body.startswith(mark) and body.endswith(mark) and len(body) > 2 * len(mark):
            return typeset.clean(typeset.formula(body[len(mark) : -len(mark)], "block"))
    if body.startswith("\\begin{"):
        return typeset.clean(typeset.formula(body, "block"))
    return f"<pre>{html.escape(text)}</pre>"
