"""The description of the visible checks in a released notebook, with which they can be graded anywhere.

The grader learns from the instructor's solution which cells it runs itself, which names are the student's,
and of which kind each answer is (viva/engine/rehearsal.py). `viva release` rehearses the student's copy, with the
solution in it, and writes the results into the copy's metadata, under ``viva.check``:

    given, inside   cells that the examiner runs, and grade cells that run in the candidate
    owned           by cell, the names that are the student's from there on
    kinds           by path, as in ``self_attention()``, the kind of an answer
    credit          the grade cells, if there are such, whose last value is their partial credit
    files           by cell, if there are such, the files that are the student's from there on
    cut             by test cell, the titles of the checks that have visible and hidden lines
    shared          the names, if there are such, that visible lines of tests bind and only the solution reads
    cells           a digest of each locked cell, in order, to see which of them are gone or changed
    seconds         the time limit of a cell
    memory          if it is not the usual one, the limit of a process in megabytes
    packages        by the name that code imports, where it is not a common library, the package to install
    language        if it is not English, the tag of the language in which the check speaks to the student

Hidden lines take no part in it. No name is written but those in the visible code that the examiner runs, and Python's
own, which its library looks at.
"""

from __future__ import annotations

import hashlib
import math
import re
import types
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from viva import wording
from viva.engine import ownership
from viva.engine.blueprint import Blueprint, Cell, is_time
from viva.engine.checks import Check, split_checks
from viva.engine.credit import FULL
from viva.engine.dialogue.expected import ANY, CREDIT, expected_of
from viva.engine.dialogue.looks import LOOKED
from viva.engine.examination import Examination, bound_or_needed, given_by
from viva.language import ENGLISH, Language, named
from viva.notebook.cell import Purpose, grade_id, is_locked, name_of, purpose_of
from viva.notebook.programming import language_of
from viva.record import Note
from viva.sandbox.confinement import LEAST_MEMORY, MB, MOST_MEMORY, USUAL
from viva.verdict import BlueprintError, CourseError

SECONDS = 30.0
"""A cell may take so many where nothing else is said."""
NAME = re.compile(r"[^\W\d]\w*")
STEP = re.compile(r" lets out .*| \w+", re.DOTALL)
"""Part of a path, and no name of the notebook's: as in ``f() changed``."""
PYTHONS = frozenset().union(*map(dir, (types.FunctionType, types.CodeType, types.GeneratorType, types.CoroutineType)))
"""The names of Python's own attributes, such as ``__code__``, at which ``inspect.isgeneratorfunction`` looks."""


@dataclass
class Copy:
    """A student's copy: the notebook as it is graded, what is known about it, and why test cells are not checked."""

    notebook: NotebookNode
    examination: Examination
    seconds: float = SECONDS
    memory: int = USUAL.memory_bytes
    """Bytes that a process may need."""
    described: bool = True
    """Whether `viva release` wrote into it what the grader knows."""
    unchecked: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    language: Language = ENGLISH


def describe(
    released: NotebookNode,
    examination: Examination,
    seconds: float,
    memory: int = USUAL.memory_bytes,
    language: Language = ENGLISH,
) -> dict:
    """What goes into the metadata of a ``released`` notebook; ``examination`` comes from rehearsing its visible lines.

    ``seconds`` are those of a cell, ``memory`` the bytes of a process, ``language`` that of the course; the usual ones
    are not written down.
    """
    named = {grade_id(cell): cell for cell in released.cells}
    named.pop("", None)
    locked = {name: cell for name, cell in named.items() if cell.cell_type == "code" and is_locked(cell)}
    examined = [
        cell
        for name, cell in locked.items()
        if name in examination.plan.given or cell.metadata["nbgrader"].get("grade")
    ]
    words = {name for cell in examined for name in NAME.findall(cell.source)}
    known = words | PYTHONS
    owned = {cell: sorted(words & names) for cell, names in examination.plan.owned.items() if cell in named}
    all_names = {name for names in owned.values() for name in names}
    kinds = {
        path: _without_hidden_names(kind, words)
        for path, kind in examination.kinds.items()
        if (name := NAME.match(path)) and name[0] in all_names and known.issuperset(NAME.findall(STEP.sub("", path)))
    }
    files = {cell: sorted(names) for cell, names in examination.files.items() if names and cell in named}
    tests, others = list[str](), list[str]()
    for cell in locked.values():
        (tests if cell.metadata["nbgrader"].get("grade") else others).append(cell.source)
    shared = (examination.names_beside_tests & given_by(tests)) - all_names - bound_or_needed(others)
    checks = {cell.id: [c.title for c in cell.checks if c.cut and not c.hidden] for cell in examination.blueprint.cells}
    cut = {name: titles for name, titles in checks.items() if titles and name in named}
    # Visible lines tell something about a student's answer only if they alone give the solution all points.
    credit = [name for name in locked if examination.kinds.get(CREDIT + name) == FULL]
    looks = {name: examination.kinds[LOOKED + name] for name in locked if LOOKED + name in examination.kinds}
    return {
        "given": sorted(examination.plan.given & named.keys()),
        "inside": sorted(examination.inside & named.keys()),
        "owned": owned,
        "kinds": kinds,
        "cells": {name: digest(cell.source) for name, cell in locked.items()},
        "seconds": int(seconds) if seconds == int(seconds) else seconds,
        **({"credit": credit} if credit else {}),
        **({"looks": looks} if looks else {}),
        **({"files": files} if files else {}),
        **({"cut": cut} if cut else {}),
        **({"shared": sorted(shared)} if shared else {}),
        **({"memory": memory // MB} if memory != USUAL.memory_bytes else {}),
        **({"language": language.tag} if language.tag != ENGLISH.tag else {}),
    }


def _without_hidden_names(kind: str, words: set[str]) -> str:
    """The text of an expected type without the names, of libraries and of keys, that are not in ``words``."""
    expected = expected_of(kind)
    if ":" in expected.kind:
        return kind if words.issuperset(NAME.findall(kind.partition(" ")[2] or kind)) else ""
    full = {position for position in expected.full if words.issuperset(NAME.findall(position))}
    return replace(expected, full=frozenset(full)).text


def digest(source: str) -> str:
    """Tells a changed text, white space aside."""
    return hashlib.sha256("".join(source.split()).encode()).hexdigest()[:12]


def open_copy(notebook: NotebookNode) -> Copy:
    """A notebook with nbgrader's and Viva's metadata in it, made ready to be graded.

    Raises SubmissionError when it is not a notebook of nbgrader's, and BlueprintError when a check cannot run.
    """
    if (other := language_of(notebook.metadata)) != "python":
        raise wording.refusal("other_language", other)
    description = _description(notebook.metadata.get("viva", {}).get("check"))
    language = language_for(notebook)
    digests = description["cells"] if description else {}
    unchecked: dict[str, str] = {}
    remarks: list[str] = []
    cells: dict[str, Cell] = {}
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        if not marks:
            continue
        name = marks.get("grade_id")
        purpose = purpose_of(cell)
        if not isinstance(name, str) or name in cells:  # a copy earns nothing
            del cell.metadata["nbgrader"]
            continue
        changed = cell.cell_type == "code" and is_locked(cell) and _has_changed(cell, name, digests)
        if changed and purpose == Purpose.TESTS:
            unchecked[name] = _said("test_changed", name, language)
        elif changed:
            remarks.append(_said("read_only_changed", name, language))
        read = _cell(cell, name, purpose, notebook)
        cut = description.get("cut", {}).get(name, []) if description else []
        cells[name] = replace(read, checks=tuple(replace(one, cut=one.title in cut) for one in read.checks))
    code = {*description["given"], *description["owned"]} if description else set()
    deleted = {name: name not in digests for name in sorted(code) if name not in cells}
    for name in digests:
        if name not in cells and name not in deleted:
            unchecked[name] = _said("test_deleted", name, language)
    if not any(cell.purpose == Purpose.TESTS for cell in cells.values()) and not unchecked:
        raise wording.refusal("no_tests")
    examination = replace(_examination(notebook, cells, description), deleted=deleted)
    description = description or {}
    memory = description.get("memory", USUAL.memory_bytes // MB) * MB
    seconds = description.get("seconds", SECONDS)
    return Copy(notebook, examination, seconds, memory, bool(description), unchecked, remarks, language)


def language_for(notebook: NotebookNode) -> Language:
    """The language that a released notebook names; English where it names none, or none that is installed here."""
    about = notebook.metadata.get("viva", {}).get("check")
    try:
        return named(str(about.get("language", ENGLISH.tag))) if isinstance(about, dict) else ENGLISH
    except CourseError:
        return ENGLISH


def _said(kind: str, cell: str, language: Language) -> str:
    return wording.sentence(Note(kind, cells=(cell,)), wording.STUDENT, language)


def _cell(cell: NotebookNode, name: str, purpose: Purpose, notebook: NotebookNode) -> Cell:
    points = cell.metadata["nbgrader"].get("points", 0)
    counts = (
        purpose in (Purpose.TESTS, Purpose.MANUAL, Purpose.TASK)
        and isinstance(points, int | float)
        and 0 <= points < math.inf
    )
    points = float(points) if counts else 0.0
    prelude, checks = "", tuple[Check, ...]()
    if purpose == Purpose.TESTS:
        try:
            prelude, checks = split_checks(cell.source, name, points, f"the test cell '{name}'")
        except BlueprintError:  # its text was changed, or hiding lines has broken it
            checks = split_checks("", name, points, "")[1]
    data, all_data = cell.metadata.get("viva", {}), notebook.metadata.get("viva", {})
    seconds = data.get("seconds", all_data.get("seconds"))
    seconds = seconds if is_time(seconds) else None
    return Cell(
        name,
        purpose,
        cell.source,
        points,
        prelude,
        checks,
        inside=data.get("where") == "candidate",
        seconds=seconds,
        code=cell.cell_type == "code",
        locked=is_locked(cell),
    )


def _examination(notebook: NotebookNode, cells: dict[str, Cell], description: dict | None) -> Examination:
    blueprint = Blueprint("", tuple(cells.values()))
    if description:
        owned, files = (
            {name: frozenset(names) for name, names in description.get(key, {}).items()} for key in ("owned", "files")
        )
        plan, single = (
            ownership.Plan(frozenset(description["given"]), owned),
            dict.fromkeys(description["inside"], Note("declared")),
        )
        more = {CREDIT + name: FULL for name in description.get("credit", [])}
        more |= {LOOKED + name: places for name, places in description.get("looks", {}).items()}
        read_only = (cell.source for cell in cells.values() if cell.purpose == Purpose.READ_ONLY and cell.locked)
        beside = frozenset(description.get("shared", [])).union(bound_or_needed(read_only), *owned.values())
        kinds = description["kinds"] | more
        return Examination(blueprint, plan, kinds, single, files=files, beside_tests=beside)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    plan = ownership.plan((name_of(cell), _purpose_in_plan(cell), cell.source) for cell in code)
    owned = {cell: names for cell, names in plan.owned.items() if names}  # nobody says what a stub was to bind
    plan = ownership.Plan(plan.given, owned)
    kinds = {name: ANY for names in owned.values() for name in names}
    single = {cell.id: Note("declared") for cell in cells.values() if cell.inside}
    return Examination(blueprint, plan, kinds, single)


def _purpose_in_plan(cell: NotebookNode) -> Purpose:
    """An unlocked cell may be the student's own."""
    return purpose_of(cell) if is_locked(cell) else Purpose.ANSWER


def _has_changed(cell: NotebookNode, name: str, digests: dict[str, str]) -> bool:
    if name in digests:
        return digests[name] != digest(cell.source)
    checksum = cell.metadata["nbgrader"].get("checksum")
    if not checksum:
        return False
    try:
        from nbgrader.utils import compute_checksum  # takes a second to load
    except ModuleNotFoundError:  # the small distribution for students has no nbgrader
        return False
    return compute_checksum(cell) != checksum


def _description(value: object) -> dict | None:
    """A notebook's description of itself, if all of it has the form that ``describe`` writes."""
    expected = {"given": list, "inside": list, "owned": dict, "kinds": dict, "cells": dict}
    if not isinstance(value, dict) or not all(
        isinstance(value.get(key, {}), dict) for key in ("files", "looks", "cut")
    ):
        return None
    if not all(isinstance(value.get(key, []), list) for key in ("credit", "shared")):
        return None
    memory = value.get("memory", LEAST_MEMORY)
    if type(memory) is not int or not LEAST_MEMORY <= memory <= MOST_MEMORY or not is_time(value.get("seconds")):
        return None
    if not all(isinstance(value.get(key), cls) for key, cls in expected.items()):
        return None
    names = [*value["given"], *value["inside"], *value["kinds"].values(), *value["cells"].values()]
    names += [*value.get("credit", []), *value.get("shared", []), *value.get("looks", {}).values()]
    for files in (*value["owned"].values(), *value.get("files", {}).values(), *value.get("cut", {}).values()):
        names += files if isinstance(files, list) else [files]
    return value if all(isinstance(name, str) for name in names) else None
