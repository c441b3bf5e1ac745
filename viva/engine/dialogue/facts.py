"""The facts about a notebook's integrity, put together where nothing of a student's runs.

What the candidate's witness tells (``integrity``) comes out of a process that student code may have taken over, so
its words are not repeated: what it names has to be something that is there to be named (a function of NumPy, a hook of
IPython, a class with a name), else an address or a path, which are quoted. A witness that says anything else is not
ours any more, and that is told.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable

from viva.cleaning import plaintext
from viva.engine.dialogue.integrity import ENTRIES, HOOKS, OWN, WATCHED
from viva.record import Note, note

CHARACTERS = 100
"""Of what is quoted."""
BASES = frozenset(
    "bool int float complex str bytes list tuple dict set frozenset bytearray ndarray DataFrame Series Index".split()
)


def facts(reply: object, causes: list[Note], walled: bool) -> list[Note]:
    """What is told of a notebook: from a stranger's ``reply``, and from the ``causes`` of what its checks came to.

    None of it says more than that something was there; an honest notebook has none.
    """
    seen = list(dict.fromkeys(cause for cause in causes if cause.kind == "not_plain"))[:ENTRIES]
    found = reply.get("facts") if isinstance(reply, dict) else None
    if not isinstance(found, dict):
        return [Note("silent"), *seen]
    told, strange = [], found.keys() != READ.keys()
    for kind, read in READ.items():
        values = found.get(kind)
        texts = values if isinstance(values, list) and len(values) <= ENTRIES else [None]
        known = [read(text) if isinstance(text, str) else "" for text in texts]
        strange = strange or not all(known)
        if shown := [text for text in dict.fromkeys(known) if text]:
            told.append(note(UNWALLED.get(kind, kind) if not walled else kind, *shown))
    return [*told, *[Note("strange")] * strange, *seen]


def _place(text: str) -> str:
    """The name of something in a library, in the shell or in the candidate itself; empty if there is no such thing."""
    from viva.engine.dialogue.shell import Shell

    around = {cls.__name__: cls for cls in Shell.__mro__[:3]}
    for name in (*WATCHED, *OWN, *around):
        if text == name:
            return text
        if text.startswith(f"{name}."):
            found = around.get(name) or importlib.import_module(name)
            for part in text.removeprefix(f"{name}.").split("."):
                inside = found if type(found) is dict else getattr(found, "__dict__", {})
                found = inside.get(part)
            if found is not None:
                return text
    return ""


def _hook(text: str) -> str:
    from IPython.core.events import available_events

    from viva.engine.dialogue.shell import Shell

    known = {*HOOKS, "set_custom_exc", "user_ns", *(f"events ({event})" for event in available_events)}
    return text if text in known or (text.isidentifier() and callable(getattr(Shell, text, None))) else ""


def _path(text: str) -> str:
    return plaintext.quoted(text, CHARACTERS) if text.startswith(("/", "..")) and text.isprintable() else ""


def _address(text: str) -> str:
    return plaintext.quoted(text, CHARACTERS) if re.fullmatch(r"a socket|[\w.:%\[\]-]+", text) else ""


def _subclass(text: str) -> str:
    name, _, base = text.partition(", a subclass of ")
    return f"{name[:60]}, a subclass of {base}" if name.isidentifier() and base in BASES else ""


READ: dict[str, Callable[[str], str]] = {
    "touched": _place,
    "hooks": _hook,
    "opened": _path,
    "connections": _address,
    "subclasses": _subclass,
}
"""By kind of fact, how what a witness names is read."""
UNWALLED = {"opened": "opened_unwalled", "connections": "connections_unwalled"}
