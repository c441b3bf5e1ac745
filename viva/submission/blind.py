"""The cells that ask for a name are for the student's own copy: a grader reads them as they were released.

nbgrader puts the same cells above and below every notebook, from the files that ``IncludeHeaderFooter`` names. Cells
of these that a student may edit come back as those files have them: texts by their id, code by its *fields*, the names
to which header or footer assign a text, as in ``NAME = ""``, wherever in the notebook they are assigned at
the margin. What was typed into fields is kept beside the results, so that an anonymous report can take it out of code.

The step comes after the scores, so no verdict depends on it. ``submitted/`` stays as it was submitted.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import re
from collections.abc import Iterable
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import IncludeHeaderFooter, NbGraderPreprocessor
from traitlets import Bool

from viva.engine.blueprint import read_notebook
from viva.notebook.syntax import constants_in, statements_of
from viva.submission.work import Forms, Work

FEW = 4
"""A text of so few words is a name as a whole; of a longer one those words are that begin with a capital."""
_MARKS = ("solution", "grade", "task", "locked")
_COMMON = {word.lower() for word in (*keyword.kwlist, *dir(builtins))}
"""Words of the language, which are nobody's name."""


class Blind(NbGraderPreprocessor):
    """Put the cells that ask for a name back, and note what had been typed there."""

    show_names = Bool(False, help="Show graders the names that students wrote into the name cells.").tag(config=True)

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        work = Work.of(resources)
        forms = work.forms or forms_of(self)
        work.record.names = names_in(notebook, forms)
        if not self.show_names:
            blank(notebook, forms)
        return notebook, resources


def forms_of(step: NbGraderPreprocessor) -> Forms:
    """The cells of header and footer that a course includes."""
    included, directory = IncludeHeaderFooter(parent=step), CourseDirectory(parent=step)
    texts: dict[str, str] = {}
    codes: dict[str, str] = {}
    for name in filter(None, (included.header, included.footer)):
        path = Path(directory.root, name)
        if path.is_file():
            forms = _read(path, path.stat().st_mtime_ns)
            texts |= forms.texts
            codes |= forms.codes
    return Forms(texts, codes)


@functools.lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> Forms:
    texts: dict[str, str] = {}
    codes: dict[str, str] = {}
    for cell in read_notebook(path).cells:
        if _marked(cell):
            continue
        if cell.cell_type == "code":
            codes |= dict.fromkeys(_fields(cell.source), cell.source)
        elif cell.get("id"):
            texts[cell.id] = cell.source
    return Forms(texts, codes)


def _marked(cell: NotebookNode) -> bool:
    """Whether nbgrader knows the cell as an answer, a question, a test or locked."""
    marks = cell.metadata.get("nbgrader")
    return isinstance(marks, dict) and any(marks.get(mark) for mark in _MARKS)


def _fields(source: str) -> dict[str, str]:
    """The names to which code assigns a text, with the texts; none where it has a syntax error."""
    constants = constants_in(statements_of(source))
    return {name: text for name, text in constants if isinstance(text, str)}


def _form(cell: NotebookNode, forms: Forms) -> str | None:
    """The text of header or footer that a cell came from; None when it came from neither."""
    if _marked(cell):
        return None
    if cell.cell_type != "code":
        return forms.texts.get(cell.get("id", ""))
    for name, source in forms.codes.items():
        if re.search(rf"^{name}\s*(?::[^=\n]*)?=(?!=)", cell.source, re.MULTILINE):
            return source
    return None


def blank(notebook: NotebookNode, forms: Forms) -> None:
    """Put the cells that came from header and footer back, in place."""
    for cell in notebook.cells:
        form = _form(cell, forms)
        if form is None or cell.source == form:
            continue
        cell.source = form
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            cell.outputs = []


def names_in(notebook: NotebookNode, forms: Forms) -> list[str]:
    """The texts typed into fields, in parts that may each be a name, without words of the language."""
    parts: list[str] = []
    for cell in notebook.cells:
        form = _form(cell, forms) if cell.cell_type == "code" else None
        if form is not None:
            typed = _fields(cell.source) or _typed(cell.source, forms.codes)
            for name, text in typed.items():
                if name in forms.codes and text != _fields(form).get(name):
                    parts += _parts(text)
    return [name for name in dict.fromkeys(parts) if name.lower() not in _COMMON]


def _typed(source: str, fields: Iterable[str]) -> dict[str, str]:
    """The values of fields in code that has a syntax error, as in ``NAME = Anna``."""
    lines = (re.match(rf"({'|'.join(fields)})\s*=(.*)", line) for line in source.splitlines())
    return {match[1]: match[2].strip(" \"'") for match in lines if match}


def _parts(text: str) -> list[str]:
    pieces = [piece.strip() for piece in re.split(r"[,;&\n]|\band\b", text)]
    words = [word for piece in pieces for word in re.findall(r"\w[\w.'-]*", piece) if not word[0].islower()]
    return [*(piece for piece in pieces if piece and len(piece.split()) <= FEW), *words]
