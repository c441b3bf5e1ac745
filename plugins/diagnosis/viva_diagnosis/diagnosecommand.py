"""The command that recognises known mistakes in graded submissions: diagnose."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.preprocessors import Execute
from rich.progress import Progress
from traitlets import Bool
from traitlets.config import Config

from viva.commands.command import FORCE, NO_SANDBOX, WORKERS, VivaCommand
from viva.commands.terminal import explained, figures
from viva.course.course import Course
from viva.course.examining.autograde import Examine
from viva.course.examining.graders import new_grader
from viva.course.gradebook.recording import Expected
from viva.course.gradebook.results import Results
from viva.course.grading.material import Material
from viva.course.releasing import contract
from viva.course.source import machine
from viva.course.source.timelimit import seconds_of
from viva.engine import libraries
from viva.engine.blueprint import read_notebook
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.folder import walk
from viva.record import SubmissionRecord
from viva_diagnosis import diagnoses
from viva_diagnosis.diagnoses import Diagnoses, Diagnosis
from viva_diagnosis.diagnosing import Diagnosing, lost_in
from viva_diagnosis.writtengroups import Group, groups_of

MEANINGS = (
    "mistakes: the known mistakes. lost points: submissions that lost points. diagnosed: those of them that were "
    "compared. with a mistake: those that behave like a known mistake."
)
"""What the heads of the table mean."""


class DiagnoseCommand(VivaCommand):
    name = "viva-diagnose"
    heading = "Grade"
    description = "Find known mistakes in graded submissions, for feedback, report and graders."
    examples = """
        viva diagnose                                all assignments
        viva diagnose ps3_scaled_attention           one assignment, after 'viva grade'
        viva diagnose ps3 --no-mutants               only the mistakes in answers/, which takes less time
    """
    aliases = nbgrader_aliases | WORKERS
    flags = (
        VivaCommand.flags
        | FORCE
        | NO_SANDBOX
        | {"no-mutants": ({"DiagnoseCommand": {"mutants": False}}, "Leave out the changes of the solution.")}
    )
    mutants = Bool(True, help="Also recognise mutants of the solution.").tag(config=True)
    settings = (Execute, Examine)

    def run(self) -> int:
        table = explained(MEANINGS, "assignment", *figures("mistakes", "lost points", "diagnosed", "with a mistake"))
        document = []
        graded = self._graded()
        with self.alone(), contextlib.closing(_grader(self.course, list(graded), self.config)) as grader:
            for assignment, records in graded.items():
                mistakes, entries = self._diagnose(assignment, records, grader)
                lost = sum(any(lost_in(record, name)[0] for name in record.notebooks) for record in records)
                recognised = sum(bool(entry.findings) for entry in entries)
                table.add_row(assignment, *map(str, (mistakes, lost, len(entries), recognised)))
                document.append(
                    {"assignment": assignment, "mistakes": mistakes, "lost": lost, "diagnosed": len(entries)}
                    | {"recognised": recognised, "groups": _groups(entries)}
                )
        if document:
            self.console.print(table)
            self._say("The pages show it. To write them again, run: viva feedback, viva report")
        self.show_document(assignments=document)
        return 0

    def _graded(self) -> dict[str, list[SubmissionRecord]]:
        """The records of the chosen assignments that have some."""
        graded: dict[str, list[SubmissionRecord]] = {assignment: [] for assignment in self.chosen_assignments()}
        for record in Results.of(self.course.directory).read().values():
            if record.assignment in graded and not record.faults:
                graded[record.assignment].append(record)
        for assignment in [name for name, records in graded.items() if not records]:
            del graded[assignment]
            self._say(f"{assignment}: Nothing is graded, so nothing was diagnosed. Run: viva grade {assignment}")
        return graded

    def _diagnose(
        self, assignment: str, records: list[SubmissionRecord], grader: Grader
    ) -> tuple[int, list[Diagnosis]]:
        """Diagnose an assignment: the number of its known mistakes, and the diagnoses. Raises CourseError."""
        path = diagnoses.path_of(self.course, assignment)
        kept, force = diagnoses.read(path).entries, bool(self.config.BaseConverter.get("force"))
        entries: list[Diagnosis] = []
        written: list[Group] = []
        mistakes = 0
        with self.course.gradebook() as gradebook:
            expected = Expected.of(gradebook, assignment)
        present = contract.of(self.course, assignment, expected, self._say)
        material = Material.of(self.course, assignment, self.config, expected, grader)
        if material.seeds is not None:
            self._say(f"{assignment}: It has variants. Assignments with variants are not diagnosed.")
            return 0, []
        for name, examination in material.examinations.items():
            if not isinstance(examination, Examination):
                self._say(f"{assignment}: {name}.ipynb cannot be diagnosed: {examination}")
                continue
            grader.learn(examination)
            release = read_notebook(self.course.path("release", assignment) / f"{name}.ipynb")
            count = self.workers or len(os.sched_getaffinity(0))
            work = Diagnosing(self.course, assignment, name, examination, release, present, grader, count)
            with self._bar(f"mistakes of {assignment}") as progress:
                made = work.fingerprints(self.mutants, progress, force)
            if not made.calls:
                self._say(
                    f"{assignment}: {name}.ipynb was not diagnosed, because its tests call no function with plain data."
                )
            mistakes += len(made.mistakes)
            of_this = [entry for entry in kept if entry.notebook == name]
            entries += work.diagnoses(made, records, of_this, force)
            written += groups_of(self.course, release, name, records)
        diagnoses.write(Diagnoses(sorted(entries, key=lambda entry: (entry.student, entry.notebook)), written), path)
        return mistakes, entries

    @contextlib.contextmanager
    def _bar(self, title: str) -> Iterator:
        """A progress bar; none where this is not a terminal."""
        with Progress(console=self.console, disable=not self.console.is_terminal) as progress:
            task = progress.add_task(title, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)


def _grader(course: Course, assignments: list[str], config: Config) -> Grader:
    """A grader with the limits of `viva grade`. Raises CourseError where this machine cannot sandbox student code."""
    step = Examine(config=config)
    folders = [contract.folder_of(course.directory, assignment) for assignment in assignments]
    source = [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]
    released = [path for assignment in assignments for path in course.path("release", assignment).glob("*.ipynb")]
    seconds = seconds_of(config)
    settings = seconds, step.no_sandbox, step.memory, step.budget
    files = [path for name in assignments for path in walk(contract.files_of(course.directory, name))]
    given = machine.provided(config, source, files)
    return new_grader(*settings, libraries.wanted(released), libraries.wanted(source), given)


def _groups(entries: list[Diagnosis]) -> list[dict]:
    """The findings with how many students have each, the most frequent first."""
    counts = Counter(
        (entry.notebook, finding.sentence(finding.graders)) for entry in entries for finding in entry.findings
    )
    return [
        {"notebook": notebook, "sentence": sentence, "students": count}
        for (notebook, sentence), count in counts.most_common()
    ]
