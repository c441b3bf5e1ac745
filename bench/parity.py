"""Whether Viva and stock nbgrader give the same scores, grade cell by grade cell.

    make parity                            every known answer of every assignment
    make parity A=ps3_scaled_attention     of one

Stock nbgrader, without our configuration, gives a test cell all its points or none; Viva adds up its checks.
The two agree on a cell when all its checks passed exactly if nbgrader gave it full marks.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbgrader.api import Gradebook
from rich.console import Console
from rich.table import Table

from bench.courses import BIN, PROJECT, STOCK, make_course, run


def scores(course: Path, assignment: str) -> dict[tuple[str, str], float]:
    """The automatic score of every test cell, by student and cell."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            (submission.student_id, grade.name): grade.auto_score
            for submission in gradebook.assignment_submissions(assignment)
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.cell.cell_type == "code"
        }


def maxima(course: Path, assignment: str) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            cell.name: cell.max_score
            for notebook in gradebook.find_assignment(assignment).notebooks
            for cell in notebook.grade_cells
        }


def compare(assignment: str, folder: Path, most: int | None = None) -> tuple[str, int, int, list[str]]:
    """The assignment, its submissions, the cells compared, and a line for each on which the two disagree.

    ``most`` is how many of the known answers are graded, all where it is None.
    """
    count = len(list((PROJECT / "answers" / assignment).glob("*/*.py")))
    count = min(count, most or count)
    stock = make_course(folder / f"stock-{assignment}", assignment, count, STOCK)
    viva = make_course(folder / f"viva-{assignment}", assignment, count)
    run([BIN / "nbgrader", "autograde", assignment], stock)
    run([BIN / "viva", "grade", assignment], viva)
    ours, theirs, full = scores(viva, assignment), scores(stock, assignment), maxima(viva, assignment)
    assert ours.keys() == theirs.keys()
    differences = [
        f"{assignment}, {student}, {cell}: Viva {ours[student, cell]}, nbgrader {theirs[student, cell]}"
        for student, cell in sorted(ours)
        if (ours[student, cell] == full[cell]) != (theirs[student, cell] == full[cell])
    ]
    return assignment, count, len(ours), differences


def main(names: list[str], most: int | None = None) -> int:
    """Print a table, also of those that could be compared where others could not; the exit status."""
    assignments = names or sorted(path.parent.name for path in (PROJECT / "answers").glob("*/wrong"))
    table, differences = Table("assignment", "submissions", "cells compared", "cells that differ"), []
    with tempfile.TemporaryDirectory(prefix="viva-parity-") as folder, ThreadPoolExecutor(2) as pool:
        jobs = {name: pool.submit(compare, name, Path(folder), most) for name in assignments}
        for assignment, job in jobs.items():
            try:
                _, count, cells, found = job.result()
            except (Exception, SystemExit) as error:  # whatever stopped one: the others are worth their time
                differences.append(f"{assignment} could not be compared: {error or type(error).__name__}")
                continue
            table.add_row(assignment, str(count), str(cells), str(len(found)))
            differences += found
    console = Console()
    console.print(table)
    for line in differences:
        console.print(line, highlight=False)
    return 1 if differences else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignments", nargs="*")
    parser.add_argument("--submissions", type=int, help="so many of the known answers of each")
    options = parser.parse_args()
    sys.exit(main(options.assignments, options.submissions))
