"""The folder of a course, found from a folder inside it. Folders with students' files are recognised.

A configuration is code, and students submit files of any name. So a folder that students' files come to is never a
course, and no configuration is read from it. This module reads a course's configuration as text, and runs nothing:
it looks for the names of such folders.
"""

from __future__ import annotations

import ast
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

CONFIGS = ("nbgrader_config.py", "nbgrader_config.json")
READ = (*CONFIGS, "jupyter_config.py", "jupyter_config.json")
"""The files by which a course's folder configures a command."""
STEPS = ("submitted", "autograded", "feedback", "attempts", "unmatched", ".forgotten")
"""The folders of a course that students' files come to; a course may name the first three otherwise."""
RELEASE = "release"
SOURCE = re.compile("source_directory")
RENAMED, RELEASED = re.compile("(?:submitted|autograded|feedback)_directory"), re.compile("release_directory")
ANYWHERE = frozenset(("submitted", "autograded", "unmatched", "inbound"))
"""Where no course is visible, a folder below one of these names probably holds students' files."""
DELIVERED, NEAR = "timestamp.txt", 4
"""The file in each submitted folder; it is looked for in a folder and in the three above it."""


def course_above(folder: Path) -> str:
    """The nearest folder at or above ``folder`` that is a course; empty if there is none.

    One above needs its own configuration, as many a folder is called source. Below the folders of a course that
    students' files come to there is no other course.
    """
    if outer := course_of_students_files(folder):
        return str(outer)
    return next((str(directory) for directory in (folder, *folder.parents) if _is_course(directory, folder)), "")


def course_of_students_files(folder: Path, released: bool = True) -> Path | None:
    """The course in whose ``submitted/``, or the like, a folder lies; None where it lies in none.

    ``release/`` counts as one of them, unless told not ``released``: its files are the instructor's own.
    """
    for path in _typed_and_real(folder):
        for outer in reversed(path.parents):
            if _is_course(outer, folder) and _holds_students_files(outer, path, released):
                return outer
    return None


def may_be_strangers(folder: Path) -> bool:
    """Whether a configuration in a folder may be a student's or another user's, where no course lies above to tell.

    That is where a name on the way to it is that of a folder for submissions, where a time of submission lies, and
    where everybody may write.
    """
    for path in _typed_and_real(folder):
        near = (path, *path.parents)[:NEAR]
        if ANYWHERE & set(path.parts) or any((above / DELIVERED).is_file() for above in near):
            return True
    return _is_another_users(folder, READ)


def _holds_students_files(course: Path, folder: Path, released: bool) -> bool:
    """Whether a folder is, or lies in, one of a course's folders for students' files."""
    parts, names = folder.relative_to(course).parts, [*STEPS, *_said(course, RENAMED)]
    if released:
        names += [RELEASE, *_said(course, RELEASED)]
    folders = (Path(os.path.normpath(course / name)) for name in names)
    named = [path.relative_to(course).parts for path in folders if path != course and path.is_relative_to(course)]
    # A course may put the folder of a step below a student's.
    return any(name == parts[start : start + len(name)] for name in named for start in range(len(parts)))


def is_configured(folder: Path, names: tuple[str, ...] = READ) -> bool:
    """Whether a folder holds a configuration, by one of these ``names``."""
    return any((folder / name).is_file() for name in names)


def folder_of(course: Path, step: str) -> str:
    """The name of a course's folder for a step, such as ``submitted``, as far as its configuration's text shows it."""
    return next(_said(course, re.compile(f"{step}_directory")), step)


def gradebook_of(course: Path) -> Path | None:
    """The file of a course's gradebook, as far as its configuration's text shows it; None where it does not, or where
    the gradebook is in another database than SQLite's."""
    url = address_of(course)
    path = url.removeprefix("sqlite:///")
    return None if path == url else course / path


def address_of(course: Path) -> str:
    """The address of a course's gradebook, as far as its configuration's text shows it; empty where it does not."""
    urls = [*_said(course, re.compile("db_url"))]
    if not urls:
        texts = [(course / name).read_text(errors="replace") for name in CONFIGS if (course / name).is_file()]
        computed = any(re.search(r"^\s*c\.CourseDirectory\.db_url\b", text, re.MULTILINE) for text in texts)
        return "" if computed else "sqlite:///gradebook.db"
    return urls[-1]


def is_structured(course: Path) -> bool:
    """Whether a course's folders lie in a ``directory_structure`` of its own."""
    return any(_said(course, re.compile("directory_structure")))


def _is_course(directory: Path, folder: Path) -> bool:
    """Whether there is a course in a ``place`` at or above a folder."""
    if directory != folder and (not is_configured(directory, CONFIGS) or _is_another_users(directory, CONFIGS)):
        return False
    return any(os.path.isdir(directory / name) for name in ("source", *_said(directory, SOURCE)))


def _is_another_users(folder: Path, names: tuple[str, ...]) -> bool:
    """Whether everybody may put files into a folder, as into /tmp, and one with these ``names`` is another user's."""
    if os.name != "posix" or not folder.stat().st_mode & stat.S_IWOTH:
        return False
    return not {(folder / name).stat().st_uid for name in names if (folder / name).is_file()} <= {0, os.geteuid()}


def _typed_and_real(folder: Path) -> list[Path]:
    """A folder by the name that was typed, and by the one that it has: submitted/ may be a link to another disk."""
    typed = os.environ.get("PWD", "")
    places = [Path(os.path.abspath(folder)), Path(os.path.realpath(folder))]
    if typed and os.path.isabs(typed) and os.path.realpath(typed) == str(places[1]):
        places.append(Path(os.path.normpath(typed)))
    return list(dict.fromkeys(places))


def _said(course: Path, names: re.Pattern) -> Iterator[str]:
    """The folders that a course's configuration gives such ``names``, as far as its text shows them."""
    for config in CONFIGS:
        try:
            if not (course / config).is_file():  # a pipe would wait
                continue
            data = (course / config).read_bytes()
            values = _in_json(data) if config.endswith(".json") else _in_python(data)
            yield from [value for name, value in values if names.fullmatch(name) and isinstance(value, str) and value]
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue


def _in_json(data: bytes) -> list[tuple[str, object]]:
    document = json.loads(data)
    section = document.get("CourseDirectory") if isinstance(document, dict) else None
    return list(section.items()) if isinstance(section, dict) else []


def _in_python(data: bytes) -> list[tuple[str, object]]:
    return [
        (target.attr, node.value.value)
        for node in ast.walk(ast.parse(data))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Attribute)
    ]
