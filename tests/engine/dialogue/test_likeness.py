"""Exceptions that came over the wire show what was told, and nothing that C code computes from it."""

from __future__ import annotations

import builtins
import copy
import json
import re
import sqlite3
import ssl
import subprocess
import zipfile
import zlib

import numpy as np
import pandas as pd
import pytest

from viva.engine import wire
from viva.engine.dialogue.exceptions import MESSAGE, Raised, StudentClass, can_be_told, like, make, seen, told
from viva.engine.dialogue.proxies import Type
from viva.verdict import CandidateLied

BUILT_IN = [cls for cls in vars(builtins).values() if isinstance(cls, type) and can_be_told(cls)]
ODD = [None, -5, 10**9, -(2**63), 10**5000, "x", b"x", 0.5, [], {}, ("a", 1), np.ones(3)]


def raising(code: str) -> Exception:
    try:
        exec(code, {"np": np, "pd": pd, "json": json, "re": re, "zlib": zlib, "sqlite3": sqlite3, "zipfile": zipfile})
    except Exception as error:
        return error
    raise AssertionError(code)


def crossed(error: BaseException, raised: Raised | None = None) -> BaseException:
    """The exception as the examiner makes it of what the candidate tells."""
    numbers: dict[int, int] = {}
    known = told(error, lambda value: numbers.setdefault(id(value), len(numbers)))
    return (raised or Raised()).exception(known)


HONEST = {
    "open('/nowhere/at/all')": ("errno", "strerror", "filename"),
    "import os; os.rename('/nowhere', '/at/all')": ("errno", "filename", "filename2"),
    "b'\\xff\\xfe'.decode('utf-8')": ("encoding", "object", "start", "end", "reason"),
    "'\\ud800'.encode('ascii')": ("encoding", "object", "start", "end", "reason"),
    "compile('x = (', 'file', 'exec')": ("msg", "filename", "lineno", "offset", "text", "end_lineno"),
    "import nothing_of_this_name": ("msg", "name", "path"),
    "undefined_name": ("name",),
    "'x'.nothing": ("name", "obj"),
    "next(iter(()))": ("value",),
    "{}['key']": ("args",),
    "1 / 0": (),
    "int('x')": (),
    "json.loads('[1,')": ("msg", "doc", "pos", "lineno", "colno"),
    "re.compile('(')": ("msg", "pattern", "pos", "lineno", "colno"),
    "zlib.decompress(b'x')": (),
    "sqlite3.connect(':memory:').execute('nonsense')": ("sqlite_errorcode",),
    "zipfile.ZipFile(__import__('io').BytesIO(b'x'))": (),
    "np.linalg.inv(np.zeros((2, 2)))": (),
    "np.ones(3).sum(axis=5)": ("axis", "ndim"),
    "np.ones(3) + np.array(['a'])": (),
    "np.ones(3) @ np.ones(4)": (),
    "pd.DataFrame({'a': [1]})['b']": ("args",),
    "pd.Timestamp('nonsense')": (),
    "raise ValueError('zero', 0)": ("args",),
    "raise OSError('one text')": ("errno", "args"),
    "raise StopIteration(7)": ("value", "args"),
    "raise MemoryError": (),
}


@pytest.mark.parametrize("code", HONEST)
def test_an_honest_exception_looks_as_it_did(code):
    error = raising(code)
    mine = crossed(error)
    assert isinstance(mine, type(error)) and Type(mine) is type(error) and mine.__class__ is type(error)
    assert str(mine) == str(error)
    if wire.is_plain(error.args):
        assert repr(mine) == repr(error) and mine.args == error.args
    assert {name: getattr(mine, name) for name in HONEST[code]} == {name: getattr(error, name) for name in HONEST[code]}
    with pytest.raises(type(error)):
        raise mine


@pytest.mark.parametrize(
    "code", ["{}['key']", "1 / 0", "int('x')", "np.linalg.inv(np.zeros((2, 2)))", "raise MemoryError"]
)
def test_an_exception_without_fields_is_of_the_very_class(code):
    error = raising(code)
    assert type(crossed(error)) is type(error)


def test_a_group_arrives_as_an_exception():
    group = ExceptionGroup("many", [ValueError("one")])
    mine = crossed(group)
    assert type(mine).__name__ == "ExceptionGroup" and str(mine) == str(group)
    with pytest.raises(Exception, match="many"):
        raise mine


@pytest.mark.parametrize("cls", [*BUILT_IN, ssl.SSLError, subprocess.CalledProcessError, np.exceptions.AxisError])
def test_no_lie_about_a_field_is_believed_by_c_code(cls):
    names = "start end object encoding reason errno strerror filename filename2 lineno offset text value name obj msg"
    for one in ODD:
        error = like(cls, (one, one), dict.fromkeys(names.split(), one), "told")
        assert isinstance(error, cls) and str(error)
        for again in (error, copy.copy(error)):
            shown = [str(again), *(getattr(again, name, None) for name in names.split())]
            assert isinstance(again, cls) and shown


def test_foreign_memory_is_never_shown():
    lie = {"encoding": "utf-8", "object": b"abc", "reason": "told"}
    for start in (-10_000, 4, 2**40, -(2**62)):
        for cls in (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError):
            error = like(cls, (), lie | {"start": start, "end": start + 1}, "told")
            assert str(error) == "told" and (error.start, error.end) == (start, start + 1)
            assert str(make(seen(type(error)), (), lie | {"start": start})) == ""  # the field itself is empty


def test_the_end_of_an_iteration_has_a_value_for_python():
    class Ended:
        def __init__(self, *args: object) -> None:
            self.args = args

        def __iter__(self):
            return self

        def __next__(self):
            raise like(StopIteration, self.args, {}, "")

    def ask(*args: object):
        return (yield from Ended(*args))

    for args in ((), (3,), (3, 4)):
        try:
            next(ask(*args))
        except StopIteration as stop:
            assert stop.value == (args[0] if args else None)


def test_a_students_class_hides_the_fields_of_its_bases():
    class MineError(UnicodeDecodeError):
        pass

    error = MineError("utf-8", b"abc", 1, 2, "odd")
    error.start = 10**6
    mine = crossed(error)
    assert type(type(mine)) is StudentClass and isinstance(mine, UnicodeDecodeError)
    assert (mine.start, str(mine)) == (10**6, str(error))
    assert UnicodeDecodeError.__str__(mine) == ""


@pytest.mark.parametrize("text", ["\0" * 10**6, "\ud800" * 10**6])
def test_what_is_said_of_an_exception_is_cut(text):
    known = told(KeyError("x"), lambda value: 1) | {"message": text, "name": text, "traceback": text}
    known["lineage"] = [(5, "__main__", "a." + "x" * 10**6, [])]
    error = Raised().exception(known)
    texts = [str(error), error.viva_name, error.viva_traceback, type(error).__name__]
    assert all(0 < len(one) <= 4 * MESSAGE for one in texts)


def test_more_classes_than_any_notebook_has_are_a_lie():
    raised = Raised()
    with pytest.raises(CandidateLied):
        for number in range(10_000):
            raised.class_of([(number, "__main__", "Mine", [])])
