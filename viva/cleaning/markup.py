r"""HTML, Markdown and mathematics from a student, made harmless for the page that shows them.

Theory of operation. nh3 parses HTML as a browser does and writes it again with the elements and attributes
that are listed here and no others. A text in Markdown is rendered as nbconvert renders it, and the page is
given to nh3: when it comes back as it was, the text is harmless and stays as it is, byte for byte; otherwise
the cleaned page takes its place, which shows everything but what was taken out. So nothing here guesses how
Markdown is read.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass

from nbconvert.filters import strip_files_prefix
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from viva.cleaning.htmlpolicy import CELL, TAGS, WITH_CONTENT
from viva.cleaning.mathematics import without_commands

KNOWN = TAGS | WITH_CONTENT | set(
    "html body base basefont link meta form fieldset legend optgroup option datalist output progress meter track"
    " param area map picture main nav aside hgroup dialog menu menuitem slot search marquee frame image bgsound"
    " keygen nobr plaintext listing isindex portal bdo data acronym rb rtc g path use animate set foreignobject".split()
)  # fmt: skip
"""Elements that mean something to a browser. Any other, as in List<int>, is text that somebody typed."""
PANDAS = re.compile(
    r"""
    <style[ ]scoped>\s*
    \.dataframe[ ]tbody[ ]tr[ ]th:only-of-type[ ]\{ \s* vertical-align:[ ]middle; \s* \}\s*
    \.dataframe[ ]tbody[ ]tr[ ]th[ ]\{ \s* vertical-align:[ ]top; \s* \}\s*
    (?: \.dataframe[ ]thead[ ]tr[ ]th[ ]\{ \s* text-align:[ ]left; \s* \}\s*             # where columns have levels
    | \.dataframe[ ]thead[ ]th[ ]\{ \s* text-align:[ ]right; \s* \}\s*
    | \.dataframe[ ]thead[ ]tr:last-of-type[ ]th[ ]\{ \s* text-align:[ ]right; \s* \}\s* )*
    </style>\n?
    """,
    re.VERBOSE,
)
"""The style sheet that pandas writes above each of its tables: harmless, and known letter for letter."""

_TAG = re.compile(
    r"""
    <(/?)([a-zA-Z][\w-]*)
    ( (?: \s+ [\w-]+ (?: \s*=\s* (?: "[^"]*" | '[^']*' | [^\s"'=<>`]+ ) )? )* )      # attributes
    \s*/?>
    """,
    re.VERBOSE,
)
_ANY_TAG = re.compile(r"<[a-zA-Z/!?]")
_VOID = set("area base br col embed hr img input link meta param source track wbr".split())
_DATA = re.compile(r"data:(?:image|audio)/[\w.+-]+;base64,[\w+/=]+")
_TYPED = re.compile(r"<(/?)([a-zA-Z][^\s<>/]*)")
_NAMES = re.compile(
    r"""
    <([a-zA-Z][\w-]{0,20})                                                                        # elements
    | [\s"'/] ( on[a-z]{1,30} | id | name | style | class | src | href | data-[\w-]{1,20} ) \s*=  # attributes
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MINOR = set("html head body tbody class target rel".split())
MOST_TAGS, MOST_LOOSE_TAGS, DEEPEST = 50_000, 1000, 100
"""Elements in one output or cell; when they are not properly nested, browsers may multiply them."""
MOST_CHARACTERS = 15 * 2**20
"""The most characters of one output or cell, pictures included."""
MOST_MARKDOWN = 200_000
"""Characters of a cell, without the pictures in it."""
COSTLY = {"[": 1000, "\\begin": 500, "\\": 5000}
"""More than so many of these take nbconvert seconds to minutes to read."""
SHOWN = 6
"""How many names of removed parts are listed."""


@dataclass(frozen=True)
class Cleaned:
    """A text without what was ``removed`` from it: names of elements, attributes and commands."""

    text: str
    removed: tuple[str, ...] = ()


def clean_html(text: str, taken: frozenset[str] = frozenset()) -> Cleaned:
    """HTML as it may stand in a page; ``taken`` are the commands of mathematics that others use."""
    if reason := _too_much(text):
        return Cleaned("", (reason,))
    style = PANDAS.match(text, 5 + len("\n")) if text.startswith("<div>\n") else None
    bare = text[: style.start()] + text[style.end() :] if style else text
    cleaned, removed = _clean(bare, taken, "noopener noreferrer")
    if _depth(cleaned) > DEEPEST:
        return Cleaned("", ("HTML that is nested too deeply",))
    if style and cleaned.startswith("<div>\n"):
        cleaned = f"<div>\n{style[0]}{cleaned[6:]}"
    return Cleaned(cleaned, removed)


def clean_markdown(source: str, attachments: dict | None = None, taken: frozenset[str] = frozenset()) -> Cleaned:
    """Markdown as it may stand in a cell: the same text when its page is harmless, that page cleaned otherwise."""
    plain = _DATA.sub("", source) if "base64," in source else source
    if len(plain) > MOST_MARKDOWN:
        return Cleaned(_as_typed(plain[:MOST_MARKDOWN]), (f"everything after {MOST_MARKDOWN} characters",))
    if any(plain.count(text) > most for text, most in COSTLY.items()):
        return Cleaned(_as_typed(source), ("Markdown that takes too long to read",))
    try:
        page = rendered(source, attachments or {})
    except Exception:  # a text can bring its reader down, by depth or by a bug
        return Cleaned(_as_typed(source), ("Markdown that cannot be rendered",))
    if reason := _too_much(page):
        return Cleaned(_as_typed(source), (reason,))
    cleaned, removed = _clean(page, taken, None)
    if cleaned == _normal(page):
        return Cleaned(source)
    cleaned, _ = _clean(page, taken, "noopener noreferrer")
    block = "<div>\n" + re.sub(r"\n(?=[^\S\n]*\n)", "&#10;", cleaned.strip()) + "\n</div>"
    if _depth(cleaned) > DEEPEST or _normal(rendered(block, {})).strip() != _normal(block):
        return Cleaned(_as_typed(source), removed or ("HTML that cannot be shown",))
    return Cleaned(block, removed)


class _Renderer(IPythonRenderer):
    """nbconvert's, but a picture that was not submitted is left out instead of refusing the whole page."""

    def _embed_image_or_attachment(self, src: str) -> str:
        lost = src.startswith("attachment:") and not self.attachments.get(src.removeprefix("attachment:"))
        return "missing:" if lost else super()._embed_image_or_attachment(src)


def rendered(source: str, attachments: dict) -> str:
    """The page that nbconvert's templates make of a Markdown cell."""
    renderer = _Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    return strip_files_prefix(MarkdownWithMath(renderer=renderer).render(source))


def _clean(text: str, taken: frozenset[str], rel: str | None) -> tuple[str, tuple[str, ...]]:
    refused: list[str] = []
    cleaned = CELL.clean(_TYPED.sub(_typed, PANDAS.sub("", text)), rel, refused)
    cleaned = _without_remains(cleaned)
    lost = Counter() if cleaned == text else Counter(_names(text)) - Counter(_names(cleaned))
    explained = {name.partition(" of ")[0] for name in refused} | _MINOR
    names = [f"<{tag}>" if tag else name for tag, name in lost if (tag or name) not in explained]
    cleaned, commands = without_commands(cleaned, taken)
    removed = list(dict.fromkeys([*names, *refused, *commands]))
    unlisted = len(removed) - SHOWN
    return cleaned, tuple(removed[:SHOWN] + ([f"{unlisted} more"] if unlisted > 0 else []))


def _names(text: str) -> list[tuple[str, str]]:
    pairs = [(tag.lower(), name.lower()) for tag, name in _NAMES.findall(text[:MOST_MARKDOWN])]
    return [(tag, name) for tag, name in pairs if not tag or tag in KNOWN]


def _typed(match: re.Match) -> str:
    return match[0] if match[2].lower() in KNOWN else f"&lt;{match[1]}{match[2]}"


def _without_remains(cleaned: str) -> str:
    """Remove pictures that lost their address, and all fields but the dead boxes of a list of tasks."""

    def instead(match: re.Match) -> str:
        if match[1] == "input":
            return match[0] if ' type="checkbox" disabled=""' in match[0] else ""
        if " src=" in match[0]:
            return match[0]
        alt = re.search(r' alt="([^"]*)"', match[0])
        text = html.escape(html.unescape(alt[1])) if alt and alt[1] else ""
        return f"<span>[a picture that is not shown{': ' if text else ''}{text}]</span>"

    return re.sub(r'<(img|input)(?: [\w-]+="[^"]*")*>', instead, cleaned)


def _too_much(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        return f"HTML of more than {MOST_CHARACTERS // 2**20} MB"
    count = sum(1 for _ in _ANY_TAG.finditer(text))
    if count > MOST_TAGS or (count > MOST_LOOSE_TAGS and not _nested(text)):
        return f"HTML of {count} elements"
    return ""


def _nested(text: str) -> bool:
    """Whether every element is written plainly and closed where it was opened: then a page is as large as its text."""
    stack: list[str] = []
    for start in _ANY_TAG.finditer(text):
        match = _TAG.match(text, start.start())
        if not match:
            return False
        name = match[2].lower()
        if match[1]:
            if not stack or stack.pop() != name:
                return False
        elif name not in _VOID:
            stack.append(name)
            if len(stack) > DEEPEST:
                return False
    return not stack


def _depth(cleaned: str) -> int:
    """How deep the elements of a cleaned page are nested."""
    depth = deepest = 0
    for closing, name in re.findall(r"<(/?)([a-z][\w]*)", cleaned):
        depth += 0 if name in _VOID else -1 if closing else 1
        deepest = max(deepest, depth)
    return deepest


def _normal(page: str) -> str:
    """A rendered page in the writing of nh3, as far as that is safe to say letter by letter."""
    pieces = re.split(r"(<[^<>]*>)", re.sub(r"<!--[^<>-]*-->", "", page))
    for index, piece in enumerate(pieces):
        if index % 2:
            piece = piece.replace(' type="checkbox" disabled checked', ' type="checkbox" disabled="" checked=""')
            piece = re.sub(r' type="checkbox" disabled\b(?!=)', ' type="checkbox" disabled=""', piece)
            pieces[index] = re.sub(r"^<(br|hr|img|input)\b([^<>]*?)\s*/>$", r"<\1\2>", piece)
        else:
            pieces[index] = piece.replace("&quot;", '"').replace("&#39;", "'").replace("&#x27;", "'")
    return "".join(pieces)


def _as_typed(source: str) -> str:
    text = html.escape(source)
    for character in "[\\$`":
        text = text.replace(character, f"&#{ord(character)};")
    return f"<pre>\n{text}\n</pre>"
