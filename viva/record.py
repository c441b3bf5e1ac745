"""The typed record of a graded submission: one line of ``results.jsonl``.

A ``SubmissionRecord`` has a ``NotebookRecord`` for each notebook, and that the results of its checks. What else is
worth saying is a ``Note``: a kind, and its particulars. Nothing here is a sentence of ours: those are made where
people read, by ``viva.wording``. ``docs/results.schema.json`` is the JSON schema of a line, which a test holds equal
to these classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct, field, structs

from viva.cleaning import plaintext
from viva.verdict import NOT_DONE, CourseError, Verdict

SCHEMA = 7
"""The number of this form of a line. Lines without one were written before there were numbers."""


LONGEST = 500
"""Characters of a name."""


class Note(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Something worth saying: what kind of thing it is, and its particulars. ``viva.wording`` has the words."""

    kind: str
    cells: tuple[str, ...] = ()
    """Cells of the assignment, by grade id."""
    numbers: tuple[int, ...] = ()
    """Cells by their place in the file, from 1 on; or a line and a column."""
    names: tuple[str, ...] = ()
    """Files, functions, paths and other words of a stranger's."""
    amount: float = 0.0
    """Seconds, or how many there are of something."""
    because: Note | None = None
    doubt: bool = False
    """Whether a grader should look where it decides points: something else may have been meant."""
    tests: tuple[str, ...] = ()
    """The cells that a doubt may have cost points, or earned them (``UNEARNED``)."""


def note(kind: str, *names: str, **particulars: Any) -> Note:
    """A note whose names, which are a stranger's, are made fit to be shown and to be kept."""
    return Note(kind, names=tuple(plaintext.line(name, LONGEST) for name in names), **particulars)


CARRIED = "carried"
"""The kind of the cause of a check that is passed with right answers above it (``viva.engine.carried``)."""
UNEARNED = frozenset({"disguised", "changes_arguments", "changes_database", "passes_empty"})
"""The kinds of doubts about a test that passed; all others are about points that were lost."""


def doubtful(
    notes: Iterable[Note], checks: Mapping[str, Iterable[CheckResult]] = MappingProxyType({})
) -> tuple[str, ...]:
    """The cells that a grader should look at: all that the notes name, but for tests of which the results are known and
    no note may have decided them."""
    return tuple(sorted({test for note in notes for test in note.tests if _decides(note, checks.get(test))}))


def settled(notes: Iterable[Note], checks: Mapping[str, Iterable[CheckResult]]) -> list[Note]:
    """The notes; a doubt that decided no points of the tests that it is about is none any more."""
    return [
        structs.replace(note, doubt=note.doubt and (not note.tests or bool(doubtful([note], checks)))) for note in notes
    ]


def _decides(note: Note, results: Iterable[CheckResult] | None) -> bool:
    if results is None:  # a written answer, or a test that did not run
        return True
    if note.kind in UNEARNED:
        return any(result.earned > 0 for result in results)
    return any(result.earned < result.points for result in results)


class CheckResult(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The result of one check."""

    title: str
    points: float
    verdict: Verdict
    earned: float = 0.0
    reason: str = ""
    """The message of the exception that ended the check."""
    exception: str = ""
    """The name of its class; empty for an assertion of the test's."""
    cause: Note | None = None
    """The grader's own explanation, in place of a reason."""
    traceback: str = ""
    printed: str = ""
    seconds: float = 0.0
    raised_by: str = ""
    """Whose exception ended the check: the ``student``'s, the ``test``'s or the ``grader``'s."""
    undone: list[str] = field(default_factory=list)
    """The answers that are not done yet and explain why the check was not passed."""
    lost: Note | None = None
    """The cause by which it was lost, where that is a cell that did not run to its end (``viva.engine.explaining``)."""

    @property
    def message(self) -> str:
        """The reason without the name of the exception."""
        return self.reason.removeprefix(f"{self.exception}:")

    @property
    def word(self) -> str:
        """The result in a few words."""
        return NOT_DONE if self.undone else str(self.verdict)


class Fault(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A fault of the grader itself."""

    what: str
    """The fault in one line."""
    log: str = ""
    """The traceback, where there is one."""

    def __str__(self) -> str:
        return self.log or self.what


class NotebookRecord(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The record of one notebook of a submission."""

    checks: dict[str, list[CheckResult]] = field(default_factory=dict)
    """By grade cell."""
    repairs: list[Note] = field(default_factory=list)
    """The repairs before grading, and the doubts about what was meant."""
    integrity: list[Note] = field(default_factory=list)
    """Facts about what the notebook did to its process; they cost nothing."""
    sanitized: list[Note] = field(default_factory=list)
    """The parts that were taken out before anybody is shown it."""
    names: list[str] = field(default_factory=list)
    """The texts of the cells that ask for names (``viva.submission.blind``)."""


class SubmissionRecord(Struct, forbid_unknown_fields=True):
    """The record of one submission of one student."""

    assignment: str
    student: str
    graded: str = ""
    """When, as ISO 8601 has it, in UTC."""
    edition: str = ""
    """The release by which it was graded (``viva.editions``); empty in what an earlier form holds."""
    key: str = ""
    """A hash of all that the verdicts depend on; a submission whose key is the same need not be graded again."""
    sandboxed: bool = field(default=True, name="wall")
    """Whether the student's code ran in a sandbox."""
    seconds: float = 0.0
    faults: list[Fault] = field(default_factory=list)
    notebooks: dict[str, NotebookRecord] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def place(self) -> tuple[str, str]:
        return self.assignment, self.student

    def results(self) -> Iterator[tuple[str, str, CheckResult]]:
        """Notebook, grade cell and result of each check."""
        for notebook, graded in self.notebooks.items():
            for cell, results in graded.checks.items():
                for result in results:
                    yield notebook, cell, result


_ENCODER = msgspec.json.Encoder()


def encode(record: SubmissionRecord) -> bytes:
    """The record as a line of JSON, without its end; what would be hidden in it is escaped."""
    line = _ENCODER.encode(record)
    text = line.decode()
    return line if text.isprintable() else plaintext.escaped(text).encode()


def decode(line: bytes) -> SubmissionRecord:
    """The record in a line of JSON.

    Raises ValueError for what is not JSON, and CourseError for other JSON and for what a newer version of Viva wrote.
    """
    try:
        fields = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error
    try:
        return _record(fields)
    except msgspec.ValidationError as error:
        raise CourseError(f"it is not the record of a graded submission: {error}") from error


def _record(fields: object) -> SubmissionRecord:
    version = fields.get("schema") if isinstance(fields, dict) else None
    if isinstance(version, int) and version > SCHEMA:
        raise CourseError(
            f"it is from a newer Viva. Install that version (it has form {version}; this Viva reads forms up to "
            f"{SCHEMA})"
        )
    fields = fields if version else _upgraded(fields)
    if not version or version < 4:
        fields = _with_faults(fields)
    record = msgspec.convert(fields, SubmissionRecord)
    if not version or version < 3:
        for _, _, result in record.results():
            result.exception = _exception(result)
    if not version or version < 5:
        for _, _, result in record.results():
            result.verdict = _verdict(result)
    record.schema = SCHEMA
    return record


def _exception(result: CheckResult) -> str:
    """The class that an earlier form told only at the head of a reason."""
    name, colon, _ = result.reason.partition(":")
    return name if colon and name.isidentifier() and result.verdict is Verdict.ERROR else ""


def _verdict(result: CheckResult) -> Verdict:
    """The verdict, where an earlier form had a check passed whatever part of its points it earned."""
    if result.verdict is not Verdict.PASSED or result.earned >= result.points:
        return result.verdict
    return Verdict.PARTLY if result.earned else Verdict.FAILED


def _with_faults(fields: object) -> object:
    """A line of a form before the fourth, which had a text for each fault; its last line said what it was."""
    texts = fields.get("faults") if isinstance(fields, dict) else None
    if not isinstance(fields, dict) or not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return fields
    faults = [{"what": (text.splitlines() or [""])[-1], "log": text if "\n" in text else ""} for text in texts]
    return fields | {"faults": faults}


class _First(Struct):
    """The tables of a line of the first form, by notebook."""

    notebooks: dict[str, dict[str, list[dict]]] = field(default_factory=dict)
    repairs: dict[str, list[str]] = field(default_factory=dict)
    integrity: dict[str, list[str]] = field(default_factory=dict)
    sanitized: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)


def _upgraded(old: Any) -> dict:
    """A line of the first form, which held sentences, by notebook in tables of their own."""
    first = msgspec.convert(old, _First)
    notebooks: dict[str, dict[str, Any]] = {}
    for notebook, checks in first.notebooks.items():
        notebooks[notebook] = {"checks": checks, "names": first.names.get(notebook, [])}
        for name in ("repairs", "integrity", "sanitized"):
            sentences = getattr(first, name).get(notebook, [])
            notebooks[notebook][name] = [{"kind": "told", "names": [sentence]} for sentence in sentences]
    return {name: value for name, value in old.items() if not hasattr(first, name)} | {"notebooks": notebooks}
