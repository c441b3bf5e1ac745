"""What student code has changed in place, as the candidate tells it with an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viva.engine import wire
from viva.engine.dialogue.misfit import Misfit, settle
from viva.engine.dialogue.parts import stand_ins_in, update
from viva.engine.dialogue.standin import STAND_INS, get_number
from viva.verdict import CandidateLied

if TYPE_CHECKING:
    from viva.engine.dialogue.asker import Asker


def take_changed(asker: Asker, arguments: dict[int, object], changed: object, path: str) -> None:
    """Change what both sides keep as the candidate changed its copies; each comes as a message of its own."""
    if not isinstance(changed, dict):
        raise CandidateLied("changed values that are none")
    for number, told in changed.items():
        match told:
            case (bytes(data), places) if type(number) is int:
                pass
            case _:
                raise CandidateLied("changed values that are none")
        if number not in arguments:
            asker.told.changed(number, data)
        mine = arguments.get(number, asker.shared.get(number))
        if mine is not None and type(mine) not in STAND_INS:  # else nothing is kept here, and it is asked for anew
            unseen: list[Misfit] = []
            asker.shared.taking = True
            try:
                update(mine, _read(asker, data, mine, path, unseen), places)
            finally:
                asker.shared.taking = False
            asker.shared.told(number)
            for one in unseen:
                settle(one)


def _read(asker: Asker, data: bytes, mine: object, path: str, unseen: list[Misfit]) -> object:
    """What a value has become. An object that was not in it before, where the solution's changed to none, is refused as
    soon as a test looks at it: a stack whose empty list was looked at may hold objects later. These are ``unseen``."""
    known = {get_number(one) for one in stand_ins_in(mine)}
    found: list[wire.Reference] = []
    resolve, names, factory = asker.references.readers(path, found)
    value = wire.decode(data, resolve, names, factory)
    asker.kinds.check_arrays(data, value, path)
    new = [one for one in found if one.id not in known or asker.kinds.recording]
    odd = asker.kinds.odd(path, new, value)
    if odd is None:
        return value

    def refused(reference: wire.Reference) -> object:
        meant = resolve(reference)
        if type(meant) not in STAND_INS or reference.id in known:
            return meant
        unseen.append(Misfit(lambda: asker.refuse(odd), lambda: hash(meant)))
        return unseen[-1]

    return wire.decode(data, refused, names, factory)
