"""The results of a function at its probes, and the rule by which two behaviours are equal.

An outcome is a form with numbers, or the class of an error. Numbers agree when they differ by less than a
ten-thousandth of the largest number in the solution's result: right answers in single precision differ by a hundredth
of that, and no number is rounded, so there is no edge at which two equal ones would part. What a mistake changes has to
be ten times as large.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CLOSE = 1e-4
APART = 10 * CLOSE
SMALLEST = 1e-9
"""Numbers below it are rounding errors of zero."""
ENOUGH = 20
"""The bits that a mistake's results must tell beside the solution's, so that equal results are no accident."""


@dataclass(frozen=True)
class Outcome:
    """What one probe came to: a form with numbers, or the class of an error."""

    form: str = ""
    numbers: tuple[float, ...] = ()
    error: str = ""

    def packed(self) -> list:
        if self.error:
            return [self.error]
        return [self.form, base64.b64encode(np.array(self.numbers, "<f4").tobytes()).decode()]


Behaviour = dict[str, list[Outcome | None]]
"""By key (``cell:name``), the outcomes at the probes; None for one that is not plain data."""


def read_outcomes(text: str) -> list[Outcome | None] | None:
    """The outcomes that a check printed; None where it printed something else."""
    try:
        told = json.loads(text)
        return [unpacked(item) for item in told] if isinstance(told, list) else None
    except (ValueError, TypeError):
        return None


def unpacked(item: list | None) -> Outcome | None:
    """Raises ValueError and TypeError for what is not a packed outcome."""
    if item is None:
        return None
    if len(item) == 1:
        return Outcome(error=str(item[0]))
    form, data = item
    return Outcome(str(form), tuple(np.frombuffer(base64.b64decode(data), "<f4").astype(float).tolist()))


def scale_of(solution: Outcome) -> float:
    """The size of the solution's numbers at a probe."""
    numbers = np.abs(np.array(solution.numbers))
    finite = numbers[np.isfinite(numbers)]
    return max(float(finite.max(initial=0.0)), SMALLEST)


def agree(one: Outcome | None, two: Outcome | None, solution: Outcome, tolerance: float = CLOSE) -> bool:
    """Whether two outcomes of a probe are equal, where the solution's says how large its numbers are."""
    if one is None or two is None:
        return False
    if one.error or two.error or one.form != two.form or len(one.numbers) != len(two.numbers):
        return bool(one.error) and one.error == two.error
    first, second = np.array(one.numbers), np.array(two.numbers)
    # A wrong result may be much larger than the right one.
    most = max(scale_of(solution), scale_of(one)) if tolerance == CLOSE else scale_of(solution)
    return bool(np.allclose(first, second, rtol=0.0, atol=tolerance * most, equal_nan=True))


def equal(one: Sequence[Outcome | None], two: Sequence[Outcome | None], solution: Sequence[Outcome | None]) -> bool:
    """Whether two behaviours are equal at all probes."""
    return len(one) == len(two) == len(solution) and all(
        right is not None and agree(first, second, right)
        for first, second, right in zip(one, two, solution, strict=True)
    )


def evidence(wrong: Sequence[Outcome | None], solution: Sequence[Outcome | None]) -> float:
    """How many bits a mistake's results tell that the solution's do not: ten for each number that is not whole.

    Errors, forms, and whole numbers that are small tell hardly anything: many mistakes lead to them.
    """
    numbers: set[float] = set()
    for outcome, right in zip(wrong, solution, strict=True):
        if outcome is not None and right is not None and not outcome.error and not agree(outcome, right, right, APART):
            numbers |= {float(f"{number:.3g}") for number in outcome.numbers if math.isfinite(number)}
    return sum(min(10.0, math.log2(1 + abs(number))) if number == round(number) else 10.0 for number in numbers)
