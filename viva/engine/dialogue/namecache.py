"""The name cache: what the candidate said its names mean.

Student code shares the candidate's process and can make it answer as it likes, another value of a name to each test.
So what a name means is kept until student code has run: one of its cells, or an operation that calls into it. Before
that it is not asked again, and what the tests of a cell need is asked in one question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from viva.cleaning import plaintext
from viva.engine import wire
from viva.engine.dialogue.expected import ExpectedTypes, Path
from viva.engine.dialogue.proxies import PROXIES
from viva.engine.dialogue.references import References
from viva.verdict import CandidateFault, CandidateLied, WireError

AT_ONCE = 32
"""The most names in one question."""


@dataclass
class Meaning:
    """The meaning of one name: its ``value``, or the ``fault`` of a message that cannot be read."""

    data: bytes
    value: object = None
    fault: CandidateFault | None = None
    references: list[wire.Reference] = field(default_factory=list)


class NameCache:
    """The meanings of names that hold until student code runs."""

    def __init__(self, ask: Callable, references: References, expected: ExpectedTypes, heard: Callable) -> None:
        """``ask`` puts a question; ``heard`` is told each value that came."""
        self.ask, self.references, self.expected, self.heard = ask, references, expected, heard
        self.now: dict[str, Meaning | BaseException] = {}
        self.standing: dict[str, object] = {}
        """Proxies, which hold until the candidate says that the name means something else."""
        self.calls = 0
        """How many operations are under way in which student code may run."""
        self.wanted: tuple[str, ...] = ()
        """Names that the tests of this cell use, and that were not asked since student code ran in a cell."""

    def ran(self) -> None:
        """Cells of the student's were run."""
        self.now.clear()
        self.standing.clear()

    def called(self) -> None:
        """Student code may have run, if any was called: a candidate can say so at any time."""
        if self.calls:
            self.now.clear()

    def forget(self, names: Iterable[str]) -> None:
        """These names mean what test code made of them."""
        for name in names:
            self.now.pop(name, None)
            self.standing.pop(name, None)

    def rebound(self, name: str) -> None:
        """The candidate says that a name means something else now."""
        if self.calls:
            self.standing.pop(name, None)

    def name(self, name: str) -> object:
        """The value of a name. Raises NameError, and CandidateLied for a value that is not allowed."""
        if name in self.standing:
            return self.standing[name]
        if name not in self.now:
            self._ask(name)
        meaning = self.now[name]
        if isinstance(meaning, BaseException):
            raise meaning.with_traceback(None)
        if meaning.fault:
            raise meaning.fault
        if meaning.data:
            self._check(Path(name), meaning)
        if type(meaning.value) in PROXIES:
            self.standing[name] = meaning.value
        return meaning.value

    def _check(self, path: Path, meaning: Meaning) -> None:
        """Raises what is wrong with a meaning. Whatever goes wrong while it is looked at, the answer is at fault."""
        try:
            meaning.value = self.expected.as_series(meaning.data, meaning.value, path)
            odd = self.expected.odd(path, meaning.references, meaning.value, meaning.data)
        except Exception as error:
            odd = CandidateLied(f"the reply cannot be read: {type(error).__name__}")
        if odd:
            meaning.value = self.references.sealed(meaning.value, odd, path, meaning.data)
        meaning.data = b""  # it may be large

    def _ask(self, name: str) -> None:
        beside = [
            wanted
            for wanted in self.wanted
            if wanted != name and wanted not in self.now and wanted not in self.standing
        ][: AT_ONCE - 1]
        self.wanted = ()
        try:
            data = self.ask("tell", name, " ".join(beside), path=Path(name))
        except NameError as error:
            self.now[name] = error
            return
        rows = _rows(data, [name, *beside])
        for asked, message in rows.items():
            self.now[asked] = self._read(asked, message)
        if name not in rows:
            raise CandidateLied(f"no value for {name}")

    def _read(self, name: str, message: bytes | str) -> Meaning:
        if isinstance(message, str):
            return Meaning(b"", fault=CandidateLied(f"the reply cannot be read: {plaintext.quoted(message)}"))
        meaning = Meaning(message)
        try:
            meaning.value = wire.decode(
                message, lambda reference: self.references.resolve(reference, Path(name), meaning.references)
            )
            self.heard(meaning.value)
        except WireError as error:
            meaning.fault = CandidateLied(f"the reply cannot be read: {error}")
        except CandidateFault as fault:
            meaning.fault = fault
        return meaning


def _rows(data: object, asked: list[str]) -> dict[str, bytes | str]:
    """The message that carries each name's value, or why there is none."""
    try:
        rows = wire.decode(data) if isinstance(data, bytes) else None
    except WireError:
        rows = None
    if not isinstance(rows, list):
        raise CandidateLied("invalid names")
    messages: dict[str, bytes | str] = {}
    for row in rows:
        match row:
            case (str(name), bytes() | str() as message) if name in asked:
                messages.setdefault(name, message)
            case _:
                raise CandidateLied("invalid names")
    return messages
