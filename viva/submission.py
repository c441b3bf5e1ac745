"""What a student handed in: whether it can be graded, and if not, why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from dateutil.parser import ParserError, parse

from viva.course import Submission

SHOWN = 5
"""So many names of stray files are listed in a sentence."""


@dataclass(frozen=True)
class Finding:
    """What was found in a submission: ``problem`` says why it cannot be graded, ``notes`` the rest."""

    problem: str = ""
    notes: tuple[str, ...] = ()


def inspect(submission: Submission, notebooks: set[str]) -> Finding:
    """Look for the assignment's ``notebooks`` (names without ending) in a submission."""
    folder = submission.folder
    if problem := _timestamp_problem(folder / "timestamp.txt"):
        return Finding(problem)
    expected = {f"{name}.ipynb" for name in notebooks}
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    found = sorted(expected.intersection(files))
    if not found:
        others = [name for name in files if name != "timestamp.txt"]
        return Finding(f"no {' or '.join(sorted(expected))} was handed in (found: {_shortened(others)})")
    notes = [f"{name} was not handed in" for name in sorted(expected.difference(files))]
    strays = [name for name in files if name.endswith(".ipynb") and name not in expected]
    if strays:
        notes.append(f"also handed in, not graded: {_shortened(strays)}")
    for name in found:
        problem, note = _inspect_notebook(folder / name)
        if problem:
            return Finding(f"{name} {problem}", tuple(notes))
        notes += [f"{name} {note}"] if note else []
    return Finding("", tuple(notes))


def _inspect_notebook(path: Path) -> tuple[str, str]:
    """What makes the notebook ungradable, and what is worth a note."""
    if path.is_symlink():
        return "is a link, not a file", ""
    try:
        content = json.loads(path.read_bytes())
    except UnicodeDecodeError:
        return "is not a text file", ""
    except json.JSONDecodeError as error:
        return f"is not a notebook: no JSON from line {error.lineno}, column {error.colno} on ({error.msg})", ""
    except RecursionError:
        return "is not a notebook: its JSON is nested too deeply", ""
    version = content.get("nbformat") if isinstance(content, dict) else None
    if version == 3 and isinstance(content.get("worksheets"), list):
        return "", "is of notebook format 3 and was upgraded"
    if version != 4 or not isinstance(content.get("cells"), list):
        return "is not a notebook: it is JSON, but has no cells of notebook format 4", ""
    return "", ""


def _timestamp_problem(path: Path) -> str:
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    try:
        if text:
            parse(text)
    except (ParserError, OverflowError):
        return f"timestamp.txt does not hold a date but '{text[:40]}'; correct or delete {path}"
    return ""


def _shortened(names: list[str]) -> str:
    if not names:
        return "nothing"
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
