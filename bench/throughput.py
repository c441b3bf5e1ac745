"""Submissions per minute: stock `nbgrader autograde`, `viva grade`, and the floor, side by side in one run.

    make bench            60 submissions of ps3
    make bench N=200      more of them

Whole processes are timed, start-up included. The floor executes the same cells bare, by exec in forks of a
process with the libraries loaded, on the same cores: no notebook, no wall, no examiner, no gradebook. What
was measured is printed and written to bench/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import psutil

from bench.watch import PARENTS, role_of

PROJECT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
STOCK = """
c = get_config()
c.CourseDirectory.course_id = "viva"
c.KernelManager.transport_encryption = "auto"
"""
RESULTS = Path(__file__).with_name("RESULTS.md")
ACCOUNT = "\n## Before and after"
"""The heading of what is written by hand below the figures, which stays."""


def main() -> None:
    from bench import costs  # which the floor does without: what a process has loaded makes its forks slower

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--assignment", default="ps3_scaled_attention")
    parser.add_argument(
        "--stock", type=int, help="so many of them for nbgrader, which is slow; the rate is what counts"
    )
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="viva-bench-") as folder:
        stock_course = make_course(
            Path(folder, "stock"), options.assignment, options.stock or options.submissions, STOCK
        )
        viva_course = make_course(Path(folder, "viva"), options.assignment, options.submissions)
        few = max(1, options.submissions // 4)
        viva_few = make_course(Path(folder, "few"), options.assignment, few)
        floor, floor_spent = measure_floor(viva_course, options.assignment, options.submissions, cores)
        viva, memory, spent = measure([BIN / "viva", "grade", options.assignment, "--force"], viva_course)
        less, memory_less, spent_less = measure([BIN / "viva", "grade", options.assignment, "--force"], viva_few)
        stock, *_ = measure([BIN / "nbgrader", "autograde", options.assignment, "--force"], stock_course)
    further = (viva - less) / (options.submissions - few)
    stock_each, viva_each, floor_each = (
        stock / (options.stock or options.submissions),
        viva / options.submissions,
        floor,
    )
    rows = [
        ("stock `nbgrader autograde`", f"{60 / stock_each:.0f}", f"{stock_each:.3f}"),
        (f"`viva grade --force`, {cores} workers", f"{60 / viva_each:.0f}", f"{viva_each:.3f}"),
        ("each further submission", f"{60 / further:.0f}", f"{further:.3f}"),
        ("the floor", f"{60 / floor_each:.0f}", f"{floor_each:.3f}"),
    ]
    lines = [
        "# Throughput",
        "",
        f"`make bench N={options.submissions}` on {datetime.date.today()}: {options.submissions} submissions of "
        f"{options.assignment} on {cores} cores ({processor()}), Python {platform.python_version()}, "
        f"Linux {platform.release().split('-')[0]}.",
        "",
        "| | submissions a minute | seconds each |",
        "|---|---|---|",
        *(f"| {name} | {rate} | {each} |" for name, rate, each in rows),
        "",
        f"- {stock_each / viva_each:.1f} times stock nbgrader, start-up included"
        + (f"; nbgrader graded {options.stock} of them." if options.stock else "."),
        f"- Each further submission takes {further / floor_each:.2f} times the floor.",
        f"- Peak memory of all processes together (proportional set size): {memory / 2**20:.0f} MiB with "
        f"{options.submissions} submissions, {memory_less / 2**20:.0f} MiB with {few}.",
        f"- Processor time of each further submission: {shares(spent, spent_less, options.submissions - few)}; "
        f"of the floor {1000 * floor_spent:.0f} ms.",
        "",
        "What one right answer is made of, each part measured on its own:",
        "",
        *costs.table(options.assignment),
        "",
        f"The other notebooks, {few} submissions of each:",
        "",
        "| | stock, seconds each | Viva, seconds each | times stock |",
        "|---|---|---|---|",
        *others(options.assignment, few, max(1, (options.stock or options.submissions) // 4)),
    ]
    print("\n".join(lines))
    _, heading, account = RESULTS.read_text(encoding="utf-8").partition(ACCOUNT)
    RESULTS.write_text("\n".join(lines) + "\n" + heading + account, encoding="utf-8")


def others(measured: str, count: int, of_stock: int) -> Iterator[str]:
    """Rows of a table about the course's other assignments; nbgrader gets so many submissions ``of_stock``."""
    for assignment in sorted(path.name for path in (PROJECT / "release").iterdir() if path.name != measured):
        with tempfile.TemporaryDirectory(prefix="viva-bench-") as folder:
            stock_course = make_course(Path(folder, "stock"), assignment, of_stock, STOCK)
            viva_course = make_course(Path(folder, "viva"), assignment, count)
            stock, *_ = measure([BIN / "nbgrader", "autograde", assignment, "--force"], stock_course)
            viva, *_ = measure([BIN / "viva", "grade", assignment, "--force"], viva_course)
        each, ours = stock / of_stock, viva / count
        yield f"| {assignment} | {each:.3f} | {ours:.3f} | {each / ours:.1f} |"


def make_course(root: Path, assignment: str, count: int, config: str | None = None) -> Path:
    """A released course with ``count`` right and wrong submissions."""
    from viva.author.answers import fill_in, read_answers
    from viva.engine.blueprint import read_blueprint

    root.mkdir()
    shutil.copytree(PROJECT / "source" / assignment, root / "source" / assignment)
    shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    run([BIN / "viva", "release", assignment, "--no-audit"], root)
    if config:
        (root / "nbgrader_config.py").write_text(config)
    (source,) = (root / "source" / assignment).glob("*.ipynb")
    blueprint, release = (
        read_blueprint(source),
        nbformat.read(root / "release" / assignment / source.name, as_version=4),
    )
    answers = read_answers(PROJECT / "answers" / assignment)
    notebooks = [nbformat.writes(fill_in(answer, release, blueprint)) for answer in answers]
    for number in range(count):
        folder = root / "submitted" / f"bench-{number:04}" / assignment
        folder.mkdir(parents=True)
        (folder / source.name).write_text(notebooks[number % len(notebooks)])
    return root


def run(command: list, root: Path) -> None:
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        list(map(str, command)), cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{command} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def shares(more: dict[str, float], less: dict[str, float], count: int) -> str:
    """What each part spends on a submission, from the seconds of two runs, of which one had ``count`` more."""
    each = {role: 1000 * (seconds - less.get(role, 0.0)) / count for role, seconds in more.items()}
    return ", ".join(f"{role} {milliseconds:.0f} ms" for role, milliseconds in sorted(each.items()))


def measure(command: list, root: Path) -> tuple[float, int, dict[str, float]]:
    """Of a command: its seconds, the peak of the memory that all its processes have together in bytes, and the seconds
    of processor time by role; those of forks are their warm parent's."""
    peak, done = [0], threading.Event()
    spent: dict[tuple[str, int], float] = {}

    def watch() -> None:
        while not done.wait(0.5):
            total = 0
            writer = next((process.pid for process in psutil.Process().children()), 0)
            for process in psutil.Process().children(recursive=True):
                try:
                    total += process.memory_full_info().pss
                    times, role = process.cpu_times(), role_of(process, writer)
                    if role != "forks":
                        forks = times.children_user + times.children_system if role in PARENTS.values() else 0.0
                        spent[role, process.pid] = times.user + times.system + forks
                except (psutil.Error, OSError, AttributeError):
                    continue
            peak[0] = max(peak[0], total)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.monotonic()
    run(command, root)
    seconds = time.monotonic() - start
    done.set()
    watcher.join()
    roles = {role for role, _ in spent}
    return seconds, peak[0], {role: sum(spent[one] for one in spent if one[0] == role) for role in roles}


def measure_floor(root: Path, assignment: str, count: int, cores: int) -> tuple[float, float]:
    """Seconds a submission, start-up left out, of bare exec of all cells in forks; and its processor time."""
    code = [sys.executable, "-m", "bench.throughput", "--floor", str(root), assignment, str(count), str(cores)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    answer = subprocess.run(code, env=environment, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    seconds, spent = map(float, answer.stdout.split()[-2:])
    return seconds, spent


def floor(root: str, assignment: str, count: str, cores: str) -> None:
    """The process that measure_floor starts."""
    from viva.engine import libraries
    from viva.engine.blueprint import read_blueprint
    from viva.engine.dialogue.shell import make_shell

    paths = sorted(Path(root, "submitted").glob("*/*/*.ipynb"))[: int(count)]
    for name in libraries.wanted(Path(root, "release", assignment).glob("*.ipynb"), paths):
        libraries.load(name)
    shell = make_shell()
    (source,) = Path(root, "source", assignment).glob("*.ipynb")
    tests = {cell.id: cell.source for cell in read_blueprint(source).cells if cell.purpose == "tests"}
    notebooks = []
    for path in paths:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        notebooks.append([tests.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source) for cell in cells])
    start, before = time.monotonic(), os.times()
    running = 0
    for cells in notebooks:
        if running == int(cores):
            os.wait()
            running -= 1
        if os.fork() == 0:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            for cell in cells:
                try:
                    exec(compile(cell, "cell", "exec"), shell.user_ns)
                except Exception:
                    continue
            os._exit(0)
        running += 1
    for _ in range(running):
        os.wait()
    after = os.times()
    spent = sum(after[:4]) - sum(before[:4])
    print((time.monotonic() - start) / len(notebooks), spent / len(notebooks))


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--floor"]:
        floor(*sys.argv[2:])
    else:
        main()
