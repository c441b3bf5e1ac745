"""What `viva feedback` with nothing to do costs beside writing every page.

A few answers of an assignment are graded, and recorded again under other students' names (``bench.filled``). The
numbers are seconds on a processor, start-up included, of all processes of the command.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench.courses import BIN, make_course, run
from bench.diagnosis import spent
from bench.filled import fill

ANSWERS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="ps3_scaled_attention")
    parser.add_argument("--submissions", type=int, default=500)
    parser.add_argument("--answers", type=int, default=ANSWERS, help="how many different submissions are graded")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="viva-bench-") as name:
        root = Path(name, "large")
        small = make_course(Path(name, "small"), options.assignment, options.answers)
        run([BIN / "viva", "grade"], small)
        list(fill(small, root, options.submissions))
        costs = [spent([BIN / "viva", "feedback"], root) for _ in range(2)]
        pages = len(list(root.glob("feedback/*/*/*.html")))
    print("| pages | all written, s | nothing to do, s | share |", "|---|---|---|---|", sep="\n")
    print(f"| {pages} | {costs[0]:.1f} | {costs[1]:.1f} | {costs[1] / costs[0]:.3f} |")


if __name__ == "__main__":
    main()
