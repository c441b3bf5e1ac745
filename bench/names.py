"""Counts the bindings of local names that say nothing of what they hold: `make lint` prints the share.

A binding is a parameter, or a name that an assignment, a loop, a `with`, an `except` or a comprehension binds. The
target is at most 3 %; models of the field have at most 0.6 %.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1]
EMPTY = frozenset(
    "known found told one other others about place here there some "
    "several more said what whose mine own kept given made".split()
)
"""Names that any value could have."""
ROOTS = ("viva", "student/viva_check", "plugins/*/viva_*")


def bindings(tree: ast.AST) -> Iterator[str]:
    """The names that a module binds, once for each binding; attributes and imports are left out."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name


def count() -> tuple[Counter[str], int]:
    """How often each empty name is bound, and the number of all bindings."""
    names = Counter(
        name
        for root in ROOTS
        for folder in PROJECT.glob(root)
        for path in folder.rglob("*.py")
        for name in bindings(ast.parse(path.read_text(encoding="utf-8")))
    )
    return Counter({name: names[name] for name in EMPTY if names[name]}), names.total()


def main() -> None:
    """Print the share, and with --all each name."""
    empty, total = count()
    print(f"Names that say nothing: {empty.total()} of {total} bindings ({empty.total() / total:.1%}; target 3 %).")
    if "--all" in sys.argv:
        for name, number in empty.most_common():
            print(f"{number:5} {name}")


if __name__ == "__main__":
    main()
