"""A score in the form of a learning system: two decimals, and its decimal mark.

Half a hundredth is rounded up (0.005 is 0.01), as in school. A sum of floats that should be half a hundredth may be a
little less, as 1.005 is; so the noise goes first, by rounding to nine decimals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

NOISE, HUNDREDTH = Decimal("1e-9"), Decimal("0.01")
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
FRACTION = re.compile(r"[+-]?\d+([.,])\d{1,2}")
"""With a mark that stands before decimals: three digits behind it may be thousands."""


def rounded(score: float) -> Decimal:
    """The score with two decimals, half a hundredth rounded up."""
    return Decimal(repr(float(score))).quantize(NOISE).quantize(HUNDREDTH, ROUND_HALF_UP)


def written(score: Decimal, mark: str = ".") -> str:
    """The score without zeros at its end: 7.5, 10, 0."""
    text = f"{score:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(".", mark)


def read(text: str) -> Decimal | None:
    """The number in a cell, whose comma or point stands before decimals; None where there is none."""
    text = text.strip()
    return Decimal(text.replace(",", ".")) if NUMBER.fullmatch(text) else None


def mark_in(cells: Iterable[str]) -> str:
    """The mark that most of these cells have before decimals; empty where none tells."""
    marks = Counter(match[1] for cell in cells if (match := FRACTION.fullmatch(cell.strip())))
    return marks.most_common(1)[0][0] if marks else ""
