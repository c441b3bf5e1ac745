"""Texts for random calls: some that match a pattern of the solution, and some that nearly do.

The source of this module runs in a candidate, and needs nothing of Viva.
"""

from __future__ import annotations

import re
import string
from typing import Any

MOST_TIMES = 3
"""A part that may stand any number of times stands so many times more than it must, at most."""
TOO_FEW = 0.05
"""The share of such parts that stand once less than they must."""
LETTERS = string.ascii_letters + string.digits
CLASSES = {"digit": string.digits, "word": LETTERS + "_", "space": " \t\n"}


def pattern_in(value: object) -> str:
    """The pattern that a constant of a solution is, as a text or compiled; empty where it is none."""
    text = getattr(value, "pattern", value)
    if not isinstance(text, str) or not re.search(r"[\\\[(^$*+?|.]", text):
        return ""
    try:
        re.compile(text)
    except re.error:
        return ""
    return text


def matching(pattern: str, random) -> str:
    """A text that matches a pattern but for conditions that are not about single characters, as lookahead; rarely one
    in which a part is missing."""
    from re import _parser  # type: ignore[attr-defined]  # it has no public name

    return _written(_parser.parse(pattern), random, {})


def nearly(text: str, random) -> str:
    """A text with another character in one place, of its kind or not; or one more, less, or at an end."""
    place, other = random.randint(len(text) + 1), LETTERS[random.randint(len(LETTERS))]
    before, here, behind = text[:place], text[place : place + 1], text[place + 1 :]
    if random.rand() < 0.7:
        return f"{before}{random.randint(10) if here.isdigit() and random.rand() < 0.8 else other}{behind}"
    ways = (before + behind, before + 2 * here + behind, f" {text}", f"{text}\n", f"{other}{text}", text + other)
    return (*ways, text.swapcase(), f"{before}-{behind}")[random.randint(8)]


def _written(parts: Any, random, groups: dict) -> str:
    return "".join(_part(str(name), value, random, groups) for name, value in parts)


def _part(name: str, value: Any, random, groups: dict) -> str:
    if name == "LITERAL":
        return chr(value)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inner = value
        times = least + random.randint(min(int(most) - least, MOST_TIMES) + 1)
        if random.rand() < TOO_FEW:
            times = max(0, least - 1)
        return "".join(_written(inner, random, groups) for _ in range(times))
    if name == "SUBPATTERN":
        groups[value[0]] = text = _written(value[3], random, groups)
        return text
    if name == "GROUPREF":
        return groups.get(value, "")
    if name == "BRANCH":
        return _written(value[1][random.randint(len(value[1]))], random, groups)
    if name == "ATOMIC_GROUP":
        return _written(value, random, groups)
    if name in ("IN", "ANY", "NOT_LITERAL"):
        allowed = _characters(name, value)
        return allowed[random.randint(len(allowed))]
    return ""  # an anchor, or what looks around


def _characters(name: str, value: Any) -> str:
    if name == "ANY":
        return LETTERS + " .-"
    if name == "NOT_LITERAL":
        return (LETTERS + " -").replace(chr(value), "")
    allowed, negated = "", False
    for kind, what in value:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                allowed += chr(what)
            case "RANGE":
                allowed += "".join(map(chr, range(what[0], min(what[1], what[0] + 200) + 1)))
            case _:
                word = str(what).removeprefix("CATEGORY_").lower()
                known = CLASSES.get(word.removeprefix("not_"), LETTERS)
                allowed += "".join(set(LETTERS + " -_") - set(known)) if word.startswith("not_") else known
    if negated:
        allowed = "".join(sorted(set(LETTERS + " .-_") - set(allowed)))
    return allowed or "?"
