"""Commands of an instructor who writes assignments: new, release."""

from __future__ import annotations

from dataclasses import replace

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter, GenerateAssignment
from nbgrader.preprocessors import Execute
from rich.table import Table
from traitlets import Bool, Dict

from viva.commands.command import NEEDS_GRADER, NO_SANDBOX, WORKERS, VivaCommand
from viva.commands.terminal import OF_SUBMISSIONS, explained, figures
from viva.configuration import ignored
from viva.course.examining.autograde import Examine
from viva.course.gradebook import agreement
from viva.course.grading import remote
from viva.course.regrade.edition import Edition
from viva.course.releasing import proof
from viva.course.releasing.release import Release, rehearsing, release
from viva.course.releasing.releasecheck import course_copy, differences
from viva.course.releasing.solutions import write_solutions
from viva.course.releasing.variants import Copies, Variants, is_on, students_of, write_copies
from viva.course.source import timelimit
from viva.course.source.skeleton import write_assignment
from viva.engine.grading import Grader
from viva.verdict import CourseError, VivaError
from viva.wording import counted, folded

NO_AUDIT = {"no-audit": ({"ReleaseCommand": {"no_audit": True}}, "Release without an audit.")}
VARIANTS = {
    "variants": ({"ReleaseCommand": {"variants": True}}, "Also write each student's variant into variants/."),
    "dry-run": (
        {"ReleaseCommand": {"dry_run": True}},
        "With --variants: only list the variants that would be written.",
    ),
}
SOLUTIONS = {
    "solutions": (
        {"ReleaseCommand": {"solutions": True}},
        "Write the solutions into solutions/, without hidden tests, and release nothing.",
    )
}

CHECK = {
    "check": (
        {"ReleaseCommand": {"check": True}},
        "Only check that release/ matches source/; change nothing.",
    )
}


class ReleaseCommand(VivaCommand):
    name = "viva-release"
    description = "Compile assignments that pass their audit into release/ and enter them into the gradebook."
    examples = """
        viva release                      all assignments
        viva release ps1 --solutions      after the deadline: solution notebooks, and no release
    """
    aliases = nbgrader_aliases | WORKERS | remote.aliases()
    flags = VivaCommand.flags | NO_SANDBOX | NO_AUDIT | VARIANTS | SOLUTIONS | CHECK | remote.flags()
    no_audit = Bool(False, help="Also release assignments that failed their audit.").tag(config=True)
    variants = Bool(False, help="Write each student's variant.").tag(config=True)
    dry_run = Bool(False, help="Only list the variants that would be written.").tag(config=True)
    solutions = Bool(False, help="Write solution notebooks, and release nothing.").tag(config=True)
    check = Bool(False, help="Only check that release/ matches source/.").tag(config=True)
    editions = Dict()
    """By assignment, the edition before this command; the command runs again after a lost connection."""
    settings = (BaseConverter, GenerateAssignment, Execute, Examine, Variants, *remote.settings())

    def run(self) -> int:
        assignments = self.chosen_assignments()
        if self.solutions:
            return self._write_solutions(assignments)
        if self.check:
            return self._check(assignments)
        self._say(*ignored(self.config))
        self._say(*timelimit.remarks(self.config))
        agreement.require_kept(self.course, assignments)  # before the first opening makes a gradebook
        self.with_variants = self._with_variants(assignments)
        if self.dry_run:
            self._show_copies([write_copies(self.course, name, dry_run=True) for name in self.with_variants])
            return 0
        unproven = [name for name in assignments if not proof.stands(self.course, name)]
        refused, self.known = set(), set(assignments) - set(unproven)
        if unproven and not self.no_audit:
            sound = proof.prove(self.course, unproven, self.config, self.console, self.workers or None)
            refused = {name for name in unproven if not sound[name]}
            unproven = []
        left = [assignment for assignment in assignments if assignment not in refused]
        failures = self._release(left, unproven, alone=len(assignments) == 1)
        if refused:
            self._say(
                f"Not released: {', '.join(sorted(refused))}. Fix the errors, or give a reason for a surviving "
                "mutant in answers/<assignment>/excused.toml, or release without the audit: --no-audit."
            )
        variants = {"variants": [vars(copy) for copy in self.copies]} if self.variants else {}
        self.show_document(
            released=[done.record() for done in self.releases], refused=sorted(refused), failures=failures, **variants
        )
        lost = any(done.not_passed for done in self.releases)
        return NEEDS_GRADER if refused or failures or lost else 0

    def _check(self, assignments: list[str]) -> int:
        """Say which files of release/ are not what source/ compiles to."""
        found, absent = {}, []
        with (
            course_copy(self.course, self.config) as (copied, config),
            rehearsing(copied, assignments, config) as grader,
        ):
            for name in assignments:
                if not (folder := self.course.path("release", name)).is_dir():
                    absent.append(name)
                    continue
                release(copied, name, config=config, grader=grader)
                if different := differences(folder, copied.path("release", name)):
                    found[name] = different
        for name, different in found.items():
            self._say_error(
                f"{name}: release/ does not match source/: {', '.join(different)}. Run: viva release {name}"
            )
        if absent:
            self._say(f"Not in release/, so there is nothing to compare: {', '.join(absent)}.")
        if same := [name for name in assignments if name not in {*found, *absent}]:
            self._say(f"release/ matches source/: {', '.join(same)}.")
        self.show_document(different=found, absent=absent, same=same)
        return NEEDS_GRADER if found else 0

    def _write_solutions(self, assignments: list[str]) -> int:
        """Write solution notebooks. Raises CourseError where another option asks for a release."""
        if self.variants or self.dry_run or self.no_audit:
            raise CourseError(
                "--solutions releases nothing, so it cannot be used with --variants, --dry-run or --no-audit."
            )
        with self.alone():
            written = [path for name in assignments for path in write_solutions(self.course, name, self._say)]
        self._say(*(f"written: {path}" for path in written))
        self._say(
            "Give these notebooks to students after the last deadline. 'viva deadlines' lists the deadlines. "
            "extensions.csv lists the extensions."
        )
        self.show_document(solutions=[str(path) for path in written])
        return 0

    def _with_variants(self, assignments: list[str]) -> list[str]:
        """The assignments whose variants are to be written. Raises CourseError where a named one has no variants."""
        if not self.variants:
            if self.dry_run:
                raise CourseError("--dry-run needs --variants: it lists the variants that would be written.")
            return []
        if not self.extra_args and not self.coursedir.assignment_id:
            assignments = [name for name in assignments if is_on(self.course, name)] or assignments[:1]
        for name in assignments:
            students_of(self.course, name)  # reports a missing class before anything is released
        return assignments

    def _show_copies(self, copies: list[Copies]) -> None:
        """Print a table of the written variants; after a dry run, which releases nothing, also a document."""
        table = Table("variants", *figures("new", "changed", "unchanged"), "folder")
        for copy in copies:
            counts = (str(len(part)) for part in (copy.new, copy.changed, copy.unchanged))
            table.add_row(copy.assignment, *counts, str(copy.folder))
        if copies:
            self.console.print(table)
        for copy in copies:
            self._say(*copy.remarks)
            if copy.changed:
                verb = "would be" if self.dry_run else "were"
                self._say(
                    f"{copy.assignment}: the release changed, so {len(copy.changed)} variants {verb} written "
                    "again. Students who still work on them need the new copies."
                )
        if self.dry_run:
            self._say(
                "Nothing was released or written. The copies were compared with the current release/. To write "
                "them, run the same command without --dry-run."
            )
            self.show_document(variants=[vars(copy) for copy in copies], dry_run=True)

    def _release(self, assignments: list[str], unproven: list[str], alone: bool) -> dict[str, str]:
        """Release assignments, each whatever becomes of the others; by name, why one could not be released.

        One that is ``alone`` is the whole command, and raises.
        """
        meanings = "automatic: points by checks. by hand: points by a grader."
        table = explained(meanings, "assignment", *figures("automatic", "by hand", "points"))
        self.releases, self.copies, failures = [], [], {}
        with self.alone(), rehearsing(self.course, assignments, self.config) as grader:
            for assignment in assignments:
                try:
                    done = self._release_one(assignment, grader, assignment in unproven)
                    if assignment in self.with_variants:
                        with self.console.status(f"writing the variants of {assignment}"):
                            self.copies.append(write_copies(self.course, assignment))
                except VivaError as error:
                    if alone:
                        raise
                    failures[assignment] = str(error)
                    continue
                self.releases.append(done)
                points = done.automatic_points, done.manual_points, done.automatic_points + done.manual_points
                table.add_row(assignment, *(f"{number:g}" for number in points))
                if done.extra_files:
                    self._say(f"{assignment}: also released: {', '.join(done.extra_files)}")
                earlier = proof.single_process(self.course, assignment) if assignment in self.known else []
                self._say(*(f"{assignment}: {sentence}" for sentence in folded((*done.remarks, *earlier))))
        if self.releases:
            self.console.print(table)
        self._show_copies(self.copies)
        if names := [done.assignment for done in self.releases if done.assignment in unproven]:
            self._say(f"Released without an audit: {', '.join(names)}.")
        for sentence in folded(f"{done.assignment}/{test}" for done in self.releases for test in done.not_passed):
            self._say_error(sentence if sentence.endswith(".") else f"{sentence}.")
        for assignment, sentence in failures.items():
            self._say_error(f"Not released: {assignment}. {sentence}")
        return failures

    def _release_one(self, assignment: str, grader: Grader, unproven: bool) -> Release:
        """Release an assignment; where it was graded already, the remarks say what changes and what to do next."""
        with self.course.gradebook() as gradebook:
            graded = len(gradebook.assignment_submissions(assignment))
        if graded and assignment not in self.editions:
            self.editions[assignment] = Edition.of(self.course, assignment)
        before = self.editions.get(assignment)
        done = release(self.course, assignment, config=self.config, grader=grader, unproven=unproven)
        after = Edition.of(self.course, assignment)
        if is_on(self.course, assignment) and not self.variants:
            left = f"the variants were not written. To write them, run: viva release {assignment} --variants"
            done = replace(done, remarks=(*done.remarks, left))
        if before in (None, after):
            return done
        regrade = f"viva regrade {assignment}"
        guide = (
            f"Not graded with the new release yet: {counted(graded, 'submission')}. '{regrade} --what-if' lists "
            f"the scores that would change. '{regrade}' grades them again and keeps a log; 'viva grade' grades "
            "them again without a log"
        )
        return replace(done, remarks=(*done.remarks, *before.sentences(after, assignment), guide))


class NewCommand(VivaCommand):
    name = "viva-new"
    without = OF_SUBMISSIONS
    arguments = "NAME"
    completes = ""
    description = "Write a small assignment to start from: a notebook, a right answer, two wrong ones."
    examples = """
        viva new ps11_my_topic    then: viva audit ps11_my_topic
    """

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one new assignment, as in: viva new ps11_my_topic")
        written = [str(path) for path in write_assignment(self.course, self.extra_args[0])]
        self._say(*(f"written: {path}" for path in written))
        self._say(
            f"The files in answers/{self.extra_args[0]}/ use the names of its cells and checks. If you rename "
            f"those, change or delete the files. Then run: viva audit {self.extra_args[0]}"
        )
        self.show_document(written=written)
        return 0
