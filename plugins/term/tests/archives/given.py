"""Archives as the systems' documentation has them, and a class to whom they belong."""

from __future__ import annotations

import csv
import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

from tests.conftest import PROJECT
from viva.course.gradebook.identities import Identities
from viva_term.lms.rosterfile import COLUMNS, Entry
from viva_term.lms.systems import SYSTEMS, issuer_of

ASSIGNMENT, BOOK = "ps1", "hw1.ipynb"
CLASS = (
    Entry("jdoe", "Jane", "Doe", "jane@x.edu", "123", "jdoe", "A"),
    Entry("bking", "Bo", "King, Jr.", "bo@x.edu", "124", "b.king", "A"),
    Entry("oneil", "Ann", "O\N{RIGHT SINGLE QUOTATION MARK}Neil", "ann@x.edu", "125", "aoneil", "A"),
    Entry("zoe", "Zoë 🙂", "Lee", "", "126", "zlee", "B"),
    Entry("sara", "سارة", "حداد", "sara@x.edu", "127", "sara-h", "B", "Group A"),
    Entry("sam1", "Sam", "Smith", "sam1@x.edu", "128", "sam1", "B", "Group A"),
    Entry("sam2", "Sam", "Smith", "sam2@x.edu", "129", "sam2", "B"),
    Entry("ivan", "Иван", "Петров", "ivan@x.edu", "130", "ivan", "B"),
)
GRADESCOPE = """---
submission_77:
  :submitters:
  - :name: Jane Doe
    :sid: '123'
    :email: jane@x.edu
  :created_at: 2026-10-05 16:19:13.226151000 Z
  :score: 3.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: []
  :history: []
submission_78:
  :submitters:
  - :name: Zoë Lee
    :sid:
    :email: zoe@elsewhere.edu
  - :name: Bo King, Jr.
    :sid: '124'
    :email: bo@x.edu
  :created_at: 2026-10-05 18:19:13.000000000 +02:00
"""
WORKSHEET = """\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade",\
"Grade can be changed","Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 1","Jane Doe",,jane@x.edu,"Submitted for grading - ",,100.00,Yes,"Monday, 5 October 2026, 11:59 PM",-,
"Participant 3","Ann O'Neil",,ann@x.edu,"Submitted for grading - ",,100.00,Yes,"Tuesday, 6 October 2026, 12:05 AM",-,
"Participant 4","Bo King, Jr.",,bo@x.edu,"No submission - ",,100.00,Yes,-,-,
"""
GERMAN = """\ufeffID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,Bestwertung,"Bewertung kann geändert werden",\
"Zuletzt geändert (Abgabe)","Zuletzt geändert (Bewertung)","Feedback als Kommentar"
Teilnehmer/in1,"Jane Doe",jane@x.edu,"Zur Bewertung abgegeben - ",,"100,00",Ja,"Montag, 5. Oktober 2026, 23:59",-,
Teilnehmer/in3,"Ann O'Neil",ann@x.edu,"Zur Bewertung abgegeben - ",,"100,00",Ja,"Dienstag, 6. Oktober 2026, 00:05",-,
"""


def course_at(root: Path, entries=CLASS, books=(BOOK,)) -> Path:
    """A course with one assignment, before its release, and a class."""
    (root / "source" / ASSIGNMENT).mkdir(parents=True)
    for book in books:
        nbformat.write(new_notebook(), root / "source" / ASSIGNMENT / book)
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    with (root / "roster.csv").open("w", encoding="utf-8", newline="") as file:  # a gradebook takes seconds to make
        csv.writer(file).writerows([COLUMNS, *map(astuple, entries)])
    numbered(root, entries)
    return root


def numbered(root: Path, entries: Iterable[Entry]) -> Identities:
    """The numbers of a class, which every system happens to know it by."""
    identities = Identities.read(root)
    for system in SYSTEMS:
        identities.note(issuer_of(system) or system, {entry.id: entry.lms_user_id for entry in entries}, "roster")
    identities.write()
    return identities


def zipped(path: Path, files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """The bytes of a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def tarred(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def folder(path: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def tree(root: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
