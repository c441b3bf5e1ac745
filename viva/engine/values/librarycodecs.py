"""Codecs of libraries, which other packages add (the door ``viva.codecs``).

An entry is called as the library is imported, and its value is a tuple of codecs. Both fork servers load those of the
libraries that they have loaded, before they fork. A library that starts threads is loaded after the fork, by who
imports it; then its codecs are loaded at its first value. On the wire all of them share one mark;
its first part names the codec, as in ``"torch:Tensor"``. The other parts are plain, whatever the codec says: references
are refused on both sides, and the limits of the wire count them as they count everything else.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable

from viva import doors
from viva.engine.values import sharing
from viva.engine.values.codec import CODEC_OF, Codec, module_of, mro_of, name_of
from viva.verdict import CourseError, WireError

CODEC_BY_NAME: dict[str, Codec] = {}
"""The codecs that were learned, by their names on the wire."""
_NAMES: dict[type, str] = {}
LATE: set[str] = set()
"""Libraries that have codecs, and were not loaded when the others were."""


def _split(value: object) -> list | None:
    name = next(_NAMES[base] for base in mro_of(type(value)) if base in _NAMES)
    parts = CODEC_BY_NAME[name].split(value)
    return None if parts is None else [name, *parts]


def _build(parts: list) -> object:
    name, *rest = parts
    if type(name) is str:
        learn_late(name.partition(":")[0])
    codec = CODEC_BY_NAME.get(name) if type(name) is str else None
    if codec is None:
        raise WireError("a message holds a value of an unknown library")
    if codec.parts is not None and not set(map(type, rest)) <= codec.parts:
        raise WireError(f"a message holds a value of {name} with impossible parts")
    value = codec.build(rest)
    if type(value) not in codec.types:
        raise WireError(f"a message holds parts from which {name} cannot be built")
    return value


LIBRARY = Codec((), _split, _build)
"""What stands on the wire for the value of any library."""


def learn() -> dict[str, str]:
    """Load the codecs of the libraries that this process has loaded; by library, what is wrong with those that are
    broken."""
    problems = {}
    try:
        entries = doors.CODECS.entries()
    except CourseError as error:
        return {str(doors.CODECS): str(error)}
    LATE.clear()
    LATE.update(entries.keys() - sys.modules.keys())
    for library in entries.keys() - LATE:
        try:
            _learn(library)
        except (CourseError, ValueError) as error:
            problems[library] = (
                f"Viva cannot send values of {library} between processes: {str(error).removesuffix('.')}."
            )
    return problems


def learn_late(library: str) -> bool:
    """Load the codecs of a library that this process has imported since, if there are any; whether it did so.

    Those that are broken change nothing: the values of the library cross as objects.
    """
    if library not in LATE or library not in sys.modules:
        return False
    LATE.discard(library)
    with contextlib.suppress(CourseError, ValueError):
        _learn(library)
    return True


def _learn(library: str) -> None:
    for one in _checked(doors.CODECS.load(library)):
        sharing.add(library, [one]) if isinstance(one, type) else add(library, one)


def _checked(codecs: object) -> Iterable[Codec | type[sharing.Sharing]]:
    if not isinstance(codecs, tuple | list) or not all(map(_is_of_door, codecs)):
        raise ValueError("the entry is not a tuple of viva.engine.values.codec.Codec, and classes of sharing.Sharing")
    return codecs


def _is_of_door(one: object) -> bool:
    if isinstance(one, type):
        return issubclass(one, sharing.Sharing)
    return isinstance(one, Codec) and bool(one.types)


def codec_that_was_added(cls: type) -> Codec | None:
    """The codec of a library's type, or of one that it derives from."""
    return next((CODEC_BY_NAME[_NAMES[base]] for base in mro_of(cls) if base in _NAMES), None) if _NAMES else None


def add(library: str, codec: Codec) -> None:
    """Have values of a codec's types cross by it. Raises ValueError for a type that crosses already."""
    name = f"{library}:{name_of(codec.types[0])}"
    if CODEC_BY_NAME.get(name, codec) is not codec:  # two classes of one name
        name = f"{library}:{module_of(codec.types[0])}.{name_of(codec.types[0])}"
    for cls in codec.types:
        if CODEC_OF.get(cls, LIBRARY) is not LIBRARY or _NAMES.get(cls, name) != name:
            raise ValueError(f"{module_of(cls)}.{name_of(cls)} crosses already")
    CODEC_BY_NAME[name] = codec
    for cls in codec.types:
        _NAMES[cls] = name
        CODEC_OF[cls] = LIBRARY
