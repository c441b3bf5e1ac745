"""Watches a notebook run in a candidate: what its functions are called with, and whether a mutant is equivalent.

Theory of operation. The sources of this module, ``drawing``, ``likeness`` and ``degenerate`` are sent into a candidate,
where they run beside the notebook; they need NumPy and nothing else of Viva. While the solution and the tests run, the
calls of the solution's functions and the lives of its objects are noted, and what the cell in question found and left
behind is kept. Then the mutant's cell runs in its place. The two are equal when all that later cells use is the same:
data by value; functions by their results, by the errors that they raise on purpose and by what they do to their
arguments; classes by what their methods do, on the noted calls and on many random ones. Calls that the solution itself
cannot answer, or only with rounding errors, do not count. What cannot be compared is not equal: it is unproven.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import functools
import inspect
import io
import json
import random as dice
import resource
import time
import types
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from viva_audit.changedplaces import Place, Reach, changed_places
from viva_audit.degenerate import fingerprint
from viva_audit.drawing import (
    EDGE,
    RANDOM,
    Constants,
    at_an_edge,
    by_turns,
    can_be_drawn,
    finite,
    invented,
    kinships,
    leaves,
    of_library,
    shaken,
    values,
    with_defaults,
)
from viva_audit.likeness import Unproven, attributes, is_alive, is_function, same, same_code, same_numbers, settled
from viva_audit.structures import holds

TRIALS = 400
ENOUGH = 40
"""Random calls that must have counted; with fewer nothing is proven."""
DISTINCT = 10
"""Different inputs that must have counted, unless the arguments allow no more."""
FEW = 4
"""The same where a solution refuses most numbers and texts, as one about the days of a week does."""
NOTED = 150
"""The most calls of a function that are noted."""
LIVES = 40
"""The most objects of a class whose methods are noted, and the most calls of each."""
SECONDS = 5.0
"""Seconds for which a function is tried; when enough random calls have counted, it is not tried longer."""
SEARCH = 25
"""Calls after the first difference in which a shorter input is looked for."""
UNWRITTEN = ("__dict__", "__weakref__", "__doc__", "__module__", "__slotnames__")
"""Members of a class that its author did not write; copying an object adds the last."""
SHOWN = 160
"""The most characters of an input or a result that are shown."""
DATA = (bool, int, float, complex, str, bytes, list, tuple, dict, set, np.ndarray, np.generic, type(None))
STATEFUL = (np.random.Generator, np.random.RandomState, dice.Random)
WITHOUT = ("__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__",
           "__init_subclass__", "__class_getitem__", "__repr__", "__hash__")  # fmt: skip
"""The methods of which no calls are noted: they are compared by what they do to others, or not at all."""


class Different(Exception):  # noqa: N818
    """The mutant differs: a note, the input, the solution's result and the mutant's."""

    def __init__(self, note: str, call: str = "", right: str = "", wrong: str = "") -> None:
        super().__init__(note)
        self.note, self.call, self.right, self.wrong = note, call, right, wrong

    def length(self) -> int:
        """The characters of all that is shown."""
        return len(self.call) + len(self.right) + len(self.wrong)


class Life:
    """The arguments with which an object was made, and the calls of its methods."""

    def __init__(self, call: tuple) -> None:
        self.call = call
        self.steps: list[tuple[str, tuple]] = []


class Watch:
    """What is known about one run of a notebook."""

    def __init__(self, namespace: dict) -> None:
        self.namespace = namespace
        self.calls: dict[str, list] = {}
        self.called: set[str] = set()
        """The functions and methods that were called, also where their arguments could not be noted."""
        self.lives: dict[str, list[Life]] = {}
        self.living: dict[int, tuple[Any, Life]] = {}
        """The noted objects by their id; they are kept, so that no id is used twice."""
        self.active: set[int] = set()
        """The objects of which a noted method runs: what it calls of the same object is not noted."""
        self.results: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.noting = True
        self.found: dict = {}
        self.left: dict = {}
        self.bound: list = []
        self.patched: list = []
        self.state = np.random.get_state()

    def note(self, names: list) -> None:
        """From now on note the calls of these functions, and those of the methods of these classes."""
        for name in names:
            value = self.namespace.get(name)
            if is_function(value):
                self.namespace[name] = self._noting(name, value)
            elif isinstance(value, type) and value.__module__ == "__main__":
                self._note_class(name, value)

    def _noting(self, name: str, function):
        calls = self.calls.setdefault(name, [])

        @functools.wraps(function)
        def noting(*args, **kwargs):
            if self.noting:
                self.called.add(name)
            if self.noting and len(calls) < NOTED:
                with contextlib.suppress(Exception):
                    calls.append(copy.deepcopy((args, kwargs)))
            result = function(*args, **kwargs)
            if self.noting:
                self.results.setdefault(name, literal(result))
                self.kinds.setdefault(name, kind_of(result))
                result = self._followed(name, result)
            return result

        for extra in ("cache_info", "cache_clear"):
            if hasattr(function, extra):
                setattr(noting, extra, getattr(function, extra))
        return noting

    def _followed(self, name: str, result: Any) -> Any:
        """A result of which the functions are noted, too."""
        if isinstance(result, types.FunctionType):
            return self._noting(f"{name}()", result)
        if type(result) is tuple and any(isinstance(part, types.FunctionType) for part in result):
            return tuple(self._followed(name, part) for part in result)
        return result

    def _note_class(self, name: str, kind: type) -> None:
        lives, depth = self.lives.setdefault(name, []), [0]

        def patch(method: str, function) -> None:
            @functools.wraps(function)
            def noting(*args, **kwargs):
                if self.noting:
                    self.called.add(f"{name}.{method}")
                birth = method == "__init__"
                its = bool(args) and (type(args[0]) is kind if birth else isinstance(args[0], kind))
                if not self.noting or depth[0] or not its or id(args[0]) in self.active:
                    return function(*args, **kwargs)
                with contextlib.suppress(Exception):
                    if birth and len(lives) < LIVES:
                        self.living[id(args[0])] = args[0], Life(copy.deepcopy((args[1:], kwargs)))
                        lives.append(self.living[id(args[0])][1])
                    elif not birth and id(args[0]) in self.living:
                        life = self.living[id(args[0])][1]
                        if len(life.steps) < LIVES:
                            life.steps.append((method, copy.deepcopy((args[1:], kwargs))))
                depth[0] += 1
                self.active.add(id(args[0]))
                try:
                    return function(*args, **kwargs)
                finally:
                    depth[0] -= 1
                    self.active.discard(id(args[0]))

            self.patched.append((kind, method, vars(kind).get(method)))
            setattr(kind, method, noting)

        methods = {"__init__": getattr(kind, "__init__", None)} | vars(
            kind
        )  # perhaps that of a class above, or of every object
        for method, function in methods.items():
            if isinstance(function, staticmethod | classmethod) and isinstance(function.__func__, types.FunctionType):
                self._note_of_class(name, kind, method, function)
            elif method == "__init__" or (isinstance(function, types.FunctionType) and method not in WITHOUT):
                patch(method, function)

    def _note_of_class(self, name: str, kind: type, method: str, function: staticmethod | classmethod) -> None:
        """From now on note the calls of a method that belongs to a class and not to its objects."""
        calls, first = self.calls.setdefault(f"{name}.{method}", []), isinstance(function, classmethod)

        @functools.wraps(function.__func__)
        def noting(*args, **kwargs):
            if self.noting:
                self.called.add(f"{name}.{method}")
            if self.noting and len(calls) < NOTED:
                with contextlib.suppress(Exception):
                    calls.append(copy.deepcopy((args[first:], kwargs)))
            return function.__func__(*args, **kwargs)

        self.patched.append((kind, method, function))
        setattr(kind, method, type(function)(noting))

    def before(self) -> None:
        """Keep what the cell in question finds."""
        self.found = copies(self.namespace)
        self.state = np.random.get_state()

    def after(self, names: list) -> None:
        """Keep what the solution of that cell left."""
        self.left, self.bound = copies(self.namespace), names

    def restore(self) -> None:
        """Put back what the cell found, for the mutant."""
        self.noting = False
        for kind, method, function in self.patched:
            if function is None:
                delattr(kind, method)
            else:
                setattr(kind, method, function)
        for name in [name for name in self.namespace if name not in self.found and mine(name)]:
            del self.namespace[name]
        self.namespace.update({name: value for name, value in copies(self.found).items() if mine(name)})
        np.random.set_state(self.state)

    def difference(
        self, names: list, touched: list, unused: Sequence[str] = (), solution: str = "", mutant: str = ""
    ) -> dict:
        """What became of the mutant: its state, a note, the input on which it differs with both results, and how many
        calls on how many inputs were compared. ``touched`` are the names that the cell in question mentions, ``unused``
        its functions and classes that no other cell can reach, ``solution`` and ``mutant`` the sources of the cell."""
        warnings.simplefilter("ignore")  # random inputs lead to many
        comparing = Comparing(self, changed_places(solution, mutant))
        reasons = []
        for name in [*names, *unused]:
            try:
                if name in self.left and name not in self.namespace:
                    raise Different(f"{name} is missing")
                if name in unused:
                    comparing.unused(name)
                else:
                    comparing.name(name, touched)
            except Different as different:
                shown = {"call": different.call, "right": different.right, "wrong": different.wrong}
                return {"state": "different", "note": different.note, **shown}
            except Unproven as unproven:
                reasons.append(f"{name}: {unproven}")
        counts = {"calls": comparing.counted, "inputs": len(comparing.inputs)}
        if reasons:
            return {"state": "unproven", "note": "; ".join(reasons), **counts}
        if not comparing.compared:
            return {"state": "different", "note": "no test and no later cell uses anything of this answer"}
        if line := comparing.reach.missed():
            missed = solution.splitlines()[line - 1].strip()
            return {"state": "unproven", "note": f"no call that was tried reaches '{missed}'", **counts}
        return {"state": "equal", "note": "", **counts}

    def report(self) -> str:
        whole = [name for name, value in self.namespace.items() if type(value) is int and mine(name)]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        kinds = {name: kind_of(value) for name, value in self.namespace.items() if mine(name) and not callable(value)}
        facts = {"results": self.results, "kinds": kinds | self.kinds, "megabytes": memory, "integers": sorted(whole)}
        return json.dumps(facts)


NO_REACH = Reach()


class Side:
    """The solution, or the mutant: what the names of the notebook mean to it."""

    def __init__(self, namespace: dict, names: dict, classes: dict | None = None, reach: Reach = NO_REACH) -> None:
        self.namespace, self.names, self.classes, self.reach = namespace, names, classes or {}, reach
        self.states = [(value, _state_of(value)) for value in names.values() if isinstance(value, STATEFUL)]

    def outcome(self, function, arguments: tuple, raised: bool = False) -> tuple | None:
        """The result of a call, and its arguments afterwards; or the type of the error that it raised on purpose.

        None when another error was raised; with ``raised`` the type of any error counts.
        """
        with self.entered():
            args, kwargs = self.translated(copy.deepcopy(arguments))
            try:
                return "gives", settled(function(*args, **kwargs)), [args, kwargs]
            except RecursionError:
                return None
            except Exception as error:
                if raised or on_purpose(error, self.namespace):
                    return "raises", type(error).__name__, [args, kwargs]
                return None

    @contextlib.contextmanager
    def entered(self):
        """The names of the notebook mean what they mean to this side, and random numbers begin anew."""
        for name in [name for name in self.namespace if name not in self.names and mine(name)]:
            del self.namespace[name]
        self.namespace.update(self.names)
        for value, state in self.states:
            _set_state(value, state)
        np.random.seed(1)
        dice.seed(1)
        with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()), self.reach.noting():
            yield

    def translated(self, value: Any) -> Any:
        """A value with the objects of the solution's classes as objects of the mutant's."""
        if self.classes:
            _translate(value, self.classes, set())
        return value


class Comparing:
    """The comparison of what one cell of the solution left with what a mutant left in its place."""

    def __init__(self, watch: Watch, places: Sequence[Place] = ()) -> None:
        self.watch, self.counted, self.compared = watch, 0, 0
        self.inputs: set[str] = set()
        live = {name: value for name, value in watch.namespace.items() if mine(name)}
        left = {name: value for name, value in watch.left.items() if mine(name)}
        classes = {
            left[name]: live[name]
            for name in watch.bound
            if isinstance(left.get(name), type) and isinstance(live.get(name), type)
        }  # the mutant's cell makes its own
        self.reach = Reach(
            places, [left.get(name) for name in watch.bound if not same_code(left.get(name), live.get(name))]
        )
        self.solution = Side(watch.namespace, left, reach=self.reach)
        self.mutant = Side(watch.namespace, live, classes)
        self.old, self.new = left, live

    def name(self, name: str, touched: list) -> None:
        """Compare what a name means to both. Raises Different and Unproven."""
        old, new, bound = self.old.get(name), self.new.get(name), name in self.watch.bound
        if name not in self.old:
            return  # the solution does not bind it either
        self.compared += bound or (name in touched and not callable(old) and not isinstance(old, types.ModuleType))
        if is_function(old):
            if bound:
                self.functions(name, old, new)
        elif isinstance(old, type):
            if bound and old.__module__ == "__main__":
                self.classes(name, old, new)
        elif old is new and (name not in touched or callable(old) or isinstance(old, types.ModuleType)):
            return  # the mutant's cell could not change it
        elif not same(old, new) and not same_numbers(old, new):
            raise Different(f"{name} has another value", name, shown(old), shown(new))

    def unused(self, name: str) -> None:
        """Raises Different for a function or class that nothing uses and that is not the solution's."""
        old, new = self.old.get(name), self.new.get(name)
        self.compared += 1
        if (is_function(old) and not same_code(old, new)) or (isinstance(old, type) and self._members(name, old, new)):
            raise Different(f"no test uses {name}")

    def _members(self, name: str, old: type, new: Any) -> bool:
        return not isinstance(new, type) or bool(self._changed_members(name, old, new))

    def functions(self, name: str, old, new) -> None:
        if not callable(new):
            raise Different(f"{name} is not a function")
        if not same_code(old, new) or self._helpers_differ(old):
            self.unlike(name, old, new, self.watch.calls.get(name, []))

    def _helpers_differ(self, function) -> bool:
        """Whether a function reaches another of its cell that is not the solution's, or may."""
        todo, seen = [function], set[str]()
        while todo:
            for name in called_by(todo.pop()) - seen:
                seen.add(name)
                old, new = self.old.get(name), self.new.get(name)
                if name not in self.watch.bound or old is None:
                    continue
                if isinstance(old, type) or (is_function(old) and not same_code(old, new)):
                    return True
                todo += [old] if is_function(old) else []
        return False

    def unlike(self, name: str, old, new, calls: list) -> None:
        """Compare two functions on the noted ``calls`` and on random ones. Raises Different and Unproven."""
        if not calls and name in self.watch.called:
            raise Unproven("the arguments of its calls cannot be copied")
        if not calls:
            raise Different(f"no test calls {name}")
        calls = [*calls, *with_defaults(old, calls)]
        random, constants = np.random.RandomState(20), Constants(self.constants(old))
        counted, inputs, refused, start = 0, set(), 0, time.monotonic()
        self.steps(name, old, new, calls)
        shortest: Different | None = None
        reason: Unproven | None = None
        left = SEARCH
        trials = TRIALS * (3 if any(holds(value) for call in calls for value in values(call)) else 1)
        for arguments, chosen in by_turns(calls, random, trials, constants):
            if counted >= ENOUGH and time.monotonic() - start > SECONDS:
                break
            expected = self.expected(old, arguments, random, raising=chosen == EDGE)
            if expected is None:
                refused += chosen != EDGE
                self.reach.forget()
                continue
            counted += chosen == RANDOM
            inputs.add(fingerprint(*arguments))
            self.reach.compared()
            try:
                self.outcomes(name, expected, new, arguments)
            except Different as different:
                shortest = min(different, shortest or different, key=Different.length)
            except Unproven as unproven:
                reason = unproven
            if shortest:
                left -= 1
                if not left or time.monotonic() - start > SECONDS:
                    break
        self.counted, self.inputs = self.counted + counted, self.inputs | inputs
        if shortest:
            raise shortest
        if reason:
            raise reason
        if counted < ENOUGH:
            why = (
                "the solution raises an error for the other arguments, or its results differ"
                if refused > counted
                else "the solution is slow"
            )
            raise Unproven(f"only {counted} random calls could be compared, because {why}")
        self._few(calls, len(inputs), refused > counted)

    def _few(self, calls: list, inputs: int, refused: bool) -> None:
        """Raises Unproven where the arguments allow more inputs than were compared."""
        every = [value for call in calls for value in values(call)]
        if inputs >= DISTINCT or not every:
            return
        why = f"only {inputs} different {'input was' if inputs == 1 else 'inputs were'} compared, because"
        fixed = sorted(
            {type(leaf).__name__ for value in every for leaf in leaves(value) if not can_be_drawn(leaf)}
            - {"NoneType", "list", "tuple", "dict"}  # the others are empty
        )
        if fixed:
            raise Unproven(f"{why} Viva cannot make more values of type {fixed[0]}")
        if any(map(holds, every)) or (refused and inputs < FEW):
            raise Unproven(f"{why} the solution raises an error for the others")

    def steps(self, name: str, old, new, calls: list) -> None:
        """Raises Different where a generator takes another number of items for its first step than the solution's."""
        if not inspect.isgeneratorfunction(getattr(old, "__wrapped__", old)):
            return
        for args, kwargs in calls[:LIVES]:
            for place in [place for place, value in enumerate(args) if isinstance(value, list | tuple)]:
                taken = [
                    self._taken(side, function, (args, kwargs), place)
                    for side, function in ((self.solution, old), (self.mutant, new))
                ]
                if None not in taken and taken[0] != taken[1]:
                    right, wrong = (f"{number} items" for number in taken)
                    raise Different(
                        f"{name} reads another number of items than the solution before it gives its first result",
                        name,
                        right,
                        wrong,
                    )

    def _taken(self, side: Side, function, arguments: tuple, place: int) -> int | None:
        """How many items of an argument a generator takes for its first step; None where that raises an error."""
        (args, kwargs), taken = copy.deepcopy(arguments), [0]

        def counted(items):
            for item in items:
                taken[0] += 1
                yield item

        with side.entered():
            try:
                next(function(*args[:place], counted(3 * args[place]), *args[place + 1 :], **kwargs), None)
            except Exception:
                return None
        return taken[0]

    def expected(self, old, arguments: tuple, random, raising: bool) -> tuple | None:
        """What the solution gives; None for a call that does not count, with ``raising`` for all that raise nothing."""
        first = self.solution.outcome(old, arguments)
        if first is None or (first[0] == "raises") < raising:
            return None
        if first[0] == "raises":
            return first
        args, kwargs = arguments
        near_arguments = [shaken(value, random) for value in args], {k: shaken(kwargs[k], random) for k in kwargs}
        near = self.solution.outcome(old, near_arguments)
        if not finite(first[1]) or near is None or near[0] != "gives":
            return None
        with contextlib.suppress(Unproven):  # it is said where the mutant's result is compared
            if not is_alive(first[1]) and not same(first[1], near[1]):
                return None
        return self.solution.outcome(old, arguments) if is_alive(first[1]) else first

    def outcomes(self, name: str, expected: tuple, new, arguments: tuple) -> None:
        """Compare the mutant's outcome of a call with the expected one. Raises Different and Unproven."""
        actual = self.mutant.outcome(new, arguments, raised=True)
        call = f"{name}{_arguments(arguments)}"
        if actual is None:
            raise Different(f"{name} raises an error", call, _told(expected), "does not finish")
        if expected[0] != actual[0]:
            note = "raises an error" if actual[0] == "raises" else f"does not raise {expected[1]}"
            raise Different(f"{name}: {note}", call, _told(expected), _told(actual))
        if expected[0] == "raises":
            if expected[1] != actual[1]:
                raise Different(f"{name} raises another error", call, _told(expected), _told(actual))
            return
        returned = functools.partial(self.returned, name)
        if not same(expected[1], actual[1], returned):
            raise Different(f"{name} returns something else", call, shown(expected[1]), shown(actual[1]))
        if not same(expected[2], actual[2]):
            note = f"{name} changes its arguments in another way than the solution"
            raise Different(note, call, shown(expected[2][0]), shown(actual[2][0]))

    def returned(self, name: str, old, new) -> bool:
        """Whether two functions that a function gave do the same, call by call. Raises Unproven."""
        calls = self.watch.calls.get(f"{name}()", [])
        if not calls:
            raise Different(f"no test calls the function that {name} returns")
        random, families = np.random.RandomState(21), kinships(calls)
        for arguments in [*calls[:20], *(invented(calls, families, random) for _ in range(20))]:
            expected = self.solution.outcome(old, arguments)
            actual = self.mutant.outcome(new, arguments, raised=True)
            if expected is None:
                self.reach.forget()
                continue
            self.reach.compared()
            if actual is None or expected[0] != actual[0]:
                return False
            if not same(expected[1], actual[1], functools.partial(self.returned, f"{name}()")):
                return False
        return True

    def classes(self, name: str, old: type, new: Any) -> None:
        """Compare two classes by the lives of their objects. Raises Different and Unproven."""
        if not isinstance(new, type):
            raise Different(f"{name} is not a class")
        changed = self._changed_members(name, old, new)
        if not changed:
            return
        for member in changed:
            calls = self.watch.calls.get(f"{name}.{member}", [])
            if isinstance(vars(old)[member], staticmethod | classmethod) and calls:
                self.unlike(f"{name}.{member}", getattr(old, member), getattr(new, member), calls)
        changed = [member for member in changed if not self.watch.calls.get(f"{name}.{member}")]
        told = "__init__" in changed or any(isinstance(vars(old).get(member), property) for member in changed)
        tried: set[str] = set()
        known = {method for lives in self.watch.lives.values() for life in lives for method, _ in life.steps}
        unasked = [
            member
            for member in changed
            if f"{name}.{member}" in self.watch.called and member not in known and _takes_itself_alone(old, member)
        ]  # of an object that a method made, no call is noted
        for kind in self._kinds(old):
            lives = [life for life in self.watch.lives.get(kind, []) if life.steps or told or unasked]
            for life in lives:
                life.steps += [(member, ((), {})) for member in unasked]
            self._lives(kind, self.old[kind], self.new[kind], lives, tried)
        if missed := [method for method in changed if method not in tried]:
            raise self._missed(name, missed)

    def _kinds(self, old: type) -> list[str]:
        """The names of a class and of those that the same cell derives from it."""
        kinds = [name for name in self.watch.bound if isinstance(self.new.get(name), type)]
        return [name for name in kinds if isinstance(self.old.get(name), type) and issubclass(self.old[name], old)]

    def _lives(self, name: str, old: type, new: type, lives: list[Life], tried: set[str]) -> None:
        """Compare two classes by noted ``lives`` and by others like them. Raises Different and Unproven."""
        if not lives:
            return
        random, start = np.random.RandomState(22), time.monotonic()
        shortest: Different | None = None
        reason: Unproven | None = None
        births = [life.call for life in lives]
        births += with_defaults(old, births)
        constants = Constants(constants_of(self.constants(function) for function in functions_of(old)))
        steps: dict[str, list] = {}
        for life in lives:
            for method, call in life.steps:
                steps.setdefault(method, []).append(call)
        families = {method: kinships(calls) for method, calls in steps.items()} | {"": kinships(births)}
        for trial in range(len(lives) + TRIALS // 2):
            if time.monotonic() - start > SECONDS:
                break
            life = lives[trial] if trial < len(lives) else lives[random.randint(len(lives))]
            if trial >= len(lives):
                life = self._other_life(life, births, steps, families, random, constants)
            try:
                self._live(name, old, new, life, tried, meets_itself=trial >= len(lives) and random.rand() < 0.2)
            except Different as different:
                shortest = min(different, shortest or different, key=Different.length)
                if trial > len(lives) + SEARCH:
                    break
            except Unproven as unproven:
                reason = unproven
        if shortest:
            raise shortest
        if reason:
            raise reason

    def _missed(self, name: str, methods: list[str]) -> Exception:
        """Why methods were not compared: no test calls them, or no call could be recorded."""
        called = [method for method in methods if f"{name}.{method}" in self.watch.called]
        unseen = [method for method in methods if method in WITHOUT or not method_of(self.old[name], method)]
        if called or unseen:
            return Unproven(f"no call of {listed(called or unseen)} could be recorded")
        return Different(f"no test calls {name}.{listed(methods)}")

    def constants(self, function: Any) -> list:
        """The constants in a function and in those of the notebook that it reaches."""
        found, todo, seen = [], [function], set[str]()
        while todo:
            one = todo.pop()
            found += constants_in(getattr(one, "__code__", None))
            for name in called_by(one) - seen:
                seen.add(name)
                value = self.old.get(name)
                if is_function(value) and getattr(value, "__module__", "") == "__main__":
                    todo.append(value)
                elif hasattr(value, "pattern") or type(value) in (int, float, str):
                    found.append(value)
        return found

    def _other_life(self, life: Life, births: list, steps: dict, families: dict, random, constants: Constants) -> Life:
        """A life like a noted one, with other arguments, and with some calls twice or in another order."""
        variation = Life(invented(births, families[""], random, constants) if random.rand() < 0.7 else life.call)
        if random.rand() < 0.2 and finite(values(edge := at_an_edge(variation.call, random))):
            variation.call = edge
        methods = [method for method, _ in life.steps]
        if methods and random.rand() < 0.5:
            methods = [methods[index] for index in random.randint(0, len(methods), size=2 * len(methods) + 1)]
        variation.steps = [(method, invented(steps[method], families[method], random, constants)) for method in methods]
        return variation

    def _changed_members(self, name: str, old: type, new: type) -> list[str]:
        """The methods whose code differs. Raises Different where a member is missing or has another value."""
        changed = []
        for member, value in vars(old).items():
            replacement = vars(new).get(member)
            if member in UNWRITTEN or member.startswith("__annotations"):
                continue
            if member not in vars(new):
                raise Different(f"{name} has no '{member}'")
            if isinstance(value, staticmethod | classmethod | property):
                parts = [
                    (getattr(value, part, None), getattr(replacement, part, None))
                    for part in ("__func__", "fget", "fset")
                    if getattr(value, part, None) is not None
                ]
                if not all(same_code(before, two) for before, two in parts):
                    changed.append(member)
            elif isinstance(value, types.FunctionType):
                if not same_code(value, replacement):
                    changed.append(member)
            elif not member.startswith("__") and not same(value, replacement):
                raise Different(
                    f"{name}.{member} has another value", f"{name}.{member}", shown(value), shown(replacement)
                )
        return changed

    def _live(self, name: str, old: type, new: type, life: Life, tried: set, meets_itself: bool) -> None:
        """Make an object of each class and call the same methods; an object that ``meets_itself`` is compared with, or
        added to, a copy of itself. Raises Different and Unproven."""
        call = f"{name}{_arguments(life.call)}"
        expected, actual = self.solution.outcome(old, life.call), self.mutant.outcome(new, life.call, raised=True)
        if expected is None:
            self.reach.forget()
            return
        self.reach.compared()
        if actual is None or expected[0] != actual[0]:
            raise Different(f"{name} raises an error", call, _told(expected), _told(actual))
        if expected[0] == "raises":
            if expected[1] != actual[1]:
                raise Different(f"{name} raises another error", call, _told(expected), _told(actual))
            return
        tried.add("__init__")
        self.counted += 1
        self.inputs.add(fingerprint(life.call))
        left, right = expected[1], actual[1]
        self._attributes(name, call, left, right, tried)
        for method, noted in life.steps:
            arguments = _with_itself(left, noted) if meets_itself else noted
            call = f"{call}.{method}{_arguments(arguments)}" if len(call) < SHOWN else f"{name}(...).{method}(...)"
            expected = self.solution.outcome(functools.partial(getattr(old, method), left), arguments)
            actual = self.mutant.outcome(functools.partial(getattr(new, method), right), arguments, raised=True)
            if expected is None:
                self.reach.forget()
                return
            self.reach.compared()
            tried.add(method)
            self.counted += 1
            self.inputs.add(fingerprint(life.call, method, arguments))
            if actual is None or expected[:1] != actual[:1]:
                raise Different(f"{name}.{method} raises an error", call, _told(expected), _told(actual))
            if expected[0] == "raises":
                if expected[1] != actual[1]:
                    raise Different(f"{name}.{method} raises another error", call, _told(expected), _told(actual))
            elif not same(expected[1], actual[1], functools.partial(self.returned, f"{name}.{method}")):
                raise Different(f"{name}.{method} returns something else", call, shown(expected[1]), shown(actual[1]))
            self._attributes(name, call, left, right, tried)

    def _attributes(self, name: str, call: str, left: Any, right: Any, tried: set) -> None:
        with self.solution.entered():
            expected = attributes(left)
        with self.mutant.entered():
            actual = attributes(right)
        self.reach.compared()
        tried.update(expected)
        if not same(expected, actual):
            raise Different(f"{name} has other attributes", call, shown(expected), shown(actual))


def _with_itself(value: Any, arguments: tuple) -> tuple:
    """Arguments with the object itself in the place of others of its class."""
    args, kwargs = arguments
    return tuple(copy.deepcopy(value) if type(arg) is type(value) else arg for arg in args), kwargs


def called_by(function: Any) -> set[str]:
    """The names of the notebook that a function's code mentions."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    todo, names = [code] if code else [], set()
    while todo:
        code = todo.pop()
        names.update(code.co_names)
        todo += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return names


def constants_in(code: types.CodeType | None) -> list:
    """The numbers and texts in some code, but for its docstring."""
    found: list = []
    parts = code.co_consts if code else ()
    for part in parts[1:] if parts and isinstance(parts[0], str) else parts:
        if isinstance(part, types.CodeType):
            found += constants_in(part)
        elif isinstance(part, tuple | frozenset):
            found += constants_of(part)
        else:
            found.append(part)
    return [value for value in found if type(value) in (int, float, str)]


def constants_of(parts: Iterable) -> list:
    """The constants in a tuple or a list, and in those that it holds."""
    inner = [constants_of(part) if isinstance(part, tuple | frozenset | list) else [part] for part in parts]
    return [value for values in inner for value in values]


def functions_of(kind: type) -> list:
    """The functions among the members of a class."""
    members = vars(kind).values()
    parts = [[getattr(member, part, None) for part in ("fget", "fset", "__func__")] for member in members]
    return [one for one in (*members, *constants_of(parts)) if isinstance(one, types.FunctionType)]


def method_of(kind: type, name: str) -> bool:
    """Whether a member of a class is a method whose calls are noted."""
    return isinstance(vars(kind).get(name), types.FunctionType)


def _takes_itself_alone(kind: type, method: str) -> bool:
    return method_of(kind, method) and len(inspect.signature(vars(kind)[method]).parameters) == 1


def on_purpose(error: BaseException, namespace: dict) -> bool:
    """Whether a ``raise`` or an ``assert`` of the notebook raised an error."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    if not trace or trace.tb_frame.f_globals is not namespace:
        return False
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def copies(namespace: dict) -> dict:
    """The names with copies of their data; modules, functions, classes and objects of libraries are not copied."""
    new: dict = {}
    memo: dict = {}
    for name, value in namespace.items():
        new[name] = value
        data = isinstance(value, (*DATA, *STATEFUL)) or type(value).__module__ == "__main__"
        if (data or of_library(value, "pandas")) and mine(name) and not isinstance(value, type):
            with contextlib.suppress(Exception):
                new[name] = copy.deepcopy(value, memo)
    return new


def mine(name: str) -> bool:
    """Whether a name is the notebook's, not IPython's."""
    return not name.startswith("_") and name not in ("In", "Out", "exit", "quit", "get_ipython")


def _state_of(value: Any) -> Any:
    if isinstance(value, np.random.Generator):
        return copy.deepcopy(value.bit_generator.state)
    return value.get_state() if isinstance(value, np.random.RandomState) else value.getstate()


def _set_state(value: Any, state: Any) -> None:
    if isinstance(value, np.random.Generator):
        value.bit_generator.state = state
    elif isinstance(value, np.random.RandomState):
        value.set_state(state)
    else:
        value.setstate(state)


def _translate(value: Any, classes: dict, seen: set) -> None:
    if id(value) in seen:
        return
    if isinstance(value, list | tuple | set):
        seen.add(id(value))
        for part in value:
            _translate(part, classes, seen)
    elif isinstance(value, dict):
        seen.add(id(value))
        for part in value.values():
            _translate(part, classes, seen)
    elif type(value).__module__ == "__main__" and hasattr(value, "__dict__") and not isinstance(value, type):
        seen.add(id(value))
        if type(value) in classes:
            with contextlib.suppress(TypeError):
                object.__setattr__(value, "__class__", classes[type(value)])  # also where it is frozen
        _translate(vars(value), classes, seen)


def kind_of(value: object) -> str:
    """What a result is, for the mistakes that make sense of it: numbers, a truth value, parts, or its type's name."""
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, np.ndarray | np.generic | int | float | complex):
        return "numbers"
    if isinstance(value, list | tuple):
        kinds = {kind_of(part) for part in value}
        return "numbers" if kinds == {"numbers"} else "parts"
    return "numbers" if of_library(value, "pandas") else type(value).__name__


def literal(value: object) -> str:
    """Python source of a value, empty when there is none, or a long one."""
    if isinstance(value, np.ndarray):
        text = f"np.array({value.tolist()!r})" if finite(value) else ""
    elif isinstance(value, tuple):
        parts = [literal(part) for part in value]
        text = f"({', '.join(parts)},)" if all(parts) else ""
    elif isinstance(value, np.generic):
        text = repr(value.item())
    else:
        text = repr(value) if isinstance(value, bool | int | float | str | list) else ""
    return text if len(text) < 3000 else ""


def shown(value: Any) -> str:
    """A value in a line."""
    with np.printoptions(precision=4, threshold=12, edgeitems=2, suppress=True):
        try:
            text = repr(getattr(value, "items", value) if type(value).__name__ == "Items" else value)
            text = " ".join(text.split()) if "\n" in text else text  # the spaces of a text may be what differs
        except Exception:
            text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]} ..."


def _arguments(arguments: tuple) -> str:
    args, kwargs = arguments
    return f"({', '.join([*map(shown, args), *(f'{name}={shown(value)}' for name, value in kwargs.items())])})"


def _told(outcome: tuple | None) -> str:
    if outcome is None:
        return "an error"
    return f"raises {outcome[1]}" if outcome[0] == "raises" else shown(outcome[1])


def listed(names: list) -> str:
    return ", ".join(names)
