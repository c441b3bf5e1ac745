"""A person's name from a list: made safe for pages, split into first and last, and compared with another."""

from __future__ import annotations

import re
import unicodedata

from viva.cleaning import plaintext

LONGEST = 1000
"""Letters in a name, or in a list of sections or groups."""
GENERATION = re.compile(r"(?:sr|jr|snr|jnr)\.?", re.IGNORECASE)
SUFFIX = re.compile(GENERATION.pattern + r"|Senior|Junior|I{2,3}|IV|VI?|Esq\.?|Ph\.?D\.?", re.IGNORECASE)
"""What stands behind a family name and a comma, and is not a first name; alone it may be one, as Junior and Vi are."""
DIRECTIONS = dict.fromkeys(map(ord, "\u200e\u200f\u061c\ufeff"))
"""Marks that systems put around right-to-left names; without them the names are the same."""
LEFT, RIGHT = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
BRACKETS = str.maketrans("<>", LEFT + RIGHT)
"""Formgrader shows a name as it is, so none may hold an element of HTML."""
REPLACED = {LEFT, RIGHT, plaintext.REPLACED}


def cleaned(text: str) -> str:
    """One line without anything that a page or a terminal obeys."""
    text = text[: 4 * LONGEST].translate(DIRECTIONS).translate(BRACKETS)
    for joiner in plaintext.JOINERS:
        if joiner in text:
            return joiner.join(cleaned(part) for part in text.split(joiner))
    return plaintext.line(text, LONGEST)


def is_marred(text: str) -> bool:
    """Whether something in it has to be replaced."""
    return bool(REPLACED & set(cleaned(text)) - set(text))


def words(name: str) -> tuple[str, ...]:
    """The words of a name in no order, since lists write it in several."""
    return tuple(sorted(re.findall(r"\w+", unicodedata.normalize("NFC", cleaned(name).strip()).casefold())))


def parted(name: str) -> tuple[str, str]:
    """First and last name: a comma stands behind the last one, or else it is the last word."""
    last, *rest = [part.strip() for part in name.split(",")]
    if rest:
        behind = [part for part in rest if (SUFFIX if len(rest) > 1 else GENERATION).fullmatch(part)]
        return ", ".join(part for part in rest if part and part not in behind), ", ".join([last, *behind])
    first, _, last = name.rpartition(" ")
    return first, last


def squeezed(text: str) -> str:
    """Letters, their marks, and digits, without case: what Canvas leaves of a name, and all that systems agree on.

    >>> squeezed("O\u2019Neil, Zoë 🙂")
    'oneilzoë'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(
        letter for letter in unicodedata.normalize("NFC", folded) if unicodedata.category(letter)[0] in "LMN"
    )


def variants(first: str, last: str) -> set[str]:
    """The ways in which a name may be written without spaces and signs.

    >>> sorted(variants("Bo", "King, Jr."))
    ['bokingjr', 'kingbojr', 'kingjrbo']
    """
    name, _, suffix = (part.strip() for part in last.partition(","))
    spellings = {first + last, last + first}
    if GENERATION.fullmatch(suffix):
        spellings.add(name + first + suffix)
    return {squeezed(spelling) for spelling in spellings} - {""}
