"""The findings about an assignment's submissions: a file in report/diagnosis/, written by `viva diagnose`."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from viva.course.course import Course
from viva.course.processes import leftovers
from viva_diagnosis.behaviour import equal, unpacked
from viva_diagnosis.recognition import Finding, Unnamed
from viva_diagnosis.writtengroups import Group

VERSION = 2


class Diagnosis(Struct, omit_defaults=True):
    """The findings about one notebook of a submission."""

    student: str
    notebook: str
    graded: str
    """The key of the submission's record: a submission that was graded anew has another."""
    reference: str
    """The key of the fingerprints."""
    findings: list[Finding] = []
    unnamed: list[Unnamed] = []


class Diagnoses(Struct, omit_defaults=True):
    """Those of an assignment."""

    entries: list[Diagnosis] = []
    written: list[Group] = []
    version: int = VERSION


def alike(entries: list[Diagnosis]) -> list[tuple[str, Unnamed, list[str]]]:
    """The behaviours without a name that several students have: the notebook, one of them, and the students."""
    groups: list[tuple[str, Unnamed, list, list[str]]] = []
    for entry in entries:
        for one in entry.unnamed:
            outcomes = [unpacked(item) for item in one.outcomes]
            for notebook, first, same, students in groups:
                if (notebook, first.name) == (entry.notebook, one.name) and equal(same, outcomes, same):
                    students.append(entry.student)
                    break
            else:
                groups.append((entry.notebook, one, outcomes, [entry.student]))
    return [(notebook, one, students) for notebook, one, _, students in groups if len(students) > 1]


def folder(course: Course) -> Path:
    return course.root / "report" / "diagnosis"


def path_of(course: Course, assignment: str) -> Path:
    return folder(course) / f"{assignment}.json"


def read(path: Path) -> Diagnoses:
    """The file's contents; nothing where it is not there, or not one of this version's."""
    try:
        diagnoses = msgspec.json.decode(path.read_bytes(), type=Diagnoses)
    except (OSError, msgspec.MsgspecError):
        return Diagnoses()
    return diagnoses if diagnoses.version == VERSION else Diagnoses()


def write(diagnoses: Diagnoses, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    leftovers.write(path, msgspec.json.encode(diagnoses).decode())
