"""The probes of an audit: what a worker process does with a notebook, each in an engine session of its own.

The workers share two fork servers. A worker rehearses the solution, watches it to learn about its functions,
grades answers and mutants, and compares a surviving mutant with the solution.
"""

from __future__ import annotations

import copy
import inspect
import json
import resource
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import cast

from nbformat import NotebookNode

from viva import wording
from viva.cleaning import plaintext
from viva.course.examining.graders import new_grader
from viva.course.examining.rehearsals import Rehearsals
from viva.course.source.machine import NOTHING, Provided
from viva.engine.blueprint import Blueprint
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.kerneldialogue import KernelDialogue
from viva.engine.kernelsession import KernelSession
from viva.engine.session import Died, Session
from viva.engine.timebudget import TimeBudget
from viva.notebook.cell import Purpose, name_of
from viva.notebook.names import names_of
from viva.record import Fault
from viva.verdict import Verdict, VivaError
from viva_audit import changedplaces, checkline, degenerate, drawing, likeness, patterntexts, structures, witness
from viva_audit.checkname import CheckName, Ruling
from viva_audit.trimming import never_used, unneeded, used_later

WITHOUT_SANDBOX = 4 * 1024**3
"""Bytes of address space that each process may have where no sandbox limits it, beside what a notebook may need."""
LOADING = """
import sys, types

module = sys.modules[{name!r}] = types.ModuleType({name!r})
exec({source!r}, vars(module))
"""
DEGRADING = """
__viva = __import__("types").ModuleType("viva_degenerate")
exec({source!r}, vars(__viva))
__viva.degrade(globals(), {inputs!r}, {form!r})
"""
"""The last lines of an answer cell whose functions are degenerate."""
COMPARING = 60.0
"""Seconds for the random calls of one comparison."""


def make_grader(
    seconds: float, no_sandbox: bool, memory: int, libraries: tuple[str, ...], machine: Provided = NOTHING
) -> Grader:
    """The grader of an audit: in the sandbox, unless told otherwise; then at least its memory is limited."""
    if not no_sandbox:
        return new_grader(seconds, no_sandbox, memory, libraries=libraries, machine=machine)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = WITHOUT_SANDBOX + memory * 1024**2
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        return new_grader(
            seconds, no_sandbox, memory, libraries=libraries, machine=machine
        )  # its fork servers inherit the limit
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def degraded(solution: str, inputs: dict[str, list[str]], form: str) -> str:
    """A solution whose functions return ``form`` on all inputs but those with the given fingerprints."""
    return solution + DEGRADING.format(source=inspect.getsource(degenerate), inputs=inputs, form=form)


@dataclass(frozen=True)
class Probe:
    """What a notebook came to."""

    rulings: dict[CheckName, Ruling] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    seconds: float = 0.0

    @property
    def lost(self) -> dict[CheckName, Ruling]:
        return {check: ruling for check, ruling in self.rulings.items() if ruling.verdict is not Verdict.PASSED}


class Worker:
    """Does the jobs of an audit, which are tuples of a method's name and its arguments."""

    def __init__(self, grader: Grader, path: Path, rehearsals: Rehearsals, data: Path) -> None:
        """They are about the complete notebook at ``path``; the folder ``data`` has the files that lie beside it."""
        self.rehearsals = rehearsals
        self.grader, self.seconds, self.path, self.data = grader, grader.seconds, path, data

    def __call__(self, job: tuple) -> object:
        name, *arguments = job[1:]
        return getattr(self, name)(*arguments)

    def let_go(self) -> None:
        self.grader.close()

    def rehearse(self, locked: dict[str, str]) -> Examination | VivaError:
        try:
            examination = self.rehearsals.examination(self.path, self.grader, locked, data=self.data)
        except VivaError as error:
            return error
        self.grader.learn(examination)  # the tests are compiled once, and not for each trial
        return examination

    def watch(self, blueprint: Blueprint) -> dict:
        """Results of the solution's functions as source, and the megabytes that the notebook took."""
        with Session(self.grader.candidates, self.grader.examiners, self.data, alone=True) as session:
            _watch(session, blueprint, self.seconds)
            return json.loads(_say(session, 60, "print(__viva.report())"))

    def grade(
        self, notebook: NotebookNode, examination: Examination, seconds: float | None = None, *, carry: bool = False
    ) -> Probe:
        """Grade a notebook; with a limit of ``seconds`` for each cell when one is given. With ``carry`` a slip costs
        once."""
        self.grader.seconds = seconds or self.seconds
        try:
            outcome = self.grader.grade(notebook, examination, self.data, carry=carry)
        finally:
            self.grader.seconds = self.seconds
        rulings = {
            CheckName(cell, result.title): Ruling(result.verdict, wording.reason(result))
            for cell, results in outcome.checks.items()
            for result in results
        }
        return Probe(rulings, tuple(outcome.faults), outcome.seconds)

    def grade_carried(self, notebook: NotebookNode, examination: Examination) -> Probe:
        """Grade a notebook as in a course where a slip costs once (``viva.engine.carried``)."""
        return self.grade(notebook, examination, carry=True)

    def grade_changed(
        self, notebook: NotebookNode, sources: dict[str, str], examination: Examination, seconds: float
    ) -> Probe:
        """Grade a notebook with other ``sources`` in some of its cells."""
        changed = copy.copy(notebook)
        changed.cells = [_with_source(cell, sources.get(name_of(cell), cell.source)) for cell in notebook.cells]
        return self.grade(changed, examination, seconds)

    def inputs(self, blueprint: Blueprint) -> dict[str, dict[str, list[str]] | None]:
        """By answer cell, the fingerprints of what its functions are called with while the notebook runs.

        None where the solution could not be run.
        """
        fingerprints: dict[str, dict[str, list[str]] | None] = {}
        try:
            with Session(self.grader.candidates, self.grader.examiners, self.data, alone=True) as session:
                _say(session, 60, _loading(degenerate))
                _say(session, 60, "__viva, __viva_inputs = __import__('sys').modules['viva_audit.degenerate'], {}")
                left_out = unneeded(blueprint)
                for cell in blueprint.cells:
                    if cell.code and cell.id not in left_out:
                        session.candidate(self.seconds, do="run", source=cell.source)
                        if cell.purpose == Purpose.ANSWER and (names := names_of(cell.source)):
                            bound = sorted(names.bound)
                            line = f"__viva.record(globals(), {bound}, __viva_inputs.setdefault({cell.id!r}, {{}}))"
                            _say(session, 60, line)
                report = "{c: {n: sorted(s) for n, s in fs.items()} for c, fs in __viva_inputs.items()}"
                fingerprints |= json.loads(_say(session, 60, f"print(__import__('json').dumps({report}))"))
        except (Died, VivaError):
            return {}
        return fingerprints

    def compare(self, blueprint: Blueprint, cell: str, source: str) -> dict:
        """What becomes of a mutant with this ``source`` in a cell: ``state`` is equal, different or unproven.

        It is compared with the solution in what later cells of the blueprint use (``witness.Watch.difference``).
        """
        names = used_later(blueprint, cell)
        mentioned = next((names_of(sibling.source) for sibling in blueprint.cells if sibling.id == cell), None)
        unused = never_used(mentioned, names) if mentioned else []
        touched = sorted(mentioned.needed | mentioned.bound | mentioned.changed) if mentioned else []
        solution = next(sibling.source for sibling in blueprint.cells if sibling.id == cell) if mentioned else ""
        changed = (solution, source if mentioned else "")
        try:
            with Session(self.grader.candidates, self.grader.examiners, self.data, alone=True) as session:
                _watch(session, blueprint, self.seconds, cell)
                _say(session, 60, "__viva.restore()")
                reply = session.candidate(self.seconds, do="run", source=source)
                if reply.get("raised") is not None:
                    return {"state": "different", "note": "the cell raises an error"}
                line = f"print(__import__('json').dumps(__viva.difference({names}, {touched}, {unused}, *{changed!r})))"
                return json.loads(_say(session, COMPARING, line))
        except (Died, VivaError) as error:
            return {"state": "unproven", "note": str(error)}

    def lines(self, blueprint: Blueprint, cell: str, source: str, names: list[str]) -> dict:
        """Lines of a check that tell a mutant with this ``source`` from the solution by the ``names`` that tests use:
        ``lines``, or the ``reason`` why there is none (``checkline.Search``)."""
        reason = ""
        for shrinking in (True, False):
            try:
                with Session(self.grader.candidates, self.grader.examiners, self.data, alone=True) as session:
                    _watch(session, blueprint, self.seconds, cell)
                    _say(session, 60, _loading(checkline))
                    _say(session, 60, "__viva.restore()")
                    reply = session.candidate(self.seconds, do="run", source=source)
                    if reply.get("raised") is not None:
                        return {"lines": [], "reason": "its cell raises an error"}
                    search = f"__import__('sys').modules[{checkline.__name__!r}].Search(__viva, {shrinking})"
                    return json.loads(
                        _say(session, COMPARING, f"print(__import__('json').dumps({search}.lines({names})))")
                    )
            except (Died, VivaError) as error:
                reason = plaintext.line(str(error))[:200]
        return {"lines": [], "reason": f"the search for an input ended: {reason}"}

    def mistakes(self, blueprint: Blueprint) -> dict[str, tuple[list[dict], list[dict]]]:
        """By answer cell, the wrong versions of its solution that the package of the notebook's language knows."""
        found: dict[str, tuple[list[dict], list[dict]]] = {}
        with self._kernel(blueprint) as session:
            if not isinstance(session, KernelDialogue):
                return found
            for cell, solution in blueprint.solutions().items():
                slips, answers = session.mistakes(solution)
                found[cell] = [asdict(slip) for slip in slips], [asdict(answer) for answer in answers]
        return found

    def _kernel(self, blueprint: Blueprint) -> KernelSession:
        """A kernel of a notebook that is not in Python."""
        return cast(KernelSession, self.grader.kernels(blueprint).session(self.data, None, TimeBudget()))

    def compare_values(self, blueprint: Blueprint, cell: str, source: str) -> dict:
        """Like ``compare``, by the values that the kernel of another language has after the cell."""
        try:
            with self._kernel(blueprint) as session:
                assert isinstance(session, KernelDialogue)
                for each in blueprint.cells:
                    if each.code and each.purpose != Purpose.TESTS:
                        session.candidate(self.seconds, do="run", source=each.source)
                    if each.id == cell:
                        break
                session.changed()
                if session.candidate(self.seconds, do="run", source=source).get("raised") is not None:
                    return {"state": "different", "note": "the cell raises an error"}
                changed = sorted(session.changed())
        except (Died, VivaError) as error:
            return {"state": "unproven", "note": str(error)}
        if changed:
            return {"state": "different", "note": f"it gives another {plaintext.some(changed, 3)}"}
        return {"state": "equal", "note": "it gives all names the same values"}


def _with_source(cell: NotebookNode, source: str) -> NotebookNode:
    changed = copy.copy(cell)
    changed.source = source
    return changed


def _loading(module: ModuleType) -> str:
    """A line that makes a module from its source in the candidate, where its file may not be readable."""
    source = LOADING.format(name=module.__name__, source=inspect.getsource(module))
    return f"exec({source!r}, {{}})"


def _watch(session: Session, blueprint: Blueprint, seconds: float, before: str = "") -> None:
    """Run the whole solution and its tests in one process, with a witness beside it."""
    for module in (degenerate, patterntexts, structures, drawing, likeness, changedplaces, witness):
        _say(session, 60, _loading(module))
    _say(session, 60, f"__viva = __import__('sys').modules[{witness.__name__!r}].Watch(globals())")
    left_out = unneeded(blueprint)
    for cell in blueprint.cells:
        if not cell.code or cell.id in left_out:
            continue
        names = names_of(cell.source) if cell.purpose == Purpose.ANSWER else None
        if cell.id == before:
            _say(session, 60, "__viva.before()")
        reply = session.candidate(seconds, do="run", source=cell.source)
        if cell.id == before:
            if reply.get("raised") is not None:
                raise VivaError("the solution could not be run")
            _say(session, 60, f"__viva.after({sorted(names.bound) if names else []})")
        if names:
            _say(session, 60, f"__viva.note({sorted(names.bound)})")


def _say(session: Session, seconds: float, source: str) -> str:
    """Run a line of ours in the candidate and return what it printed."""
    reply = session.candidate(seconds, do="run", source=source)
    if session.interrupted:
        raise VivaError(f"it took longer than {seconds:g} seconds")
    if reply.get("raised") is not None:
        raise VivaError(f"the audit's own line '{source[-80:]}' failed: {reply['raised']}")
    return "".join(item["text"] for item in reply["outputs"] if item.get("name") == "stdout")  # beside warnings
