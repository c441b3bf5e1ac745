"""The names that test code sees: the instructor's own, Python's, and the student's by asking."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import sys
import types
from collections.abc import Callable, KeysView
from typing import NoReturn

from IPython.core.inputtransformer2 import TransformerManager

from viva.engine.dialogue import sameness
from viva.engine.dialogue.asker import Asker
from viva.engine.dialogue.expected import Path
from viva.engine.dialogue.looks import with_looks
from viva.engine.dialogue.proxies import Type, is_instance, is_subclass
from viva.notebook.syntax import MEASURING_MAGICS

HARMLESS_MAGICS = frozenset({"matplotlib", "load_ext", "reload_ext", "autoreload", "config", "precision", "pylab"})
IDENTICAL = "__is__"
"""The name under which test code finds what ``is`` means for proxies."""
SEEN = "__observed__"
"""The name under which observed test code reports each value that it looks at."""
MEMORY = "__memory__"
"""The name under which test code reports each value whose memory it asks for."""
FORMATTING = "__formatting__"
"""The name under which test code finds what looks at the text of a ``text.format``."""
WHOLE = "a test cannot list all names of the notebook. Use single names"
"""The error for test code that goes through the values of all names; its cell then runs in the candidate."""


class UnknownMagicError(Exception):
    """A magic that the examiner does not know, so that the cell cannot be graded."""


class Namespace(dict):
    """The names of test code: what was run here, then Python's own, then the candidate's."""

    def __init__(self, asker: Asker) -> None:
        # With Python's own names in it, __missing__ is asked for the student's only.
        super().__init__(vars(builtins), __builtins__=builtins, __name__="__main__")
        super().update(type=Type, isinstance=is_instance, issubclass=is_subclass, get_ipython=MiniShell)
        observer = asker.observer
        super().update(
            id=observer.id_of, **{IDENTICAL: observer.is_one, SEEN: observer.seen, MEMORY: observer.in_memory}
        )
        super().update(dir=self._dir, vars=self._vars, locals=self._locals, globals=self.all)
        self.asker = asker
        self.owned: set[str] = set()
        self.given: set[str] = set()
        """Names that cells have bound which depend on no student. They are bound in the candidate, too."""
        self.bound: set[str] = set()
        """Names that the code running now has bound or deleted."""
        self.deleted: dict[str, object] = {}
        """Names that test code has deleted in the candidate, too, and what they meant here."""
        self.giving = False
        """Whether an instructor's cell runs that depends on no student, and so may go through all names."""
        self.modules: dict[str, types.ModuleType] = {}
        """Modules imported here that the solution imports anew; a student may not need them."""

    def __missing__(self, name: str) -> object:
        if name.startswith("__") or (name not in self.owned and hasattr(builtins, name)):
            raise KeyError(name)
        try:
            return self.asker.name(name)
        except NameError:
            if name in self.modules:
                return self.modules[name]
            if hasattr(builtins, name):
                return getattr(builtins, name)
            raise

    def __setitem__(self, name: str, value: object) -> None:
        self.bound.add(name)
        super().__setitem__(name, value)
        if self.deleted.get(name, self) is value:  # a test took a function away for a while, to see who uses it
            self.asker.exchange({"do": "restore", "name": name})
            del self.deleted[name]
            self.bound.discard(name)

    def __delitem__(self, name: str) -> None:
        given = name in self.given and name not in self.bound and not self.giving
        self.bound.add(name)
        if name not in self or name in self.owned or given:
            self.deleted[name] = dict.get(self, name, self.asker.names.standing.get(name, object()))
            self.asker.names.forget([name])
            self.asker.exchange({"do": "unbind", "name": name})
        self.pop(name, None)
        self.modules.pop(name, None)

    def give_up(self, names: set[str]) -> None:
        """Leave these names to the candidate from now on."""
        self.owned |= names
        for name in names:
            if isinstance(value := self.pop(name, None), types.ModuleType):
                self.modules[name] = value

    def names(self) -> set[str]:
        bound = {
            name for name in self if name[:2] != "__" and name not in OVERRIDDEN and not _is_builtin(name, self[name])
        }
        return bound | set(self.asker.operate("names", path=Path("")))

    def all(self) -> View:
        return View(self) if self.giving else TestsView(self)

    def _dir(self, *args: object):
        return builtins.dir(*args) if args else sorted(self.names())

    def _locals(self):
        frame = sys._getframe(1)
        return self.all() if frame.f_locals is self else dict(frame.f_locals)

    def _vars(self, *args: object):
        return builtins.vars(*args) if args else self.all()


class Solution(dict):
    """The names of the solution's own answers, beside those of the cells that depend on no student."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__(__builtins__=builtins, __name__="__main__")
        self.namespace = namespace

    def __missing__(self, name: str) -> object:
        value = self if name in self.namespace.owned else dict.get(self.namespace, name, self)  # which asks no student
        if value is self:
            raise KeyError(name)
        return value


def _is_builtin(name: str, value: object) -> bool:
    return getattr(builtins, name, None) is value


OVERRIDDEN = frozenset({"id", "type", "isinstance", "issubclass", "get_ipython", "dir", "vars", "locals", "globals"})


class View(dict):
    """All names of both sides, as locals() and globals() show them; what they mean is asked one by one."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__(dict.fromkeys(namespace.names()))
        self.namespace = namespace

    def __getitem__(self, name: str) -> object:
        return self.namespace[name]

    def get(self, name: str, default: object = None) -> object:
        return self.namespace[name] if name in self else default


class TestsView(View):
    """The names as a test sees them. A test cannot go through them all, nor bind one: the other side would not.

    Of names that only this student has it is not known what they may be, and a test that found none at all would pass
    whatever was submitted.
    """

    def keys(self) -> KeysView:  # type: ignore[override]  # typeshed has dict's own, which nobody can make
        return KeysView(self)

    def __iter__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(WHOLE)

    items = values = copy = __or__ = __ror__ = __iter__
    __setitem__ = __delitem__ = update = setdefault = pop = __iter__


class Notebook(types.ModuleType):
    """The module ``__main__`` for test code, as ``from __main__ import f`` and ``unittest.main()`` look for it."""

    __names__: Namespace
    __look_up__: Callable

    def __init__(self, namespace: Namespace, look_up: Callable = lambda *_: None) -> None:
        """``look_up`` is told each name that is asked for and what it means, and may raise."""
        super().__init__("__main__")
        super().__setattr__("__names__", namespace)
        super().__setattr__("__look_up__", look_up)

    def __getattr__(self, name: str) -> object:
        if name == "__all__":  # import * asks for it first
            return list(self.__dict__)
        with contextlib.suppress(KeyError, NameError):
            value = self.__names__[name]
            self.__look_up__(name, value)
            if name not in OVERRIDDEN and not _is_builtin(name, value):
                return value
        raise AttributeError(f"module '__main__' has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__[name] = value

    def __dir__(self) -> list[str]:
        return list(self.__dict__)

    @property
    def __dict__(self) -> View:  # type: ignore[override]  # a module's is a dict that can be replaced
        return self.__names__.all()


class MiniShell:
    """The result of get_ipython() for test code."""

    def __new__(cls):
        return _SHELL

    def run_line_magic(self, name: str, line: str = "", **_: object) -> None:
        if name not in HARMLESS_MAGICS:
            raise UnknownMagicError(f"%{name}")

    def system(self, command: str) -> None:
        raise UnknownMagicError(f"!{command}")

    getoutput = system

    def __getattr__(self, name: str):
        raise UnknownMagicError(f"get_ipython().{name}")


_SHELL = object.__new__(MiniShell)


# The code of a test, compiled so that it can ask about what lives in the candidate.


@functools.lru_cache(4096)
def compiled(
    source: str, title: str, observed: bool = False
) -> tuple[types.CodeType, types.CodeType | None, frozenset[str]]:
    """The code of a test, that of its last expression if it ends in one, and the names used in its class bodies.

    Code that is ``observed`` reports each value that it looks at.
    Python looks the names of class bodies up where no ``__missing__`` is asked, so they are fetched before.
    Raises SyntaxError, and UnknownMagicError.
    """
    text = TransformerManager().transform_cell(_without_measuring(source))
    tree = ast.parse(text, title)
    quiet = _ends_quietly(tree, text)
    tree = ast.fix_missing_locations(_Identity().visit(with_looks(tree, source)))
    tree = ast.fix_missing_locations(_Looking().visit(tree)) if observed else tree
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    used = frozenset(inner.id for node in classes for inner in ast.walk(node) if isinstance(inner, ast.Name))
    value = None
    if last is not None and not quiet:
        value = compile(ast.fix_missing_locations(ast.Expression(last.value)), title, "eval")
    elif last is not None:
        tree.body.append(last)
    return compile(ast.fix_missing_locations(tree), title, "exec"), value, used


def _ends_quietly(tree: ast.Module, text: str) -> bool:
    """Whether a semicolon follows the last statement."""
    if not tree.body:
        return False
    last = tree.body[-1]
    line = text.splitlines()[(last.end_lineno or last.lineno) - 1].encode()
    return line[last.end_col_offset :].lstrip().startswith(b";")


IS = frozenset({ast.Is, ast.IsNot})


class _Rewriting(ast.NodeTransformer):
    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        pattern, node.pattern = node.pattern, ast.MatchAs()  # no call may stand in a pattern
        self.generic_visit(node)
        node.pattern = pattern
        return node


class _Identity(_Rewriting):
    """Has ``a is b`` and ``a.__class__`` answered for what proxies stand for; Python would see the proxies.

    ``text.format`` is looked at before it is called.
    """

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        (operator, *further), right = node.ops, node.comparators[0]
        middle = node.comparators[:-1]
        if further and IS & {*map(type, node.ops)} and all(isinstance(side, ast.Name) for side in middle):
            pairs = zip([node.left, *middle], node.ops, node.comparators, strict=True)
            parts = [ast.copy_location(ast.Compare(left, [one], [other]), node) for left, one, other in pairs]
            return ast.copy_location(ast.BoolOp(ast.And(), [self.visit(part) for part in parts]), node)
        self.generic_visit(node)
        if further or type(operator) not in IS or isinstance(right, ast.Constant):
            return node
        call = _call(IDENTICAL, [node.left, right], node)
        return ast.copy_location(ast.UnaryOp(ast.Not(), call), node) if isinstance(operator, ast.IsNot) else call

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.attr in ("format", "format_map", "vformat") and not isinstance(node.value, ast.Constant):
            return _call(FORMATTING, [node], node)
        if node.attr in sameness.MEMORY:
            node.value = _call(MEMORY, [node.value], node.value)
        return _call("type", [node.value], node) if node.attr == "__class__" else node


class _Looking(_Rewriting):
    """Has test code tell each value at which it looks, by a name or an attribute."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        own = node.id.startswith("__") or hasattr(builtins, node.id)
        return node if own or not isinstance(node.ctx, ast.Load) else _call(SEEN, [node], node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return _call(SEEN, [node], node) if isinstance(node.ctx, ast.Load) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node


def _call(name: str, args: list[ast.expr], node: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, []), node)


def _without_measuring(source: str) -> str:
    """The source without ``%%time`` and the like, which must not hide the cell's body from us."""
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        name = first[2:].split()[0] if first[2:].split() else ""
        if name not in MEASURING_MAGICS:
            raise UnknownMagicError(first)
        return "\n" + rest
    return source
