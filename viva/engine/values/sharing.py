"""Objects of a library that both processes share: the door for packages, and the parts in one process.

Theory of operation. A codec makes a copy of a value. Some objects of a library cannot be copied so: a tensor with a
history, a module whose weights both sides change. A package derives from Sharing for them. Each process has one. An
object of its types has one number on both sides. It lives in one of them, its *owner's*; in the other something of the
same library stands for it. Changes are told as *news*, plain data in a frame before each message, so that both sides
have the same values whenever one of them goes on. Both may change what they share. News may have been made up: ``take``
checks everything, as a codec's ``build`` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType
from typing import Any, Protocol

from viva.engine.values.codec import Reference, mro_of
from viva.verdict import VivaError, WireError

SHARED = "shared"
"""Whose an object is that both sides know by one number (``about["of"]``)."""


NEWS = b"news "
"""What a frame of news begins with; no message does."""


class Link(Protocol):
    """How a Sharing reaches the other process."""

    examining: bool
    """Whether this is the examiner's side."""

    def offer(self, value: Any) -> tuple[int, dict]:
        """A number by which the other side can use something of ours, and what describes it. Of the candidate's all
        operations are asked; the examiner's has to be a function, and can only be called."""

    def reach(self, number: int, about: dict, path: Any = None) -> Any:
        """What stands for that on the other side: a proxy in the examiner, a function in the candidate."""


class Sharing:
    """What is shared of one library, in one process. A package derives from it; its entry holds the class."""

    types: tuple[type, ...] = ()
    """Objects of these and of derived classes are shared, as far as ``refer`` gives a number."""

    apart = False
    """Whether the examiner runs an earlier place of the notebook than the candidate: then it neither tells nor takes a
    state of random numbers."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def refer(self, value: Any) -> int | None:
        """The number of an object, which the other side knows or is told in the next news; None for another value."""
        raise NotImplementedError

    def resolve(self, number: int, path: Any) -> object:
        """What has a number here; ``path`` is how a test came by it. Raises WireError."""
        raise NotImplementedError

    def news(self, anew: bool = False) -> Any:
        """What the other side is to know, as plain data; None for nothing. It counts as told. ``anew`` also tells a
        state of random numbers that the other side may know."""
        raise NotImplementedError

    def take(self, news: Any) -> None:
        """Take over news of the other side. Raises anything for what cannot be that."""
        raise NotImplementedError

    def held(self, own: bool) -> list:
        """The values that are one on both sides and can be changed: this process' ``own``, or those of the other."""
        return []

    def difference(self, code: CodeType, lines: range) -> str:
        """What differed in the last comparison of two values of the library's, if it said that they do: a line that
        holds no numbers, and one that does. For a check that fails without a message at these lines of its ``code``;
        empty where the comparison was made elsewhere."""
        return ""

    def random_state(self) -> Any:
        """The state of the library's random numbers, as plain data; None where there is none."""
        return None

    def follow(self, random_state: Any) -> None:
        """Have the examiner draw from a state that the candidate told, where drawing leads to it (``streams``). Raises
        anything for what is none."""

    @staticmethod
    def seed(number: int) -> None:
        """Have the library draw its random numbers from a state that belongs to a number."""


SHARINGS: dict[str, type[Sharing]] = {}
"""Those that were learned, by library."""


def seed(number: int) -> None:
    for sharing in SHARINGS.values():
        sharing.seed(number)


class Shared:
    """All that is shared, in one process."""

    def __init__(self, link: Link) -> None:
        self.by_library = {library: sharing(link) for library, sharing in SHARINGS.items()}
        self.of_type = {cls: library for library, sharing in SHARINGS.items() for cls in sharing.types}

    def refer(self, value: Any) -> Reference | None:
        if not self.of_type:
            return None
        library = next((self.of_type[base] for base in mro_of(type(value)) if base in self.of_type), None)
        number = None if library is None else self.by_library[library].refer(value)
        return None if number is None else Reference(number, {"of": SHARED, "library": library})

    def resolve(self, reference: Reference, path: Any = None) -> object:
        library = reference.about.get("library")
        if type(library) is not str or library not in self.by_library or type(reference.id) is not int:
            raise WireError("an invalid reference")
        return self.by_library[library].resolve(reference.id, path)

    def held(self, own: bool) -> list:
        return [value for sharing in self.by_library.values() for value in sharing.held(own)]

    def difference(self, code: CodeType, lines: range) -> str:
        return next(filter(None, (sharing.difference(code, lines) for sharing in self.by_library.values())), "")

    def news(self, anew: bool = False) -> dict[str, Any]:
        told = {library: sharing.news(anew) for library, sharing in self.by_library.items()}
        return {library: news for library, news in told.items() if news is not None}

    def random_states(self) -> dict[str, Any]:
        states = {library: sharing.random_state() for library, sharing in self.by_library.items()}
        return {library: state for library, state in states.items() if state is not None}

    def follow(self, random_states: Any) -> None:
        """Have the examiner draw from the states that the candidate told. Raises anything for what is none."""
        for library, sharing in self.by_library.items():
            if library in random_states:
                sharing.follow(random_states[library])

    def stand_apart(self, apart: bool) -> None:
        for sharing in self.by_library.values():
            sharing.apart = apart

    def take(self, news: Any) -> None:
        """Raises WireError for what is not news."""
        if type(news) is not dict or not news.keys() <= self.by_library.keys():
            raise WireError("invalid news")
        try:
            for library, told in news.items():
                self.by_library[library].take(told)
        except VivaError:
            raise
        except Exception as error:
            raise WireError(f"invalid data of {library} ({type(error).__name__}: {str(error)[:200]})") from error


def add(library: str, sharings: Iterable[type[Sharing]]) -> None:
    """Raises ValueError for a second one of a library."""
    for sharing in sharings:
        if SHARINGS.get(library, sharing) is not sharing:
            raise ValueError(f"{library} is shared already")
        SHARINGS[library] = sharing
