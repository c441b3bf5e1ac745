"""The policy for a student's HTML: its elements, attributes and styles, in two profiles.

``CELL`` is for a cell or output that nbconvert and formgrader show: it keeps the look that nbconvert gives it. ``PAGE``
is for the pages of Viva: fewer elements, no classes or styles, and formulas as MathML. nh3 parses HTML as a browser
does, and writes it again with what a profile allows and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import nh3
from pygments.token import STANDARD_TYPES

from viva.cleaning.address import is_picture, may_hear, may_link, may_show

TAGS = set(
    "a abbr address article audio b bdi big blockquote br caption center cite code col colgroup dd del details dfn"
    " div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label li mark ol p"
    " pre q rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead"
    " time tr tt u ul var wbr".split()
)
WITH_CONTENT = set(
    "script style svg math iframe object embed applet frameset noframes noscript noembed template textarea title"
    " select button video canvas head xmp".split()
)
"""Elements that are taken out with all that is in them."""
MATHEMATICS = set(
    "math mrow mi mo mn ms mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot mpadded mphantom "
    "mstyle mtable mtr mtd menclose".split()
)
LEFT_OUT = set(
    "address article bdi big center font footer header input label rp rt ruby section strike time tt wbr".split()
)
"""Elements that the pages of Viva leave out; the text in them stays."""
ATTRIBUTES = {
    "*": {"class", "style", "title", "align", "valign", "dir", "lang", "width"},
    "a": {"href", "target"},
    "img": {"src", "alt", "height"},
    "audio": {"src", "controls"},
    "source": {"src", "type"},
    "input": {"type", "disabled", "checked"},
    "td": {"colspan", "rowspan", "headers"},
    "th": {"colspan", "rowspan", "headers", "scope"},
    "table": {"border", "cellpadding", "cellspacing"},
    "col": {"span"},
    "colgroup": {"span"},
    "ol": {"start", "type", "reversed"},
    "li": {"value"},
    "details": {"open"},
    "time": {"datetime"},
    "font": {"color"},
}
OF_A_PAGE = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "audio": {"src", "controls"},
    "source": {"src", "type"},
    "ol": {"start"},
    "th": {"scope", "colspan", "rowspan"},
    "td": {"colspan", "rowspan"},
    "math": {"display"},
    "mo": {"stretchy", "fence", "separator", "largeop", "movablelimits"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"columnalign", "rowspacing", "columnspacing"},
    "mtd": {"columnalign"},
    "mfrac": {"linethickness"},
    "mi": {"mathvariant"},
}
_CLASSES = re.compile(
    "|".join(sorted(map(re.escape, filter(None, STANDARD_TYPES.values())), key=len, reverse=True))
    + r"""
    | dataframe | highlight | language-[\w+\#-]+ | task-list-item(?:-checkbox)? | ansi-[a-z-]+
    | blank | index_name | (?:row|col)_heading | data | level\d+ | row\d+ | col\d+     # of a styled table of pandas
    """,
    re.VERBOSE,
)
"""Classes that look the same on every page: any other may be one of formgrader's own, which move and cover things."""
MERMAID = ("mermaid", "jp-Mermaid")
"""Classes that nbconvert gives to a diagram's text; no page of ours draws diagrams."""
_SIDE = r"(?:-(?:top|right|bottom|left))?"
_STYLES = {
    rf"(?:background-|border{_SIDE}-)?color": r"#?\w+|rgba?\([\d\s.,%]+\)",
    r"text-align|vertical-align|font-weight|font-style|text-decoration|white-space|border-collapse": r"[\w-]+",
    rf"border(?:{_SIDE}|-width|-style)": r"(?:(?:\d{1,2}(?:px|pt)?|#?[a-z]\w*|#\w+)(?:\s+|$))+",
    rf"padding{_SIDE}": r"(?:(?:\d{1,2}(?:px|pt)?|\d?(?:\.\d+)?r?em)(?:\s+|$))+",
    r"font-size": r"\d{1,2}(?:px|pt)|[12]?(?:\.\d+)?r?em|[12]?\d{2}%|(?:x{0,2}-)?(?:small|large)(?:er)?|medium",
}
"""The styles that are harmless: the name of a property, and its value."""


@dataclass(frozen=True)
class Profile:
    """The elements and attributes that one kind of page shows."""

    tags: set[str]
    emptied: set[str]
    """Elements that are taken out with all that is in them."""
    attributes: dict[str, set[str]]
    may_show: Callable[[str], bool]
    """Whether the picture at an address may be shown."""

    def clean(self, text: str, rel: str | None, refused: list[str] | None = None) -> str:
        """HTML with what this profile allows, and nothing else; ``refused`` gets the names of changed attributes.

        Links get the attribute ``rel``; with None it stays as it was.
        """
        refusals = [] if refused is None else refused
        return nh3.clean(
            text,
            tags=self.tags,
            clean_content_tags=self.emptied,
            attributes=self.attributes,
            attribute_filter=lambda tag, name, value: self._harmless(tag, name, value, refusals),
            url_schemes={"http", "https", "mailto", "data"},
            link_rel=rel,
        )

    def _harmless(self, tag: str, name: str, value: str, refused: list[str]) -> str | None:
        """The value that an attribute may keep, None for none; ``refused`` gets its name when that is not all of it."""
        if name == "rel":
            return value
        result: str | None
        if name == "class":
            value = " ".join(word for word in value.split() if word not in MERMAID)
            result = " ".join(word for word in value.split() if _CLASSES.fullmatch(word))
        elif name == "style":
            result = value if _styled(value) == [] else ";".join(_styled(value, keep=True))
        elif name == "href":
            result = value if may_link(value) else None
        elif name == "src":
            result = value if (self.may_show if tag == "img" else may_hear)(value) else None
        elif name == "width" and tag == "mspace":
            return value if re.fullmatch(r"\d{0,2}(?:\.\d{1,3})?(?:em|ex)", value) else None
        elif name in ("width", "height"):
            result = value if re.fullmatch(r"1?\d{1,3}(?:px)?|\d{1,2}%|100%", value.strip()) else None
        elif name in ("colspan", "rowspan", "span", "start", "value", "border", "cellpadding", "cellspacing"):
            result = value if re.fullmatch(r"\d{1,3}", value.strip()) else None
        elif name == "type" and tag == "input":
            return "checkbox"
        elif name == "target":
            return "_blank" if value == "_blank" else None
        elif name == "type" and tag == "source":
            return value if re.fullmatch(r"audio/[\w.-]{1,20}", value) else None
        else:
            return value
        if result != value and " ".join((result or "").split()) != " ".join(value.split()):
            refused.append(f"{name} of <{tag}>")
        return result or None


def _styled(value: str, keep: bool = False) -> list[str]:
    """The declarations of a style that are not known to be harmless; those that are, with ``keep``."""
    declarations = []
    for declaration in filter(str.strip, value.split(";")):
        name, _, setting = declaration.partition(":")
        name, setting = name.strip().lower(), setting.strip().lower()
        good = any(re.fullmatch(pattern, name) and re.fullmatch(shape, setting) for pattern, shape in _STYLES.items())
        if good == keep:
            declarations.append(declaration)
    return declarations


CELL = Profile(TAGS, WITH_CONTENT, ATTRIBUTES, may_show)
PAGE = Profile(MATHEMATICS | TAGS - LEFT_OUT, WITH_CONTENT - MATHEMATICS, OF_A_PAGE, is_picture)
