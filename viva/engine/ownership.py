"""Which cells and names of a notebook depend on the student.

Untainted cells can be run by the examiner itself. An instructor cell is tainted when running it
uses a name that is the student's: a name that an answer cell binds or changes, or that a tainted
cell binds. A given function that mentions such a name taints the cells that call it, not the cell
that defines it. Everything is judged by the instructor's solution: what else a student rebinds
does not matter.

A test that uses nothing of any answer cell can only be about the open cells that it uses, those
that students may edit though nbgrader does not know them: these are answers then.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from IPython.core.inputtransformer2 import TransformerManager

ANSWERS = ("answer", "manual")
"""The kinds of cells that the student fills in."""
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
IMPORTS = (ast.Import, ast.ImportFrom)
MEASURING_MAGICS = frozenset({"time", "timeit", "capture"})
"""Magics that run the rest of their cell, which binds names as it would without them."""
MEASURING = re.compile(rf"\A(\s*)%%(?:{'|'.join(MEASURING_MAGICS)})\b.*|(?m:^([ \t]*)%time[ \t]+(?=\S))")


@dataclass
class Names:
    """The names of one cell: bound (or deleted, or changed through an index or attribute), used while it
    runs, and by function: mentioned in its body."""

    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    mentioned: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """``given``: cells that the examiner runs. ``owned``: by cell, the names that are the student's from there on."""

    given: frozenset[str]
    owned: dict[str, frozenset[str]]


NOTHING = ast.Module([], [])


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell, with magics as IPython reads them; None when it is not Python.

    What is only measured, as below ``%%time``, is read as if it was not.
    """
    try:
        return ast.parse(TransformerManager().transform_cell(unmeasured(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def unmeasured(source: str) -> str:
    """A cell without the magics that only measure it; every line stays at its number."""
    return MEASURING.sub(r"\1\2", source)


@functools.lru_cache(4096)
def names_of(source: str) -> Names | None:
    """The names of a cell, or None when it is not Python; not to be changed, it is kept for the next who asks."""
    tree = parsed(source)
    if tree is None:
        return None
    names = Names()
    for statement in tree.body:
        _visit(statement, names)
    return names


def definitions_of(source: str) -> list[str]:
    """The imports, functions and classes of a cell's top level, each as text."""
    tree = parsed(source) or NOTHING
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    return [ast.unparse(node) for node in tree.body if isinstance(node, kinds) or _imports(node)]


def _imports(statement: ast.stmt) -> bool:
    """Whether a statement only imports, or tries to."""
    if not isinstance(statement, ast.Try):
        return isinstance(statement, IMPORTS)
    plain = not any(isinstance(node, ast.Call) for node in ast.walk(statement))
    return plain and any(isinstance(node, IMPORTS) for node in statement.body)


def helpers_of(source: str) -> dict[str, set[str]]:
    """The imports and plain functions of a cell's top level, each as text, with the names that it alone binds."""
    tree = parsed(source) or NOTHING
    found, bound = {}, Counter()
    for statement in tree.body:
        names = Names()
        _visit(statement, names)
        bound.update(names.bound)
        function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and not statement.decorator_list
        if function or _imports(statement):
            found[ast.unparse(statement)] = names.bound
    return {text: names for text, names in found.items() if all(bound[name] == 1 for name in names)}


def import_statements(source: str) -> dict[str, set[str]]:
    """The imports of a cell's top level, each as text, with the names that it binds."""
    found = {}
    for statement in (parsed(source) or NOTHING).body:
        if _imports(statement):
            _visit(statement, names := Names())
            found[ast.unparse(statement)] = names.bound
    return found


def imports_of(source: str) -> set[str]:
    """The names that a cell binds by importing, at its top level."""
    return set().union(*import_statements(source).values())


def rebound_of(source: str) -> set[str]:
    """The names that a cell binds or changes in another way than by importing, or by a method."""
    names = Names()
    for statement in (parsed(source) or NOTHING).body:
        if not _imports(statement):
            _visit(statement, names)
    return names.bound | changed_of(source)


CHANGING = frozenset(
    "add append appendleft clear discard extend extendleft fill insert pop popitem put remove resize reverse rotate "
    "setdefault setflags shuffle sort update".split()
)
"""Methods that change an object in place, or what they are given."""


def changed_of(source: str) -> set[str]:
    """The names whose objects a cell changes by a method, as in ``cases.append(1)`` and ``rng.shuffle(cases)``."""
    tree = parsed(source) or NOTHING
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    touched = [part for call in calls if call.func.attr in CHANGING for part in (call.func.value, *call.args)]
    return {node.id for part in touched for node in ast.walk(part) if isinstance(node, ast.Name)}


MOST_TEXT = 20_000
"""Of a longer cell nobody asks what it assigns to."""
DYNAMIC = frozenset("__import__ eval exec get_ipython globals locals setattr vars".split())
"""Functions that may assign to any name. Magics are calls of get_ipython()."""


@dataclass(frozen=True)
class Assigned:
    """The names that a cell may give another value: while it ``runs``, and whenever one of its functions is called
    ``later``."""

    runs: frozenset[str]
    later: frozenset[str]


@functools.lru_cache(4096)
def assigned_of(source: str) -> Assigned | None:
    """What the text of a student's cell assigns to at whatever depth, changes in place, or hands to a function of the
    notebook that may change it. None when the text does not say."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's opinion of a student's text
            tree = parsed(source) if len(source) <= MOST_TEXT else None
        nodes = list(ast.walk(tree or NOTHING))
        later = [inner for node in nodes if isinstance(node, (*SCOPES, ast.ClassDef)) for inner in ast.walk(node)]
        runs, called = (frozenset().union(*map(_assigned, part)) for part in (nodes, later))
    except (Exception, MemoryError):  # IPython's reading of a stranger's text may raise what it likes
        tree = None
    if tree is None or "*" in runs:
        return None
    if any(isinstance(node, ast.Name) and node.id in DYNAMIC for node in nodes):
        runs |= frozenset(re.findall(r"\w+", source))
    return Assigned(runs, called)


def _assigned(node: ast.AST) -> set[str]:
    """The names that one node of a syntax tree may give another value."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.AsyncFunctionDef(name=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return {name}
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return set(names)
        case ast.alias():
            return {(node.asname or node.name).partition(".")[0]}
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in CHANGING:
            changed = [node.func.value, *node.args]
        case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
            changed = [*node.args, *(keyword.value for keyword in node.keywords)]
            return {part.id for part in changed if isinstance(part, ast.Name)}
        case ast.keyword(arg="out", value=value):
            changed = [value]
        case _:
            return set()
    return {inner.id for part in changed for inner in ast.walk(part) if isinstance(inner, ast.Name)}


def _visit(node: ast.AST, names: Names) -> None:
    if isinstance(node, SCOPES):
        label = getattr(node, "name", f"<lambda {node.lineno}>")
        body = node.body if isinstance(node.body, list) else [node.body]
        inner = [child for statement in body for child in ast.walk(statement)]
        shared = {name for child in inner if isinstance(child, ast.Global) for name in child.names}
        local = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        local |= {c.id for c in inner if isinstance(c, ast.Name) and not isinstance(c.ctx, ast.Load)} - shared
        mentioned = {child.id for child in inner if isinstance(child, ast.Name)} - local
        names.mentioned.setdefault(label, set()).update(mentioned)
        names.bound |= shared
        if isinstance(node, ast.Lambda):
            names.used |= mentioned
        else:
            names.bound.add(label)
            for part in (*node.decorator_list, node.args):
                _visit(part, names)
        return
    if isinstance(node, ast.ClassDef):
        names.bound.add(node.name)
        inner = Names()
        for part in (*node.decorator_list, *node.bases, *node.keywords, *node.body):
            _visit(part, inner)
        names.used |= inner.used
        mentioned = set().union(*inner.mentioned.values()) if inner.mentioned else set()
        names.mentioned[node.name] = mentioned | inner.used
        return
    if isinstance(node, IMPORTS):
        names.bound.update((alias.asname or alias.name.partition(".")[0]) for alias in node.names)
        return
    if isinstance(node, ast.Name):
        (names.used if isinstance(node.ctx, ast.Load) else names.bound).add(node.id)
        return
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        base = node
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name):
            names.bound.add(base.id)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.used.add(node.target.id)
    if isinstance(node, ast.ExceptHandler) and node.name:
        names.bound.add(node.name)
    for child in ast.iter_child_nodes(node):
        _visit(child, names)


def plan(cells: Iterable[tuple[str, str, str]], changed: dict[str, set[str]] | None = None) -> Plan:
    """The plan for a notebook's code cells, given as (id, kind, source) in order; ``open`` is a kind too.

    ``changed`` names, by answer cell, what running the solution changed in place beyond what its
    text shows.
    """
    cells = list(cells)
    known = [(cell, kind, names_of(source)) for cell, kind, source in cells]
    result = _fixed(known, changed or {})
    tested = _only_tested(cells, known, result)
    if not tested:
        return result
    return _fixed([(cell, "answer" if cell in tested else kind, names) for cell, kind, names in known], changed or {})


def _only_tested(cells: list[tuple[str, str, str]], known: list, found: Plan) -> set[str]:
    """The open cells that hold the answers to tests which use nothing of an answer cell; imports are no answers."""
    mine: set[str] = set()
    functions: dict[str, set[str]] = {}
    open_cells: dict[str, set[str]] = {}
    tested: set[str] = set()
    for (cell, kind, source), (_, _, names) in zip(cells, known, strict=True):
        mine |= found.owned.get(cell, frozenset())
        if names is None:
            continue
        functions |= names.mentioned
        if kind == "open":
            open_cells[cell] = names.bound - imports_of(source)
        elif kind == "tests":
            needed = names.used.union(*names.mentioned.values())
            needed |= reached(needed, functions)
            if not needed & mine:
                tested |= {name for name, bound in open_cells.items() if bound & needed}
    return tested


def _fixed(known: list, changed: dict[str, set[str]]) -> Plan:
    ever: set[str] = set()
    while True:
        result, found = _pass(known, changed, ever)
        if found <= ever:
            return result
        ever |= found


def _pass(known: list, changed: dict[str, set[str]], ever: set[str]) -> tuple[Plan, set[str]]:
    mine: set[str] = set()
    functions: dict[str, set[str]] = {}
    given, owned, found = set(), {}, set()
    for cell, kind, names in known:
        if kind == "tests":
            continue
        if names is None:
            names = Names()
            tainted = True
        else:
            functions |= names.mentioned
            used = names.used | reached(names.used, functions)
            tainted = kind in ANSWERS or bool(used & mine) or bool(reached(names.used, functions) & ever)
        if tainted:
            lost = names.bound | changed.get(cell, set())
            mine |= lost
            found |= lost
            owned[cell] = frozenset(lost)
        else:
            mine -= names.bound
            given.add(cell)
    return Plan(frozenset(given), owned), found


def reached(used: set[str], functions: dict[str, set[str]]) -> set[str]:
    """The names mentioned by the functions in ``used``, and by the functions that those mention."""
    reached: set[str] = set()
    todo = [name for name in used if name in functions]
    seen = set(todo)
    while todo:
        for name in functions[todo.pop()]:
            reached.add(name)
            if name in functions and name not in seen:
                seen.add(name)
                todo.append(name)
    return reached
