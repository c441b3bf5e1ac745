"""Submissions per minute: stock `nbgrader autograde`, `viva grade`, and the floor, side by side in one run.

    make bench            60 submissions of ps3
    make bench N=200      more of them

Whole processes are timed, start-up included; for the floor see bench/floor.py. What was measured is printed and
written to bench/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.courses import BIN, PROJECT, STOCK, make_course, run
from bench.floor import measure_floor
from bench.watch import PARENTS, role_of

RESULTS = Path(__file__).with_name("RESULTS.md")
ACCOUNT = "\n## Before and after"
"""The heading of what is written by hand below the figures, which stays."""
WITHOUT_PICTURES = "ps3_scaled_attention"
"""The assignment that is measured without its picture as well."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--assignment", default="ps3_scaled_attention")
    parser.add_argument(
        "--stock", type=int, help="so many of them for nbgrader, which is slow; the rate is what counts"
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="of single submissions, of which the best counts; 0: none"
    )
    parser.add_argument("--others", nargs="*", help="the other assignments to measure; all of them where none is named")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write what was measured to")
    options = parser.parse_args()
    lines: list[str] = []
    for line in measured(options):  # each is there as soon as it is known, whatever becomes of the others
        print(line, flush=True)
        lines.append(line)
    before = options.results.read_text(encoding="utf-8") if options.results.exists() else ""
    _, heading, account = before.partition(ACCOUNT)
    options.results.write_text("\n".join(lines) + "\n" + heading + account, encoding="utf-8")


def measured(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the page, the figures of the assignment first."""
    cores, few = len(os.sched_getaffinity(0)), max(1, options.submissions // 4)
    yield "# Throughput"
    yield ""
    yield (
        f"`make bench N={options.submissions}` on {datetime.date.today()}: {options.submissions} submissions of "
        f"{options.assignment} on {cores} cores ({processor()}), Python {platform.python_version()}, "
        f"Linux {platform.release().split('-')[0]}."
    )
    yield ""
    yield from figures(options, cores, few)
    from bench import costs, start  # which the floor does without: what a process has loaded makes its forks slower

    yield ""
    yield "What one right answer is made of, each part measured on its own:"
    yield ""
    yield from costs.table(options.assignment)
    yield ""
    if options.rounds:
        yield f"One submission, and none: whole commands, best of {options.rounds} in turns (`python -m bench.start`):"
        yield ""
        yield from start.table(options.assignment, options.rounds)
        yield ""
    yield (
        f"The other notebooks, {few} submissions of each: what each takes in seconds, start-up included but for the "
        "floor that runs every check; how many times as fast as stock Viva is, and that floor, which nobody can pass; "
        "and the processor time of a right answer beside that of its cells and tests alone:"
    )
    yield ""
    yield (
        "| | stock | Viva | the floor | Viva, times stock | the floor, times stock | a right answer, times its floor |"
    )
    yield "|---|---|---|---|---|---|---|"
    names = options.others
    if names is None:
        names = sorted(path.name for path in (PROJECT / "release").iterdir() if path.is_dir())
    yield from others(options.assignment, names, few, max(1, (options.stock or options.submissions) // 4))


def figures(options: argparse.Namespace, cores: int, few: int) -> Iterator[str]:
    """Viva beside stock nbgrader and the floor, on one assignment."""
    with tempfile.TemporaryDirectory(prefix="viva-bench-") as folder:
        stock_course = make_course(
            Path(folder, "stock"), options.assignment, options.stock or options.submissions, STOCK
        )
        viva_course = make_course(Path(folder, "viva"), options.assignment, options.submissions)
        viva_few = make_course(Path(folder, "few"), options.assignment, few)
        floor, floor_spent = measure_floor(viva_course, options.assignment, options.submissions, cores)
        whole_floor, _ = measure_floor(viva_course, options.assignment, options.submissions, cores, each_check=True)
        viva, memory, spent = measure([BIN / "viva", "grade", options.assignment, "--force"], viva_course)
        less, memory_less, spent_less = measure([BIN / "viva", "grade", options.assignment, "--force"], viva_few)
        stock, *_ = measure([BIN / "nbgrader", "autograde", options.assignment, "--force"], stock_course)
    further = max((viva - less) / max(1, options.submissions - few), 0.001)  # of a few it is all noise
    stock_each, viva_each = stock / (options.stock or options.submissions), viva / options.submissions
    yield "| | submissions a minute | seconds each |"
    yield "|---|---|---|"
    for name, each in (
        ("stock `nbgrader autograde`", stock_each),
        (f"`viva grade --force`, {cores} workers", viva_each),
        ("each further submission", further),
        ("the floor, every check run", whole_floor),
        ("the floor, test cells left at their first failure", floor),
    ):
        yield f"| {name} | {60 / each:.0f} | {each:.3f} |"
    yield ""
    yield f"- {stock_each / viva_each:.1f} times stock nbgrader, start-up included" + (
        f"; nbgrader graded {options.stock} of them." if options.stock else "."
    )
    yield (
        f"- Each further submission takes {further / whole_floor:.2f} times the floor that runs every check, as Viva "
        f"does, and {further / floor:.2f} times the one that leaves a test cell at its first failure, as kernels do."
    )
    yield (
        f"- Peak memory of all processes together (proportional set size): {memory / 2**20:.0f} MiB with "
        f"{options.submissions} submissions, {memory_less / 2**20:.0f} MiB with {few}."
    )
    each = shares(spent, spent_less, max(1, options.submissions - few))
    yield f"- Processor time of each further submission: {each}; of the last floor {1000 * floor_spent:.0f} ms."


def others(measured: str, names: list[str], count: int, of_stock: int) -> Iterator[str]:
    """Rows of a table about other assignments; nbgrader gets so many submissions ``of_stock``."""
    from bench.costs import times_floor

    for assignment in names:
        if assignment != measured:
            yield row(assignment, assignment, count, of_stock, f"{times_floor(assignment):.2f}")
    yield row(f"{WITHOUT_PICTURES} without its picture", WITHOUT_PICTURES, count, of_stock, "", pictures=False)


def row(title: str, assignment: str, count: int, of_stock: int, floors: str, pictures: bool = True) -> str:
    """One assignment, graded by both."""
    with tempfile.TemporaryDirectory(prefix="viva-bench-") as folder:
        stock_course = make_course(Path(folder, "stock"), assignment, of_stock, STOCK, pictures)
        viva_course = make_course(Path(folder, "viva"), assignment, count, pictures=pictures)
        stock, *_ = measure([BIN / "nbgrader", "autograde", assignment, "--force"], stock_course)
        viva, *_ = measure([BIN / "viva", "grade", assignment, "--force"], viva_course)
        cores = len(os.sched_getaffinity(0))
        floor, _ = measure_floor(viva_course, assignment, count, cores, each_check=True)
    each, ours = stock / of_stock, viva / count
    seconds = " | ".join(f"{one:.3f}" for one in (each, ours, floor))
    return f"| {title} | {seconds} | {each / ours:.1f} | {each / floor:.1f} | {floors} |"


def shares(more: dict[str, float], less: dict[str, float], count: int) -> str:
    """What each part spends on a submission, from the seconds of two runs, of which one had ``count`` more."""
    each = {role: 1000 * (seconds - less.get(role, 0.0)) / count for role, seconds in more.items()}
    return ", ".join(f"{role} {milliseconds:.0f} ms" for role, milliseconds in sorted(each.items()))


def measure(command: list, root: Path) -> tuple[float, int, dict[str, float]]:
    """Of a command: its seconds, the peak of the memory that all its processes have together in bytes, and the seconds
    of processor time by role; those of forks are their fork server's."""
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


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
