"""How what a candidate answers is read: it may be anything."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from viva.verdict import CandidateLied, WireError


@contextlib.contextmanager
def doubting() -> Iterator[None]:
    """Whatever goes wrong while an answer is read, the answer is at fault."""
    try:
        yield
    except Exception as error:
        why = error if isinstance(error, WireError) else type(error).__name__
        raise CandidateLied(f"the answer cannot be read: {why}") from None


def kept_in(reply: dict, places: dict) -> dict:
    """The number under which the candidate keeps each argument and, under None, the result."""
    kept = reply.get("kept", {})
    if not isinstance(kept, dict) or not all(
        (place is None or place in places) and type(number) is int for place, number in kept.items()
    ):
        raise CandidateLied("numbers of arguments that are none")
    return kept
