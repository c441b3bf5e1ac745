"""The results of an audit's trials, kept under a hash of everything that they depend on.

Theory of operation. What a trial says of a test cell depends on the cells without tests, on that test cell, on the
shared lines of other test cells that it uses, on what the rehearsal showed of them, on the files beside the
notebook, and on this machine with its libraries and Viva's own code. So each test cell has a key of its own, and after
a change in one of them only that one is run again. A comparison of a mutant with the solution depends on its notebook.
Results are written as they come: a stopped audit goes on where it was. What met a limit of time or memory is not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from pathlib import Path
from typing import Any, TextIO

from viva import ENGINE
from viva.course.examining.rehearsals import add_files, surroundings
from viva.course.processes import leftovers
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.dialogue.expected import CREDIT
from viva.engine.dialogue.looks import LOOKED
from viva.engine.examination import Examination
from viva.notebook.cell import Purpose, name_of
from viva.verdict import Verdict
from viva_audit.checkname import CheckName, Ruling
from viva_audit.trials import Probe
from viva_audit.trimming import shared_lines, trimmed

CARRIED = "grade_carried"
"""How a trial is run of which each test cell depends on all: what the others lose decides what it is given."""
GRADING = ("grade", CARRIED, "grade_changed")
COMPARING = ("compare", "compare_values")
WHOLE = ("untouched", "solution")
"""The trials that are run with all of their test cells, or not at all: they are measured."""
LASTING = (Verdict.PASSED, Verdict.PARTLY, Verdict.FAILED, Verdict.ERROR, Verdict.MISSING)
ROOT = re.compile(r"[^\W\d]\w*")


class Store:
    """The results of one notebook's audits, in a file of a line each."""

    def __init__(self, path: Path, data: Path, limits: tuple, renew: bool = False) -> None:
        """``data`` has the files beside the notebook; ``limits`` are those of a trial; ``renew`` forgets what was
        kept."""
        digest = hashlib.sha256(repr([ENGINE, surroundings(), *limits]).encode())
        add_files(digest, data)
        self.path, self.base = path, digest.digest()
        self.entries: dict[str, Any] = {} if renew else _read(path)
        self.used: dict[str, Any] = {}
        self.file: TextIO | None = None
        self.finished = False
        """Whether the audit came to its end, so that what it did not use may be forgotten."""

    def look_up(self, job: tuple) -> tuple[Any, tuple | None]:
        """What is kept of a job's result, and the job that is left to do; None where nothing is left."""
        if job[1] not in GRADING:
            key = self._key(repr(job[1:]) if job[1] not in COMPARING else repr((job[1], _cells(job[2]), *job[3:])))
            entry = self._entry(key)
            return (None, job) if entry is None else (entry, None)
        keys = self._keys_of_tests(job)
        stored = {cell: entry for cell, key in keys.items() if (entry := self._entry(key)) is not None}
        probe = _probe(stored)
        missing = keys.keys() - stored.keys()
        if not keys or not stored or (missing and (job[0][0] in WHOLE or _depends_on_all(job))):
            return None, job
        if not missing:
            return probe, None
        index = _place_of_examination(job)
        notebook, examination = trimmed(job[2], job[index], set(missing))
        return probe, (*job[:2], notebook, *job[3:index], examination, *job[index + 1 :])

    def keep(self, job: tuple, probe: Probe | None, result: Any) -> Any:
        """Keep the result of what was left of a job; the result of all of it, with what was kept as ``probe``."""
        if job[1] not in GRADING:
            if isinstance(result, dict) and lasts(result):
                key = self._key(repr(job[1:]) if job[1] not in COMPARING else repr((job[1], _cells(job[2]), *job[3:])))
                self._write(key, result)
            return result
        if result is None or result.faults:
            return result
        for cell, key in self._keys_of_tests(job).items():
            rulings = {check.title: ruling for check, ruling in result.rulings.items() if check.cell == cell}
            if rulings and all(ruling.verdict in LASTING for ruling in rulings.values()):
                lines = [[title, str(ruling.verdict), ruling.reason] for title, ruling in rulings.items()]
                self._write(key, {"rulings": lines, "seconds": round(result.seconds, 3)})
        if probe is None:
            return result
        rulings = probe.rulings | result.rulings
        order = list(self._keys_of_tests(job))  # as the notebook has them, whichever ran again
        ordered = {check: rulings[check] for cell in order for check in rulings if check.cell == cell}
        return Probe(ordered, (), max(probe.seconds, result.seconds))

    def close(self) -> None:
        """Close the file; after a finished audit forget what it did not use."""
        if self.file:
            self.file.close()
        if self.finished:
            with contextlib.suppress(OSError):
                text = "".join(f"{json.dumps([key, entry])}\n" for key, entry in self.used.items())
                leftovers.write(self.path, text)

    # keys

    def _key(self, text: str) -> str:
        return hashlib.sha256(self.base + text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _keys_of_tests(self, job: tuple) -> dict[str, str]:
        """By test cell, the key of what a trial says of it."""
        notebook, examination = job[2], job[_place_of_examination(job)]
        sources = job[3] if job[1] == "grade_changed" else {}
        cells = examination.blueprint.cells
        tests = [cell for cell in cells if cell.purpose == Purpose.TESTS and cell.checks]
        ids = {cell.id for cell in cells if cell.purpose == Purpose.TESTS}
        ran = [sources.get(name_of(cell), cell.source) for cell in notebook.cells if name_of(cell) not in ids]
        untested = [cell for cell in cells if cell.id not in ids]
        common = repr([ran, untested, sorted(examination.stubs.items()), examination.dice.get("")])
        order = [cell.id for cell in cells if cell.id not in ids]
        keys = {
            cell.id: self._key(common + repr([*_around(examination, cell, order), *_before(cells, cell)]))
            for cell in tests
        }
        if not _depends_on_all(job):
            return keys
        whole = repr(sorted(keys.values()))
        return {cell: self._key(key + whole) for cell, key in keys.items()}

    # entries

    def _entry(self, key: str) -> Any:
        entry = self.entries.get(key)
        if entry is not None:
            self.used[key] = entry
        return entry

    def _write(self, key: str, entry: Any) -> None:
        self.entries[key] = self.used[key] = entry
        with contextlib.suppress(OSError):
            if self.file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.file = self.path.open("a", encoding="utf-8", buffering=1)
            self.file.write(f"{json.dumps([key, entry])}\n")


def _place_of_examination(job: tuple) -> int:
    return 4 if job[1] == "grade_changed" else 3


def _depends_on_all(job: tuple) -> bool:
    """Whether each test cell depends on all: also in another language, whose names nobody follows."""
    return job[1] == CARRIED or not job[_place_of_examination(job)].blueprint.is_python


def lasts(comparison: dict) -> bool:
    """Whether a result would be the same on a machine that is less busy."""
    return comparison.get("state") != "unproven" or ("calls" in comparison and "slow" not in comparison["note"])


def _around(examination: Examination, cell: Cell, neighbours: list[str]) -> list:
    """What an examination says of a test cell and of its ``neighbours``, the cells without tests."""
    ids = {*neighbours, cell.id}
    names = {*examination.used_names(cell), *_names_of_shared(examination.blueprint, cell)}
    kinds = {
        path: kind
        for path, kind in sorted(examination.kinds.items())
        if path in (CREDIT + cell.id, LOOKED + cell.id) or ((root := ROOT.match(path)) and root[0] in names)
    }
    tables = [
        examination.single_process,
        examination.refused,
        examination.failing,
        examination.files,
        examination.plan.owned,
    ]
    facts: list = [cell, kinds, examination.dice.get(cell.id)]
    facts += [sorted((name, repr(_ordered(table[name]))) for name in table if name in ids) for table in tables]
    return [*facts, sorted(ids & examination.broken), sorted(ids & examination.plan.given)]


def _ordered(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset | set) else value


def _names_of_shared(blueprint: Blueprint, cell: Cell) -> set[str]:
    """The names that the shared lines of other test cells use for this one."""
    return {name for neighbour in shared_lines(blueprint, {cell.id}).values() for name in neighbour.used_names()}


def _before(cells: tuple[Cell, ...], cell: Cell) -> list:
    """The shared lines of other test cells that a test cell uses, and between which cells it stands."""
    blueprint = Blueprint("", cells)
    shared = [(name, neighbour.prelude) for name, neighbour in shared_lines(blueprint, {cell.id}).items()]
    above = [neighbour.id for neighbour in cells[: cells.index(cell)] if neighbour.purpose != Purpose.TESTS]
    return [shared, above[-1:]]


def _cells(blueprint: Blueprint) -> list[tuple[str, str]]:
    return [(cell.id, cell.source) for cell in blueprint.cells if cell.code]


def _probe(stored: dict[str, dict]) -> Probe:
    """The rulings that are kept of some test cells."""
    rulings = {
        CheckName(cell, title): Ruling(Verdict(verdict), reason)
        for cell, entry in stored.items()
        for title, verdict, reason in entry["rulings"]
    }
    return Probe(rulings, (), max((entry["seconds"] for entry in stored.values()), default=0.0))


def _read(path: Path) -> dict[str, Any]:
    """The entries of a file; lines that cannot be read are left out."""
    entries = {}
    with contextlib.suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            with contextlib.suppress(ValueError, TypeError):
                key, entry = json.loads(line)
                entries[key] = entry
    return entries
