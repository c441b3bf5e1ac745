"""A stranger's text, made fit to be shown: nothing in it is hidden, reorders what is around it, or has no end."""

from __future__ import annotations

REPLACED = "\N{REPLACEMENT CHARACTER}"
"""Stands for a control character, and for one that reorders or hides others."""


def line(text: str, characters: int) -> str:
    """The text in one line of at most so many characters."""
    whole = " ".join(lines(text[: 4 * characters]).split())
    return whole if len(whole) <= characters else whole[: characters - 1] + "…"


def lines(text: str) -> str:
    """The text with its lines and spaces as they were."""
    return "".join(one if one.isprintable() or one in "\n\t" else " " if one.isspace() else REPLACED for one in text)
