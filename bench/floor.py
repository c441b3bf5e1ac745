"""The floor: the same cells bare, by exec in forks of a process with the libraries loaded, on as many cores.

No notebook, no sandbox, no examiner, no gradebook, no outputs. There are two: one leaves a test cell at its first
failure, as a kernel does, the other goes on with the next check, as Viva does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat

PROJECT = Path(__file__).resolve().parents[1]


def measure_floor(root: Path, assignment: str, count: int, cores: int, each_check: bool = False) -> tuple[float, float]:
    """Seconds a submission of a course takes, start-up left out, and its processor time."""
    command = [sys.executable, "-m", "bench.floor", str(root), assignment, str(count), str(cores), str(int(each_check))]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    answer = subprocess.run(command, env=environment, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    seconds, spent = map(float, answer.stdout.split()[-2:])
    return seconds, spent


def main(root: str, assignment: str, count: str, cores: str, each_check: str) -> None:
    """The process that measure_floor starts."""
    from viva.engine import libraries
    from viva.engine.blueprint import read_blueprint
    from viva.engine.dialogue.shell import make_shell

    paths = sorted(Path(root, "submitted").glob("*/*/*.ipynb"))[: int(count)]
    for name in libraries.wanted(Path(root, "release", assignment).glob("*.ipynb"), paths):
        libraries.load(name)
    space = make_shell().user_ns
    (source,) = Path(root, "source", assignment).glob("*.ipynb")
    tests = {}
    for cell in read_blueprint(source).cells:
        if cell.checks:
            parts = [cell.prelude, *(check.source for check in cell.checks)]
            tests[cell.id] = parts if int(each_check) else [cell.source]
    notebooks = [_cells(path, tests) for path in paths]
    start, before = time.monotonic(), os.times()
    running = 0
    for cells in notebooks:
        if running == int(cores):
            os.wait()
            running -= 1
        if os.fork() == 0:
            _run(cells, space)
        running += 1
    for _ in range(running):
        os.wait()
    after = os.times()
    spent = sum(after[:4]) - sum(before[:4])
    print((time.monotonic() - start) / len(notebooks), spent / len(notebooks))


def _cells(path: Path, tests: dict[str, list[str]]) -> list[list[str]]:
    """What of each code cell of a notebook is run, piece by piece."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return [tests.get(cell.metadata.get("nbgrader", {}).get("grade_id"), [cell.source]) for cell in cells]


def _run(cells: list[list[str]], space: dict) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    for parts in cells:
        for number, part in enumerate(parts):
            try:
                exec(compile(part, "cell", "exec"), space)
            except Exception:
                if number == 0:  # what the checks share
                    break
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
