"""Links by which a submission holds what is not its student's: folders that are links, and the course's own files.

A hard link is the file itself under another name, so its inode alone tells. Backups and file systems that store equal
files once make honest ones: a link to a file elsewhere on the machine is none of ours, nor is one to what was
released, which its student has, nor one among a student's own folders. Single files that are symbolic links are not
followed by who reads them.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.folder import walk
from viva.submission.submission import Submission

Inode = tuple[int, int]
"""The device and the number of a file."""


class Links:
    """The links in a course's submissions.

    The course's files are looked through when the first hard link is met, and again for one that was made since.
    """

    def __init__(self, course: Course) -> None:
        self.course = course

    def problem(self, submission: Submission) -> str:
        """Why a submission cannot be graded: its folder is a link, or a file in it is the course's; else empty."""
        if problem := _folder_problem(submission):
            return problem
        for path in walk(submission.folder):
            for owner, of_student in self._owners_of(inode) if (inode := _inode(path)) else ():
                if not of_student or submission.student not in owner.parts:
                    name = plaintext.quoted(os.path.relpath(path, submission.folder))
                    whose = "a file of another student's" if of_student else f"{owner} of this course"
                    return f"the file {name} is a hard link to {whose}; put a file of the student's own there"
        return ""

    def _owners_of(self, inode: Inode) -> list[tuple[Path, bool]]:
        if inode not in self._owners:
            self.__dict__.pop("_owners", None)
        return self._owners.get(inode, [])

    @functools.cached_property
    def _owners(self) -> dict[Inode, list[tuple[Path, bool]]]:
        """By inode, the places of the course's files, and whether they are a student's; none of what was released."""
        found: dict[Inode, list[tuple[Path, bool]]] = {}
        for path, of_student in self._files():
            if inode := _inode(path):
                found.setdefault(inode, []).append((Path(os.path.relpath(path, self.course.root)), of_student))
        for path in walk(self.course.path("release", ".")):
            if inode := _inode(path):
                found[inode] = []
        return found

    def _files(self) -> Iterator[tuple[Path, bool]]:
        yield from ((path, False) for path in self.course.root.iterdir() if path.is_file())
        for step in ("source", "submitted", "autograded", "feedback"):
            yield from ((path, step != "source") for path in walk(self.course.path(step, ".")))


def _inode(path: Path) -> Inode | None:
    """Of a file that several names lead to."""
    try:
        about = path.lstat()
    except OSError:  # it has gone meanwhile
        return None
    return (about.st_dev, about.st_ino) if about.st_nlink > 1 else None


def _folder_problem(submission: Submission) -> str:
    """Why a student's folder is not looked into: it, or that of the assignment, is a link; empty when neither is.

    The instructor's own links, such as submitted/ on another disk, lie above.
    """
    for place in (submission.folder, *submission.folder.parents):
        if place.name not in (submission.student, submission.assignment):
            break
        if place.is_symlink():
            name = plaintext.quoted(place.name)
            return f"the folder {name} is a link, and links are not followed; put the files themselves there"
    return ""
