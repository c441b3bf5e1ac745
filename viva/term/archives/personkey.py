"""What of a person's name, address or number counts when two are compared."""

from __future__ import annotations

import unicodedata

from viva.term.lms.personname import GENERATION


def squeezed(text: str) -> str:
    """Letters, their marks, and digits, without case: what Canvas leaves of a name, and all that systems agree on.

    >>> squeezed("O\u2019Neil, Zoë 🙂")
    'oneilzoë'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(one for one in unicodedata.normalize("NFC", folded) if unicodedata.category(one)[0] in "LMN")


def variants(first: str, last: str) -> set[str]:
    """The ways in which a name may be written without spaces and signs.

    >>> sorted(variants("Bo", "King, Jr."))
    ['bokingjr', 'kingbojr', 'kingjrbo']
    """
    name, _, suffix = (part.strip() for part in last.partition(","))
    found = {first + last, last + first}
    if GENERATION.fullmatch(suffix):
        found.add(name + first + suffix)
    return {squeezed(one) for one in found} - {""}
