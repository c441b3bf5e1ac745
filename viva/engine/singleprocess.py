"""Single-process cells: test cells that run in the student's process, recognised by their text.

Their hidden lines reach the student's process. Three kinds of them pass the solution in two processes as well, where
they would see nothing or be no protection:

- A test that forbids something (it patches ``np.sum``, defines a ``sum`` that raises, lowers the limit of recursion,
  gives a thread a second). Only the student's process shows who uses it.
- A test that runs a text as code: ``eval(formula)``, ``pickle.loads(dump(x))``, a docstring's examples. A text is plain
  data, and crosses. Run by the examiner it would be student code in the process that has the hidden tests and decides.
- A test that changes what it was given, or has handed over, and looks at it again, to see whether it is a copy; or
  that compares the ``id`` of things.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import re
import sys
from collections.abc import Iterable, Iterator

from viva import doors
from viva.engine.libraries import is_installed
from viva.engine.names import CHANGING, NOTHING, imports_of, nodes_of, parsed
from viva.record import Note
from viva.verdict import CourseError

CAPTURE = re.compile(r"\A\s*%%capture[ \t]+(?!-)\w")
"""A cell magic that binds a name to what the cell has printed."""
ABOUT_CODE = frozenset(
    "setrecursionlimit settrace setprofile setrlimit tracemalloc getcontext setcontext localcontext".split()
)
"""Functions that limit or measure student code in its own process, or set how precise its decimal numbers are."""
IDENTITY = frozenset({"assertIs", "assertIsNot", "is_", "is_not"})
"""Functions that look whether two things are one, as ``id`` does too. (``is`` asks the student's process.)"""
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
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
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
SEVERAL = frozenset({"shuffle", "put", "copyto", "fill_diagonal"})
"""Functions that change their first argument in place."""


@functools.cache
def shared_libraries() -> frozenset[str]:
    """The libraries of whose values a package knows how they cross."""
    with contextlib.suppress(CourseError):  # told where it keeps grading from being right
        return frozenset(doors.entries(doors.CODECS))
    return frozenset()


class SingleProcess:
    """Says of the test cells of a notebook, read in their order, whether they are single-process cells."""

    def __init__(self, answers: Iterable[str] = ()) -> None:
        """``answers`` are the texts of the solution's answers."""
        trees = [parsed(source) or NOTHING for source in answers]
        defined = [node for tree in trees for node in tree.body]
        self.classes = {node.name: node for node in defined if isinstance(node, ast.ClassDef)}
        self.imported: set[str] = set()
        """Names that the cells above import."""
        self.modules: dict[str, str] = {}
        """Modules, and those of functions, by the name under which they were imported."""
        self.helpers: set[str] = set()
        """Functions and methods of read-only cells and modules that run a text as code, and classes whose special
        methods do: nobody calls ``__init__`` by its name, and ``super().__init__()`` may be that of any class."""

    def read(self, source: str, helpers: bool = True) -> None:
        """Learn what a cell, or a module of the course's, imports and, where its functions are ``helpers``, defines."""
        self.imported |= imports_of(source)
        if helpers:
            nodes = nodes_of(parsed(source) or NOTHING)
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

    def why(self, source: str, students: set[str], alone: bool = True) -> Note | None:
        """Why a grade cell is a single-process cell, if it is one.

        ``students`` are the names of answers; ``alone`` says whether the solution passes the cell in one process.
        """
        tree = parsed(source) or NOTHING
        nodes = nodes_of(tree)
        self._import(nodes)
        if any(_name_of(node) in DOCTESTS or self._helps(node) for node in nodes) or self._runs(nodes):
            return Note("runs_text")
        if not alone:
            return None
        modules = self.imported | imports_of(source) | {"__builtins__"}
        if CAPTURE.match(source) or any(_patches(node, modules) for node in nodes):
            return Note("patches")
        if any(_shadows(tree, self.imported | FUNCTIONS)):
            return Note("patches")
        if any(map(_identifies, nodes)):
            return Note("identity")
        classes = {name for name, node in self.classes.items() if not self._is_shared(node)}
        return Note("looks_again") if Sharing(students, classes).shows(tree) else None

    def _is_shared(self, node: ast.ClassDef) -> bool:
        """Whether a class derives from one of a library of which both processes share what is changed in place."""
        roots = [_base_of(base) for base in node.bases]
        return any(self.modules.get(root, root).partition(".")[0] in shared_libraries() for root in roots)

    def _import(self, nodes: list[ast.AST]) -> None:
        for node in nodes:
            match node:
                case ast.Import(names=aliases):
                    self.modules |= {alias.asname or alias.name: alias.name for alias in aliases}
                case ast.ImportFrom(module=str(module), names=aliases):
                    self.modules |= {alias.asname or alias.name: module for alias in aliases}

    def _helps(self, node: ast.AST) -> bool:
        """Whether a node names a helper; what a library has is none, as ``np.load`` beside a method ``load``."""
        root = self.modules.get(_name_of(node.value), "") if isinstance(node, ast.Attribute) else ""
        root = root.partition(".")[0]
        return _name_of(node) in self.helpers and not (root in sys.stdlib_module_names or is_installed(root))

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
            return _root(target) in modules and not _is_quiet(name)
        case ast.Call(func=function, args=targets):
            names = _dotted(function)
            *_, before, last = "", "", *names
            if {last, before if last in WAYS else ""} & PATCHING:
                return not any(map(_is_quiet, targets[:2]))
            return last in SIDE_BY_SIDE and names[0] in modules
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            return name not in QUIET and _root(node) in modules
        case ast.Subscript(value=ast.Attribute(attr="modules" | "__dict__") as names, ctx=ast.Store() | ast.Del()):
            return _root(names) in modules
    return False


def _identifies(node: ast.AST) -> bool:
    """Whether a node of the test's syntax tree asks whether two things are one: each process has its own numbers."""
    match node:
        case ast.Call(func=ast.Name(id="id")) | ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="id"), *_]):
            return True
        case ast.Call(func=func, args=args) if _name_of(func) in IDENTITY:  # True and None are one everywhere
            return not any(isinstance(arg, ast.Constant) for arg in args)
    return False


def _shadows(tree: ast.Module, names: set[str]) -> Iterator[bool]:
    """Whether statements outside of functions put something else under a known name, as a function that only raises.

    What is only called so (``max = 5``) is not meant for the student.
    """
    todo: list[ast.AST] = list(tree.body)
    defined = {node.name for node in todo if isinstance(node, ast.FunctionDef)}
    for node in todo:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Del()):
                yield name in names
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=False))
                for bound, assigned in pairs:
                    yield isinstance(bound, ast.Name) and bound.id in names and _takes_the_place(assigned, defined)
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


def _root(node: ast.expr) -> str:
    """The name at the beginning of ``name.attribute.attribute``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


# --- tests that change what they were given, and look at it again


class Sharing:
    """Whether a test shows that two things are one, or are not, which in two processes they never are.

    It reads the statements of a test in their order and notes of each name where its value was got, and what it was
    handed to. A value that was changed in place and then looked at again through the student's object (as in
    ``items = bag.items(); items.append(9); assert bag.items() == [1]``) shows whether a method returns a copy.
    """

    def __init__(self, students: set[str], classes: set[str]) -> None:
        """``students`` are the names of answers, ``classes`` those of them that are classes."""
        self.students, self.classes = students, classes
        self.instances: set[str] = set()
        """Names of the test's that mean objects of the student's."""
        self.behind: dict[str, set[str]] = {}
        """The objects that may hold a value, the values that may look into it, and the calls, by name of the value."""
        self.got: dict[str, str] = {}
        """The object that gave a value, by name of the value."""
        self.changed: set[str] = set()
        """Names that would show sharing if the test looked at them again."""
        self.acted: set[str] = set()
        """Values whose object has done something since."""

    def shows(self, tree: ast.Module) -> bool:
        return any(map(self._shows, _in_order(tree.body)))

    def _shows(self, statement: ast.stmt) -> bool:
        """Whether one statement does; it is noted what it does to names."""
        nodes = nodes_of(statement)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        passed = {
            argument
            for call in calls
            if _base_of(call.func) in self.students | self.instances
            for argument in _handed(call)
        }
        names = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        used = {node.id for node in names if node not in passed or node.id in self.instances}
        used |= {ast.unparse(call) for call in calls} if self.changed else set()
        shows = not self.changed.isdisjoint(used)
        shows = shows or (isinstance(statement, ast.Assert) and not self.acted.isdisjoint(_compared(statement.test)))
        for changed in _changes(statement):
            self._change(changed)
        for call in calls:
            self._hand_over(call, None)
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._bind(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.For(target=target, iter=value):
                self._bind([target], value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner)))) if owner in self.instances:
                self.acted |= {name for name, giver in self.got.items() if giver == owner}
        return shows

    def _bind(self, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                if isinstance(part, ast.Name):
                    self._bind_one(part.id, value)

    def _bind_one(self, name: str, value: ast.expr) -> None:
        for table in (self.behind, self.got):
            table.pop(name, None)
        self.instances.discard(name)
        self.changed.discard(name)
        self.acted.discard(name)
        root = _base_of(value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in self.classes:
            self.instances.add(name)
            self._hand_over(value, name)
        elif root in self.instances:
            self.behind[name], self.got[name] = {root}, root
        elif isinstance(value, ast.Call) and root in self.students:
            handed = {argument.id for argument in _handed(value) if argument.id not in self.students}
            self.behind[name] = handed | (set() if value.args or value.keywords else {ast.unparse(value)})
            for argument in handed:
                self.behind.setdefault(argument, set()).add(name)
        elif root in self.behind:
            self.behind[name] = {root, *self.behind[root]}

    def _hand_over(self, call: ast.Call, instance: str | None) -> None:
        """Note what a student's object, or an ``instance`` that is new, may hold from now on."""
        owner = instance or _base_of(call.func)
        if owner in self.instances:
            for argument in _handed(call):
                if argument.id not in self.instances | self.students:
                    self.behind.setdefault(argument.id, set()).add(owner)

    def _change(self, target: ast.expr) -> None:
        """Note that what an expression means was changed in place."""
        root = _base_of(target)
        if isinstance(target, ast.Name):
            self.changed |= self.behind.get(root, set())
        elif root in self.instances and not isinstance(target, ast.Name):
            self.changed.add(root)
        elif root in self.behind:
            self.changed |= self.behind[root]


def _in_order(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a test, those in blocks and functions too, each without the blocks in it."""
    for statement in body:
        blocks = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
        blocks += [part.body for part in getattr(statement, "handlers", ())]
        if any(blocks):
            head = [value for name, value in ast.iter_fields(statement) if isinstance(value, ast.expr)]
            if isinstance(statement, ast.For):
                yield ast.For(statement.target, statement.iter, [], [], lineno=statement.lineno)
            elif isinstance(statement, ast.With):
                for item in statement.items:
                    yield ast.Expr(item.context_expr)
            else:
                yield from map(ast.Expr, head)
            for block in filter(None, blocks):
                yield from _in_order(block)
        else:
            yield statement


def _changes(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement changes in place: those before an index, a method or ``+=``."""
    for node in nodes_of(statement):
        match node:
            case ast.AugAssign(target=ast.Name() as target, value=value) if not isinstance(value, ast.Constant):
                yield ast.Name(target.id, ast.Load())
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                yield value
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in CHANGING | SEVERAL:
                yield value
                if name in SEVERAL:
                    yield from args[:1]


def _base_of(node: ast.expr) -> str:
    """The name at the begin of ``name.method(x)[0].attribute``."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _handed(call: ast.Call) -> list[ast.Name]:
    """The names that a call hands over, by themselves or in a list."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    arguments += [
        item for argument in arguments if isinstance(argument, ast.List | ast.Tuple) for item in argument.elts
    ]
    return [argument for argument in arguments if isinstance(argument, ast.Name)]


def _compared(test: ast.expr) -> set[str]:
    """The names that are compared as they are."""
    sides = [
        side for node in ast.walk(test) if isinstance(node, ast.Compare) for side in (node.left, *node.comparators)
    ]
    return {side.id for side in sides if isinstance(side, ast.Name)}
