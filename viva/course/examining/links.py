"""Links by which a submission holds what is not its student's: folders that are links, and the course's own files.

A hard link is the file itself under another name, so its inode alone tells. Backups and file systems that store equal
files once make honest ones: a link to a file elsewhere on the machine is none of ours, nor is one to what was
released, which its student has, nor one among a student's own folders. Single files that are symbolic links are not
followed by who reads them.

Of two students with one file the newer one is refused: the time of submission tells, else when the file's folder last
changed, as to make a link changes it. Where nothing tells, both wait for a grader.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from viva import wording
from viva.course.course import Course
from viva.folder import walk
from viva.record import Note, note
from viva.submission.files import timestamp
from viva.submission.submission import Submission
from viva.verdict import SubmissionError

Inode = tuple[int, int]
"""The device and the number of a file."""


class Links:
    """The links in a course's submissions; ``nameless`` sentences are for students, and name no other student.

    The course's files are looked through when the first hard link is met, and again for one that was made since.
    """

    def __init__(self, course: Course, nameless: bool = False) -> None:
        self.course, self.nameless = course, nameless

    def problem(self, submission: Submission) -> str:
        """Why a submission cannot be graded, as a sentence; empty when it can."""
        reason = self.reason(submission)
        return wording.sentence(reason) if reason else ""

    def reason(self, submission: Submission) -> Note | None:
        """Why a submission cannot be graded: its folder is a link, or a file in it is the course's; else None."""
        if name := _linked_folder(submission):
            return note("folder_link", name)
        for path in walk(submission.folder):
            for owner, step in self._owners_of(inode) if (inode := _inode(path)) else ():
                if step and submission.student in owner.parts:
                    continue
                if reason := self._hard_link(submission, path, owner, step):
                    return reason
        return None

    def _hard_link(self, submission: Submission, path: Path, owner: Path, step: str) -> Note | None:
        """Whose file a hard link leads to; None where the student had it first."""
        name = os.path.relpath(path, submission.folder)
        if not step:
            return note("hard_link", name, str(owner))
        second = next(
            (listed for listed in self.course.folders(step) if listed.folder in (self.course.root / owner).parents),
            None,
        )
        kind, names = "hard_link_student", [name]
        if not self.nameless:
            kind = "hard_link_named" if second else "hard_link_nameless"
            names += [str(owner), second.student if second else ""]
        if step != "submitted" or second is None:
            return note(kind, *names)
        first, last = _since(submission, path), _since(second, self.course.root / owner)
        if first[0] and last[0] and first[0] != last[0]:
            return note(kind, *names) if first[0] > last[0] else None
        if first[1] == last[1]:
            return note("hard_link_unknown" if self.nameless else "hard_link_named_unknown", *names)
        return note(kind, *names) if first[1] > last[1] else None

    def _owners_of(self, inode: Inode) -> list[tuple[Path, str]]:
        if inode not in self._owners:
            self.__dict__.pop("_owners", None)
        return self._owners.get(inode, [])

    @functools.cached_property
    def _owners(self) -> dict[Inode, list[tuple[Path, str]]]:
        """By inode, the places of the course's files, and a student's step; none of what was released."""
        owners: dict[Inode, list[tuple[Path, str]]] = {}
        for path, step in self._files():
            if inode := _inode(path):
                owners.setdefault(inode, []).append((Path(os.path.relpath(path, self.course.root)), step))
        for path in walk(self.course.path("release", ".")):
            if inode := _inode(path):
                owners[inode] = []
        return owners

    def _files(self) -> Iterator[tuple[Path, str]]:
        yield from ((path, "") for path in self.course.root.iterdir() if path.is_file())
        for step in ("source", "submitted", "autograded", "feedback"):
            yield from ((path, step if step != "source" else "") for path in walk(self.course.path(step, ".")))


def _since(submission: Submission, path: Path) -> tuple[datetime | None, int]:
    """When a submission was sent, and when the folder of one of its files last changed, in nanoseconds."""
    try:
        when = timestamp.read(submission.folder / timestamp.NAME)
    except SubmissionError:
        when = None
    return when, path.parent.stat().st_mtime_ns


def _inode(path: Path) -> Inode | None:
    """The inode of a file that has several names; None for any other."""
    try:
        status = path.lstat()
    except OSError:  # it has gone meanwhile
        return None
    return (status.st_dev, status.st_ino) if status.st_nlink > 1 else None


def _linked_folder(submission: Submission) -> str:
    """The name of a student's folder, or that of the assignment, if it is a link and not looked into; else empty.

    The instructor's own links, such as submitted/ on another disk, lie above.
    """
    for folder in (submission.folder, *submission.folder.parents):
        if folder.name not in (submission.student, submission.assignment):
            break
        if folder.is_symlink():
            return folder.name
    return ""
