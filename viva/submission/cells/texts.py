"""Facts about a text that need no run: whether it is code or words, the names it gives and the names it uses.

Code is read as IPython reads it (``viva.notebook``): a magic is not a syntax error, and a cell whose first line is
indented runs.
"""

from __future__ import annotations

import builtins
import html
import keyword
import re
import textwrap
from bisect import bisect_right

from rapidfuzz import fuzz

from viva.engine import plaincode
from viva.notebook.names import Names, names_of
from viva.notebook.programming import PYTHON as LANGUAGE
from viva.notebook.statements import acts, returns_outside, runs

LONGEST = 10_000
"""Characters of a cell that are compared."""
NAME = re.compile(r"[^\W\d]\w*")
_SEEMS_GIVEN = re.compile(
    r"""
    ^ (?:async[ \t]+def | def | class) [ \t]+ (\w+)
    | ^ ((?:[^\W\d]\w*[ \t]*,[ \t]*)* [^\W\d]\w*) [ \t]* [-+*/]?=(?!=)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A line that defines or binds, in code that may be broken elsewhere."""
_STATEMENT = re.compile(
    r"""
    ^[ \t]* (?:assert|def|class|import|return|print) \b
    | ^[ \t]* [\w.]+ [ \t]* [-+*/@]?=(?!=)           # an assignment
    | [\[({=] [ \t]*$ | \w\([^()\n]*\):? [ \t]*$     # a line that goes on below, a call
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A line that is hardly one of a text."""
_SIGN_OF_CODE = re.compile(r"[][={}@#<>*_\\]|\w\(|[^\W\d]\.[^\W\d]")
_FRONT = re.compile(r"---\n(?:\w[\w-]*:.*\n|(?:[ \t]|- ).*\n)*---")
PYTHON = {*dir(builtins), *keyword.kwlist, "np", "plt", "pd", "self", "get_ipython"}
_NONE = Names()


def squeezed(source: str) -> str:
    """A text without white space: Colab and others change it, and nobody means anything by it."""
    return "".join(source.split())


def lines_of(source: str, is_code: bool) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers; white space stays only at the head of code."""
    return [
        (number, f"{line[: len(line) - len(line.lstrip())] if is_code else ''}{squeezed(line)}")
        for number, line in enumerate(source.splitlines())
        if line.strip()
    ]


def begins_inside(source: str) -> bool:
    """Whether code begins in the middle of a block, or returns outside of a function."""
    return returns_outside(source) or bool(re.match(r"(?:[ \t]*\n)*[ \t]+\S|(?:elif|else|except|finally)\b", source))


def bound_names(source: str, language: str = LANGUAGE) -> set[str]:
    """The names that code assigns, defines or changes in place, outside of functions; of broken code, and in another
    language, those that its lines seem to give."""
    if language != LANGUAGE:
        return plaincode.bound(source, language)
    if (names := names_of(source)) is None:
        groups = [NAME.findall(function or targets) for function, targets in _SEEMS_GIVEN.findall(source[:LONGEST])]
        return {name for targets in groups for name in targets} - PYTHON
    return (names.assigned | names.changed) - PYTHON


def given_names(source: str, language: str = LANGUAGE) -> set[str]:
    """The names that code binds or imports."""
    if language != LANGUAGE:
        return plaincode.bound(source, language)
    return bound_names(source) | (names_of(source) or _NONE).imported


def used_names(source: str, language: str = LANGUAGE) -> set[str]:
    """The names that others must have given before code runs, or before its functions do; none of broken code. In
    another language also names that nobody has to give, as those of its library."""
    if language != LANGUAGE:
        return plaincode.used(source, language) - plaincode.bound(source, language)
    names = names_of(source) or _NONE
    return names.needed - names.given - PYTHON


def words(source: str) -> set[str]:
    """All names in a text, without those of Python."""
    return set(NAME.findall(source[:LONGEST])) - PYTHON


def has_line_of_code(source: str) -> bool:
    """Whether a text, or a line of it, is Python that binds, imports or calls something, or seems to be."""
    lines = source[:LONGEST].splitlines()
    return bool(_STATEMENT.search(source[:LONGEST])) or any(acts(line.strip()) for line in (source, *lines))


def code_parts(cell_type: str, source: str, language: str = LANGUAGE) -> list[str]:
    """The code of a cell: all of it, or the blocks of it that its text shows."""
    if language != LANGUAGE:
        texts = [textwrap.dedent(block).strip("\n") for block in _blocks(source)]
        return [source] if cell_type == "code" else [text for text in texts if plaincode.bound(text, language)]
    if cell_type == "code" or acts(source):
        return [source]
    texts = [textwrap.dedent(block).strip("\n") for block in _blocks(source)]
    return [text for text in texts if acts(text)]


def _blocks(source: str) -> list[str]:
    """The blocks of code in Markdown: in fences, or indented. A fence that is not closed is a line like others."""
    lines, blocks, block = source.split("\n"), [], list[str]()
    ends = {fence: [n for n, line in enumerate(lines) if line.rstrip(" \t") == fence] for fence in ("```", "~~~")}
    number = 0
    while number < len(lines):
        line = lines[number]
        following = ends.get(line[:3], [])
        end = bisect_right(following, number)
        if end < len(following):
            blocks += ["\n".join(block), "\n".join(lines[number + 1 : following[end]])]
            block, number = [], following[end]
        elif line.startswith(("    ", "\t")) or not line.strip(" \t"):
            block.append(line)
        else:
            blocks.append("\n".join(block))
            block = []
        number += 1
    return [text for text in (*blocks, "\n".join(block)) if text.strip()]


def is_prose(source: str) -> bool:
    """Whether a text can only be words: no code, mostly letters, and hardly a sign of code among many words."""
    source = source[:LONGEST]
    count = len(re.findall(r"[^\W\d_]{2,}", source))
    if count < 5 or _STATEMENT.search(source) or runs(source):
        return False
    share = sum(letter.isalpha() or letter.isspace() for letter in source) / len(source)
    return share > 0.75 or (share > 0.6 and len(_SIGN_OF_CODE.findall(source)) <= count / 8)


def is_front_matter(source: str) -> bool:
    """Whether a text is what Quarto and others write on top: lines of ``key: value`` between dashes."""
    return bool(_FRONT.fullmatch(source.strip()))


def likeness(left: str, right: str) -> float:
    """From 0 to 1."""
    return fuzz.ratio(left[:LONGEST], right[:LONGEST]) / 100


# Code that was copied through a page, a mail or a chat, read as it was typed.
#
# Only code with a syntax error is looked at, and a reading counts only when it is the one that is Python.
# Code that can be read in two ways stays as it is: see ``doubts``.

_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]")
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
_BEHIND_BACKSLASH = re.compile(r"\\[ \t]+$", re.MULTILINE)
_PRINTED = dict.fromkeys(range(0x2018, 0x201C), "'") | dict.fromkeys(range(0x201C, 0x2020), '"')
_PRINTED |= dict.fromkeys([*range(0x2010, 0x2015), 0x2212], "-") | {0x2032: "'", 0x2033: '"'}
_PRINTED |= {
    0xAB: '"',
    0xBB: '"',
    0x2039: "'",
    0x203A: "'",
    0x2217: "*",
    0x2215: "/",
    0x2026: "...",
    0x3001: ",",
    0x3002: ".",
    0x2192: "->",
    0x2260: "!=",
    0x2264: "<=",
    0x2265: ">=",
}
_PRINTED |= {wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}
"""Signs that word processors, pages and keyboards for other scripts put in the place of ASCII."""
_NUMBERED = re.compile(r"\A[ \t]*(\d{1,4})(?:[.:|)]|[ \t]+\|)?(?:[ \t]|$)")
_FENCE = re.compile(r"^(?:```|~~~)[ \t]*\w*[ \t]*$", re.MULTILINE)


def as_typed(source: str) -> tuple[str, str]:
    """Code without the signs that copying added, and the kind of the note about them; spaces need no note."""
    if source.startswith("%%") or runs(source):
        return source, ""
    spaced = _INVISIBLE.sub("", _SPACES.sub(" ", _LINE_ENDS.sub("\n", source)))
    spaced = _BEHIND_BACKSLASH.sub(r"\\", spaced)
    if runs(spaced):
        return spaced, ""
    plain = html.unescape(spaced).translate(_PRINTED)
    if acts(plain):
        return plain, "print_signs"
    readings = {
        "line_numbers": _without_numbers(plain),
        "line_marks": _without_marks(plain),
        "fences": _in_fences(plain),
        "tabs": _without_tabs(plain),
        "indented": _below_first(plain),
    }
    unambiguous = {text: why for why, text in readings.items() if text.strip() and acts(text)}
    return next(iter(unambiguous.items())) if len(unambiguous) == 1 else (source, "")


def _without_numbers(source: str) -> str:
    """The lines without their numbers, when each begins with one that is greater by one than the last."""
    lines = source.strip("\n").split("\n")
    numbers = [match for line in lines if (match := _NUMBERED.match(line))]
    if len(lines) < 2 or len(numbers) < len(lines):
        return source
    first = int(numbers[0][1])
    if [int(match[1]) for match in numbers] != list(range(first, first + len(lines))):
        return source
    return textwrap.dedent("\n".join(line[match.end() :] for line, match in zip(lines, numbers, strict=True)))


def _without_marks(source: str) -> str:
    """The lines of a mail that was answered, or of a difference: without the sign that each of them begins with."""
    lines = [line for line in source.split("\n") if line.strip()]
    marked = bool(lines) and lines[0][0] in ">+|•" and all(line[0] == lines[0][0] for line in lines)
    return textwrap.dedent("\n".join(line[1:] for line in lines)) if marked else source


def _in_fences(source: str) -> str:
    """The blocks of code in a text; or all of it, without a mark that has no partner."""
    parts = _FENCE.split(source)
    return "\n".join(part.strip("\n") for part in parts[1::2]) if len(parts) % 2 else "\n".join(parts).strip("\n")


def _below_first(source: str) -> str:
    """The lines below the first without the spaces that they share, as when it was marked from its first word on."""
    first, _, rest = source.partition("\n")
    return source if first[:1].isspace() else f"{first}\n{textwrap.dedent(rest)}"


def _without_tabs(source: str) -> str:
    """The lines with tabs of 4, unless tabs of 8 make sense, too."""
    return source if runs(source.expandtabs(8)) else source.expandtabs(4)
