"""Which places of a solution a mutant changes, and whether a call that was compared ran them.

Where no call ran what a mutant changes, that both gave the same says nothing. The syntax trees of the two sources are
compared from the top; what remains are the smallest nodes of the solution that differ. While the solution answers a
call, Python's trace function notes which of their instructions run, by their positions in the source; so both branches
of ``a if c else b`` count, and the inside of a comprehension. The source of this module runs in a candidate, and needs
nothing of Viva.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

Place = tuple[int, int, int, int]
"""First line, last line, first column and column after the last one, as ``co_positions`` gives them."""

NO_PART = ("RESUME", "NOP", "CACHE", "COPY", "SWAP", "POP_TOP", "POP_EXCEPT", "RERAISE", "CLEANUP_THROW", "END_FOR",
           "END_SEND", "POP_ITER", "PUSH_EXC_INFO", "PRECALL", "RETURN_GENERATOR", "NOT_TAKEN", "MAKE_CELL",
           "COPY_FREE_VARS", "STOPITERATION_ERROR", "CALL_INTRINSIC_1")  # fmt: skip
"""Instructions that the compiler adds, of which some run after an error only."""


def changed_places(solution: str, mutant: str) -> list[Place]:
    """The smallest nodes of the solution that are others in the mutant; none where something was added only."""
    places: list[Place] = []
    _changed(ast.parse(solution), ast.parse(mutant), places)
    return places


def _changed(old: ast.AST, new: ast.AST, places: list[Place]) -> bool:
    """Add the places at which two nodes differ; False where the old one has no place for its difference."""
    if type(old) is not type(new):
        return _added(old, places)
    found = True
    for field, value in ast.iter_fields(old):
        other = getattr(new, field, None)
        if isinstance(value, ast.AST) and isinstance(other, ast.AST):
            found = _changed(value, other, places) and found
        elif isinstance(value, list) and isinstance(other, list) and all(isinstance(part, ast.AST) for part in value):
            found = _changed_list(value, other, places) and found
        elif value != other and field not in ("kind", "type_comment"):
            found = isinstance(value, ast.AST) and _added(value, places) and found
    return found or _added(old, places)


def _changed_list(old: list, new: list, places: list[Place]) -> bool:
    left, right = list(old), list(new)
    while left and right and ast.dump(left[0]) == ast.dump(right[0]):
        del left[0], right[0]
    while left and right and ast.dump(left[-1]) == ast.dump(right[-1]):
        del left[-1], right[-1]
    if len(left) == len(right):
        found = [_changed(one, two, places) for one, two in zip(left, right, strict=True)]
    else:
        found = [_added(node, places) for node in left or map(_head, _beside(old, new))] or [False]
    return all(found)


def _beside(old: list, new: list) -> list:
    """The statement after which, or else before which, something was added to others; none where there are none."""
    same = 0
    while same < len(old) and ast.dump(old[same]) == ast.dump(new[same]):
        same += 1
    return old[max(0, same - 1) :][:1]


def _head(node: ast.AST) -> ast.AST:
    """What runs first of a statement."""
    if isinstance(node, ast.Try):
        return _head(node.body[0])
    first = getattr(node, "test", None) or getattr(node, "iter", None) or getattr(node, "items", [None])[0]
    return getattr(first, "context_expr", first) or node


def _added(node: ast.AST, places: list[Place]) -> bool:
    if not isinstance(node, ast.expr | ast.stmt):
        return False
    places.append((node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0))
    return True


class Reach:
    """The instructions at the changed places of a solution that no compared call has run yet."""

    def __init__(self, places: Iterable[Place] = (), values: Iterable[Any] = ()) -> None:
        """They are those of the functions and classes among ``values``, which the solution's cell made."""
        self.places = [tuple(place) for place in places]  # lists, where they came as JSON
        self.by_code: dict[types.CodeType, dict[int, Place]] = {}
        for code in _codes(values):
            if parts := self._parts(code):
                self.by_code[code] = parts
        self.left = {place for parts in self.by_code.values() for place in parts.values()}
        self.running: set[Place] = set()

    def _parts(self, code: types.CodeType) -> dict[int, Place]:
        """By the offset of an instruction of the changed places, its position."""
        parts = {}
        for instruction in dis.get_instructions(code):
            if instruction.opname in NO_PART or instruction.positions is None:
                continue
            line, end_line, column, end_column = instruction.positions
            if line is None or end_line is None or column is None or end_column is None:
                continue
            if any(
                (first, start) <= (line, column) and (end_line, end_column) <= (last, end)
                for first, last, start, end in self.places
            ):
                parts[instruction.offset] = line, end_line, column, end_column
        return parts

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Note what runs; it is forgotten unless ``compared`` is called."""
        if not self.left:
            yield
            return
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: types.FrameType, event: str, argument: object) -> Any:
        parts = self.by_code.get(frame.f_code)
        if parts is None:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def step(frame: types.FrameType, event: str, argument: object) -> Any:
            if event == "opcode" and frame.f_lasti in parts:
                self.running.add(parts[frame.f_lasti])
            return step

        return step

    def compared(self) -> None:
        """What ran since the last comparison was compared."""
        self.left -= self.running
        self.running.clear()
        self.by_code = {code: parts for code, parts in self.by_code.items() if self.left.intersection(parts.values())}

    def forget(self) -> None:
        """What ran since the last comparison does not count."""
        self.running.clear()

    def missed(self) -> int:
        """The first line of the solution that no compared call has run, or 0."""
        return min((place[0] for place in self.left), default=0)


def _codes(values: Iterable[Any]) -> set[types.CodeType]:
    """The code of functions and classes, and of what they hold: inner functions, methods, what is decorated."""
    codes: set[types.CodeType] = set()
    todo, seen = list(values), set[int]()
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.CodeType):
            codes.add(value)
            todo += [part for part in value.co_consts if isinstance(part, types.CodeType)]
        elif isinstance(value, types.FunctionType):
            todo.append(value.__code__)
            for cell in value.__closure__ or ():
                with contextlib.suppress(ValueError):  # it is empty yet
                    todo.append(cell.cell_contents)
        elif isinstance(value, type) and value.__module__ == "__main__":
            todo += vars(value).values()
        elif isinstance(value, staticmethod | classmethod):
            todo.append(value.__func__)
        elif isinstance(value, property):
            todo += [value.fget, value.fset]
        if callable(getattr(value, "__wrapped__", None)):
            todo.append(value.__wrapped__)
    return codes
