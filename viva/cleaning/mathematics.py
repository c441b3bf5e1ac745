r"""Mathematics from a student: formulas that do more than typeset are shown as they were typed.

MathJax reads the text of the finished page. A formula with a command that links, styles, moves or redefines is cut
in two by an empty element, which MathJax does not read across. MathJax goes down with every brace, and some hundred
of them end the tab that it runs in: a text that would keep a browser busy becomes code, which no MathJax reads.
JupyterLab looks for formulas in the Markdown itself and across elements, but not in code either.
"""

from __future__ import annotations

import html
import re

from viva.cleaning.address import may_link

_COMMANDS = re.compile(
    r"""
    \\(
        (?:
            require | unicode | class | style | cssId | html[A-Z]\w* | data | includegraphics | href   # what is loaded
            | toggle | mathtip | texttip | tooltip | action                                            # what reacts
            | def | gdef | edef | xdef | let | futurelet | global | long | begingroup                  # what defines
            | newcommand | renewcommand | providecommand | newenvironment | renewenvironment
            | DeclareMathOperator | DeclarePairedDelimiter\w* | (?:new|renew|use)tagform | mathtoolsset
            | bbox | enclose | mmlToken | Newextarrow | genfrac | above | abovewithdelims              # what has a size
            | rule | Rule | Space | raise | lower | moveleft | moveright
            | mspace | mskip | hskip | kern | mkern | hmkern | hspace
            | smash | smashoperator | skew | uproot | leftroot | (?:math)?[lrc]lap | (?:raise|make|mathmake)box
        )
        (?![A-Za-z])
        | (?: \\ | newline(?![A-Za-z]) ) \s* \[ \s* (?: - | \d{3} )      # a new line far away
    )
    """,
    re.VERBOSE,
)
_SPACE = re.compile(
    r"""
    \\(?: hspace\*? | kern | mkern | hskip | mskip | mspace ) \s* \{? \s*
    \d? (?:\.\d+)? \s* (?: em | ex | pt | mu | px ) \b
    """,
    re.VERBOSE,
)
"""A small space to the right, of which honest formulas are full."""
_FORMULA = re.compile(r"\$.|\\[(\[]|\\begin\b", re.DOTALL)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_LINK = re.compile(r"\\href\s*\{([^{}]*)\}")
_DEFINED = re.compile(
    r"""
    \\ (?: def | newcommand | DeclareMathOperator\*? )
    \s* \{? \s* \\ ([A-Za-z]+|.)       # the command that it defines
    """,
    re.VERBOSE,
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
STANDARD = set(
    "begin end left right frac dfrac tfrac sum prod int sqrt text mathrm mathbf mathbb mathcal mathsf"
    " operatorname cdot cdots ldots dots times le leq ge geq ne neq approx equiv sim in notin subset cup cap to"
    " mapsto infty partial nabla hat bar vec tilde dot log ln exp sin cos tan tanh max min arg lim sup inf det dim"
    " quad qquad label ref eqref tag alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu"
    " xi pi rho sigma tau phi varphi chi psi omega Gamma Delta Theta Lambda Sigma Phi Psi Omega top bot ell prime"
    " big Big bigg Bigg underbrace overbrace array matrix cases top"
    # what MathJax's own macros are made of
    " bbFont cal scr frak rm bf it sf tt mathrel mathop mathord mathchoice limits nolimits displaystyle scriptstyle"
    " phantom vphantom underline overline underrightarrow underleftarrow fbox notag pod Longleftrightarrow"
    " Longrightarrow Longleftarrow TeX mmlToken kern mkern raise lower rlap".split()
)
"""Commands that a student's definition may not change for the rest of the page."""
DEEPEST = 50
"""So far braces, brackets that grow and environments are nested in each other."""
MOST_PARTS, MOST_SHIFTS = 3000, 50
"""Commands, groups, rows and columns in the formulas of one text, and steps to the left."""
LONGEST = 4000
"""Characters without a mark that begins or ends a formula; MathJax takes them for a formula if the marks are so."""
_PARTS = re.compile(
    r"""
    (?P<open> \\(?:left|begin)\b | (?<!\\)\{ )
    | (?P<close> \\(?:right|end)\b | (?<!\\)\} )
    | \\\\ | \\.                 # a new row, any command
    | &amp; | &(?!\w+;)          # a new column
    """,
    re.VERBOSE,
)
_SHIFT = re.compile(r"\\(?:!|neg(?:thin|med|thick)space)")
_MARK = re.compile(r"\$|\\(?=[\[\]()]|(?:begin|end)\b)")
_TAG = re.compile(r'(</?[a-z][\w]*(?: [\w-]+="[^"]*")*>)')
TOO_MUCH = "formulas that take too long to typeset"


def commands_in(text: str) -> frozenset[str]:
    """The names of the commands in a text, and its labels in braces."""
    return frozenset(_COMMAND.findall(text)) | {f"{{{label}}}" for label in _LABEL.findall(text)}


def unwelcome(text: str, taken: frozenset[str] = frozenset()) -> list[str]:
    """The commands in a text that do more than typeset, or change a command or label that is standard or ``taken``."""
    commands = [match[0] for match in _COMMANDS.finditer(text) if not _typesets(text, match, taken)]
    commands += [match[0] for match in _LABEL.finditer(text) if f"{{{match[1]}}}" in taken]
    return commands + ([TOO_MUCH] if _heavy(text) else [])


def without_commands(cleaned: str, taken: frozenset[str]) -> tuple[str, list[str]]:
    """A cleaned page whose formulas only typeset, and the commands that others had."""
    if not _FORMULA.search(cleaned):
        return cleaned, []
    removed, pieces, code = [], _TAG.split(cleaned), 0
    heavy = any(_heavy(text) for text in _texts(pieces))
    for index, piece in enumerate(pieces):
        if match := re.match(r"<(/?)(?:pre|code)\b", piece):
            code += -1 if match[1] else 1
        elif not piece.startswith("<") and not code:
            removed += unwelcome(piece, taken)
            as_typed = heavy and _MARK.search(piece)
            pieces[index] = f"<code>{piece}</code>" if as_typed else _cut(piece, taken)
    return "".join(pieces), [*removed, TOO_MUCH] if heavy and TOO_MUCH not in removed else removed


def _texts(pieces: list[str]) -> list[str]:
    """The texts that MathJax reads in one go: it looks across a line's end, but not across an element."""
    texts, code = [""], 0
    for piece in pieces:
        if match := re.match(r"<(/?)(?:pre|code)\b", piece):
            code += -1 if match[1] else 1
        if piece.startswith("<"):
            texts += [] if piece.startswith("<br") else [""]
        elif not code:
            texts[-1] += piece
    return texts


def _heavy(text: str) -> bool:
    """Whether a text that holds formulas would keep a browser busy, or leave its place in many small steps."""
    if not _FORMULA.search(text):
        return False
    depth = 0
    for number, part in enumerate(_PARTS.finditer(text)):
        depth = max(0, depth + (part["open"] is not None) - (part["close"] is not None))
        if depth > DEEPEST or number > MOST_PARTS:
            return True
    return len(_SHIFT.findall(text)) > MOST_SHIFTS or max(map(len, _MARK.split(text))) > LONGEST


def _cut(text: str, taken: frozenset[str]) -> str:
    def cut(match: re.Match) -> str:
        return match[0] if _typesets(text, match, taken) else f"\\<span></span>{match[1]}"

    def cut_label(match: re.Match) -> str:
        return f"\\<span></span>{match[0][1:]}" if f"{{{match[1]}}}" in taken else match[0]

    return _LABEL.sub(cut_label, _COMMANDS.sub(cut, text))


def _typesets(text: str, match: re.Match, taken: frozenset[str]) -> bool:
    if match[1] == "href":
        link = _LINK.match(text, match.start())
        return link is not None and may_link(html.unescape(link[1]).strip()) and not link[1].startswith("#")
    if defined := _DEFINED.match(text, match.start()):
        return defined[1].isalpha() and defined[1] not in STANDARD | taken
    return bool(_SPACE.match(text, match.start()))
