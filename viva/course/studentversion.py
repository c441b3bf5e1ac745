"""How nbgrader compiles an assignment into the students' version, with three differences.

The steps are nbgrader's own. Beside them:

- ``### AUTOTEST`` lines are computed in the sandbox. nbgrader starts a kernel for them, in which the notebook's code
  may do what its user may, and fills in templates of the course's in its own process.
- Of metadata and attachments only that is kept which is known to be meant for students: a solution may also stand in a
  picture, in a widget's state, or in what another program has written into the file.
- What a step refuses is told with the notebook and the cell.
"""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock
from urllib.parse import unquote

from jinja2 import BaseLoader
from jinja2.sandbox import ImmutableSandboxedEnvironment
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.nbgraderformat.common import SchemaMismatchError
from nbgrader.preprocessors import Execute, InstantiateTests, NbGraderPreprocessor, instantiatetests

from viva.course.autograde import Examine
from viva.course.graders import new_grader
from viva.engine.blueprint import language_of
from viva.engine.outcome import outputs_of
from viva.engine.session import Died, Session
from viva.verdict import CourseError, VivaError

OF_NOTEBOOK = {
    "kernelspec": ("name", "display_name", "language"),
    "language_info": ("name", "version", "mimetype", "file_extension", "pygments_lexer", "nbconvert_exporter"),
    "viva": ("seconds", "budget", "check"),
}
"""The metadata of a notebook that students get, and of each the fields."""
OF_CELL = {
    "nbgrader": tuple("schema_version grade_id grade solution locked task points checksum cell_type".split()),
    "viva": ("seconds", "where"),
    "jupyter": ("source_hidden", "outputs_hidden"),
    "slideshow": ("slide_type",),
}
PLAIN = ("tags", "editable", "deletable", "collapsed", "scrolled", "format")
"""The metadata of a cell that Jupyter itself knows and that say how it is shown: kept as they are."""


class SandboxedTests(InstantiateTests):
    """nbgrader's step for ``### AUTOTEST`` lines, with a candidate of Viva's for a kernel."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        if not any(cell.cell_type == "code" and self.autotest_delimiter in cell.source for cell in nb.cells):
            return nb, resources
        step = Examine(parent=self.parent, config=self.config)
        if (language := language_of(nb.metadata)) != "python":
            if step.no_sandbox:
                return super().preprocess(nb, resources)
            raise CourseError(
                f"it is written in {language}, and the sandbox does not support its kernel, which "
                f"{self.autotest_delimiter} lines "
                "need. With --no-sandbox it runs with all your permissions; use that only for code you "
                "trust"
            )
        seconds = float(Execute(parent=self.parent, config=self.config).timeout or 30)
        templates = mock.Mock(Environment=ImmutableSandboxedEnvironment, BaseLoader=BaseLoader)
        with (
            _kernel(seconds, step) as start,
            mock.patch.object(instantiatetests, "start_new_kernel", start),
            mock.patch.object(instantiatetests, "j2", templates),
        ):
            return super().preprocess(nb, resources)


@contextlib.contextmanager
def _kernel(seconds: float, step: Examine) -> Iterator[Callable]:
    """What stands for jupyter_client's ``start_new_kernel``; nothing is started before it is called."""
    with contextlib.ExitStack() as stack:

        def start(kernel_name: str, cwd: str | None) -> tuple[Kernel, Kernel]:
            grader = new_grader(seconds, step.no_sandbox, step.memory)
            stack.callback(grader.close)
            data = Path(cwd) if cwd else None
            kernel = Kernel(stack.enter_context(Session(grader.candidates, grader.examiners, data)), seconds)
            return kernel, kernel

        yield start


class Kernel:
    """A candidate, as jupyter_client's manager and client of a kernel: as far as nbgrader's step asks."""

    def __init__(self, session: Session, seconds: float) -> None:
        self.session, self.seconds = session, seconds

    def execute_interactive(self, code: str, output_hook: Callable[[dict], None]) -> None:
        """Run code, and hand its outputs to ``output_hook``. Raises CourseError where it raises or does not end."""
        try:
            reply = self.session.candidate(self.seconds, do="run", source=code)
        except Died as death:
            raise CourseError(f"the notebook cannot be run up to that cell: {death}") from death
        if isinstance(raised := reply.get("raised"), dict):
            raise CourseError(f"the code up to that cell raises {raised.get('name')}: {raised.get('message')}"[:500])
        for output in outputs_of(reply):
            output_hook({"header": {"msg_type": output["output_type"]}, "content": output})

    def shutdown_kernel(self) -> None:
        """The session is ended by who has begun it."""


class NothingElse(NbGraderPreprocessor):
    """Leaves of a students' version what is known to be meant for them: no picture that no text shows, no state of
    widgets, no metadata that other programs or the author have put there."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb.metadata = NotebookNode(_known(nb.metadata, OF_NOTEBOOK))
        for cell in nb.cells:
            cell.metadata = NotebookNode(_known(cell.metadata, OF_CELL, PLAIN))
            kept = {name: data for name, data in cell.get("attachments", {}).items() if _shows(cell.source, name)}
            cell.pop("attachments", None)
            if kept:
                cell.attachments = kept
        return nb, resources


def _known(metadata: dict, fields: dict[str, tuple[str, ...]], plain: tuple[str, ...] = ()) -> dict:
    found = {}
    for key, value in metadata.items():
        if key in plain:
            found[key] = value
        elif key in fields and isinstance(value, dict):
            kept = {name: part for name, part in value.items() if name in fields[key]}
            if kept or not value:
                found[key] = NotebookNode(kept)
    return found


def _shows(text: str, name: str) -> bool:
    """Whether a text refers to the attachment ``name``."""
    return any(re.search(rf"attachment:{re.escape(name)}(?![\w.-])", version) for version in (text, unquote(text)))


class Compiler(GenerateAssignment):
    """nbgrader's converter with these steps; ``reason`` says what stopped it."""

    reason = ""
    preprocessors: list

    def __init__(self, **known: object) -> None:
        super().__init__(**known)
        steps = [SandboxedTests if step is InstantiateTests else step for step in self.preprocessors]
        self.preprocessors = [*steps, NothingElse]

    def convert_single_notebook(self, notebook_filename: str) -> None:
        try:
            super().convert_single_notebook(notebook_filename)
        except SchemaMismatchError:
            raise  # nbgrader says which command mends it
        except Exception as error:
            self.reason = told(error, Path(notebook_filename).name)
            raise


def told(error: Exception, name: str) -> str:
    """What a step has refused, with the notebook and the cell where it says so, in one line."""
    cell = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        node = frame.f_locals.get("cell")
        if isinstance(node, NotebookNode) and frame.f_code.co_name == "preprocess_cell":
            cell = node.metadata.get("nbgrader", {}).get("grade_id") or node.get("id", "")
    words = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, VivaError) and isinstance(error, KeyError | NameError | AttributeError | TypeError):
        words = f"{type(error).__name__}: {words}"
    below = error.__cause__ or error.__context__
    because = f" ({' '.join(str(below).split())})" if below and str(below) and str(below) not in words else ""
    return f"{name}{f', cell {cell!r}' if cell else ''}: {words}{because}"
