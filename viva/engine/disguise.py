"""Answers that may run other code than the source that they show, in test cells that look at the source.

Theory of operation. A test that calls ``inspect.getsource`` sees a definition that stands in the student's cells
(``dialogue/sourcecode``). Whether that definition is what runs no text can prove: a decorator, an assignment or
``globals()`` puts another function in its place. So these are looked for in the text of the cells that students write.
Where one stands there, and the solution has none like it, a grader looks at the passed tests. Verdicts stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbformat import NotebookNode

from viva.engine.dialogue.sourcecode import ASKING
from viva.engine.examination import Examination
from viva.engine.libraries import can_be_imported
from viva.engine.outcome import Outcome
from viva.notebook.cell import ANSWERS, Purpose, grade_id
from viva.notebook.names import IMPORTS, names_within
from viva.notebook.syntax import LONGEST, Definition, imports_in, nodes_of, root_of, statements_of
from viva.record import Note, note
from viva.verdict import Verdict

REPLACING = frozenset(
    "builtins compile ctypes delattr eval exec gc getattr globals importlib inspect linecache locals setattr "
    "update_wrapper vars viva wraps __builtins__ __import__ __main__".split()
)
"""Names of functions and modules that can replace a function, or what ``inspect`` says of it."""
REACHING = frozenset(
    "_getframe delattr exec f_builtins f_globals f_locals get_ipython globals instance locals modules setattr "
    "update_wrapper user_global_ns user_module user_ns vars wraps".split()
)
"""Attributes that reach the names of the notebook, or replace a function."""
HARMLESS = frozenset("__class__ __doc__ __init__ __len__ __name__ __qualname__ __version__".split())
"""Attributes of Python's own that replace nothing."""
COMMANDS, RUNNING = ("system", "getoutput"), ("magic", "run_cell_magic", "run_line_magic")
MAGICS = frozenset("autoreload conda config load_ext matplotlib pip pylab time timeit".split())
PROPERTY = frozenset({"deleter", "getter", "setter"})


def disguised(outcome: Outcome, notebook: NotebookNode, examination: Examination) -> list[Note]:
    """A doubt for each answer whose source a passed test looks at, where other code may run."""
    cells = examination.blueprint.cells
    helpers = _given({cell.source for cell in cells if _asks(cell.source)})
    students = set().union(*examination.plan.owned.values())
    looked_at: dict[str, list[str]] = {}
    for cell in cells:
        passed = any(result.verdict in (Verdict.PASSED, Verdict.PARTLY) for result in outcome.checks.get(cell.id, ()))
        if cell.purpose == Purpose.TESTS and passed and cell.id not in examination.single_process:
            used = set(examination.used_names(cell))
            asks = _asks(cell.source) or not used.isdisjoint(helpers - _given({cell.source}))
            for name in sorted(used & students) if asks else ():
                looked_at.setdefault(name, []).append(cell.id)
    if not looked_at:
        return []
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code" and _is_students(cell, examination)]
    try:
        written = _statements(sources)
        solved = _statements(cell.source for cell in cells if cell.purpose in ANSWERS)
        anywhere = not set(_replacing(solved)).issuperset(_replacing(written))
        disguises = [
            name
            for name in looked_at
            if anywhere or set(_other_values(name, written)) - set(_other_values(name, solved))
        ]
    except (RecursionError, MemoryError):  # nobody types such code
        disguises = [*looked_at]
    return [note("disguised", name, tests=tuple(looked_at[name]), doubt=True) for name in disguises]


def _asks(source: str) -> bool:
    return any(word in source for word in ASKING)


def _given(sources: set[str]) -> set[str]:
    """The names that some cells give a value, but for those that they import."""
    statements = [one for source in sources for one in statements_of(source) if not isinstance(one, IMPORTS)]
    return names_within(*statements).bound


def _is_students(cell: NotebookNode, examination: Examination) -> bool:
    """Whether students write a cell: it is not one of the assignment's tests and locked cells."""
    original = examination.cells.get(grade_id(cell))
    return original is None or (original.purpose != Purpose.TESTS and not original.locked)


def _statements(sources: Iterable[str]) -> list[ast.stmt]:
    """The statements of some cells. Raises MemoryError for a cell that is too long, and RecursionError."""
    statements: list[ast.stmt] = []
    for source in sources:
        if len(source) > LONGEST:
            raise MemoryError
        statements += statements_of(source)
    return statements


def _replacing(statements: list[ast.stmt]) -> Iterator[str]:
    """The names and attributes in some statements that can replace a function out of sight."""
    nodes = [node for statement in statements for node in nodes_of(statement)]
    harmless = {id(name) for node in nodes for name in _harmless_shells(node)}
    for node in nodes:
        match node:
            case ast.Name("get_ipython") if id(node) not in harmless:
                yield "get_ipython"
            case ast.Name(id=name) if name in REPLACING:
                yield name
            case ast.Attribute(attr=name) if name in REACHING or (name[:2] == "__" and name not in HARMLESS):
                yield name
            case ast.Import() | ast.ImportFrom():
                for one in imports_in([node]):
                    yield from [one.attribute] if one.attribute in REPLACING | REACHING else []
                    yield from [one.module] if one.module and _may_replace(one.module) else []


def _harmless_shells(node: ast.AST) -> Iterator[ast.Name]:
    """The name ``get_ipython`` in a command for the shell, in a magic that replaces nothing, and in ``str(...)``."""
    match node:
        case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython") as name), kind), [first, *_]):
            magic = first.value if isinstance(first, ast.Constant) else None
            if kind in COMMANDS or (kind in RUNNING and magic in MAGICS):
                yield name
        case ast.Call(ast.Name("str"), [ast.Call(ast.Name("get_ipython") as name)]):  # 'google.colab' in str(...)
            yield name


def _may_replace(module: str) -> bool:
    """Whether to import a module can replace a function: one that can, or a file of the student's."""
    package = module.partition(".")[0]
    return package in REPLACING or not can_be_imported(package)


def _other_values(name: str, statements: list[ast.stmt]) -> Iterator[str]:
    """The statements and decorators that give a name another value than its definition."""
    students = {bound for statement in statements for bound in _bound(statement) if not isinstance(statement, IMPORTS)}
    definitions = [node for node in statements if isinstance(node, Definition) and node.name == name]
    for statement in statements:
        if statement not in definitions and name in _bound(statement):
            yield ast.unparse(statement)
    if not definitions:
        yield "not defined"
    yield from _hidden_in(definitions, students)


def _hidden_in(definitions: list[Definition], students: set[str]) -> Iterator[str]:
    """The decorators and statements that give definitions of one name, or their methods, another value.

    ``students`` are the names that the cells bind without importing them.
    """
    for node in definitions:
        for decorator in node.decorator_list:
            if root_of(decorator) in students and not (
                isinstance(decorator, ast.Attribute) and decorator.attr in PROPERTY
            ):
                yield ast.unparse(decorator)
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(keyword) for keyword in node.keywords)
            yield from _hidden_in_class(node, students)


def _hidden_in_class(cls: ast.ClassDef, students: set[str]) -> Iterator[str]:
    methods: dict[str, list[Definition]] = {}
    for node in cls.body:
        if isinstance(node, Definition) and not any(
            isinstance(decorator, ast.Attribute) and decorator.attr in PROPERTY for decorator in node.decorator_list
        ):
            methods.setdefault(node.name, []).append(node)
    for node in cls.body:
        if not isinstance(node, Definition) and not methods.keys().isdisjoint(_bound(node)):
            yield ast.unparse(node)
    for definitions in methods.values():
        yield from _hidden_in(definitions, students)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, or an attribute."""
    return names_within(statement).bound
