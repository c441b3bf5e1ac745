"""The values that a browser sends for a grade or a comment, as the gradebook takes them.

Every request is checked here, whichever address it came to: points of a cell are finite and within the cell's, extra
credit is finite and not negative, and a text has no character that a database refuses.
"""

from __future__ import annotations

import math

MOST_CREDIT = 1e6


class RefusedError(ValueError):
    """The sentence for a value that the gradebook does not take."""


def points(value: object, most: float, now: float | None = None) -> float | None:
    """The points of a cell, None where none are sent; what it has ``now`` may stay. Raises RefusedError."""
    return _number(value, most, now, most)


def extra_credit(value: object, most: float, now: float | None = None) -> float | None:
    """The extra credit of a cell with ``most`` points. Raises RefusedError."""
    return _number(value, MOST_CREDIT, now, most)


def _number(value: object, limit: float, now: float | None, most: float) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if number != now and not (0 <= number <= limit and math.isfinite(number)):
        raise RefusedError(f"The score must be a number from 0 to {most:g}. Extra credit must be a number from 0.")
    return number


def text(value: object) -> str | None:
    """A comment without the characters that databases do not store. Raises RefusedError for what is not a text."""
    if value is not None and not isinstance(value, str):
        raise RefusedError("The comment must be a text.")
    return value and value.encode(errors="ignore").decode().replace("\0", "")
