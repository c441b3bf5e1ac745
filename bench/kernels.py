"""A class that submits notebooks in R: stock `nbgrader autograde` and `viva grade` with two workers, in one run.

    python -m bench.kernels                    20 submissions of the example in R
    python -m bench.kernels --submissions=4

Whole commands are timed, the rehearsal of the solution included. R's kernel must be installed, and nbviva-r beside
Viva.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.courses import BIN, PROJECT, STOCK, make_course
from bench.start import timed
from viva.course.examining import rehearsals

ASSIGNMENT = "r1_samples"
EXAMPLE = PROJECT / "examples" / "r"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1, help="in turns, of which the best counts")
    options = parser.parse_args()
    for line in table(options.submissions, options.rounds):
        print(line, flush=True)


def table(submissions: int, rounds: int) -> Iterator[str]:
    """Rows: what each takes, and what part of stock's time that is."""
    with tempfile.TemporaryDirectory(prefix="viva-bench-") as folder:
        stock = make_course(Path(folder, "stock"), ASSIGNMENT, submissions, STOCK, origin=EXAMPLE)
        ours = make_course(Path(folder, "viva"), ASSIGNMENT, submissions, origin=EXAMPLE)
        kept = ours / rehearsals.NAME
        autograde = [BIN / "nbgrader", "autograde", ASSIGNMENT, "--force"]
        grade = [BIN / "viva", "grade", "--force", "--workers=2"]
        ways = {
            "stock `nbgrader autograde`": (stock, autograde, lambda: None),
            "`viva grade --workers=2`": (ours, grade, lambda: shutil.rmtree(kept, ignore_errors=True)),
        }
        best: dict[str, tuple[float, float]] = {}
        for _ in range(rounds):
            for name, way in ways.items():
                best[name] = tuple(map(min, best.get(name, (1e9, 1e9)), timed(way)))
        base = next(iter(best.values()))
        yield f"| {submissions} submissions in R | seconds | of processors | part of stock's | of its processors' |"
        yield "|---|---|---|---|---|"
        for name, took in best.items():
            parts = " | ".join(f"{mine / its:.2f}" for mine, its in zip(took, base, strict=True))
            yield f"| {name} | {took[0]:.1f} | {took[1]:.1f} | {parts} |"


if __name__ == "__main__":
    main()
