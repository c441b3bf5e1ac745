"""The explanation of a failed check for a student: a sentence, and the place in the student's own code.

Theory of operation. Verdict, sentence and traceback of a check may carry what its hidden lines hold: the arguments
that a function was called with stand in many messages (``KeyError: 'secret'``), and code that means to can put them
into any. Nothing that came out of the student's process is therefore shown because it looks harmless:

- The instructor's own sentences (messages of assertions) are shown, whoever asks; what a hidden check puts into one
  (``f"inner {x}"``) is left out.
- A *visible* check, one without hidden lines and without names that hidden lines bound, tells the whole message,
  unless a literal of hidden lines stands in it.
- Of a *hidden* check the class of the exception is shown, and its message where it is a sentence that the student's
  code holds unchanged, or one of Python's and NumPy's own, in which names are the notebook's and numbers are left
  out ("operands could not be broadcast together with shapes … …").
- A traceback is put together anew: of lines that stand in the student's own cells, at the number it names.

Code can keep what a hidden check called it with, and say it in other words in a visible check below. Where students
read before the deadline, what is told is therefore ``explain``ed of a run without hidden lines, and what only hidden
lines show is ``sealed`` (``viva_gradescope``).
"""

from __future__ import annotations

import builtins
import functools
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from viva import wording
from viva.engine import plaincode
from viva.engine.checks import parts_of
from viva.engine.outcome import Frame, own_frames
from viva.language import ENGLISH, Language
from viva.notebook.assertions import Message, messages
from viva.notebook.names import Names, names_of
from viva.notebook.programming import PYTHON
from viva.notebook.syntax import strings_in
from viva.pages.hidden import Hidden
from viva.record import CARRIED, CheckResult, Note
from viva.verdict import Verdict

LONGEST = 300
"""Characters of a message that are shown."""
MOST_FRAMES = 6
PRINTED_LINES = 40
BLANK = "…"
TYPES = {
    *(name for name, cls in vars(builtins).items() if isinstance(cls, type)),
    *("NoneType function method module generator builtin_function_or_method dict_keys dict_values dict_items".split()),
    *("numpy.ndarray numpy.float64 numpy.float32 numpy.int64 numpy.bool numpy.bool_ numpy.complex128".split()),
    *("ndarray DataFrame Series Index".split()),
}
FAILURES = re.compile(
    r"""
    (?: Not\ equal\ to\ tolerance | Arrays\ are\ not\ (?:almost\ )?equal | Items\ are\ not\ equal
        | Mismatch | x\ and\ y\ \w+\ \w+\ mismatch | Error\ in\ dtype | Shape\ of
        | Tensors\ differ\ in\ their | Tensor-likes\ are\ not\ (?:close|equal) )
    .{0,80}
    """,
    re.VERBOSE,
)
"""First lines of numpy.testing and torch.testing, which hold no expected number."""
DETAILS = re.compile(r"Shapes \(.*\) and \(.*\), dtypes .*")
"""A line behind them that visible checks show as well."""
PATH = re.compile(r"[\w.()\[\]]{1,80}")

_SLOTS = {
    "name": r"(?P<name_>[^\W\d]\w*)",
    "type": r"(?P<type_>[\w.]+)",
    "n": r"(?P<count_>-?\d+)",
    "shape": r"(?P<count_>\([\d, ]*\))",
    "operator": r"(?:[-+*/@%&|^<>=]{1,3}|\*\* or pow\(\))",
}


def _pattern(template: str) -> re.Pattern:
    parts = []
    for number, part in enumerate(re.split(r"\{(\w+)\}", template)):
        parts.append(_SLOTS[part].replace("_>", f"{number}>") if number % 2 else re.escape(part))
    return re.compile("".join(parts))


_MESSAGES = Path(__file__).parent / "templates" / "messages.txt"
TEMPLATES = tuple(map(_pattern, _MESSAGES.read_text(encoding="utf-8").splitlines()))
"""Messages of Python and NumPy, with slots for names, types, numbers and shapes."""

SAID = (CARRIED, "no_return")
"""Causes that name nothing but what students are given or have written."""
ASKS = re.compile(r"EOFError: EOF when reading a line|StdinNotImplementedError\b")
"""What input() raises where nobody can answer."""
REFUSED = ("process", "network", "size", "crossing", "command")
"""What the sandbox refused; said beside the error."""
ENDED = ("killed_kernel", "kernel_memory", "kernel_files", "too_often_kernel")
"""How another language's kernel ended."""


@dataclass(frozen=True)
class Explanation:
    """The result of a check, for its student."""

    sentence: str
    frames: tuple[Frame, ...] = ()
    printed: str = ""
    quoted: bool = False
    """Whether the sentence is the instructor's or a library's, and not in the language of the page."""


@dataclass(frozen=True)
class Explainer:
    """Knows a student's notebook: ``own`` cells by id, what was ``released``, and what its test cells ``say``."""

    own: dict[str, str]
    released: str
    tests: tuple[str, ...]
    hidden: Hidden
    language: Language = ENGLISH

    def explain(self, result: CheckResult, visible: bool) -> Explanation:
        """What may be shown of one result."""
        verdict, raiser, cause = result.verdict, result.raised_by, result.cause
        frames: tuple[Frame, ...] = ()
        sentences, quoted = [self._usual(verdict, cause)], False
        refused = [self._say(cause.kind)] if cause and cause.kind in REFUSED else []
        if cause and cause.kind in SAID:
            sentences = [self._said(cause)]
        elif cause and cause.kind == "not_plain":
            sentences = [self._not_plain(cause.names[0])]
        elif cause and cause.kind == "no_credit":
            sentences = [self._say("no_credit")]
        elif verdict is Verdict.FAILED and (not cause or refused):
            if failed := self._failed(result.reason, raiser, visible):
                sentences, quoted = [failed], True
            elif refused and raiser == "grader":  # there was no result
                sentences = []
            sentences += refused
        elif verdict is Verdict.ERROR:
            sentences = [self._error(result, visible), wording.meaning(result, self.language), *refused]
        elif cause and cause.kind == "in_cell_of" and cause.names[0] in self.names:
            sentences.append(self._say("in_cell_of", name=cause.names[0]))
        if verdict in (Verdict.ERROR, Verdict.FAILED) and raiser == "student":
            frames = self.frames(result.traceback)
        printed = result.printed if visible else ""
        sentence = self.language.text("forms.between").join(filter(None, sentences))
        shown = "" if self.hidden.told(printed) else _shortened(printed, self.language)
        return Explanation(sentence, frames, shown, quoted)

    def sealed(self, result: CheckResult) -> Explanation:
        """What may be shown where nothing may be that the student's code said or did, but for the verdict."""
        if result.cause and result.cause.kind in SAID:
            return Explanation(self._said(result.cause))
        if result.cause and result.cause.kind == "not_plain":
            return Explanation(self._not_plain(result.cause.names[0]))
        if result.verdict is Verdict.FAILED and self._is_said(result.reason):
            return Explanation(" ".join(result.reason.split())[:LONGEST], quoted=True)
        if result.verdict is Verdict.ERROR:
            return Explanation(self._say("stopped_unnamed"))
        return Explanation(self._usual(result.verdict))

    def _say(self, key: str, **fields: Any) -> str:
        return self.language.text(f"explanation.{key}", **fields)

    def _usual(self, verdict: Verdict, cause: Note | None = None) -> str:
        """The sentence for a verdict of which nothing more is told."""
        if cause and (cause.because or cause).kind in ENDED:
            return self._say("killed_kernel")
        return "" if verdict in (Verdict.PASSED, Verdict.ERROR) else self._say(verdict.name.lower())

    def _said(self, cause: Note) -> str:
        return wording.standing_alone(wording.sentence(cause, wording.STUDENT, self.language), self.language)

    def _not_plain(self, path: str) -> str:
        """Names the path to a value where it holds none but the notebook's own names."""
        plain = PATH.fullmatch(path) and set(re.findall(r"[^\W\d]\w*", path)) <= self.names
        return self._say("not_plain", path=path) if plain else self._say("result_not_plain")

    def _failed(self, reason: str, raiser: str, visible: bool) -> str:
        text = reason.strip()
        line = (text.splitlines() or [""])[0][:LONGEST]
        for sentence, exact in self.said:
            if (exact or raiser == "test") and (match := sentence.fullmatch(text)):
                # What hidden lines put into a sentence is theirs, also where no literal of theirs stands in it.
                whole = exact or (visible and not self.hidden.told(text))
                blanked = text if whole else _blanked(text, match)
                silent = not exact and (self.hidden.told(blanked) or not re.search(r"\w", blanked))
                return "" if silent else " ".join(blanked.split())[:LONGEST]
        if raiser == "test" and (FAILURES.fullmatch(line) or (visible and not self.hidden.told(line))):
            details = [following for following in text.splitlines()[1:3] if self._is_said(following)]
            details += [following for following in text.splitlines()[1:2] if visible and DETAILS.fullmatch(following)]
            shown = (detail for detail in details if not self.hidden.told(detail))
            return " ".join([line, *shown])[:LONGEST]
        return self._message(line, visible) if raiser == "student" else ""

    def _is_said(self, line: str) -> bool:
        return any(exact and sentence.fullmatch(line.strip()) for sentence, exact in self.said)

    def _error(self, result: CheckResult, visible: bool) -> str:
        if result.raised_by == "student" and ASKS.match(result.reason):
            return self._say("input")
        message = self._message(result.message.strip(), visible)
        key, fields = "stopped" if result.raised_by == "student" else "broken_off", {}
        if result.exception in self.names | EXCEPTIONS:
            fields["name"] = result.exception
        else:
            key += "_unnamed"
        return self._say(f"{key}_message", message=message, **fields) if message else self._say(key, **fields)

    def told(self, reason: str) -> str:
        """An exception of a cell, by its class and as much of its message as of a hidden check: code that a hidden
        check called may say with what."""
        name, _, message = reason.partition(": ")
        name = name if name in self.names | EXCEPTIONS else self._say("an_exception")
        return f"{name}: {shown}" if (shown := self._message(message.strip(), False)) else name

    def _message(self, message: str, visible: bool) -> str:
        """A message of an exception, as far as it may be told; empty when it may not."""
        line = (message.splitlines() or [""])[0]
        if visible:
            return "" if self.hidden.told(message) else line[:LONGEST]
        if line in self.strings:
            return line[:LONGEST]
        for template in TEMPLATES:
            if (match := template.fullmatch(line)) and self._explained(match):
                return _blanked(line, match, "count")
        return ""

    def _explained(self, match: re.Match) -> bool:
        slots = match.groupdict()
        return all(
            value in self.names or (slot.startswith("type") and value in TYPES)
            for slot, value in slots.items()
            if slot.startswith(("name", "type"))
        )

    def frames(self, traceback: str) -> tuple[Frame, ...]:
        """The frames of a traceback that are the student's own: their line stands in a cell, at that number."""
        frames = own_frames(traceback, self.own)[-MOST_FRAMES:]
        return tuple(frame if frame.function in self.names else replace(frame, function="") for frame in frames)

    @cached_property
    def names(self) -> set[str]:
        """Every word of the student's own code and of what was released."""
        return set(re.findall(r"[^\W\d]\w*", "\n".join([*self.own.values(), self.released])))

    @cached_property
    def strings(self) -> set[str]:
        """The strings that stand in the student's own code, as they are."""
        return set().union(*map(strings_in, self.own.values()))

    @cached_property
    def said(self) -> tuple[tuple[re.Pattern, bool], ...]:
        """The instructor's sentences, and whether they hold nothing but the instructor's words."""
        return _sentences(self.tests)


def _blanked(text: str, match: re.Match, slots: str = "") -> str:
    """A text with what stands in its slots (those whose names begin so) left out."""
    for start, end in sorted((match.span(slot) for slot in match.groupdict() if slot.startswith(slots)), reverse=True):
        text = text[:start] + BLANK + text[end:]
    return text


EXCEPTIONS = {name for name, cls in vars(builtins).items() if isinstance(cls, type) and issubclass(cls, Exception)}


@functools.lru_cache(64)
def _sentences(tests: tuple[str, ...]) -> tuple[tuple[re.Pattern, bool], ...]:
    said = [_sentence(message) for source in tests for message in messages(source)]
    return (*said, *(sentence for source in tests for sentence in _named_conditions(source)))


def _named_conditions(source: str) -> list[tuple[re.Pattern, bool]]:
    """The sentences that R says where a named condition of ``stopifnot`` does not hold."""
    names = re.findall(r"""(["'])((?:(?!\1).)+)\1\s*=(?!=)""", source) if "stopifnot" in source else ()
    return [(re.compile(rf"Error: {re.escape(name)}"), True) for _, name in names]


def _sentence(message: Message) -> tuple[re.Pattern, bool]:
    """What a message can say, and whether it is known to the letter: values in it, or a computed one, are not."""
    if not message.parts:
        return re.compile("(?P<value>[^\n]*)"), False
    parts = [f"(?P<value{n}>.*)" if part is None else re.escape(part) for n, part in enumerate(message.parts)]
    return re.compile(_OUTER_SPACE.sub("", "".join(parts)), re.DOTALL), None not in message.parts


_OUTER_SPACE = re.compile(r"\A(?:\\\s)+|(?:\\\s)+\Z")
"""White space at the ends of a pattern, each sign of it behind a backslash."""


def _shortened(printed: str, language: Language) -> str:
    own_cell = language.text("explanation.own_cell")
    lines = re.sub(r"<ipython-input-[^>]*>", lambda _: own_cell, printed).splitlines()
    rest = len(lines) - PRINTED_LINES
    ending = [language.text("explanation.more_lines", rest)] if rest > 0 else []
    return "\n".join([line[:500] for line in lines[:PRINTED_LINES]] + ending)


def visible_checks(cells: list[tuple[str, str, str]], written_in: str = PYTHON) -> set[tuple[str, str]]:
    """The visible checks of a notebook, as (cell, title).

    ``cells`` are its code cells in order: the id, the checks' text as the grader has it, and as students have it;
    the two are the same for cells that are not graded. They are ``written_in`` a programming language.
    """
    visible: set[tuple[str, str]] = set()
    bound: set[str] = set()
    for name, whole, released in cells:
        open_parts = _parts(released)
        for title, part in _parts(whole).items():
            names = names_of(part) if written_in == PYTHON else _plain_names(part, written_in)
            if part == open_parts.get(title) and names is not None and not (names.used - names.bound) & bound:
                visible.add((name, title))
                bound -= names.bound
            elif part != open_parts.get(title):
                bound |= names.bound if names else set()
    return visible


def _plain_names(source: str, language: str) -> Names:
    """The names in code of another language, by its words."""
    return Names(used=plaincode.used(source, language), assigned=plaincode.bound_anywhere(source, language))


def _parts(source: str) -> dict[str, str]:
    """The text of each check by title; what stands before the first of them by ""."""
    prelude, checks = parts_of(source)
    return {"": prelude} | {check.title: check.source for check in checks}
