"""The programs of Gradescope's container, run as root: ``prepare`` builds the image, ``grade`` grades a submission.

Theory of operation. The bundle lies in /autograder/source, closed to every other user. Preparing rehearses the
solutions with this image's libraries and keeps what that shows. Grading forks candidate and examiner, each sandboxed
and a user of its own; only this process opens the bundle and writes results.json, whole, as its last act. What was
submitted is read as a batch reads it, and graded twice: what students read comes from a run without hidden lines.
Whatever goes wrong, there is a results.json: one without a score says that the grader failed, and nobody loses points
by that.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import msgspec

from viva import wording
from viva.cleaning import plaintext
from viva.course.examining.graders import limits_of
from viva.course.examining.rehearsals import Rehearsals, submitted_files
from viva.course.grading.material import Material
from viva.course.grading.pipeline import Passed
from viva.course.grading.pipeline import grade as go_through
from viva.course.processes import leftovers, stopping
from viva.engine import libraries
from viva.engine.grading import Grader
from viva.engine.session import examiners_limits
from viva.folder import walk
from viva.sandbox.confinement import Sandbox
from viva.submission.packing import Package, pack
from viva.submission.submission import Submission
from viva.verdict import CourseError, SandboxError, SubmissionError, VivaError
from viva_gradescope import resultsjson
from viva_gradescope.bundle import MATERIAL, SOURCE, Settings, read_material, read_settings
from viva_gradescope.reach import Reach, reach, sandboxes

PLACE, VARIABLE = "/autograder", "VIVA_AUTOGRADER"
"""The folder that Gradescope gives, and the variable that names another."""
PREPARED = "prepared"
"""In the bundle, the material with what the rehearsal showed."""
STUDENT = "student"
"""What every student is called: no score depends on who it is."""
DELIVERY = b"timestamp.txt"
"""What nbgrader writes beside a submission. In Gradescope only a student can have, and it means nothing."""
NO_SANDBOX = (
    "This container cannot protect the hidden tests from student code: it has no sandbox and no second user. Nothing "
    "was graded. You can make the zip with --no-sandbox, but then student code can read the hidden tests and write "
    "its own score."
)


def main(*words: str) -> int:
    """Do what the one word asks; the exit status."""
    root = Path(os.environ.get(VARIABLE, PLACE))
    logging.getLogger("viva").setLevel(logging.ERROR)  # nbgrader warns of what the repair has put right
    with stopping.orderly():
        if words == ("prepare",):
            return prepare(root)
        if words == ("grade",):
            return grade(root)
    print("Usage: python -m viva_gradescope.container prepare|grade", file=sys.stderr)
    return 2


def prepare(root: Path) -> int:
    """Rehearse the solutions, and keep what that shows; where no sandbox starts yet, each submission does it."""
    try:
        secure(root)
        settings = read_settings(root / "source")
        with leftovers.temporary_folder(), open_grader(settings, root) as (grader, sandbox, reached):
            print(reached.sentence(sandbox))
            _rehearsed(root, grader)
    except SandboxError as error:
        print(f"The preparation of the container failed, so each submission takes longer: {error}", file=sys.stderr)
    except VivaError as error:
        print(f"viva: {error}", file=sys.stderr)
        return 1
    return 0


def grade(root: Path) -> int:
    """Grade what lies in the folder of the submission; results.json is always written."""
    try:
        secure(root)
        settings = read_settings(root / "source")
        _compare_points(settings, root)
        with leftovers.temporary_folder():
            document = _graded(settings, root)
    except VivaError as error:
        print(f"viva: {error}")
        document = resultsjson.ungraded(str(error) if isinstance(error, SandboxError) else "")
    except Exception:
        traceback.print_exc(file=sys.stdout)  # which instructors read, and nobody else
        document = resultsjson.ungraded()
    _write(root / "results" / "results.json", document)
    return 0


def secure(root: Path) -> None:
    """Close the bundle to every other user, and the results to be written by them; that it holds is tried later."""
    (root / "results").mkdir(parents=True, exist_ok=True)
    for folder, mode in ((root / "source", 0o700), (root / "results", 0o755)):
        with contextlib.suppress(OSError):
            folder.chmod(mode)
    with contextlib.suppress(OSError):
        root.chmod(root.stat().st_mode & ~0o022)


@contextlib.contextmanager
def open_grader(
    settings: Settings, root: Path, handed_in: Path | None = None
) -> Iterator[tuple[Grader, Sandbox | None, Reach]]:
    """A grader in the best sandbox that holds here, the candidate's sandbox, and what was seen to be in its reach.

    Raises SandboxError where none holds, unless the bundle says that none is needed.
    """
    limits = limits_of(settings.seconds, settings.memory)
    texts = libraries.looked_at(handed_in) if handed_in else ()
    loaded = tuple(dict.fromkeys((*libraries.wanted((), texts), *settings.libraries)))
    hidden = settings.hidden_libraries
    secrets = [path for path in walk(root / "source") if path.name in (MATERIAL, PREPARED) or path.suffix == ".ipynb"]
    for pair in [*sandboxes(limits, examiners_limits(limits)), *([None] if settings.no_sandbox else [])]:
        with contextlib.closing(
            Grader(settings.seconds, pair, loaded, hidden, budget=settings.budget, limits=limits)
        ) as grader:
            sandbox = pair[0] if pair else None
            try:
                reached = reach(grader, secrets, root / "results")
            except SandboxError as error:
                print(f"A sandbox layer did not start: {error}")
                continue
            if reached.holds or pair is None:
                yield grader, sandbox, reached
                return
            print(f"A sandbox layer did not work: {reached}")
    raise SandboxError(NO_SANDBOX)


def _rehearsed(root: Path, grader: Grader) -> Material:
    """The material with what rehearsing shows, which is kept for the next."""
    material = read_material(root / "source")
    rehearsals = Rehearsals(submitted=submitted_files(material.config, material.assignment))
    material.rehearse(root / "source" / SOURCE, grader, rehearsals)  # what it shows is in the material that is kept
    prepared = root / "source" / PREPARED
    prepared.write_bytes(material.to_bytes())
    prepared.chmod(0o600)
    for problem in (
        examination for examination in material.examinations.values() if isinstance(examination, VivaError)
    ):
        raise problem
    return material


def _graded(settings: Settings, root: Path) -> dict:
    submission = Submission(settings.assignment, STUDENT, root / "submission")
    if not submission.folder.is_dir():
        raise CourseError(f"The folder {submission.folder} does not exist, so nothing was graded.")
    with open_grader(settings, root, submission.folder) as (grader, sandbox, reached):
        protection = reached.sentence(sandbox)
        print(protection)
        prepared = root / "source" / PREPARED
        material = Material.from_bytes(prepared.read_bytes()) if prepared.exists() else _rehearsed(root, grader)
        try:
            package = _packed(submission)
            # The run without hidden lines is the first: where code can leave files in /tmp, the other can leave some.
            shown, passed = (
                msgspec.msgpack.decode(go_through(package, shown_material, grader), type=Passed)
                for shown_material in (material.without_hidden_lines(), material)
            )
        except SubmissionError as error:
            shown = passed = Passed(f"the submission {error}")
    _tell(passed)
    return resultsjson.results(passed, shown, material, root / "source" / SOURCE, settings, protection)


def _packed(submission: Submission) -> bytes:
    package = msgspec.msgpack.decode(pack(submission), type=Package)
    entries = [entry for entry in package.entries if entry.name != DELIVERY]
    return msgspec.msgpack.encode(msgspec.structs.replace(package, entries=entries))


def _tell(passed: Passed) -> None:
    """What instructors read in the autograder's output, beside what students do."""
    lines = [passed.refusal, *passed.notes]
    for name, book in (passed.record.notebooks if passed.record else {}).items():
        lines += [f"{name}.ipynb: {sentence}" for sentence in wording.sentences([*book.repairs, *book.integrity])]
        for cell, checks in book.checks.items():
            for result in checks:
                points, why = f"{result.earned:g} of {result.points:g}", " ".join(wording.reason(result).split())
                lines.append(f"{name}.ipynb, {cell}: {points}: {result.title} ({result.word}) {why}")
    lines += [f"The grader failed: {fault}" for fault in (passed.record.faults if passed.record else ())]
    for sentence in filter(None, lines):
        print(plaintext.lines(sentence))


def _compare_points(settings: Settings, root: Path) -> None:
    """Say where the assignment in Gradescope has other points."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        total = json.loads((root / "submission_metadata.json").read_bytes())["assignment"]["total_points"]
        points = settings.automatic_points + settings.manual_points
        if float(total) not in (points, settings.automatic_points):
            print(
                f"In Gradescope this assignment has {wording.counted(float(total), 'point')}, but the notebooks "
                f"have {settings.automatic_points:g} by checks and {settings.manual_points:g} by manual grading."
            )


def _write(path: Path, document: dict) -> None:
    with leftovers.whole(path, 0o644) as file:
        json.dump(document, file, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
