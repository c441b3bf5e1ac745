"""What the statements of a cell do, as far as their form tells: whether they run, only define, or were magics."""

from __future__ import annotations

import ast
import warnings
from itertools import pairwise

from viva.notebook.syntax import FUNCTIONS, nodes_in, parsed, statements_of, unmeasured

_DEFINING = ast.Import | ast.ImportFrom | FUNCTIONS
_LEAVING = ast.Return | ast.Raise | ast.Break | ast.Continue
_BARE = ast.Expr | ast.AnnAssign | ast.Pass


def runs(source: str) -> bool:
    """Whether IPython takes a text for Python."""
    return parsed(source) is not None


def compiles(source: str) -> bool:
    """Whether a text is Python and runs as a cell: it does not ``return`` outside of a function, for one."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(parsed(source) or "(", "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def are_one(upper: str, lower: str) -> bool:
    """Whether code was cut in two inside a block: both together run, and not each by itself.

    Below a ``return`` in the same block, the lower part would never run; so it is the rest of something else.
    """
    halves = upper, lower
    if all(runs(half) and (not half[:1].isspace() or compiles(half)) for half in halves):
        return False
    both, end = "\n".join(halves), len(upper.splitlines())
    pairs = [pair for node in nodes_in(both) for block in _bodies(node) for pair in pairwise(block)]
    borders = [above for above, below in pairs if (above.end_lineno or above.lineno) <= end < below.lineno]
    return not any(isinstance(above, _LEAVING) for above in borders) and compiles(both)


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    blocks = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in blocks if isinstance(block, list)]


def texts_with_lines(source: str) -> list[tuple[str, range]]:
    """The statements of a cell's top level as texts, each with the numbers of its lines; none after a syntax error."""
    nodes = statements_of(f"pass\n{unmeasured(source)}")[1:]  # no line at its head is left out
    return [(ast.unparse(node), range(node.lineno - 1, node.end_lineno or node.lineno)) for node in nodes]


def returns_outside(source: str) -> bool:
    """Whether code returns outside of a function."""
    return any(isinstance(node, ast.Return) for node in statements_of(source))


def only_defines(source: str) -> bool:
    """Whether code only imports and defines functions, so that it may run a little earlier or later."""
    return runs(source) and all(isinstance(node, _DEFINING) for node in statements_of(source))


def acts(source: str) -> bool:
    """Whether code is whole, and binds, imports or calls something; a magic does not count."""
    return any(not isinstance(node, _BARE) or _calls(node) for node in statements_of(source) if not is_magic(node))


def _calls(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(ast.Call(ast.Name() | ast.Attribute())):
            return True
    return False


def is_magic(node: ast.stmt) -> bool:
    """Whether a statement was a magic, a command for the shell, or a question for help, and binds no name."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython"))))):
            return True
    return False


def forms_of(source: str) -> tuple[str, ...] | None:
    """The statements of code as texts that no layout changes, without magics; None where it is not whole, or where a
    sum has thousands of terms."""
    try:
        nodes = [node for node in statements_of(source) if not isinstance(node, ast.Pass) and not is_magic(node)]
        return tuple(map(ast.dump, nodes)) if runs(source) else None
    except RecursionError:
        return None


def magic_forms(source: str) -> list[str]:
    """The magics of code in that form."""
    return [ast.dump(node) for node in statements_of(source) if is_magic(node)]


def lone_names(source: str) -> list[str]:
    """The names that stand alone as statements, above the last one."""
    values = [getattr(node, "value", None) for node in statements_of(source)[:-1]]
    return [value.id for value in values if isinstance(value, ast.Name)]


def constants_alone(source: str) -> list | None:
    """The constants that code consists of, as a text between quotes; None where it does anything else."""
    values = [getattr(node, "value", None) for node in statements_of(source)]
    constants = [value.value for value in values if isinstance(value, ast.Constant)]
    return constants if len(constants) == len(values) else None
