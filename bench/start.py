"""How soon one submission is graded, and how soon a run with nothing to do ends: stock nbgrader and Viva, in one run.

    python -m bench.start                    one submission of ps3
    python -m bench.start --assignment=ps1_general_attention

Each command is timed as a whole process, in turns, and the best of some rounds counts: seconds of the clock, and of the
processors for the command and all that it started.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.courses import BIN, STOCK, make_course, run
from viva.course.examining import rehearsals

Way = tuple[Path, list, Callable[[], object]]
"""A course, a command in it, and what is done before it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="ps3_scaled_attention")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for line in table(options.assignment, options.rounds):
        print(line, flush=True)


def table(assignment: str, rounds: int) -> Iterator[str]:
    """Rows: what each takes, and how many times as fast as stock it is."""
    with tempfile.TemporaryDirectory(prefix="viva-bench-") as folder:
        stock = make_course(Path(folder, "stock"), assignment, 1, STOCK)
        ours = make_course(Path(folder, "viva"), assignment, 1)
        kept = ours / rehearsals.NAME
        again, grade = [BIN / "viva", "grade", "--force"], [BIN / "viva", "grade"]
        ways: dict[str, Way] = {
            "stock `nbgrader autograde`, one submission": (
                stock,
                [BIN / "nbgrader", "autograde", assignment, "--force"],
                lambda: None,
            ),
            "`viva grade`, the solution rehearsed anew": (
                ours,
                again,
                lambda: shutil.rmtree(kept, ignore_errors=True),
            ),
            "`viva grade`, one submission": (ours, again, lambda: None),
            "`viva grade`, nothing to do": (ours, grade, lambda: None),
        }
        best: dict[str, tuple[float, float]] = {}
        for _ in range(rounds):
            for name, way in ways.items():
                best[name] = tuple(map(min, best.get(name, (1e9, 1e9)), timed(way)))
    yield "| | seconds | of processors | times as fast as stock | by processors |"
    yield "|---|---|---|---|---|"
    first = next(iter(best.values()))
    for name, (wall, spent) in best.items():
        yield f"| {name} | {wall:.2f} | {spent:.2f} | {first[0] / wall:.1f} | {first[1] / spent:.1f} |"


def timed(way: Way) -> tuple[float, float]:
    """Seconds by the clock, and of processors."""
    root, command, before = way
    before()
    spent, start = _spent(), time.monotonic()
    run(command, root)
    return time.monotonic() - start, _spent() - spent


def _spent() -> float:
    about = resource.getrusage(resource.RUSAGE_CHILDREN)
    return about.ru_utime + about.ru_stime


if __name__ == "__main__":
    main()
