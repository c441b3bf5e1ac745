"""Finds small calls that tell a mutant from the solution, and writes each as lines of a check.

Theory of operation. The source of this module runs in a candidate beside ``witness``. It calls the solution's functions
with the noted arguments and with random ones, rounds what makes a difference to short numbers, and makes it smaller
step by step: fewer rows, shorter lists, smaller numbers. After each step the lines themselves run: they must pass with
the solution, from two random states, and fail with the mutant. So what the lines can see decides, and no other
comparison. What cannot be written as a literal is left out, and the reason is told.
"""

from __future__ import annotations

import builtins
import copy
import inspect
import itertools
import random as dice
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from viva_audit.drawing import EDGE, Constants, by_turns
from viva_audit.likeness import Items, Unproven, is_function
from viva_audit.witness import Comparing, Different, Side, Watch

LONGEST = 240
"""The most characters of a call and its result that are proposed."""
SEARCHED = 4000
"""The most characters of a call from which a small one is looked for."""
WIDE = 100
"""The most characters of a line; a longer one is written as two."""
MESSAGE = 110
FOUND = 6
"""Inputs that make a difference of which the shortest is made small."""
MOST_PARTS = 4
"""Numbers that are compared one by one, where the notebook does not use NumPy."""
TRIALS = 200
TRIES = 400
"""Smaller inputs that are tried."""
SECONDS = 6.0
ALIKE = "a comparison of the two values does not show the difference, as with 2 and 2.0"
"""The reason where no other was met."""
DTYPES = {"float64", "int64", "bool", "complex128"}
"""The types that an array has without a word about it."""


class Unwritable(Exception):  # noqa: N818
    """A line cannot be written; the message is the reason, for a sentence that ends in it."""


class Line:
    """Lines of a check: what is done first, what is asserted, and what a student reads who fails it."""

    def __init__(self, name: str, call: str, setup: list[str], condition: str, message: str, secret: str) -> None:
        self.name, self.call, self.setup, self.condition = name, call, setup, condition
        self.message, self.secret = message, secret

    def code(self, message: str = "") -> str:
        end = f", {quoted(message)}" if message else ""
        return "\n".join([*self.setup, f"assert {self.condition}{end}"])

    def record(self) -> dict:
        return {
            "name": self.name,
            "call": self.call,
            "visible": self.code(self.message),
            "hidden": self.code(self.secret),
        }


class Refusal(Line):
    """Lines that ask for an error."""

    def code(self, message: str = "") -> str:
        end = f"({quoted(message)})" if message else ""
        lines = ["try:", f"    {self.call}", f"except {self.condition}:", "    pass", "else:"]
        return "\n".join([*lines, f"    raise AssertionError{end}"])


class Search(Comparing):
    """The search for lines that the solution passes and a mutant fails."""

    def __init__(self, watch: Watch, shrinking: bool = True) -> None:
        super().__init__(watch)
        self.shrinking, self.reasons, self.tries = shrinking, Counter[str](), 0
        self.numpy = self.old.get("np") is np

    def lines(self, names: list) -> dict:
        """Lines for the ``names`` that tests may use, the shortest first, or the ``reason`` why there is none."""
        lines: list[Line] = []
        for name in names:
            old = self.old.get(name)
            try:
                if is_function(old):
                    lines += self._function(name, old)
                elif isinstance(old, type):
                    if self._may_differ(name):
                        raise Unwritable("the difference is in the methods of a class")
                elif name in self.old and not callable(old):
                    lines += self._value(name)
            except Unwritable as refusal:
                self.reasons[str(refusal)] += 1
        named = [reason for reason, _ in self.reasons.most_common() if reason != ALIKE]
        reason = (named or [ALIKE])[0]
        return {"lines": [line.record() for line in lines], "reason": "" if lines else reason}

    def _may_differ(self, name: str) -> bool:
        try:
            self.classes(name, self.old[name], self.new.get(name))
        except Different:
            return True
        except Unproven:
            pass
        return False

    def _value(self, name: str) -> list[Line]:
        """A line about a value that an answer leaves."""
        try:
            self.name(name, [name])
        except Different:
            line = self._short(self._about(name, name))
            return [line] if line else []
        except Unproven:
            pass
        return []

    def _function(self, name: str, old: Any) -> list[Line]:
        """The smallest line of the inputs that make a difference, and others with more in them."""
        lines: list[tuple[Line, tuple]] = []
        for arguments in self._differing(name, old):
            for tidy in tidied(arguments):
                line = self._of(name, old, tidy)
                if line:
                    lines.append((line, tidy))
                    break
            if len(lines) >= FOUND:
                break
        lines.sort(key=lambda pair: len(pair[0].code()))
        small = [self._smallest(name, old, *lines[0])] if lines and self.shrinking else []
        unique = {line.code(): line for line in [*small, *(line for line, _ in lines)] if self._short(line)}
        return list(unique.values())[:4]

    def _short(self, line: Line | None) -> Line | None:
        if line and len(line.code()) > LONGEST:
            self.reasons["the shortest input that shows the difference is too long for a line"] += 1
            return None
        return line

    def _differing(self, name: str, old: Any) -> Iterator[tuple]:
        """Arguments for which the two functions differ: the noted ones, and random ones of the same form."""
        calls = self.watch.calls.get(name, [])
        if not calls:
            return
        random, start, new = np.random.RandomState(23), time.monotonic(), self.new.get(name)
        constants = Constants(self.constants(old))
        turns = itertools.chain(by_turns(calls, random, TRIALS), by_turns(calls, random, TRIALS, constants))
        for arguments, chosen in turns:
            if time.monotonic() - start > SECONDS:
                return
            expected = self.expected(old, arguments, random, raising=chosen == EDGE)
            if expected is None:
                continue
            try:
                if callable(new):
                    self.outcomes(name, expected, new, arguments)
                else:
                    yield arguments
            except Different:
                yield arguments
            except Unproven:
                continue

    def _smallest(self, name: str, old: Any, line: Line, arguments: tuple) -> Line:
        """The line with the smallest call that can be reached from this one."""
        start, shrunk = time.monotonic(), True
        while shrunk:
            shrunk = False
            for smaller in smaller_calls(arguments):
                if self.tries >= TRIES or time.monotonic() - start > SECONDS:
                    return line
                self.tries += 1
                shorter = self._of(name, old, smaller)
                if shorter and len(shorter.code()) < len(line.code()):
                    line, arguments, shrunk = shorter, smaller, True
                    break
        return line

    # one line

    def _of(self, name: str, old: Any, arguments: tuple) -> Line | None:
        """A line about one call, or None where the solution does not pass it or the mutant does."""
        args, kwargs = arguments
        try:
            texts = [*map(written, args), *(f"{key}={written(value)}" for key, value in kwargs.items())]
        except Unwritable as reason:
            self.reasons[str(reason)] += 1
            return None
        call = f"{name}({', '.join(texts)})"
        if len(call) > SEARCHED or ("np." in call and not self.numpy):
            return None
        return self._about(name, call) or self._arguments(name, old, args, texts)

    def _about(self, name: str, call: str) -> Line | None:
        """A line about the value of an expression."""
        outcome = self._evaluated(call)
        if outcome is None:
            return None
        kind, value, _ = outcome
        if kind == "raises":
            if not isinstance(getattr(builtins, value, None), type):
                self.reasons[f"the solution raises {value}, an exception that it defines itself"] += 1
                return None
            message = shortened(f"{call} should raise {value}.", f"{name} should raise {value} for this input.")
            return self._telling([Refusal(name, call, [], value, message, f"{name} should raise {value}.")])
        if isinstance(value, Items):
            value = value.items
            call = f"list({call})"
        try:
            written(value, of="result")
            text = bare(value)
            forms = [self._condition("{}", value, shape) for shape in (False, True)]
        except Unwritable as reason:
            self.reasons[str(reason)] += 1
            return None
        wrong = f"{name} does not give the right result for"
        message = shortened(f"{call} should be {plain(text)}.", f"{wrong} this input.")
        secret = f"{wrong} another input."
        lines = []
        for form in dict.fromkeys(forms):
            once = form.count("{}") == 1 and len(form) + len(call) + 9 <= WIDE
            setup = [] if once or call == name else [f"result = {call}"]
            lines.append(Line(name, call, setup, form.replace("{}", "result" if setup else call), message, secret))
        return self._telling(lines)

    def _arguments(self, name: str, old: Any, args: tuple, texts: list[str]) -> Line | None:
        """A line that looks at an argument after the call."""
        try:
            names = list(inspect.signature(old).parameters)
        except (TypeError, ValueError):
            names = []
        for index, value in enumerate(args):
            if not isinstance(value, list | dict | set | np.ndarray) or not np.size(cast(Any, value)):
                continue
            variable = names[index] if index < len(names) and names[index] not in self.watch.namespace else "argument"
            inner = f"{name}({', '.join([*texts[:index], variable, *texts[index + 1 :]])})"
            scope: dict[str, Any] = {}
            if self._run(self.solution, f"{variable} = {texts[index]}\n{inner}", 1, scope) is not None:
                continue
            try:
                text = written(scope[variable])
                forms = [self._condition(variable, scope[variable], True)]
            except Unwritable:
                continue
            duty = "stay as it is" if text == texts[index] else f"be {plain(text)} after the call"
            message = shortened(f"{variable} should {duty}.", f"{variable} is not right after the call.")
            secret = f"{name} changes its argument." if text == texts[index] else f"{variable} is not right."
            setup = [f"{variable} = {texts[index]}", inner]
            line = self._telling([Line(name, inner, setup, form, f"{name}: {message}", secret) for form in forms])
            if line:
                return line
        return None

    def _condition(self, expression: str, value: Any, shape: bool) -> str:
        """Source that is true where ``expression`` has a value; with the ``shape`` of arrays. Raises Unwritable."""
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuUS" and self.numpy:
            return f"np.array_equal({expression}, {bare(value)})"
        if is_floating(value):
            if self.numpy:
                close = f"np.allclose({expression}, {bare(value)})"
                sized = shape and not isinstance(value, list | tuple)
                return f"np.shape({expression}) == {np.shape(value)} and {close}" if sized else close
            if isinstance(value, float | complex | np.inexact):
                size = max(1.0, float(np.abs(value)))
                near = f"{1e-6 * size:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
                return f"abs({expression} - {bare(value)}) < {near}"
            if type(value) not in (list, tuple) or len(value) > MOST_PARTS:
                raise Unwritable("so many numbers can only be compared with NumPy, but the notebook does not use NumPy")
        if isinstance(value, np.ndarray):
            raise Unwritable("the notebook does not import NumPy as np")
        if type(value) in (list, tuple) and any(has_floating(part) for part in value):
            kind = "" if type(value) is list else "tuple"
            parts = [self._condition(f"{expression}[{index}]", part, shape) for index, part in enumerate(value)]
            length = f"len({expression}) == {len(value)}"
            return " and ".join([length, *parts] if shape or not kind else parts)
        if type(value) is dict and any(has_floating(part) for part in value.values()):
            keys = f"set({expression}) == {written(set(value))}"
            return " and ".join([keys, *(self._condition(f"{expression}[{k!r}]", v, shape) for k, v in value.items())])
        return f"{expression} is None" if value is None else f"{expression} == {bare(value)}"

    def _telling(self, lines: list[Line]) -> Line | None:
        """The first of some lines that the solution passes, from two random states, and the mutant fails."""
        for line in lines:
            code = line.code()
            if self._run(self.solution, code, 1) is not None:
                continue
            if self._run(self.solution, code, 2) is not None:
                self.reasons["the solution gives other results for other random numbers"] += 1
                return None
            if self._run(self.mutant, code, 1) is not None:
                return line
        return None

    # running

    def _evaluated(self, call: str) -> tuple | None:
        """What the solution gives for an expression, as ``Side.outcome`` says it."""
        function: Callable = eval(f"lambda: ({call})", self.watch.namespace)
        return self.solution.outcome(function, ((), {}))

    def _run(self, side: Side, code: str, state: int, scope: dict | None = None) -> str | None:
        """Run lines with what the names mean to a side: the name of the error that they raise, if any."""
        with side.entered():
            np.random.seed(state)
            dice.seed(state)
            for value, _ in side.states if state > 1 else ():
                value.random()
            local = {} if scope is None else scope
            try:
                exec(code, dict(self.watch.namespace), local)
            except Exception as error:
                return type(error).__name__
        return None


# --- values as source


def written(value: Any, of: str = "argument") -> str:
    """Python source of a value. Raises Unwritable."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, bool | int | float | complex | str | bytes | None):
        return quoted(value) if isinstance(value, str) else repr(value)
    if isinstance(value, np.ndarray) and type(value) is np.ndarray and value.dtype.kind in "biufcUS":
        kind = value.dtype.name
        if value.size == 0:
            return f"np.zeros({value.shape})" if kind == "float64" else f"np.zeros({value.shape}, dtype={kind!r})"
        if value.dtype.kind in "fc" and not np.all(np.isfinite(value)):
            raise Unwritable("an array has values that are not finite")
        typed = "" if kind in DTYPES or value.dtype.kind in "US" else f", dtype=np.{kind}"
        return f"np.array({value.tolist()!r}{typed})"
    if type(value) is list:
        return f"[{', '.join(written(part, of) for part in value)}]"
    if type(value) is tuple:
        return f"({', '.join(written(part, of) for part in value)}{',' * (len(value) == 1)})"
    if type(value) is dict:
        return f"{{{', '.join(f'{written(k, of)}: {written(v, of)}' for k, v in value.items())}}}"
    if type(value) in (set, frozenset):
        inner = ", ".join(sorted(written(part, of) for part in value))
        text = f"{{{inner}}}" if inner else "set()"
        return text if type(value) is set else f"frozenset({text if inner else ''})"
    if type(value) is range:
        return repr(value)
    kind = "function" if callable(value) else type(value).__name__
    raise Unwritable(f"{'an' if of == 'argument' else 'the'} {of} of type {kind} cannot be written as one line of code")


def bare(value: Any) -> str:
    """An expected value: arrays as lists, and numbers with as many digits as a comparison needs."""
    if isinstance(value, np.ndarray):
        return bare(value.tolist()) if value.size else written(value, "result")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return written(float(f"{value:.8g}"), "result")
    if type(value) is list:
        return f"[{', '.join(map(bare, value))}]"
    return written(value, "result")


def plain(text: str) -> str:
    """Source without NumPy's words, for a sentence."""
    return text.removeprefix("np.array(").removesuffix(")") if text.startswith("np.array(") else text


def is_floating(value: Any) -> bool:
    """Whether a value is a number with a fraction, or a rectangle of them."""
    if isinstance(value, float | complex | np.floating | np.complexfloating):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    if type(value) not in (list, tuple) or not has_floating(value):
        return False
    try:
        return np.asarray(value).dtype.kind in "fc" and not any(isinstance(part, np.ndarray) for part in value)
    except ValueError:  # rows of several lengths
        return False


def has_floating(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(has_floating, value))
    if type(value) is dict:
        return any(map(has_floating, value.values()))
    return isinstance(value, float | complex | np.inexact | np.ndarray)


def quoted(text: str) -> str:
    """A text as source, in double quotes where that needs no escape."""
    return f'"{text}"' if text.isprintable() and not set('"\\') & set(text) else repr(text)


def shortened(text: str, instead: str) -> str:
    return text if len(text) <= MESSAGE else instead


# --- smaller inputs


def tidied(call: tuple) -> Iterator[tuple]:
    """The same call with short numbers, in several ways; the call itself last."""
    for scale, digits in ((1, 0), (3, 0), (10, 0), (1, 1), (1, 2)):
        yield _each(call, lambda number, s=scale, d=digits: np.round(s * number, d) + 0.0)
    yield copy.deepcopy(call)


def _each(value: Any, change: Callable) -> Any:
    """A value whose numbers with a fraction are changed."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return change(value).astype(value.dtype)
    if isinstance(value, float | np.floating):
        return float(change(float(value))) if np.isfinite(value) else float(value)
    if type(value) in (list, tuple):
        return type(value)(_each(part, change) for part in value)
    if type(value) is dict:
        return {key: _each(part, change) for key, part in value.items()}
    return copy.deepcopy(value)


def smaller_calls(call: tuple) -> Iterator[tuple]:
    """Calls with less in them: sizes that are equal in several arguments shrink together, then each argument alone."""
    args, kwargs = call
    values = [*args, *kwargs.values()]

    def rebuilt(new: list) -> tuple:
        return tuple(new[: len(args)]), dict(zip(kwargs, new[len(args) :], strict=True))

    sizes = sorted({size for value in values for size in _sizes(value) if size > 1}, reverse=True)
    for size in sizes:
        for span in dict.fromkeys((range(size // 2), range(size - size // 2, size), range(size - 1), range(1, size))):
            yield rebuilt([_cut(value, size, span) for value in values])
    for index, value in enumerate(values):
        for new in smaller(value):
            yield rebuilt([*values[:index], new, *values[index + 1 :]])


def _sizes(value: Any) -> list[int]:
    if isinstance(value, np.ndarray):
        return list(value.shape)
    return [len(value)] if isinstance(value, list) else []


def _cut(value: Any, size: int, span: range) -> Any:
    """A value of whose axes of one size only some places are kept."""
    if isinstance(value, np.ndarray):
        for axis, length in enumerate(value.shape):
            if length == size:
                value = value.take(span, axis)
    elif isinstance(value, list) and len(value) == size:
        value = [value[index] for index in span]
    return copy.deepcopy(value)


def smaller(value: Any) -> Iterator[Any]:
    """Values like one, with less in them."""
    if isinstance(value, bool | None):
        return
    if isinstance(value, int):
        yield from (new for new in (1, 2, 3, 4, 5, value // 2, value // 10) if abs(new) < abs(value))
    elif isinstance(value, float):
        yield from (float(new) for new in (np.round(value), np.round(value, 1), 2.0, 3.0) if new != value)
    elif isinstance(value, np.ndarray):
        yield from _smaller_array(value)
    elif isinstance(value, str | bytes | list | tuple):
        length, whole = len(value), cast(Any, value)
        if length > 1:
            yield from (value[: length // 2], value[length // 2 :])
        if length <= 16:
            yield from (whole[:index] + whole[index + 1 :] for index in range(length))
        if isinstance(value, list | tuple) and length <= 16:
            for index, part in enumerate(value):
                for new in smaller(part):
                    yield type(value)([*value[:index], new, *value[index + 1 :]])
    elif isinstance(value, dict):
        for key in value:
            yield {name: part for name, part in value.items() if name != key}
        for key, part in value.items():
            yield from (value | {key: new} for new in smaller(part))
    elif isinstance(value, set):
        yield from (value - {part} for part in sorted(value, key=repr))


def _smaller_array(value: np.ndarray) -> Iterator[np.ndarray]:
    for axis, size in enumerate(value.shape):
        if size > 1:
            spans = [[*range(size // 2)], [*range(size - size // 2, size)]]
            spans += [[*range(index), *range(index + 1, size)] for index in range(size)] if size <= 8 else []
            yield from (value.take(span, axis) for span in spans)
    if value.dtype.kind == "f":
        yield from (np.round(value, digits) + 0.0 for digits in (0, 1))
    if value.dtype.kind in "iuf" and value.size <= 12:
        for index in np.ndindex(value.shape):
            for number in (1, 2, 3):
                if abs(value[index]) >= 10:
                    new = value.copy()
                    new[index] = number
                    yield new
