"""The results of all checks of all submissions: ``results.jsonl`` beside the gradebook.

One record (``viva.record``) in a line of JSON for each submission that was graded, in order of assignment and student
when no batch is running. Where a submission has several, because its batch is not finished or nbgrader graded it
again, the last one counts. docs/reference.md shows a line, docs/results.schema.json is its schema.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from msgspec import structs
from nbgrader.coursedir import CourseDirectory

from viva import editions
from viva.course.processes import leftovers
from viva.record import SubmissionRecord, decode, encode
from viva.verdict import CourseError

NAME = "results.jsonl"


class Results:
    """The file, read whole and added to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, directory: CourseDirectory) -> Results:
        """The results of a course: beside its gradebook if that is a file, otherwise in the course folder."""
        return cls(editions.beside_gradebook(directory) / NAME)

    def read(self) -> dict[tuple[str, str], SubmissionRecord]:
        """The last record of each submission, by assignment and student; a line that was cut off is left out.

        Raises CourseError for a line that is whole and no record.
        """
        return {record.place: record for record, _, _ in self._records()}

    def keys(self) -> dict[tuple[str, str], str | None]:
        """The key of each submission's last record, by assignment and student; None where the grader itself failed."""
        return {record.place: None if record.faults else record.key for record, _, _ in self._records()}

    def each(self) -> Iterator[SubmissionRecord]:
        """Every record, one by one, as there may be thousands; of a submission the last one counts."""
        return (record for record, _, _ in self._records())

    def unreadable(self) -> list[int]:
        """The numbers of the lines that are not JSON: cut off, or overwritten."""
        numbers: list[int] = []
        for _ in self._records(numbers):
            pass
        return numbers

    def _records(self, broken: list[int] | None = None) -> Iterator[tuple[SubmissionRecord, int, int]]:
        """Each record with where its line begins and ends; they are read one by one, as there may be thousands."""
        if not self.path.exists():
            return
        with self.path.open("rb") as lines:
            end = 0
            for number, line in enumerate(lines, 1):
                start, end = end, end + len(line)
                try:
                    yield decode(line), start, end
                except ValueError:  # it was cut off
                    if broken is not None:
                        broken.append(number)
                    continue
                except CourseError as error:
                    raise CourseError(
                        f"Line {number} of {self.path} is not valid: {error}. Move the file to another place, then "
                        "run 'viva grade --force' to write it again."
                    ) from error

    def add(self, records: Iterable[SubmissionRecord]) -> None:
        """Append the records, all at once."""
        add_lines(self.path, map(encode, records))

    def hand_over(self, places: Mapping[tuple[str, str], str]) -> None:
        """Give records to other students, by assignment and old student; a student who has a record keeps it."""
        if not self.path.exists():
            return
        with _locked(self.path):
            records = {record.place: record for record, _, _ in self._records()}
            for pair, student in places.items():
                if (pair[0], student) not in records and (record := records.pop(pair, None)):
                    records[pair[0], student] = structs.replace(record, student=student)
            fresh = self.path.with_suffix(".jsonl.new")
            with fresh.open("wb") as new:
                new.writelines(encode(record) + b"\n" for _, record in sorted(records.items()))
                new.flush()
                os.fsync(new.fileno())
            fresh.replace(self.path)

    def tidy(self) -> None:
        """Put the last record of each submission in order of assignment and student, and drop the others.

        So the file does not depend on how many workers there were, and on which of them was first.
        """
        if not self.path.exists():
            return
        with _locked(self.path), self.path.open("rb") as old:
            spans = {record.place: span for record, *span in self._records()}
            places = [span for _, span in sorted(spans.items())]
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


def add_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Append lines to a file, all at once; one that was cut off there is ended first."""
    text = b"".join(line + b"\n" for line in lines)
    with _locked(path) as file:
        torn = file.tell() and not _ends_in_newline(path)
        file.write(b"\n" + text if torn else text)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """A file, open at its end and for this process alone, also when another one replaced it meanwhile."""
    while True:
        with path.open("ab") as file:
            leftovers.take(file.fileno(), path, wait=True)
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                file.seek(0, os.SEEK_END)
                yield file
                return


def _ends_in_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
