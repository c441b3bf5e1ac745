"""Test code that means something else in two processes, also where the solution passes it in both ways.

A test that forbids what students might use (it patches ``np.sum``, defines a ``sum`` that raises, reads their source in
a ``try``, lowers the limit of recursion, gives a thread a second) passes the solution, which does not use it, wherever
it runs. Only in the student's process does it see who does. Such grade cells are told by their text.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from viva.engine.names import NOTHING, imports_of, nodes_of, parsed

CAPTURE = re.compile(r"\A\s*%%capture[ \t]+(?!-)\w")
"""A cell magic that binds a name to what the cell has printed."""
ABOUT_CODE = frozenset("getsource getsourcelines setrecursionlimit settrace setprofile setrlimit tracemalloc".split())
"""What asks, limits or measures of student code what only its own process can tell."""
SIDE_BY_SIDE = frozenset("Thread Timer ThreadPool ThreadPoolExecutor Process Pool ProcessPoolExecutor".split())
"""What runs student code beside the test, which goes on meanwhile, and sees how far it has come."""
PATCHING = frozenset({"patch", "MonkeyPatch"})
WAYS = frozenset({"object", "dict", "multiple", "context"})
"""As in ``patch.object``."""
QUIET = frozenset({"stdin", "stdout", "stderr", "show", "maxDiff", "longMessage", "tracebacklimit"})
"""What tests put something in the place of for their own sake: to read what was printed, which crosses, or to see no
figures."""
FUNCTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException))
)
"""What students may be told not to use."""
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def is_indivisible(source: str, imported: set[str]) -> bool:
    """Whether a grade cell has to run in the student's process; ``imported`` are names that cells above it import."""
    if CAPTURE.match(source):
        return True
    tree = parsed(source) or NOTHING
    modules = imported | imports_of(source) | {"__builtins__"}
    return any(_patches(node, modules) for node in nodes_of(tree)) or any(_shadows(tree, imported | FUNCTIONS))


def _patches(node: ast.AST, modules: set[str]) -> bool:
    """Whether a node of the test's syntax tree changes what student code uses, or asks what that consists of."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in ABOUT_CODE:
            return True
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, name, *_]):
            return _root(target) in modules and not _is_quiet(name)
        case ast.Call(func=function, args=targets):
            names = _names(function)
            *_, before, last = "", "", *names
            if {last, before if last in WAYS else ""} & PATCHING:
                return not any(map(_is_quiet, targets[:2]))
            return last in SIDE_BY_SIDE and names[0] in modules
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            return name not in QUIET and _root(node) in modules
        case ast.Subscript(value=ast.Attribute(attr="modules" | "__dict__") as names, ctx=ast.Store() | ast.Del()):
            return _root(names) in modules
    return False


def _shadows(tree: ast.Module, known: set[str]) -> Iterator[bool]:
    """Whether statements outside of functions put something else under a known name, as a function that only raises.

    What is only called so (``max = 5``) is not meant for the student.
    """
    todo: list[ast.AST] = list(tree.body)
    defined = {node.name for node in todo if isinstance(node, ast.FunctionDef)}
    for node in todo:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Del()):
                yield name in known
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=False))
                for one, other in pairs:
                    yield isinstance(one, ast.Name) and one.id in known and _takes_the_place(other, defined)
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
            return "Mock" in "".join(_names(function)[-1:])
    return False


def _is_quiet(target: ast.expr) -> bool:
    return isinstance(target, ast.Constant) and str(target.value).rpartition(".")[2] in QUIET


def _names(node: ast.expr) -> list[str]:
    """The names of ``name.attribute.attribute``; of what is no such thing, those at its end."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=name):
            return [*_names(value), name]
    return []


def _root(node: ast.expr) -> str:
    """The name at the beginning of ``name.attribute.attribute``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
