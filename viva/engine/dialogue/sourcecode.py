"""Questions of tests about the code of an answer: its source, its signature.

Theory of operation. The candidate says both, as a text and as plain rows; nothing of it is run here. Student code may
make its process say any source. So of a function that a cell defines the source stands in the cells, which the
grading process has read itself: what the candidate says has to be one of the definitions there. Where it is none of
them, the last definition counts. What was decorated or assigned may also be something else that stands in a cell. Of
what no cell defines, or what was imported, as from a file that students submit, the candidate is believed; then a
grader is asked to look (``engine/disguise``). A signature
is put together here, from names and kinds, and from defaults and annotations that are plain or a library's; of others
there is the text.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from viva.engine import wire
from viva.engine.dialogue.asker import Asker, doubting
from viva.engine.dialogue.expected import CALL, Path, Step, library
from viva.engine.dialogue.objects import PLACE, PLAIN
from viva.engine.dialogue.proxies import PROXIES, known_number, path_of
from viva.notebook.names import names_within
from viva.notebook.syntax import Definition

ASKING = ("getsource", "getsourcelines")
"""The functions that a test calls to look at a source."""
MOST = 100_000
"""Characters of a cell that is read for definitions."""
LINES = 10**6
"""Lines of a cell are below this number."""


class Shown(str):
    """A value of which only the text is known."""

    __repr__ = str.__str__


@functools.lru_cache(256)
def _read(source: str) -> tuple[str, list[ast.stmt]]:
    """The text of a cell as IPython has it compiled, and its statements; none after a syntax error."""
    try:
        text = TransformerManager().transform_cell(source) if len(source) <= MOST else ""
        return text, ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", []


def definitions(sources: Iterable[str], path: Path) -> Iterator[tuple[str, int]]:
    """The definitions in some cells to which ``Model.fit`` or ``Model().fit`` leads, each with its line."""
    of_instance = path.steps[:1] == (CALL,)
    steps = path.steps[1:] if of_instance else path.steps
    if any(step.kind != "attribute" for step in steps) or (of_instance and not steps):
        return
    for text, body in map(_read, sources):
        nodes: list[Definition] = []
        if of_instance and any(isinstance(node, ast.FunctionDef) and node.name == path.root for node in body):
            continue  # a function, of whatever it gives
        for name in (path.root, *(step.name for step in steps)):
            nodes = [node for node in body if isinstance(node, Definition) and node.name == name]
            body = nodes[-1].body if nodes else []
        for node in nodes:
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield "".join(inspect.getblock(text.splitlines(keepends=True)[line - 1 :])), line


def may_be_elsewhere(sources: Iterable[str], path: Path, source: str) -> bool:
    """Whether what a path leads to may have a source that is none of its definitions: it was imported, or assigned or
    decorated, and what is told stands in a cell."""
    statements = [node for _, body in map(_read, sources) for node in body]
    binding = [node for node in statements if path.root in _bound(node, path.steps != ())]
    if any(isinstance(node, ast.Import | ast.ImportFrom) for node in binding):
        return True
    plain = all(isinstance(node, Definition) and not node.decorator_list for node in binding)
    return not plain and any(source.strip() in text for text, _ in map(_read, sources))


def _bound(statement: ast.stmt, with_attributes: bool) -> set[str]:
    """The names that a statement gives a value; ``with_attributes`` also those that it gives an attribute."""
    names = names_within(statement)
    return names.bound if with_attributes else names.given


class SourceCode:
    """Takes the place of functions of ``inspect``, so that they answer for what lives in the candidate."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.sources: list[str] = []
        """The texts of the cells that the candidate has run, where a test asks for a source."""

    def install(self) -> None:
        signature, argspec, source, lines = (
            getattr(inspect, name) for name in ("signature", "getfullargspec", "getsource", "getsourcelines")
        )
        inspect.getsource = self._answering(source, lambda value: self.source(value)[0])
        inspect.getsourcelines = self._answering(lines, self._lines)
        inspect.signature = self._answering(signature, lambda value: signature(self.stand_in(value, False)))
        inspect.getfullargspec = self._answering(argspec, lambda value: argspec(self.stand_in(value, True)))

    def _answering(self, original: Callable, answer: Callable) -> Callable:
        def function(value: Any, **options: Any) -> Any:
            return answer(value) if type(value) in PROXIES and not options else original(value, **options)

        function.__name__ = function.__qualname__ = original.__name__
        return function

    def _lines(self, value: Any) -> tuple[list[str], int]:
        text, line = self.source(value)
        return text.splitlines(keepends=True), line

    def source(self, value: Any) -> tuple[str, int]:
        """The source of what a proxy stands for, and its line."""
        path = path_of(value)
        answer = self._ask("source", value)
        with doubting():
            written = [*definitions(self.sources, path)]
            if written and answer not in written and not may_be_elsewhere(self.sources, path, answer[0]):
                return written[-1]
            text, line = answer
            if type(text) is not str or type(line) is not int or not 0 <= line < LINES:
                raise ValueError
        return text, line

    def stand_in(self, value: Any, whole: bool) -> Callable:
        """A function that has the signature of what a proxy stands for."""
        message = self._ask("signature", value, whole)
        with doubting():
            rows, returned = wire.decode(message)
            parameters = [
                inspect.Parameter(name, inspect._ParameterKind(kind), default=_value(default), annotation=_value(hint))
                for name, kind, default, hint in rows
            ]
            signature = inspect.Signature(parameters, return_annotation=_value(returned))

        def function() -> None: ...

        vars(function)["__signature__"] = signature
        return function

    def _ask(self, operation: str, value: Any, *args: object) -> Any:
        known_number(value)
        path = path_of(value).then(Step("operation", operation))
        return self.asker.operate(operation, value, *args, path=path)


def _value(described: tuple | None) -> Any:
    """A default or an annotation as it was told."""
    if described is None:
        return inspect.Parameter.empty
    how, value, text = described
    original = library(str(value)) if how == PLACE else None
    if how == PLAIN:
        return value
    return original if isinstance(original, type | types.FunctionType | types.BuiltinFunctionType) else Shown(text)
