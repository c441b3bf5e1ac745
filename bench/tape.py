"""The tape: the verdict of every check of a fixed set of submissions, as one file that can be compared.

    make tape                          writes tape.json, compares its hash with bench/tape.sha256
    make tape OLD=before.json          also prints each line that moved since another tape
    make tape FOREIGN=courses          adds the nbgrader notebooks below a folder
    make tape ACCEPT=1                 writes the new hash
    make tape LOAD=4                   grades beside four busy loops for each processor: no line may move

The submissions are all known answers, 400 notebooks that are damaged at random with fixed seeds (``tests.mangling``),
and of each foreign notebook its solution, its release and a broken solution. A line holds the submission, test cell,
check, verdict, points, the kind of the cause, whether a grader is asked to look, and whether the test cell is a
single-process cell. The hash covers the part that depends on the repository alone.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import preprocessors
from nbgrader.utils import is_grade, is_solution

from tests.mangling import ALONE, KEEPING, LOSING, as_utf8, plain
from viva.course.examining.graders import new_grader
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.rehearsal import rehearse
from viva.record import doubtful
from viva.submission.cells.places import Released
from viva.submission.cells.repair import repair
from viva.submission.files.salvage import read
from viva.verdict import VivaError
from viva_audit.answers import fill_in, read_answers

PROJECT = Path(__file__).resolve().parents[1]
HASH = PROJECT / "bench" / "tape.sha256"
DAMAGED = 400
SECONDS, MEMORY, PROCESSES = 60.0, 2048, 2
CLEARING = ["ClearSolutions", "ClearOutput", "ClearHiddenTests", "ClearMarkScheme", "LockCells", "ComputeChecksums"]
"""nbgrader's steps from an instructor's notebook to a released one."""
Line = list
"""Submission, cell, check, verdict, points, cause, flagged, single-process."""


def lines_of(
    name: str, submission: NotebookNode, release: Released, known: Examination, grader: Grader, files: Path
) -> Iterator[Line]:
    """The lines of one submission."""
    repaired = repair(submission, release)
    outcome = grader.grade(repaired.notebook, known, files)
    flagged = {*doubtful(repaired.repairs), *doubtful(outcome.doubts)}
    for cell, results in outcome.checks.items():
        for one in results:
            cause = one.cause.kind if one.cause else one.exception
            single = cell in known.inside
            yield [name, cell, one.title, str(one.verdict), round(one.earned, 6), cause, cell in flagged, single]


def committed(assignment: str, few: int = 0) -> list[Line]:
    """The lines of an assignment's known answers and damaged notebooks; of ``few`` submissions, if not 0."""
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    text = nbformat.read(PROJECT / "release" / assignment / source.name, as_version=4)
    answers = read_answers(PROJECT / "answers" / assignment)
    every = [(f"{assignment}/{answer.case}/{answer.name}", answer, None) for answer in answers]
    names = sorted(path.parent.name for path in (PROJECT / "answers").glob("*/wrong"))
    for number in range(names.index(assignment), DAMAGED, len(names)):
        dice = random.Random(f"tape {number}")
        every.append((f"{assignment}/damaged/{number:03}", dice.choice(answers), dice))
    return _lines(source, text, _written(every[:: max(1, len(every) // few)][:few] if few else every, text))


def _written(every: list, text: NotebookNode):
    """Submissions by name, each made when it is asked for."""

    def made(release: Released, known: Examination) -> Iterator[tuple[str, NotebookNode]]:
        for name, answer, dice in every:
            notebook = fill_in(answer, text, known.blueprint)
            if dice:
                notebook, ways = _damaged(notebook, dice)
                name += f" {answer.name}: {ways}"
            yield name, notebook

    return made


def _damaged(notebook: NotebookNode, dice: random.Random) -> tuple[NotebookNode, str]:
    """A notebook damaged in one to three ways, read as a submitted file is, and the ways' names."""
    damaged = plain(notebook)
    ways = dice.sample([way for way in KEEPING if way not in ALONE], dice.choice([1, 1, 2, 3]))
    ways = [dice.choice(ALONE)] if dice.random() < 0.15 else ways
    ways += [dice.choice(list(LOSING))] if dice.random() < 0.3 else []
    for way in ways:  # what a losing way leaves may be no notebook for the others
        {**KEEPING, **LOSING}[way](damaged, dice)
    return read(as_utf8(damaged))[0], ", ".join(ways)


def foreign(source: Path) -> list[Line]:
    """The lines of an instructor's notebook from elsewhere: its solution, its release, and a broken solution."""
    notebook = nbformat.v4.upgrade(nbformat.read(source, as_version=4))  # older ones have cells without ids
    if not any(is_grade(cell) and not is_solution(cell) for cell in notebook.cells):
        return []
    text = nbformat.from_dict(notebook)
    for step in CLEARING:
        text, _ = getattr(preprocessors, step)().preprocess(text, {})
    broken = nbformat.from_dict(notebook)
    for cell in broken.cells:
        if is_solution(cell) and cell.cell_type == "code":
            cell.source = re.sub(r"\b(\d+)\b", lambda found: str(int(found[1]) + 1), cell.source)
    name = "/".join(source.parts[-4:])
    return _lines(
        source,
        text,
        lambda *_: [(f"{name} solution", notebook), (f"{name} untouched", text), (f"{name} broken", broken)],
    )


def _lines(source: Path, text: NotebookNode, made) -> list[Line]:
    warnings.filterwarnings("ignore", module="nbformat")
    grader = new_grader(SECONDS, False, MEMORY)
    try:
        release, known = Released(text), rehearse(source, grader, source.parent)
        submissions = made(release, known)
        return [
            line for name, one in submissions for line in lines_of(name, one, release, known, grader, source.parent)
        ]
    except VivaError as error:
        return [[str(source.name), "", "", "not gradable", 0.0, type(error).__name__, False, False]]
    finally:
        grader.close()


def tape(folder: Path | None = None, few: int = 0) -> tuple[list[Line], list[Line]]:
    """The lines that depend on the repository alone, and those of the notebooks below ``folder``, both sorted."""
    names = sorted(path.parent.name for path in (PROJECT / "answers").glob("*/wrong"))[: few or None]
    with ProcessPoolExecutor(PROCESSES) as pool:
        ours = list(pool.map(committed, names, [few] * len(names)))
        theirs = list(pool.map(foreign, sorted(folder.rglob("*.ipynb")))) if folder else []
    return sorted(chain.from_iterable(ours)), sorted(chain.from_iterable(theirs))


@contextlib.contextmanager
def crowded(loops: int) -> Iterator[None]:
    """Meanwhile ``loops`` processes keep each processor busy."""
    command = [sys.executable, "-S", "-c", "while True: pass"]
    busy = [subprocess.Popen(command) for _ in range(loops * len(os.sched_getaffinity(0)))]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def as_json(lines: list[Line]) -> str:
    return "[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n]\n"


def moved(before: list[Line], after: list[Line]) -> Iterator[str]:
    """What differs between two tapes, a sentence for each line."""
    old, new = ({tuple(line[:3]): line[3:] for line in lines} for lines in (before, after))
    for place in sorted(old.keys() | new.keys()):
        if old.get(place) != new.get(place):
            yield f"{' | '.join(place)}: {old.get(place, 'not there')} -> {new.get(place, 'not there')}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=Path("tape.json"))
    parser.add_argument("--old", type=Path, help="an earlier tape to compare with")
    parser.add_argument("--foreign", type=Path, help="a folder with instructors' notebooks")
    parser.add_argument("--accept", action="store_true", help="write the new hash")
    parser.add_argument("--few", type=int, default=0, help="only so many assignments, and submissions of each")
    parser.add_argument("--load", type=int, default=0, help="busy loops for each processor, beside which it grades")
    options = parser.parse_args()
    with crowded(options.load):
        ours, theirs = tape(options.foreign, options.few)
    options.to.write_text(as_json(ours + theirs), encoding="utf-8")
    digest = hashlib.sha256(as_json(ours).encode()).hexdigest()
    print(f"{len(ours)} lines of this repository, {len(theirs)} of foreign notebooks, in {options.to}. Hash: {digest}")
    if options.old:
        before = json.loads(options.old.read_text(encoding="utf-8"))
        print(*moved(before, ours + theirs), sep="\n")
    if options.few:
        return 0
    if options.accept:
        HASH.write_text(digest + "\n", encoding="utf-8")
    if not HASH.is_file():
        print("No tape is accepted yet: make tape ACCEPT=1")
        return 0
    equal = HASH.read_text(encoding="utf-8").strip() == digest
    print("The tape is equal to the accepted one." if equal else "Verdicts moved: compare with the tape from before.")
    return 0 if equal else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="viva-tape-") as scratch:
        tempfile.tempdir = scratch
        sys.exit(main())
