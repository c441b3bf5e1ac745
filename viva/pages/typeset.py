"""Markdown, formulas, code and outputs as HTML that can do nothing: no script, no style, no request.

nbconvert's Markdown parser reads, latex2mathml sets the formulas, and nh3 cleans all of it at the end, whoever
wrote it. Pictures are data URIs; those that lie elsewhere are named instead of shown.
"""

from __future__ import annotations

import base64
import binascii
import functools
import html
import re
from collections.abc import Mapping
from pathlib import Path

from latex2mathml.converter import convert
from markupsafe import Markup
from nbconvert.filters import strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from viva.cleaning.address import is_picture
from viva.cleaning.htmlpolicy import PAGE
from viva.language import ENGLISH, Language

LONGEST_TEXT, LONGEST_FORMULA = 100_000, 4_000
MOST_PICTURE = 4_000_000
"""Bytes of a picture, coded as text."""
_DATA = re.compile(r"data:(?:image|audio)/[\w.+-]+;base64,[\w+/=]+")
PICTURES = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8", "image/webp": b"RIFF"}
WORDS = re.compile(r"<mtext[^<]*")
"""Where latex2mathml leaves ``\\_`` as it was typed."""
UNSAFE_TEX = re.compile(
    r"""
    \\ (?: def | newcommand | renewcommand | let | gdef | edef      # what follows would mean something else
    | href | url | require | style | class | cssId | unicode ) \b
    """,
    re.VERBOSE,
)
HEADING = re.compile(r"<(/?)h([1-6])>")
UNREADABLE = re.compile(
    r"""
    [\x00-\x08\x0b-\x1f\x7f-\x9f]                            # control characters, but for tabs and ends of lines
    | [\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]     # what turns the direction of a text
    """,
    re.VERBOSE,
)


PRODUCT = re.compile(
    r"""
    (?P<kept> ^[ ]{0,3}(?P<fence>`{3,}|~{3,}) [\s\S]*? (?:^[ ]{0,3}(?P=fence)|\Z)   # code
    | ^(?:[ ]{4}|\t).*$
    | (?P<ticks>(?<!`)`+)(?!`) [\s\S]{0,2000}? (?<!`)(?P=ticks)(?!`)
    | \$\$ [\s\S]{0,4000}? \$\$ | \$[^$\n]{1,4000}\$    # a formula
    | \\begin\{(?P<name>\w{1,20}\*?)\} [\s\S]{0,2000}? \\end\{(?P=name)\}
    | <[^<>]{0,1000}> | \]\([^)\s]{0,1000}\) | \\. )
    | (?<=[\w)\]]) \* (?=[\w(\[])
    """,
    re.VERBOSE | re.MULTILINE,
)
"""An asterisk between two factors, as in ``3*H*(D/H)*D``, and what is left alone."""


def with_products(source: str) -> str:
    """Markdown in which a product keeps its asterisks, of which two would make what is between them italic."""
    return PRODUCT.sub(lambda match: match["kept"] or "\\*", source) if "*" in source else source


def clean(text: str, language: Language = ENGLISH) -> str:
    """HTML with nothing in it that runs, loads, covers or can be mistaken for the page's own."""
    cleaned = PAGE.clean(text, "noopener noreferrer nofollow")
    cleaned = re.sub(
        r"<img(?![^>]*\bsrc=)[^>]*?(?:alt=\"([^\"]*)\"[^>]*)?>", lambda image: _named(image[1], language), cleaned
    )
    cleaned = re.sub(r"<th[^>]*></th>", "<td></td>", cleaned)  # the corner of a table is not a heading
    undescribed = html.escape(language.text("typeset.no_description"))
    return re.sub(r"<img (?![^>]*\balt=\"[^\"])", lambda _: f'<img alt="{undescribed}" ', cleaned)


def _named(description: str | None, language: Language) -> str:
    """What stands for a picture that is not shown; the description is HTML."""
    name = (
        language.text("typeset.picture", text=description) if description else language.text("typeset.picture_unnamed")
    )
    return f"<em>{name}</em>"


class _Renderer(IPythonRenderer):
    """nbconvert's, with formulas as MathML and pictures from the notebook or its folder only."""

    def __init__(self, attachments: Mapping, folder: Path | None) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self.pictures, self.folder = attachments, folder

    def block_code(self, code: str, info: str | None = None) -> str:
        return f"<pre><code>{html.escape(code)}</code></pre>"

    def block_math(self, body: str) -> str:
        return formula(body, "block")

    def inline_math(self, body: str) -> str:
        return formula(body, "inline")

    def latex_environment(self, name: str, body: str) -> str:
        return formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

    def image(self, text: str, url: str, title: str | None = None) -> str:
        source = self._attached(url) or (url if is_picture(url) else "") or self._beside(url)
        return f'<img src="{html.escape(source)}" alt="{html.escape(text)}">'

    def _attached(self, url: str) -> str:
        bundle = self.pictures.get(url.removeprefix("attachment:")) if url.startswith("attachment:") else None
        for mime, data in (bundle or {}).items():
            if isinstance(data, str) and (address := picture(mime, data)):
                return address
        return ""

    def _beside(self, url: str) -> str:
        """A picture in the folder that was submitted: a file there, no link, and what its first bytes say."""
        if not self.folder:
            return ""
        path = self.folder / url
        try:
            if path.is_symlink() or not path.resolve().is_relative_to(self.folder.resolve()):
                return ""
            if not path.is_file() or path.stat().st_size > MOST_PICTURE:
                return ""
            content = path.read_bytes()
        except (OSError, ValueError):
            return ""
        types = [mime for mime, head in PICTURES.items() if content.startswith(head)]
        return f"data:{types[0]};base64,{base64.b64encode(content).decode()}" if types else ""


def picture(mime: str, data: str) -> str:
    """A picture as a data URI; empty when it is none that may be shown. A vector picture in an img runs nothing."""
    if mime == "image/svg+xml":
        data = base64.b64encode(data.encode(errors="replace")).decode()
    data = "".join(data.split())
    if len(data) > MOST_PICTURE or mime not in (*PICTURES, "image/svg+xml"):
        return ""
    try:
        head = base64.b64decode(data[:64], validate=True)
    except (binascii.Error, ValueError):
        return ""
    return f"data:{mime};base64,{data}" if head.startswith(PICTURES.get(mime, b"<")) else ""


@functools.lru_cache(4096)
def formula(tex: str, display: str = "inline") -> str:
    """LaTeX as MathML; what cannot be set stays as it was typed. It is not clean yet."""
    if len(tex) <= LONGEST_FORMULA and not UNSAFE_TEX.search(tex):
        supported = re.sub(r"\{(?:aligned|split|gathered)\}", "{align*}", tex.strip())
        supported = re.sub(r"\\tag\{([^{}]*)\}", r"\\qquad\\text{(\1)}", supported)
        try:
            return WORDS.sub(_unescaped, convert(supported, display=display))
        except Exception:  # whatever a student types; the library raises several kinds
            pass
    return f"<code>{html.escape(tex)}</code>"


def _unescaped(words: re.Match) -> str:
    return re.sub(r"\\([_%#$&])", r"\1", words[0])


def prose(
    source: str, attachments: Mapping | None = None, folder: Path | None = None, language: Language = ENGLISH
) -> Markup:
    """Markdown as HTML; ``language`` is for what stands in place of a picture."""
    if len(source) > LONGEST_TEXT:
        return Markup("<pre>{}</pre>").format(source[:LONGEST_TEXT])
    if "![" in source:
        return Markup(clean(_rendered(source, attachments or {}, folder), language))
    return _prose(source, language)


@functools.lru_cache(1024)
def _prose(source: str, language: Language) -> Markup:
    """Most cells are the same for every student."""
    return Markup(clean(_rendered(source, {}, None), language))


def _rendered(source: str, attachments: Mapping, folder: Path | None) -> str:
    try:
        return MarkdownWithMath(renderer=_Renderer(attachments, folder)).render(with_products(source))
    except (RecursionError, ValueError, KeyError, IndexError):
        return f"<pre>{html.escape(source)}</pre>"


@functools.lru_cache(2048)
def code(source: str, written_in: str = "python") -> Markup:
    """Code with its words marked, as far as Pygments knows the language that it is written in."""
    if len(source) > LONGEST_TEXT:
        return Markup("{}").format(source[:LONGEST_TEXT])
    try:
        lexer = get_lexer_by_name(written_in.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return Markup("{}").format(source)
    return Markup(highlight(source, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n"))


def output(item: NotebookNode, cell: str, language: Language = ENGLISH) -> dict[str, object]:
    """An output of a cell as the page shows it: text, an error's text, a picture or HTML."""
    if item.output_type == "stream":
        return {"style": "text", "text": plain(item.text)}
    if item.output_type == "error":
        return {"style": "error", "text": plain("\n".join(item.traceback) or f"{item.ename}: {item.evalue}")}
    data = item.get("data", {})
    text = _text(data.get("text/plain", ""))
    for mime in ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"):
        if mime in data and (source := picture(mime, _text(data[mime]))):
            drawn = language.text("typeset.drawn", cell=cell, text=text[:80])
            return {"style": "picture", "source": source, "alt": drawn}
    if "text/html" in data:
        return {"style": "html", "html": Markup(clean(_shortened(_text(data["text/html"])), language))}
    for mime in ("text/markdown", "text/latex"):
        if mime in data:
            return {"style": "html", "html": prose(_text(data[mime]), language=language)}
    return {"style": "text", "text": plain(text)}


def _shortened(text: str) -> str:
    """HTML of a length that can be shown; pictures and sounds in it do not count."""
    return text if len(_DATA.sub("", text)) <= LONGEST_TEXT else text[:LONGEST_TEXT]


def _text(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


def plain(text: object) -> str:
    """Text without colours, control characters, and characters that turn what follows around."""
    stripped = strip_ansi(_text(text)).replace("\r\n", "\n")
    return UNREADABLE.sub("", stripped)


def demoted(text: Markup, level: int) -> Markup:
    """The headings of a text moved below a heading of ``level``, none of them more than one step below the last."""
    last = level

    def moved(match: re.Match) -> str:
        nonlocal last
        if not match[1]:
            last = min(int(match[2]) + level, last + 1, 6)
        return f"<{match[1]}h{last}>"

    return Markup(HEADING.sub(moved, text))
