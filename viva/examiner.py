"""Outside: a process that runs the instructor's test cells and asks the candidate.

Theory of operation. The process is a fork of a warm parent of its own and has walled itself in, more
loosely than the candidate. It holds the namespace in which test code runs. Instructor cells that do
not depend on the student are run right here, each at its place in the notebook, so that imports,
given data and given helpers are the instructor's own. Every other name is asked of the candidate
when test code uses it; functions and objects come as stand-ins.

On descriptor 3 it reads requests of the grading process, on 4 it writes replies; 5 and 6 lead to the
candidate.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import io
import linecache
import os
import sys
import time
import traceback
import types
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

from viva import wire
from viva.standin import STAND_INS, Asker, Type, identical, is_instance, is_subclass
from viva.verdict import CandidateDied, CandidateFault, CandidateStopped, Verdict

REQUEST, REPLY, QUESTION, ANSWER = 3, 4, 5, 6
PRINTED_CHARACTERS = 20_000
HARMLESS_MAGICS = frozenset({"matplotlib", "load_ext", "reload_ext", "autoreload", "config", "precision", "pylab"})
MEASURING_MAGICS = frozenset({"time", "timeit", "capture"})
IDENTICAL = "__is__"
"""The name under which test code finds what ``is`` means for stand-ins."""


class UnknownMagicError(Exception):
    """A magic that the examiner does not know, so that the cell cannot be graded."""


class Namespace(dict):
    """The names of test code: what was run here, then Python's own, then the candidate's."""

    def __init__(self, asker: Asker) -> None:
        # With Python's own names in it, __missing__ is asked for the student's only.
        super().__init__(vars(builtins), __builtins__=builtins, __name__="__main__", **{IDENTICAL: identical})
        super().update(type=Type, isinstance=is_instance, issubclass=is_subclass, get_ipython=MiniShell)
        super().update(dir=self._dir, vars=self._vars, locals=self._locals, globals=self._globals)
        self.asker = asker
        self.owned: set[str] = set()
        self.bound: set[str] = set()
        """Names that the code running now has bound or deleted."""

    def __missing__(self, name: str) -> object:
        if name.startswith("__") or (name not in self.owned and hasattr(builtins, name)):
            raise KeyError(name)
        try:
            return self.asker.operate("name", name, path=name)
        except NameError:
            if hasattr(builtins, name):
                return getattr(builtins, name)
            raise

    def __setitem__(self, name: str, value: object) -> None:
        self.bound.add(name)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        self.bound.add(name)
        if name not in self or name in self.owned:
            self.asker.exchange({"do": "unbind", "name": name})
        self.pop(name, None)

    def give_up(self, names: set[str]) -> None:
        """From now on these names are the candidate's."""
        self.owned |= names
        for name in names:
            self.pop(name, None)

    def names(self) -> set[str]:
        mine = {
            name for name in self if name[:2] != "__" and name not in OVERRIDDEN and not _is_builtin(name, self[name])
        }
        return mine | set(self.asker.operate("names", path=" names"))

    def _dir(self, *args: object):
        return builtins.dir(*args) if args else sorted(self.names())

    def _locals(self):
        frame = sys._getframe(1)
        return self._globals() if frame.f_locals is self else dict(frame.f_locals)

    def _vars(self, *args: object):
        return builtins.vars(*args) if args else self._globals()

    def _globals(self):
        return View(self)


def _is_builtin(name: str, value: object) -> bool:
    return getattr(builtins, name, None) is value


OVERRIDDEN = frozenset({"type", "isinstance", "issubclass", "get_ipython", "dir", "vars", "locals", "globals"})


class View(dict):
    """All names of both sides, as locals() and globals() show them."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__(dict.fromkeys(namespace.names()))
        self.namespace = namespace

    def __getitem__(self, name: str) -> object:
        return self.namespace[name]

    def get(self, name: str, default: object = None) -> object:
        return self.namespace[name] if name in self else default


class MiniShell:
    """What get_ipython() returns to test code."""

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


@dataclass
class CheckReport:
    """What came of one check; crosses to the grading process as a dictionary."""

    title: str
    verdict: Verdict
    reason: str = ""
    traceback: str = ""
    printed: str = ""
    result: str | None = None
    """What the last expression of the check shows, for partial credit."""
    seconds: float = 0.0

    def crossing(self) -> dict:
        return vars(self) | {"verdict": self.verdict.value}


class Printed(io.StringIO):
    """What a check and the student's code in it print, as far as it is kept."""

    def write(self, text: str) -> int:
        return super().write(text) if self.tell() < PRINTED_CHARACTERS else len(text)


class Examiner:
    """Serves the grading process until it closes the pipe."""

    def __init__(self) -> None:
        self.asker = Asker(QUESTION, ANSWER, {})
        self.asker.rebound = self._rebound
        self.namespace = Namespace(self.asker)
        self.given: set[str] = set()
        self.shared: dict[str, object] = {}
        """Names of the notebook that the visible text of the cell binds, and what they were when last told of."""

    def serve(self) -> None:
        while True:
            try:
                request = wire.decode(wire.read(REQUEST))
            except EOFError:
                os._exit(0)
            try:
                reply = wire.encode(getattr(self, "do_" + request.pop("do"))(**request))
            except Exception as error:
                reply = wire.encode({"fault": "".join(traceback.format_exception(error))[-4000:]})
            wire.write(REPLY, reply)

    def do_prepare(self, kinds: dict, recording: bool) -> dict:
        self.asker.kinds |= kinds
        self.asker.recording = recording
        return {}

    def do_kinds(self) -> dict:
        return {"kinds": self.asker.kinds}

    def do_own(self, names: list[str]) -> dict:
        self.namespace.give_up(set(names))
        return {}

    def do_given(self, source: str, name: str) -> dict:
        """Run an instructor cell that does not depend on the student."""
        self.namespace.bound = set()
        report = self._check(source, name)
        self.given |= self.namespace.bound
        return {"error": "" if report.verdict is Verdict.PASSED else f"{report.reason}\n{report.traceback}"}

    def do_begin(self, cell: str, prelude: str, visible: list[str]) -> dict:
        """Start on a grade cell: run what stands before its checks. The report is of that, when it failed.

        When test code binds a ``visible`` name that the notebook has too, the student's functions see it.
        """
        self.namespace.bound = set()
        known = self.namespace.owned | self.given
        self.shared = {name: dict.get(self.namespace, name) for name in visible if name in known}
        with contextlib.suppress(CandidateFault):
            self.asker.share_random_state()
        report = self._check(prelude, cell) if prelude.strip() else CheckReport(cell, Verdict.PASSED)
        return {"report": report.crossing()}

    def do_check(self, title: str, source: str) -> dict:
        """Run one check."""
        return {"report": self._check(source, title).crossing()}

    def do_finish(self, pushed: list[str]) -> dict:
        """Leave a grade cell: the candidate gets the ``pushed`` names, as if the visible text had run there."""
        self.shared = {}
        self._push(set(pushed))
        return {}

    def _push(self, names: set[str]) -> None:
        values = {
            name: self.namespace[name]
            for name in self.namespace.bound & names
            if name in self.namespace and _can_be_told(self.namespace[name])
        }
        if values and not isinstance(self.asker.fault, CandidateDied):
            with contextlib.suppress(CandidateFault):
                self.asker.exchange({"do": "bind", "names": values})

    def _rebound(self) -> dict[str, object]:
        new = {}
        for name, last in self.shared.items():
            value = dict.get(self.namespace, name)
            if value is not last and value is not None and _can_be_told(value):
                new[name] = self.shared[name] = value
        return new

    def _check(self, source: str, title: str) -> CheckReport:
        self.asker.fault = None
        output = Printed()
        start = time.monotonic()
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                result = self._execute(source, title)
            report = CheckReport(title, Verdict.PASSED, result=result)
        except (Exception, CandidateFault, SystemExit) as error:
            report = self._failure(error, title, source)
        if (fault := self.asker.fault) and report.verdict is Verdict.PASSED:
            report = self._failure(fault, title, source)
        report.seconds = time.monotonic() - start
        report.printed = output.getvalue()[:PRINTED_CHARACTERS]
        return report

    def _execute(self, source: str, title: str) -> str | None:
        code, last, in_classes = compiled(source, title)
        _remember(title, source)
        for name in in_classes & self.namespace.owned:
            if name not in self.namespace:
                with contextlib.suppress(NameError):
                    dict.__setitem__(self.namespace, name, self.namespace[name])
        exec(code, self.namespace, self.namespace)
        if last is None:
            return None
        value = eval(last, self.namespace, self.namespace)
        return None if value is None or type(value) in STAND_INS else repr(value)[:200]

    def _failure(self, error: BaseException, title: str, source: str) -> CheckReport:
        trace = _traceback(error, title)
        student = getattr(error, "viva_traceback", "")
        if isinstance(error, CandidateDied):
            return CheckReport(title, Verdict.KILLED, "the code ended its process, or was ended by the limits", trace)
        if isinstance(error, CandidateStopped):
            return CheckReport(title, Verdict.TIMEOUT, "the code did not finish in time", trace)
        if isinstance(error, CandidateFault):
            return CheckReport(title, Verdict.FAILED, str(error), trace)
        if isinstance(error, UnknownMagicError):
            return CheckReport(
                title, Verdict.UNGRADED, f"the test cell uses {error}, which the grader cannot run", trace
            )
        if isinstance(error, AssertionError):
            return CheckReport(title, Verdict.FAILED, str(error), trace)
        name = getattr(error, "viva_name", type(error).__name__)
        return CheckReport(title, Verdict.ERROR, f"{name}: {error}", student or trace)


def _can_be_told(value: object) -> bool:
    return type(value) in STAND_INS or isinstance(value, types.FunctionType) or wire.is_plain(value)


@functools.lru_cache(4096)
def compiled(source: str, title: str) -> tuple[types.CodeType, types.CodeType | None, frozenset[str]]:
    """The code of a test, that of its last expression if it ends in one, and the names used in its class bodies.

    Python looks the names of class bodies up where no ``__missing__`` is asked, so they are fetched before.
    Raises SyntaxError, and UnknownMagicError.
    """
    text = TransformerManager().transform_cell(_without_measuring(source))
    tree = ast.parse(text, title)
    quiet = _ends_quietly(tree, text)
    tree = ast.fix_missing_locations(_Identity().visit(tree))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    used = frozenset(inner.id for node in classes for inner in ast.walk(node) if isinstance(inner, ast.Name))
    value = None
    if last is not None and not quiet:
        value = compile(ast.Expression(last.value), title, "eval")
    elif last is not None:
        tree.body.append(last)
    return compile(tree, title, "exec"), value, used


def _ends_quietly(tree: ast.Module, text: str) -> bool:
    """Whether a semicolon follows the last statement."""
    if not tree.body:
        return False
    last = tree.body[-1]
    line = text.splitlines()[last.end_lineno - 1].encode()
    return line[last.end_col_offset :].lstrip().startswith(b";")


class _Identity(ast.NodeTransformer):
    """Has ``a is b`` and ``a.__class__`` answered for what stand-ins stand for; Python would see the stand-ins."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        (operator, *more), right = node.ops, node.comparators[0]
        if more or not isinstance(operator, ast.Is | ast.IsNot) or isinstance(right, ast.Constant):
            return node
        call = _call(IDENTICAL, [node.left, right], node)
        return ast.copy_location(ast.UnaryOp(ast.Not(), call), node) if isinstance(operator, ast.IsNot) else call

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        asked = node.attr == "__class__" and isinstance(node.ctx, ast.Load)
        return _call("type", [node.value], node) if asked else node


def _call(name: str, args: list[ast.expr], place: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, []), place)


def _without_measuring(source: str) -> str:
    """The source without ``%%time`` and the like, which must not hide the cell's body from us."""
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        name = first[2:].split()[0] if first[2:].split() else ""
        if name not in MEASURING_MAGICS:
            raise UnknownMagicError(first)
        return "\n" + rest
    return source


def _remember(title: str, source: str) -> None:
    linecache.cache[title] = (len(source), None, [line + "\n" for line in source.splitlines()], title)


def _traceback(error: BaseException, title: str) -> str:
    package = os.path.dirname(__file__)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(package)]
    lines = "".join(traceback.format_list(frames[-10:])).splitlines()
    return "\n".join([*lines, "".join(traceback.format_exception_only(error)).rstrip()])[:8000]
