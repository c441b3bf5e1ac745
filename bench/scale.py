"""A term of thousands of submissions: does the last tenth take what the first did, in time and in memory?

    make bench-scale                  10,000 submissions of eight assignments, in ten waves
    make bench-scale N=2000           fewer
    make bench-scale EXAM=1           one assignment, submitted at once, in one batch
    make bench-scale KEEP=FOLDER      in a folder that stays; the same again goes on where it was stopped
    python -m bench.scale --cluster=200    only: a cluster of two workers beside two processes

The files are those of bench/term.py: right, wrong, damaged, slow. In a term each wave is a tenth: more students hand
in all assignments, and `viva grade` grades what is new, so that every tenth is of the same kind and the gradebook is
larger each time. On a machine that does other things too the processor time tells more than the rate.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook

from bench import term
from bench.courses import PROJECT
from bench.watch import Look, Watch
from viva.course.gradebook import classbook

TENTHS = 10
TIMEOUT = "--Execute.timeout=10"
EXAM = "ps3_scaled_attention"
AFTER = {"export": 60, "report": 120, "feedback": 300, "grade": None, "deadlines": None}
"""Commands on the whole term, and within how many seconds ten thousand submissions are to be done."""
ROLES = ("writer", "workers", "candidates", "examiners")
MEBIBYTE = 2**20
LEAST = 1e-6
"""Seconds; of a tenth without submissions."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--term", choices=("course", "exam"), default="course")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--assignments", nargs="*", help="those of a term, instead of all")
    parser.add_argument("--keep", type=Path, help="a folder for the course, which then stays")
    parser.add_argument("--cluster", type=int, help="compare a cluster with this machine on so many submissions")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="viva-scale-") as folder:
        root = options.keep or Path(folder, "course")
        if options.cluster:
            for told in clusters(root, options.cluster, options.seed):
                print(told, flush=True)
            return
        try:
            with contextlib.suppress(KeyboardInterrupt):
                measure(root, options)
        finally:  # also where something failed: what was measured took hours
            print("\n".join(summary(_read(root))), flush=True)


def measure(root: Path, options: argparse.Namespace) -> None:
    """Grade the term and print a row for each tenth; what was measured before is read from scale.json."""
    names = sorted(path.name for path in (PROJECT / "source").iterdir() if path.is_dir())
    names = [EXAM] if options.term == "exam" else options.assignments or names
    assignments = [term.Assignment(root, name) for name in names] if root.exists() else term.found(root, names)
    known = _read(root)
    print("\n".join(heading()), flush=True)
    for row in known["tenths"]:
        print(line(row))
    for tenth in range(len(known["tenths"]), TENTHS):
        numbers = range(options.submissions * tenth // TENTHS, options.submissions * (tenth + 1) // TENTHS)
        if options.term == "exam":
            numbers = range(options.submissions)
        rows = list(graded(root, assignments, numbers, options))
        for row in rows:
            known["tenths"].append(row)
            print(line(row), flush=True)
        _write(root, known)
        if options.term == "exam":
            break
    for command in AFTER:
        if command not in known["after"]:
            known["after"][command] = timed(root, command)
            _write(root, known)


def graded(root: Path, assignments: list, numbers: range, options: argparse.Namespace) -> Iterator[dict]:
    """Submit the submissions of these numbers and grade them: a row for the wave, or for each tenth of an exam."""
    known = root / "made.json"
    last = json.loads(known.read_text()) if known.exists() else {"until": 0}
    if last["until"] < numbers.stop:  # else it was stopped while it graded
        last = {"until": numbers.stop, "kinds": Counter(term.hand_in(assignments, numbers, options.seed))}
        known.write_text(json.dumps(last))
    watch = Watch(root)
    seconds = watch.run("grade", TIMEOUT)
    book = {"book": (root / "gradebook.db").stat().st_size, "look": look_up(root, assignments[0].name)}
    if options.term == "course":
        yield row(numbers.stop, watch.looks, 0, len(watch.looks) - 1, seconds, len(numbers)) | book
        return
    last, most = 0, watch.looks[-1].done
    for tenth in range(1, TENTHS + 1):
        place = next(place for place, look in enumerate(watch.looks) if look.done >= most * tenth // TENTHS)
        yield row(watch.looks[place].done, watch.looks, last, place) | (book if tenth == TENTHS else {})
        last = place


def row(until: int, looks: list[Look], first: int, last: int, seconds: float = 0.0, count: int = 0) -> dict:
    """What was seen between two looks; seconds and processor time of one submission."""
    count = count or max(1, looks[last].done - looks[first].done)
    spent = {role: (looks[last].spent[role] - looks[first].spent[role]) / count for role in looks[last].spent}
    memory = {role: max(look.memory[role] for look in looks[first : last + 1]) for role in (*ROLES, "forks")}
    seconds = (seconds or looks[last].at - looks[first].at) / count
    return {"until": until, "seconds": seconds, "spent": spent, "memory": memory}


def look_up(root: Path, assignment: str) -> float:
    """Seconds in which the gradebook says the scores of a class."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "viva") as gradebook:
        start = time.perf_counter()
        classbook.scores(gradebook, assignment)
        return time.perf_counter() - start


def timed(root: Path, command: str) -> dict:
    """Seconds and processor seconds of a command on the whole term, its peak of memory, and the size of its page."""
    watch, before = Watch(root), resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = watch.run(command, *([TIMEOUT] if command == "grade" else []))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = max(sum(look.memory.values()) for look in watch.looks)
    return {"seconds": seconds, "spent": spent, "memory": memory}


def heading() -> list[str]:
    return [
        "| submissions | a minute | processor ms each: writer, workers, candidates, examiners "
        "| MiB: writer, workers, candidates, examiners | gradebook, MiB | its scores, ms |",
        "|---|---|---|---|---|---|",
    ]


def line(row: dict) -> str:
    """A row of ``row`` as Markdown."""
    spent = ", ".join(f"{1000 * row['spent'].get(role, 0.0):.0f}" for role in ROLES)
    memory = ", ".join(f"{row['memory'][role] / MEBIBYTE:.0f}" for role in ROLES)
    book = (f"{row['book'] / MEBIBYTE:.1f}", f"{1000 * row['look']:.0f}") if "book" in row else ("", "")
    rate = f"{60 / row['seconds']:.0f}" if row["seconds"] else "-"  # of a few, two tenths end at the same look
    return f"| {row['until']} | {rate} | {spent} | {memory} | {' | '.join(book)} |"


def summary(known: dict) -> Iterator[str]:
    """The result, beside the expected one."""
    tenths = known["tenths"]
    if len(tenths) > 1:
        elapsed = tenths[-1]["seconds"] / max(tenths[0]["seconds"], LEAST)
        spent = _spent(tenths[-1]) / max(_spent(tenths[0]), LEAST)
        yield ""
        yield (
            f"A submission of the last row takes {elapsed:.2f} times those of the first, {spent:.2f} times the "
            "processor time; to be at most 1.2."
        )
        for role in ROLES:
            first, last = (tenth["memory"][role] / MEBIBYTE for tenth in (tenths[0], tenths[-1]))
            yield f"- Memory of the {role}: {first:.0f} MiB at first, {last:.0f} at last."
    for command, about in known["after"].items():
        limit = f"; of ten thousand at most {AFTER[command]} s" if AFTER[command] else ""
        yield (
            f"- `viva {command}`: {about['seconds']:.0f} s, {about['spent']:.0f} s of processor time, "
            f"{about['memory'] / MEBIBYTE:.0f} MiB{limit}."
        )


def _spent(tenth: dict) -> float:
    return sum(tenth["spent"].get(role, 0.0) for role in ROLES)


def clusters(root: Path, count: int, seed: int) -> Iterator[str]:
    """The rate of a cluster of two workers with a core each, beside that of two processes, by turns."""
    list(term.hand_in(term.found(root, [EXAM]), range(count), seed))
    ways = {"two processes": "--workers=2", "two workers": "--cluster=local:2"}
    rates: dict[str, list[float]] = {way: [] for way in ways}
    yield "| | a minute, from the first result to the last | seconds in all | processor ms each |"
    yield "|---|---|---|---|"
    for way in [*ways] * 3:
        watch = Watch(root)
        seconds = watch.run("grade", TIMEOUT, "--force", ways[way])
        begun = next(look for look in watch.looks if look.done)
        ended = next(look for look in watch.looks if look.done == watch.looks[-1].done)
        rates[way].append(60 * (ended.done - begun.done) / (ended.at - begun.at))
        spent = (ended.spent.total() - begun.spent.total()) / (ended.done - begun.done)
        yield f"| {way} | {rates[way][-1]:.0f} | {seconds:.0f} | {1000 * spent:.0f} |"
    local, cluster = (statistics.median(rates[way]) for way in ways)
    yield f"The cluster reaches {100 * cluster / local:.0f} % of the rate of two processes; to be at least 90 %."


def _read(root: Path) -> dict:
    path = root / "scale.json"
    return json.loads(path.read_text()) if path.exists() else {"tenths": [], "after": {}}


def _write(root: Path, known: dict) -> None:
    (root / "scale.json").write_text(json.dumps(known))


if __name__ == "__main__":
    main()
