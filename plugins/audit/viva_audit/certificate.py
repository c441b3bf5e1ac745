"""The proof of a released assignment from its audit: one page to print, and JSON.

Students may read it after the deadline: it names what each check catches, and holds no solution and no hidden line. It
has no times and no paths, so another machine with the same versions writes the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

import nbformat

import viva
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.course.releasing import contract
from viva.engine.blueprint import read_notebook
from viva.notebook.programming import language_of
from viva.notebook.syntax import imports_of_text
from viva.pages.page import environment
from viva.verdict import CourseError
from viva_audit.answers import Answer, read_answers
from viva_audit.auditpage import AUDIT
from viva_audit.auditresult import STATES, Audit, CheckScore
from viva_audit.checkname import CheckName

ALWAYS = ("nbgrader", "nbformat", "ipython", "numpy")
"""The packages that have a say in every verdict."""


def write_certificate(course: Course, audit: Audit) -> list[Path]:
    """Write the page and the JSON of one notebook's audit into report/audit/; their paths.

    Raises CourseError for an assignment that did not pass its audit, or that was not released.
    """
    document = certificate(course, audit)
    base = course.root / "report" / "audit" / f"{audit.assignment}-{audit.notebook}.certificate"
    pages = {
        ".html": environment({}, "viva_audit").get_template("certificate.html").render(document),
        ".json": json.dumps(document, indent=1, ensure_ascii=False) + "\n",
    }
    paths = []
    for suffix, text in pages.items():
        paths.append(base.with_name(base.name + suffix))
        leftovers.write(paths[-1], text)
    return paths


def certificate(course: Course, audit: Audit) -> dict[str, Any]:
    """What is proven of a released notebook, as plain data. Raises CourseError as ``write_certificate`` does."""
    name = audit.assignment
    released = course.path("release", name) / f"{audit.notebook}.ipynb"
    if not audit.passed:
        raise CourseError(f"{name} has no certificate: its audit {audit.outcome}. Correct what 'viva audit' names.")
    if not released.is_file():
        raise CourseError(f"{name} has no certificate: it is not released. Run: viva release {name}")
    if contract.released_when(course, name)[1]:
        raise CourseError(
            f"{name} has no certificate: its source was changed since the release. Run: viva release {name}"
        )
    source = course.path("source", name) / f"{audit.notebook}.ipynb"
    language = language_of(read_notebook(source).metadata)
    known = read_answers(course.root / "answers" / name, language)
    answers = {answer.name: answer for answer in known if not answer.right}
    proofs = [proof for proof in audit.proofs if proof.case == "wrong"]
    catches: dict[CheckName, list[str]] = {score.check: [] for score in audit.scores}
    for proof in proofs:
        for check in proof.lost:
            catches[check].append(proof.name)
    return {
        "assignment": name,
        "notebook": audit.notebook,
        "points": audit.points,
        "right": sum(proof.case == "right" for proof in audit.proofs),
        "wrong": {proof.name: _summary(answers, proof.name) for proof in proofs},
        "mutants": {state: audit.count(state) for state in STATES},
        "checks": [_check(score, catches[score.check]) for score in audit.scores],
        "hidden_only": {
            "wrong": {proof.name: proof.reason for proof in proofs if proof.unwarned},
            "mutants": sum(fate.surprise for fate in audit.fates),
        },
        "twice": costs_twice(audit, answers),
        "single_process": audit.single_process,
        "sandbox": audit.sandboxed,
        "versions": versions(source),
        "sha256": {
            "source": _digest([source]),
            "release": _digest([released]),
            "known answers": _digest(sorted(answer.path for answer in known)),
        },
    }


def costs_twice(audit: Audit, answers: dict[str, Answer]) -> dict[str, list[str]]:
    """By wrong answer with a mistake in one exercise, the checks of other exercises that it loses as well.

    A check belongs to the last of the answers without which it fails; those above are what that one uses.
    """
    order = {cell: number for number, cell in enumerate(audit.solutions)}
    owner = {
        score.check: max(score.answers, key=lambda cell: order.get(cell, -1)) for score in audit.scores if score.answers
    }
    lost_elsewhere = {}
    for proof in audit.proofs:
        answer = answers.get(proof.name)
        if proof.case != "wrong" or answer is None:
            continue
        changed = [cell for cell, section in answer.sections.items() if section.type != "solution"]
        if len(changed) != 1 or "*" not in answer.sections:  # several mistakes, or answers that are missing
            continue
        elsewhere = [str(check) for check in proof.lost if owner.get(check, changed[0]) != changed[0]]
        if elsewhere:
            lost_elsewhere[proof.name] = elsewhere
    return lost_elsewhere


def versions(source: Path) -> dict[str, str]:
    """The versions that have a say in the verdicts: Viva's, Python's, and those of what the notebook imports."""
    cells = nbformat.read(source, as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    modules = {one.library for source in code for one in imports_of_text(source) if one.library}
    distributions = packages_distributions()
    packages = {*ALWAYS, *(package for name in modules for package in distributions.get(name, ()))}
    table = {
        "viva": f"{viva.__version__} (engine {viva.ENGINE}, audit {AUDIT})",
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    for package in sorted(packages, key=str.casefold):
        try:
            table[package.casefold()] = version(package)
        except PackageNotFoundError:
            continue
    return table


def _check(score: CheckScore, catches: list[str]) -> dict[str, Any]:
    return {
        "cell": score.check.cell,
        "title": score.check.title,
        "points": score.points,
        "hidden": score.hidden,
        "catches": catches,
        "mutants": {"noticed": score.kills, "alone": score.alone, "of": score.mutants},
    }


def _summary(answers: dict[str, Answer], name: str) -> str:
    """The first sentence about a mistake, as its author wrote it."""
    return " ".join(answers[name].summary.partition("\n\n")[0].split()) if name in answers else ""


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
