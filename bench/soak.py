"""A class of mangled notebooks and attacks, graded in one batch and held to the truth.

    make soak                   2,000 submissions, about a quarter of an hour on two idle cores
    make soak N=60 SEED=7       fewer, and others

Each submission is a known answer, of which the score is known. Most are *honest*: mangled in their structure by what
programs and students do (tests/mangling.py), and saved as some program would; they must get exactly that score. Some
have an *attack* (tests/attacks.py) in a cell at the end, which must not change the score, or in the place of one
answer: then they earn no more than with that answer left as released, which a few *baselines* in the batch tell. Some
have *pages* (tests/hostile.py), cells that aim at the grader's browser. Among 2,000 each attack and each such cell is
there, in each way. Some *lost* cells and may lose points with them. Nothing may crash, be ungraded, or stay behind: no
process, no file. Where something does, the seed and the number of the submission are printed with the command that
makes it again, alone.
Student code runs in the sandbox only. On a machine that others use, run it in a process namespace of its own:

    sudo unshare --pid --fork --kill-child --mount-proc make soak
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from nbgrader.api import Gradebook

from tests.attacks import CHEATS, READERS, VANDALS
from tests.hostile import notebook_cells
from tests.mangling import ALONE, KEEPING, LOSING, WRITING, plain
from viva import wording
from viva.course.gradebook.results import Results
from viva.engine.blueprint import Blueprint, read_blueprint
from viva.notebook.cell import Purpose
from viva.verdict import Verdict
from viva_audit.answers import Answer, fill_in, read_answers

PROJECT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
SECRET = "sdractsopynepeed"
"""Stands in every hidden test, written backwards here and in the attacks."""
SPARED = "the descriptors it was given"
"""A reader that would find the fonts which the notebook's own plots hold open; tests/test_attacks.py runs it."""
BEHAVIOURS = ["honest"] * 12 + ["losing"] * 3 + ["attack at the end"] * 2 + ["attack in place"] * 2 + ["pages"]
"""By turns, so that each attack has its turn too."""
PAGES = 8
"""The hostile cells in a submission."""
SUBREAPER = 36
MEGABYTE = 2**20


@dataclass(frozen=True)
class Entry:
    """One submission, how it was made, and the least and most points that it may get."""

    student: str
    made: str
    behaviour: str
    least: float
    most: float


@dataclass(frozen=True)
class Material:
    """What submissions are made from."""

    root: Path
    assignment: str
    notebook: str
    blueprint: Blueprint
    release: nbformat.NotebookNode
    answers: list[Answer]

    def folder(self, student: str) -> Path:
        folder = self.root / "submitted" / student / self.assignment
        folder.mkdir(parents=True)
        return folder

    def score(self, answer: Answer) -> float:
        """The automatic points that an answer earns, as its author says and the audit proves."""
        lost = set() if answer.right else answer.lost_checks(self.blueprint)
        checks = self.blueprint.checks()
        return sum(check.points for cell, check in checks if (cell.id, check.title) not in lost)


def main() -> None:
    warnings.filterwarnings("ignore", module="nbformat")  # of the cells without ids that are wanted here
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="make this submission alone, beside the baselines")
    parser.add_argument("--assignment", default="ps3_scaled_attention")
    parser.add_argument("--keep", type=Path, help="a new folder for the course, which then stays")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)  # what outlives the batch becomes a child of this process
    with tempfile.TemporaryDirectory(prefix="viva-soak-") as folder:
        root, scratch = options.keep or Path(folder, "course"), Path(folder, "scratch")
        scratch.mkdir()
        material = make_course(root, options.assignment)
        entries = [*baselines(material)]
        baseline = {entry.made: entry.student for entry in entries}
        numbers = [options.only] if options.only is not None else range(options.submissions)
        entries += [make(material, number, options.seed) for number in numbers]
        print(f"{len(entries)} submissions: " + counted(Counter(entry.behaviour for entry in entries)), flush=True)
        before = set(root.iterdir())
        status, seconds, memory = grade(material, scratch)
        print(f"{seconds:.0f} s, {len(entries) / seconds * 60:.0f} a minute", flush=True)
        faults = list(judge(material, entries, baseline))
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # orphans that have ended came to this process
                pass
        faults += [f"a process is left: {child}" for child in psutil.Process().children(recursive=True)]
        faults += [f"a file is left: {path}" for path in scratch.rglob("*")]
        faults += [f"a file is left: {path}" for path in root.glob("autograded/**/.viva-*")]
        known = {
            root / name for name in ("autograded", "results.jsonl", "submissions.json", "report", "gradebook.db.lock")
        }
        faults += [f"a file is left: {path}" for path in set(root.iterdir()) - before - known]
        faults += [f"viva grade ended with status {status}"] if status else []
        faults += judge_memory(memory)
    for fault in faults:
        print(fault)
    if faults:
        number = "<the number in the student's name>"
        command = f"python -m bench.soak --seed={options.seed} --only={number} --keep=FOLDER"
        sys.exit(f"{len(faults)} faults with seed {options.seed}. One submission alone: {command}")
    print("No fault: every score is exact, nothing crashed, nothing is left.")


def make_course(root: Path, assignment: str) -> Material:
    """A course with one released assignment, whose hidden tests hold the secret."""
    root.mkdir(parents=True)
    shutil.copytree(PROJECT / "source" / assignment, root / "source" / assignment)
    for path in (PROJECT / "source").glob("*.ipynb"):
        shutil.copy(path, root / "source")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    (source,) = (root / "source" / assignment).glob("*.ipynb")
    notebook = nbformat.read(source, as_version=4)
    for cell in notebook.cells:
        mark = "### BEGIN HIDDEN TESTS\n"
        cell.source = cell.source.replace(mark, f'{mark}soak_secret = "{SECRET[::-1]}"\n')
    nbformat.write(notebook, source)
    if start(["release", "--no-audit", assignment], root).wait():
        sys.exit((root / "soak.log").read_text())
    release = nbformat.read(root / "release" / assignment / source.name, as_version=4)
    answers = read_answers(PROJECT / "answers" / assignment)
    return Material(root, assignment, source.name, read_blueprint(source), release, answers)


def baselines(material: Material):
    """The first right answer, with one answer cell after the other as released."""
    stubs = {cell.id: cell.source for cell in material.release.cells}
    for number, name in enumerate(sorted(material.blueprint.solutions())):
        notebook = fill_in(material.answers[0], material.release, material.blueprint)
        for cell in notebook.cells:
            if cell.id == name:
                cell.source = stubs[name]
        student = f"baseline-{number}"
        nbformat.write(notebook, material.folder(student) / material.notebook)
        yield Entry(student, name, "baseline", 0, material.score(material.answers[0]))


def make(material: Material, number: int, seed: int) -> Entry:
    """The submission of this number; it depends on nothing but number and seed."""
    dice = random.Random(f"{seed} {number}")
    student = f"soak-{number:04}"
    behaviour, turn = BEHAVIOURS[number % len(BEHAVIOURS)], number // len(BEHAVIOURS) * 2 + number % 2 + seed
    answer = material.answers[0] if behaviour == "attack in place" else dice.choice(material.answers)
    notebook = plain(fill_in(answer, material.release, material.blueprint))
    least = most = material.score(answer)
    made = f"{answer.path.parent.name}/{answer.name}"
    if behaviour.startswith("attack"):
        attacks = {name: text for sort in (CHEATS, READERS, VANDALS) for name, text in sort.items() if name != SPARED}
        name = list(attacks)[turn % len(attacks)]
        places = [str(material.root), "/proc/self/environ", "/proc/1/cmdline"]
        names = ["gradebook.db", f"source/{material.assignment}/{material.notebook}", "nbgrader_config.py"]
        attack = f"SECRET = {SECRET!r}\nPLACES = {places!r}\nNAMES = {names!r}\n{attacks[name]}"
        made += f", {name}"
        if behaviour == "attack at the end":
            notebook["cells"].append(
                {"cell_type": "code", "metadata": {}, "source": attack, "outputs": [], "execution_count": None}
            )
        else:
            cell = dice.choice([cell for cell in notebook["cells"] if cell.get("id") in material.blueprint.solutions()])
            cell["source"], least = attack, 0
            made += f" in {cell['id']}"
    elif behaviour == "pages":
        cells = plain(notebook_cells())
        first = number // len(BEHAVIOURS) * PAGES % len(cells)
        notebook["cells"] += (cells + cells)[first : first + PAGES]
        made += f", hostile cells from {first}"
    else:
        ways = dice.sample([way for way in KEEPING if way not in ALONE], dice.randrange(3))
        ways = ways if dice.random() < 0.9 else [dice.choice(ALONE)]
        if behaviour == "losing":
            ways, least, most = [*ways, dice.choice(list(LOSING))], 0, material.blueprint.automatic_points
        for way in ways:
            (KEEPING | LOSING)[way](notebook, dice)
        made += "".join(f", {way}" for way in ways)
    data, way = write(notebook, dice)
    (material.folder(student) / material.notebook).write_bytes(data)
    return Entry(student, f"{made}, {way}", behaviour, least, most)


def write(notebook: dict, dice: random.Random) -> tuple[bytes, str]:
    """The bytes of a notebook, in a way that can write it."""
    ways = list(WRITING)
    dice.shuffle(ways)
    for way in [*ways, "as_utf8"]:
        try:
            return WRITING[way](notebook), way
        except Exception:  # some ways need a notebook that is whole
            continue
    raise AssertionError("as_utf8 writes everything")


def start(arguments: list[str], root: Path, scratch: Path | None = None) -> subprocess.Popen:
    """Start `viva` in a course; what it prints goes to soak.log there, its temporary files to ``scratch``."""
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {"TMPDIR": str(scratch)} if scratch else {}
    with (root / "soak.log").open("wb") as log:
        command = [BIN / "viva", *arguments]
        return subprocess.Popen(command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT)


def grade(material: Material, scratch: Path) -> tuple[int, float, list[int]]:
    """Grade everything; the status, the seconds, and twice a second the memory of the batch and its workers.

    Memory that several share counts once (PSS), so that forks do not look like growth.
    """
    begun, memory = time.monotonic(), []
    process = start(["grade", material.assignment, "--Execute.timeout=5"], material.root, scratch)
    batch = psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):  # one of them ended meanwhile
            memory.append(sum(each.memory_full_info().pss for each in (batch, *batch.children())))
        time.sleep(0.5)
    time.sleep(1)  # what was killed with the batch needs a moment
    if process.returncode:
        print((material.root / "soak.log").read_text()[-4000:])
    return process.returncode, time.monotonic() - begun, memory


def judge(material: Material, entries: list[Entry], baseline: dict[str, str]):
    """A sentence for each submission that did not get what it should."""
    with Gradebook(f"sqlite:///{material.root / 'gradebook.db'}") as gradebook:
        submissions = gradebook.assignment_submissions(material.assignment)
        scores = {one.student_id: one.score for one in submissions}
        written = {cell.id for cell in material.blueprint.cells if cell.purpose in (Purpose.TASK, Purpose.MANUAL)}
        marked = {
            one.student_id
            for one in submissions
            for notebook in one.notebooks
            for grade in notebook.grades
            if grade.needs_manual_grade and grade.name not in written
        }
    records = {student: record for (_, student), record in Results(material.root / "results.jsonl").read().items()}
    verdicts, explained, waiting = Counter(), 0, Counter()
    for entry in entries:
        who, record, score = f"{entry.student} ({entry.made})", records.get(entry.student), scores.get(entry.student)
        if record is None or score is None:
            explained += 1
            if entry.behaviour != "losing":
                yield f"{who}: it was not graded"
            continue
        results = [result for _, _, result in record.results()]
        verdicts.update(str(result.verdict) for result in results)
        waiting[entry.behaviour] += entry.student in marked
        most = entry.most
        if entry.behaviour == "attack in place":
            most = min(most, scores.get(baseline[entry.made.split(" in ")[-1].split(",")[0]], 0))
        if not entry.least - 1e-9 <= score <= most + 1e-9:
            lost = "; ".join(
                f"{result.title}: {wording.reason(result)[:100]}" for result in results if not result.earned
            )
            yield f"{who}: {score:g} points instead of {entry.least:g} to {most:g} ({lost})"
        if record.faults or any(result.verdict is Verdict.UNGRADED for result in results):
            yield f"{who}: a fault of the grader: {record.faults or 'ungraded'}"
        yield from (f"{who}: {found}" for found in leaks(material, entry))
    print(f"checks: {counted(verdicts)}; submissions that could not be read: {explained}")
    print(f"with a test cell that waits for a grader: {counted(+waiting) or 'none'}")


def leaks(material: Material, entry: Entry):
    """What an attack printed that it should not know."""
    path = material.root / "autograded" / entry.student / material.assignment / material.notebook
    if entry.behaviour.startswith("attack") and path.is_file():
        for cell in nbformat.read(path, as_version=4).cells:
            shown = str(cell.get("outputs", "")).replace('print("FOUND', "")
            if "FOUND" in shown or (SECRET[::-1] in shown and not cell.metadata.get("nbgrader", {}).get("grade")):
                yield f"it learnt something: {shown[:300]}"


def judge_memory(memory: list[int]) -> list[str]:
    """The batch and its workers may not grow: the last quarter is compared with the second."""
    quarter = len(memory) // 4
    if not memory:  # it ended before the first look
        return []
    early = max(memory[quarter : 2 * quarter], default=0) / MEGABYTE
    late = max(memory[-quarter:] if quarter else memory, default=0) / MEGABYTE
    print(
        f"memory of the batch and its workers: {max(memory) / MEGABYTE:.0f} MB at most; {early:.0f}, then {late:.0f} MB"
    )
    grown = len(memory) > 100 and late > 1.25 * early + 50  # a shorter batch is all beginning
    return [f"memory grew from {early:.0f} to {late:.0f} MB"] if grown else []


def counted(counter: Counter) -> str:
    return ", ".join(f"{count} {name}" for name, count in counter.most_common())


if __name__ == "__main__":
    main()
