"""The sentences about a notebook's integrity, put together where nothing of a student's runs.

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
from viva.engine.dialogue.integrity import ENTRIES, HOOKS, ODD, OWN, WATCHED

CHARACTERS = 100
"""Of what is quoted."""
SILENT = "the code's process did not say what it had changed in its libraries and hooks"
STRANGE = "the code's process was asked what it had changed, and told what no witness tells: it was tampered with"
UNSTEADY = "{} changed between the tests of {} and {}, though no line that was run in between assigns to it"
BASES = frozenset(
    "bool int float complex str bytes list tuple dict set frozenset bytearray ndarray DataFrame Series Index".split()
)


def facts(reply: object, reasons: list[str], walled: bool, unsteady: dict[str, tuple[str, str]]) -> list[str]:
    """What is told of a notebook: from a stranger's ``reply``, from the ``reasons`` of its checks, and from the names
    that were ``unsteady`` (see ``told``).

    None of it says more than that something was there; an honest notebook has none.
    """
    seen = [UNSTEADY.format(name, *cells) for name, cells in list(unsteady.items())[:ENTRIES]]
    seen += list(dict.fromkeys(plaintext.line(reason) for reason in reasons if ODD in reason))[:ENTRIES]
    found = reply.get("facts") if isinstance(reply, dict) else None
    if not isinstance(found, dict):
        return [SILENT, *seen]
    told, strange = [], found.keys() != SENTENCES.keys()
    refused = "the wall refused it" if walled else "there was no wall to refuse it"
    for key, (sentence, read) in SENTENCES.items():
        values = found.get(key)
        texts = values if isinstance(values, list) and len(values) <= ENTRIES else [None]
        known = [read(text) if isinstance(text, str) else "" for text in texts]
        strange = strange or not all(known)
        if shown := [text for text in dict.fromkeys(known) if text]:
            told.append(sentence.format(", ".join(shown), refused))
    return [*told, *[STRANGE] * strange, *seen]


def _place(text: str) -> str:
    """The name of something in a library, in the shell or in the candidate itself; empty if there is no such thing."""
    from viva.engine.dialogue.shell import Shell

    around = {kind.__name__: kind for kind in Shell.__mro__[:3]}
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


SENTENCES: dict[str, tuple[str, Callable[[str], str]]] = {
    "touched": ("not what was loaded any more: {}", _place),
    "hooks": ("IPython hooks installed: {}", _hook),
    "opened": ("tried to open outside its folder: {} ({})", _path),
    "connections": ("tried to use the network: {} ({})", _address),
    "subclasses": ("answers of a class of its own that stands for plain data: {}", _subclass),
}
