"""What the attributes of a student's HTML may say: classes that look the same on every page, links, sizes, styles."""

from __future__ import annotations

import re

from pygments.token import STANDARD_TYPES

from viva.cleaning.address import may_hear, may_link, may_show

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
"""What a style may say: the name of a property, and its value."""


def harmless(tag: str, name: str, value: str, refused: list[str]) -> str | None:
    """The value that an attribute may keep, None for none; ``refused`` gets its name when that is not all of it."""
    if name == "rel":
        return value
    kept: str | None
    if name == "class":
        value = " ".join(word for word in value.split() if word not in MERMAID)
        kept = " ".join(word for word in value.split() if _CLASSES.fullmatch(word))
    elif name == "style":
        kept = value if _styled(value) == [] else ";".join(_styled(value, keep=True))
    elif name == "href":
        kept = value if may_link(value) else None
    elif name == "src":
        kept = value if (may_show if tag == "img" else may_hear)(value) else None
    elif name in ("width", "height"):
        kept = value if re.fullmatch(r"1?\d{1,3}(?:px)?|\d{1,2}%|100%", value.strip()) else None
    elif name in ("colspan", "rowspan", "span", "start", "value", "border", "cellpadding", "cellspacing"):
        kept = value if re.fullmatch(r"\d{1,3}", value.strip()) else None
    elif name == "type" and tag == "input":
        return "checkbox"
    elif name == "target":
        return "_blank" if value == "_blank" else None
    elif name == "type" and tag == "source":
        return value if re.fullmatch(r"audio/[\w.-]{1,20}", value) else None
    else:
        return value
    if kept != value and " ".join((kept or "").split()) != " ".join(value.split()):
        refused.append(f"{name} of <{tag}>")
    return kept or None


def _styled(value: str, keep: bool = False) -> list[str]:
    """The declarations of a style that are not known to be harmless; those that are, with ``keep``."""
    found = []
    for declaration in filter(str.strip, value.split(";")):
        name, _, what = declaration.partition(":")
        name, what = name.strip().lower(), what.strip().lower()
        good = any(re.fullmatch(known, name) and re.fullmatch(shape, what) for known, shape in _STYLES.items())
        if good == keep:
            found.append(declaration)
    return found
