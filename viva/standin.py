"""Stand-ins: the examiner's objects for things that live in the candidate.

Every operation on a stand-in is a question to the candidate; the answer is plain data, or another
stand-in. Where the instructor's solution answered with plain data, a stand-in is refused, so that
no operator of a student's class ever decides a comparison that was written for numbers: the kinds
of all answers are recorded while the solution is examined, by path. A path says how a value was
come by: ``model``, ``model.fit()``, ``model.fit().coef_``. Where an author has widened a path to ANY,
a stand-in is accepted for it, and for whatever the tests get out of it.
"""

from __future__ import annotations

import builtins
import inspect
import sys

from viva import wire
from viva.candidate import origin
from viva.randomness import get_state, set_state
from viva.verdict import CandidateDied, CandidateFault, CandidateLied, CandidateStopped, WireError

PLAIN, ANY = "plain", "any"


class Asker:
    """Puts questions to the candidate over a pair of pipes.

    ``kinds`` maps paths to PLAIN, to ``module:qualname`` of something in a library, to ANY, or to an
    empty string for any other object; with ``recording`` it is filled in instead of enforced.
    """

    def __init__(self, question: int, answer: int, kinds: dict[str, str], recording: bool = False) -> None:
        self.question, self.answer = question, answer
        self.kinds, self.recording = kinds, recording
        self.functions: list[object] = []
        self.exceptions: dict[tuple, type[Exception]] = {}
        self.printed: list[str] = []
        self.known_state: tuple = ()
        """The candidate's random state, as far as we know."""
        self.fault: CandidateFault | None = None
        """The first fault of the candidate; it counts even when test code swallowed it."""

    def operate(self, operation: str, *args: object, path: str, **kwargs: object) -> object:
        """The result of one operation in the candidate; see _operate."""
        try:
            return self._operate(operation, args, kwargs, path)
        except CandidateFault as fault:
            self.fault = self.fault or fault
            raise

    def _operate(self, operation: str, args: tuple, kwargs: dict, path: str) -> object:
        """The result of one operation in the candidate.

        Raises what the operation raised there, CandidateLied when the answer is malformed or of
        another kind than the solution's, CandidateDied when there is no answer.
        """
        request = {"do": "operate", "operation": operation, "args": args, "kwargs": kwargs}
        if (state := get_state()) != self.known_state:
            request["random_state"] = self.known_state = state
        found: list[wire.Reference] = []
        reply = self.exchange(request, path, found)
        self._take_random_state(reply)
        self.printed.append(str(reply.get("printed", "")))
        if "raised" in reply:
            raise self.exception(reply["raised"])
        if "changed" in reply:
            self._take_changed(args, kwargs, reply["changed"], path + " changed")
        self._check_kind(path, found)
        return reply.get("value")

    def _take_changed(self, args: tuple, kwargs: dict, changed: object, path: str) -> None:
        """Change arguments here as the candidate changed its copies; each comes as a message of its own."""
        if not isinstance(changed, dict):
            raise CandidateLied("changed arguments that are none")
        places = {**dict(enumerate(args)), **kwargs}
        for place, data in changed.items():
            if place not in places or not isinstance(data, bytes):
                raise CandidateLied("changed arguments that are none")
            found: list[wire.Reference] = []
            try:
                value = wire.decode(data, lambda reference, found=found: self.resolve(reference, path, found))
            except WireError as error:
                raise CandidateLied(f"the answer cannot be read: {error}") from None
            self._check_kind(path, found)
            update(places[place], value)

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
        try:
            answer = {"value": self.functions[number](*args, **kwargs)}
        except Exception as error:
            answer = {"raised": {"name": type(error).__name__, "message": str(error)[:2000]}}
        wire.write(self.question, wire.encode(answer, self.refer))

    def refer(self, value: object) -> wire.Reference | None:
        """How something of ours, or a stand-in, is named to the candidate."""
        if isinstance(value, type) and (number := getattr(value, "viva_reference", None)) is not None:
            return wire.Reference(number, {"of": "candidate"})
        if type(value) in STAND_INS:
            return wire.Reference(object.__getattribute__(value, "_number"), {"of": "candidate"})
        place = origin(value) or (f"builtins:{value.__name__}" if isinstance(value, type) else "")
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
        expected = self.kinds.get(path)
        if expected and expected != PLAIN and expected == about["origin"]:
            return library(expected)
        found.append(reference)
        if about["class"] and (base := self._exception_class(about["mro"])):
            base.viva_reference = reference.id
            return base
        kind = CallableStandIn if about["callable"] else IteratorStandIn if about["iterator"] else StandIn
        return kind(self, reference.id, about, path)

    def _check_kind(self, path: str, found: list[wire.Reference]) -> None:
        if self.recording:
            if path not in self.kinds or (found and self.kinds[path] == PLAIN):
                self.kinds[path] = "" if found else PLAIN
        elif found and self._expected(path) == PLAIN:
            name = found[0].about["type"]
            what = "a function" if name in ("function", "builtin_function_or_method") else f"an object of class {name}"
            raise CandidateLied(f"{readable(path)} should be plain data such as a number or an array, but is {what}")

    def _expected(self, path: str) -> str:
        """The kind of what a path leads to: plain, unless it was recorded otherwise or stands behind a widened one."""
        if path in self.kinds:
            return self.kinds[path]
        widened = (begin for begin, kind in self.kinds.items() if kind == ANY)
        return ANY if any(path.startswith(begin) and path[len(begin)] in ".([ " for begin in widened) else PLAIN

    def exception(self, raised: object) -> BaseException:
        """An exception like the one that was raised in the candidate."""
        if not (isinstance(raised, dict) and isinstance(raised.get("message"), str)):
            raise CandidateLied("an exception that is none")
        if raised.get("name") == "KeyboardInterrupt":
            raise CandidateStopped("the time was over")
        kind = self._exception_class(raised.get("mro"), outermost=True)
        error = kind.__new__(kind)
        args = raised.get("args")
        error.args = args if isinstance(args, tuple) and args else (raised["message"],)
        try:
            str(error)
        except Exception:
            error = RuntimeError(raised["message"])
        error.viva_name = str(raised.get("name"))
        error.viva_traceback = str(raised.get("traceback"))
        return error

    def _exception_class(self, mro: object, outermost: bool = False) -> type[Exception] | None:
        """Our class for an exception class of the candidate; None when it is no exception class."""
        if not isinstance(mro, list):
            return RuntimeError if outermost else None
        key = tuple(tuple(base) for base in mro)
        if key not in self.exceptions:
            for place, (module, name) in enumerate(key):
                kind = library(f"{module}:{name}")
                if isinstance(kind, type) and issubclass(kind, Exception):
                    known = kind if place == 0 else type(str(key[0][1]), (kind,), {})
                    self.exceptions[key] = known
                    break
                if isinstance(kind, type) and issubclass(kind, BaseException):
                    self.exceptions[key] = type(str(key[0][1]), (Exception,), {})
                    break
            else:
                return RuntimeError if outermost else None
        return self.exceptions[key]

    def share_random_state(self) -> None:
        """Go on from the random numbers that the notebook's cells have left behind."""
        self._take_random_state(self.exchange({"do": "random"}))

    def _take_random_state(self, reply: dict) -> None:
        if "random_state" in reply:
            try:
                set_state(reply["random_state"])
            except (ValueError, TypeError):
                raise CandidateLied("a state of random numbers that is none") from None
            self.known_state = get_state()


def library(place: str) -> object:
    """What ``module:qualname`` names among the modules loaded here, or None."""
    module, _, name = place.partition(":")
    if module.partition(".")[0] == "viva":
        return None  # the grader's own classes mean something to the grader
    found = sys.modules.get(module)
    for part in filter(None, name.split(".")):
        found = getattr(found, part, None)
    return found


def update(mine: object, theirs: object) -> None:
    """Change ``mine`` in place so that it equals ``theirs``, as far as its type allows."""
    import numpy as np

    if type(mine) is not type(theirs) or type(mine) in STAND_INS:
        return
    if isinstance(mine, np.ndarray):
        if mine.shape == theirs.shape and mine.dtype == theirs.dtype and mine.flags.writeable:
            mine[...] = theirs
    elif isinstance(mine, list):
        if len(mine) == len(theirs):
            for place, (old, new) in enumerate(zip(mine, theirs, strict=True)):
                if isinstance(old, MUTABLE) and type(old) is type(new):
                    update(old, new)
                else:
                    mine[place] = new
        else:
            mine[:] = theirs
    elif isinstance(mine, tuple):
        for old, new in zip(mine, theirs, strict=False):
            update(old, new)
    elif isinstance(mine, dict):
        for key in [key for key in mine if key not in theirs]:
            del mine[key]
        for key, new in theirs.items():
            if isinstance(mine.get(key), MUTABLE) and type(mine[key]) is type(new):
                update(mine[key], new)
            else:
                mine[key] = new
    elif isinstance(mine, set | bytearray):
        mine.clear()
        mine.update(theirs) if isinstance(mine, set) else mine.extend(theirs)
    elif type(mine).__module__.startswith("pandas"):
        mine._update_inplace(theirs)


def _mutable() -> tuple[type, ...]:
    import numpy as np

    return (list, dict, set, bytearray, np.ndarray)


MUTABLE = _mutable()


def readable(path: str) -> str:
    """A path as students would write it."""
    return path.replace("()", "(...)").replace("[]", "[...]")


def _is_description(about: dict) -> bool:
    kinds = {"type": str, "mro": list, "class": bool, "callable": bool, "iterator": bool, "name": str, "origin": str}
    return all(type(about.get(key)) is kind for key, kind in kinds.items()) and all(
        isinstance(base, tuple) and len(base) == 2 and all(type(part) is str for part in base) for base in about["mro"]
    )


POINTERS = ("__array_interface__", "__array_struct__")
"""Attributes in which NumPy finds an address in memory. The candidate's would be read in the examiner's."""


class StandIn:
    """An object of the candidate."""

    __slots__ = ("_about", "_asker", "_number", "_path")

    def __init__(self, asker: Asker, number: int, about: dict, path: str) -> None:
        for name, value in (("_asker", asker), ("_number", number), ("_about", about), ("_path", path)):
            object.__setattr__(self, name, value)

    @property
    def __class__(self):
        for module, name in object.__getattribute__(self, "_about")["mro"]:
            if module not in ("__main__", "builtins"):
                kind = library(f"{module}:{name}")
                if isinstance(kind, type):
                    return kind
        return StandIn

    @property
    def __signature__(self):
        rows = _ask(self, "parameters", step=".__signature__")
        empty = inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(name, inspect._ParameterKind(kind), default=None if has_default else empty)
                for name, kind, has_default in rows
            ]
        )

    @property
    def __name__(self):
        return object.__getattribute__(self, "_about")["name"] or _ask(self, "getattr", "__name__", step=".__name__")

    @property
    def __doc__(self):
        return _ask(self, "document", step=".__doc__")

    def __getattr__(self, name: str):
        if name in POINTERS:
            raise AttributeError(name)
        return _ask(self, "getattr", name, step=f".{name}")

    def __setattr__(self, name: str, value: object) -> None:
        _ask(self, "setattr", name, value, step=f".{name}=")

    def __delattr__(self, name: str) -> None:
        _ask(self, "delattr", name, step=f".{name}=")

    def __iter__(self):
        iterator = _ask(self, "iter", step="[*]")
        while True:
            try:
                yield _ask(iterator, "next", step="")
            except StopIteration:
                return

    def __instancecheck__(self, other: object) -> bool:
        return type(other) in STAND_INS and _ask(other, "isinstance", self, step=" isinstance")

    def __enter__(self):
        return _ask(self, "enter", step=" enter")

    def __exit__(self, *error: object) -> None:
        _ask(self, "leave", step=" leave")

    def __dir__(self):
        return _ask(self, "dir", step=" dir")


def _ask(stand_in: StandIn, operation: str, *args: object, step: str, **kwargs: object) -> object:
    get = object.__getattribute__
    path = get(stand_in, "_path") + step
    return get(stand_in, "_asker").operate(operation, stand_in, *args, path=path, **kwargs)


def _operator(operation: str, step: str, reflected: bool = False):
    if reflected:
        return lambda self, other: get_asker(self).operate(operation, other, self, path=get_path(self) + step)
    return lambda self, *args: _ask(self, operation, *args, step=step)


def get_asker(stand_in: StandIn) -> Asker:
    return object.__getattribute__(stand_in, "_asker")


def get_path(stand_in: StandIn) -> str:
    return object.__getattribute__(stand_in, "_path")


_STEPS = {"getitem": "[]", "setitem": "[]=", "delitem": "[]=", "len": " len", "contains": " in"}
for _name in (
    "getitem setitem delitem contains len repr str bool hash int float complex abs round reversed format index "
    "eq ne lt le gt ge neg pos invert"
).split():
    setattr(StandIn, f"__{_name}__", _operator(_name, _STEPS.get(_name, f" {_name}")))
for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    _operation = {"and": "and_", "or": "or_"}.get(_name, _name)
    setattr(StandIn, f"__{_name}__", _operator(_operation, f" {_name}"))
    setattr(StandIn, f"__r{_name}__", _operator(_operation, f" {_name}", reflected=True))


class CallableStandIn(StandIn):
    """A function, class or callable object of the candidate."""

    __slots__ = ()

    def __call__(self, *args: object, **kwargs: object):
        return _ask(self, "call", *args, step="()", **kwargs)


class IteratorStandIn(StandIn):
    """A generator or other iterator of the candidate."""

    __slots__ = ()

    def __iter__(self):
        return self

    def __next__(self):
        return _ask(self, "next", step="[*]")


STAND_INS = (StandIn, CallableStandIn, IteratorStandIn)


class _TypeOfType(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, value: type) -> bool:
        return issubclass(value, type)

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and type(args[0]) in STAND_INS:
            kind = args[0].__class__
            return _ask(args[0], "type", step=" type") if kind is StandIn else kind
        return type(*args, **kwargs)


class Type(metaclass=_TypeOfType):
    """``type`` as test code sees it: it knows the class of what a stand-in stands for."""
