"""What every check of every submission came to: ``results.jsonl`` beside the gradebook.

One line of JSON for each submission that was graded, in order of assignment and student when no batch is running.
Where a submission has several, because its batch is not finished or nbgrader graded it again, the last one counts:

    {"assignment": "ps3_scaled_attention", "student": "demo-01", "graded": "2026-09-14T10:00:00+00:00",
     "key": "5f0c...", "wall": true, "seconds": 0.41, "faults": [],
     "notebooks": {"scaled_attention": {"test_permuted": [
        {"title": "the rows sum to one", "points": 2, "earned": 0, "verdict": "failed",
         "reason": "Row 0 sums to 3.", "traceback": "...", "printed": "", "seconds": 0.002,
         "raised_by": "test"}]}}}

A check that was not passed because answers are not done yet names their cells: ``"undone": ["softmax"]``.
``integrity`` has, by notebook and only where there are some, facts about what the notebook did to its process, and
``sanitized`` has, by notebook, a sentence for each cell that something was taken out of before it is shown, and
``names`` what was typed into the cells that ask for names (``viva.submission.blind``).
``key`` is a hash of everything that the verdicts depend on: the submission, the instructor's notebook and
data, the limits and the engine. A submission whose key is the same need not be graded again, unless ``faults`` tells
that the grader itself failed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nbgrader.coursedir import CourseDirectory

NAME = "results.jsonl"


class Results:
    """The file, read whole and added to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, directory: CourseDirectory) -> Results:
        """Those of a course: beside its gradebook when that is a file, in the course folder otherwise."""
        book = directory.db_url.removeprefix("sqlite:///")
        folder = Path(directory.root) if book == directory.db_url else Path(directory.root, book).parent
        return cls(folder / NAME)

    def read(self) -> dict[tuple[str, str], dict]:
        """The last record of each submission, by assignment and student; a line that was cut off is left out."""
        return {(record["assignment"], record["student"]): record for record, _, _ in self._records()}

    def keys(self) -> dict[tuple[str, str], str | None]:
        """The key of each submission's last record, by assignment and student; None where the grader itself failed."""
        return {
            (record["assignment"], record["student"]): None if record.get("faults") else record.get("key")
            for record, _, _ in self._records()
        }

    def _records(self) -> Iterator[tuple[dict, int, int]]:
        """Each record with where its line begins and ends; they are read one by one, as there may be thousands."""
        if not self.path.exists():
            return
        with self.path.open("rb") as lines:
            end = 0
            for line in lines:
                start, end = end, end + len(line)
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    record = json.loads(line)
                    record["assignment"], record["student"]
                    yield record, start, end

    def add(self, records: list[dict]) -> None:
        """Write the records at the end, in one piece."""
        text = _lines(records)
        with self._locked() as file:
            torn = file.tell() and not _ends_in_newline(self.path)
            file.write(("\n" if torn else "").encode() + text.encode())
            file.flush()
            os.fsync(file.fileno())

    def tidy(self) -> None:
        """Put the last record of each submission in order of assignment and student, and drop the others.

        So the file does not depend on how many workers there were, and on which of them was first.
        """
        if not self.path.exists():
            return
        with self._locked(), self.path.open("rb") as old:
            found = {(record["assignment"], record["student"]): place for record, *place in self._records()}
            places = [place for _, place in sorted(found.items())]
            if sum(end - start for start, end in places) == self.path.stat().st_size and places == sorted(places):
                return
            fresh = self.path.with_suffix(".jsonl.new")
            with fresh.open("wb") as new:
                for start, end in places:
                    old.seek(start)
                    new.write(old.read(end - start).rstrip(b"\n") + b"\n")
                new.flush()
                os.fsync(new.fileno())
            fresh.replace(self.path)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The file, open at its end and for this process alone, also when another one replaced it meanwhile."""
        while True:
            with self.path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self.path.exists() and os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                    file.seek(0, os.SEEK_END)
                    yield file
                    return


def _lines(records: list[dict]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _ends_in_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
