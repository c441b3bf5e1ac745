"""Pictures from a student: a browser shows only those that can neither exhaust it nor make it do something."""

from __future__ import annotations

import base64
import binascii
import io
import math
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError

# Drawings (SVG) from a student: whether a browser shows one soon, and shows nothing else.
#
# Theory of operation. A drawing can say in a few bytes what keeps a browser busy for hours: a part that uses ten
# others, which use ten others each, is drawn ten times ten times. So what it makes a browser draw is counted before
# it is shown: each element, as often as it is used, whether by ``<use>``, a pattern, a marker, a mask or a clip;
# dashes by the length of the lines. The count may exceed what is written by a few times, and no more. Elements that
# nobody's plots need and that cost much, or change others, are refused: filters, animations.

LONGEST = 4 * 2**20
"""Characters."""
DEEPEST = 200
"""Levels of elements."""
FEW, TIMES, MOST = 20_000, 6, 400_000
"""Limits of drawn elements: FEW, or TIMES as many as are written, and never more than MOST."""
LARGEST = 20_000
"""Pixels of a side."""
LAYER, DASHES, MOST_DASHES = 20, 200, 1_000_000
"""A group that is drawn by itself first costs as much as so many elements; an element as much as so many dashes, of
which Chromium draws no more on one line."""

ACTIVE = re.compile(
    r"""
    script | foreignObject | iframe | object | embed | feImage | audio | video | handler | listener
    | filter | fe[A-Z]\w+ | animate\w* | set | discard | mpath
    """,
    re.VERBOSE,
)
_ELSEWHERE = re.compile(r"""url\(\s*['"]?\s*(?!#|['"])|\\""", re.IGNORECASE)
_COMPUTED = re.compile(r"(?:calc|var|env)\(", re.IGNORECASE)
_STYLED = re.compile(
    r"""
    @(?!media\b|charset\b)
    | (?:^|[;{\s]) (?:(?:backdrop-)?filter | animation[\w-]*) \s* :
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Rules that no style may hold: those that load or move something, and filters."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_PART = re.compile(r"""url\(\s*(['"]?)#(.*?)\1\s*\)""")
_DASHED = re.compile(r"stroke-dasharray\s*:([^;}]*)", re.IGNORECASE)
_LAYERED = re.compile(r"(?:^|[;\s])(?:opacity|mix-blend-mode|isolation)\s*:")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_PNG = "data:image/png;base64,"
_GROUPS = frozenset("g svg symbol a switch marker pattern mask".split())
_GEOMETRY = frozenset("d points x1 y1 x2 y2 width height r rx ry".split())


def drawing_problem(text: object, picture: Callable[[str, str], str]) -> str:
    """Why a drawing is not shown; empty when it can be. ``picture`` says the same of a picture in it.

    One that can do more than be looked at is left out: scripts, handlers, links, what it would load, entities.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    if not isinstance(text, str) or len(text) > LONGEST:
        return "a drawing (SVG) that is too large"
    root, depth, count = None, 0, 0
    try:
        for event, element in iterparse(io.BytesIO(text.encode("utf-8", "replace")), ("start", "end")):
            depth += 1 if event == "start" else -1
            if depth > DEEPEST:
                return "a drawing (SVG) that is nested too deeply"
            if event == "end":
                root, count = element, count + 1
                if _does_more(element, picture):
                    return "a drawing (SVG) with a script, a link, a filter, an animation or a picture from elsewhere"
        return "an invalid drawing (SVG)" if root is None else _too_much(root, count)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return "an invalid drawing (SVG)"


def _does_more(element: Element, picture: Callable[[str, str], str]) -> bool:
    """Whether an element can do more than be looked at, or names what can."""
    words = [value for key, value in element.attrib.items() if not key.endswith("href")]
    links = [value.strip() for key, value in element.attrib.items() if key.endswith("href")]
    attributes = {_name(key).lower() for key in element.attrib}
    sheet = _sheet(element)
    if _PART.search(sheet):  # it would hold for elements that nobody can count here
        return True
    for link in links:
        if link.startswith(_PNG):
            if picture("image/png", link.removeprefix(_PNG)):
                return True
        elif not link.startswith("#"):
            return True
    return (
        bool(ACTIVE.fullmatch(_name(element.tag)))
        or any(attribute.startswith("on") for attribute in attributes)
        or not attributes.isdisjoint(("filter", "pathlength"))
        or any(
            _ELSEWHERE.search(word) or _COMPUTED.search(word) for word in (*words, sheet) if "(" in word or "\\" in word
        )
        or any(map(_STYLED.search, filter(None, (_style(element), sheet))))
    )


def _sheet(element: Element) -> str:
    """The text of a style sheet; empty for any other element."""
    return _COMMENT.sub("", "".join(element.itertext())) if _name(element.tag) == "style" else ""


def _style(element: Element) -> str:
    """The style of an element."""
    style = element.get("style", "")
    return _COMMENT.sub("", style) if "/*" in style else style


def _too_much(root: Element, count: int) -> str:
    sides = [_NUMBER.match(root.get(side, "").strip()) for side in ("width", "height")]
    if any(side and float(side[0]) > LARGEST for side in sides):
        return f"a drawing (SVG) of more than {LARGEST} pixels"
    if _drawn(root, _shortest_dash(root)) > min(FEW + TIMES * count, MOST):
        return "a drawing (SVG) that takes too long to draw"
    return ""


def _shortest_dash(root: Element) -> float:
    """The length of the shortest pattern of dashes that many elements may have; infinite where there is none."""
    lengths = (_dash(element) for element in root.iter() if len(element) or _name(element.tag) in ("style", "use"))
    return min(lengths, default=math.inf)


def _dash(element: Element) -> float:
    """The length of the shortest pattern of dashes that stands in an element; infinite where none does."""
    dashes = [element.get("stroke-dasharray", "")]
    for text in (_style(element), _sheet(element)):
        dashes += _DASHED.findall(text) if "dasharray" in text.lower() else ()
    sums = [sum(map(abs, numbers)) for numbers in map(_numbers, filter(None, dashes)) if numbers]
    return min((max(length, 1e-9) for length in sums if length), default=math.inf)


def _drawn(root: Element, dash: float) -> float:
    """How many elements are drawn, each as often as it is used; infinite where one uses itself."""
    named: dict[str, Element] = {}
    for element in root.iter():
        named.setdefault(unquote(element.get("id", "")), element)
    counts: dict[Element, float] = {}
    under_way = {root}
    stack = [(root, list(_parts(root, named)))]
    sums = [_own(root, dash)]
    while True:
        element, parts = stack[-1]
        if not parts:
            stack.pop()
            counts[element] = sums.pop()
            under_way.discard(element)
            if not stack:
                return counts[root]
            continue
        part, times = parts[-1]
        if part in counts:
            parts.pop()
            sums[-1] += times * counts[part]
            if sums[-1] > MOST:
                return math.inf
        elif part in under_way:
            return math.inf
        else:
            under_way.add(part)
            stack.append((part, list(_parts(part, named))))
            sums.append(_own(part, dash))


def _own(element: Element, dash: float) -> float:
    """The cost of an element without its parts."""
    style = _style(element)
    layered = "mask" in element.attrib or "mask:" in style
    if _name(element.tag) in _GROUPS:
        layered = layered or "opacity" in element.attrib or bool(_LAYERED.search(style))
    dash = min(dash, _dash(element))
    dashes = min(_length(element) / dash, MOST_DASHES) if dash < math.inf else 0
    return 1 + (LAYER if layered else 0) + dashes / DASHES


def _parts(element: Element, named: dict[str, Element]) -> Iterator[tuple[Element, int]]:
    """The elements that are drawn with an element, and how often: those in it, and those that it refers to."""
    for child in element:
        yield child, 1
    for key, value in element.attrib.items():
        if key.endswith("href"):
            names = [value.strip()[1:]]
        elif "(" in value:
            names = [name for _, name in _PART.findall(value)]
        else:
            continue
        at_corners = "marker-mid" in value or "marker:" in value or key in ("marker-mid", "marker")
        times = 1 + len(_numbers(element.get("d", "") + element.get("points", ""))) if at_corners else 1
        for name in map(unquote, names):
            if name in named:
                yield named[name], times


def _length(element: Element) -> float:
    """About how long its lines are, and no less."""
    total = 0.0
    for key, value in element.attrib.items():
        if key in _GEOMETRY:
            numbers = _numbers(value)
            absolute = key == "points" or (key == "d" and not re.search(r"[a-df-yHVA]", value))
            pairs = zip(numbers[2:], numbers, strict=False) if absolute else ((number, 0.0) for number in numbers)
            total += sum(abs(end - start) for end, start in pairs)
    return 4 * total


def _numbers(text: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(text)]


def _name(tag: object) -> str:
    """The name of an element or attribute without its namespace."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
SVG = "image/svg+xml"
MOST_PIXELS = 50_000_000
"""A browser takes four bytes of memory for each; a figure of 60 by 60 cm at 300 dpi still fits."""
MOST_BYTES = 10 * 2**20


def problem(mime: str, text: object) -> str:
    """Why a picture, base64 text of the MIME type ``mime``, is not shown; empty when it can be."""
    if mime not in FORMATS or not isinstance(text, str):
        return f"a picture of an unknown kind ({mime[:40] if mime.isprintable() else '?'})"
    if len(text) > MOST_BYTES * 4 / 3:
        return f"a picture of more than {MOST_BYTES // 2**20} MB"
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return "an invalid picture"
    return _measured(FORMATS[mime], data)


def _measured(name: str, data: bytes) -> str:
    import warnings

    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's own limit warns first
            with Image.open(io.BytesIO(data), formats=[name]) as image:  # reads the head only
                width, height = image.size
    except Image.DecompressionBombError:
        return f"a picture of more than {MOST_PIXELS // 10**6} million pixels"
    except Exception:  # Pillow raises what it likes over a damaged file
        return "an invalid picture"
    if width * height > MOST_PIXELS:
        return f"a picture of {width} x {height} pixels"
    return ""


def svg_problem(text: object) -> str:
    """Why a drawing is not shown; empty when it can be."""
    return drawing_problem(text, problem)
