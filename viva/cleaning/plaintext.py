"""A stranger's text, made fit to be shown: nothing in it is hidden, reorders what is around it, or has no end."""

from __future__ import annotations

from collections.abc import Sequence

REPLACED = "\N{REPLACEMENT CHARACTER}"
"""Stands for a control character, and for one that reorders or hides others."""
LONGEST = 200
"""Characters of a name in a sentence."""
QUOTED = 80
"""Characters of what is quoted."""


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
    return "".join(one if one.isprintable() or one in "\n\t" else " " if one.isspace() else REPLACED for one in text)


def cell(text: str, characters: int = 1000) -> str:
    """The text in one line as a spreadsheet may have it, which would compute what begins as a formula does."""
    return guarded(line(text, characters))


def guarded(text: str) -> str:
    """The text as it is, but for a mark before what a spreadsheet would compute."""
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text
