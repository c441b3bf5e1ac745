"""Expected types: what each answer of the solution was, recorded while it is examined, then enforced.

A path says how a value was come by: ``model``, ``model.fit()``, ``model.fit().coef_``. Where the solution gave plain
data a student's object is refused, so no operator of a student's class decides a comparison that was written for
numbers. Where an author has widened a path to ANY, a proxy is accepted for it, and for whatever tests get out of it.
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from viva.engine import wire
from viva.engine.values.codec import CODEC_OF, module_of
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.engine.values.plain import DEFAULTING, codec_of
from viva.verdict import CandidateLied, CandidateOdd

# --- how a value was come by


STEPS = 60
"""The most steps of a path."""


class Step(NamedTuple):
    """How one value is got out of another: by a ``call``, by an ``attribute`` or an ``operation`` of this name, by an
    ``item`` or as ``each`` of a loop."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return {"call": "()", "item": "[]", "each": "[*]"}.get(self.kind) or {"attribute": "."}.get(
            self.kind, " "
        ) + self.name


CALL, ITEM, EACH = Step("call"), Step("item"), Step("each")
CHANGED, HANDED, ITERATED = Step("operation", "changed"), Step("operation", "handed"), Step("operation", "iter")
"""Steps to the arguments after a call, to the arguments of a callback, and to the result of ``iter``."""
WRITTEN = re.compile(r"(\(\))|(\[\])|(\[\*\])|\.([^.()\[\] ]+)| ([^.()\[\] ]+)")


class Path(NamedTuple):
    """A name of the notebook, and the steps from it to a value."""

    root: str
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Path:
        """The path to what a step leads to; of a long one the middle is left out, as of a chain of a hundred nodes."""
        steps = (*self.steps, step)
        return Path(self.root, steps if len(steps) <= STEPS else steps[: STEPS // 2] + steps[-STEPS // 2 :])

    def attribute(self, name: str) -> Path:
        return self.then(Step("attribute", name))

    def __str__(self) -> str:
        return self.root + "".join(map(str, self.steps))

    @property
    def readable(self) -> str:
        """A path as students would write it."""
        return readable(str(self))


def readable(path: str) -> str:
    """The text of a path as students would write it."""
    return path.replace("()", "(...)").replace("[]", "[...]")


@functools.lru_cache(4096)
def path_of(text: str) -> Path:
    """The path that a text says."""
    root = re.split(r"\W", text, maxsplit=1)[0]
    steps = []
    for call, item, each, attribute, operation in WRITTEN.findall(text[len(root) :]):
        if call or item or each:
            steps.append(CALL if call else ITEM if item else EACH)
        else:
            steps.append(Step("attribute", attribute) if attribute else Step("operation", operation))
    return Path(root, tuple(steps))


PLAIN, OBJECT, ANY = "plain", "", "any"
NOTHING = "nothing"
"""None or an empty value. Its other type is not seen there, as of a leaf's ``left`` or ``children``."""
WIDER = {(NOTHING, PLAIN), (NOTHING, OBJECT), (PLAIN, OBJECT)}
"""Pairs of the kind recorded for a path and a wider kind that it may turn out to be."""
OWN = "own "
"""Before the place of what the solution imports: the examiner takes its own, whatever the student's name means."""
CREDIT = " credit "
"""Before the name of a grade cell: what the last value of its only check says, as ``viva.engine.credit`` has it."""
PYTHONS_OWN = frozenset({None, object, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset})
PLACES = 100
"""The most parts of a value that are looked at, whether they hold something."""
KEY = re.compile(r"\w{1,40}")
HOLDING = (list, tuple, dict, set, frozenset)
CHANGEABLE = (list, dict, set, np.ndarray)
ATOMS = frozenset({int, float, bool, complex, str, bytes, type(None)})
PANDAS = (b"masked", b"strings", b"categories", b"NA")
"""One of which stands in every message that holds an array of pandas' own or NA; see ``values/frames.py``."""
VIEWS: tuple[type, ...] = (type({}.values()), type({}.items()), type({}.keys()))


@dataclass(frozen=True)
class Expected:
    """The kind of value that the solution gave at a path.

    ``kind`` is PLAIN, OBJECT, NOTHING, ANY, or ``module:qualname`` of something in a library. Where the solution
    ``imported`` it, the examiner takes its own. ``arrays`` says that there was an array of pandas' own in it,
    ``missing`` that there was a missing value of pandas. ``full`` are the positions of numbers, and of arrays and
    frames that are not empty: the value itself is at "", the parts of its lists, tuples and dicts at such as "0.W".
    """

    kind: str = PLAIN
    imported: bool = False
    arrays: bool = False
    missing: bool = False
    full: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        words = [word for name, word in WORDS.items() if getattr(self, name)]
        words += [FULL] if "" in self.full else []
        words += [f"{FULL_IN}{' '.join(sorted(self.full - {''}))}"] if self.full - {""} else []
        return ", ".join(filter(None, [OWN + self.kind if self.imported else self.kind, *words]))


WORDS = {"arrays": "pandas array", "missing": "missing values"}
FULL, FULL_IN = "never empty", "never empty in "


def expected_of(text: str) -> Expected:
    """The record that a text says."""
    words = text.split(", ")
    kind = "" if words[0] in WORDS.values() or words[0].startswith(FULL) else words[0]
    flags = {name: word in words for name, word in WORDS.items()}
    full = [
        position for word in words if word.startswith(FULL_IN) for position in word.removeprefix(FULL_IN).split(" ")
    ]
    full += [""] if FULL in words else []
    return Expected(kind.removeprefix(OWN), kind.startswith(OWN), **flags, full=frozenset(full))


def library(full_name: str) -> object:
    """The object that ``module:qualname`` names among the modules loaded here, or None."""
    module, _, name = full_name.partition(":")
    if module.partition(".")[0] in ("viva", "__main__"):
        return None  # the grader's own classes mean something to the grader
    value = sys.modules.get(module)
    for part in filter(None, name.split(".")):
        value = getattr(value, part, None)
    return value


class ExpectedTypes:
    """The expected types ``known``, by path. While the solution is ``recording`` they are written, not enforced."""

    def __init__(self) -> None:
        self.known: dict[Path, Expected] = {}
        self.recording = False
        self.empty: CandidateOdd | None = None
        """What is odd about the latest answer that was empty where the solution's was not. It may be right: whether it
        counts, the looks of the test say."""
        self.reduced = False
        """Whether a value of a class came as that of its base since the grade cell began."""
        self.copied = False
        """Whether something that can be changed came by value where the solution gave an object: a test that changes it
        changes a copy."""

    def learn(self, texts: dict[str, str]) -> None:
        self.known |= {path_of(path): expected_of(text) for path, text in texts.items()}

    def texts(self) -> dict[str, str]:
        return {str(path): expected.text for path, expected in self.known.items()}

    def kind(self, path: Path) -> str:
        """The kind of what a path leads to: plain, unless it was recorded otherwise or stands behind a widened one.

        Where the solution had nothing, it is what an attribute of that name was elsewhere: no two trees of the same
        keys need be of one shape.
        """
        recorded = self.known.get(path)
        if recorded and recorded.kind != NOTHING:
            return recorded.kind
        last = path.steps[-1] if path.steps else None
        if last == ITERATED:
            return OBJECT
        if any(step.kind == "attribute" for step in path.steps) and self._object_elsewhere(path):
            return OBJECT
        widened = (self.known.get(Path(path.root, path.steps[:end])) for end in range(len(path.steps) + 1))
        return ANY if any(expected and expected.kind == ANY for expected in widened) else PLAIN

    def _object_elsewhere(self, path: Path) -> bool:
        """Whether an attribute of the same name, and the steps from it on, gave an object elsewhere."""
        last_attribute = max(number for number, step in enumerate(path.steps) if step.kind == "attribute")
        ending = path.steps[last_attribute:]
        objects = [recorded for recorded, expected in self.known.items() if expected.kind == OBJECT]
        return any(recorded.root == path.root and recorded.steps[-len(ending) :] == ending for recorded in objects)

    def takes_objects(self, path: Path) -> bool:
        """Whether something of a student's class that derives from a plain type is taken for the object that it is:
        where the solution gave an object, or anything goes. Elsewhere it is the plain value."""
        return self.recording or self.kind(path) in (OBJECT, ANY)

    def odd(
        self,
        path: Path,
        references: list[wire.Reference],
        value: object = None,
        data: bytes | None = None,
        of_class: bool = False,
    ) -> CandidateLied | None:
        """The fault of an answer that holds ``references`` to objects, or None; ``data`` is its message, if known.

        While recording, what crossed by value of a class that students may write themselves (``of_class`` says that a
        class of theirs was called) is refused: such a cell is a single-process cell.
        """
        if not self.recording:
            return self._refusal(path, references, value, data)
        chosen = [] if references else [value] if of_class else self._of_students_choice(value)
        if chosen:
            cls = type(chosen[0]).__name__
            return CandidateLied(
                f"{path.readable} returns an object of class {cls}; one of a student's own class may be right too"
            )
        arrays, missing = deceptive(value) if _may_deceive(data) else ("", "")
        kind = OBJECT if references else PLAIN
        if not references and issubclass(type(value), (type(None), *HOLDING)) and not value:
            kind = NOTHING
        # A student may call a function of the test's with less than the solution does.
        full = frozenset() if references or path.steps[-1:] == (HANDED,) else full_in(value)
        seen = Expected(kind, False, bool(arrays), bool(missing), full)
        before = self.known.get(path)
        if before is None or ":" not in before.kind:
            self.known[path] = merged(before, seen) if before else seen
        if references and issubclass(type(value), (*HOLDING, np.ndarray)):
            for step in (ITEM, EACH):
                self.known[path.then(step)] = Expected(OBJECT)
        return None

    def _refusal(
        self, path: Path, references: list[wire.Reference], value: object, data: bytes | None
    ) -> CandidateOdd | None:
        if references and self.kind(path) == PLAIN:
            return refusal(path, references[0].about)
        recorded = self.known.get(path, Expected())
        self.copied |= not references and recorded.kind == OBJECT and issubclass(type(value), CHANGEABLE)
        arrays, missing = deceptive(value) if _may_deceive(data) else ("", "")
        why = ""
        if arrays and not recorded.arrays:
            why = f"a pandas array, {arrays}"
        elif missing and not recorded.missing:
            why = f"{missing} with missing values (NA)"
        if self.kind(path) == ANY:
            return None
        places = _with_containers(recorded.full)
        if not why and any(is_empty(part) for position in places for part in part_at(value, position)):
            self.empty = CandidateOdd(path.readable, "empty" if is_empty(value) else "with an empty part")
        return CandidateOdd(path.readable, why) if why else None

    def check(self, path: Path, value: object) -> None:
        """Refuse what was told beside an answer, as the plain value of an object, where it deceives."""
        if not self.recording and (odd := self._refusal(path, [], value, None)):
            raise odd

    def check_arguments(self, args: Iterable[object]) -> None:
        """Refuse, while recording, to hand over what would cross as its base: a class of the notebook's own, a
        namedtuple, a defaultdict.

        Student code may ask for more than the solution. Such a cell is a single-process cell."""
        for part in walk(list(args)):
            codec = codec_of(part)
            if codec not in (None, DEFAULTING) and type(part) not in CODEC_OF and type(part) not in ATOMS:
                raise CandidateLied(f"an argument of the class {type(part).__name__} would arrive as its base class")

    def _of_students_choice(self, value: object) -> list:
        """What in a value is a Counter, or of a library's class that the answers name."""
        named = {
            library(expected.kind) for expected in self.known.values() if ":" in expected.kind and not expected.imported
        }
        classes = {Counter} | {cls for cls in named if isinstance(cls, type)} - PYTHONS_OWN
        return [part for part in walk(value) if type(part) in classes]

    def as_series(self, data: bytes, value: object, path: Path) -> object:
        """A value, or the series of it where it is an array of pandas' own and the solution's was none.

        A student may give either, and a series that was compared does not pass for true.
        """
        recorded = self.known.get(path)
        if self.recording or (recorded and recorded.arrays) or not _may_deceive(data):
            return value
        from pandas import Series
        from pandas.api.extensions import ExtensionArray

        return Series(value) if issubclass(type(value), ExtensionArray) else value


def merged(first: Expected, second: Expected) -> Expected:
    """The expected type of a path at which both were seen."""
    kind = first.kind
    if first.kind != second.kind and (second.kind, first.kind) not in WIDER:
        kind = second.kind if (first.kind, second.kind) in WIDER else OBJECT
    arrays, missing = first.arrays or second.arrays, first.missing or second.missing
    return Expected(kind, first.imported and second.imported, arrays, missing, first.full & second.full)


def _may_deceive(data: bytes | None) -> bool:
    """Whether a value that was read from a message may hold such a thing; the bytes of any array may be ``NA``, too."""
    return "pandas" in sys.modules and (data is None or any(mark in data for mark in PANDAS))


def is_empty(value: Any) -> bool | None:
    """Whether a value holds nothing: False for numbers, and for arrays and frames that hold some; None for others."""
    cls = type(value)
    if issubclass(cls, (bool, int, float, complex, np.generic)):
        return False
    if issubclass(cls, np.ndarray) or (module_of(cls).partition(".")[0] == "pandas" and hasattr(cls, "size")):
        return not value.size
    if (codec := codec_that_was_added(cls)) and codec.size:
        return not codec.size(value)
    return True if issubclass(cls, HOLDING) and not value else None


def full_in(value: Any) -> frozenset[str]:
    """The places of a value where numbers are, or arrays and frames that hold some."""
    full, ahead = [], [("", value)]
    for position, part in ahead:
        if is_empty(part) is False:
            full.append(position)
        cls = type(part)
        items = part.items() if issubclass(cls, dict) else enumerate(part) if issubclass(cls, (list, tuple)) else ()
        for key, item in itertools.islice(items, PLACES - len(ahead)):
            if type(key) is int or (type(key) is str and KEY.fullmatch(key)):
                ahead.append((f"{position}.{key}".lstrip("."), item))
    return frozenset(full)


def _with_containers(positions: Iterable[str]) -> set[str]:
    """The positions and those of the containers around them: "0.W" is in "0", which is in the value itself."""
    keys = [position.split(".") if position else [] for position in positions]
    return {".".join(steps[:depth]) for steps in keys for depth in range(len(steps) + 1)}


def part_at(value: Any, position: str) -> list:
    """A list with the part of a value at a position; empty if there is no such position."""
    for key in filter(None, position.split(".")):
        cls = type(value)
        try:
            if issubclass(cls, dict):
                value = value[key if key in value else int(key)]
            elif issubclass(cls, (list, tuple, np.ndarray)):
                value = value[int(key)]
            else:
                return []
        except (LookupError, ValueError):
            return []
    return [value]


def deceptive(value: Any) -> tuple[str, str]:
    """The parts of a value that compare as true with anything: an array of pandas' own or an index of a nullable type,
    and a part with missing values. Each is a text, which is empty if there is none."""
    import pandas as pd

    arrays = missing = ""
    ahead = [value]
    while ahead:
        part = ahead.pop()
        cls = type(part)
        if part is pd.NA:
            missing = missing or "a value"
        elif issubclass(cls, pd.api.extensions.ExtensionArray):
            arrays = arrays or cls.__name__
        elif issubclass(cls, pd.MultiIndex):
            ahead += [*part.levels]
        elif issubclass(cls, pd.Index) and _is_nullable(part.dtype):
            arrays = arrays or f"an Index of {part.dtype}"
        elif issubclass(cls, pd.Series | pd.Index):
            if _is_nullable(part.dtype) and part.isna().any():
                missing = missing or f"a {cls.__name__} of {part.dtype}"
            ahead += [part.index] if issubclass(cls, pd.Series) else []
            ahead += part.tolist() if part.dtype == object else []
        elif issubclass(cls, pd.DataFrame):
            ahead += [part.index, part.columns, *(part.iloc[:, column] for column in range(part.shape[1]))]
        elif issubclass(cls, dict):
            ahead += [*part, *part.values()]
        elif issubclass(cls, np.ndarray | np.void):
            ahead += [part.tolist()] if part.dtype.hasobject else []
        elif cls is slice:
            ahead += part.start, part.stop, part.step
        elif issubclass(cls, (*HOLDING, *VIEWS)) and not ATOMS.issuperset(map(type, part)):
            ahead += part
    return arrays, missing


def _is_nullable(dtype: object) -> bool:
    """Whether a type of pandas' own knows values that are missing, and not only NaN."""
    import pandas as pd

    return not isinstance(dtype, np.dtype) and getattr(dtype, "na_value", None) is pd.NA


def walk(value: Any) -> Iterator[Any]:
    """A value, and what is in the lists, tuples and dicts of it."""
    ahead = [value]
    while ahead:
        part = ahead.pop()
        yield part
        if issubclass(type(part), dict):
            ahead += [*part, *part.values()]
        elif issubclass(type(part), HOLDING) and not ATOMS.issuperset(map(type, part)):
            ahead += part


def refusal(path: Path, described: dict) -> CandidateOdd:
    """The refusal of an object, by its description, where the solution's value was plain."""
    name = described["type"][:60] if described["type"].isidentifier() else "without a proper name"
    noun = "a function" if name in ("function", "builtin_function_or_method") else f"an object of class {name}"
    return CandidateOdd(path.readable, noun)
