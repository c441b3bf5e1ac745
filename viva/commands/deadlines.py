"""The command that shows deadlines and late penalties: deadlines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from nbgrader.api import Gradebook
from nbgrader.apps.baseapp import nbgrader_aliases
from rich.table import Table
from traitlets import Bool, Dict, Float, Int, Unicode

from viva import wording
from viva.cleaning import plaintext
from viva.commands.command import VivaCommand
from viva.commands.terminal import explained, figures, whole
from viva.course.deadlines import moment
from viva.course.deadlines.concessions import EXTENSIONS, Concessions
from viva.course.deadlines.policy import LatePolicy, Terms
from viva.course.deadlines.rule import Reckoning, exact, number, percent
from viva.course.gradebook import agreement, health, lateness, releases
from viva.verdict import CourseError

SHOWN = 40
"""The number of rows of a table; --json has all."""
WIDE = 110
"""Columns of a terminal in which a table has room for a sentence."""
Reckonings = Mapping[tuple[str, str], Reckoning]


class LateCommand(VivaCommand):
    """What this command and extend need: the course's policy, and the gradebook that it is reckoned from."""

    settings = (LatePolicy,)

    def rules(self, gradebook: Gradebook) -> LatePolicy:
        rules = lateness.policy(gradebook.db())
        if rules is None:
            raise CourseError(
                "This course does not use Viva's late policy. To use it, run 'viva init --write', and remove "
                "c.AssignLatePenalties.plugin_class from nbgrader_config.py."
            )
        return rules

    def students(self, gradebook: Gradebook) -> set[str]:
        """All whom the gradebook knows, or who submitted something."""
        return {entry.id for entry in gradebook.students} | {
            entry.student for entry in self.course.folders("submitted")
        }

    def require_released(self) -> None:
        """Raises CourseError where there is no gradebook, or it has no assignment, or it lost graded submissions."""
        agreement.require_kept(self.course, self.course.assignments())
        path = self.course.gradebook_file
        if path and not path.exists():
            releases.notebooks(self.course, self.course.assignments()[0])


class DeadlinesCommand(LateCommand):
    name = "viva-deadlines"
    only_reads = True
    description = "List deadlines, late penalties and late students, or try another late policy."
    examples = """
        viva deadlines                                     deadlines, late policies, late students
        viva deadlines ps3 --what-if --per-day=0.05        compare scores with another rule; write nothing
        viva deadlines ps3 --what-if --due='2026-10-06 12:00' --steps='1 hour=0.05' --steps='1 day=0.2'
    """
    aliases = nbgrader_aliases | {
        name.replace("_", "-"): f"DeadlinesCommand.{name}"
        for name in ("per_day", "per_hour", "steps", "of", "floor", "grace", "close", "due", "late_days", "budget")
    }
    flags = VivaCommand.flags | {
        "what-if": ({"DeadlinesCommand": {"what_if": True}}, "Compare scores with another late policy; write nothing."),
    }
    what_if = Bool(False, help="Compare scores with another late policy; write nothing.").tag(config=True)
    per_day = Float(None, allow_none=True, help="The part of the score that each started day costs, such as 0.1.").tag(
        config=True
    )
    per_hour = Float(None, allow_none=True, help="The part of the score that each started hour costs.").tag(config=True)
    steps = Dict(
        help="The part that a submission loses if it is late up to a time, such as '1 hour=0.05'; can be repeated."
    ).tag(config=True)
    of = Unicode(
        None, allow_none=True, help="What is reduced by this part: score, maximum, or cap (the highest possible score)."
    ).tag(config=True)
    floor = Float(None, allow_none=True, help="The part that a late submission always keeps.").tag(config=True)
    grace = Unicode(None, allow_none=True, help="No penalty up to this time after the deadline.").tag(config=True)
    close = Unicode(None, allow_none=True, help="After this time, submissions earn no points.").tag(config=True)
    due = Unicode(None, allow_none=True, help="The deadline.").tag(config=True)
    late_days = Int(None, allow_none=True, help="The most free late days for one assignment.").tag(config=True)
    budget = Int(None, allow_none=True, help="Free late days of each student in the whole term.").tag(config=True)

    def run(self) -> int:
        settings = self._settings()
        if self.what_if and not settings and self.budget is None:
            raise CourseError("--what-if needs a rule to compare with, as in: viva deadlines --what-if --per-day=0.05")
        if not self.what_if and (settings or self.budget is not None):
            raise CourseError(
                "Set the late policy in nbgrader_config.py (c.LatePolicy). To compare another one, add --what-if."
            )
        assignments = self.chosen_assignments()
        self.require_released()
        health.settle(self.course)
        with self.course.gradebook() as gradebook, self.console.status("computing"):
            rules = self.rules(gradebook)
            session = gradebook.db()
            dues = {
                assignment.name: assignment.duedate and assignment.duedate.replace(tzinfo=UTC)
                for assignment in gradebook.assignments
            }
            now = _chosen(lateness.reckonings(session, rules), assignments)
            trial = rules.otherwise(assignments, settings, self.budget) if self.what_if else None
            then = _chosen(lateness.reckonings(session, trial), assignments) if trial else {}
            strangers = sorted(self._granted(rules) - self.students(gradebook))
        if strangers:
            who = plaintext.some([plaintext.quoted(student) for student in strangers], SHOWN)
            self._say(f"{EXTENSIONS} has extensions for unknown students: {who}. Correct their ids there.")
        if trial:
            self._compare(now, then)
        else:
            self._timetable(rules, {name: dues.get(name) for name in assignments}, now)
        return 0

    def _granted(self, rules: LatePolicy) -> set[str]:
        """The assignments and students with an extension in the course's own file."""
        return {student for _, student in Concessions.of(self.course.root, rules.place).extensions or ()}

    def _settings(self) -> dict[str, object]:
        names = ("per_day", "per_hour", "of", "floor", "grace", "close", "due", "late_days")
        settings = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        try:
            steps = {limit: float(share) for limit, share in self.steps.items()}
        except ValueError as error:
            raise CourseError("A step needs a time span and the part to lose, as in: --steps='1 hour=0.05'") from error
        return settings | ({"steps": steps} if steps else {})

    def _timetable(self, rules: LatePolicy, dues: dict[str, datetime | None], now: Reckonings) -> None:
        meanings = "closes: later submissions score 0. late: late students, and the points that they lost together."
        numbers = figures("late", "points lost")
        table = explained(meanings, whole("assignment"), whole(f"due ({rules.zone})"), "closes", *numbers)
        penalties: dict[str, list[str]] = {}
        documents = []
        for name, due in dues.items():
            terms = rules.terms(name)
            late = [reckoning for (assignment, _), reckoning in now.items() if assignment == name and reckoning.late]
            closes = terms.rule.closes(due, due, rules.place) if due else None
            times = [moment.local(time, rules.place) if time else "-" for time in (due, closes)]
            lost = sum(reckoning.penalty for reckoning in late)
            penalties.setdefault(costs(terms), []).append(name)
            table.add_row(name, *times, str(len(late) or ""), number(lost) if lost else "")
            documents.append(
                {
                    "assignment": name,
                    "due": due,
                    "closes": closes,
                    "costs": costs(terms),
                    "late": len(late),
                    "lost": lost,
                }
            )
        self.console.print(table)
        for penalty, names in penalties.items():
            of = f" of {', '.join(names)}" if len(penalties) > 1 else ""
            self.console.print(f"Late penalty{of}: {penalty}.")
        if rules.budget:
            self._say(f"Each student has {rules.budget} free late days in the term.")
        rows = [
            (pair, reckoning) for pair, reckoning in sorted(now.items()) if reckoning.late or reckoning.delivery.until
        ]
        if rows:
            wide = self.console.width >= WIDE
            self.console.print(_late_table(rows, wide))
            for (assignment, student), reckoning in rows[:SHOWN] if not wide else ():
                if how := _how(reckoning):
                    self.console.print(f"{plaintext.line(student)}, {assignment}: {how}")
        if undue := [name for name, due in dues.items() if due is None]:
            self._say(
                f"These assignments have no deadline: {', '.join(undue)}. Set it in nbgrader_config.py: "
                f"c.LatePolicy.assignments = {{'{undue[0]}': {{'due': '2026-10-05 23:59'}}}}"
            )
        self.show_document(
            zone=rules.zone, budget=rules.budget, assignments=documents, late=[_row(*row) for row in rows]
        )

    def _compare(self, now: Reckonings, then: Reckonings) -> None:
        changed = [pair for pair in sorted(now) if abs(now[pair].penalty - then[pair].penalty) > 1e-9]
        meanings = "score: without a late penalty. now, then: with the present policy, and with the other one."
        table = explained(meanings, "student", "assignment", "late", *figures("score", "now", "then", "change"))
        for assignment, student in changed[:SHOWN]:
            before, after = now[assignment, student], then[assignment, student]
            change = after.left - before.left
            late = wording.span((after if after.late else before).late.total_seconds())
            cells = plaintext.line(student), assignment, late, number(before.delivery.score)
            table.add_row(*cells, number(before.left), number(after.left), f"{change:+.6g}")
        if changed:
            self.console.print(table)
        gains = [then[pair].left - now[pair].left for pair in changed]
        if len(changed) > SHOWN:
            self._say(f"And {len(changed) - SHOWN} more; --json lists all.")
        students = len({student for _, student in changed})
        self._say(
            f"{len(changed)} of {len(now)} scores of {students} student{'s' * (students != 1)} would change: "
            f"{sum(gain > 0 for gain in gains)} higher, {sum(gain < 0 for gain in gains)} lower, "
            f"{sum(gains):+.6g} points in total."
            if changed
            else f"None of {len(now)} scores would change."
        )
        self._say("Nothing was written. To use this policy, set it in nbgrader_config.py (c.LatePolicy).")
        self.show_document(
            changes=[
                {"assignment": pair[0], "student": pair[1], "score": now[pair].delivery.score}
                | {"now": now[pair].left, "then": then[pair].left}
                | {"arithmetic": wording.sentences(then[pair].notes())}
                for pair in changed
            ],
            compared=len(now),
        )


def costs(terms: Terms) -> str:
    """A rule in words."""
    rule = terms.rule
    base = {"score": "of the score", "maximum": "of the maximum", "cap": "less as maximum"}[rule.of]
    if rule.steps:
        text = ", ".join(
            f"{percent(exact(share))} up to {wording.span(limit.total_seconds())}" for limit, share in rule.steps
        )
        text = f"{text}; {base}"
    elif rule.costs:
        each, unit = (rule.per_hour, "hour") if rule.per_hour else (rule.per_day, "day")
        text = f"{percent(exact(each))} {base} for each started {unit}"
    else:
        text = "nothing"
    if rule.floor and rule.costs:
        text += f"; a late submission keeps at least {percent(exact(rule.floor))}"
    if rule.grace:
        text += f", {wording.span(rule.grace.total_seconds())} without a penalty"
    if terms.late_days is not None:
        text += f"; at most {terms.late_days} free late days"
    return text


def _chosen(reckonings: Reckonings, assignments: list[str]) -> Reckonings:
    return {pair: reckoning for pair, reckoning in reckonings.items() if pair[0] in assignments}


def _how(reckoning: Reckoning) -> str:
    """The arithmetic of a penalty, without its first sentence and its sum, which the table shows."""
    return "; ".join(wording.sentences(reckoning.notes())[1:-1])


def _late_table(rows: list[tuple[tuple[str, str], Reckoning]], wide: bool) -> Table:
    """A table of late students; a wide terminal also shows the arithmetic."""
    meanings = "left: the score after the late penalty."
    table = explained(meanings, "student", "assignment", "late", *figures("score", "penalty", "left"))
    if wide:
        table.add_column("how")
    for (assignment, student), reckoning in rows[:SHOWN]:
        late = wording.span(reckoning.late.total_seconds()) if reckoning.late else "on time"
        points = number(reckoning.delivery.score), number(reckoning.penalty), number(reckoning.left)
        arithmetic = [_how(reckoning)] if wide else []
        table.add_row(plaintext.line(student), assignment, late, *points, *arithmetic)
    if len(rows) > SHOWN:
        table.add_row(f"and {len(rows) - SHOWN} more")
    return table


def _row(pair: tuple[str, str], reckoning: Reckoning) -> dict:
    delivery = reckoning.delivery
    return {
        "assignment": pair[0], "student": pair[1], "due": delivery.own_due, "handed_in": delivery.at,
        "seconds_late": reckoning.late.total_seconds(),
        "score": delivery.score, "penalty": reckoning.penalty, "left": reckoning.left,
        "budget": reckoning.budget, "arithmetic": wording.sentences(reckoning.notes()),
    }  # fmt: skip
