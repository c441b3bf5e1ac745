"""What lives in one process has one name in both, and a name of nothing is refused."""

from __future__ import annotations

import gc
import math
import types

import numpy as np
import pytest

from tests.oral import Exam, lost
from viva.engine.dialogue.asker import Asker
from viva.engine.dialogue.expected import OWN, PLAIN, path_of
from viva.engine.dialogue.proxies import CallableProxy, IteratorProxy, Proxy, number_of
from viva.engine.dialogue.references import TYPES, References
from viva.engine.wire import Reference
from viva.verdict import CandidateLied, WireError

OBJECT = {
    "of": "candidate",
    "type": "Model",
    "mro": [("__main__", "Model"), ("builtins", "object")],
    "class": False,
    "callable": False,
    "iterator": False,
    "name": "",
    "origin": "",
}
"""What the candidate says about an object of a student's class."""


@pytest.fixture
def references() -> References:
    return Asker(-1, -1).references


def resolved(references: References, number: int = 3, path: str = "x", **about: object) -> tuple[object, list]:
    """What an object is here that the candidate says this about, and what it was noted as."""
    found: list[Reference] = []
    return references.resolve(Reference(number, OBJECT | about), path_of(path), found), found


def test_a_function_of_a_test_is_named_by_a_number_and_comes_back_as_itself(references):
    functions = [lambda: 1, lambda: 2]
    named = [references.refer(function) for function in functions]
    assert [one.about for one in named] == [{"of": "examiner", "name": "<lambda>", "parameters": []}] * 2
    assert [references.resolve(one, path_of("f()"), []) for one in named] == functions


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (len, ("builtins", "len")),
        (math.sqrt, ("math", "sqrt")),
        (np.linalg.norm, ("numpy.linalg", "norm")),
        (np.ndarray, ("numpy", "ndarray")),
        (types.MappingProxyType, ("types", "MappingProxyType")),
        (zip, ("builtins", "zip")),
    ],
)
def test_what_a_library_holds_is_named_by_its_place(references, value, place):
    about = references.refer(value).about
    assert (about["of"], about["module"], about["qualname"]) == ("library", *place)
    assert references.functions == []


def test_what_is_the_graders_own_has_no_place(references):
    assert references.refer(Asker).about == {"of": "examiner", "name": "Asker", "parameters": None}
    assert references.refer(object()) is None


@pytest.mark.parametrize(
    ("about", "cls"),
    [({}, Proxy), ({"callable": True}, CallableProxy), ({"iterator": True}, IteratorProxy)],
)
def test_an_object_has_one_proxy_for_each_path_as_long_as_the_test_holds_it(references, about, cls):
    one, found = resolved(references, **about)
    assert type(one) is cls and number_of(one) == 3 and [each.id for each in found] == [3]
    assert references.refer(one) == Reference(3, {"of": "candidate"})
    assert resolved(references, **about)[0] is one
    assert resolved(references, path="y", **about)[0] is not one
    assert resolved(references, 4, **about)[0] is not one
    del one, found
    gc.collect()
    assert list(references.proxies) == []


@pytest.mark.parametrize("name", sorted(TYPES))
def test_pythons_own_types_are_the_same_on_both_sides(references, name):
    cls, found = resolved(references, **{"class": True, "origin": f"builtins:{name}"})
    assert cls.__name__ == name and len(found) == 1
    assert type(resolved(references, origin=f"builtins:{name}")[0]) is Proxy, "it says that it is no class"


def test_only_what_the_solution_imports_is_the_examiners_own(references):
    references.expected.learn({"norm": "numpy.linalg:norm", "np": f"{OWN}numpy:", "dtype": "numpy:float32"})
    assert type(resolved(references, path="norm", origin="numpy.linalg:norm")[0]) is Proxy, "whoever says so"
    assert type(resolved(references, path="norm", origin="numpy:sum")[0]) is Proxy
    assert resolved(references, path="np") == (np, []), "whatever the student's name means"
    assert resolved(references, path="dtype", origin="numpy:float32") == (np.float32, []), "it has no code"
    assert type(resolved(references, path="dtype", origin="numpy:float64")[0]) is Proxy


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("dict_items", [1]),
        ("ndarray", 5),
        ("ndarray", ((1, 1), [2, 4, 6])),
    ],
)
def test_contents_that_are_none_are_a_lie(references, name, contents):
    with pytest.raises(CandidateLied, match="invalid contents"):
        resolved(references, type=name, contents=contents)


@pytest.mark.parametrize(
    ("number", "about"),
    [
        (0, {}),
        (0, {"of": "examiner"}),
        (1, {"of": "examiner"}),
        (-1, {"of": "examiner"}),
        (0, {"of": "library", "module": "os", "qualname": "system"}),
        (0, {"of": "candidate"}),
        (0, OBJECT | {"of": "nobody"}),
        *((0, OBJECT | {"mro": mro}) for mro in ([], [("a",)], [("a", 1)], ["ab"], (("a", "b"),))),
        *((0, OBJECT | {name: 5}) for name in OBJECT),
    ],
)
def test_a_reference_to_nothing_is_refused(references, number, about):
    if about.get("of") == "examiner" and number:
        references.refer(lambda: 1)
    with pytest.raises(WireError, match="an invalid reference"):
        references.resolve(Reference(number, about), "x", [])


SUBCLASSES = """
--- answer
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop()
    def peek(self): return self.items[-1]
    def __len__(self): return len(self.items)
class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def norm(self): return (self.x**2 + self.y**2) ** 0.5
    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
class Bag:
    def __init__(self): self.counts = {}
    def put(self, key): self.counts[key] = self.counts.get(key, 0) + 1
    def count(self, key): return self.counts.get(key, 0)
class Celsius:
    def __init__(self, degrees): self.degrees = degrees
    def fahrenheit(self): return self.degrees * 9 / 5 + 32
def stacks(n): return [Stack() for _ in range(n)]
def vectors(): return [Vector(1, 2), Vector(3, 4)]
top = Stack()
top.push(7)
--- right
from collections import namedtuple
class Stack(list):
    def push(self, x): self.append(x)
    def peek(self): return self[-1]
class Vector(namedtuple("Vector", "x y")):
    def norm(self): return (self.x**2 + self.y**2) ** 0.5
    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
class Bag(dict):
    def put(self, key): self[key] = self.get(key, 0) + 1
    def count(self, key): return self.get(key, 0)
class Celsius(float):
    def fahrenheit(self): return self * 9 / 5 + 32
def stacks(n): return [Stack() for _ in range(n)]
def vectors(): return [Vector(1, 2), Vector(3, 4)]
top = Stack()
top.push(7)
--- wrong
from collections import namedtuple
class Stack(list):
    def push(self, x): self.append(x)
    def peek(self): return self[0]
class Vector(namedtuple("Vector", "x y")):
    def norm(self): return self.x + self.y
class Bag(dict):
    def put(self, key): self[key] = 1
    def count(self, key): return self.get(key, 0)
class Celsius(float):
    def fahrenheit(self): return self
def stacks(n): return [Stack()]
def vectors(): return [Vector(1, 2), Vector(3, 4)]
top = Stack()
--- test
### CHECK 1: it is what it is called
stack = Stack()
stack.push(1)
stack.push(2)
assert stack.peek() == 2 and stack.pop() == 2 and len(stack) == 1
### CHECK 1: its operators give such things
assert Vector(3, 4).norm() == 5
total = Vector(3, 4) + Vector(1, 1)
assert total.x == 4 and total.norm() > 6
### CHECK 1: a dict with methods
bag = Bag()
bag.put("a")
bag.put("a")
assert bag.count("a") == 2
### CHECK 1: several in a list
several = stacks(3)
several[0].push(5)
assert several[0].peek() == 5 and len(several) == 3
for stack in several:
    stack.push(1)
assert [stack.pop() for stack in several] == [1, 1, 1] and several[1:][0].peek
### CHECK 1: unpacked, and in a loop
assert [vector.norm() for vector in vectors()] == [5**0.5, 5]
one, two = vectors()
assert (one + two).x == 4
### CHECK 1: a name means one
assert top.peek() == 7
top.push(8)
assert top.peek() == 8
### CHECK 1: a number with a method
assert Celsius(100).fahrenheit() == 212 and isinstance(Celsius(100), Celsius)
"""


def test_a_class_may_derive_from_a_plain_type_where_the_solutions_does_not(grader, tmp_path):
    exam = Exam(SUBCLASSES, grader, tmp_path)
    exam.prove()
    assert len(lost(exam.grade(exam.variants[1].answers))) == 7


PLAIN_THERE = """
--- answer
def scores(): return [1, 2, 3]
def place(): return (3, 4)
def name(): return "ada"
def table(): return {"a": 1}
def colour(): return 2
def half(): return 0.5
--- right
import enum
from typing import NamedTuple
class Scores(list):
    def best(self): return max(self)
class Place(NamedTuple):
    x: int
    y: int
    def norm(self): return self.x + self.y
class Name(str):
    def __str__(self): return "somebody"
    def initial(self): return self[0]
class Table(dict):
    def __missing__(self, key): return 0
class Half(float):
    def __eq__(self, other): return False
    __hash__ = float.__hash__
def scores(): return Scores([1, 2, 3])
def place(): return Place(3, 4)
def name(): return Name("ada")
def table(): return Table(a=1)
def colour(): return 2
def half(): return Half(0.5)
--- wrong
class Scores(list):
    def __eq__(self, other): return True
class Place(tuple):
    def __eq__(self, other): return True
class Name(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
class Table(dict):
    def __eq__(self, other): return True
class Half(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
class Two(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def scores(): return Scores([1])
def place(): return Place((1, 1))
def name(): return Name("eve")
def table(): return Table()
def colour(): return Two(3)
def half(): return Half(1.5)
--- test
### CHECK 1: a list
assert scores() == [1, 2, 3]
### CHECK 1: a tuple
assert place() == (3, 4)
### CHECK 1: a text
assert name() == "ada" and f"{name()}" == "ada"
### CHECK 1: a dict
assert table() == {"a": 1} and "b" not in table()
### CHECK 1: an int
assert colour() == 2
### CHECK 1: a float
assert half() == 0.5
"""


def test_where_the_solution_gives_plain_values_a_subclass_is_its_base_value_whatever_its_methods_say(grader, tmp_path):
    exam = Exam(PLAIN_THERE, grader, tmp_path)
    right, wrong = exam.variants
    assert not exam.examination.inside and lost(exam.grade(right.answers)) == {}
    assert len(lost(exam.grade(wrong.answers))) == 6


def test_what_is_said_of_a_base_value_counts_only_where_the_solution_was_plain(references):
    references.expected.learn({"x": PLAIN, "y": ""})
    assert resolved(references, base=[1, 2]) == ([1, 2], [])
    value, found = resolved(references, path="y", base=[1, 2])
    assert type(value) is Proxy and len(found) == 1


IN_PLACE = {
    "a class that derives from a plain type, as the solution's does": """
--- answer
class Stack(list):
    def push(self, x): self.append(x)
    def peek(self): return self[-1]
def filled(n):
    stack = Stack()
    for i in range(n): stack.push(i)
    return stack
--- right
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def peek(self): return self.items[-1]
    def __len__(self): return len(self.items)
def filled(n):
    stack = Stack()
    for i in range(n): stack.push(i)
    return stack
--- wrong
def filled(n): return list(range(n))
--- wrong
class Stack(list):
    def push(self, x): self.append(x)
    def peek(self): return self[0]
def filled(n):
    stack = Stack()
    for i in range(n): stack.push(i)
    return stack
--- test
stack = filled(3)
stack.push(9)
assert stack.peek() == 9 and len(stack) == 4
""",
    "a class that derives from an array of objects": """
--- given
import numpy as np
from fractions import Fraction
--- answer
class Matrix:
    def __init__(self, rows): self.rows = rows
    def at(self, row, column): return self.rows[row][column]
--- test
matrix = Matrix([[Fraction(1, 2), 1]])
assert matrix.at(0, 0) == Fraction(1, 2)
--- right
class Matrix(np.ndarray):
    def __new__(cls, rows): return np.array(rows, dtype=object).view(cls)
    def at(self, row, column): return self[row, column]
--- wrong
class Matrix(np.ndarray):
    def __new__(cls, rows): return np.array(rows, dtype=object).view(cls)
    def at(self, row, column): return self[row, -1]
""",
    "a path in the place of a text": """
--- given
import os
from pathlib import Path
--- answer
def renamed(name): return os.path.splitext(name)[0] + ".txt"
folders = [os.path.join("a", "b"), "c"]
--- test
assert Path(renamed("a/b.csv")) == Path("a/b.txt") and str(renamed("q.c")) == "q.txt"
assert [os.path.basename(folder) for folder in folders] == ["b", "c"]
--- right
def renamed(name): return Path(name).with_suffix(".txt")
folders = [Path("a") / "b", Path("c")]
--- wrong
def renamed(name): return Path(name + ".txt")
folders = [Path("b") / "a", Path("c")]
""",
    "a compiled pattern in the place of a text": """
--- given
import re
--- answer
number = r"\\d+"
def word(least): return r"\\b\\w{%d,}\\b" % least
vowels = ["a", "e+"]
--- test
### CHECK 1: number
assert re.findall(number, "1 and 22") == ["1", "22"]
### CHECK 1: word
assert re.search(word(4), "some words")[0] == "some" and not re.search(word(6), "some words")
### CHECK 1: vowels
assert [re.sub(one, "_", "beer") for one in vowels] == ["beer", "b_r"]
--- right
number = re.compile("[0-9]+")
def word(least): return re.compile(r"\\b[a-z]{%d,}\\b" % least, re.IGNORECASE)
vowels = [re.compile(one) for one in ("a", "ee*")]
--- wrong
number = re.compile("[0-9]")
def word(least): return re.compile(b"some")
vowels = [re.compile(one) for one in ("a", "e")]
""",
    "sparse columns in the place of dense ones": """
--- given
import pandas as pd
--- answer
def one_hot(series): return pd.get_dummies(series, dtype=float)
--- test
table = one_hot(pd.Series(list("aba")))
assert list(table.columns) == ["a", "b"] and table["a"].tolist() == [1, 0, 1] and table.sum().sum() == 3
--- right
def one_hot(series): return pd.get_dummies(series, dtype=float, sparse=True)
--- wrong
def one_hot(series): return pd.get_dummies(series, dtype=float, sparse=True, drop_first=True)
""",
}


@pytest.mark.parametrize("text", IN_PLACE.values(), ids=IN_PLACE)
def test_what_a_student_may_give_in_the_place_of_what_the_solution_gives(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove()
