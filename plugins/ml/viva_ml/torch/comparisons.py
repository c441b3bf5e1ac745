"""The difference of two tensors, for a check that failed without a message."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch

from viva_ml.torch.tensors import bare

SHOWN = 3
"""The most entries that are told."""
NAMES = ("allclose", "equal")


class Comparisons:
    """Listens to ``torch.allclose`` and ``torch.equal`` in the examiner."""

    def __init__(self) -> None:
        self.difference = ""
        """What differs by the last comparison, and in a second line how; empty where it said that nothing does."""
        self.places: list[tuple[CodeType, int]] = []
        """The lines that led to it: an ``assert`` further down fails for another reason."""
        for place in (torch, torch.Tensor):
            for name in NAMES:
                setattr(place, name, self._heard(getattr(place, name)))

    def _heard(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def compared(*args: Any, **kwargs: Any) -> Any:
            said = function(*args, **kwargs)
            one, other = [*args, kwargs.get("other"), None][:2]
            self.difference = "" if said else told(function.__name__, one, other, kwargs)
            self.places = [] if said else [*_places(sys._getframe(1))]
            return said

        return compared

    def told(self, code: CodeType, lines: range) -> str:
        """What differs by a comparison that was made at these lines of some code."""
        return self.difference if any(place is code and line in lines for place, line in self.places) else ""


def _places(frame: FrameType | None) -> Iterator[tuple[CodeType, int]]:
    while frame is not None:
        yield frame.f_code, frame.f_lineno
        frame = frame.f_back


def told(name: str, one: Any, other: Any, options: dict) -> str:
    """What differs between two tensors. The first line holds no numbers: a student may read it of a hidden test."""
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return ""
    one, other = bare(one), bare(other)
    kind = "shapes" if one.shape != other.shape else "dtypes" if one.dtype != other.dtype else "values"
    lines = [
        f"Tensors differ in their {kind}.",
        f"Shapes {tuple(one.shape)} and {tuple(other.shape)}, dtypes {one.dtype} and {other.dtype}",
    ]
    if kind == "values":
        limits = {limit: options[limit] for limit in ("rtol", "atol", "equal_nan") if limit in options}
        wrong = ~torch.isclose(one, other, **limits) if name == "allclose" else one != other
        places = wrong.nonzero().tolist()
        shown = [f"{tuple(at)}: {one[tuple(at)].item()} and {other[tuple(at)].item()}" for at in places[:SHOWN]]
        lines[1] += f"; {len(places)} of {one.numel()} entries differ, at {', '.join(shown)}" if shown else ""
    return "\n".join(lines)
