"""What the candidate said its names mean, and whether it could have said something else the next time.

Theory of operation. Student code shares the candidate's process and can make it answer as it likes, another value of
a name to each test. So what a name means is kept until student code has run: one of its cells, or an operation that
calls into it. Before that it is not asked again, and what the tests of a cell need is asked in one question. When it
is asked again, another value is no lie by itself, as code may change what it likes. But code says so in its text:
where neither a cell that was run in between assigns to the name (or changes what it means, by an index, a method or
a function that it is handed to) nor a function of the student's does, the difference is noted, and told as a fact.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from viva.cleaning import plaintext
from viva.engine import wire
from viva.engine.dialogue.doubt import doubting
from viva.engine.dialogue.parts import FIXED
from viva.engine.dialogue.standin import STAND_INS
from viva.verdict import CandidateFault, CandidateLied, WireError

if TYPE_CHECKING:
    from viva.engine.dialogue.asker import Asker

AT_ONCE = 32
"""So many names are asked in one question. The values of as many are kept on both sides, see dialogue/shared.py."""


@dataclass
class Meaning:
    """What one name was told to mean: the ``value``, or the ``fault`` of what cannot be read."""

    data: bytes
    number: int | None = None
    value: object = None
    fault: CandidateFault | None = None
    found: list[wire.Reference] = field(default_factory=list)


class Told:
    """The meanings of names that hold until student code runs, and of what those before them were made."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.now: dict[str, Meaning | BaseException] = {}
        self.standing: dict[str, object] = {}
        """Stand-ins, which hold until the candidate says that the name means something else."""
        self.calls = 0
        """How many operations are under way in which student code may run."""
        self.wanted: tuple[str, ...] = ()
        """Names that the tests of this cell use, and that were not asked since student code ran in a cell."""
        self.place = ""
        self.last: dict[str, tuple[bytes, str, int | None]] = {}
        """Of each name that meant plain data: a digest of it, the grade cell that was told, the number of what is
        kept."""
        self.named: set[int] = set()
        """The numbers under which values of names are kept."""
        self.assigned: set[str] = set()
        """Names that a cell has assigned to since they were last asked."""
        self.by_calls: set[str] = set()
        """Names that a call of a student's function may assign to."""
        self.unsteady: dict[str, tuple[str, str]] = {}
        """Names that changed though no text says so: the grade cells between which they did."""

    def begin(self, place: str, wanted: Iterable[str]) -> None:
        self.place, self.wanted = place, tuple(wanted)

    def ran(self, assigned: list[str] | None, by_calls: list[str]) -> None:
        """Cells were run, whose texts assign to these names, or (None) to nobody knows which."""
        self.now.clear()
        self.standing.clear()
        self.assigned.update(self.last if assigned is None else assigned)
        self.by_calls.update(by_calls)

    def called(self) -> None:
        """Student code may have run, if any was called: a candidate can say so at any time."""
        if self.calls:
            self.now.clear()

    def forget(self, names: Iterable[str]) -> None:
        """These names mean what test code made of them."""
        for name in names:
            self.now.pop(name, None)
            self.standing.pop(name, None)
            self.last.pop(name, None)

    def forget_kept(self, numbers: Iterable[int]) -> None:
        """Test code has changed what is kept under these numbers, or student code was handed it and did."""
        known = set(numbers)
        self.forget([name for name, (_, _, number) in self.last.items() if number in known])

    def rebound(self, name: str) -> None:
        """The candidate says that a name means something else now."""
        if self.calls:
            self.standing.pop(name, None)

    def name(self, name: str) -> object:
        """What a name means. Raises NameError, and CandidateLied where it is not what it may be."""
        if name in self.standing:
            return self.standing[name]
        if name not in self.now:
            self._ask(name)
        meaning = self.now[name]
        if isinstance(meaning, BaseException):
            raise meaning.with_traceback(None)
        if meaning.fault:
            raise meaning.fault
        self.asker.kinds.check(name, meaning.found, meaning.value)
        meaning.value = self.asker.kinds.as_series(meaning.data, meaning.value, name)
        self.asker.kinds.check_arrays(meaning.data, meaning.value, name)
        meaning.data = b""  # it may be large
        if type(meaning.value) in STAND_INS:
            self.standing[name] = meaning.value
        return meaning.value

    def _ask(self, name: str) -> None:
        others = [
            other for other in self.wanted if other != name and other not in self.now and other not in self.standing
        ][: AT_ONCE - 1]
        self.wanted = ()
        try:
            data = self.asker.operate("tell", name, " ".join(others), path=name)
        except NameError as error:
            self.now[name] = error
            return
        rows = _rows(data, [name, *others])
        for asked, row in rows.items():
            self.now[asked] = self._read(asked, *row)
        if name not in rows:
            raise CandidateLied(f"no word of what {name} means")

    def _read(self, name: str, message: bytes | str, number: int | None, windows: list) -> Meaning:
        if isinstance(message, str):
            return Meaning(b"", fault=CandidateLied(f"the answer cannot be read: {plaintext.quoted(message)}"))
        meaning, references = Meaning(message, number), []

        def resolve(reference: wire.Reference) -> object:
            meant = self.asker.references.resolve(reference, name, meaning.found)
            by_value = "base" in reference.about and type(meant) not in STAND_INS
            references.extend([] if by_value else [reference])
            return meant

        try:
            factory = functools.partial(self.asker.references.factory, path=name)
            self.asker.heard(value := wire.decode(message, resolve, factory=factory))
            meaning.value = value if references else self._kept(name, value, meaning, windows)
        except WireError as error:
            meaning.fault = CandidateLied(f"the answer cannot be read: {error}")
        except CandidateFault as fault:
            meaning.fault = fault
        return meaning

    def _kept(self, name: str, value: object, meaning: Meaning, windows: list) -> object:
        """The object that a plain value is here: what both sides keep already, as where two names mean one list."""
        self.compare(name, meaning.data, meaning.number)
        shared, number = self.asker.shared, meaning.number
        if number is None or type(value) in FIXED:
            return value
        self.named.add(number)
        mine = shared.get(number)
        if type(mine) is not type(value):
            with doubting():
                shared.keep(number, value := shared.linked(value, windows, {}))
            return value
        with doubting():
            shared.take(number, value)
        return mine

    def compare(self, name: str, message: bytes, number: int | None) -> None:
        """Note when a name means another value than it was told to, and no text explains it."""
        digest = hashlib.blake2b(message, digest_size=16).digest()
        before, place, _ = self.last.get(name, (digest, "", None))
        if before != digest and name not in self.assigned | self.by_calls:
            self.unsteady.setdefault(name, (place, self.place))
        self.last[name] = digest, self.place, number
        self.assigned.discard(name)

    def changed(self, number: int, message: bytes) -> None:
        """The candidate says that what is kept under a number has changed."""
        for name in [name for name, (_, _, kept) in self.last.items() if kept == number]:
            self.compare(name, message, number)


def _rows(data: object, asked: list[str]) -> dict[str, tuple[bytes | str, int | None, list]]:
    """By name: the message that carries its value, or why there is none, the number of what is kept, and windows."""
    try:
        rows = wire.decode(data) if isinstance(data, bytes) else None
    except WireError:
        rows = None
    if not isinstance(rows, list):
        raise CandidateLied("names that are none")
    found = {}
    for row in rows:
        match row:
            case (str(name), bytes() | str() as message, None | int() as number, list(windows)) if name in asked:
                found.setdefault(name, (message, number, windows))
            case _:
                raise CandidateLied("names that are none")
    return found
