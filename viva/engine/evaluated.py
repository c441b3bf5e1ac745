"""Tests that run a text of the student's as code: ``eval(formula)``, ``pickle.loads(dump(x))``, a docstring's examples.

A text is plain data, and crosses. Run by the examiner it would be student code in the process that has the hidden tests
and decides. Such grade cells run in the candidate, as in a kernel; they are told by their text.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field

from viva.engine.names import NOTHING, names_in, nodes_of, parsed

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
    "testmod testfile run_docstring_examples DocTestFinder DocTestParser DocTestRunner DocTestSuite".split()
)
NAMES = frozenset({"globals", "locals", "vars"})
"""Where a text chooses what a name means."""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Running:
    """What is known, from the cells read so far that are not the student's, of how a text can be run."""

    functions: set[str] = field(default_factory=set)
    """Those that run what they are handed."""
    methods: set[str] = field(default_factory=set)
    modules: dict[str, str] = field(default_factory=dict)
    """By the name under which they were imported, modules and those of functions."""

    def read(self, source: str) -> None:
        """Learn what a cell, or a module of the course's, imports and defines."""
        nodes = nodes_of(parsed(source) or NOTHING)
        self._import(nodes)
        bodies = [node.body for node in nodes if isinstance(node, ast.ClassDef)]
        for function in [node for node in nodes if isinstance(node, FUNCTIONS)]:
            inner = nodes_of(function)
            parameters = {node.arg for node in inner if isinstance(node, ast.arg)}
            if not parameters.isdisjoint(_behind(self._run_by(inner), inner)):
                self.functions.add(function.name)
                self.methods |= {function.name} if any(function in body for body in bodies) else set()

    def runs(self, source: str, answers: set[str]) -> bool:
        """Whether a grade cell may run a text that comes of these names."""
        nodes = nodes_of(parsed(source) or NOTHING)
        self._import(nodes)
        if any(_name_of(node) in DOCTESTS for node in nodes):
            return True
        return not answers.isdisjoint(_behind(self._run_by(nodes), nodes))

    def _import(self, nodes: list[ast.AST]) -> None:
        for node in nodes:
            match node:
                case ast.Import(names=aliases):
                    self.modules |= {alias.asname or alias.name: alias.name for alias in aliases}
                case ast.ImportFrom(module=str(module), names=aliases):
                    self.modules |= {alias.asname or alias.name: module for alias in aliases}

    def _run_by(self, nodes: list[ast.AST]) -> list[ast.expr]:
        """What calls among the nodes run if it is a text."""
        found = [node.slice for node in nodes if isinstance(node, ast.Subscript) and _is_all_names(node.value)]
        for call in nodes:
            if not isinstance(call, ast.Call):
                continue
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            name = _name_of(call.func)
            root = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            module = self.modules.get(_name_of(root), "").partition(".")[0]
            options = {keyword.arg for keyword in call.keywords}
            known = self.functions if root is call.func or _name_of(root) in self.modules else self.methods
            if name in known or module == "sympy":
                found += given  # sympy makes an expression of any text
            elif name in RUNNING or module in OF_MODULES.get(name, ()) or options & OPTIONS:
                found += [text for text in given[:1] if not _is_own(text)]
            elif name == "get" and _is_all_names(root):
                found += given[:1]
        return found


def _is_own(text: ast.expr) -> bool:
    """Whether it is a function of the test's, or what it wrote itself, as in ``pickle.loads(pickle.dumps(x))``."""
    written = isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "dumps"
    return isinstance(text, ast.Lambda) or (written and _name_of(text.func.value) in SERIALIZING)


def _is_all_names(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and not node.args and _name_of(node.func) in NAMES


def _behind(values: list[ast.expr], nodes: list[ast.AST]) -> set[str]:
    """The names of which some values come, by whatever the nodes make of them."""
    sources = _sources(nodes)
    found: set[str] = set()
    todo = list(names_in(*values).needed)
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += sources[name]
    return found


def _sources(nodes: list[ast.AST]) -> defaultdict[str, set[str]]:
    """By name, the names of which its value comes."""
    sources: defaultdict[str, set[str]] = defaultdict(set)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    for node in nodes:
        match node:
            case ast.Assign(value=value):
                targets = node.targets
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                targets = [target]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                targets = [target]
            case ast.comprehension(target=target, iter=value):
                targets = [target]
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                targets = [target]
            case ast.Call(func=ast.Attribute(value=target)):  # as lines.append(text)
                targets, value = [target], ast.Tuple([*node.args, *(one.value for one in node.keywords)])
            case ast.FunctionDef(name=name, args=target) | ast.AsyncFunctionDef(name=name, args=target):
                handed = [call for call in calls if _name_of(call.func) == name]
                targets, value = [target], ast.Tuple(handed or list(calls))
            case ast.Lambda(args=target):
                targets, value = [target], ast.Tuple(list(calls))
            case _:
                continue
        behind = names_in(value).needed
        for part in (part for target in targets for part in ast.walk(target)):
            if isinstance(part, ast.Name | ast.arg):
                sources[part.id if isinstance(part, ast.Name) else part.arg] |= behind
    return sources


def _name_of(node: ast.AST) -> str:
    """The last part of ``name.attribute.attribute``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
