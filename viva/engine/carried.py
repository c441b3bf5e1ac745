"""Error carried forward: a slip costs the points of its own answer, and none of the answers that use it.

Where a check was lost, and its answer uses earlier ones that lost points too, the notebook is run once more, in new
processes. Below an answer that lost points its names mean what the solution gives them: a copy of its data, or a
callback to its function, which stays in the examiner. So no text of the solution's enters a student's process. A check
that is passed there counts as passed, and says with which right names it is.

- Only the names of the answer that tests and cells of the course use become the solution's. Whatever else a student's
  cell binds stays, and what an answer needs of it is the student's own.
- A check is about the last answer that it uses. While that answer is the solution's, the check earns nothing.
- An answer that the solution gives without using anything, as a choice or a number, is not carried: a student who can
  tell the two runs apart would have two guesses. Nor is a grade cell in which the second run loses what the first had.
- What cannot cross, and a solution that runs text as code, is not carried, and nothing is said.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nbformat import NotebookNode

from viva.engine.blueprint import Cell
from viva.engine.examination import Examination, prepare
from viva.engine.outcome import Outcome
from viva.engine.session import Died, Session
from viva.engine.singleprocess import SingleProcess
from viva.notebook.cell import Purpose, name_of
from viva.notebook.names import names_in_text, reached
from viva.record import CARRIED, CheckResult, Note, note
from viva.verdict import Verdict

SETTLED = (Verdict.PASSED, Verdict.UNGRADED)


def plan(outcome: Outcome, notebook: NotebookNode, examination: Examination) -> Carry | None:
    """The second run that may earn points which the first did not; None where no slip can have cost twice."""
    lost = {(cell, one.title) for cell, results in outcome.checks.items() for one in results if not _is_settled(one)}
    if not lost or not _can_run(examination):
        return None
    about = _abouts(examination)
    slips = {about[check] for check in lost if about.get(check)}
    names = {answer: shown for answer in slips if (shown := _shown_names(answer, examination))}
    uses = _uses_of(notebook, examination)
    carry = Carry(examination, uses, about, names)
    others = {check: {one: names[one] for one in names if one != about[check]} for check in lost & uses.keys()}
    carry.last = max((uses[check].place for check in others if carry.carried(check, others[check])), default=-1)
    return carry if carry.last >= 0 else None


def _is_settled(result: CheckResult) -> bool:
    return result.verdict in SETTLED


def _can_run(examination: Examination) -> bool:
    """Whether no cell of the solution may run a text of a student's as code, in the examiner."""
    reader = SingleProcess()
    return all(reader.why(cell.source, alone=False) is None for cell in _code(examination))


def _code(examination: Examination) -> list[Cell]:
    """The cells of the solution's code, in their order."""
    return [cell for cell in examination.blueprint.cells if cell.code and cell.purpose != Purpose.TESTS]


def _shown_names(answer: str, examination: Examination) -> tuple[str, ...]:
    """The names of an answer that students know: those of its stub, and those that the course's lines use.

    Where a hidden line uses one, every right answer has it.
    """
    stub = names_in_text(examination.stubs.get(answer, "")).given
    others = (cell for cell in examination.blueprint.cells if cell.code and cell.purpose != Purpose.ANSWER)
    used = stub.union(*(names_in_text(cell.source).needed for cell in others))
    solution = names_in_text(examination.cells[answer].source)
    passing = solution.passing - solution.assigned - solution.imported  # as the variable of a loop
    return tuple(sorted((examination.plan.owned.get(answer, frozenset()) & used) - passing))


# --- what a check uses


@dataclass
class Meaning:
    """What a name means: the ``cell`` that binds it, and the names that this uses.

    A function finds what these mean when it is called, anything else has used what they meant above, the ``links``.
    """

    cell: str
    uses: set[str]
    links: Mapping[str, Meaning] | None
    own: Mapping[str, Meaning]
    """The meanings that the cell itself gives to names."""

    def parts(self, now: Mapping[str, Meaning]) -> list[tuple[str, Meaning]]:
        """The names that it uses, with their meanings; ``now`` are those of the time of a call."""
        tables = (now,) if self.links is None else (self.links, self.own)
        return [(name, table[name]) for name in self.uses for table in tables if name in table]


@dataclass(frozen=True)
class Use:
    """The names that a check uses, and what all names mean at its ``place`` in the notebook."""

    place: int
    names: frozenset[str]
    meanings: Mapping[str, Meaning]

    def cells(self) -> set[str]:
        """The cells that it uses in the end."""
        return {meaning.cell for _, meaning in self._walk({})}

    def of(self, replaced: Mapping[str, Iterable[str]]) -> list[str]:
        """Those of the ``replaced`` names, by cell, that it uses; what is behind them is not looked at."""
        return sorted({name for name, meaning in self._walk(replaced) if name in replaced.get(meaning.cell, ())})

    def _walk(self, replaced: Mapping[str, Iterable[str]]) -> list[tuple[str, Meaning]]:
        todo = [(name, self.meanings[name]) for name in self.names if name in self.meanings]
        seen = {id(meaning) for _, meaning in todo}
        for name, meaning in todo:
            if name in replaced.get(meaning.cell, ()):
                continue
            for part in meaning.parts(self.meanings):
                if id(part[1]) not in seen:
                    seen.add(id(part[1]))
                    todo.append(part)
        return todo


def _uses(cells: Iterable[tuple[int, str, str]], examination: Examination) -> dict[tuple[str, str], Use]:
    """What each check uses, by grade cell and title, of code cells that are given as place, name and text."""
    uses: dict[tuple[str, str], Use] = {}
    meanings: dict[str, Meaning] = {}
    functions: dict[str, set[str]] = {}
    owned = set().union(*examination.plan.owned.values())
    for place, name, source in cells:
        known = examination.cells.get(name)
        if known and known.purpose == Purpose.TESTS:
            functions |= names_in_text(known.source).mentioned
            for check in known.checks:
                names = names_in_text(f"{known.prelude}\n{check.source}")
                used = names.needed - names.given
                used |= reached(used | (names.needed & functions.keys()), functions)
                uses[name, check.title] = Use(place, frozenset(used & owned), dict(meanings))
            continue
        names, own, above = names_in_text(source), dict[str, Meaning](), dict(meanings)
        if known and known.locked:
            functions |= names.mentioned
        for bound in names.bound | examination.plan.owned.get(name, frozenset()):
            function = bound in names.mentioned
            used = names.mentioned[bound] if function else names.needed
            own[bound] = Meaning(name, used, None if function else above, own)
        meanings |= own
    return uses


def _uses_of(notebook: NotebookNode, examination: Examination) -> dict[tuple[str, str], Use]:
    """What each check of a submission uses of it."""
    cells = [(place, cell) for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    return _uses([(place, name_of(cell), cell.source) for place, cell in cells], examination)


def _abouts(examination: Examination) -> dict[tuple[str, str], str]:
    """The answer that each check is about, the last that it uses of the solution; empty where it uses none."""
    cells = [(place, cell) for place, cell in enumerate(examination.blueprint.cells) if cell.code]
    order = [cell.id for _, cell in cells if cell.purpose == Purpose.ANSWER]
    uses = _uses([(place, cell.id, cell.source) for place, cell in cells], examination)
    return {check: max(use.cells().intersection(order), key=order.index, default="") for check, use in uses.items()}


def _is_guess(answer: Cell) -> bool:
    """Whether the solution gives an answer without a function and without using a name."""
    names = names_in_text(answer.source)
    return not names.mentioned and names.used - names.bound <= set(vars(builtins))


# --- the second run


@dataclass
class Carry:
    """What is carried in the second run of a submission."""

    examination: Examination
    uses: dict[tuple[str, str], Use]
    about: dict[tuple[str, str], str]
    names: dict[str, tuple[str, ...]]
    """The names that become the solution's, by answer that lost points."""
    last: int = -1
    """The index of the last cell that matters."""
    end: int = 0
    """The place in the blueprint behind the last of its cells that ran."""
    replaced: dict[str, list[str]] = field(default_factory=dict)
    """The names that are the solution's in this session, by answer."""
    ran: set[str] = field(default_factory=set)
    """The cells of the solution that the examiner of this session has run."""
    right: dict[str, bool] = field(default_factory=dict)
    """Whether the student's own answer passed all that was examined of it in this run."""
    found: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """The names of the solution's with which a check was examined."""

    def carried(self, check: tuple[str, str], replaced: Mapping[str, Iterable[str]]) -> list[str]:
        """The names by which a check uses what is ``replaced``; none where it may earn nothing by that."""
        about = self.about.get(check, "")
        if not about or about in replaced or _is_guess(self.examination.cells[about]):
            return []
        return self.uses[check].of(replaced)

    def begin(self) -> None:
        """Two new processes go through the notebook."""
        self.end, self.replaced, self.ran = 0, {}, set()

    def before(self, session: Session, name: str, after: str | None, seconds: float, ran: bool) -> str | None:
        """Give the candidate the solution's names for the answers above a cell without tests, which it will run.

        ``after`` is the last cell of the blueprint that the examiner has prepared. Returns which it is now.
        """
        cells = self.examination.blueprint.cells
        ids = [cell.id for cell in cells]
        start = ids.index(after) + 1 if after in ids else 0
        end = ids.index(name) if name in ids else max(self.end, start)
        self.end = max(self.end, end + (name in ids))
        waiting = [answer for answer in ids[:end] if answer in self.names and answer not in self.replaced]
        waiting = [answer for answer in waiting if not self.right.get(answer)]
        if not waiting:
            return after
        between = [cell for cell in cells[start:end] if cell.purpose != Purpose.TESTS]
        prepare(session, between, self.examination, seconds, ran)
        for answer in waiting:
            self.replaced[answer] = self._replace(session, answer, seconds)
        return ids[max(start, end) - 1]

    def _replace(self, session: Session, answer: str, seconds: float) -> list[str]:
        cells = [cell for cell in self._needed(answer) if cell.id not in self.ran]
        self.ran |= {cell.id for cell in cells}
        sources = [(cell.id, cell.source) for cell in cells]
        return session.examiner(seconds, do="carry", cells=sources, names=list(self.names[answer]))["names"]

    def _needed(self, answer: str) -> list[Cell]:
        """The cells of the solution that an answer needs, in their order, beside those that depend on no student."""
        cells, needed = _code(self.examination), list[Cell]()
        wanted = set(self.examination.plan.owned.get(answer, frozenset()))
        for cell in cells[[cell.id for cell in cells].index(answer) :: -1]:
            names = names_in_text(cell.source)
            if cell.id not in self.examination.plan.given and wanted & names.bound:
                needed.append(cell)
                wanted |= names.needed
        return needed[::-1]

    def run(self, session: Session, source: str, seconds: float) -> dict:
        """The reply of the candidate to the request that it runs a cell, which may call the solution's functions."""
        reply = session.examiner(seconds, do="run", source=source)
        if "died" in reply:
            raise Died(Verdict.KILLED, Note("killed"))
        return {"outputs": [], **reply}

    def examined(self, cell: str, results: list[CheckResult]) -> None:
        """Note with which names the checks of a grade cell were examined, and whether its answer is right."""
        for result in results:
            check = cell, result.title
            if carried := self.carried(check, self.replaced):
                self.found[check] = carried
            if (about := self.about.get(check)) and about not in self.replaced:
                self.right[about] = self.right.get(about, True) and _is_settled(result)

    def merge(self, outcome: Outcome, second: Outcome) -> set[str]:
        """Let each check have the better result of the two. Returns the grade cells that earn more now."""
        better: set[str] = set()
        for cell, results in outcome.checks.items():
            again = {
                result.title: result for result in second.checks.get(cell, ()) if (cell, result.title) in self.found
            }
            if any(first.verdict is Verdict.PASSED and _is_wrong(again.get(first.title)) for first in results):
                continue
            for place, first in enumerate(results):
                now = again.get(first.title)
                if now and now.earned > first.earned and first.verdict is not Verdict.UNGRADED:
                    names = self.found[cell, first.title]
                    cause = note(CARRIED, *names, amount=len(names), because=now.cause)
                    results[place] = CheckResult(
                        first.title, first.points, now.verdict, now.earned, cause=cause, seconds=first.seconds
                    )
                    better.add(cell)
        return better


def _is_wrong(result: CheckResult | None) -> bool:
    """Whether a check was lost for what it saw, and not for want of time, say."""
    return result is not None and result.verdict in (Verdict.FAILED, Verdict.ERROR) and result.cause is None
