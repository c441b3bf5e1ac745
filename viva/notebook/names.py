"""The names in a cell's text: which it binds, which it uses, and when.

Everything is read off the syntax tree (``viva.notebook.syntax``); nothing is run.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from viva.notebook.syntax import ITEMS, LONGEST, imports_in, nodes_in, parsed, parts_of, root_of, statements_of

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass
class Names:
    """The names of one cell.

    ``assigned`` by a statement, a definition or ``:=``; ``imported``; ``passing``, those of loops, ``with`` and
    ``except``; ``changed``, deleted or written to through an index or attribute; ``used`` while the cell runs; those
    that it declares to be ``shared`` by ``global``; and by function those ``mentioned`` in its body.
    """

    assigned: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    passing: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    mentioned: dict[str, set[str]] = field(default_factory=dict)

    @property
    def given(self) -> set[str]:
        """All that the cell gives a value."""
        return self.assigned | self.imported | self.passing

    @property
    def bound(self) -> set[str]:
        """All that is another value, or has another, after the cell."""
        return self.given | self.changed

    @property
    def needed(self) -> set[str]:
        """All that the cell or its functions may use."""
        return self.used.union(*self.mentioned.values())


@functools.lru_cache(4096)
def names_of(source: str) -> Names | None:
    """The names of a cell, or None when it has a syntax error; not to be changed, it is kept for the next who asks."""
    tree = parsed(source)
    try:
        return names_in(tree) if tree else None
    except (RecursionError, MemoryError):
        return None


def names_in_text(source: str) -> Names:
    """The names of a text; none of one that cannot be read, or that is longer than anybody types."""
    return (names_of(source) if len(source) <= LONGEST else None) or Names()


def names_within(*nodes: ast.AST) -> Names:
    """The names of some parts of a cell; none where these hold more functions in functions than anybody types."""
    try:
        return names_in(*nodes)
    except (RecursionError, MemoryError):
        return Names()


def names_in(*nodes: ast.AST) -> Names:
    """The names of some parts of a cell. Raises RecursionError."""
    names, todo = Names(), list(nodes)
    while todo:  # on a list: a sum of a thousand terms is a thousand deep
        todo += _read(todo.pop(), names)
    return names


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


def definitions_of(source: str) -> list[str]:
    """The imports, functions and classes of a cell's top level, each as text."""
    defining = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    return [ast.unparse(node) for node in statements_of(source) if isinstance(node, defining) or _imports(node)]


def _imports(statement: ast.stmt) -> bool:
    """Whether a statement only imports, or tries to."""
    if not isinstance(statement, ast.Try):
        return isinstance(statement, IMPORTS)
    plain = not any(isinstance(node, ast.Call) for node in ast.walk(statement))
    return plain and any(isinstance(node, IMPORTS) for node in statement.body)


def helpers_of(source: str) -> dict[str, set[str]]:
    """The imports and plain functions of a cell's top level, each as text, with the names that it alone binds."""
    helpers: dict[str, set[str]] = {}
    bound: Counter[str] = Counter()
    for statement in statements_of(source):
        names = names_in(statement)
        bound.update(names.bound)
        function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and not statement.decorator_list
        if function or _imports(statement):
            helpers[ast.unparse(statement)] = names.bound
    return {text: names for text, names in helpers.items() if all(bound[name] == 1 for name in names)}


def import_statements(source: str) -> dict[str, set[str]]:
    """The imports of a cell's top level, each as text, with the names that it binds."""
    imports = {}
    for statement in statements_of(source):
        if _imports(statement):
            imports[ast.unparse(statement)] = names_in(statement).bound
    return imports


def imports_of(source: str) -> set[str]:
    """The names that a cell binds by importing, at its top level."""
    return set().union(*import_statements(source).values())


def rebound_of(source: str) -> set[str]:
    """The names that a cell binds or changes in another way than by importing, or by a method."""
    statements = [statement for statement in statements_of(source) if not _imports(statement)]
    return names_in(*statements).bound | changed_of(source)


CHANGING = frozenset(
    "add append appendleft clear discard extend extendleft fill insert pop popitem put remove resize reverse rotate "
    "setdefault setflags shuffle sort update".split()
)
"""Methods that change an object in place, or what they are given."""


def changed_of(source: str) -> set[str]:
    """The names whose objects a cell changes by a method, as in ``cases.append(1)`` and ``rng.shuffle(cases)``."""
    return changed_in(*statements_of(source))


def changed_in(*nodes: ast.AST) -> set[str]:
    """The same of some parts of a cell."""
    touched = [
        part
        for top in nodes
        for node in ast.walk(top)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING
        for part in (node.func.value, *node.args)
    ]
    return {node.id for part in touched for node in ast.walk(part) if isinstance(node, ast.Name)}


def needs(source: str) -> set[str]:
    """The names that a cell may use before it has bound them itself: what it needs of the cells above."""
    return _needed(statements_of(source), set())


def _needed(statements: list[ast.stmt], bound: set[str]) -> set[str]:
    """The same of some statements after which, whatever they do, the names in ``bound`` are bound; it grows."""
    needed = set()
    for statement in statements:
        match statement:
            case ast.For(target=target, iter=things, body=body, orelse=after):
                needed |= _reads(things) - bound
                needed |= _needed(body, bound | _stored(target)) | _needed(after, set(bound))
                needed |= _reads(target) - bound - _stored(target)
            case ast.If(test=test, body=body, orelse=after) | ast.While(test=test, body=body, orelse=after):
                needed |= (_reads(test) - bound) | _needed(body, set(bound)) | _needed(after, set(bound))
            case ast.With(items=items, body=body):
                needed |= set().union(*map(_reads, items)) - bound
                bound |= set().union(*map(_stored, items))
                needed |= _needed(body, bound)
            case _:
                needed |= _reads(statement) - bound
                if isinstance(statement, ast.Assign | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
                    bound |= _stored(statement)
    return needed


def _reads(node: ast.AST) -> set[str]:
    """The names that a part of a cell reads, deletes or changes, at once or in a function of its."""
    names = names_in(node.context_expr if isinstance(node, ast.withitem) else node)
    return names.needed | names.changed


def _stored(node: ast.AST) -> set[str]:
    """The names of the notebook that a part of a cell binds, whatever happens."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import() | ast.ImportFrom():
            return names_in(node).imported
        case ast.Assign(targets=targets):
            return names_in(*targets).assigned
        case ast.withitem(optional_vars=target):
            return names_in(target).assigned if target else set()
    return names_in(node).assigned


def called_upon(source: str) -> set[str]:
    """The names of the objects of which a method is called for its effect: ``words.append(word)``."""
    names = set()
    for node in nodes_in(source):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if not isinstance(function, ast.Name) and (root := root_of(function)):
                names.add(root)
    return names


def renamed(source: str, names: Set[str]) -> str:
    """The source with other names in place of these, each with an underscore behind it."""
    tree = parsed(source)
    if not tree or not names:
        return source
    return ast.unparse(_Renaming({name: f"{name}_" for name in names}).visit(copy.deepcopy(tree)))


def fixed_names(source: str) -> set[str]:
    """The names that ``renamed`` must leave: parameters, keywords, imports, and what the text says in a string."""
    words = set[str]()
    for node in nodes_in(source):
        if not isinstance(node, ast.Name | ast.Attribute | ast.FunctionDef | ast.ClassDef):
            values = [getattr(node, field) for field in node._fields]
            words.update(value for value in values if isinstance(value, str))
            words.update(*(value for value in values if isinstance(value, list) and isinstance(node, SHARED)))
    if RUNNING.search(source):  # a string may be code
        words.update(*map(WORD.findall, list(words)))
    return words


WORD, RUNNING = re.compile(r"\w+"), re.compile(r"\b(?:eval|exec|compile|doctest)\b")
SHARED = ast.Global | ast.Nonlocal


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = self.names.get(node.name, node.name)
        return super().visit(node)


def _read(node: ast.AST, names: Names) -> Iterable[ast.AST]:
    """Note the names of one node, and say which parts of it are still to be read."""
    parts = parts_of(node)
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            names.used.add(name)
        case ast.Name(id=name, ctx=ast.Store()):
            names.assigned.add(name)
        case ast.Name(id=name):
            names.changed.add(name)
        case ast.Attribute(ctx=ctx) | ast.Subscript(ctx=ctx) if not isinstance(ctx, ast.Load):
            if root := root_of(node, ITEMS):
                names.changed.add(root)
        case ast.AugAssign(target=ast.Name(id=name)):
            names.used.add(name)
        case ast.Import() | ast.ImportFrom():
            names.imported |= {one.bound for one in imports_in([node])}
        case ast.For(target=target) | ast.AsyncFor(target=target) | ast.withitem(optional_vars=ast.expr() as target):
            bound = names_in(target)
            names.passing |= bound.assigned
            names.changed |= bound.changed
            names.used |= bound.used
            return (part for part in parts if part is not target)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            names.passing.add(name)
        case ast.MatchMapping(rest=str(name)):
            names.passing.add(name)
        case ast.Global(names=bound):
            names.shared |= set(bound)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return _comprehension(node, names)
        case ast.FunctionDef(name=label) | ast.AsyncFunctionDef(name=label):
            names.assigned.add(label)
            _mention(label, node, node.body, names)
            return (*node.decorator_list, node.args)
        case ast.Lambda():
            names.used |= _mention(f"<lambda {node.lineno}>", node, [node.body], names)
            return (node.args,)
        case ast.ClassDef(name=label):
            names.assigned.add(label)
            inner = _of_class(node)
            names.used |= inner.used
            names.mentioned[label] = inner.needed
            return ()
    return parts


def _of_class(node: ast.ClassDef) -> Names:
    """What a class and its methods use of the cell; what a statement of its body reads may be the class's own."""
    names, own = names_in(*node.decorator_list, *node.bases, *node.keywords), set[str]()
    for statement in node.body:
        inner = names_in(statement)
        names.used |= inner.used - own
        for label, mentioned in inner.mentioned.items():
            names.mentioned.setdefault(label, set()).update(mentioned)
        own |= inner.given
    return names


def _comprehension(node: Comprehension, names: Names) -> Iterable[ast.AST]:
    """Note the names of a comprehension; its variables are its own.

    Each part is read once: what is nested thirty deep and read twice at each level never ends.
    """
    first = node.generators[0].iter  # which is read outside
    targets = names_in(*(part.target for part in node.generators))
    read = [part for generator in node.generators for part in (generator.iter, *generator.ifs) if part is not first]
    inner = names_in(*read, *(part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.comprehension)))
    variables = targets.assigned
    names.assigned |= inner.assigned - variables  # := binds outside
    names.changed |= (inner.changed | targets.changed) - variables
    names.used |= (inner.used | targets.used) - variables
    names.mentioned |= {label: mentioned - variables for label, mentioned in inner.mentioned.items()}
    return (first,)


def _mention(label: str, function: Function, body: Sequence[ast.AST], names: Names) -> set[str]:
    """Note what a function mentions that is not its own; what it declares global it binds as the cell does."""
    inner = names_in(*body)
    local = {part.arg for part in parts_of(function.args) if isinstance(part, ast.arg)} | inner.given
    mentioned = (inner.needed | inner.changed | inner.shared & inner.given) - (local - inner.shared)
    names.assigned |= inner.shared
    names.mentioned.setdefault(label, set()).update(mentioned)
    return mentioned
