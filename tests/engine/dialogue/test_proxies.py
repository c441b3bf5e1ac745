"""What lives in the candidate behaves in a test as it would in one process."""

from __future__ import annotations

import pytest

from tests.oral import Exam, one_in_three
from viva.verdict import Verdict

WAYS = {
    "a call with positional and keyword arguments": """
--- answer
def f(a, b=2, *rest, c, **more):
    return a - b + sum(rest) * c + len(more)
--- wrong
def f(a, b=3, *rest, c, **more):
    return a - b + sum(rest) * c
--- test
assert f(5, c=1) == 3
assert f(5, 1, 1, 1, c=10, x=1, y=2) == 26
assert f(*[5, 2], **{"c": 0}) == 3
""",
    "a callback that student code calls": """
--- answer
def apply(g, n):
    return [g(i) for i in range(n)]
--- wrong
def apply(g, n):
    return [g(i) for i in range(n + 1)]
--- test
seen = []
def square(x):
    seen.append(x)
    return x * x
assert apply(square, 3) == [0, 1, 4]
assert seen == [0, 1, 2]
assert apply(lambda x: -x, 2) == [0, -1]
assert apply(str, 2) == ["0", "1"]
""",
    "a callback that raises": """
--- answer
def careful(g):
    try:
        return g(1)
    except ValueError as error:
        return f"no: {error}"
--- wrong
def careful(g):
    return g(1)
--- test
def bad(x):
    raise ValueError("bad value")
def worse(x):
    raise KeyError("k")
assert careful(bad) == "no: bad value"
try:
    careful(worse)
except KeyError as error:
    assert error.args == ("k",)
else:
    raise AssertionError("KeyError expected")
""",
    "a callback's own exception class comes back": """
--- answer
def call(g):
    return g()
--- wrong
def call(g):
    try:
        return g()
    except Exception:
        return None
--- test
class Special(Exception):
    pass
def bad():
    raise Special("mine")
try:
    call(bad)
except Special as error:
    assert str(error) == "mine"
else:
    raise AssertionError("Special expected")
""",
    "attributes and methods of a student's object": """
--- answer
class Account:
    kind = "saving"
    def __init__(self, balance=0):
        self.balance = balance
        self.history = []
    def deposit(self, amount):
        self.balance += amount
        self.history.append(amount)
        return self
--- wrong
class Account:
    kind = "giro"
    def __init__(self, balance=0):
        self.balance = balance
        self.history = []
    def deposit(self, amount):
        self.balance += amount
        return self
--- test
### CHECK 1: deposits
a = Account(5)
assert a.deposit(3).balance == 8
assert a.balance == 8
assert a.history == [3]
assert a.deposit(1).deposit(2).history == [3, 1, 2]
### CHECK 1: attributes
assert Account.kind == a.kind == "saving"
a.balance = 100
assert a.balance == 100
a.extra = [1]
assert a.extra == [1] and hasattr(a, "extra") and not hasattr(a, "nothing")
del a.extra
assert not hasattr(a, "extra")
assert getattr(a, "nothing", 7) == 7
assert vars(a)["balance"] == 100
assert "balance" in a.__dict__
""",
    "properties, static methods and class methods": """
--- answer
class Circle:
    made = 0
    def __init__(self, r):
        self._r = r
        Circle.made += 1
    @property
    def area(self):
        return 3 * self._r ** 2
    @area.setter
    def area(self, value):
        if value < 0:
            raise ValueError("negative")
        self._r = (value / 3) ** 0.5
    @staticmethod
    def unit():
        return "cm"
    @classmethod
    def of(cls, d):
        return cls(d / 2)
--- wrong
class Circle:
    made = 0
    def __init__(self, r):
        self._r = r
        self.area = 3 * r ** 2
    @staticmethod
    def unit():
        return "cm"
    @classmethod
    def of(cls, d):
        return cls(d)
--- test
c = Circle(2)
assert c.area == 12
c.area = 27
assert abs(c._r - 3) < 1e-9
try:
    c.area = -1
    assert False, "negative area"
except ValueError:
    pass
assert Circle.unit() == c.unit() == "cm"
assert Circle.of(4).area == 12
assert Circle.made == 2
assert isinstance(Circle.area, property)
""",
    "items, length, membership and iteration of a student's container": """
--- answer
class Bag:
    def __init__(self): self.d = {}
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __delitem__(self, k): del self.d[k]
    def __len__(self): return len(self.d)
    def __contains__(self, k): return k in self.d
    def __iter__(self): return iter(sorted(self.d))
    def __reversed__(self): return iter(sorted(self.d, reverse=True))
    def __bool__(self): return len(self.d) > 1
--- wrong
class Bag(dict):
    def __getitem__(self, k): return 1
--- test
b = Bag()
b["y"] = 2
assert not b
b["x"] = [1, 2]
assert b and len(b) == 2 and "x" in b and "z" not in b
assert b["x"] == [1, 2] and list(b) == ["x", "y"] and list(reversed(b)) == ["y", "x"]
assert [k for k in b] == ["x", "y"]
first, second = b
assert first == "x"
assert dict((k, b[k]) for k in b) == {"x": [1, 2], "y": 2}
del b["x"]
assert "x" not in b
try:
    b["x"]
    assert False
except KeyError as e:
    assert e.args == ("x",)
assert sorted(b) == ["y"] and sum(1 for _ in b) == 1 and max(b) == "y"
""",
    "slices of a student's container": """
--- answer
class Row:
    def __getitem__(self, k): return list(range(10))[k]
--- wrong
class Row:
    def __getitem__(self, k): return 3
--- test
r = Row()
assert r[3] == 3 and r[-1] == 9 and r[1:3] == [1, 2] and r[::5] == [0, 5]
assert list(r) == list(range(10))
""",
    "generators, infinite ones too": """
--- answer
def count(n=0):
    while True:
        yield n
        n += 1
def three():
    yield from "abc"
squares = (i * i for i in range(4))
--- wrong
def count(n=0):
    return iter(range(5))
def three():
    return "ab"
squares = [0, 1, 4]
--- test
import itertools, types
g = count(3)
assert next(g) == 3 and next(g) == 4
assert list(itertools.islice(g, 3)) == [5, 6, 7]
assert list(itertools.islice(count(), 10)) == list(range(10))
for i, v in zip(range(100), count(7)):
    assert v == i + 7
assert list(three()) == ["a", "b", "c"] and "".join(three()) == "abc"
assert sum(squares) == 14 and list(squares) == []
h = three()
next(h), next(h), next(h)
assert next(h, "end") == "end"
try:
    next(h)
    assert False
except StopIteration:
    pass
assert iter(g) is g
""",
    "a generator is one, and can be sent to and closed": """
--- answer
def echo():
    got = None
    while True:
        got = yield got
--- wrong
def echo():
    return iter([None] * 10)
--- test
import types, inspect
e = echo()
assert next(e) is None
assert e.send(5) == 5
e.close()
assert isinstance(e, types.GeneratorType)
assert inspect.isgeneratorfunction(echo)
""",
    "repr, str, format and hash": """
--- answer
class P:
    def __init__(self, x): self.x = x
    def __repr__(self): return f"P({self.x})"
    def __str__(self): return f"<{self.x}>"
    def __format__(self, spec): return f"{self.x:{spec}}"
    def __eq__(self, other): return isinstance(other, P) and self.x == other.x
    def __hash__(self): return hash(self.x)
--- wrong
class P:
    def __init__(self, x): self.x = x
--- test
p = P(3)
assert repr(p) == "P(3)" and str(p) == "<3>" and f"{p}" == "3" and f"{p:>4}" == "   3" and f"{p!r}" == "P(3)"
assert "%s" % p == "<3>"
assert P(3) == p and P(4) != p and hash(P(3)) == hash(p)
assert len({P(1), P(1), P(2)}) == 2
assert {p: 1}[P(3)] == 1
assert P(3) in [P(1), P(3)] and [P(1), P(3)].index(P(3)) == 1
assert p == p and p != 3 and not (p == "x")
""",
    "operators of a student's class": """
--- answer
class V:
    def __init__(self, x): self.x = x
    def __add__(self, o): return V(self.x + (o.x if isinstance(o, V) else o))
    __radd__ = __add__
    def __sub__(self, o): return V(self.x - (o.x if isinstance(o, V) else o))
    def __rsub__(self, o): return V(o - self.x)
    def __mul__(self, k): return V(self.x * k)
    __rmul__ = __mul__
    def __truediv__(self, k): return V(self.x / k)
    def __floordiv__(self, k): return V(self.x // k)
    def __mod__(self, k): return V(self.x % k)
    def __divmod__(self, k): return divmod(self.x, k)
    def __pow__(self, k): return V(self.x ** k)
    def __matmul__(self, o): return self.x * o.x
    def __neg__(self): return V(-self.x)
    def __pos__(self): return self
    def __abs__(self): return abs(self.x)
    def __invert__(self): return V(~self.x)
    def __and__(self, o): return V(self.x & o.x)
    def __or__(self, o): return V(self.x | o.x)
    def __xor__(self, o): return V(self.x ^ o.x)
    def __lshift__(self, k): return V(self.x << k)
    def __rshift__(self, k): return V(self.x >> k)
    def __iadd__(self, o): self.x += o; return self
    def __lt__(self, o): return self.x < o.x
    def __le__(self, o): return self.x <= o.x
    def __gt__(self, o): return self.x > o.x
    def __ge__(self, o): return self.x >= o.x
    def __eq__(self, o): return isinstance(o, V) and self.x == o.x
    def __int__(self): return self.x
    def __float__(self): return float(self.x)
    def __complex__(self): return complex(self.x)
    def __index__(self): return self.x
    def __round__(self, n=0): return round(self.x, n)
--- wrong
class V:
    def __init__(self, x): self.x = x
    def __add__(self, o): return V(self.x - (o.x if isinstance(o, V) else o))
    def __eq__(self, o): return isinstance(o, V) and self.x == o.x
--- test
### CHECK 1: arithmetic
a, b = V(7), V(2)
assert (a + b).x == 9 and (a + 1).x == 8 and (1 + a).x == 8 and (a - b).x == 5 and (10 - a).x == 3
assert (a * 2).x == (2 * a).x == 14 and (a / 2).x == 3.5 and (a // 2).x == 3 and (a % 2).x == 1 and (a ** 2).x == 49
assert divmod(a, 2) == (3, 1)
assert a @ b == 14 and (-a).x == -7 and +a == a and abs(V(-3)) == 3 and (~a).x == -8
assert (a & b).x == 2 and (a | b).x == 7 and (a ^ b).x == 5 and (a << 1).x == 14 and (a >> 1).x == 3
assert sum([a, b], V(0)).x == 9 and sum([a, b]).x == 9
### CHECK 1: comparisons
a, b = V(7), V(2)
assert b < a and b <= a and a > b and a >= b and a == V(7) and a != b
assert max(a, b) == a and sorted([a, b])[0].x == 2 and sorted([a, b], key=lambda v: v.x)[0] == b
### CHECK 1: conversions
a = V(7)
assert int(a) == 7 and float(a) == 7.0 and complex(a) == 7 and round(a, 1) == 7
assert hex(a) == "0x7"
### CHECK 1: in place
a = c = V(7)
a += 1
assert a.x == 8 and c is a and c.x == 8
""",
    "the type and the classes of objects": """
--- given
import numpy as np
import collections
--- answer
class Animal: pass
class Dog(Animal):
    def __init__(self): self.name = "rex"
class Shape:
    __slots__ = ("a",)
dog = Dog()
def f(): return 1
--- wrong
class Animal: pass
class Dog:
    def __init__(self): self.name = "rex"
dog = Animal()
f = 3
--- test
assert isinstance(dog, Dog) and isinstance(dog, Animal) and isinstance(dog, (int, Dog))
assert not isinstance(dog, (int, str))
assert type(dog) is Dog or type(dog) == Dog
assert type(dog) != Animal
assert issubclass(Dog, Animal) and not issubclass(Animal, Dog)
assert type(dog).__name__ == "Dog" and dog.__class__.__name__ == "Dog" and Dog.__name__ == "Dog"
assert Dog.__bases__[0] == Animal and Animal in Dog.__mro__ and Animal in Dog.mro()
assert isinstance(Dog, type) and callable(f) and callable(Dog) and not callable(dog)
assert not isinstance(f, type) and type(f).__name__ == "function"
import types
assert isinstance(f, types.FunctionType)
assert dog is dog
assert isinstance(dog, object)
""",
    "annotations": """
--- answer
def f(a: int, b: "str" = "x") -> float:
    return 1.0
--- wrong
def f(a, b="x"):
    return 1.0
--- test
assert f.__annotations__["a"] is int and f.__annotations__["return"] is float
import inspect
assert inspect.signature(f).return_annotation is float
assert inspect.signature(f).parameters["a"].annotation is int
""",
    "docstrings": """
--- answer
def f():
    "Says it."
class C:
    "Holds it."
    def m(self):
        "Does it."
--- wrong
def f(): pass
class C:
    def m(self): pass
--- test
assert f.__doc__ and "Says" in f.__doc__
assert C.__doc__ == "Holds it." and C.m.__doc__ == "Does it." and C().m.__doc__ == "Does it."
""",
    "exceptions of the student's own": """
--- answer
class BankError(Exception):
    pass
class Overdrawn(BankError, ValueError):
    def __init__(self, amount):
        super().__init__(f"{amount} too much")
        self.amount = amount
def pay(x):
    if x > 10:
        raise Overdrawn(x - 10)
    if x < 0:
        raise BankError
    return x
--- wrong
class BankError(Exception):
    pass
class Overdrawn(ValueError):
    pass
def pay(x):
    if x > 10:
        raise ValueError("too much")
    return x
--- test
### CHECK 1: by class
try:
    pay(15)
    raise AssertionError("not raised")
except Overdrawn as error:
    assert str(error) == "5 too much"
    assert isinstance(error, BankError) and isinstance(error, ValueError)
### CHECK 1: by base class
try:
    pay(12)
    assert False
except BankError as error:
    assert type(error).__name__ == "Overdrawn"
try:
    pay(12)
    assert False
except (KeyError, BankError):
    pass
### CHECK 1: its attributes
try:
    pay(15)
except Exception as error:
    assert error.amount == 5
### CHECK 1: by name
try:
    pay(-1)
    assert False
except Exception as e:
    assert type(e).__name__ == "BankError" and e.__class__ is BankError and type(e) == BankError
### CHECK 1: the class itself
assert issubclass(Overdrawn, BankError) and issubclass(BankError, Exception)
assert Overdrawn.__name__ == "Overdrawn"
""",
    "exceptions of Python's own": """
--- answer
def f(x):
    if x == 0:
        raise ValueError("zero", 0)
    if x == 1:
        return {}["key"]
    if x == 2:
        return [][3]
    if x == 3:
        return 1 / 0
    if x == 4:
        raise NotImplementedError
    if x == 5:
        return undefined_name
    if x == 6:
        return open("/nowhere/at/all")
    if x == 7:
        return "x".nothing
    assert x > 7, "x is small"
--- wrong
def f(x):
    raise RuntimeError("zero")
--- test
def raised(x):
    try:
        f(x)
    except Exception as error:
        return error
first = [ValueError, KeyError, IndexError, ZeroDivisionError, NotImplementedError, NameError]
assert [type(raised(x)) for x in range(6)] == first
assert raised(0).args == ("zero", 0) and str(raised(0)) == "('zero', 0)"
assert raised(1).args == ("key",)
assert isinstance(raised(2), LookupError)
assert isinstance(raised(6), FileNotFoundError) and raised(6).errno == 2
assert raised(6).filename == "/nowhere/at/all"
assert isinstance(raised(7), AttributeError)
assert isinstance(raised(-1), AssertionError) and str(raised(-1)) == "x is small"
""",
    "chained exceptions": """
--- answer
def f():
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError("not a number") from error
--- wrong
def f():
    raise ValueError("not a number")
--- test
try:
    f()
    assert False
except ValueError as error:
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert str(error.__cause__) == "division by zero"
""",
    "unittest and numpy.testing assertions about exceptions": """
--- answer
class MyError(ValueError): pass
def f(x):
    if x < 0: raise MyError("negative x")
    return x
--- wrong
def f(x):
    return x
class MyError(ValueError): pass
--- test
### CHECK 1: unittest
import unittest
case = unittest.TestCase()
with case.assertRaises(MyError):
    f(-1)
with case.assertRaisesRegex(ValueError, "negative"):
    f(-1)
case.assertRaises(MyError, f, -1)
### CHECK 1: numpy
import numpy as np
np.testing.assert_raises(ValueError, f, -1)
### CHECK 1: suppress
import contextlib
with contextlib.suppress(MyError):
    f(-1)
    raise AssertionError("not raised")
""",
    "a test class of unittest": """
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
import unittest
class TestF(unittest.TestCase):
    def test_one(self):
        self.assertEqual(f(1), 2)
suite = unittest.TestLoader().loadTestsFromTestCase(TestF)
result = unittest.TextTestRunner().run(suite)
assert result.wasSuccessful(), "see above"
""",
    "arrays inside lists, dicts and tuples": """
--- given
import numpy as np
--- answer
def f():
    return {"a": [np.arange(3), (np.ones((2, 2)), 1)], "b": {1: np.float32(2.5)}}, [np.bool_(True)]
--- wrong
def f():
    return {"a": [np.arange(3), (np.zeros((2, 2)), 1)], "b": {1: np.float32(2.5)}}, [np.bool_(True)]
--- test
d, flags = f()
assert (d["a"][0] == [0, 1, 2]).all() and d["a"][1][0].sum() == 4 and d["b"][1].dtype == np.float32
assert d["a"][1][0].shape == (2, 2) and flags[0]
""",
    "functions and objects inside containers": """
--- answer
class Layer:
    def __init__(self, n): self.n = n
    def run(self, x): return x * self.n
layers = [Layer(2), Layer(3)]
table = {"double": lambda x: 2 * x, "name": "t"}
def pair(): return (Layer(5), 1)
--- wrong
class Layer:
    def __init__(self, n): self.n = n
    def run(self, x): return x + self.n
layers = [Layer(2), Layer(3)]
table = {"double": lambda x: 2 * x, "name": "t"}
def pair(): return (Layer(5), 1)
--- test
assert len(layers) == 2 and layers[1].run(2) == 6 and [l.run(1) for l in layers] == [2, 3]
assert table["double"](4) == 8 and table["name"] == "t"
layer, one = pair()
assert layer.run(one) == 5 and isinstance(layer, Layer)
assert all(isinstance(l, Layer) for l in layers)
""",
    "pandas frames in and out": """
--- given
import pandas as pd
import numpy as np
df = pd.DataFrame({"a": [1, 2, 3], "g": ["x", "y", "x"]})
--- answer
def means(d):
    return d.groupby("g")["a"].mean()
def add(d):
    d = d.copy()
    d["b"] = d["a"] * 2
    return d
total = df["a"].sum()
frame = df[df.a > 1]
--- wrong
def means(d):
    return d.groupby("g")["a"].sum()
def add(d):
    d = d.copy()
    d["b"] = d["a"] * 3
    return d
total = 7
frame = df[df.a > 2]
--- test
### CHECK 1: means
m = means(df)
assert isinstance(m, pd.Series) and m["x"] == 2.0 and list(m.index) == ["x", "y"]
pd.testing.assert_series_equal(m, pd.Series([2.0, 2.0], index=pd.Index(["x", "y"], name="g"), name="a"))
### CHECK 1: add
out = add(df)
assert list(out.columns) == ["a", "g", "b"] and "b" not in df.columns and out["b"].tolist() == [2, 4, 6]
### CHECK 1: names
assert total == 6 and frame.shape == (2, 2) and isinstance(frame, pd.DataFrame)
pd.testing.assert_frame_equal(frame, df.iloc[1:])
""",
    "dates by value": """
--- answer
import datetime
from datetime import timedelta
def parse(s):
    return datetime.datetime.strptime(s, "%Y-%m-%d")
def days(a, b):
    return (b - a)
--- wrong
import datetime
def parse(s):
    return s
def days(a, b):
    return (a - b)
--- test
import datetime as dt
assert parse("2024-02-29") == dt.datetime(2024, 2, 29) and parse("2024-02-29").year == 2024
assert isinstance(parse("2024-02-29"), dt.datetime)
assert days(dt.date(2024, 1, 1), dt.date(2024, 1, 31)) == dt.timedelta(days=30)
""",
    "arguments that are changed in place": """
--- given
import numpy as np
import pandas as pd
--- answer
def scale(a): a *= 2
def push(l): l.append(9); l.sort()
def put(d): d["k"] = d.get("k", 0) + 1; d["deep"][0].append(1)
def mark(s): s.add(5)
def column(df): df["z"] = 1; df.drop(columns="y", inplace=True)
def series(s): s[0] = 10
def buffer(b): b.extend(b"x")
def clear(l): l.clear()
def fill(out=None): out[:, 0] = 7
--- wrong
def scale(a): return a * 2
def push(l): return sorted(l + [9])
def put(d): pass
def mark(s): pass
def column(df): pass
def series(s): pass
def buffer(b): pass
def clear(l): pass
def fill(out=None): pass
--- test
### CHECK 1: array
a = np.arange(3.0)
view = a[1:]
assert scale(a) is None
assert (a == [0, 2, 4]).all() and (view == [2, 4]).all()
scale(a[:1])
m = np.zeros((2, 2), order="F")
fill(out=m)
assert m[:, 0].tolist() == [7, 7]
t = np.zeros((3, 2))
fill(t[::2])
assert t[:, 0].tolist() == [7, 0, 7]
### CHECK 1: list
l = [10, 1]
push(l)
assert l == [1, 9, 10]
clear(l)
assert l == []
### CHECK 1: dict
inner = [0]
d = {"deep": [inner]}
put(d)
assert d["k"] == 1 and inner == [0, 1]
### CHECK 1: set
s = {1}
mark(s)
assert s == {1, 5}
b = bytearray(b"a")
buffer(b)
assert b == b"ax"
### CHECK 1: frame
df = pd.DataFrame({"y": [1, 2]})
column(df)
assert list(df.columns) == ["z"] and df.z.tolist() == [1, 1]
s = pd.Series([1, 2])
series(s)
assert s[0] == 10
""",
    "a list of arrays changed in place": """
--- given
import numpy as np
--- answer
def step(params, grads):
    for p, g in zip(params, grads):
        p -= 0.5 * g
--- wrong
def step(params, grads):
    params = [p - 0.5 * g for p, g in zip(params, grads)]
--- test
w = np.ones(2)
b = np.zeros(1)
step([w, b], [np.ones(2), np.ones(1)])
assert w.tolist() == [0.5, 0.5] and b.tolist() == [-0.5]
""",
    "an argument of an object, changed in place": """
--- answer
class Node:
    def __init__(self, v): self.v, self.next = v, None
def link(a, b): a.next = b
def collect(items, node):
    items.append(node)
--- wrong
class Node:
    def __init__(self, v): self.v, self.next = v, None
def link(a, b): pass
def collect(items, node): pass
--- test
a, b = Node(1), Node(2)
link(a, b)
assert a.next.v == 2 and a.next is b or a.next == b
items = []
collect(items, a)
assert len(items) == 1 and items[0].v == 1
""",
    "a fitted model": """
--- given
import numpy as np
X = np.arange(6.0).reshape(3, 2)
y = np.array([1.0, 2.0, 3.0])
--- answer
class Mean:
    def __init__(self, shift=0.0):
        self.shift = shift
    def fit(self, X, y):
        self.mean_ = y.mean() + self.shift
        return self
    def predict(self, X):
        return np.full(len(X), self.mean_)
    def get_params(self): return {"shift": self.shift}
model = Mean().fit(X, y)
--- wrong
class Mean:
    def __init__(self, shift=0.0):
        self.shift = shift
    def fit(self, X, y):
        self.mean_ = y.max() + self.shift
        return self
    def predict(self, X):
        return np.full(len(X), self.mean_)
    def get_params(self): return {"shift": self.shift}
model = Mean().fit(X, y)
--- test
assert model.mean_ == 2.0 and np.allclose(model.predict(X[:2]), [2, 2]) and model.get_params() == {"shift": 0.0}
m = Mean(shift=1).fit(X, y)
assert m.predict(X).shape == (3,) and m.fit(X, y + 1).mean_ == 4 and isinstance(m.fit(X, y), Mean)
""",
    "functions that return functions": """
--- answer
def adder(n):
    def add(x, scale=1):
        return (x + n) * scale
    return add
def compose(*fs):
    def run(x):
        for f in fs: x = f(x)
        return x
    return run
def counter():
    n = 0
    def tick():
        nonlocal n
        n += 1
        return n
    return tick
--- wrong
def adder(n):
    return lambda x, scale=1: n
def compose(*fs):
    return fs[0]
def counter():
    return lambda: 1
--- test
### CHECK 1: adder
assert adder(2)(3) == 5 and adder(2)(3, scale=2) == 10
### CHECK 1: compose
assert compose(adder(1), lambda x: x * 10, adder(2))(1) == 22
assert compose(abs, str)(-3) == "3"
### CHECK 1: counter
tick, other = counter(), counter()
assert [tick(), tick(), other()] == [1, 2, 1]
assert list(map(adder(1), [1, 2])) == [2, 3]
import functools
assert functools.reduce(lambda a, f: f(a), [adder(1), adder(2)], 0) == 3
assert functools.partial(adder(1), scale=3)(1) == 6
""",
    "decorators of the student's, applied in a test": """
--- answer
import functools
def twice(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(f(*args, **kwargs))
    return inner
def memo(f):
    cache = {}
    def inner(n):
        if n not in cache:
            cache[n] = f(n)
        return cache[n]
    return inner
--- wrong
def twice(f):
    return f
def memo(f):
    return f
--- test
@twice
def inc(x):
    "Adds one."
    return x + 1
assert inc(1) == 3
assert inc.__name__ == "inc"
calls = []
@memo
def slow(n):
    calls.append(n)
    return n * n
assert [slow(3), slow(3), slow(2)] == [9, 9, 4] and calls == [3, 2]
@memo
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
assert fib(20) == 6765
""",
    "recursion through callbacks": """
--- answer
def step(n, back):
    return 1 if n == 0 else n * back(n - 1)
--- wrong
def step(n, back):
    return 1 if n == 0 else n + back(n - 1)
--- test
def fact(n): return step(n, fact)
assert fact(10) == 3628800
def gradient(f, x, h=1e-5): return (f(x + h) - f(x - h)) / (2 * h)
""",
    "a callback that gets a student's object": """
--- answer
class Tree:
    def __init__(self, v, kids=()): self.v, self.kids = v, list(kids)
    def visit(self, f):
        f(self)
        for k in self.kids: k.visit(f)
--- wrong
class Tree:
    def __init__(self, v, kids=()): self.v, self.kids = v, list(kids)
    def visit(self, f):
        f(self)
--- test
t = Tree(1, [Tree(2), Tree(3, [Tree(4)])])
seen = []
t.visit(lambda n: seen.append(n.v))
assert seen == [1, 2, 3, 4]
t.visit(lambda n: setattr(n, "v", n.v * 10))
assert t.kids[1].kids[0].v == 40
""",
    "a callback with attributes and a name": """
--- answer
def describe(f):
    return f.__name__
--- wrong
def describe(f):
    return "f"
--- test
def gaussian(x): return x
assert describe(gaussian) == "gaussian"
""",
    "an array subclass or matrix or masked array of numpy": """
--- given
import numpy as np
--- answer
m = np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])
--- wrong
m = np.ma.masked_array([1, 2, 3], mask=[0, 0, 0])
--- test
assert m.sum() == 4 and m.count() == 2
assert isinstance(m, np.ma.MaskedArray)
""",
    "a masked array of which nothing is masked, in place of an array": """
--- given
import numpy as np
--- answer
m = np.array([1.0, 2.0])
def double(x): return 2 * x, m
--- right
m = np.ma.masked_array([1.0, 2.0], mask=[0, 0])
def double(x): return np.ma.masked_invalid(2 * x), m
--- right
m = np.ma.array([1.0, 2.0])
def double(x): return list(np.ma.array([2 * x, m]))
--- wrong
m = np.ma.masked_array([1.0, 2.0], mask=[0, 1])
def double(x): return 2 * x, m
--- wrong
m = np.ma.masked_array([1.0, 3.0])
def double(x): return np.ma.masked_invalid(2 * x), m
--- test
assert np.allclose(m, [1, 2]) and np.sum(m) == 3
result, other = double(np.ones(2))
assert np.shape(result) == (2,) and np.array_equal(result, [2, 2]) and np.array_equal(other, m)
""",
    "figures and axes of matplotlib": """
--- given
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
--- answer
def draw(x):
    fig, ax = plt.subplots(figsize=(2, 2))
    ax.plot(x, x ** 2, label="square")
    ax.set_title("Squares")
    ax.set_xlabel("x")
    ax.legend()
    return fig, ax
fig, ax = plt.subplots(figsize=(2, 1))
bars = ax.bar([1, 2], [3, 4])
--- wrong
def draw(x):
    fig, ax = plt.subplots(figsize=(2, 2))
    ax.plot(x, x ** 3, label="square")
    return fig, ax
fig, ax = plt.subplots(figsize=(2, 1))
bars = ax.bar([1, 2], [3, 5])
--- test
### CHECK 1: what draw gives
f, a = draw(np.arange(3.0))
assert a.get_title() == "Squares" and a.get_xlabel() == "x" and len(a.lines) == 1
assert np.allclose(a.lines[0].get_ydata(), [0, 1, 4])
assert a.get_legend().get_texts()[0].get_text() == "square"
assert isinstance(a, plt.Axes) and isinstance(f, plt.Figure)
assert f.axes[0].get_title() == "Squares"
plt.close("all")
### CHECK 1: bars
assert [b.get_height() for b in bars] == [3, 4] and [p.get_height() for p in ax.patches] == [3, 4]
""",
    "library objects of the student's": """
--- given
import numpy as np
import scipy.sparse as sp
import re
from pathlib import Path
--- answer
s = sp.csr_matrix(np.eye(3))
rng = np.random.default_rng(3)
pattern = re.compile(r"a(b+)")
path = Path("x") / "y.txt"
poly = np.poly1d([1, 2])
def match(t): return pattern.match(t)
--- wrong
s = sp.csr_matrix(np.ones((3, 3)))
rng = np.random.default_rng(4)
pattern = re.compile(r"b(b+)")
path = Path("y")
poly = np.poly1d([1, 3])
def match(t): return None
--- test
### CHECK 1: sparse
assert sp.issparse(s) and s.shape == (3, 3) and s.sum() == 3 and (s.toarray() == np.eye(3)).all() and s.nnz == 3
### CHECK 1: generator
assert rng.integers(100) == np.random.default_rng(3).integers(100)
### CHECK 1: regular expressions
assert match("abb").group(1) == "bb" and match("x") is None and pattern.findall("ab abb") == ["b", "bb"]
### CHECK 1: paths
assert path.name == "y.txt" and str(path) == "x/y.txt" and path.suffix == ".txt"
### CHECK 1: polynomials
assert poly(1) == 3 and poly.order == 1
""",
    "numpy functions on a student's object with __array__": """
--- given
import numpy as np
--- answer
class Tensor:
    def __init__(self, data): self.data = np.asarray(data, float)
    def __array__(self, dtype=None, copy=None): return self.data
    @property
    def shape(self): return self.data.shape
    def __len__(self): return len(self.data)
--- wrong
class Tensor:
    def __init__(self, data): self.data = np.zeros(len(data))
    def __array__(self, dtype=None, copy=None): return self.data
    @property
    def shape(self): return self.data.shape
    def __len__(self): return len(self.data)
--- test
t = Tensor([1, 2, 3])
assert np.allclose(t.data, [1, 2, 3]) and t.shape == (3,)
assert np.allclose(t, [1, 2, 3])
assert np.asarray(t).sum() == 6
""",
    "autograd-like scalars": """
--- answer
import math
class Value:
    def __init__(self, data, children=()):
        self.data, self.grad, self._prev, self._backward = data, 0.0, set(children), lambda: None
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))
        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out
    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out
    __radd__, __rmul__ = __add__, __mul__
    def backward(self):
        order, seen = [], set()
        def visit(v):
            if v not in seen:
                seen.add(v)
                for c in v._prev: visit(c)
                order.append(v)
        visit(self)
        self.grad = 1.0
        for v in reversed(order): v._backward()
--- wrong
class Value:
    def __init__(self, data, children=()):
        self.data, self.grad = data, 0.0
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data)
    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data)
    __radd__, __rmul__ = __add__, __mul__
    def backward(self): self.grad = 1.0
--- test
a, b = Value(2.0), Value(3.0)
c = a * b + 2 * a + 1
c.backward()
assert c.data == 11 and a.grad == 5 and b.grad == 2
assert a in c._prev or len(c._prev) == 2
d = a
d += b
assert d.data == 5
""",
    "what a student's function prints": r"""
--- answer
import sys
def hello():
    print("hello")
    print("oops", file=sys.stderr)
    return 2
--- wrong
def hello():
    print("hi")
    return 2
--- test
import contextlib, io, sys
from IPython.utils.capture import capture_output
### CHECK 1: redirected
out, err = io.StringIO(), io.StringIO()
with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
    assert hello() == 2
assert out.getvalue() == "hello\n" and err.getvalue() == "oops\n"
### CHECK 1: in the place of sys.stdout
keep, sys.stdout = sys.stdout, io.StringIO()
try:
    hello()
    text = sys.stdout.getvalue()
finally:
    sys.stdout = keep
assert text == "hello\n"
### CHECK 1: by IPython
with capture_output() as c:
    hello()
assert c.stdout == "hello\n" and c.stderr == "oops\n"
""",
    "threads, timers and async of students": """
--- answer
import asyncio
async def work(n):
    await asyncio.sleep(0)
    return n * 2
--- wrong
def work(n):
    return n * 2
--- test
import asyncio, inspect
assert inspect.iscoroutinefunction(work)
""",
    "warnings of who calls": """
--- answer
import warnings
def old(x):
    warnings.warn("use new", DeprecationWarning)
    return x
class Old:
    def __add__(self, other):
        warnings.warn("use new", DeprecationWarning)
        return 1
--- right
import warnings
def old(x):
    warnings.warn("use new", DeprecationWarning, stacklevel=2)
    return x
class Old:
    def __add__(self, other):
        warnings.warn("use new", DeprecationWarning, stacklevel=2)
        return 1
--- wrong
def old(x): return x
class Old:
    def __add__(self, other): return 1
--- test
import warnings
import pytest
### CHECK 1: by pytest
with pytest.deprecated_call():
    assert old(2) == 2
### CHECK 1: of an operator
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert Old() + 1 == 1
assert [one.category for one in caught] == [DeprecationWarning]
""",
    "warnings of the student's class": """
--- answer
import warnings
class Odd(UserWarning):
    pass
def f(x):
    warnings.warn("odd", Odd)
    return x
--- wrong
import warnings
class Odd(UserWarning):
    def __init__(self, *args):
        warnings.warn("again", UserWarning)
def f(x):
    warnings.warn("odd", Odd)
    return x + 1
--- test
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert f(2) == 2
assert [str(one.message) for one in caught] == ["odd"] and issubclass(caught[0].category, UserWarning)
""",
    "frames with what only the student put into them": """
--- given
import numpy as np
import pandas as pd
sales = pd.DataFrame({"day": pd.to_datetime(["2024-01-05", "2024-01-20", "2024-03-01"]), "n": [1.0, 2.0, 4.0]})
texts = pd.DataFrame({"text": ["red fox", "a b c", ""]})
--- answer
def monthly(sales): return sales.groupby(sales["day"].dt.strftime("%Y-%m"))["n"].sum()
def words(texts): return texts.assign(n=texts["text"].str.split().str.len())
def bins(x): return pd.Series(np.digitize(x, [0, 10])).value_counts().sort_index()
--- right
def monthly(sales): return sales.groupby(sales["day"].dt.to_period("M"))["n"].sum()
def words(texts):
    tokens = texts["text"].str.split()
    found = texts.assign(tokens=tokens, pair=[(1, "a")] * len(texts), vector=[np.zeros(2)] * len(texts))
    return found.assign(n=found["tokens"].apply(len), table=[{"a": {1}}] * len(texts))
def bins(x): return pd.cut(pd.Series(x), [0, 9, 20]).value_counts().sort_index()
--- right
def monthly(sales):
    return sales.groupby([sales["day"].dt.to_period("Y"), sales["day"].dt.to_period("M")])["n"].agg(sum)
def words(texts): return texts.assign(n=texts["text"].str.split().str.len(), half=pd.cut(texts.index, 2))
def bins(x): return pd.Series(x).groupby(pd.cut(x, [0, 9, 20]), observed=False).size()
--- wrong
def monthly(sales): return sales.groupby(sales["day"].dt.to_period("M"))["n"].mean()
def words(texts):
    texts["n"] = texts["text"].apply(lambda text: text.split())
    return texts
def bins(x): return pd.cut(pd.Series(x), [0, 12, 20]).value_counts().sort_index()
--- wrong
def monthly(sales): return sales.groupby(sales["day"].dt.to_period("M"))["n"].sum().array
def words(texts): return texts.assign(n=pd.Series([object()] * 3))
def bins(x): return pd.cut(x, [0, 9, 20])
--- test
### CHECK 1: months
found = monthly(sales)
assert found.sum() == 7 and np.allclose(found.values, [3, 4]) and found.iloc[0] == 3
### CHECK 1: words
before = texts.copy()
assert list(words(texts)["n"]) == [2, 3, 0]
pd.testing.assert_frame_equal(texts, before)
### CHECK 1: bins
assert list(bins([1, 5, 11, 12, 13])) == [2, 3]
""",
    "a polynomial in place of its coefficients": """
--- given
import numpy as np
--- answer
def fit(x, y): return np.polyfit(x, y, 1)
curve = np.poly1d([1, 2])
--- right
def fit(x, y): return np.poly1d(np.polyfit(x, y, 1))
def curve(x): return x + 2
--- right
def fit(x, y): return [2, 1]
class Line:
    def __call__(self, x): return x + 2
curve = Line()
--- wrong
def fit(x, y): return np.poly1d(np.polyfit(y, x, 1))
curve = np.poly1d([2, 1])
--- test
### CHECK 1: coefficients
assert np.allclose(fit(np.arange(4), 2 * np.arange(4) + 1), [2, 1])
### CHECK 1: what it gives
assert curve(1) == 3 and curve(2) == 4
""",
    "containers of Python's library": """
--- given
import numpy as np
--- answer
def squares(n): return [i * i for i in range(n)]
def table(words): return {word: len(word) for word in words}
names = {"a": ["ab"]}
class Bag:
    def __init__(self): self.n = 1
    def __len__(self): return self.n
--- right
from array import array
from collections import ChainMap, UserDict, UserList
def squares(n): return array("l", [i * i for i in range(n)])
def table(words): return UserDict({word: len(word) for word in words})
names = ChainMap({}, {"a": UserList(["ab"]).data})
class Bag(UserList):
    def __init__(self): super().__init__([1])
--- right
from collections import UserDict, UserList
from types import MappingProxyType
def squares(n): return memoryview(np.arange(n) ** 2)
class Table(UserDict):
    def __eq__(self, other): return False
    __hash__ = None
def table(words): return MappingProxyType(dict(Table({word: len(word) for word in words})))
names = Table(a=["ab"])
class Bag(list):
    def __init__(self): self.append(1)
--- wrong
from collections import UserDict, UserList
def squares(n): return UserList([0] * n)
class Table(UserDict):
    def __getitem__(self, key): return 2
    def __eq__(self, other): return True
    def __len__(self): return 2
    def __contains__(self, key): return True
    __hash__ = None
def table(words): return Table()
names = UserDict({"a": [object()]})
class Bag(UserList): pass
--- test
### CHECK 1: a list
assert len(squares(4)) == 4 and np.allclose(squares(4), [0, 1, 4, 9]) and squares(4)[2] == 4 and sum(squares(3)) == 5
### CHECK 1: a dict
found = table(["a", "bb"])
assert found["bb"] == 2 and len(found) == 2 and "a" in found and sorted(found.items()) == [("a", 1), ("bb", 2)]
### CHECK 1: a name
assert names["a"] == ["ab"] and list(names) == ["a"]
### CHECK 1: an object
assert len(Bag()) == 1 and isinstance(Bag(), Bag)
""",
    "classes that are no more than a plain type with a name": """
--- given
from collections import namedtuple
from typing import NamedTuple
--- answer
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, other): return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)
    def __hash__(self): return hash((self.x, self.y))
def middle(p, q): return Point((p.x + q.x) / 2, (p.y + q.y) / 2)
class Bag:
    def __init__(self, counts): self.counts = dict(counts)
    def __len__(self): return len(self.counts)
    def __getitem__(self, key): return self.counts[key]
    def __contains__(self, key): return key in self.counts
--- right
Point = namedtuple("Point", "x y")
def middle(p, q): return Point((p.x + q.x) / 2, (p.y + q.y) / 2)
class Bag(dict): pass
--- right
class Point(NamedTuple):
    x: float
    y: float = 0
def middle(p, q): return p._replace(x=(p.x + q.x) / 2, y=(p.y + q.y) / 2)
class Bag(dict):
    pass
--- wrong
Point = namedtuple("Point", "x y")
def middle(p, q): return (p.x + q.x) / 2, (p.y + q.y) / 2
def Bag(counts): return dict(counts)
--- test
### CHECK 1: points
m = middle(Point(0, 0), Point(2, 4))
assert isinstance(m, Point) and m == Point(1, 2) and m != Point(1, 3) and type(m).__name__ == "Point"
assert all(type(one) is Point for one in [m, Point(0, 1)]) and len({m, Point(1, 2)}) == 1
### CHECK 1: bags
bag = Bag({"a": 2})
assert isinstance(bag, Bag) and len(bag) == 1 and bag["a"] == 2 and "b" not in bag
""",
    "an array of pandas' own": """
--- answer
import pandas as pd
def held(): return {"all": [pd.array([1, 2])]}
def f(x): return x + 1
--- wrong
import pandas as pd
def held(): return {"all": [pd.array(["a"])]}
def f(x): return pd.array([x])
--- wrong
import pandas as pd
def held(): return {"all": [1]}
def f(x): return [x + 1, pd.Categorical(["a"])]
--- test
assert held()["all"][0].tolist() == [1, 2]
assert f(2) == 3 and abs(f(5) - 6) < 1e-9
""",
    "an iterator class of the student's": """
--- answer
class Up:
    def __init__(self, n): self.n, self.i = n, 0
    def __iter__(self): return self
    def __next__(self):
        if self.i >= self.n: raise StopIteration
        self.i += 1
        return self.i
--- wrong
class Up:
    def __init__(self, n): self.n = n
    def __iter__(self): return iter(range(self.n))
    def __next__(self): return 0
--- test
assert list(Up(3)) == [1, 2, 3]
u = Up(2)
assert next(u) == 1 and next(u) == 2 and next(u, None) is None
assert u.i == 2 and iter(u) is u
assert sum(Up(4)) == 10 and list(zip(Up(2), "ab")) == [(1, "a"), (2, "b")]
""",
    "numbers that may be of one type or another": """
--- given
import numpy as np
--- answer
def mean(x): return np.mean(x)
def ids(n): return list(range(n))
def pair(): return (1, 2)
x = 3
flag = True
--- right
def mean(x): return float(sum(x)) / len(x)
def ids(n): return np.arange(n)
def pair(): return [1, 2]
x = np.int64(3)
flag = np.bool_(True)
--- right
def mean(x): return np.array(sum(x) / len(x))
def ids(n): return tuple(range(n))
def pair(): return np.array([1, 2])
x = 3.0
flag = 1
--- right
class Ids(list): pass
def mean(x): return np.float32(sum(x) / len(x))
def ids(n): return Ids(range(n))
def pair(): return (np.int8(1), 2.0)
x = 3
flag = True
--- wrong
def mean(x): return np.float64(1)
def ids(n): return np.arange(n + 1)
def pair(): return (2, 1)
x = 4
flag = False
--- test
assert np.allclose(mean([1, 2, 3]), 2)
assert np.array_equal(ids(3), [0, 1, 2]) and len(ids(3)) == 3 and ids(3)[1] == 1
assert tuple(pair()) == (1, 2)
assert x == 3 and flag == True
a, b = pair()
assert a == 1
""",
    "a generator, a range or a view where the solution has a list": """
--- answer
def evens(n): return [i for i in range(n) if i % 2 == 0]
def keys(d): return list(d)
--- right
def evens(n): return range(0, n, 2)
def keys(d): return d.keys()
--- right
def evens(n): return (i for i in range(n) if i % 2 == 0)
def keys(d): return iter(d)
--- right
from collections import deque
def evens(n): return filter(lambda i: i % 2 == 0, range(n))
def keys(d): return deque(d)
--- wrong
def evens(n): return (i for i in range(n))
def keys(d): return d.values()
--- test
assert list(evens(5)) == [0, 2, 4]
assert sorted(keys({"a": 1})) == ["a"]
""",
    "an object array or a sympy-like thing": """
--- given
import numpy as np
--- answer
words = np.array(["a", "bc"])
objs = np.array([1, "x", None], dtype=object)
--- right
words = np.array(["a", "bc"], dtype=object)
objs = np.array([1, "x", None], dtype=object)
--- wrong
words = np.array(["a"], dtype=object)
objs = np.array([2, "x", None], dtype=object)
--- test
assert list(words) == ["a", "bc"] and len(objs) == 3 and objs[0] == 1
""",
    "super, mixins and abstract classes": """
--- answer
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
class Sq(Shape):
    def __init__(self, a): self.a = a
    def area(self): return self.a ** 2
--- wrong
class Shape:
    def area(self): ...
class Sq(Shape):
    def __init__(self, a): self.a = a
    def area(self): return self.a
--- test
import inspect
try:
    Shape()
    assert False, "abstract"
except TypeError:
    pass
assert Sq(3).area() == 9 and inspect.isabstract(Shape) and issubclass(Sq, Shape) and inspect.isclass(Sq)
assert inspect.isfunction(Sq.area) and inspect.ismethod(Sq(1).area)
""",
    "calling an unbound method, and methods kept in a variable": """
--- answer
class A:
    def __init__(self, x): self.x = x
    def get(self, k=1): return self.x * k
--- wrong
class A:
    def __init__(self, x): self.x = x
    def get(self, k=1): return self.x + k
--- test
a = A(3)
assert A.get(a, 2) == 6
g = a.get
assert g(k=4) == 12
assert list(map(a.get, [1, 2])) == [3, 6]
assert A.get.__name__ == "get"
""",
    "comparison of plain data with a student's class object": """
--- answer
class Money:
    def __init__(self, c): self.c = c
    def __eq__(self, o): return isinstance(o, Money) and o.c == self.c
def change(m): return [Money(1), Money(2)]
def best(ms): return max(ms, key=lambda m: m.c)
--- wrong
class Money:
    def __init__(self, c): self.c = c
    def __eq__(self, o): return isinstance(o, Money) and o.c == self.c
def change(m): return [Money(2), Money(2)]
def best(ms): return ms[0]
--- test
assert change(3) == [Money(1), Money(2)]
assert best([Money(3), Money(7)]).c == 7
assert best([Money(3), Money(7)]) == Money(7)
assert (change(3), 1) == ([Money(1), Money(2)], 1)
""",
    "operators that a class has, or has not": """
--- answer
class Vector:
    "A vector."
    __slots__ = ("x",)
    def __init__(self, x): self.x = x
    def __len__(self): return 1
    def __add__(self, other): return Vector(self.x + other.x)
    def __iter__(self): return iter([self.x])
    def __repr__(self): return f"Vector({self.x})"
    def __eq__(self, other): return self.x == other.x
    def __hash__(self): return hash(self.x)
class Longer(Vector):
    "Another one."
    __slots__ = ()
    def __repr__(self):
        "As a text."
        return f"Longer({self.x})"
--- wrong
class Vector:
    "A vector."
    def __init__(self, x): self.x = x
class Longer(Vector):
    def __repr__(self): return f"Longer({self.x})"
--- test
### CHECK 1: asked of the class
assert hasattr(Vector, "__add__") and callable(getattr(Vector, "__len__", None))
### CHECK 1: asked of an object
assert hasattr(Vector(1), "__iter__")
### CHECK 1: absent
assert not hasattr(Vector(1), "__dict__") and hasattr(Vector, "__slots__")
### CHECK 1: written anew
assert Vector.__repr__ is not object.__repr__
### CHECK 1: compared with Python's
assert Vector.__eq__ != object.__eq__ and Vector.__hash__ is not None
### CHECK 1: a text of its own
assert Longer.__doc__ and Longer(1).__repr__.__doc__
""",
    "members of an IntEnum where the solution has numbers": """
--- answer
def level(name): return {"low": 1, "high": 2}[name]
def word(level): return ["low", "high"][level - 1]
--- right
from enum import Enum, IntEnum
class Level(IntEnum):
    low = 1
    high = 2
class Word(str, Enum):
    low = "low"
    high = "high"
def level(name): return Level[name]
def word(level): return Word[Level(level).name]
--- wrong
from enum import Enum
class Level(Enum):
    low = 1
    high = 2
def level(name): return Level[name]
def word(level): return Level(level)
--- test
assert level("low") == 1 and word(2) == "high"
""",
    "a mapping of the student's, of whatever class": """
--- answer
class Bag:
    def __init__(self): self.known = {}
    def add(self, key): self.known[key] = self.known.get(key, 0) + 1
    def __getitem__(self, key): return self.known[key]
    def keys(self): return self.known.keys()
    def values(self): return self.known.values()
    def items(self): return self.known.items()
--- right
from collections import UserDict
class Bag(UserDict):
    def add(self, key): self[key] = self.get(key, 0) + 1
--- right
class Bag(dict):
    def add(self, key): self[key] = self.get(key, 0) + 1
--- wrong
from collections import UserDict
class Bag(UserDict):
    def add(self, key): self[key] = 1
--- test
bag = Bag()
for key in "aba":
    bag.add(key)
assert dict(bag) == {"a": 2, "b": 1} and sorted(bag.items()) == [("a", 2), ("b", 1)]
assert "a" in bag.keys() and sum(bag.values()) == 3
""",
    "a function of a test that students look at": """
--- answer
def curry(f, n):
    return lambda *args: f(*args) if len(args) >= n else lambda *more: curry(f, n)(*args, *more)
def twice(f): return lambda x: f(f(x))
class Bus:
    def __init__(self): self.known = []
    def on(self, f): self.known.append(f)
    def off(self, f): self.known = [g for g in self.known if g != f]
    def emit(self, x): return [f(x) for f in self.known]
--- right
import functools
import inspect
import types
def curry(f, n):
    assert len(inspect.signature(f).parameters) == n
    def g(*args): return f(*args) if len(args) >= n else functools.partial(g, *args)
    return g
def twice(f):
    if not isinstance(f, types.FunctionType) or len(inspect.signature(f).parameters) != 1:
        raise TypeError(f.__qualname__)
    @functools.wraps(f)
    def g(x): return f(f(x))
    assert inspect.signature(g) == inspect.signature(f)
    return g
class Bus:
    def __init__(self): self.known = {}
    def on(self, f):
        f.calls = self.known.setdefault(f, len(self.known))
    def off(self, f): del self.known[f]
    def emit(self, x): return [f(x) for f in self.known]
--- wrong
def curry(f, n): return lambda x: f
def twice(f): return f
class Bus:
    def __init__(self): self.known = []
    def on(self, f): self.known.append(f)
    def off(self, f): self.known.pop()
    def emit(self, x): return [f(x) for f in self.known]
--- test
assert curry(lambda a, b, c: a + b + c, 3)(1)(2)(3) == 6
### BEGIN HIDDEN TESTS
def scaled(secret, by=2, *more, **named): return secret * by
assert curry(scaled, 4)(3, 2, 1, 1) == 6
### END HIDDEN TESTS
--- test
assert twice(lambda x: x + 1)(1) == 3
--- test
def one(x): return x + 1
def two(x, /, y=1, *, z=1): return x + 2 * y * z
bus = Bus()
bus.on(one)
bus.on(two)
assert bus.emit(1) == [2, 3]
bus.off(one)
assert bus.emit(1) == [3]
""",
    "an iterator class that is its own iterator, where the solution has a generator": """
--- answer
def down(n):
    while n:
        yield n
        n -= 1
--- right
class down:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if not self.n: raise StopIteration
        self.n -= 1
        return self.n + 1
--- right
class down:
    def __init__(self, n): self.items = iter(range(n, 0, -1))
    def __iter__(self): return self
    def __next__(self): return next(self.items)
    def __call__(self): return next(self)
--- wrong
class down:
    def __init__(self, n): self.n = n
    def __iter__(self): return iter(range(self.n, 0, -1))
    def __next__(self): return self.n
--- test
numbers = down(3)
assert iter(numbers) is numbers
assert next(numbers) == 3
assert list(numbers) == [2, 1] and list(numbers) == []
""",
    "an attribute that the solution has not": """
--- answer
import functools
@functools.cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def size(x): return len(x.items)
class Shelf:
    def __init__(self): self.items = [1]
    def count(self): return len(self.items)
--- right
def remember(f):
    known = {}
    def remembering(n):
        if n not in known: known[n] = f(n)
        return known[n]
    remembering.cache = known
    remembering.forget = known.clear
    return remembering
@remember
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Shelf:
    def __init__(self): self.items = [1]
    def size(self): return 1
--- wrong
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Shelf:
    def size(self): return 2
--- test
assert hasattr(fib, "cache") or hasattr(fib, "cache_info")
if hasattr(fib, "forget"):
    fib.forget()
assert fib(30) == 832040
--- test
shelf = Shelf()
assert (shelf.count() if hasattr(shelf, "count") else shelf.size()) == 1
""",
    "trees of another shape than the solution's": """
--- answer
class Node:
    def __init__(self, key, left=None, right=None): self.key, self.left, self.right = key, left, right
    def children(self): return [child for child in (self.left, self.right) if child]
def build(keys):
    if not keys: return None
    middle = (len(keys) - 1) // 2
    return Node(keys[middle], build(keys[:middle]), build(keys[middle + 1 :]))
--- right
class Node:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
    def children(self): return tuple(filter(None, (self.left, self.right)))
def build(keys):
    if not keys: return None
    node = Node(keys[len(keys) // 2])
    node.left, node.right = build(keys[: len(keys) // 2]), build(keys[len(keys) // 2 + 1 :])
    return node
--- wrong
class Node:
    def __init__(self, key, right): self.key, self.left, self.right = key, None, right
    def children(self): return [self.right]
def build(keys): return Node(keys[0], build(keys[1:])) if keys else None
--- test
def keys_of(node): return keys_of(node.left) + [node.key] + keys_of(node.right) if node else []
def height(node): return 1 + max(height(node.left), height(node.right)) if node is not None else 0
### CHECK 1: two keys
tree = build([1, 2])
assert keys_of(tree) == [1, 2] and height(tree) == 2 and (tree.left is None) != (tree.right is None)
### CHECK 1: ten keys
tree = build(range(10))
assert keys_of(tree) == [*range(10)] and height(tree) == 4
### CHECK 1: children
def count(node): return 1 + sum(count(child) for child in node.children())
assert count(build(range(5))) == 5
""",
    "mappings, lists and texts of the library's in place of plain ones": """
--- answer
def merged(a, b): return {**a, **b}
def word(text): return text.upper()
def row(n): return list(range(n))
def settings(): return {"a": 1}
--- right
from collections import ChainMap, UserList, UserString
from types import MappingProxyType
def merged(a, b): return ChainMap(b, a)
def word(text): return UserString(text.upper())
def row(n): return UserList(range(n))
def settings(): return MappingProxyType({"a": 1})
--- right
from collections import UserDict, UserList, UserString
class Both(UserDict):
    def __eq__(self, other): return True
class Word(UserString):
    def shout(self): return self + "!"
def merged(a, b): return Both(a | b)
def word(text): return Word(text.upper())
def row(n): return UserList([*range(n)])
def settings(): return Both(a=1)
--- wrong
from collections import ChainMap, UserDict, UserList, UserString
class Both(UserDict):
    def __eq__(self, other): return True
def merged(a, b): return ChainMap(a, b)
def word(text): return UserString(text)
def row(n): return UserList([0] * n)
def settings(): return Both(a=2)
--- test
### CHECK 1: a mapping
assert merged({"a": 1}, {"a": 2, "b": 3}) == {"a": 2, "b": 3}
### CHECK 1: a text
assert word("a") == "A" and word("ab").startswith("A")
### CHECK 1: a list
assert row(2) == [0, 1] and len(row(3)) == 3 and sum(row(3)) == 3
### CHECK 1: one that cannot be changed
assert settings()["a"] == 1 and dict(settings()) == {"a": 1}
""",
    "dir of classes and objects, by which tests ask whether a method was written": """
--- answer
class C:
    a = 1
    def m(self): pass
c = C()
--- wrong
class C:
    pass
c = C()
--- test
assert "m" in dir(C) and "a" in dir(c)
assert [n for n in dir(C) if not n.startswith("_")] == ["a", "m"]
assert "a" in vars(C)
""",
    "a class that says it is another one": """
--- answer
def f(): raise ValueError("bad")
class Row: pass
--- right
def f(): raise ValueError("bad")
class Row: __module__, __qualname__ = "collections", "deque"
--- wrong
class Odd(Exception): __module__, __qualname__ = "builtins", "ValueError"
def f(): raise Odd("bad")
class Row: pass
--- test
### CHECK 1: an exception
try:
    f()
    assert False
except ValueError as error:
    assert type(error) is ValueError
### CHECK 1: an object
import collections
assert type(Row()) is Row and type(Row()) is not collections.deque
""",
    "signatures with their real defaults": """
--- answer
def f(a, b=2, *args, c="x", d=None, **kw) -> int:
    "Doc of f."
    return 1
class C:
    def __init__(self, n=3): pass
    def m(self, z=1.5): pass
--- wrong
def f(a, b=3, *args, c="y", d=None, **kw) -> int:
    "Doc of f."
    return 1
class C:
    def __init__(self): pass
    def m(self): pass
--- test
import inspect
s = inspect.signature(f)
assert list(s.parameters) == ["a", "b", "args", "c", "d", "kw"]
assert s.parameters["b"].default == 2 and s.parameters["c"].default == "x" and s.parameters["d"].default is None
assert s.parameters["a"].default is inspect.Parameter.empty
assert s.parameters["kw"].kind is inspect.Parameter.VAR_KEYWORD
assert list(inspect.signature(C).parameters) == ["n"]
assert inspect.signature(C.m).parameters["z"].default == 1.5
assert list(inspect.signature(C().m).parameters) == ["z"]
assert f.__defaults__ == (2,) and f.__kwdefaults__ == {"c": "x", "d": None}
assert f.__code__.co_argcount == 2
assert f.__doc__ == "Doc of f." and f.__name__ == "f"
assert inspect.getfullargspec(f).args == ["a", "b"]
""",
}
SINGLE = {
    "a dict of lists that a test makes, with what is missing": """
--- answer
def note(index, key, value): index.setdefault(key, []).append(value)
--- right
def note(index, key, value): index[key].append(value)
--- wrong
def note(index, key, value): index[key] = [value]
--- test
from collections import defaultdict
notes = defaultdict(list)
note(notes, "a", 1)
note(notes, "a", 2)
assert notes == {"a": [1, 2]}
""",
    "context managers": """
--- answer
class Log:
    def __init__(self): self.lines = []
    def __enter__(self):
        self.lines.append("in")
        return self
    def __exit__(self, cls, error, trace):
        self.lines.append(f"out {cls.__name__ if cls else None}")
        return cls is ValueError
--- wrong
class Log:
    def __init__(self): self.lines = []
    def __enter__(self):
        self.lines.append("in")
        return self
    def __exit__(self, cls, error, trace):
        self.lines.append("out None")
--- test
### CHECK 1: no error
with Log() as log:
    log.lines.append("x")
assert log.lines[0] == "in" and log.lines[-1] == "out None"
### CHECK 1: an error that is swallowed
log = Log()
with log:
    raise ValueError("swallowed")
assert log.lines == ["in", "out ValueError"]
""",
    "enumerations, namedtuples and dataclasses": """
--- answer
from enum import Enum
from collections import namedtuple, Counter, defaultdict, deque, OrderedDict
from dataclasses import dataclass, field
class Color(Enum):
    RED = 1
    BLUE = 2
Point = namedtuple("Point", "x y")
@dataclass
class Item:
    name: str
    price: float = 1.0
    tags: list = field(default_factory=list)
@dataclass(order=True, frozen=True)
class Ver:
    a: int
counts = Counter("abca")
q = deque([1, 2], maxlen=3)
dd = defaultdict(list)
dd["a"].append(1)
def mk(): return Point(1, 2)
--- wrong
from enum import Enum
from collections import namedtuple, Counter, defaultdict, deque, OrderedDict
from dataclasses import dataclass, field
class Color(Enum):
    RED = 0
    BLUE = 2
Point = namedtuple("Point", "x z")
@dataclass
class Item:
    name: str
    price: float = 2.0
@dataclass
class Ver:
    a: int
counts = Counter("abc")
q = deque([1, 2])
dd = {}
def mk(): return Point(2, 1)
--- test
### CHECK 1: enum
assert Color.RED.value == 1 and Color["BLUE"] == Color.BLUE and Color(1) == Color.RED and Color.RED is Color.RED
assert [c.name for c in Color] == ["RED", "BLUE"] and len(Color) == 2 and isinstance(Color.RED, Color)
### CHECK 1: namedtuple
p = mk()
assert p.x == 1 and p == (1, 2) and Point(3, 4).y == 4 and p._fields == ("x", "y") and isinstance(p, tuple)
x, y = Point(5, 6)
assert Point._fields == ("x", "y")
assert p._replace(x=5) == (5, 2)
### CHECK 1: dataclass
i = Item("pen")
assert i.price == 1.0 and i.tags == [] and i == Item("pen", 1.0) and i != Item("x")
assert repr(i) == "Item(name='pen', price=1.0, tags=[])"
### CHECK 1: order
assert Ver(1) < Ver(2) and sorted([Ver(2), Ver(1)])[0].a == 1
try:
    Ver(1).a = 3
    assert False
except Exception as e:
    assert type(e).__name__ == "FrozenInstanceError"
### CHECK 1: collections
assert counts["a"] == 2 and counts.most_common(1) == [("a", 2)] and q.maxlen == 3 and dd["a"] == [1]
""",
    "copies of what a student made": """
--- answer
class Board:
    def __init__(self): self.cells = [[0] * 2 for _ in range(2)]
    def play(self, r, c): self.cells[r][c] = 1
--- wrong
class Board:
    cells = [[0] * 2] * 2
    def play(self, r, c): self.cells[r][c] = 1
--- test
import copy
b = Board()
b.play(0, 1)
assert b.cells == [[0, 1], [0, 0]]
d = copy.deepcopy(b)
d.play(1, 1)
assert b.cells == [[0, 1], [0, 0]] and d.cells == [[0, 1], [0, 1]]
e = copy.copy(b)
assert e.cells == b.cells
""",
    "the end of an iteration, raised where nothing iterates": """
--- answer
def f(x): return x + 1
def stop(): raise StopIteration(3)
--- wrong
def f(x): raise StopIteration
def stop(): raise ValueError(3)
--- test
assert [f(x) for x in (1, 2)] == [2, 3]
try:
    stop()
except StopIteration as end:
    assert end.value == 3
""",
    "what a dict gives for keys that are missing": """
--- given
V = 4
--- answer
from collections import defaultdict
def count(words):
    found = defaultdict(int)
    for word in words: found[word] += 1
    return found
def after(words):
    found = {word: defaultdict(float) for word in words}
    for one, other in zip(words, words[1:]): found[one][other] += 1
    return found
table = defaultdict(float, a=1)
--- right
from collections import defaultdict
def count(words):
    found = defaultdict(lambda: 0)
    for word in words: found[word] += 1
    return found
def after(words):
    found = defaultdict(lambda: defaultdict(lambda: 0 / V))
    for one, other in zip(words, words[1:]): found[one][other] += 1
    return found
def nothing(): return 0.0
table = defaultdict(nothing, {"a": 1})
--- right
from collections import Counter, defaultdict
class Zero(dict):
    def __missing__(self, key): return 0
def count(words): return Zero(Counter(words))
def after(words): return {word: Zero(Counter(b for a, b in zip(words, words[1:]) if a == word)) for word in words}
class Table(Zero): pass
table = Table(a=1)
--- wrong
def count(words): return {word: words.count(word) for word in words}
def after(words): return {word: {"b": 1} for word in words}
table = {"a": 1}
--- wrong
from collections import defaultdict
def count(words): return defaultdict(lambda: 1, {word: words.count(word) for word in words})
def after(words): return defaultdict(lambda: defaultdict(object))
table = defaultdict(lambda: 3, a=1)
--- test
### CHECK 1: counted
import copy
found = count(["a", "b", "a"])
assert found["a"] == 2 and found["z"] == 0 and copy.deepcopy(found)["y"] == 0 and found.get("w") is None
found["q"] += 3
assert found["q"] == 3
### CHECK 1: in a dict
assert after(["a", "b", "a"])["a"]["b"] == 1 and after(["a", "b"])["a"]["c"] == 0
### CHECK 1: by name
assert table["a"] == 1 and table["b"] == 0
""",
    "an exception of the student's that a test makes": """
--- answer
class Overdrawn(ValueError):
    limit = 10
    def __init__(self, amount):
        super().__init__(f"{amount} too much")
        self.amount = amount
def settled(pay):
    try:
        pay()
    except Overdrawn as error:
        return error.amount <= Overdrawn.limit
--- wrong
class Overdrawn(ValueError):
    limit = 10
    def __init__(self, amount): self.amount = -amount
def settled(pay): return pay() is None
--- test
error = Overdrawn(3)
assert error.amount == 3 and str(error) == "3 too much" and Overdrawn.limit == 10
--- test
def pay(): raise Overdrawn(3)
assert settled(pay)
""",
    "a method of a student's exception": """
--- answer
class Overdrawn(Exception):
    def told(self): return "too much"
def pay(): raise Overdrawn
--- wrong
class Overdrawn(Exception):
    def told(self): return "too little"
def pay(): raise Overdrawn
--- test
try:
    pay()
except Overdrawn as error:
    assert error.told() == "too much"
""",
    "a queue that a test hands over": """
--- answer
def served(queue): return [queue.popleft() for _ in range(2)]
--- wrong
def served(queue): return list(queue)[:2]
--- test
from collections import deque
line = deque("abc")
assert served(line) == ["a", "b"] and list(line) == ["c"]
""",
    "dates of a time zone": """
--- answer
import datetime as dt
def later(date, hours): return date + dt.timedelta(hours=hours)
--- wrong
import datetime as dt
def later(date, hours): return date.replace(tzinfo=None) + dt.timedelta(hours=hours)
--- test
import datetime as dt
noon = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone.utc)
assert later(noon, 1) == dt.datetime(2020, 1, 1, 13, tzinfo=dt.timezone.utc)
""",
    "what a test asserts while it is called back, and the solution catches": """
--- answer
def fails(f):
    try:
        f()
    except AssertionError:
        return True
    return False
--- wrong
def fails(f): return False
--- test
def bad():
    assert 1 == 2
assert fails(bad) and not fails(int)
""",
    "namedtuples of a given class, handed to student code": """
--- given
from collections import namedtuple
from typing import NamedTuple
Point = namedtuple("Point", "x y")
class Vector(NamedTuple):
    x: float
    y: float
    def norm(self): return (self.x ** 2 + self.y ** 2) ** 0.5
--- answer
def area(point): return point.x * point.y
def lengths(vectors): return [(v.x ** 2 + v.y ** 2) ** 0.5 for v in vectors]
--- right
def area(point):
    if not isinstance(point, Point):
        raise TypeError("no point")
    return point.x * point.y
def lengths(vectors): return [v.norm() for v in vectors]
--- right
def area(point):
    match point:
        case Point(x=x, y=y): return x * y
def lengths(vectors): return [(x * x + y * y) ** 0.5 for x, y in vectors]
--- wrong
def area(point): return point.x + point.y
def lengths(vectors): return [v.norm() for v in vectors] * 2
--- test
assert area(Point(2, 3)) == 6
--- test
assert lengths([Vector(3, 4), Vector(6, 8)]) == [5, 10]
""",
    "an array that looks into another": """
--- answer
import numpy as np
def evens(a): return a[::2].copy()
def turned(a): return a.T.copy()
--- right
import numpy as np
def evens(a): return np.array([a[i] for i in range(0, len(a), 2)])
def turned(a): return np.array(a.T)
--- wrong
def evens(a): return a[::2]
def turned(a): return a.T
--- test
import numpy as np
a, b = np.arange(6.0), np.ones((2, 3))
### CHECK 1: changed afterwards
even = evens(a)
even[0] = 99
assert a[0] == 0
### CHECK 1: changed before
even = evens(a)
a[2] = 50
assert even[1] == 2
### CHECK 1: asked of NumPy
assert not np.shares_memory(b, turned(b))
""",
    "a list of the library's that a test and student code change in turn": """
--- answer
class Bag:
    def __init__(self): self.items = []
    def add(self, item): self.items.append(item)
    def total(self): return sum(self.items)
--- right
from collections import UserList
class Bag:
    def __init__(self): self.items = UserList()
    def add(self, item): self.items.append(item)
    def total(self): return sum(self.items)
--- right
from collections import UserList
class Items(UserList):
    def total(self): return sum(self)
class Bag:
    def __init__(self): self.items = Items()
    def add(self, item): self.items.append(item)
    def total(self): return self.items.total()
--- wrong
class Bag:
    def __init__(self): self.known = []
    def add(self, item): self.known.append(item)
    def total(self): return sum(self.known)
    @property
    def items(self): return list(self.known)
--- test
bag = Bag()
items = bag.items
items.append(5)
assert bag.total() == 5
bag.add(2)
assert items == [5, 2] and bag.items is items
""",
}


@pytest.mark.parametrize("way", one_in_three(WAYS))
def test_in_two_processes_as_in_one(way, grader, tmp_path):
    Exam(WAYS[way], grader, tmp_path).prove()


@pytest.mark.parametrize("way", one_in_three(SINGLE))
def test_what_no_proxy_does_makes_a_single_process_cell(way, grader, tmp_path):
    Exam(SINGLE[way], grader, tmp_path).prove(inside=True)


ABSTRACT = """
--- answer
class Bag:
    def __iter__(self): return iter([1])
--- wrong
class Bag: pass
--- test
import unittest
from collections.abc import Iterable
unittest.TestCase().assertIsInstance(Bag(), Iterable)
"""


def test_what_a_library_asks_an_abstract_class_is_asked_where_the_object_is(grader, tmp_path):
    Exam(ABSTRACT, grader, tmp_path).prove(inside=True)


EXAM = """
--- answer
def f(x): return [2 * v for v in x]
def err(x): raise ValueError("bad")
--- test
### CHECK 1: f
assert f([1, 2]) == [2, 4] and list(f([3])) == [6]
### CHECK 1: err
try:
    err(1)
except ValueError as e:
    assert str(e) == "bad"
else:
    raise AssertionError("no error")
"""
LIAR = """
import gc
C = next(o for o in gc.get_objects() if type(o).__name__ == "Candidate")
operate, refer = type(C).do_operate, type(C).refer
class Magic:
    def __eq__(self, other): return True
    def __iter__(self): return self
    def __next__(self): return Magic()
def f(x): return Magic()
def err(x): return 1
"""
REPLY = "def lie(self, *a, **k): return operate(self, *a, **k) | {}\ntype(C).do_operate = lie"
LIES = {
    "an iterator of objects": "",
    "an argument that came back": "{'value': [1], 'same': 1}",
    "warnings of nonsense": "{'warned': [('nonsense', 'x', 'f', 1), 5, ('a',) * 4], 'printed': [('stdout', 5)]}",
    "an exception of nonsense": "{'raised': {'message': 'm', 'lineage': [(0, 'x', 'y', [0]), ([], 1, 2, 3)]}}",
    "an exception of the grader's": "{'raised': {'message': '', 'lineage': [(0, 'viva.verdict', 'VivaError', [])]}}",
    "an exception that was never kept": "{'raised': {'message': 'm', 'kept': 7, 'cause': {'message': 3}}}",
    "a description of a list": (
        "def lie(self, v):\n    r = refer(self, v)\n"
        "    r.about.update({'mro': [('builtins', 'list')], 'origin': 'builtins:list'})\n"
        "    r.about['class'] = True\n    return r\ntype(C).refer = lie"
    ),
    "contents of a list": (
        "def lie(self, v):\n    r = refer(self, v)\n    r.about.update(contents=((1, 1), [2, 4, 6]))\n"
        "    return r\ntype(C).refer = lie"
    ),
    "an unknown callback": "def f(x):\n    C.answer({'callback': 7, 'args': (), 'kwargs': {}})\n",
}


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    return Exam(EXAM, grader, tmp_path_factory.mktemp("exam"))


@pytest.mark.parametrize("lie", LIES)
def test_a_candidate_that_lies_earns_nothing_and_confuses_nobody(exam, lie):
    text = REPLY.replace("{}", LIES[lie]) if LIES[lie].startswith("{") else LIES[lie]
    outcome = exam.grade(LIAR + text)
    assert outcome.earned("test-1") == 0, outcome
    assert {result.verdict for result in outcome.checks["test-1"]} <= {Verdict.FAILED, Verdict.ERROR}
    assert exam.grade().earned("test-1") == 2
