"""Run a notebook check by check in a forked IPython shell, for known answers only: they are trusted."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import warnings

import matplotlib as mpl
import matplotlib.pyplot
import numpy  # noqa: F401  (loaded before the fork)
import scipy.special  # noqa: F401
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode

from viva.engine.blueprint import Blueprint
from viva_audit.answers import CheckName


def lost_checks(notebook: NotebookNode, blueprint: Blueprint) -> dict[CheckName, str]:
    """The checks that a submission loses, each with the error; everything runs in a process of its own."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside the threads of the test runner
        process = context.Process(target=_run, args=(notebook, blueprint, sender))
        process.start()
    sender.close()
    try:
        assert receiver.poll(100), "the notebook did not finish"
        return receiver.recv()
    finally:
        process.kill()
        process.join()


def _run(notebook: NotebookNode, blueprint: Blueprint, sender) -> None:
    warnings.resetwarnings()
    mpl.use("agg")
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    cells = {cell.id: cell for cell in blueprint.cells}
    lost = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if checks := getattr(cells.get(cell.id), "checks", ()):
            _execute(shell, cells[cell.id].prelude)
            for check in checks:
                if error := _execute(shell, check.source):
                    lost[cell.id, check.title] = f"{type(error).__name__}: {error}"
        else:
            _execute(shell, cell.source)
            mpl.pyplot.close("all")
    sender.send(lost)


def _execute(shell: InteractiveShell, source: str) -> BaseException | None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        result = shell.run_cell(source)
    return result.error_before_exec or result.error_in_exec
