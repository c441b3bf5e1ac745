"""What may stand in the page that a student gets back."""

from __future__ import annotations

import re

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, NbGraderPreprocessor

from viva.blueprint import CHECK
from viva.verdict import Verdict

STYLE = """\
    .text_cell_render th, .text_cell_render td { padding: 0.2em 1.2em 0.2em 0; }
    .output_error pre { white-space: pre-wrap; }
"""


MESSAGE_CHARACTERS = 300
NO_DESCRIPTION = re.compile(r"<img (?![^>]*\balt=)")


class HideTests(NbGraderPreprocessor):
    """In nbgrader's feedback: take out hidden tests, marking schemes and tracebacks through tests.

    nbgrader shows all three. Of an error in a test cell the last line stays: the kind of the error
    and its message, which for an assert is the sentence that the instructor wrote. In a cell with
    hidden lines only the message's first line stays (the others of numpy.testing hold the expected
    numbers), and what the student's code printed when it was asked goes: it may hold hidden inputs.
    """

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        if utils.is_solution(cell) or not (utils.is_grade(cell) or utils.is_task(cell)):
            return cell, resources  # the student's own text, where the markers mean nothing
        secret = ClearHiddenTests(parent=self.parent).begin_test_delimeter in cell.source
        if secret and cell.cell_type == "code":
            summary = _summary(cell.source)
            cell.outputs = [
                output
                for output in cell.outputs
                if output.output_type == "error"
                or (output.output_type == "stream" and all(map(summary.fullmatch, output.text.splitlines())))
            ]
        for step in (ClearHiddenTests, ClearMarkScheme):
            step(parent=self.parent, enforce_metadata=False).preprocess_cell(cell, resources, index)
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                if secret:
                    output.evalue = (output.evalue.strip().splitlines() or [""])[0][:MESSAGE_CHARACTERS]
                output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources


def _summary(source: str) -> re.Pattern:
    """What a line with the result of a check looks like: points, title, verdict."""
    titles = "|".join(re.escape(match["title"]) for match in map(CHECK.match, source.splitlines()) if match)
    return re.compile(rf"[\d.]+ of [\d.]+: ({titles}) \(({'|'.join(Verdict)})\)")


class _Memory(BytecodeCache):
    """Compiled templates, kept for the next page."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.kept[bucket.key] = bucket.bytecode_to_string()


class PageExporter(HTMLExporter):
    """nbconvert's HTML exporter in half the time.

    It compiles the templates once, and does not parse the finished page again to mark pictures that
    have no description: that is done as the page is text already.
    """

    memory = _Memory()

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.bytecode_cache = self.memory
        return environment

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **more: object) -> tuple[str, dict]:
        language = nb.metadata.get("language_info", {})
        lexer = language.get("pygments_lexer", language.get("name"))
        resources = self._init_resources(resources)
        self.register_filter("highlight_code", Highlight2HTML(pygments_lexer=lexer, parent=self))
        data_types = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self.register_filter("filter_data_type", data_types)
        page, resources = super(HTMLExporter, self).from_notebook_node(nb, resources, **more)
        return NO_DESCRIPTION.sub('<img alt="a picture without a description" ', page), resources


class PageStyle(NbGraderPreprocessor):
    """In nbgrader's feedback: room between the columns of tables, and messages that do not run off the page."""

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        resources.setdefault("inlining", {}).setdefault("css", []).append(STYLE)
        return notebook, resources
