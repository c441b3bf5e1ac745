"""Check lines proposed from mutants: what would notice those that survive, or that only hidden lines notice.

Theory of operation. Of each such mutant a worker looks for small calls on which the solution differs, and writes them
as lines (``checkline``). The engine then grades a copy of the notebook in which each line is a check of its own, worth
nothing: lines that the solution loses in one of several runs, in a variant, or that a known right answer loses, are
left out, and what is left says which mutants it notices. A few lines that notice most are chosen, each put into a
check, and the notebook is graded once more as it would be.

**Where a line goes.** Into a check of the exercise: that of the fewest answers, so that one mistake costs once; rather
one that mentions the name, rather one that students see; the first of these. Points stay as they are. A line stands at
the end of the check's visible lines. Only where all of a check is hidden, a line for a survivor is hidden, too.
"""

from __future__ import annotations

import contextlib
import copy
import difflib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory

from viva.course.course import Course
from viva.course.processes import leftovers
from viva.engine.blueprint import read_notebook
from viva.engine.checks import CHECK, HIDDEN
from viva.engine.credit import BEYOND, FULL, PART
from viva.engine.dialogue.expected import CREDIT
from viva.notebook.cell import Purpose, name_of
from viva.notebook.names import names_of
from viva.notebook.programming import PYTHON, language_of
from viva.notebook.syntax import statements_of
from viva.submission import variant
from viva.verdict import BlueprintError, CourseError, Verdict
from viva.wording import counted
from viva_audit.audit import SEEDS, Jobs, Run, opened, visible
from viva_audit.auditresult import Audit, CheckScore, Fate
from viva_audit.checkname import CheckName
from viva_audit.mutants import Mutant
from viva_audit.trials import Probe
from viva_audit.trimming import used_later

MOST = 60
"""The most mutants of a notebook for which lines are looked for."""
FROM_GAP = 6
"""The most of these with a mistake in one line."""
LEFT_OUT = ("report", ".rehearsals", ".forgotten", "submitted", "autograded", "feedback", "release", "backup")
"""What a copy of a course does without."""
FIRST, LAST = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


@dataclass
class Proposal:
    """Lines for a check, and what they notice; ``diff`` is a unified diff of the test cell."""

    number: int
    check: CheckName
    answer: str
    text: str
    hidden: bool
    fates: list[Fate]
    diff: str = ""

    def sentence(self) -> str:
        first, numbers = self.fates[0], [str(fate.number) for fate in self.fates]
        where = "hidden" if self.hidden else "visible"
        return (
            f"Proposal {self.number}, {where} lines for '{self.check}': they notice "
            f"{counted(len(self.fates), 'mutant')} of '{self.answer}' ({', '.join(numbers)}), for example: "
            f"{first.change}"
        )

    def record(self) -> dict:
        facts = {"number": self.number, "check": str(self.check), "answer": self.answer, "text": self.text}
        mutants = [fate.number for fate in self.fates]
        return facts | {"hidden": self.hidden, "mutants": mutants, "diff": self.diff}


@dataclass
class Proposals:
    """What is proposed for one notebook, and a sentence for each group of mutants without a line."""

    assignment: str
    notebook: str
    wanted: int = 0
    """Survivors and surprises."""
    survivors: int = 0
    lines: list[Proposal] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    """How many mutants were tried, by what became of them."""

    def none_wanted(self) -> str:
        """Why no line is wanted, in a sentence that says what was tried."""
        if not self.states:
            return "No line is proposed: no mutant was tried."
        parts = [f"checks notice {self.states.get('killed', 0)}"]
        words = {
            "equal": "gave the same as the solution",
            "excused": "are excused",
            "unproven": "could not be compared",
        }
        parts += [f"{self.states[state]} {said}" for state, said in words.items() if self.states.get(state)]
        first = "No line can be proposed" if self.states.get("unproven") else "No line is needed"
        return f"{first}: of {counted(sum(self.states.values()), 'mutant')}, {', '.join(parts)}."

    def noticed(self, survivors: bool = False) -> int:
        """How many of the mutants some line notices; with ``survivors`` of those that no check noticed."""
        fates = {fate.number: fate for proposal in self.lines for fate in proposal.fates}
        return sum(not survivors or fate.status == "survived" for fate in fates.values())

    def record(self) -> dict:
        counts = {"wanted": self.wanted, "noticed": self.noticed()}
        lines = [proposal.record() for proposal in self.lines]
        names = {"assignment": self.assignment, "notebook": self.notebook}
        return names | counts | {"proposals": lines, "reasons": self.reasons, "notes": self.notes}


@dataclass
class Draft:
    """Lines that may be proposed, and the check that they are for."""

    answer: str
    check: CheckName
    texts: dict[str, str]
    title: str = ""
    kills: set[int] = field(default_factory=set)


def proposals(
    course: Course,
    audit: Audit,
    *,
    seconds: float = 30.0,
    budget: float = 0.0,
    no_sandbox: bool = False,
    memory: int,
    workers: int | None = None,
) -> Proposals:
    """Check lines for the survivors and surprises of an audit of a notebook as it is; the limits are the audit's.

    Nothing of the course is changed. Raises what ``audit`` raises.
    """
    fates = [fate for fate in audit.fates if fate.status == "survived" or fate.surprise]
    result = Proposals(audit.assignment, audit.notebook, len(fates), audit.count("survived"))
    result.states = Counter(fate.status for fate in audit.fates)
    broken = [proof for proof in audit.proofs if proof.case in ("solution", "again") and not proof.holds]
    if not fates or broken:
        return result
    how = (seconds, budget, memory), no_sandbox, workers, None, False, print, lambda *_: None
    path = course.path("source", audit.assignment) / f"{audit.notebook}.ipynb"
    if (language := language_of(read_notebook(path).metadata)) != PYTHON:
        raise BlueprintError(f"{path} is written in {language}. Check lines are proposed only for Python.")
    with opened(course, audit.assignment, audit.notebook, *how) as run:
        search = _Search(run, audit, result)
        drafts = search.drafts(fates)
    if not drafts:
        search.explain(set())
        return result
    with _copied(course, audit.assignment) as trial_course:
        target = trial_course.path("source", audit.assignment) / path.name
        _write(target, _tried(read_notebook(path), drafts))
        with opened(trial_course, audit.assignment, audit.notebook, *how) as run:
            _measure(run, drafts, search.mutations, fates)
        chosen = _cover([draft for draft in drafts if draft.kills])
        while chosen:
            _place(read_notebook(path), chosen, fates, result)
            _write(target, _with(read_notebook(path), result.lines))
            with opened(trial_course, audit.assignment, audit.notebook, *how) as run:
                lost = _confirm(run, search)
            if not lost:
                break
            chosen = [draft for draft in chosen if draft.check.cell not in lost]
            result.lines, result.notes = [], []
            search.failing |= lost
    result.reasons += [f"No line was added to '{cell}': in its place {why}." for cell, why in search.failing.items()]
    search.explain({fate.number for proposal in result.lines for fate in proposal.fates})
    return result


def write(course: Course, proposed: Proposals, accepted: Iterable[int] = ()) -> list[Proposal]:
    """Put the ``accepted`` proposals, by default all, into the source notebook; those that were put there.

    Raises CourseError for a number that none has.
    """
    numbers = set(accepted)
    if unknown := numbers - {proposal.number for proposal in proposed.lines}:
        raise CourseError(f"{proposed.assignment} has no proposal {min(unknown)}. Nothing was written.")
    accepted_lines = [proposal for proposal in proposed.lines if not numbers or proposal.number in numbers]
    path = course.path("source", proposed.assignment) / f"{proposed.notebook}.ipynb"
    if accepted_lines:
        _write(path, _with(read_notebook(path), accepted_lines))
    return accepted_lines


# --- looking for lines


class _Search:
    """The search for lines, in a run of the notebook as it is."""

    def __init__(self, run: Run, audit: Audit, result: Proposals) -> None:
        self.run, self.audit, self.result = run, audit, result
        watched = run.one("watch", run.blueprint)
        trials = run.map(list(run.jobs.proofs())[1:3])
        trials |= run.map([job for job in run.jobs.alone(trials) if job[0][0] == "without"])
        tests = run.tests(trials)
        self.mutations = [mutant for mutant in run.mutants(watched) if tests[mutant.cell]]
        self.lacking: dict[int, str] = {}
        self.inside = run.known.inside
        self.failing: dict[str, str] = {}
        self.fates: dict[int, Fate] = {}

    def drafts(self, fates: list[Fate]) -> list[Draft]:
        """Lines for these mutants, without doubles."""
        self.fates = {fate.number: fate for fate in fates}
        chosen = list(_chosen(fates))
        if len(chosen) < len(fates):
            left = len(fates) - len(chosen)
            self.result.notes.append(
                f"Only {len(chosen)} of {len(fates)} mutants were used to find lines; the other {left} are like these."
            )
        jobs = []
        for fate in chosen:
            mutant = self.mutations[fate.number - 1]
            checks = self._checks(fate)
            names = self._names(mutant)
            if isinstance(checks, str):
                self.lacking[fate.number] = checks
            elif not names:
                self.lacking[fate.number] = "no test or read-only cell uses a name of this answer"
            else:
                jobs.append((fate.number, "lines", self.run.blueprint, mutant.cell, mutant.source, names))
        drafts: dict[tuple, Draft] = {}
        for (number, *_), reply in sorted(self.run.pool.map(jobs), key=lambda pair: pair[0][0]):
            if not reply or not reply["lines"]:
                self.lacking[number] = reply["reason"] if reply else "Python crashed twice during the search"
            for line in reply["lines"] if reply else ():
                fate = self.fates[number]
                check = self._check(self._checks(fate), line["name"], fate.surprise)
                texts = {kind: line[kind] for kind in ("visible", "hidden")}
                drafts.setdefault((check, line["visible"]), Draft(fate.cell, check, texts))
        for index, draft in enumerate(drafts.values(), start=1):
            draft.title = f"proposal {index}"
        return list(drafts.values())

    def _names(self, mutant: Mutant) -> list[str]:
        """The names that the answer binds and that a test or a read-only cell uses: what students are asked for."""
        cells = {cell.id: cell for cell in self.run.blueprint.cells}
        bound = names.bound if (names := names_of(cells[mutant.cell].source)) else set()
        asking = [cell for cell in cells.values() if cell.purpose in (Purpose.TESTS, Purpose.READ_ONLY) and cell.code]
        used = set().union(*(names.needed for cell in asking if (names := names_of(cell.source))))
        return sorted(bound & used & set(used_later(self.run.blueprint, mutant.cell)))

    def _checks(self, fate: Fate) -> list[CheckScore] | str:
        """The checks of an exercise that lines can be added to, or why there is none."""
        scores = [score for score in self.audit.scores if fate.cell in score.answers]
        if not scores:
            return "no check tests this answer"
        kinds = self.run.known.kinds
        scores = [score for score in scores if kinds.get(CREDIT + score.check.cell) not in (FULL, PART, BEYOND)]
        return scores or "the last value of its test is the number of points"

    def _check(self, scores: list[CheckScore] | str, name: str, surprise: bool) -> CheckName:
        """The check that lines about a name go into."""
        assert not isinstance(scores, str)
        sources = {CheckName(cell.id, check.title): check.source for cell, check in self.run.blueprint.checks()}

        def rank(score: CheckScore) -> tuple:
            names = names_of(sources[score.check])
            return len(score.answers), not (names and name in names.needed), score.hidden

        return min(scores, key=rank).check

    def explain(self, noticed: set[int]) -> None:
        """A sentence on each group of mutants that no proposal notices, with the reason."""
        groups: dict[tuple[str, str], list[Fate]] = {}
        for number, fate in self.fates.items():
            if number not in noticed:
                reason = self.lacking.get(number, "each line that was found fails a right answer, or notices nothing")
                groups.setdefault((fate.cell, reason), []).append(fate)
        self.result.reasons += [
            f"No line is proposed for {counted(len(group), 'mutant')} of '{cell}' "
            f"({', '.join(str(fate.number) for fate in group)}), because {reason}. For example: {group[0].change}"
            for (cell, reason), group in groups.items()
        ]


def _chosen(fates: list[Fate]) -> Iterator[Fate]:
    """The mutants for which lines are looked for: by turns one of each line of a solution, survivors first."""
    groups: dict[tuple, list[Fate]] = {}
    for fate in sorted(fates, key=lambda fate: fate.surprise):
        groups.setdefault((fate.surprise, fate.cell, fate.line), []).append(fate)
    turns = [fate for turn in range(FROM_GAP) for group in groups.values() for fate in group[turn : turn + 1]]
    yield from turns[:MOST]


# --- measuring them


@contextlib.contextmanager
def _copied(course: Course, assignment: str) -> Iterator[Course]:
    """A copy of a course with one assignment, in a temporary folder. Raises CourseError where its source folder is
    outside the course."""
    source = course.path("source", assignment)
    if not source.is_relative_to(course.root):
        raise CourseError(f"{source} is outside the course folder {course.root}. No line can be proposed.")
    relative = source.relative_to(course.root)
    with tempfile.TemporaryDirectory(prefix="viva-proposals-") as name:
        folder = Path(name)
        for path in course.root.iterdir():
            if path.name not in (relative.parts[0], *LEFT_OUT) and not path.name.startswith("gradebook.db"):
                (folder / path.name).symlink_to(path.absolute())
        shutil.copytree(source, folder / relative, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        for path in source.parent.iterdir():
            if path.is_file():
                shutil.copy(path, folder / relative.parent)
        config = copy.deepcopy(course.directory.config)
        config.CourseDirectory.root = str(folder)
        yield Course(CourseDirectory(config=config))


def _tried(notebook: NotebookNode, drafts: list[Draft]) -> NotebookNode:
    """A notebook in which each draft is a check of its own, worth nothing."""
    for cell in notebook.cells:
        lines = [f"### CHECK 0: {draft.title}\n{draft.texts['visible']}" for draft in _of(drafts, name_of(cell))]
        if not lines:
            continue
        if not any(map(CHECK.match, cell.source.splitlines())):
            cell.source = f"### CHECK {float(cell.metadata.nbgrader.points)!r}: {name_of(cell)}\n{cell.source}"
        cell.source = "\n".join([cell.source.rstrip(), *lines])
    return notebook


def _of(drafts: list[Draft], cell: str) -> list[Draft]:
    return [draft for draft in drafts if draft.check.cell == cell]


def _measure(run: Run, drafts: list[Draft], mutations: list[Mutant], fates: list[Fate]) -> None:
    """Note which mutants each draft notices; none for one that what is right loses in some run."""
    right = Jobs(run.release, run.known, [answer for answer in run.answers if answer.right])
    trials = list(_right_trials(run, right).values())
    sound = [draft for draft in drafts if all(_passes(trial, _name(draft)) for trial in trials)]
    if not sound:
        return
    for number, trial in _mutant_trials(run, drafts, mutations, fates, run.known).items():
        for draft in sound:
            if trial and not trial.faults and _name(draft) in trial.lost:
                draft.kills.add(number)


def _name(draft: Draft) -> CheckName:
    return CheckName(draft.check.cell, draft.title)


def _passes(trial: Probe | None, check: CheckName) -> bool:
    if trial is None or trial.faults or check not in trial.rulings:
        return False
    return trial.rulings[check].verdict is Verdict.PASSED


def _right_trials(run: Run, jobs: Jobs) -> dict:
    """What the solution and known answers come to: again and again, from other random states, and in variants."""
    trials = run.map(jobs.proofs())
    trials |= run.map(jobs.again(trials))
    try:
        if variant.default_of(run.blueprint) is not None:
            for seed in SEEDS:
                trials |= run.map(jobs.varied(trials, seed, wrong=False))
    except BlueprintError:  # the audit says so
        pass
    return {key: trial for key, trial in trials.items() if key != ("untouched",)}


def _mutant_trials(run: Run, drafts: Iterable, mutations: list[Mutant], fates: list[Fate], examination) -> dict:
    """By number, what mutants come to in the test cells of some drafts."""
    tests: dict[str, set[str]] = {cell: set() for cell in run.cells}
    for draft in drafts:
        tests[draft.answer].add(draft.check.cell)
    fates = [fate for fate in fates if tests[fate.cell]]
    if not fates:
        return {}
    ground = run.ground(tests)
    if examination is not run.known:
        ground = {cell: (notebook, visible(hiding), limit) for cell, (notebook, hiding, limit) in ground.items()}
    trials = run.map(run.jobs.mutations([mutations[fate.number - 1] for fate in fates], ground))
    return {fate.number: trials["mutant", index] for index, fate in enumerate(fates)}


def _cover(drafts: list[Draft]) -> list[Draft]:
    """Few drafts that notice all that any of them notices: one by one that which notices most, then the shortest."""
    chosen: list[Draft] = []
    left = set().union(*(draft.kills for draft in drafts)) if drafts else set()
    while left:
        best = max(drafts, key=lambda draft: (len(draft.kills & left), -len(draft.texts["visible"])))
        chosen.append(best)
        left -= best.kills
    return chosen


# --- putting them in place


def _place(notebook: NotebookNode, chosen: list[Draft], fates: list[Fate], result: Proposals) -> None:
    """Make proposals of drafts, each with its diff."""
    by_number = {fate.number: fate for fate in fates}
    cells = {name_of(cell): cell.source for cell in notebook.cells}
    for number, draft in enumerate(chosen, start=1):
        noticed = [by_number[kill] for kill in sorted(draft.kills)]
        source = cells[draft.check.cell]
        hidden = not any(fate.surprise for fate in noticed) and _is_hidden(source, draft.check.title)
        text = draft.texts["hidden" if hidden else "visible"]
        proposal = Proposal(number, draft.check, draft.answer, text, hidden, noticed)
        name = f"{result.assignment}/{result.notebook}.ipynb, cell {draft.check.cell}"
        lines = difflib.unified_diff(
            source.splitlines(), added(source, proposal).splitlines(), name, "with the proposal", lineterm=""
        )
        proposal.diff = "\n".join(lines)
        result.lines.append(proposal)


def _with(notebook: NotebookNode, lines: list[Proposal]) -> NotebookNode:
    """A notebook with proposals in their places, and without outputs."""
    for cell in notebook.cells:
        for proposal in lines:
            if proposal.check.cell == name_of(cell):
                cell.source = added(cell.source, proposal)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def _write(path: Path, notebook: NotebookNode) -> None:
    leftovers.write(path, nbformat.writes(notebook) + "\n")


def _span(source: str, title: str) -> tuple[int, int]:
    """The first line of a check and the one after its last; all lines where no check begins."""
    lines = source.splitlines()
    starts = [(index, match["title"]) for index, line in enumerate(lines) if (match := CHECK.match(line))]
    for rank, (index, name) in enumerate(starts):
        if name == title:
            return index + 1, starts[rank + 1][0] if rank + 1 < len(starts) else len(lines)
    return 0, len(lines)


def _is_hidden(source: str, title: str) -> bool:
    first, last = _span(source, title)
    shown = HIDDEN.sub("", "\n".join(source.splitlines()[first:last]))
    return not any(line.strip() and not line.lstrip().startswith("#") for line in shown.splitlines())


def added(source: str, proposal: Proposal) -> str:
    """A test cell with the lines of a proposal: before the hidden lines that end the check, else at its end."""
    lines, new = source.splitlines(), proposal.text.splitlines()
    first, last = _span(source, proposal.check.title)
    while last > first and not lines[last - 1].strip():
        last -= 1
    block = [FIRST, *new, LAST] if proposal.hidden else new
    places = [(last, block)]
    if last > first and lines[last - 1].startswith("#") and "END HIDDEN TESTS" in lines[last - 1]:
        begins = [index for index in range(first, last) if "BEGIN HIDDEN TESTS" in lines[index]]
        if proposal.hidden:
            places.insert(0, (last - 1, new))
        elif begins and lines[begins[-1]].startswith("#"):
            places.insert(0, (begins[-1], new))
    before = statements_of(source)
    for index, text in places:
        changed = "\n".join([*lines[:index], *text, *lines[index:]])
        after = statements_of(changed)
        if len(after) == len(before) + len(statements_of(proposal.text)):
            return changed
    return "\n".join([*lines[:last], *block, *lines[last:]])


def _confirm(run: Run, search: _Search) -> dict[str, str]:
    """Grade the notebook as it would be; by test cell, what speaks against its lines.

    What a proposal notices is corrected, and notes say which wrong answers lose more than they should.
    """
    result = search.result
    cells = {proposal.check.cell for proposal in result.lines}
    against = dict.fromkeys(
        cells & (run.known.inside - search.inside), "more lines would make it a single-process cell"
    )
    lost_before = {check for proof in search.audit.proofs if proof.case == "right" for check in proof.lost}
    trials = _right_trials(run, run.jobs)
    for key, trial in trials.items():
        wrong = key[0] in ("answer", "second") and not run.answers[key[1]].right
        if wrong:
            continue
        for check in trial.lost if trial else ():
            if check.cell in cells and check not in lost_before:
                against.setdefault(check.cell, "a right answer would lose points")
    if against:
        return against
    fates = [fate for proposal in result.lines for fate in proposal.fates]
    unique = list({fate.number: fate for fate in fates}.values())
    survivors = [fate for fate in unique if not fate.surprise]
    surprises = [fate for fate in unique if fate.surprise]
    noticed: dict[int, set[CheckName]] = {}
    for group, examination in ((survivors, run.known), (surprises, visible(run.known))):
        trials_of = _mutant_trials(run, result.lines, search.mutations, group, examination)
        noticed |= {number: set(trial.lost) if trial else set() for number, trial in trials_of.items()}
    for proposal in result.lines:
        proposal.fates = [fate for fate in proposal.fates if proposal.check in noticed.get(fate.number, ())]
    result.lines = [proposal for proposal in result.lines if proposal.fates]
    _note_wrong(run, search.audit, trials, result)
    return {}


def _note_wrong(run: Run, audit: Audit, trials: dict, result: Proposals) -> None:
    """Say which wrong answers lose a check that their docstrings do not name."""
    before = {proof.name: {*proof.lost, *proof.expected} for proof in audit.proofs if proof.case == "wrong"}
    for index, answer in enumerate(run.answers):
        trial = trials.get(("answer", index))
        if answer.right or not trial:
            continue
        for check in trial.lost.keys() - before.get(answer.name, set()):
            result.notes.append(
                f"With these lines the wrong answer {answer.name} also loses '{check}'. Add it to the list in its "
                "docstring."
            )
