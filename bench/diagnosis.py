"""What `viva diagnose` costs beside `viva grade`, and how many comments a grader writes with and without its groups.

    python -m bench.diagnosis                                200 submissions of ps3
    python -m bench.diagnosis ps8_first_gradient --submissions=60

The class submits the known right and wrong answers in turn. Processor time is that of a whole command with all its
processes, start-up included. The known mistakes are tried once for an assignment, and not for each class.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
from pathlib import Path

from bench.courses import BIN, PROJECT, make_course, run
from tests.conftest import load
from viva.course.gradebook.results import Results
from viva_diagnosis import diagnoses
from viva_diagnosis.diagnosing import lost_in


def spent(command: list, root: Path) -> float:
    """The seconds of processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command, root)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def costs(root: Path, assignment: str, options: list[str]) -> dict[str, float]:
    """Seconds of processor time by what they are spent on; the ``options`` are those of `viva diagnose`."""
    diagnose, course = [BIN / "viva", "diagnose", assignment, *options], load(root)[0]
    grading = spent([BIN / "viva", "grade", assignment], root)
    everything = spent(diagnose, root)
    diagnoses.path_of(course, assignment).unlink()  # the known mistakes stay, of the submissions nothing does
    class_only = spent(diagnose, root)
    nothing_new = spent(diagnose, root)
    return {
        "grading": grading,
        "known mistakes": everything - class_only,
        "submissions": class_only - nothing_new,
        "start": nothing_new,
    }


def comments(root: Path, assignment: str) -> tuple[int, int, int]:
    """The submissions that lost points by wrong results; the groups that the pages show; and those in no group."""
    course = load(root)[0]
    records = [record for record in Results.of(course.directory).each() if record.assignment == assignment]
    wrong = {record.student for record in records if any(lost_in(record, name)[0] for name in record.notebooks)}
    entries = diagnoses.read(diagnoses.path_of(course, assignment)).entries
    named: dict[tuple, set[str]] = {}
    for entry in entries:
        for finding in entry.findings:
            named.setdefault((entry.notebook, *finding.names, *finding.mistakes), set()).add(entry.student)
    groups = [*named.values(), *({*students} for *_, students in diagnoses.alike(entries))]
    return len(wrong), len(groups), len(wrong - set().union(*groups))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", default="ps3_scaled_attention")
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--no-mutants", action="store_true", help="only the mistakes in answers/")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="viva-bench-") as folder:
        root = make_course(Path(folder, "course"), options.assignment, options.submissions)
        shutil.copytree(PROJECT / "answers" / options.assignment, root / "answers" / options.assignment)
        seconds = costs(root, options.assignment, ["--no-mutants"] if options.no_mutants else [])
        wrong, groups, alone = comments(root, options.assignment)
    print(f"{options.submissions} submissions of {options.assignment}, {wrong} with wrong results.")
    for what, amount in seconds.items():
        print(f"  {what}: {amount:.1f} s of processor time, {amount / seconds['grading']:.0%} of grading")
    print(f"  comments: {wrong} without groups, {groups + alone} with them ({groups} groups, {alone} answers alone)")


if __name__ == "__main__":
    main()
