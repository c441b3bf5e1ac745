"""A stranger's text, made fit to be shown: nothing in it is hidden, reorders what is around it, or has no end."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence

REPLACED = "\N{REPLACEMENT CHARACTER}"
"""Stands for a control character, and for one that reorders or hides others."""
LONGEST = 200
"""Characters of a name in a sentence."""
QUOTED = 80
"""Characters of what is quoted."""

SIGNS = frozenset("=+-@")
NUMBER = re.compile(r"-\d+(?:\.\d+)?", re.ASCII)


def line(text: str, characters: int = LONGEST) -> str:
    """The text in one line of at most so many characters."""
    whole = " ".join(lines(text[: 4 * characters]).split())
    return whole if len(whole) <= characters else whole[: characters - 1] + "…"


def quoted(text: str, characters: int = QUOTED) -> str:
    """The text in quotes that it cannot end, for a sentence that is not to be taken for the stranger's."""
    return "'" + line(text, characters).replace("'", "\N{RIGHT SINGLE QUOTATION MARK}") + "'"


def some(texts: Sequence[str], most: int) -> str:
    """The first of some texts in a sentence, and how many more there are."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def lines(text: str) -> str:
    """The text with its lines and spaces as they were."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else " " if character.isspace() else REPLACED
        for character in text
    )


_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def uncoloured(text: str) -> str:
    """The text without what gives colours to a terminal."""
    return _COLOURS.sub("", text)


JOINERS = "\u200c\u200d"
"""Hidden letters that Persian names and some pictures are spelt with."""
_HIDDEN = re.compile(r"[^ -~\n]")


def shown(text: str) -> str:
    """The text as a file may hold it that people open: lines, spaces and joiners stay, and nothing else is hidden."""
    return (
        text
        if text.isprintable()
        else "".join(character if character in f"{JOINERS}\r" else lines(character) for character in text)
    )


def escaped(document: str) -> str:
    """JSON that says the same, in which nothing is hidden and nothing obeyed by a terminal."""
    return _HIDDEN.sub(lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], document)


def guarded(text: str) -> str:
    """The text as a table may hold it: with a mark before it where a spreadsheet would compute it."""
    return f"'{text}" if _computed(text.lstrip("'")) else text


def bare(text: str) -> str:
    """The text that ``guarded`` was given."""
    return text[1:] if text.startswith("'") and guarded(text[1:]) == text else text


def _computed(text: str) -> bool:
    """Whether a spreadsheet takes a text for a formula, by its first sign, full-width forms too. A number is none."""
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])
    return text.startswith(("\t", "\r", "\n")) or (first in SIGNS and not NUMBER.fullmatch(text))
