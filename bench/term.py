"""A term's worth of submissions as a class might send them, drawn from the known answers.

Of a hundred, by the SHARES below: right and wrong answers in words of their own; answers that are not done yet;
notebooks that another program saved or a download damaged, which are repaired; slow ones, which compute for a second
or two; a few that never end, and some that are not notebooks. The same seed gives the same bytes.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from bench.soak import BIN, PROJECT, write
from tests.mangling import ALONE, KEEPING, plain
from viva.engine.blueprint import Blueprint, read_blueprint
from viva_audit.answers import Answer, fill_in, read_answers
from viva_audit.demo import paraphrased

SHARES = {"right": 520, "wrong": 300, "not done": 60, "damaged": 100, "slow": 15, "endless": 1, "no notebook": 4}
"""Of a thousand submissions."""
UNFINISHED = ("untouched", "only_the_first_answers")
SLOW = "\nimport time as _clock\n_end = _clock.monotonic() + {seconds}\nwhile _clock.monotonic() < _end:\n    pass\n"
ENDLESS = "\nwhile True:\n    pass\n"
DUE = datetime(2026, 9, 14, 23, 59, tzinfo=UTC)


@dataclass(frozen=True)
class Assignment:
    """What submissions of one assignment are made from."""

    root: Path
    name: str

    @cached_property
    def source(self) -> Path:
        (source,) = (self.root / "source" / self.name).glob("*.ipynb")
        return source

    @cached_property
    def blueprint(self) -> Blueprint:
        return read_blueprint(self.source)

    @cached_property
    def release(self) -> nbformat.NotebookNode:
        return nbformat.read(self.root / "release" / self.name / self.source.name, as_version=4)

    @cached_property
    def answers(self) -> list[Answer]:
        return read_answers(PROJECT / "answers" / self.name)


def found(root: Path, assignments: list[str]) -> list[Assignment]:
    """A released course, whose assignments are due two weeks after each other."""
    root.mkdir(parents=True)
    for name in assignments:
        shutil.copytree(PROJECT / "source" / name, root / "source" / name)
    shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    done = subprocess.run(
        [BIN / "viva", "release", "--no-audit"], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"viva release failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "viva") as gradebook:
        for week, name in enumerate(assignments):
            due = DUE + timedelta(weeks=2 * week)
            gradebook.update_or_create_assignment(name, duedate=due.replace(tzinfo=None))
    return [Assignment(root, name) for name in assignments]


def hand_in(assignments: list[Assignment], numbers: range, seed: int) -> Iterator[str]:
    """Write the submissions of these numbers, the assignments in turn; of which of the SHARES each of them is."""
    warnings.filterwarnings("ignore", module="nbformat")  # of the cells without ids that are wanted here
    for number in numbers:
        week, student = number % len(assignments), f"student-{number // len(assignments):06}"
        yield _hand_in(assignments[week], student, DUE + timedelta(weeks=2 * week), random.Random(f"{seed} {number}"))


def _hand_in(assignment: Assignment, student: str, due: datetime, dice: random.Random) -> str:
    folder = assignment.root / "submitted" / student / assignment.name
    folder.mkdir(parents=True)
    when = due + timedelta(hours=dice.uniform(0, 60) if dice.random() < 0.1 else -dice.uniform(0, 120))
    (folder / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S.%f} UTC\n", encoding="utf-8")
    (share,) = dice.choices(list(SHARES), list(SHARES.values()))
    data = b"%PDF-1.7\n%%EOF\n" if share == "no notebook" else _notebook(assignment, student, share, dice)
    (folder / assignment.source.name).write_bytes(data)
    return share


def _notebook(assignment: Assignment, student: str, share: str, dice: random.Random) -> bytes:
    wrong = [answer for answer in assignment.answers if not answer.right]
    unfinished = [answer for answer in wrong if answer.name in UNFINISHED]
    pools = {"wrong": wrong, "not done": unfinished, "damaged": assignment.answers}
    right = [answer for answer in assignment.answers if answer.right]
    answer = dice.choice(pools.get(share) or right or assignment.answers)
    notebook = fill_in(answer, assignment.release, assignment.blueprint)
    _reword(notebook, assignment, student)
    solutions = assignment.blueprint.solutions()
    if share in ("slow", "endless"):
        cell = dice.choice([cell for cell in notebook.cells if cell.cell_type == "code" and cell.id in solutions])
        cell.source += SLOW.format(seconds=round(dice.uniform(0.5, 2.5), 2)) if share == "slow" else ENDLESS
    if share != "damaged":
        return nbformat.writes(notebook).encode()
    notebook = plain(notebook)
    for way in dice.sample([way for way in KEEPING if way not in ALONE], dice.randrange(1, 3)):
        KEEPING[way](notebook, dice)
    return write(notebook, dice)[0]


def _reword(notebook: nbformat.NotebookNode, assignment: Assignment, student: str) -> None:
    """Say the same in words of the student's own, as viva_audit/demo.py does."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    taken, numpy = frozenset(re.findall(r"[^\W\d]\w*", code)), "import numpy as np" in code
    released = {cell.id: cell.source for cell in assignment.release.cells}
    for cell in notebook.cells:
        answers = cell.cell_type == "code" and cell.id in assignment.blueprint.solutions()
        if answers and cell.source != released[cell.id]:
            cell.source = paraphrased(cell.source, f"{student} {assignment.name} {cell.id}", taken, numpy)
        cell.source = cell.source.replace('NAME = ""', f'NAME = "{student}"')
