"""Puts the examiner's questions to the candidate, and judges the answers before test code sees them."""

from __future__ import annotations

import builtins
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator

import numpy as np

from viva import wire
from viva.dialogue.integrity import ODD
from viva.dialogue.operations import origin
from viva.dialogue.raised import Raised, StudentClass, library
from viva.dialogue.shared import Shared, update
from viva.dialogue.standin import BUILT_IN_PLACES, STAND_INS, CallableStandIn, IteratorStandIn, StandIn, get_path
from viva.values.randomness import get_state, set_state
from viva.verdict import CandidateDied, CandidateFault, CandidateLied, CandidateStopped, WireError

PLAIN, ANY = "plain", "any"
OWN = "own "
"""Before the place of what the solution imports: the examiner takes its own, whatever the student's name means."""
TYPES = frozenset({"object", "type", "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set"})
"""Python's own types, which are the same on both sides."""


class Asker:
    """Puts questions to the candidate over a pair of pipes.

    ``kinds`` maps paths to PLAIN, to ``module:qualname`` of something in a library (after OWN when it was
    imported), to ANY, or to an empty string for any other object; with ``recording`` it is filled in instead
    of enforced.
    """

    def __init__(self, question: int, answer: int, kinds: dict[str, str], recording: bool = False) -> None:
        self.question, self.answer = question, answer
        self.kinds, self.recording = kinds, recording
        self.functions: list[object] = []
        self.raised = Raised(self)
        self.stand_ins: weakref.WeakValueDictionary[tuple[int, str], StandIn] = weakref.WeakValueDictionary()
        self.known_state: tuple = ()
        """The candidate's random state, as far as we know."""
        self.known_errors = np.geterr()
        self.rebound: Callable[[], dict[str, object]] = dict
        """Names that test code has bound since, and that the candidate should see."""
        self.shared = Shared()
        self.first = True
        """Whether the next question is the first of a check."""
        self.fault: CandidateFault | None = None
        """The first fault of the candidate; it counts even when test code swallowed it."""

    def operate(self, operation: str, *args: object, path: str, kwargs: dict | None = None) -> object:
        """The result of one operation in the candidate; see _operate."""
        try:
            return self._operate(operation, args, kwargs or {}, path)
        except CandidateFault as fault:
            self.fault = self.fault or fault
            raise

    def _operate(self, operation: str, args: tuple, kwargs: dict, path: str) -> object:
        """The result of one operation in the candidate.

        Raises what the operation raised there, CandidateLied when the answer is malformed or of
        another kind than the solution's, CandidateDied when there is no answer.
        """
        request = {"do": "operate", "operation": operation, "args": args, "kwargs": kwargs}
        if self.first:
            request["first"], self.first = True, False
        if (errors := np.geterr()) != self.known_errors:
            request["errors"] = self.known_errors = errors
        if rebound := self.rebound():
            request["rebound"] = rebound
        self.shared.trim()
        if changed := self.shared.changed():
            request["shared"] = changed
        self._tell_random_state(request)
        found: list[wire.Reference] = []
        reply = self.exchange(request, path, found)
        self._take_random_state(reply)
        _print(reply.get("printed", []))
        self._warn(reply.get("warned", []))
        kept = self._kept(reply, places := {**dict(enumerate(args)), **kwargs})
        arguments = {number: places[place] for place, number in kept.items() if place is not None}
        for number, value in arguments.items():
            self.shared.keep(number, value)
        self._take_changed(arguments, reply.get("changed", {}), path + " changed")
        if "raised" in reply:
            self._raise(reply["raised"])
        self._check_kind(path, found)
        value, number = reply.get("value"), kept.get(None)
        if number is None or found:
            return value
        # What both sides keep already is the same object here too, as when a function returns its argument.
        mine = self.shared.get(number)
        if type(mine) is type(value):
            self.shared.take(number, value)
            return mine
        self.shared.keep(number, value, computed=operation == "call")
        return value

    def _kept(self, reply: dict, places: dict) -> dict:
        """The number under which the candidate keeps each argument and, under None, the result."""
        kept = reply.get("kept", {})
        if not isinstance(kept, dict) or not all(
            (place is None or place in places) and type(number) is int for place, number in kept.items()
        ):
            raise CandidateLied("numbers of arguments that are none")
        return kept

    def _warn(self, warned: object) -> None:
        """Warn here of what the student's code warned of, so that filters of test code apply."""
        for warning in warned if isinstance(warned, list) else ():
            match warning:
                case (lineage, str(message), str(filename), int(line)):
                    kind = self.raised.kind(lineage)
                    if issubclass(kind, Warning):
                        warnings.warn_explicit(message, kind, filename, line)

    def _raise(self, raised: object) -> None:
        if isinstance(raised, dict) and raised.get("name") == "KeyboardInterrupt":
            raise CandidateStopped("the time was over")
        raise self.raised.exception(raised)

    def _take_changed(self, arguments: dict[int, object], changed: object, path: str) -> None:
        """Change what both sides keep as the candidate changed its copies; each comes as a message of its own."""
        if not isinstance(changed, dict):
            raise CandidateLied("changed values that are none")
        for number, data in changed.items():
            if type(number) is not int or not isinstance(data, bytes):
                raise CandidateLied("changed values that are none")
            found: list[wire.Reference] = []
            try:
                value = wire.decode(data, lambda reference, found=found: self.resolve(reference, path, found))
            except WireError as error:
                raise CandidateLied(f"the answer cannot be read: {error}") from None
            self._check_kind(path, found)
            update(arguments.get(number, self.shared.get(number)), value)
            self.shared.told(number)

    def exchange(self, request: dict, path: str = "", found: list | None = None) -> dict:
        """Send a request and return the reply, serving callbacks meanwhile."""
        found = [] if found is None else found
        if isinstance(self.fault, CandidateDied):
            raise self.fault
        try:
            wire.write(self.question, wire.encode(request, self.refer))
            while True:
                data = wire.read(self.answer)
                reply = wire.decode(data, lambda reference: self.resolve(reference, path, found))
                if not isinstance(reply, dict):
                    raise CandidateLied("the answer is not an answer")
                if "refused" in reply:
                    raise CandidateLied(f"the answer cannot be read: {reply['refused']}")
                if "callback" not in reply:
                    return reply
                self._call_back(reply)
        except (EOFError, BrokenPipeError):
            raise CandidateDied from None
        except WireError as error:
            raise CandidateLied(f"the answer cannot be read: {error}") from None

    def _call_back(self, reply: dict) -> None:
        number, args, kwargs = reply.get("callback"), reply.get("args"), reply.get("kwargs")
        if not (type(number) is int and 0 <= number < len(self.functions)):
            raise CandidateLied("a callback that was never given")
        self._take_random_state(reply)
        try:
            answer = {"value": self.functions[number](*args, **kwargs)}
            self._tell_random_state(answer)
            data = wire.encode(answer, self.refer)
        except CandidateDied:
            raise
        except CandidateStopped:
            data = wire.encode({"raised": self.raised.answer(KeyboardInterrupt())})
        except (Exception, SystemExit, CandidateLied) as error:
            answer = {"raised": self.raised.answer(error)}
            self._tell_random_state(answer)
            data = wire.encode(answer)
        wire.write(self.question, data)

    def refer(self, value: object) -> wire.Reference | None:
        """How something of ours, or a stand-in, is named to the candidate."""
        if type(value) is StudentClass or isinstance(value, BaseException):
            number = vars(value).get("viva_number")
            if type(number) is int:
                return wire.Reference(number, {"of": "candidate"})
        if type(value) in STAND_INS:
            return wire.Reference(object.__getattribute__(value, "_number"), {"of": "candidate"})
        place = origin(value) or (BUILT_IN_PLACES.get(value, "") if isinstance(value, type) else "")
        if getattr(builtins, getattr(value, "__name__", ""), None) is value:
            place = f"builtins:{value.__name__}"
        module, _, name = place.partition(":")
        if module and module.partition(".")[0] != "viva" and name:
            return wire.Reference(0, {"of": "library", "module": module, "qualname": name})
        if callable(value):
            self.functions.append(value)
            return wire.Reference(len(self.functions) - 1, {"of": "examiner", "name": getattr(value, "__name__", "f")})
        return None

    def resolve(self, reference: wire.Reference, path: str, found: list) -> object:
        about = reference.about
        if about.get("of") == "examiner" and 0 <= reference.id < len(self.functions):
            return self.functions[reference.id]
        if about.get("of") != "candidate" or not _is_description(about):
            raise WireError("a reference to nothing")
        expected, place = self.kinds.get(path), about["origin"]
        if expected and (expected == place or expected.startswith(OWN)):
            return library(expected.removeprefix(OWN))
        if "contents" in about:
            return _filled(about["type"], about["contents"])
        if about["iterator"] and expected == PLAIN and not self.recording:
            return self._items(StandIn(self, reference.id, about, path + "[*]"))
        found.append(reference)
        if about["class"] and place.startswith("builtins:") and place.partition(":")[2] in TYPES:
            return library(place)
        if "lineage" in about:
            return self.raised.kind(about["lineage"])
        if "exception" in about:
            return self.raised.exception(about["exception"])
        if (known := self.stand_ins.get((reference.id, path))) is None:
            kind = CallableStandIn if about["callable"] else IteratorStandIn if about["iterator"] else StandIn
            known = self.stand_ins[reference.id, path] = kind(self, reference.id, about, path)
        return known

    def _items(self, iterator: StandIn) -> Iterator[object]:
        """Where the solution gave a list an iterator will do, but its items have to be plain."""
        path = get_path(iterator)
        while True:
            try:
                item = self.operate("next", iterator, path=path)
            except StopIteration:
                return
            yield item

    def _check_kind(self, path: str, found: list[wire.Reference]) -> None:
        if self.recording:
            if path not in self.kinds or (found and self.kinds[path] == PLAIN):
                self.kinds[path] = "" if found else PLAIN
        elif found and self._expected(path) == PLAIN:
            name = found[0].about["type"]
            what = "a function" if name in ("function", "builtin_function_or_method") else f"an object of class {name}"
            raise CandidateLied(f"{readable(path)} {ODD} {what}")

    def _expected(self, path: str) -> str:
        """The kind of what a path leads to: plain, unless it was recorded otherwise or stands behind a widened one."""
        if path in self.kinds:
            return self.kinds[path]
        widened = (begin for begin, kind in self.kinds.items() if kind == ANY)
        return ANY if any(path.startswith(begin) and path[len(begin)] in ".([ " for begin in widened) else PLAIN

    def share_random_state(self) -> None:
        """Go on from the random numbers that the notebook's cells have left behind."""
        self._take_random_state(self.exchange({"do": "random"}))

    def _tell_random_state(self, message: dict) -> None:
        if (state := get_state()) != self.known_state:
            message["random_state"] = self.known_state = state

    def _take_random_state(self, reply: dict) -> None:
        if "random_state" in reply:
            try:
                set_state(reply["random_state"])
            except (ValueError, TypeError):
                raise CandidateLied("a state of random numbers that is none") from None
            self.known_state = get_state()


def _print(printed: object) -> None:
    """Print here what the student's code printed there, so that test code can capture it."""
    for item in printed if isinstance(printed, list) else ():
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], str):
            (sys.stderr if item[0] == "stderr" else sys.stdout).write(item[1])


def _filled(kind: str, contents: object) -> object:
    """A view of a dict or an array of objects with these contents."""
    try:
        match kind:
            case "dict_keys":
                return dict.fromkeys(contents).keys()
            case "dict_values":
                return dict(enumerate(contents)).values()
            case "dict_items":
                return dict(contents).items()
        shape, items = contents
        flat = np.empty(len(items), object)
        for place, item in enumerate(items):
            flat[place] = item
        return flat.reshape(shape)
    except (TypeError, ValueError):
        raise CandidateLied("contents that are none") from None


def readable(path: str) -> str:
    """A path as students would write it."""
    return path.replace("()", "(...)").replace("[]", "[...]")


def _is_description(about: dict) -> bool:
    kinds = {"type": str, "mro": list, "class": bool, "callable": bool, "iterator": bool, "name": str, "origin": str}
    return (
        all(type(about.get(key)) is kind for key, kind in kinds.items())
        and all(
            isinstance(base, tuple) and len(base) == 2 and all(type(part) is str for part in base)
            for base in about["mro"]
        )
        and len(about["mro"]) > 0
    )
