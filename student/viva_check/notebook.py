"""The check inside a notebook: ``%load_ext viva`` and ``%viva_check``, ``viva.check()``, or the button in JupyterLab.

It checks the saved file, in a process of its own, as `viva check` in a terminal does: what was run in this kernel
before, in whatever order, does not count in grading either.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape, unescape
from pathlib import Path
from typing import Any

from viva.language import ENGLISH, Language, named
from viva.verdict import NOT_DONE, CourseError, Verdict, VivaError

CHECKING = "VIVA_CHECKING"
"""A variable that is set where a notebook is being checked: a check in it starts no other."""
SECONDS = 3600
PANEL = "application/vnd.viva.check+json"
"""Under this type the button's panel (``share/jupyter/labextensions``) gets the results."""
CLOCKS_APART = 2.0
"""Seconds by which a file's time may differ between server and kernel; some disks count in steps of two."""
TITLE = re.compile(r"<title>([^<]{1,300})</title>")
MOST_OF_HEAD = 16_384
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
    language: Language = ENGLISH

    def _rows(self) -> Iterator[tuple[str, str, str, str, str, list[str]]]:
        for row in self.rows:
            points = f"{row['points']:g}" if row["points"] else ""
            yield row["heading"], row["state"], row["word"], points, row["title"], row["lines"]

    def __repr__(self) -> str:
        lines, heading = [*self.remarks], None
        for cell, _, word, points, title, lines_below in self._rows():
            if cell != heading:
                lines.append(heading := cell)
            lines.append(f"  {word:12} {points:>4}  {title}")
            lines += [f"{'':20}{line}" for line in lines_below]
        return "\n".join([*lines, *self.summary])

    def _repr_html_(self) -> str:
        side = "text-align:left;vertical-align:top;padding:2px 10px"
        rows = []
        for cell, state, word, points, title, lines in self._rows():
            shown = "<br>".join(escape(line) for line in lines)
            rows.append(
                f"<tr><td style='{side};color:{COLOURS.get(state, BAD)}'><b>{escape(word)}</b></td>"
                f"<td style='{side};text-align:right'>{points}</td><td style='{side}'>{escape(title)}"
                f"{f'<br><code>{shown}</code>' if shown else ''}</td>"
                f"<td style='{side}'><code>{escape(cell)}</code></td></tr>"
            )
        names = ["", *(self.language.text(f"check.column_{name}") for name in ("points", "check", "cell"))]
        heads = "".join(f"<th style='{side}'>{escape(name)}</th>" for name in names)
        remarks = _paragraphs(self.remarks)
        table = f"<table><tr>{heads}</tr>{''.join(rows)}</table>"
        return f"<div lang='{escape(self.language.html)}'>{remarks}{table}{_paragraphs(self.summary)}</div>"


def _paragraphs(sentences: list[str]) -> str:
    return "".join(f"<p style='margin:4px 10px'>{escape(sentence)}</p>" for sentence in sentences)


@dataclass(frozen=True)
class ForPanel:
    """What the button in JupyterLab is answered; JupyterLab reads it as JSON and shows every text as text."""

    document: dict

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        return {PANEL: self.document}


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
        say = report.language.text
        sentences = [say("check.saved", time=when), *([say("check.changed")] if newer else [])]
        report.summary.append(say("forms.between").join(sentences))
    return report


def check_for_panel(name: str, saved: float) -> ForPanel:
    """The results for the notebook that JupyterLab saved just now, or a sentence in their place.

    ``name`` is the file's name and ``saved`` the time, in seconds since 1970, at which the server saw it change.
    """
    try:
        path = _saved_file(Path(name).name, saved)
        report = _checked(path)
    except (VivaError, OSError) as error:
        return ForPanel({"sentence": str(error)})
    except subprocess.TimeoutExpired:
        return ForPanel({"sentence": _language_in(path).text("check.too_long", SECONDS // 60)})
    document = {"checks": report.checks, "remarks": report.remarks, "summary": report.summary}
    return ForPanel(document | {"feedback": last_feedback(path)})


def last_feedback(notebook: Path) -> dict[str, str] | None:
    """The newest page that `nbgrader fetch_feedback` put beside a notebook: its path from there, and its title.

    The title of Viva's pages has the score; a student's folder holds no other one, and no deadline.
    """
    pages = sorted(notebook.parent.glob(f"feedback/*/{glob.escape(notebook.stem)}.html"))  # folders are named by time
    if not pages:
        return None
    with contextlib.suppress(OSError), pages[-1].open("rb") as file:
        title = TITLE.search(file.read(MOST_OF_HEAD).decode("utf-8", "replace"))
        words = " ".join(unescape(title[1]).split()) if title else ""
        return {"path": pages[-1].relative_to(notebook.parent).as_posix(), "title": words or notebook.stem}
    return None


def _saved_file(name: str, saved: float) -> Path:
    """The file of that name that was saved at that time. Raises VivaError where this kernel sees none."""
    session = os.environ.get("JPY_SESSION_NAME")
    folders = [Path(session).parent] if session else []
    for folder in [*folders, Path.cwd()]:
        with contextlib.suppress(OSError):
            if abs((folder / name).stat().st_mtime - saved) <= CLOCKS_APART:
                return folder / name
    raise VivaError(
        f"The saved file {name} is not in the folder of the kernel, {Path.cwd()}. Restart the kernel, then press Check."
    )


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
    remarks, summary = document["remarks"], list(document["summary"])
    return Report(path.name, checks, remarks, summary, document["rows"], named(document["language"]))


def _language_in(path: Path) -> Language:
    """The language that a notebook names."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, CourseError):
        return named(str(json.loads(path.read_text(encoding="utf-8"))["metadata"]["viva"]["check"]["language"]))
    return ENGLISH


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
        raise VivaError("Viva could not read the notebook in Colab. Download it, then run: !viva check NOTEBOOK")
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
