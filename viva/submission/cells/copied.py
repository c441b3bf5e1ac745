"""Code that was copied through a page, a mail or a chat, read as it was typed.

Only code that is not Python as it stands is looked at, and a reading counts only when it is the one that is Python.
What a human would have to guess at is left as it is: see ``doubts``.
"""

from __future__ import annotations

import html
import re
import textwrap

from viva.submission.cells.texts import looks_like_code, runs

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
"""What word processors, pages and keyboards for other scripts put in the place of ASCII."""
_NUMBERED = re.compile(r"[ \t]*(\d{1,4})(?:[.:|)]|[ \t]+\|)?(?:[ \t]|$)")
_FENCE = re.compile(r"^(?:```|~~~)[ \t]*\w*[ \t]*$", re.MULTILINE)


def as_typed(source: str) -> tuple[str, str]:
    """Code without what copying added, and the kind of a note that says what that was; spaces are not worth one."""
    if source.startswith("%%") or runs(source):
        return source, ""
    spaced = _INVISIBLE.sub("", _SPACES.sub(" ", _LINE_ENDS.sub("\n", source)))
    spaced = _BEHIND_BACKSLASH.sub(r"\\", spaced)
    if runs(spaced):
        return spaced, ""
    plain = html.unescape(spaced).translate(_PRINTED)
    if looks_like_code(plain):
        return plain, "print_signs"
    readings = {
        "line_numbers": _without_numbers(plain),
        "line_marks": _without_marks(plain),
        "fences": _in_fences(plain),
        "tabs": _without_tabs(plain),
        "indented": _below_first(plain),
    }
    found = {text: why for why, text in readings.items() if text.strip() and looks_like_code(text)}
    return next(iter(found.items())) if len(found) == 1 else (source, "")


def _without_numbers(source: str) -> str:
    """The lines without their numbers, when each begins with one that is greater by one than the last."""
    lines = source.strip("\n").split("\n")
    found = [match for line in lines if (match := _NUMBERED.match(line))]
    if len(lines) < 2 or len(found) < len(lines):
        return source
    first = int(found[0][1])
    if [int(match[1]) for match in found] != list(range(first, first + len(lines))):
        return source
    return textwrap.dedent("\n".join(line[match.end() :] for line, match in zip(lines, found, strict=True)))


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
