"""A notebook's visible checks in an ordinary Jupyter kernel, for students' own machines.

macOS, Windows and Colab have no sandbox of Viva's, and Windows has no fork. Nobody needs a sandbox there: the code is
the user's own. So one kernel runs the notebook, and the test cells check by check. Whatever goes through a notebook in
grading does so here too (``grading.Run``): words, time limits, and the sentence for a cell that ends its process are
the same. Only the session differs, which asks a kernel in place of a candidate and an examiner.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from viva.engine.grading import Grader
from viva.engine.session import Died, Session, copy_data
from viva.engine.timebudget import TimeBudget
from viva.folder import remove
from viva.record import Note
from viva.sandbox.confinement import USUAL, Limits
from viva.verdict import SandboxError, Verdict

STARTING = 120
"""Seconds in which a kernel must start; the first one on a machine compiles every library."""
RAISED = "application/vnd.viva.raised+json"
"""Under this type the kernel says what exception ended a cell."""
TEST = "get_ipython().viva_test = True"
WATCHING = """
def _viva_watch():
    import traceback

    shell = get_ipython()
    shell.viva_test = False
    package = __import__("IPython").__path__[0]
    own = set()

    def begin(info):
        if not shell.viva_test:
            own.add(shell.compile.get_code_name(info.raw_cell, info.raw_cell, shell.execution_count))
        shell.viva_test = False

    def tell(result):
        error = result.error_before_exec or result.error_in_exec
        if error is None:
            return
        frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith(package)]
        name, shown = type(error).__name__, []
        for one in frames[-12:]:
            place = "<ipython-input-own>" if one.filename in own else "<test>" if "ipykernel" in one.filename else ""
            shown.append((place or one.filename, one.lineno, one.name, one.line))
        lines = "".join(traceback.format_list(shown)).splitlines()
        try:
            message = str(error)
        except Exception:
            message = "<%s without a readable text>" % name
        told = {"name": name, "message": message, "traceback": "\\n".join([*lines, "%s: %s" % (name, message)])}
        told["own"] = [one.name for one in frames if one.filename in own]
        shell.display_pub.publish({"KIND": told}, {})

    shell.events.register("pre_run_cell", begin)
    shell.events.register("post_run_cell", tell)


_viva_watch()
del _viva_watch
""".replace("KIND", RAISED)
"""Has the kernel say of each cell what exception ended it, and which functions of the student's were on the way."""


class _Client(NotebookClient):
    """A kernel that is interrupted once when its time is over, and then given up."""

    interrupted = False

    async def _async_handle_timeout(self, timeout: int, cell: Any = None) -> None:
        if self.interrupted:
            raise CellTimeoutError.error_from_timeout_and_cell("Cell execution timed out", timeout, cell)
        self.interrupted = True
        await self.km.interrupt_kernel()  # type: ignore[union-attr, misc]  # nbclient's type leaves room for none


class KernelSession:
    """One kernel that runs the cells and the tests; what only an examiner does is left out."""

    one_process = True

    def __init__(self, data: Path | None, files: Path | None, time_budget: TimeBudget | None) -> None:
        """Raises SandboxError where no kernel starts."""
        self.time_budget = time_budget or TimeBudget()
        self.limit, self.interrupted, self.gone = 0.0, False, False
        self.begun: dict[str, bytes] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="viva-kernel-"))
        if folder := files or data:
            copy_data(folder, self.folder)
        self.client = _Client(
            new_notebook(cells=[new_code_cell()]),
            kernel_name="python3",
            allow_errors=True,
            startup_timeout=STARTING,
            timeout_func=lambda cell: self.limit,
            interrupt_on_timeout=True,
            shutdown_kernel="immediate",
            extra_arguments=["--IPKernelApp.log_level=40"],
            resources={"metadata": {"path": str(self.folder)}},
        )
        self.client.log = logging.getLogger("viva.kernel")
        self.client.log.addHandler(logging.NullHandler())
        self.client.log.propagate = False
        self.stack = contextlib.ExitStack()
        try:
            self.stack.enter_context(self.client.setup_kernel(env=os.environ | {"VIVA_CHECKING": "1"}))
            self.limit = STARTING
            self._run(WATCHING, False)
        except Exception as error:  # whatever a broken installation of Jupyter leads to
            self.close()
            raise SandboxError(
                f"a Python kernel does not start here ({type(error).__name__}: {error}). Install one: python -m pip "
                "install ipykernel"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.stack.close()
        remove(self.folder)

    def examiner(self, within: float, **request: object) -> dict:
        """There is none: what it would be told means nothing where the tests run beside the answers."""
        return {"error": ""}

    def was_shot(self) -> bool:
        self.gone = True
        return False

    def candidate(self, within: float, **request: object) -> dict:
        """What a cell came to: its outputs, what it raised, and its number. Raises Died, and Spent."""
        if request["do"] != "run":
            raise Died(Verdict.KILLED, Note("killed"))
        self.limit, self.interrupted = self.time_budget.granted(within), False
        self.client.interrupted = False
        start = time.monotonic()
        try:
            if request.get("test"):
                self.client.kc.execute(TEST, silent=True, store_history=False)  # type: ignore[union-attr]
            return self._run(str(request["source"]))
        except CellTimeoutError:
            self.interrupted = self.gone = True
            raise Died(Verdict.TIMEOUT, Note("unfinished_code", amount=self.limit)) from None
        except DeadKernelError:
            self.gone = True
            raise Died(Verdict.KILLED, Note("killed")) from None
        finally:
            self.interrupted = self.interrupted or self.client.interrupted
            self.time_budget.spend(time.monotonic() - start)

    def _run(self, source: str, counted: bool = True) -> dict:
        cell = new_code_cell(source)
        self.client.nb.cells = [cell]
        cell = self.client.execute_cell(cell, 0, store_history=counted)
        raised, outputs = None, []
        for item in cell.get("outputs", []):
            if RAISED in item.get("data", {}):
                raised = dict(item["data"][RAISED])
            else:
                outputs.append(nbformat.from_dict(item))
        return {"outputs": [_plain(item) for item in outputs], "raised": raised, "count": cell.get("execution_count")}


def _plain(item: object) -> object:
    """Dictionaries in place of nbformat's nodes."""
    if isinstance(item, dict):
        return {str(key): _plain(value) for key, value in item.items()}
    return [_plain(part) for part in item] if isinstance(item, list) else item


class KernelGrader(Grader):
    """Grades in ordinary kernels; each submission has its own."""

    def __init__(self, seconds: float = 30.0, limits: Limits = USUAL) -> None:
        self.seconds, self.budget, self.sandboxed, self.limits = seconds, 0.0, False, limits

    def session(self, data: Path | None, files: Path | None, time_budget: TimeBudget) -> Session:
        return KernelSession(data, files, time_budget)  # type: ignore[return-value]  # it is asked the same questions

    def allow(self, memory: int) -> None:
        """An ordinary kernel has no limit of memory."""

    def absent(self) -> dict[str, str]:
        return {}  # nothing is loaded before a kernel starts

    def restart(self) -> None:
        """There is nothing to start again: each session has a kernel of its own."""

    def close(self) -> None:
        """Every session has ended its kernel."""
