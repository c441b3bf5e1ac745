"""What may cross between two kernels of R: trees of plain values, which are checked here and written anew.

A tree has a type, values and attributes, each of them a tree: ``{"t": "dbl", "v": ["=0x1p+0"], "a": {"names": ...}}``.
A function is a number, or the name of one in R's own packages. Only classes of R's own whose objects are checked here
keep their class: of any other the values cross without it.
"""

from __future__ import annotations

import re
from typing import Any

MOST_DEPTH, MOST_ITEMS = 100, 3_000_000
FUNCTIONS = 1_000_000
"""More functions than a test asks for."""
NUMBER = re.compile(r"=(?:-?0x[01](?:\.[0-9a-f]{1,13})?p[+-]\d{1,4}|NaN|-?Inf)")
PACKAGED = re.compile(r"(?:base|stats)::[^\s\"'`\\:]{1,40}")
NAME = re.compile(r"[\w.:]{1,60}")
CLASSES = {
    ("factor",): ("int",),
    ("ordered", "factor"): ("int",),
    ("Date",): ("dbl", "int"),
    ("POSIXct", "POSIXt"): ("dbl", "int"),
    ("difftime",): ("dbl", "int"),
    ("table",): ("int", "dbl"),
    ("noquote",): ("chr",),
    ("data.frame",): ("list",),
    ("tbl_df", "tbl", "data.frame"): ("list",),
}
"""The classes that cross, with the types of their values."""
_KNOWN = {name for names in CLASSES for name in names}
UNITS = {"secs", "mins", "hours", "days", "weeks"}
FIRST = ("names", "dim", "dimnames", "levels", "row.names", "tzone", "units")
DROPPED = {"class", "tsp", "comment"}
Tree = dict[str, Any]


class UnreadableError(ValueError):
    """A stranger's text is no tree of plain values."""


def checked(tree: object) -> Tree:
    """The same tree, made of nothing but what is known. Raises UnreadableError."""
    return _Reader().read(tree, 0)


def is_empty(tree: Tree) -> bool:
    """Whether a value has nothing in it that a test could look at."""
    rows = tree.get("a", {}).get("row.names")
    return tree["t"] == "null" or tree["v"] == [] or (rows is not None and rows["v"] == [])


class _Reader:
    def __init__(self) -> None:
        self.left = MOST_ITEMS

    def read(self, tree: object, depth: int) -> Tree:
        if not isinstance(tree, dict) or depth > MOST_DEPTH:
            raise UnreadableError("it is not a value, or it is nested too deeply")
        kind, values = tree.get("t"), tree.get("v")
        if kind == "null":
            return {"t": "null"}
        if kind == "fun" and type(values) is int and 0 < values <= FUNCTIONS:
            return {"t": kind, "v": values}
        if kind == "pkg" and isinstance(values, str) and PACKAGED.fullmatch(values):
            return {"t": kind, "v": values}
        if not isinstance(values, list):
            raise UnreadableError("it has no values")
        self.left -= len(values) + 1
        if self.left < 0:
            raise UnreadableError("it is too large")
        if kind == "list":
            values = [self.read(value, depth + 1) for value in values]
        elif not (kind in _PLAIN and all(map(_PLAIN[kind], values))):
            raise UnreadableError("it is of an unknown type")
        read: Tree = {"t": kind, "v": values}
        about = tree.get("a")
        if isinstance(about, dict) and (kept := self._attributes(read, about, depth)):
            read["a"] = kept
        return read

    def _attributes(self, read: Tree, about: dict, depth: int) -> Tree:
        names = [name for name in FIRST if name in about]
        names += [name for name in about if name not in FIRST and name not in DROPPED and NAME.fullmatch(name)]
        kept = {name: self.read(about[name], depth + 1) for name in names}
        known = [name for name in _texts(about.get("class")) if name in _KNOWN]
        length = len(read["v"]) // (2 if read["t"] == "cpl" else 1)
        _require_shape(kept, length)
        own = tuple(known)
        if read["t"] in CLASSES.get(own, ()) and _is_whole(own, read, kept):
            kept["class"] = {"t": "chr", "v": [f"={name}" for name in own]}
        return kept


_PLAIN = {
    "lgl": lambda value: value is None or (type(value) is int and value in (0, 1)),
    "int": lambda value: value is None or (type(value) is int and abs(value) < 2**31),
    "raw": lambda value: type(value) is int and 0 <= value < 256,
    "dbl": lambda value: value is None or (isinstance(value, str) and NUMBER.fullmatch(value)),
    "cpl": lambda value: value is None or (isinstance(value, str) and NUMBER.fullmatch(value)),
    "chr": lambda value: value is None or (isinstance(value, str) and value[:1] == "=" and "\0" not in value),
}


def _texts(tree: object) -> list[str]:
    """The texts of a tree of texts; none of any other."""
    values = tree.get("v") if isinstance(tree, dict) and tree.get("t") == "chr" else None
    return [value[1:] for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _require_shape(about: Tree, length: int) -> None:
    """Raises UnreadableError for names and dimensions that do not fit so many values, which R itself would refuse."""
    dim = about.get("dim", {}).get("v", [length])
    sizes = [size for size in dim if type(size) is int and size >= 0]
    product = 1
    for size in sizes:
        product *= size
    fits = len(sizes) == len(dim) and product == length and len(about.get("names", {}).get("v", [])) <= length
    names = about.get("dimnames", {"v": [{"t": "null"}] * len(dim)})["v"] if "dim" in about else []
    fits = fits and ("dimnames" not in about or len(names) == len(dim))
    for part, size in zip(names, sizes, strict=False):
        fits = fits and (part["t"] == "null" or (part["t"] == "chr" and len(part["v"]) in (0, size)))
    if not fits or ("names" in about and about["names"]["t"] != "chr"):
        raise UnreadableError("its names or dimensions do not fit")


def _is_whole(own: tuple[str, ...], read: Tree, about: Tree) -> bool:
    """Whether a value of a class is as R makes it."""
    values = read["v"]
    if "factor" in own:
        levels = _texts(about.get("levels"))
        return len(set(levels)) == len(levels) and all(code is None or 1 <= code <= len(levels) for code in values)
    if "data.frame" in own:
        rows = len(about.get("row.names", {}).get("v", []))
        named = len(_texts(about.get("names"))) == len(values)
        return named and all(_rows(column) == rows for column in values)
    if "difftime" in own:
        return len(units := _texts(about.get("units"))) == 1 and units[0] in UNITS
    return "table" not in own or "dim" in about


def _rows(column: Tree) -> int:
    about = column.get("a", {})
    if "dim" in about:
        return about["dim"]["v"][0]
    if "class" in about and "row.names" in about:
        return len(about["row.names"]["v"])
    return len(column["v"]) if isinstance(column.get("v"), list) else -1
