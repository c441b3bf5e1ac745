"""The check inside a notebook: ``%load_ext viva`` and ``%viva_check``, or ``viva.check()``.

It checks the saved file, in a process of its own, as `viva check` in a terminal does: what was run in this kernel
before, in whatever order, does not count in grading either.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from viva.verdict import NOT_DONE, Verdict, VivaError

CHECKING = "VIVA_CHECKING"
"""A variable that is set where a notebook is being checked: a check in it starts no other."""
SECONDS = 3600
COLOURS = {Verdict.PASSED: "#1a7f37", Verdict.PARTLY: "#9a6700", NOT_DONE: "#9a6700"}
BAD = "#cf222e"


@dataclass(frozen=True)
class Report:
    """The result of each check; its ``rows`` are shown as a table by whatever shows notebooks."""

    name: str
    checks: list[dict]
    remarks: list[str]
    summary: list[str]
    rows: list[dict]

    def _rows(self) -> Iterator[tuple[str, str, str, str, list[str]]]:
        for row in self.rows:
            points = f"{row['points']:g}" if row["points"] else ""
            yield row["heading"], row["state"], points, row["title"], row["lines"]

    def __repr__(self) -> str:
        lines, heading = [f"{self.name}: {sentence}." for sentence in self.remarks], None
        for cell, state, points, title, lines_below in self._rows():
            if cell != heading:
                lines.append(heading := cell)
            lines.append(f"  {state:12} {points:>4}  {title}")
            lines += [f"{'':20}{line}" for line in lines_below]
        return "\n".join([*lines, *self.summary])

    def _repr_html_(self) -> str:
        side = "text-align:left;vertical-align:top;padding:2px 10px"
        rows = []
        for cell, state, points, title, lines in self._rows():
            shown = "<br>".join(escape(line) for line in lines)
            rows.append(
                f"<tr><td style='{side};color:{COLOURS.get(state, BAD)}'><b>{escape(state)}</b></td>"
                f"<td style='{side};text-align:right'>{points}</td><td style='{side}'>{escape(title)}"
                f"{f'<br><code>{shown}</code>' if shown else ''}</td>"
                f"<td style='{side}'><code>{escape(cell)}</code></td></tr>"
            )
        heads = "".join(f"<th style='{side}'>{name}</th>" for name in ("", "points", "check", "cell"))
        remarks = _paragraphs([f"{self.name}: {sentence}." for sentence in self.remarks])
        return f"<div>{remarks}<table><tr>{heads}</tr>{''.join(rows)}</table>{_paragraphs(self.summary)}</div>"


def _paragraphs(sentences: list[str]) -> str:
    return "".join(f"<p style='margin:4px 10px'>{escape(sentence)}</p>" for sentence in sentences)


def check(notebook: str = "") -> Report | None:
    """Check a saved notebook, by default the one that this is called in; None where a notebook is being graded.

    Raises VivaError with a sentence where it cannot be found or checked.
    """
    shell = _shell()
    if CHECKING in os.environ or shell is None or not hasattr(shell, "kernel"):
        print("The check does not run while a notebook is graded or checked.")
        return None
    with contextlib.ExitStack() as stack:
        path, saved = _found(notebook, shell, stack)
        report = _checked(path)
    if saved:
        when = datetime.fromtimestamp(path.stat().st_mtime).strftime("%H:%M:%S")
        newer = _is_changed(path, shell)
        report.summary.append(
            f"Checked as it was saved at {when}."
            + (" It was changed since; save it, then check again." if newer else "")
        )
    return report


def _checked(path: Path) -> Report:
    command = [sys.executable, "-P", "-m", "viva", "check", str(path), "--json"]
    environment = os.environ | {CHECKING: "1", "NO_COLOR": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False, env=environment, timeout=SECONDS
    )
    try:
        document = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines()
        raise VivaError(lines[-1] if lines else f"The check of {path.name} stopped without a message.") from None
    checks = [result for result in document["checks"] if result["counts"]]
    return Report(path.name, checks, document["repairs"], list(document["summary"]), document["rows"])


def _found(notebook: str, shell: Any, stack: contextlib.ExitStack) -> tuple[Path, bool]:
    """The notebook's file, and whether it is one that somebody has to save. Raises VivaError."""
    if notebook:
        return Path(notebook).expanduser(), True
    if "google.colab" in sys.modules:
        return _of_colab(stack), False
    paths = [shell.user_ns.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")]
    for name in filter(None, paths):
        if Path(name).suffix == ".ipynb" and Path(name).is_file():
            return Path(name), True
    notebooks = sorted(Path().glob("*.ipynb"))
    if len(notebooks) == 1:
        return notebooks[0], True
    raise VivaError("The name of this notebook is unknown. Name it, as in: %viva_check scaled_attention.ipynb")


def _of_colab(stack: contextlib.ExitStack) -> Path:
    """A file with a copy of Colab's notebook, which exists only in the browser."""
    from google.colab import _message  # type: ignore[import-not-found]

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="viva-colab-")))
    answer = _message.blocking_request("get_ipynb", timeout_sec=60)
    if not answer or "ipynb" not in answer:
        raise VivaError("Colab did not give Viva the notebook. Download it, then run: !viva check NOTEBOOK")
    path = folder / "notebook.ipynb"
    path.write_text(json.dumps(answer["ipynb"]), encoding="utf-8")
    return path


def _is_changed(path: Path, shell: Any) -> bool:
    """Whether the file lacks the cell that calls the check: then the notebook in the browser is newer."""
    asking = (shell.history_manager.input_hist_raw or [""])[-1].strip()  # ``In`` has magics rewritten
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return bool(asking) and all("".join(cell["source"]).strip() != asking for cell in cells)
    return False


def _shell() -> Any:
    from IPython import get_ipython

    return get_ipython()


def load(shell: Any) -> None:
    """Define ``%viva_check``."""

    def viva_check(line: str = "") -> None:
        from IPython.display import display

        try:
            if (report := check(line.strip().strip("\"'"))) is not None:
                display(report)
        except VivaError as error:
            print(error)

    shell.register_magic_function(viva_check, "line", "viva_check")
