"""Audits of several assignments at the terminal: a progress bar, a table, and a sentence for all that is wrong."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.table import Column, Table
from traitlets.config import Config

from viva.course.course import Course
from viva.course.examining.autograde import Examine
from viva.course.examining.graders import require_sandbox
from viva.course.grading.remote import RemoteGraders
from viva.course.processes import slow, stopping
from viva.course.source.timelimit import seconds_of
from viva.verdict import ClusterError, VivaError
from viva.wording import counted, folded
from viva_audit.audit import audit, audit_mutant
from viva_audit.auditpage import ground, record, save
from viva_audit.auditresult import Audit, Exercise, gap_in_words, kinds_in_words, unanswered, weakened
from viva_audit.hygiene import readme_findings
from viva_audit.proposals import Proposals, proposals

SHOWN = 5
"""The most warnings, and the most survivors, of a notebook that are shown; the page shows all."""

LEGEND = (
    "right, wrong: known answers that were graded as expected. killed: mutants that fail a check.",
    "equal: mutants that do the same as the solution. unproven: mutants that cannot be compared.",
    "excused: mutants that pass every check, with a reason in answers/ASSIGNMENT/excused.toml.",
)
"""What the heads of the table mean."""


def empty_table() -> Table:
    """The table of an audit, narrow, so that its heads are whole in a terminal of 80 characters; a name is folded."""
    heads = ("right", "wrong", "killed", "equal", "unproven", "excused")
    numbers = [Column(name, justify="right", no_wrap=True, min_width=len(name)) for name in heads]
    columns = [Column("assignment", overflow="fold"), *numbers, Column(no_wrap=True)]
    return Table(*columns, box=SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)


def prove(
    course: Course,
    assignments: list[str],
    config: Config,
    console: Console,
    audits: list[Audit],
    workers: int | None = None,
    remote: RemoteGraders | None = None,
    renew: bool = False,
) -> dict[str, bool]:
    """Audit assignments, write their pages, print what was found, add to ``audits``.

    Trials whose results are kept are not run again, unless it is to ``renew`` them.

    Returns by assignment whether it may be released: it was audited without an error. One that cannot be audited keeps
    no other from its audit. Raises ClusterError where a cluster is to do it and cannot; the pages of those that were
    finished by then are written.
    """
    table = empty_table()
    blocking: dict[str, list[str]] = {}
    step = Examine(config=config)
    how = _limits(config, sandbox=not remote) | {"workers": workers, "remote": remote, "renew": renew}
    how["tell"] = partial(console.print, soft_wrap=True)
    try:
        with stopping.postponed(), remote.connected() if remote else contextlib.nullcontext():
            for assignment in assignments:
                stopping.check()
                blocking[assignment] = _prove(course, assignment, console, how, table, audits)
    except ClusterError:
        if blocking:
            console.print(table)
        raise
    if step.no_sandbox and assignments:
        console.print("Audited without a sandbox: the course's code could read and change your files.")
    if remote and remote.insecure:
        console.print("Audited WITHOUT TLS: others could read hidden tests on the network.", style="bold red")
    for sentence in LEGEND if assignments else ():
        console.print(sentence, soft_wrap=True)
    console.print(table)
    for assignment, errors in blocking.items():
        if errors:
            rest = f" ({len(errors) - 1} more above)" if len(errors) > 1 else ""
            console.print(f"{assignment} cannot be released: {errors[0]}{rest}", soft_wrap=True, markup=False)
    return {assignment: not errors for assignment, errors in blocking.items()}


def _limits(config: Config, sandbox: bool) -> dict[str, Any]:
    """The limits of an audit as the course sets them. With ``sandbox`` raises SandboxError where there is none."""
    step = Examine(config=config)
    if sandbox and not step.no_sandbox:
        require_sandbox()
    limits = {"budget": step.budget, "memory": step.memory, "no_sandbox": step.no_sandbox}
    return limits | {"seconds": seconds_of(config)}


def show_mutant(
    course: Course, assignment: str, number: int, config: Config, console: Console, workers: int | None
) -> None:
    """Run one mutant of an assignment's first notebook again, and print what became of it.

    Raises CourseError where there is no mutant of this number.
    """
    fate = audit_mutant(course, assignment, number, workers=workers, **_limits(config, sandbox=True))
    console.print(f"Mutant {number} of {assignment}: '{fate.cell}', line {fate.line}, {fate.operator}.", markup=False)
    console.print(fate.diff, markup=False)
    if fate.killers:
        console.print("Noticed by: " + "; ".join(map(str, fate.killers)), markup=False, soft_wrap=True)
        if fate.surprise:
            console.print("Only hidden lines find this mistake.")
    elif fate.status == "equal":
        console.print(f"It is no mistake: {fate.compared}.")
    elif fate.status == "unproven":
        console.print(f"It is unknown whether this mutant is wrong: {fate.note}.", markup=False, soft_wrap=True)
    else:
        example = f" {fate.example}." if fate.example else ""
        console.print(f"Survived: {fate.note}.{example}", markup=False, soft_wrap=True)


def propose(
    course: Course, audits: list[Audit], config: Config, console: Console, workers: int | None = None
) -> list[Proposals]:
    """Propose check lines for each notebook with survivors or surprises, and print them as diffs.

    A notebook for which none can be proposed keeps no other from its proposals; its sentence is printed.
    """
    results = []
    how = _limits(config, sandbox=True)
    with stopping.postponed():
        for result in audits:
            stopping.check()
            try:
                with slow.told(f"Looking for check lines for {result.assignment}/{result.notebook}"):
                    proposed = proposals(course, result, workers=workers, **how)
            except VivaError as error:
                console.print(f"{result.assignment}: {error}", markup=False, soft_wrap=True)
                continue
            results.append(proposed)
            _show(console, proposed)
    return results


def _show(console: Console, proposed: Proposals) -> None:
    """Print the proposals for one notebook."""
    name = proposed.assignment
    if not proposed.wanted:
        console.print(f"{name}: {proposed.none_wanted()}", markup=False)
        return
    for proposal in proposed.lines:
        console.print(f"{name}: {proposal.sentence()}", markup=False, soft_wrap=True)
        if console.is_terminal:
            console.print(Syntax(proposal.diff, "diff", background_color="default"))
        else:
            console.print(proposal.diff, markup=False, soft_wrap=True)
    for sentence in [*proposed.reasons, *proposed.notes]:
        console.print(f"{name}: {sentence}", markup=False, soft_wrap=True)
    console.print(
        f"{name}: {counted(len(proposed.lines), 'proposal')}. They notice {proposed.noticed()} of "
        f"{counted(proposed.wanted, 'mutant')} that pass every visible line.",
        markup=False,
    )


def _prove(
    course: Course, assignment: str, console: Console, how: dict, table: Table, audits: list[Audit]
) -> list[str]:
    """Audit an assignment; its errors. Raises ClusterError, after which no other can be audited either."""
    try:
        results = _audits(course, assignment, console, how)
    except ClusterError:
        raise
    except VivaError as error:
        table.add_row(assignment, *[""] * 6, "refused")
        console.print(f"{assignment}: {error}", markup=False)
        return [str(error)]
    audits += results
    for old, result in zip(record(course, assignment).get("audits", []), results, strict=False):
        result.remarks += weakened(old, result)
    for result in results:
        result.warnings += unanswered(result)
    pages = save(course, results, ground(course, assignment))
    for result, page in zip(results, pages, strict=True):
        table.add_row(
            *_row(result, result.assignment if len(results) == 1 else f"{result.assignment}/{result.notebook}")
        )
        _say(console, result)
        if result.kinds:
            kinds = kinds_in_words(result.kinds)
            console.print(f"{result.assignment}: Expected types: {kinds}.")
        console.print(f"{result.assignment}: {result.seconds:.0f} s, details in {page}")
    return [sentence for result in results for sentence in result.blocking()]


def _audits(course: Course, assignment: str, console: Console, how: dict) -> list[Audit]:
    """Of each notebook; ``how`` is what ``audit`` has to know about all of them."""
    columns = (TextColumn("audit of {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    audits = []
    for path in course.source_notebooks(assignment):
        with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
            task = bar.add_task(f"{assignment}/{path.stem}", total=None)

            def progress(done: int, total: int, bar: Progress = bar, task: TaskID = task) -> None:
                bar.update(task, completed=done, total=total)

            audits.append(audit(course, assignment, notebook=path.stem, progress=progress, **how))
    points = sum(result.points for result in audits)
    audits[0].warnings += readme_findings(course.root / "README.md", assignment, points)
    return audits


def _row(result: Audit, name: str) -> list[str]:
    summary = result.summary()
    fates, counts = summary["mutants"], [f"{summary[f'{case}_hold']}/{summary[case]}" for case in ("right", "wrong")]
    killed = f"{fates['killed']}/{fates['killed'] + fates['survived']}"
    counts_of_states = (str(fates[state]) for state in ("equal", "unproven", "excused"))
    return [name, *counts, killed, *counts_of_states, result.outcome]


def _say(console: Console, result: Audit) -> None:
    for sentence in folded(result.complaints()):
        console.print(f"{result.assignment}: Error: {sentence}", markup=False)
    warnings = folded(result.warnings)
    for sentence in warnings[:SHOWN]:
        console.print(f"{result.assignment}: Warning: {sentence}", markup=False)
    if len(warnings) > SHOWN:
        console.print(f"{result.assignment}: {counted(len(warnings) - SHOWN, 'more warning')} on the page.")
    for sentence in folded(result.remarks):
        console.print(f"{result.assignment}: {sentence}", markup=False)
    for cell in result.exercises():
        if cell.tried and (cell.states["survived"] or cell.states["unproven"] or cell.surprises):
            console.print(f"{result.assignment}: {_exercise(cell)}", markup=False)
    gaps = result.gaps()
    for gap in gaps[:SHOWN]:
        fate = gap[0]
        near = f" The closest check is '{fate.nearest}'." if fate.nearest else ""
        example = f" {fate.example}." if fate.example else ""
        console.print(
            f"{result.assignment}: Error: {gap_in_words(gap)} ({fate.operator}; {fate.note}; to see it: "
            f"--mutant={fate.number})."
            f"{example}{near}",
            markup=False,
        )
        if console.is_terminal:
            console.print(Syntax(fate.diff, "diff", background_color="default"))
        else:
            console.print(fate.diff, markup=False)
    if len(gaps) > SHOWN:
        console.print(f"{result.assignment}: {len(gaps) - SHOWN} more such mutants on the page.")


def _exercise(cell: Exercise) -> str:
    """The score of one exercise in a sentence."""
    parts = [f"{cell.states['killed']} of {cell.tried} mutants of '{cell.cell}' fail a check"]
    if cell.states["unproven"]:
        parts.append(f"{cell.states['unproven']} could not be compared")
    if cell.surprises:
        parts.append(f"{cell.surprises} of them fail only hidden lines")
    return ", ".join(parts) + "."
