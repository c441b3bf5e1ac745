"""The examination that asks for behaviour: its test cells call the functions with the probes, and check nothing.

Each test cell of the assignment that uses a student's function or value is a *spot*. In its place stands a test cell
that asks for the names that the cell uses. The grader of the core runs it, in the sandbox and with its limits.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from nbformat import NotebookNode

from viva.engine.checks import Check
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.notebook.cell import Purpose
from viva.notebook.names import names_of
from viva.notebook.syntax import parsed
from viva.record import CheckResult
from viva.verdict import Verdict
from viva_audit.trimming import trimmed
from viva_diagnosis import askedvalues
from viva_diagnosis.behaviour import Behaviour, Outcome, read_outcomes

HELPERS = inspect.getsource(askedvalues)
MOST_NUMBERS = 2500
"""The most numbers that one check tells: what it prints is cut at 20,000 characters."""
MOST_PIECES = 60
"""The most pieces of all that was noted."""
TITLE = "behaviour"
NOT_CALLED = Outcome(error="not called")
"""The outcome of a call that a test does not make any more, as an assertion before it has failed."""
HIDE, SHOW = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"

Packed = Any
"""The arguments of a call as ``askedvalues.viva_packed`` has them."""


@dataclass(frozen=True)
class Spot:
    """A test cell, and the student's names that it uses: those that are asked for there, and those asked above."""

    cell: str
    asked: tuple[str, ...]
    """Names that no test cell above has used since they were bound."""
    functions: frozenset[str]
    """Those of the asked names that are functions."""
    used: tuple[str, ...] = ()
    """The keys of all names that the cell uses: ``cell:name`` with the cell in which they are asked for."""


def spots_of(examination: Examination) -> list[Spot]:
    """The spots of an assignment, in order."""
    solutions = examination.blueprint.solutions()
    where: dict[str, str] = {}
    functions: set[str] = set()
    students: set[str] = set()
    spots = []
    for cell in examination.blueprint.cells:
        if cell.id in solutions:
            source = solutions[cell.id]
            names = names_of(source)
            bound = set(names.bound) if names else set()
            for name in bound:
                where.pop(name, None)
            students |= bound
            functions = (functions - bound) | functions_in(source)
        elif cell.purpose == Purpose.TESTS:
            names = names_of(cell.source)
            used = sorted(names.needed & students) if names else []
            asked = [name for name in used if name not in where]
            where |= dict.fromkeys(asked, cell.id)
            keys = tuple(f"{where[name]}:{name}" for name in used)
            if used:
                spots.append(Spot(cell.id, tuple(asked), frozenset(functions.intersection(asked)), keys))
    return spots


def functions_in(source: str) -> set[str]:
    """The functions that a cell defines at its top level."""
    tree = parsed(source)
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} if tree else set()


@dataclass
class Probes:
    """By key (``cell:name``), the calls of a function; None for a value, and for a function that is ``watched``."""

    calls: dict[str, list[Packed] | None] = field(default_factory=dict)
    watched: dict[str, list[list[int]]] = field(default_factory=dict)
    """Functions whose arguments are no plain data, as functions are: by check of the tests, the calls that count.

    They cannot be called again with the same arguments. The tests run instead, and each call is a probe.
    """
    sizes: dict[str, list[int]] = field(default_factory=dict)
    """How many numbers each probe may tell: those of the solution's result, and of the arguments if they change."""
    noted: dict[str, int] = field(default_factory=dict)
    """How many of the probes are calls of the tests; random ones follow them."""

    def checks(self, spot: str) -> Iterator[tuple[Check, str, slice]]:
        """The checks that ask at a spot, each with the key and the probes that it asks for."""
        for key, calls in self.calls.items():
            cell, _, name = key.partition(":")
            if cell != spot or key in self.watched:
                continue
            if calls is None:
                yield Check(f"{TITLE} {key}", 0.0, f"viva_value({name})"), key, slice(0, 1)
                continue
            for part in self._parts(key):
                text = json.dumps(calls[part])
                yield Check(f"{TITLE} {key} {part.start}", 0.0, f"viva_probe({name}, {text!r})"), key, part

    def _parts(self, key: str) -> Iterator[slice]:
        """The probes of a key in parts of which one check tells all numbers."""
        sizes = self.sizes.get(key) or [MOST_NUMBERS] * len(self.calls[key] or [])
        start, total = 0, 0
        for index, size in enumerate(sizes):
            if total + size > MOST_NUMBERS and index > start:
                yield slice(start, index)
                start, total = index, 0
            total += size
        if sizes:
            yield slice(start, len(sizes))


def probed(
    grader: Grader,
    notebook: NotebookNode,
    examination: Examination,
    probes: Probes,
    spots: Collection[str],
    data: Path | None = None,
    files: Path | None = None,
) -> Behaviour:
    """What a notebook does at the probes of some spots; keys that could not be asked for are left out."""
    asking = {spot: list(probes.checks(spot)) for spot in spots}
    watching = {spot: [key for key in probes.watched if key.partition(":")[0] == spot] for spot in spots}
    asking = {spot: checks for spot, checks in asking.items() if checks or watching[spot]}
    if not asking:
        return {}
    checks = {spot: [check for check, *_ in checks] for spot, checks in asking.items()}
    smaller, asked = _asking(notebook, examination, checks, watching)
    outcome = grader.grade(smaller, asked, data, files)
    behaviour: dict[str, list[Outcome | None]] = {}
    lost: set[str] = set()
    for spot in asking:
        results = {result.title: result for result in outcome.checks.get(spot, [])}
        for check, key, part in asking[spot]:
            told = _outcomes(results.get(check.title))
            if told is None or len(told) != len(range(part.start, part.stop)):
                lost.add(key)
            else:
                behaviour.setdefault(key, []).extend(told)
        for key in watching[spot]:
            for number, calls in enumerate(probes.watched[key]):
                told = _outcomes(results.get(_watched_title(key, number)))
                if told is None:
                    lost.add(key)
                else:
                    outcomes = [told[call] if call < len(told) else NOT_CALLED for call in calls]
                    behaviour.setdefault(key, []).extend(outcomes)
    return {key: outcomes for key, outcomes in behaviour.items() if key not in lost}


def _outcomes(result: CheckResult | None) -> list[Outcome | None] | None:
    return read_outcomes(result.printed) if result and result.verdict is Verdict.PASSED else None


def _watched_title(key: str, number: int) -> str:
    return f"{TITLE} {key} in check {number}"


def _asking(
    notebook: NotebookNode,
    examination: Examination,
    checks: Mapping[str, list[Check]],
    watching: Mapping[str, list[str]],
) -> tuple[NotebookNode, Examination]:
    """A notebook, and the examination with these checks in the place of test cells.

    Where functions are watched, the tests' own checks follow, each with one that tells the results of its calls.
    """
    smaller, asked = trimmed(notebook, examination, set(checks))
    cells = []
    for cell in asked.blueprint.cells:
        keys = watching.get(cell.id, [])
        if cell.id in checks and keys:
            names = {key: key.partition(":")[2] for key in keys}
            lines = [f"{name} = viva_watching({key!r}, {name})" for key, name in names.items()]
            own: list[Check] = []
            for number, check in enumerate(cell.checks):
                own.append(dataclasses.replace(check, points=0.0))
                own += [Check(_watched_title(key, number), 0.0, f"viva_watched({key!r})") for key in keys]
            prelude = "\n".join([HIDE, HELPERS, *lines, SHOW, cell.prelude])
            cell = dataclasses.replace(cell, points=0.0, prelude=prelude, checks=(*checks[cell.id], *own))
        elif cell.id in checks:
            cell = dataclasses.replace(cell, source="", points=0.0, prelude=HELPERS, checks=tuple(checks[cell.id]))
        cells.append(cell)
    blueprint = dataclasses.replace(asked.blueprint, cells=tuple(cells))
    return smaller, dataclasses.replace(asked, blueprint=blueprint, single_process={}, refused={}, failing={})


def noted(
    grader: Grader, notebook: NotebookNode, examination: Examination, spots: list[Spot], data: Path | None = None
) -> Probes:
    """The probes that the tests themselves make: the calls of the solution's functions, noted in the examiner.

    Single-process cells are left out: their calls are made in another process.
    """
    left = [spot for spot in spots if spot.cell not in examination.single_process and spot.asked]
    if not left:
        return Probes()
    every = {spot.cell for spot in spots if spot.cell not in examination.single_process}
    smaller, asked = trimmed(notebook, examination, every)
    by_cell = {spot.cell: spot for spot in spots}
    cells, first = [], True
    for cell in asked.blueprint.cells:
        if cell.id in every:
            lines = [
                f"{name} = viva_noting({where + ':' + name!r}, {name})"
                for where, name in (key.split(":", 1) for key in by_cell[cell.id].used)
                if where == cell.id
            ]
            head = "\n".join([HIDE, *([HELPERS] if first else []), *lines, SHOW, cell.prelude])
            cell, first = dataclasses.replace(cell, prelude=head), False
        cells.append(cell)
    last = max(index for index, cell in enumerate(cells) if cell.id in every)
    telling = tuple(Check(f"{TITLE} {piece}", 0.0, f"viva_tell({piece})") for piece in range(MOST_PIECES))
    cells[last] = dataclasses.replace(cells[last], checks=(*cells[last].checks, *telling))
    blueprint = dataclasses.replace(asked.blueprint, cells=tuple(cells))
    outcome = grader.grade(smaller, dataclasses.replace(asked, blueprint=blueprint), data)
    results = {result.title: result.printed for result in outcome.checks.get(cells[last].id, [])}
    text = "".join(results.get(check.title, "") for check in telling)
    try:
        notes = json.loads(text)
    except ValueError:
        return Probes()
    functions = {f"{spot.cell}:{name}" for spot in spots for name in spot.functions}
    calls: dict[str, list[Packed] | None] = {}
    watched: dict[str, list[list[int]]] = {}
    for key, texts in notes.items():
        if key in functions and texts == ["call"]:
            watched[key] = []
        elif key in functions:
            calls[key] = [json.loads(call) for call in texts if call != "call"]
        elif "value" in texts:
            calls[key] = None
    if watched:
        watched = _called(grader, notebook, examination, watched, data)
    calls |= dict.fromkeys(watched)
    return Probes({key: part for key, part in calls.items() if part is None or part}, watched)


def _called(
    grader: Grader, notebook: NotebookNode, examination: Examination, keys: Collection[str], data: Path | None
) -> dict[str, list[list[int]]]:
    """By check, the calls of the functions of these keys; functions that were not called are left out."""
    watching: dict[str, list[str]] = {}
    for key in keys:
        watching.setdefault(key.partition(":")[0], []).append(key)
    smaller, asked = _asking(notebook, examination, {spot: [] for spot in watching}, watching)
    outcome = grader.grade(smaller, asked, data)
    called = {}
    for cell in asked.blueprint.cells:
        results = {result.title: result for result in outcome.checks.get(cell.id, [])}
        for key in watching.get(cell.id, ()):
            calls: list[list[int]] = []
            while (result := results.get(_watched_title(key, len(calls)))) is not None:
                calls.append(list(range(len(_outcomes(result) or []))))
            if any(calls):
                called[key] = calls
    return called


# --- random probes: the noted calls with other numbers


def varied(calls: list[Packed], count: int, random: np.random.RandomState) -> list[Packed]:
    """Calls like these, with other numbers in their arrays of fractions; shapes and whole numbers stay."""
    shapes: dict[str, Packed] = {}
    for call in calls:
        if _fractions(call):
            shapes.setdefault(json.dumps(_shape(call)), call)
    chosen = list(shapes.values())
    return [_redrawn(chosen[number % len(chosen)], random) for number in range(count)] if chosen else []


def shaken(call: Packed, random: np.random.RandomState) -> Packed:
    """The same call but for a millionth of each number."""
    return _mapped(call, lambda array: array * (1 + 1e-6 * random.uniform(-1, 1, array.shape)))


def _redrawn(call: Packed, random: np.random.RandomState) -> Packed:
    def draw(array: np.ndarray) -> np.ndarray:
        scale = float(np.sqrt(np.mean(array**2))) if array.size else 1.0
        new = random.standard_normal(array.shape) * (scale if math.isfinite(scale) and scale else 1.0)
        if array.size and np.all(array >= 0):
            new = np.abs(new)
            for axis in range(array.ndim):
                if np.allclose(array.sum(axis=axis), 1):
                    return new / new.sum(axis=axis, keepdims=True)
        return new

    return _mapped(call, draw)


def _mapped(packed: Packed, change) -> Packed:
    """A packed value with its arrays of fractions changed."""
    if isinstance(packed, list):
        return [_mapped(part, change) for part in packed]
    if not isinstance(packed, dict):
        return packed
    if "array" in packed:
        if np.dtype(packed["type"]).kind != "f" or packed["single"]:
            return packed
        array = askedvalues.viva_unpacked(packed)
        return askedvalues.viva_packed(np.asarray(change(array), dtype=array.dtype))
    return {name: _mapped(part, change) for name, part in packed.items()}


def numbers_in(packed: Packed) -> int:
    """How many numbers the arguments of a call hold."""
    if isinstance(packed, list):
        return sum(map(numbers_in, packed))
    if isinstance(packed, dict):
        return math.prod(packed["shape"]) if "array" in packed else sum(map(numbers_in, packed.values()))
    return 1


def _fractions(packed: Packed) -> bool:
    """Whether a call has an array of fractions, which can be drawn anew."""
    arrays: list[np.ndarray] = []

    def note(array: np.ndarray) -> np.ndarray:
        arrays.append(array)
        return array

    _mapped(packed, note)
    return bool(arrays)


def _shape(packed: Packed) -> Packed:
    if isinstance(packed, list):
        return [_shape(part) for part in packed]
    if isinstance(packed, dict):
        return packed["shape"] if "array" in packed else [_shape(part) for part in packed.values()]
    return packed if not isinstance(packed, float) else 0.0
