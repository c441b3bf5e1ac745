"""Mutants: wrong solutions derived from the right one, one small mistake each.

An answer cell's solution is parsed; every operator is tried at every place of its syntax tree between the
solution's marks; what results is written out again. Mutants come in the order of the places, without doubles,
and never equal to the solution itself.
"""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from viva.engine.blueprint import SOLUTION_MARK, Blueprint, Cell
from viva.notebook.cell import Purpose
from viva.notebook.names import names_of
from viva_audit import operators
from viva_audit.operators import OTHER_OPERATOR, Mistakes, Scene, expression, text_of, with_changes

EXPRESSIONS = operators.EXPRESSIONS
CHARACTERS = 120
"""The most characters of each side of a change."""
EMPTY = ("np.ravel(a)[:0]", "np.asarray(a)[:0]")
"""Nothing at all: np.allclose finds no difference between an empty array and a number, or a single row."""
SPOILT = ("{0}[:] = [0 * part for part in {0}]", "{0}[:] = [np.nan * part for part in {0}]", "{0}[:] = np.sort({0}, 0)")
"""Emptied, filled with NaN or sorted in place before anything is computed: what a test computes from the same object
after the call agrees with the result."""
SPOILT_TABLE = ("{0}.update({{key: 0 * {0}[key] for key in {0}}})", "{0}.update(dict.fromkeys({0}, np.nan))")
"""The same for an argument in which things are looked up by a text."""
RESULTS = ("np.zeros_like(a)", "np.nan * a", "np.round(a, 3)", "-a", "np.transpose(a)", "np.squeeze(a)", *EMPTY)


@dataclass(frozen=True)
class Mutant:
    """One wrong solution of one answer cell; ``change`` says in a line what became of what."""

    cell: str
    operator: str
    change: str
    source: str
    original: str
    line: int = 0
    """The line of the solution, counted without its marks, at which the mistake is."""
    owner: str = ""
    """The function, method or name to which this line gives a value, as in ``Stack.push``."""

    @property
    def diff(self) -> str:
        """A unified diff against the solution, without its header."""
        lines = difflib.unified_diff(self.original.splitlines(), self.source.splitlines(), lineterm="", n=2)
        return "\n".join(list(lines)[2:])


def mutants(
    blueprint: Blueprint,
    results: dict[str, str] | None = None,
    integers: Iterable[str] = (),
    mistakes: Mistakes = Mistakes(),  # noqa: B008 (a value)
) -> list[Mutant]:
    """All mutants of a notebook's solutions.

    ``results`` maps functions to the source of a result they gave, ``integers`` are names of whole numbers,
    ``mistakes`` are those of the course's field.
    """
    bound: dict[str, set[str]] = {}
    for cell in blueprint.cells:
        names = names_of(cell.source) if cell.code and cell.purpose != Purpose.TESTS else None
        bound[cell.id] = names.bound if names else set()
    mutations = []
    for cell in blueprint.cells:
        if cell.purpose == Purpose.ANSWER:
            shared = frozenset().union(*(names for name, names in bound.items() if name != cell.id))
            sizes = tuple(sorted(shared.intersection(integers)))
            mutations += mutants_of(cell, Scene(shared, results=results or {}, integers=sizes, mistakes=mistakes))
    return mutations


def mutants_of(cell: Cell, scene: Scene) -> list[Mutant]:
    """The mutants of one answer cell; none after a syntax error in it. ``scene`` lacks the cell's own names."""
    source, inside = solution_lines(cell.source)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    original = ast.unparse(tree)
    scene = replace(scene, places=_places(tree, scene.shared), keys=_keys(tree), numpy="np" in scene.shared)
    seen, mutations = {ast.dump(ast.parse(original))}, []
    owners = _owners(tree)
    for operator, line in _mistakes(tree, inside, scene):
        try:
            mutated = ast.unparse(ast.fix_missing_locations(tree))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python says what is wrong with some mutants
                dump = ast.dump(ast.parse(mutated))
                compile(mutated, "mutant", "exec")
        except (SyntaxError, ValueError):
            continue
        if dump not in seen:
            seen.add(dump)
            change, owner = change_of(original, mutated), owners.get(line, "")
            mutations.append(Mutant(cell.id, operator, change, mutated, original, line, owner))
    return mutations


def _owners(tree: ast.Module) -> dict[int, str]:
    """By line, the function or method that it belongs to, or the name that it gives a value."""
    owners: dict[int, str] = {}

    def own(node: ast.stmt, name: str) -> None:
        owners.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), name))

    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                own(node, name)
            case ast.ClassDef(name=name, body=body):
                own(node, name)
                for method in body:
                    if isinstance(method, ast.FunctionDef):
                        own(method, f"{name}.{method.name}")
            case ast.Assign(targets=[ast.Name(id=name)]):
                own(node, name)
    return owners


def solution_of(source: str) -> str:
    """An answer cell's solution without its marks, as the lines of mutants count."""
    return solution_lines(source)[0]


def solution_lines(source: str) -> tuple[str, set[int]]:
    """The solution without its marks, and the lines that stood between them (all, when there are no marks)."""
    lines, inside, between = [], set(), False
    marked = any(SOLUTION_MARK.match(line) for line in source.splitlines())
    for line in source.splitlines():
        if SOLUTION_MARK.match(line):
            between = "BEGIN" in line
            continue
        lines.append(line)
        if between or not marked:
            inside.add(len(lines))
    return "\n".join(lines), inside


def _places(tree: ast.Module, shared: frozenset[str]) -> dict[str, int]:
    """The names of values that the cell uses, with the line that binds each first; 0 for those from elsewhere."""
    nodes = list(ast.walk(tree))
    functions = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    modules = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr not in ("T", "shape")}
    loaded = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in functions | modules
    }
    places = dict.fromkeys(loaded & shared, 0)
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in loaded:
            places[node.id] = min(places.get(node.id, node.lineno), node.lineno)
        elif isinstance(node, ast.arg):
            places[node.arg] = 0
    return places


def _keys(tree: ast.AST) -> tuple[str, ...]:
    """The texts by which a cell looks something up, in order."""
    texts = (text_of(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript))
    return tuple(sorted(set(filter(None, texts))))


def _mistakes(tree: ast.Module, inside: set[int], scene: Scene) -> Iterator[tuple[str, int]]:
    """Put one mistake after the other into the tree, yield its name and its line, and take it out again."""
    table = {**EXPRESSIONS, **scene.mistakes.expressions}
    for parent, field, index in list(_sites(tree)):
        old = getattr(parent, field) if index is None else getattr(parent, field)[index]
        within = inside.intersection(range(old.lineno, old.end_lineno + 1))
        if not within or (isinstance(old, ast.expr) and old.lineno not in inside) or _only_shown(old):
            continue
        if isinstance(old, ast.stmt):
            replacements: Iterable = _statements(old, scene, inside)
        else:
            replacements = ((name, new) for name, operator in table.items() for new in operator(old, scene))
        for name, new in replacements:
            _put(parent, field, index, new)
            yield name, old.lineno
            _put(parent, field, index, old)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _sites(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every place of the tree that holds a statement, or an expression that is read."""
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.FunctionDef) and field in ("decorator_list", "returns", "args"):
            continue
        if isinstance(node, ast.Call) and field == "func" and isinstance(value, ast.Name):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _only_shown(child):
                continue
            if isinstance(child, ast.JoinedStr):
                yield node, field, index  # as a whole: its texts speak to people
                continue
            if isinstance(child, ast.stmt | ast.expr) and isinstance(getattr(child, "ctx", ast.Load()), ast.Load):
                yield node, field, index
            yield from _sites(child)


def _only_shown(node: ast.AST) -> bool:
    """Whether a node only prints or explains: nothing that a check could see."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if not isinstance(node, ast.Expr):
        return False
    printed = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") in ("print", "display")
    return printed or isinstance(node.value, ast.Constant | ast.Name)


# --- mistakes of whole statements

Statements = Iterator[tuple[str, ast.stmt]]


def _statements(node: ast.stmt, scene: Scene, inside: set[int]) -> Statements:
    """Mistakes of a statement, of which the lines ``inside`` are the student's."""
    yield from _bodies(node, scene, inside)
    if isinstance(node, ast.FunctionDef):
        yield from _functions(node, scene)
        return
    if isinstance(node, ast.For | ast.While) and (not node.body or not isinstance(node.body[-1], ast.Return)):
        yield "stopped loop", with_changes(node, body=[*node.body, ast.Break()])
    if node.lineno not in inside:
        return
    yield "deleted statement", ast.Pass()
    if isinstance(node, ast.For):
        for source in ("list(a)[1:]", "list(a)[:-1]", "list(a)[::-1]"):
            yield "off by one", with_changes(node, iter=expression(source, a=node.iter))
    elif isinstance(node, ast.AugAssign):
        yield "overwritten sum", ast.Assign([node.target], node.value, lineno=node.lineno)
        if operator := OTHER_OPERATOR.get(type(node.op)):
            yield "other operator", with_changes(node, op=operator())
    elif (
        isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and scene.numpy and node.col_offset == 0
    ):
        for source in ("np.zeros_like(a)", "np.nan * np.asarray(a)", "np.round(a, 3)", *EMPTY):
            yield "other value", with_changes(node, value=expression(source, a=node.value))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from _returns(node, scene)


def _bodies(node: ast.stmt, scene: Scene, inside: set[int]) -> Statements:
    """The mistakes that take several statements, where all of them are the student's."""
    body = getattr(node, "body", None) or []
    start = 1 if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None else 0
    if isinstance(node, ast.ClassDef) or not inside.issuperset(line.lineno for line in body[start:]):
        return
    for name, operator in scene.mistakes.bodies.items():
        for new in operator(body[start:], scene):
            yield name, with_changes(node, body=[*body[:start], *new])


def _returns(node: ast.Return, scene: Scene) -> Statements:
    whole = node.value
    assert whole is not None  # a bare return has no mistakes
    values = whole.elts if isinstance(whole, ast.Tuple) else [whole]
    forms = RESULTS if scene.numpy else ("-a",)
    for index, value in enumerate(values):
        for form in forms:
            new = [*values[:index], expression(form, a=value), *values[index + 1 :]]
            yield "other result", ast.Return(ast.Tuple(new, ast.Load()) if len(values) > 1 else new[0])
        if len(values) > 1:
            yield "other result", ast.Return(value)


def _functions(node: ast.FunctionDef, scene: Scene) -> Statements:
    """What a function may do wrong with its arguments, decorators and ``yield``, and a result that never changes."""
    for place, decorator in enumerate(node.decorator_list):
        if ast.unparse(decorator).partition("(")[0] not in UNSAID:
            rest = [*node.decorator_list[:place], *node.decorator_list[place + 1 :]]
            yield "dropped decorator", with_changes(node, decorator_list=rest)
    if _takes_step_by_step(node):
        yield "not lazy", _eager(node)
    start = 1 if ast.get_docstring(node) is not None else 0
    head, body = node.body[:start], node.body[start:]
    arguments = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    for name in arguments:
        yield "returned input", with_changes(node, body=[*head, _return(name)])
        if name in scene.shared:
            outer = ast.parse(f"{name} = globals()[{name!r}]").body
            yield "global for argument", with_changes(node, body=[*head, *outer, *body])
        table = _is_table(body, name)
        spoilt = _spoilt(body, name, table)
        if spoilt:
            yield "changed argument", with_changes(node, body=[*head, *spoilt])
        for source in (SPOILT_TABLE if table else SPOILT) if scene.numpy else SPOILT[:1]:
            first = ast.parse(source.format(name)).body
            yield "spoilt argument", with_changes(node, body=[*head, *first, *body])
    if node.name in scene.results:
        yield "constant result", with_changes(node, body=[*head, *ast.parse(f"return {scene.results[node.name]}").body])


UNSAID = ("staticmethod", "classmethod", "property", "abstractmethod", "abc.abstractmethod", "override", "wraps",
          "functools.wraps", "typing.override")  # fmt: skip
"""Decorators without which nothing runs, or nothing shows."""


def _takes_step_by_step(node: ast.FunctionDef) -> bool:
    """Whether a generator goes through one of its arguments."""
    parts = [part for statement in node.body for part in ast.walk(statement)]
    arguments = {argument.arg for argument in node.args.args}
    looped = {getattr(part.iter, "id", "") for part in parts if isinstance(part, ast.For)}
    return bool(arguments & looped) and any(isinstance(part, ast.Yield) for part in parts)


def _eager(node: ast.FunctionDef) -> ast.FunctionDef:
    """A generator that makes all that it yields at the first step."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    inner = with_changes(node, name="all_of_it", decorator_list=[])
    return with_changes(node, body=[inner, *ast.parse(f"yield from list(all_of_it({', '.join(names)}))").body])


def _return(name: str) -> ast.Return:
    return ast.Return(ast.Name(name, ast.Load()))


def _is_table(body: list[ast.stmt], name: str) -> bool:
    """Whether an argument is one in which things are looked up by a text: ``block["W_1"]``."""
    nodes = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Subscript)]
    return any(getattr(node.value, "id", "") == name and text_of(node.slice) for node in nodes)


def _spoilt(body: list[ast.stmt], name: str, table: bool) -> list[ast.stmt]:
    """The body, changing an argument in place just before it returns."""
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return []
    new: list[ast.stmt] = [ast.Assign([ast.Name("returned", ast.Store())], body[-1].value, lineno=0)]
    change = f"{name}.clear()" if table else f"{name}[0] = 0"
    return [*body[:-1], *new, *ast.parse(change).body, _return("returned")]


def change_of(original: str, mutated: str) -> str:
    """``old line -> new line`` of the first lines that differ."""
    lines = list(difflib.ndiff(original.splitlines(), mutated.splitlines()))
    old = [line[2:].strip() for line in lines if line.startswith("- ")]
    new = [line[2:].strip() for line in lines if line.startswith("+ ")]
    return f"{_shortened(old)} -> {_shortened(new)}"


def _shortened(lines: list[str]) -> str:
    text = "; ".join(filter(None, lines)) or "nothing"
    return text if len(text) <= CHARACTERS else f"{text[: CHARACTERS - 4]} ..."
