"""The looks of a test: where its code compares many things at once, and whether there was anything to compare.

Theory of operation. A loop over an empty list asserts nothing, and ``np.allclose([], 2.5)`` is true. So an empty answer
can pass a test that would refuse any other wrong one. The answer alone does not show it: the right one may be
empty in other places than the solution's, as ``[[x], []]`` is in place of ``[[], [x]]``. So the code of a test is
compiled with a note at each place that takes nothing for a success: loops that judge, functions such as ``all`` and
``allclose``, ``not in``, and the two sides of an equality in an ``assert``. The rehearsal records the places at which
the solution had nothing to show. A check that passes counts as passed in vain if it looked at nothing in another place.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import decode_source
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from viva.engine.dialogue.expected import HOLDING, is_empty
from viva.engine.values.codec import module_of

EACH, EACH_LATER, SEEN, JUDGING = "__each__", "__each_later__", "__seen__", "__judging__"
"""The names under which the code of a test finds the methods of Looks."""
JUDGES = frozenset(
    "all any alltrue allclose isclose array_equal array_equiv equals equal issubset issuperset isdisjoint assert_equal "
    "assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal assert_array_almost_equal_nulp "
    "assert_array_equal assert_array_less assert_array_max_ulp assertEqual assertListEqual assertDictEqual "
    "assertSetEqual assertTupleEqual assertSequenceEqual assertCountEqual assertAlmostEqual".split()
)
"""Functions and methods that can be content with nothing."""
SUMS = frozenset("sum nansum prod norm count_nonzero dot vdot inner trace".split())
"""Functions and methods that make a number of an empty array; of an empty list they only add what is there."""
FOLDS = frozenset("all any sum min max fsum".split())
"""Functions that judge, or measure, what a comprehension in their parentheses gives."""
COLLECTING = frozenset("append add extend update insert appendleft setdefault discard remove print write".split())
"""Methods that a loop calls to gather something, and judges nothing."""
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type(np.allclose))
LOOKED = " looks "
"""Before the name of a grade cell, among the expected types: the places at which the solution had nothing to show."""


class Looks:
    """The looks of the check that runs, and the places at which the solution had nothing to show."""

    def __init__(self) -> None:
        self.known: dict[str, Counter[str]] = {}
        """By cell and place: how often the solution had nothing to show there."""
        self.cell = self.check = ""
        self.full: set[str] = set()
        self.empty: Counter[str] = Counter()
        """How often nothing was there, by place."""
        self.deceived: Counter[str] = Counter()
        """How often an array was compared item by item, and had none: no equality of two lists is that."""

    def learn(self, texts: dict[str, str]) -> None:
        """Add to what is known the texts that ``texts`` gave, by LOOKED and the cell."""
        for name, text in texts.items():
            known = self.known.setdefault(name.removeprefix(LOOKED), Counter())
            for place, count in re.findall(r"(\S+)=(\d{1,9})", text):
                known[place] = int(count)

    def texts(self) -> dict[str, str]:
        """What is known, for ``learn``."""
        return {
            LOOKED + cell: " ".join(f"{place}={count}" for place, count in sorted(known.items()))
            for cell, known in self.known.items()
            if known
        }

    def begin(self, source: str) -> None:
        """A check of this text begins."""
        self.check = f"{zlib.crc32(source.encode(errors='replace')):x}"
        self.full.clear()
        self.empty.clear()
        self.deceived.clear()

    def record(self) -> None:
        """Note where the solution had nothing to show in the check that ends."""
        known = self.known.setdefault(self.cell, Counter())
        for place in self.empty:
            if self.deceived[place] or place not in self.full:
                known[f"{self.check}/{place}"] = max(1, self.deceived[place])

    def in_vain(self) -> bool:
        """Whether the check that ends has looked at nothing somewhere where the solution had something to show."""
        known = self.known.get(self.cell, Counter())
        return any(
            self.deceived[place] > known[f"{self.check}/{place}"]
            or (place not in self.full and not known[f"{self.check}/{place}"])
            for place in self.empty
        )

    def _note(self, place: str, empty: bool, deceived: bool = False) -> None:
        if empty:
            self.empty[place] += 1
            self.deceived[place] += deceived
        else:
            self.full.add(place)

    # what the code of a test calls

    @property
    def names(self) -> dict[str, Any]:
        """What the code of a test finds under the names in it."""
        return {EACH: self.each, EACH_LATER: self.each_later, SEEN: self.seen, JUDGING: self.judging}

    def each(self, items: Iterable, place: str) -> Iterator:
        """The items of a loop, the first of which is wanted at once."""
        iterator = iter(items)
        for first in iterator:
            self._note(place, False)
            return itertools.chain((first,), iterator)
        self._note(place, True)
        return iter(())

    def each_later(self, items: Iterable, place: str) -> Iterator:
        """The items of a generator, which may never be wanted."""
        return self._each(iter(items), place)

    def _each(self, iterator: Iterator, place: str) -> Iterator:
        empty = True
        for item in iterator:  # not ``yield from``: what a test does not read to its end would be closed
            if empty:
                self._note(place, empty := False)
            yield item
        if empty:
            self._note(place, True)

    def seen(self, value: object, place: str) -> object:
        """One side of a comparison."""
        if (empty := is_empty(value)) is not None or issubclass(type(value), HOLDING):
            self._note(place, bool(empty), _is_array(value))
        return value

    def judging(self, function: Any, place: str, lists: bool) -> Any:
        """A function of JUDGES, or of SUMS where no ``lists`` count, that notes what it is called with."""
        if type(function) not in FUNCTIONS or function.__module__ == "__main__":
            return function
        receiver = getattr(function, "__self__", None)
        by_item = str(function.__module__ or "builtins").partition(".")[0] not in ("builtins", "unittest")

        def noting(*args: Any, **kwargs: Any) -> Any:
            values = [value for value in (receiver, *args[:2], *kwargs.values()) if _is_array(value) or _holds(value)]
            empty = [value for value in values if is_empty(value) and (lists or _is_array(value))]
            if values:
                self._note(place, bool(empty), by_item or any(map(_is_array, empty)))
            return function(*args, **kwargs)

        return noting


def _holds(value: object) -> bool:
    return issubclass(type(value), HOLDING)


def _is_array(value: object) -> bool:
    """Whether a value is an array, a frame or the like: what is compared item by item."""
    return is_empty(value) is not None and not _holds(value) and module_of(type(value)) != "builtins"


# --- the code of a test


class CourseModules:
    """Has the modules of one folder compiled as the code of a test is: a course may keep its tests in them."""

    def __init__(self, folder: str, looks: Looks) -> None:
        self.folder, self.looks = folder, looks

    def install(self) -> None:
        sys.meta_path.insert(sys.meta_path.index(PathFinder), self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec and type(spec.loader) is SourceFileLoader and os.path.abspath(spec.loader.path).startswith(self.folder):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
            spec.loader.looks = self.looks
        return spec


class _Loader(SourceFileLoader):
    looks: Looks

    def get_code(self, fullname: str) -> CodeType:
        source = decode_source(self.get_data(self.path))
        return compile(with_looks(ast.parse(source, self.path), source), self.path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.looks.names)
        super().exec_module(module)


def with_looks(tree: ast.Module, source: str) -> ast.Module:
    """The code of a test, compiled from ``source``, with its looks noted."""
    noting = _Noting(f"{zlib.crc32(source.encode(errors='replace')):x}")
    return ast.fix_missing_locations(noting.visit(tree))


class _Noting(ast.NodeTransformer):
    """Puts the notes of a test into its code; ``text`` stands before its places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asserting = False

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        before, self.asserting = self.asserting, True
        node.test = self.visit(node.test)
        self.asserting = before
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        judges = not all(map(_collects, [*node.body, *node.orelse]))
        self.generic_visit(node)
        if judges and not _is_written_out(node.iter):
            node.iter = self._noted(EACH, node.iter)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        asserting, self.asserting = self.asserting, self.asserting and name in JUDGES
        if name in FOLDS and len(node.args) >= 1 and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
            for number, loop in enumerate(node.args[0].generators):
                if not _is_written_out(loop.iter):
                    later = number == 0 and isinstance(node.args[0], ast.GeneratorExp)
                    loop.iter = self._noted(EACH_LATER if later else EACH, loop.iter)
        self.generic_visit(node)
        self.asserting = asserting
        if name in JUDGES or name in SUMS:
            node.func = self._noted(JUDGING, node.func, ast.Constant(name in JUDGES))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            operator, right = node.ops[0], node.comparators[0]
            of_sets = isinstance(operator, ast.LtE | ast.GtE | ast.Lt | ast.Gt) and any(
                map(_is_set, (node.left, right))
            )
            if isinstance(operator, ast.NotIn) or of_sets:
                node.comparators = [self._noted(SEEN, right)]
            if of_sets or (self.asserting and isinstance(operator, ast.Eq)):
                node.left = self._noted(SEEN, node.left)
        return node

    def _noted(self, name: str, node: ast.expr, *more: ast.expr) -> ast.Call:
        place = ast.Constant(f"{self.text}.{node.lineno}.{node.col_offset}")
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [node, place, *more], []), node)


def _collects(node: ast.stmt) -> bool:
    """Whether a statement of a loop only gathers what it goes through."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) | ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in COLLECTING
        case ast.For() | ast.If():
            return all(map(_collects, [*node.body, *node.orelse]))
        case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign(target=ast.Subscript()):
            return True
    return isinstance(node, ast.Pass | ast.Continue)


def _is_written_out(node: ast.expr) -> bool:
    """Whether what a loop goes through stands in the test, as ``range(3)`` and ``(1, 2)`` do."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names <= {"range"} and not any(isinstance(inner, ast.Attribute | ast.Await) for inner in ast.walk(node))


def _is_set(node: ast.expr) -> bool:
    """Whether an expression gives a set, as far as its text says."""
    match node:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset") | ast.Attribute(attr="keys")):
            return True
    return False
