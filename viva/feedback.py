"""What may stand in the page that a student gets back."""

from __future__ import annotations

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, NbGraderPreprocessor

STYLE = """\
    .text_cell_render th, .text_cell_render td { padding: 0.2em 1.2em 0.2em 0; }
    .output_error pre { white-space: pre-wrap; }
"""


class HideTests(NbGraderPreprocessor):
    """In nbgrader's feedback: take out hidden tests, marking schemes and tracebacks through tests.

    nbgrader shows all three. Of an error in a test cell the last line stays: the kind of the error
    and its message, which for an assert is the sentence that the instructor wrote.
    """

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        if utils.is_solution(cell) or not (utils.is_grade(cell) or utils.is_task(cell)):
            return cell, resources  # the student's own text, where the markers mean nothing
        for step in (ClearHiddenTests, ClearMarkScheme):
            step(parent=self.parent, enforce_metadata=False).preprocess_cell(cell, resources, index)
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources


class PageStyle(NbGraderPreprocessor):
    """In nbgrader's feedback: room between the columns of tables, and messages that do not run off the page."""

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        resources.setdefault("inlining", {}).setdefault("css", []).append(STYLE)
        return notebook, resources
