"""Single-process cells: test cells that run in the student's process, recognised by their text.

Their hidden lines reach the student's process. Two kinds of them pass the solution in two processes as well, where
they would see nothing or be no protection:

- A test that forbids something (it patches ``np.sum``, defines a ``sum`` that raises, lowers the limit of recursion,
  gives a thread a second). Only the student's process shows who uses it.
- A test that runs a text as code: ``eval(formula)``, ``pickle.loads(dump(x))``, a docstring's examples. A text is plain
  data, and crosses. Run by the examiner it would be student code in the process that has the hidden tests and decides.

A third kind, which looks at which values are one object, is seen in the rehearsal (``dialogue/sameness``).
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator

from viva.engine.libraries import is_library
from viva.notebook.names import imports_of
from viva.notebook.syntax import ATTRIBUTES, CAPTURED, SCOPES, imports_in, nodes_in, nodes_of, root_of, statements_of
from viva.record import Note

ABOUT_CODE = frozenset(
    "setrecursionlimit settrace setprofile setrlimit tracemalloc getcontext setcontext localcontext".split()
)
"""Functions that limit or measure student code in its own process, or set how precise its decimal numbers are."""
SIDE_BY_SIDE = frozenset("Thread Timer ThreadPool ThreadPoolExecutor Process Pool ProcessPoolExecutor".split())
"""Classes that run student code beside the test, which goes on and sees how far the code has come."""
PATCHING = frozenset({"patch", "MonkeyPatch"})
WAYS = frozenset({"object", "dict", "multiple", "context"})
"""The functions of ``patch``, as in ``patch.object``."""
QUIET = frozenset("stdin stdout stderr show showwarning formatwarning maxDiff longMessage tracebacklimit".split())
"""Functions that tests replace for their own sake: to read what was printed or warned of, which crosses,
or to see no figures."""
FUNCTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException))
)
"""Functions that students may be forbidden to use."""
SPECIAL = re.compile(r"__\w+__")
RUNNING = frozenset(
    "eval exec run_cell get_type_hints query unsafe_load builds from_type from_string dictConfig fileConfig "
    "instantiate locate resolve_name".split()
)
"""Functions that run what their first argument says, or what stands in its annotations."""
SERIALIZING = frozenset("pickle dill cloudpickle joblib marshal yaml".split())
OF_MODULES = {
    **dict.fromkeys(("load", "loads", "Unpickler"), SERIALIZING),
    **dict.fromkeys(("timeit", "repeat", "Timer"), frozenset({"timeit"})),
    "Template": frozenset({"jinja2", "mako"}),
}
"""Those of these modules; ``timeit`` takes a text as well as a function."""
OPTIONS = frozenset({"eval_str", "allow_pickle"})
DOCTESTS = frozenset(
    "doctest testmod testfile run_docstring_examples DocTestFinder DocTestParser DocTestRunner DocTestSuite".split()
)
NAMES = frozenset({"globals", "locals", "vars"})
"""Tables of names, in which a text chooses the value."""


class SingleProcess:
    """Says of the test cells of a notebook, read in their order, whether they are single-process cells."""

    def __init__(self) -> None:
        self.imported: set[str] = set()
        """Names that the cells above import."""
        self.notebook: set[str] = set()
        """Names that answers and read-only cells above bind."""
        self.modules: dict[str, str] = {}
        """Modules, and those of functions, by the name under which they were imported."""
        self.helpers: set[str] = set()
        """Functions and methods of read-only cells and modules that run a text as code, and classes whose special
        methods do: nobody calls ``__init__`` by its name, and ``super().__init__()`` may be that of any class."""

    def read(self, source: str, helpers: bool = True) -> None:
        """Learn what a cell, or a module of the course's, imports and, where its functions are ``helpers``, defines."""
        self.imported |= imports_of(source)
        if helpers:
            nodes = nodes_in(source)
            self._import(nodes)
            for node in nodes:
                match node:
                    case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                        if not SPECIAL.fullmatch(name) and self._runs(nodes_of(node)):
                            self.helpers.add(name)
                    case ast.ClassDef(name=name, bases=bases):
                        methods = [part for part in node.body if SPECIAL.fullmatch(getattr(part, "name", ""))]
                        if any(map(self._helps, bases)) or any(self._runs(nodes_of(method)) for method in methods):
                            self.helpers.add(name)

    def why(self, source: str, alone: bool = True, hidden: str = "") -> Note | None:
        """Why a grade cell is a single-process cell, if its text says so.

        ``alone`` says whether the solution passes it in one process. The student's process does not see what ``hidden``
        lines bind. So a function there that takes the place of the notebook's, and raises, would forbid nothing.
        """
        nodes = nodes_in(source)
        self._import(nodes)
        if any(_name_of(node) in DOCTESTS or self._helps(node) for node in nodes) or self._runs(nodes):
            return Note("runs_text")
        if not alone:
            return None
        modules = self.imported | imports_of(source) | {"__builtins__"}
        if CAPTURED.match(source) or any(_patches(node, modules) for node in nodes):
            return Note("patches")
        forbidden = (self.imported | FUNCTIONS).intersection(name for name, _ in _replaced(source, deleted=True))
        replaced = ((name, line) for name, line in _replaced(hidden) if name in self.notebook)
        if forbidden or any(_is_for_the_student(name, line, hidden) for name, line in replaced):
            return Note("patches")
        return None

    def _import(self, nodes: list[ast.AST]) -> None:
        self.modules |= {one.bound: one.module for one in imports_in(nodes) if one.module}

    def _helps(self, node: ast.AST) -> bool:
        """Whether a node names a helper; what a library has is none, as ``np.load`` beside a method ``load``."""
        root = self.modules.get(_name_of(node.value), "") if isinstance(node, ast.Attribute) else ""
        root = root.partition(".")[0]
        return _name_of(node) in self.helpers and not (root in sys.stdlib_module_names or is_library(root))

    def _runs(self, nodes: list[ast.AST]) -> bool:
        """Whether a call among the nodes may run a text that does not stand in the test."""
        return any(self._runs_text(node) for node in nodes)

    def _runs_text(self, node: ast.AST) -> bool:
        match node:
            case ast.Subscript(value=value, slice=text) if _is_all_names(value):
                return not isinstance(text, ast.Constant | ast.JoinedStr)
            case ast.Call(func=function, args=args, keywords=keywords):
                pass
            case _:
                return False
        values = [*args, *(keyword.value for keyword in keywords)]
        root = function.value if isinstance(function, ast.Attribute) else function
        module = self.modules.get(_name_of(root), "").partition(".")[0]
        name = _name_of(function)
        if module == "sympy":  # it makes an expression of any text
            return not all(isinstance(argument, ast.Constant) for argument in values)
        running = name in RUNNING or module in OF_MODULES.get(name, ())
        running = running or not OPTIONS.isdisjoint(keyword.arg for keyword in keywords)
        if running or (name == "get" and _is_all_names(root)):
            return not all(map(_is_own, values[:1]))
        return False


def _is_own(text: ast.expr) -> bool:
    """Whether it stands in the test, or is a function of the test's, or what it wrote itself, as
    ``pickle.loads(pickle.dumps(x))`` does."""
    if isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "dumps":
        return _name_of(text.func.value) in SERIALIZING
    return isinstance(text, ast.Lambda | ast.Constant)


def _is_all_names(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and not node.args and _name_of(node.func) in NAMES


def _name_of(node: ast.AST) -> str:
    """The last part of ``name.attribute.attribute``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


# --- tests that forbid something


def _patches(node: ast.AST, modules: set[str]) -> bool:
    """Whether a node of the test's syntax tree changes what student code uses, or asks what that consists of."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in ABOUT_CODE:
            return True
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, name, *_]):
            return root_of(target, ATTRIBUTES) in modules and not _is_quiet(name)
        case ast.Call(func=function, args=targets):
            names = _dotted(function)
            *_, before, last = "", "", *names
            if {last, before if last in WAYS else ""} & PATCHING:
                return not any(map(_is_quiet, targets[:2]))
            return last in SIDE_BY_SIDE and names[0] in modules
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            return name not in QUIET and root_of(node, ATTRIBUTES) in modules
        case ast.Subscript(value=ast.Attribute(attr="modules" | "__dict__") as names, ctx=ast.Store() | ast.Del()):
            return root_of(names, ATTRIBUTES) in modules
    return False


def _is_for_the_student(name: str, line: int, hidden: str) -> bool:
    """Whether ``hidden`` lines do not use themselves what they have put under a ``name`` up to this ``line``."""
    nodes = [node for node in nodes_in(hidden) if isinstance(node, ast.Name) and node.id == name and node.lineno > line]
    return not nodes or not isinstance(min(nodes, key=lambda node: node.lineno).ctx, ast.Load)


def _replaced(source: str, deleted: bool = False) -> Iterator[tuple[str, int]]:
    """The names under which a test puts something else, outside of functions, as a function that only raises, each with
    the last line of that. And those that it has ``deleted``.

    What is only called so (``max = 5``) is not meant for the student.
    """
    todo: list[ast.AST] = list(statements_of(source))
    defined = {node.name for node in todo if isinstance(node, ast.FunctionDef)}
    for node in todo:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.end_lineno or node.lineno
            case ast.Name(id=name, ctx=ast.Del()) if deleted:
                yield name, node.lineno
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=False))
                for bound, assigned in pairs:
                    if isinstance(bound, ast.Name) and _takes_the_place(assigned, defined):
                        yield bound.id, node.end_lineno or node.lineno
        if not isinstance(node, SCOPES):
            todo.extend(ast.iter_child_nodes(node))


def _takes_the_place(value: ast.expr, functions: set[str]) -> bool:
    """Whether what is assigned is nothing, or a function of the test's own, or stands in for one."""
    match value:
        case ast.Constant(value=None) | ast.Lambda():
            return True
        case ast.Name(id=name):
            return name in functions
        case ast.Call(func=function):
            return "Mock" in "".join(_dotted(function)[-1:])
    return False


def _is_quiet(target: ast.expr) -> bool:
    return isinstance(target, ast.Constant) and str(target.value).rpartition(".")[2] in QUIET


def _dotted(node: ast.expr) -> list[str]:
    """The names of ``name.attribute.attribute``; of anything else, those at its end."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=name):
            return [*_dotted(value), name]
    return []
