"""The last value of a test cell: a number there is partial credit, as in nbgrader.

Theory of operation. Whether it is partial credit the instructor's solution says. Where its value is a number from 0 to
the points of the cell, a student's value is read as a number too and limited to that range; what is not a number fails
the check. Otherwise the value says nothing: many tests end in a call or a comparison that is not meant as points.

In the examiner the value itself is read. What stands in for an object of the student's is never a number, and is not
asked. A cell that runs in the student's process has only the text that is shown there, which has to be that of a number
from its first to its last character.
"""

from __future__ import annotations

import decimal
import fractions
import math
import numbers
import re
import sys
from typing import Any

import numpy as np

from viva.engine.dialogue.proxies import PROXIES
from viva.record import Note, note
from viva.verdict import Verdict

FULL, PART, BEYOND = "a number of points", "less than all points", "more than all points"
"""The kind of the solution's last value, as points of its cell. One BEYOND them does not count; nbgrader refuses it."""
ROUNDING = 1e-6
"""This part of the points may be lost by rounding."""
SHOWN = 40
"""Characters of a text that is quoted."""
LONGEST = 400
"""Characters of a text that may be a number."""
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SHAPES = (
    re.compile(f"({_NUMBER})", re.ASCII),
    re.compile(rf"np\.(?:u?int\d+|u?longlong|float\d+)\(({_NUMBER})\)", re.ASCII),
    re.compile(rf"(?:np\.longdouble|Decimal)\('({_NUMBER})'\)", re.ASCII),
    re.compile(rf"array\(({_NUMBER})(?:, dtype=\w+)?\)", re.ASCII),
)
_FRACTION = re.compile(r"Fraction\((-?\d+), ([1-9]\d*)\)", re.ASCII)
_TRUTH = re.compile(r"(?:np\.)?(True|False)_?|array\((True|False)\)")

Result = bool | float | str | None
"""A last value: a finite number, or a few words for anything else, or None if there is no value."""


def result_of(value: Any) -> Result:
    """The result that a value of the examiner's is."""
    if type(value) is np.ndarray and value.ndim == 0:
        value = value[()]
    kind = type(value)
    if value is None:
        return None
    if kind in PROXIES:
        return "an object"
    if kind in (bool, np.bool_):
        return bool(value)
    if kind is str:
        return f"the text {value[:SHOWN]!r}"
    if issubclass(kind, numbers.Real | decimal.Decimal) and not issubclass(kind, np.timedelta64):
        return _finite(value)
    return f"a value of the type {kind.__name__[:SHOWN]}"


def result_of_text(shown: str) -> Result:
    """The result that a value is which is shown as this text."""
    if len(shown) <= LONGEST:
        if match := _TRUTH.fullmatch(shown):
            return "True" in match.groups()
        if match := _FRACTION.fullmatch(shown):
            return _finite(fractions.Fraction(int(match[1]), int(match[2])))
        if match := next(filter(None, (shape.fullmatch(shown) for shape in _SHAPES)), None):
            return _finite(match[1])
    return f"the text {shown[:SHOWN]!r}"


def _finite(value: Any) -> float | str:
    try:
        number = float(value)
    except OverflowError:
        number = sys.float_info.max if value > 0 else -sys.float_info.max
    except (ArithmeticError, ValueError, TypeError):
        return "not a number"
    return number if math.isfinite(number) else str(number)


def kind_of(result: Result, points: float) -> str:
    """How the solution's last value compares with the points of its cell: FULL, PART, BEYOND or nothing.

    A truth value is a number of points only where it is all of them: a test that ends in ``a == b`` and is worth more
    than a point has forgotten its ``assert``.
    """
    if isinstance(result, bool):
        return FULL if result and points == 1 else ""
    if not isinstance(result, float) or result < -ROUNDING * points:
        return ""
    if result > points * (1 + ROUNDING):
        return BEYOND
    return FULL if _earned(result, points) == points else PART


def judged(result: Result, points: float) -> tuple[Verdict, float, Note | None]:
    """Verdict, points and cause of a check that ran to its end, where its last value is its partial credit."""
    if result is None or isinstance(result, str):
        return Verdict.FAILED, 0.0, note("no_credit", result or "nothing")
    earned = _earned(result, points)
    if earned == points:
        return Verdict.PASSED, earned, None
    return Verdict.PARTLY if earned else Verdict.FAILED, earned, note("credit", f"{earned:g}", f"{points:g}")


def _earned(result: float, points: float) -> float:
    """A number as points: no fewer than none, no more than all, and these where rounding alone is between."""
    if result >= points * (1 - ROUNDING):
        return points
    return float(result) if result > points * ROUNDING else 0.0
