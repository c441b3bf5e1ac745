"""A function of the examiner's that student code was handed and calls, while the examiner waits for an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viva.engine import pipe, wire
from viva.engine.dialogue.doubt import doubting, kept_in
from viva.verdict import CandidateDied, CandidateLied, CandidateStopped

if TYPE_CHECKING:
    from viva.engine.dialogue.asker import Asker


def serve(asker: Asker, reply: dict) -> None:
    """Call the function of the examiner's that a ``reply`` of the candidate's names, and send what comes of it."""
    number, args, kwargs = map(reply.get, ("callback", "args", "kwargs"))
    if not (type(number) is int and 0 <= number < len(asker.references.functions)):
        raise CandidateLied("a callback that was never given")
    asker.take_state(reply)
    asker.told.called()
    with doubting():
        kept = kept_in(reply, {**dict(enumerate(args)), **kwargs})
        args = [asker.shared.taken(kept[at], value) if at in kept else value for at, value in enumerate(args)]
        kwargs = {at: asker.shared.taken(kept[at], value) if at in kept else value for at, value in kwargs.items()}
    try:
        asker.waiting = False
        answer = {"value": asker.references.functions[number](*args, **kwargs)}
        asker.waiting = True
        asker.random.tell(answer)
        data = wire.encode(answer, asker.references.refer)
    except CandidateDied:
        raise
    except CandidateStopped:
        data = wire.encode({"raised": asker.raised.answer(KeyboardInterrupt())})
    except BaseException as error:
        if isinstance(error, AssertionError) and not hasattr(error, "viva_traceback"):
            asker.asserted = asker.asserted or error
        answer = {"raised": asker.raised.answer(error)}
        asker.random.tell(answer)
        data = wire.encode(answer)
    asker.waiting = True
    pipe.write(asker.question, data)
