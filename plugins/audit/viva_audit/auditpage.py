"""The audit's page: one self-contained HTML file for each notebook, and the record that it passed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from viva import ENGINE
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.pages.page import environment
from viva_audit.auditresult import STATES, Audit, gap_in_words, kind_in_words
from viva_audit.fieldmistakes import path_of

AUDIT = 15
"""Raised when an audit proves more than before, so that what was proven before is proven again."""
CASES = (
    ("untouched", "the untouched notebook fails every check"),
    ("solution", "the solution fails no check"),
    ("again", "the solution has the same results when it runs again"),
    ("right", "right answers fail no check"),
    ("wrong", "wrong answers fail exactly the listed checks"),
)
OTHERS = (
    ("unproven", "Mutants that could not be compared"),
    ("excused", "Excused mutants"),
    ("equal", "Mutants equal to the solution"),
)


def page(audit: Audit) -> str:
    """The page of one audit."""
    filters: dict[str, Callable] = {"in_words": kind_in_words, "in_a_sentence": gap_in_words}
    return (
        environment(filters, "viva_audit")
        .get_template("audit.html")
        .render(audit=audit, cases=CASES, others=OTHERS, states=STATES)
    )


def ground(course: Course, assignment: str) -> str:
    """A hash of all that an audit depends on: source, answers, header, configuration, engine."""
    digest = hashlib.sha256(f"{ENGINE} {AUDIT} {np.__version__}".encode())
    folders = (course.path("source", assignment), course.root / "answers" / assignment)
    files = [*(path for folder in folders for path in folder.rglob("*") if ".ipynb_checkpoints" not in path.parts)]
    files += [*course.path("source", ".").glob("*.ipynb"), course.root / "nbgrader_config.py", path_of(course.root)]
    for path in sorted(path for path in files if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(course.root)} {len(content)} ".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()[:32]


def record(course: Course, assignment: str) -> dict:
    """What the last audit of an assignment came to; empty when there was none."""
    path = course.root / "report" / "audit" / f"{assignment}.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def save(course: Course, audits: list[Audit], key: str) -> list[Path]:
    """Write the pages of an assignment's audits, and the record of what they came to; the pages' paths."""
    folder = course.root / "report" / "audit"
    pages = []
    for audit in audits:
        name = audit.assignment if len(audits) == 1 else f"{audit.assignment}-{audit.notebook}"
        pages.append(folder / f"{name}.html")
        leftovers.write(pages[-1], page(audit))
    result = {"key": key, "failed": any(audit.failed for audit in audits), "audits": [one.record() for one in audits]}
    leftovers.write(folder / f"{audits[0].assignment}.json", json.dumps(result, indent=1))
    return pages


def proven(course: Course, assignment: str) -> bool:
    """Whether the assignment was audited as it is now, and no error was found."""
    last = record(course, assignment)
    return last.get("failed") is False and last.get("key") == ground(course, assignment)


def single_process(course: Course, assignment: str) -> list[str]:
    """What the last audit said of the single-process cells."""
    audits = record(course, assignment).get("audits", [])
    return [sentence for audit in audits for sentence in audit.get("single_process", [])]
