r"""Mathematics from a student: formulas that do more than typeset are shown as they were typed.

MathJax reads the text of the finished page. A formula with a command that links, styles, moves or redefines is cut
in two by an empty element, which MathJax does not read across.
"""

from __future__ import annotations

import html
import re

from viva.cleaning.address import may_link

_COMMANDS = re.compile(
    r"\\((?:require|unicode|class|style|cssId|html[A-Z]\w*|bbox|enclose|mmlToken|toggle|mathtip|texttip|tooltip|action"
    r"|data|begingroup|gdef|edef|xdef|let|futurelet|renewcommand|renewenvironment|newenvironment|providecommand|global"
    r"|long|includegraphics|Newextarrow|genfrac|above|abovewithdelims|rule|Rule|Space|raise|lower|moveleft|moveright"
    r"|mspace|mskip|hskip|kern|mkern|hspace|href|def|newcommand|DeclareMathOperator)(?![A-Za-z])"
    r"|\\\s*\[\s*(?:-|\d{3}))"
)
_SPACE = re.compile(r"\\(?:hspace\*?|kern|mkern|hskip|mskip|mspace)\s*\{?\s*\d?(?:\.\d+)?\s*(?:em|ex|pt|mu|px)\b")
"""A small space to the right, of which honest formulas are full."""
_FORMULA = re.compile(r"\$|\\[(\[]|\\begin\b")
_LINK = re.compile(r"\\href\s*\{([^{}]*)\}")
_DEFINED = re.compile(r"\\(?:def|newcommand|DeclareMathOperator\*?)\s*\{?\s*\\([A-Za-z]+|.)")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
STANDARD = set(
    "begin end left right frac dfrac tfrac sum prod int sqrt text mathrm mathbf mathbb mathcal mathsf"
    " operatorname cdot cdots ldots dots times le leq ge geq ne neq approx equiv sim in notin subset cup cap to"
    " mapsto infty partial nabla hat bar vec tilde dot log ln exp sin cos tan tanh max min arg lim sup inf det dim"
    " quad qquad label ref eqref tag alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu"
    " xi pi rho sigma tau phi varphi chi psi omega Gamma Delta Theta Lambda Sigma Phi Psi Omega top bot ell prime"
    " big Big bigg Bigg underbrace overbrace".split()
)
"""Commands that a student's definition may not change for the rest of the page."""


def commands_in(text: str) -> frozenset[str]:
    """The names of the commands in a text."""
    return frozenset(_COMMAND.findall(text))


def unwelcome(text: str, taken: frozenset[str] = frozenset()) -> list[str]:
    """The commands in a text that do more than typeset, or change a command that is standard or ``taken``."""
    return [match[0] for match in _COMMANDS.finditer(text) if not _typesets(text, match, taken)]


def without_commands(cleaned: str, taken: frozenset[str]) -> tuple[str, list[str]]:
    """A cleaned page whose formulas only typeset, and the commands that others had."""
    if not _FORMULA.search(cleaned) or not _COMMANDS.search(cleaned):
        return cleaned, []
    removed, pieces, code = [], [], 0
    for piece in re.split(r'(</?[a-z][\w]*(?: [\w-]+="[^"]*")*>)', cleaned):
        if match := re.match(r"<(/?)(?:pre|code)\b", piece):
            code += -1 if match[1] else 1
        elif not piece.startswith("<") and not code:
            removed += unwelcome(piece, taken)
            piece = _cut(piece, taken)
        pieces.append(piece)
    return "".join(pieces), removed


def _cut(text: str, taken: frozenset[str]) -> str:
    return _COMMANDS.sub(
        lambda match: match[0] if _typesets(text, match, taken) else f"\\<span></span>{match[1]}", text
    )


def _typesets(text: str, match: re.Match, taken: frozenset[str]) -> bool:
    if match[1] == "href":
        link = _LINK.match(text, match.start())
        return bool(link) and may_link(html.unescape(link[1]).strip()) and not link[1].startswith("#")
    if defined := _DEFINED.match(text, match.start()):
        return defined[1].isalpha() and defined[1] not in STANDARD | taken
    return bool(_SPACE.match(text, match.start()))
