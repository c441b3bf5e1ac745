"""Odd replies: everything that a process which was taken over can say, drawn from a seeded generator."""

from __future__ import annotations

import builtins
import datetime as dt
import random
import zoneinfo
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

from viva.engine import wire
from viva.engine.values.randomness import get_state

Point = namedtuple("Point", "x y")
ERRORS = [name for name, cls in vars(builtins).items() if isinstance(cls, type) and issubclass(cls, BaseException)]
PLACES = [
    *(("builtins", name) for name in ERRORS),
    *(("builtins", name) for name in ("object", "type", "int", "list", "print", "nothing", "")),
    *(("json.decoder", "JSONDecodeError"), ("re", "error"), ("zlib", "error"), ("numpy.linalg", "LinAlgError")),
    *(("numpy.exceptions", "AxisError"), ("numpy._core._exceptions", "_ArrayMemoryError"), ("numpy", "nothing.at.all")),
    *(("pandas.errors", "ParserError"), ("pandas", "DataFrame"), ("decimal", "InvalidOperation"), ("ssl", "SSLError")),
    *(("unittest.case", "SkipTest"), ("subprocess", "CalledProcessError"), ("viva.verdict", "CandidateDied")),
    *(("__main__", "Mine"), ("__main__", "a\0b"), ("__main__", "\ud800"), ("", "x" * 70_000), ("sys", "modules")),
]
ATOMS: list[object] = [
    *(None, True, False, 0, 1, -1, 7, 2**31, -(2**63), 2**64, 10**5000, 0.5, float("nan"), float("inf"), -0.0, 1j),
    *("", "a", "\0" * 30_000, "\ud800", "x" * 100_000, "{}%s\n", "builtins", "KeyboardInterrupt", "AssertionError"),
    *(b"", b"\0\xff" * 500, bytearray(b"x"), ..., slice(1, None, "a"), range(10**18), range(0, -(10**9), -3)),
    *(Decimal("sNaN"), Decimal("1e999999"), Decimal("-0"), Fraction(10**400, 3), Point(1, "2"), deque([1], 3)),
    *(dt.datetime.min, dt.datetime.max.replace(tzinfo=zoneinfo.ZoneInfo("America/Adak")), dt.date.max),
    *(dt.timedelta.max, dt.time.max, dt.timezone(dt.timedelta(hours=-23, minutes=-59))),
    *(np.datetime64(10**18, "Y"), np.datetime64("NaT"), np.timedelta64(-(2**62), "W"), np.float32("nan"), np.str_("x")),
    *(np.int8(-128), np.longdouble(1), np.bool_(True), np.bytes_(b"x"), np.zeros((0, 10**6)), np.zeros((0, 3, 0))),
    *(np.full(3, np.nan), np.arange(6).reshape(2, 3), np.array(["a", "\U0010ffff"]), np.array(5), np.ones(300_000)),
    *(np.ones((10_000, 1)), np.ones((1, 10_000)), np.zeros((1,) * 32), np.array(["NaT"], "M8[ns]")),
    *(pd.Timestamp.max, pd.Timestamp.min.tz_localize("UTC"), pd.NaT, pd.NA, pd.Timedelta.max, pd.Series([1, None])),
    *(
        pd.DataFrame({"a": [1], "b": ["x"]}),
        pd.DataFrame(index=range(10**6)),
        pd.RangeIndex(10**6),
        pd.array([1, None]),
    ),
    *(pd.Categorical(["a"]), pd.MultiIndex.from_tuples([(1, "a")]), pd.Series([pd.Timestamp.max, 1], dtype=object)),
    *(pd.Series(pd.period_range("2020", periods=2, freq="M")), pd.cut(pd.Series([1, 9]), 2), pd.Interval(0, 1)),
    *(pd.Series([[1], {"a": (2,)}, np.zeros(2)]), pd.period_range("1600", periods=2, freq="Y"), pd.Period("NaT", "D")),
    *(pd.arrays.SparseArray([0, 1]), pd.Series(pd.arrays.SparseArray([None, 0.5]))),
    *(OrderedDict(a=1), Counter("aab"), frozenset({1, (2,)}), {1, "a"}, {}, [], ()),
]


class Named:
    """Something that crosses as a reference."""

    def __init__(self, number: int, about: dict) -> None:
        self.reference = wire.Reference(number, about)


def refer(value: object) -> wire.Reference | None:
    return value.reference if type(value) is Named else None


FUNCTION = {
    **{"of": "candidate", "type": "function", "mro": [("builtins", "function"), ("builtins", "object")]},
    **{"class": False, "callable": True, "iterator": False, "name": "f", "origin": ""},
}


class Odd:
    """Draws replies."""

    def __init__(self, seed: int | str) -> None:
        self.random = random.Random(seed)

    def one(self, *ways: Callable) -> object:
        return self.random.choice(ways)()

    def some(self, make: Callable, most: int = 4) -> list:
        return [make() for _ in range(self.random.randrange(most))]

    def value(self, depth: int = 0) -> object:
        """A plain value, or one with a reference in it."""
        if depth > 3 or self.random.random() < 0.5:
            return self.random.choice(ATOMS)
        return self.one(
            lambda: self.some(lambda: self.value(depth + 1)),
            lambda: tuple(self.some(lambda: self.value(depth + 1))),
            lambda: {self.key(): self.value(depth + 1) for _ in range(self.random.randrange(4))},
            lambda: self.deep(self.random.randrange(60)),
            self.named,
        )

    def key(self) -> object:
        return self.random.choice([None, 0, 1, 2**70, "a", "x", "\ud800", b"k", 1.5, float("nan"), (1, "a"), ()])

    def deep(self, levels: int) -> object:
        value: object = 1
        for _ in range(levels):
            value = self.random.choice([[value], (value,), {"a": value}])
        return value

    def place(self) -> tuple[str, str]:
        return self.random.choice(PLACES)

    def named(self) -> Named:
        """A reference, well described or not."""
        about: dict[str, object] = dict(FUNCTION)
        about["callable"], about["iterator"], about["class"] = (self.random.random() < 0.5 for _ in range(3))
        about["mro"] = [*self.some(self.place), self.place()]
        about["origin"] = self.random.choice(["", *map(":".join, PLACES)])
        about["type"] = self.random.choice(["function", "Mine", "dict_keys", "dict_items", "ndarray", "x" * 10**5])
        extra = {"lineage": self.lineage, "exception": self.raised, "contents": self.value, "base": self.value}
        extra["missing"] = lambda: True
        for name, make in extra.items():
            if self.random.random() < 0.2:
                about[name] = make()
        if self.random.random() < 0.2:
            about[self.random.choice([*about, "of"])] = self.plain()
        return Named(self.random.choice([0, 1, 2, -1, 2**70]), about)

    def plain(self) -> object:
        return self.random.choice(ATOMS)

    def lineage(self) -> object:
        if self.random.random() < 0.1:
            return self.plain()
        numbers = [self.random.randrange(10**6) for _ in range(self.random.choice([1, 2, 3, 3, 4, 4, 5, 40]))]
        rows = [(number, *self.place(), numbers[place + 1 :]) for place, number in enumerate(numbers)]
        if self.random.random() < 0.2:
            row = list(self.random.choice(rows))
            row[self.random.randrange(4)] = self.plain()
            rows[self.random.randrange(len(rows))] = tuple(row)
        return rows

    def raised(self) -> object:
        """What is told of an exception."""
        names = "start end object reason encoding errno strerror filename value code obj name lineno offset text args"
        attributes = {name: self.plain() for name in self.random.sample(names.split(), 6)}
        known = {
            **{"number": self.random.randrange(5), "lineage": self.lineage(), "name": "E", "message": "told"},
            **{"args": tuple(self.some(self.plain)), "attributes": attributes, "traceback": "f", "cause": None},
            "kept": None,
        }
        if self.random.random() < 0.5:
            known[self.random.choice([*known])] = self.plain()
        return known

    def window(self) -> object:
        """What is told of an array that looks into another."""
        numbers = [self.random.choice([0, 1, 2, -1, 2**70]) for _ in range(3)]
        row = [*numbers, self.random.choice([0, 8, -8]), self.random.choice([(8,), (16,), (0,), (2**60,), ()])]
        if self.random.random() < 0.3:
            row[self.random.randrange(5)] = self.plain()
        return tuple(row)

    def random_state(self) -> object:
        state = list(get_state())
        if self.random.random() < 0.7:
            state[self.random.randrange(6)] = self.plain()
        return tuple(state)

    def reply(self) -> dict:
        """An answer to any question."""
        fields: dict[str, Callable] = {
            "value": self.value,
            "raised": self.raised,
            "printed": lambda: self.some(lambda: (self.one(self.plain, lambda: "stderr"), self.plain())),
            "warned": lambda: self.some(lambda: (self.lineage(), "text", "file", self.random.choice([1, 2**40, -1]))),
            "changed": lambda: {self.random.randrange(5): wire.encode(self.plain()), 7: self.plain()},
            "kept": lambda: {self.random.choice([None, 0, 1, "a"]): self.random.choice([1, 2, 2**70])},
            "windows": lambda: self.some(self.window),
            "random_state": self.random_state,
            "rebound": lambda: ["f", self.plain()],
            "refused": self.plain,
            "callback": lambda: 0,
        }
        wanted = ["value", *self.random.sample([*fields], self.random.choice([0, 0, 1, 1, 2, 5]))]
        if "refused" in wanted and self.random.random() < 0.8:
            wanted.remove("refused")
        reply = {name: fields[name]() for name in wanted}
        if "callback" in reply:
            reply |= {"args": tuple(self.some(self.value)), "kwargs": {"a": self.value()}}
        if self.random.random() < 0.15:
            reply[self.random.choice([*reply])] = self.value()
        return reply

    def message(self) -> bytes:
        """A reply as bytes, now and then with some of them changed."""
        try:
            data = wire.encode(self.reply() if self.random.random() < 0.97 else self.value(), refer)
        except wire.WireError:
            return self.message()
        if self.random.random() < 0.05:
            spoilt = bytearray(data)
            for _ in range(self.random.choice([1, 5])):
                spoilt[self.random.randrange(len(spoilt))] = self.random.randrange(256)
            data = bytes(spoilt[: self.random.choice([len(spoilt), 1 + self.random.randrange(len(spoilt))])])
        return data
