"""A rubric's file as it is edited: one item is changed, added, moved or deleted, and every other line stays.

Comments and layout are the instructor's. So two values are put into the lines where they stand, and an item moves or
goes with the comment lines right above it. The result is read again: where it does not say what it should, as when
items are written inline, nothing is changed and a sentence says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from viva.course.gradebook import rubric
from viva.course.gradebook.rubric import Item
from viva.course.processes import leftovers
from viva.folder import read_utf8
from viva.verdict import CourseError

HEAD = re.compile(r"\s*\[\[\s*item\s*\]\]")
VALUE = re.compile(
    r"""^(?P<before>\s*(?P<name>points|text)\s*=\s*)
    (?: "(?:[^"\\]|\\.)*" | '[^']*' | [^\s\#"']+ )
    (?P<after>\s*(?:\#.*)?)$""",
    re.VERBOSE,
)
"""A line with a value that stands in it from its beginning to its end."""
LONGEST_KEY = 20


@dataclass
class _Parts:
    """The lines before the items, those of each item, and the empty ones behind each."""

    end_of_line: str
    start: list[str]
    blocks: list[list[str]]
    gaps: list[list[str]]

    @property
    def text(self) -> str:
        pairs = zip(self.blocks, self.gaps, strict=False)
        return self.end_of_line.join([*self.start, *(line for block, gap in pairs for line in block + gap)])


@dataclass(frozen=True)
class RubricFile:
    """The text of a rubric's file, empty where there is none."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> RubricFile:
        """Raises CourseError where it is not UTF-8, and OSError."""
        return cls(path, read_utf8(path, newline="") if path.is_file() else "")

    @property
    def version(self) -> str:
        """Tells this text from another one; empty where there is none."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16] if self.text else ""

    @property
    def items(self) -> dict[str, Item]:
        """By key. Raises CourseError with the entry that cannot be read."""
        return {item.key: item for item in rubric.items_of(self.text, self.path)}

    def item(self, key: str) -> Item:
        """Raises CourseError where there is none."""
        if key not in self.items:
            raise CourseError(f"Not saved: {self._name} has no item '{key}'. Load the page again.")
        return self.items[key]

    def require(self, version: str) -> None:
        """Raises CourseError where this is not the ``version`` that a page has shown."""
        if version != self.version:
            raise CourseError(
                f"Not saved: {self._name} was changed after you opened this page. Load the page again. Then edit "
                "the item."
            )

    def changed(self, key: str, points: float, text: str) -> RubricFile:
        """With other points and another text of an item. Raises CourseError where that cannot be."""
        self.item(key)
        document, position = tomllib.loads(self.text), list(self.items).index(key)
        wanted: dict[str, float | str] = {"points": points, "text": text.strip()}
        if not isinstance(entries := document["item"], list):
            raise self._left(key)
        was, entries[position] = entries[position], entries[position] | wanted
        rubric.items_in(document, self.path)
        lines = self.text.split("\n")
        heads = [number for number, line in enumerate(lines) if HEAD.match(line)]
        for number in range(heads[position] + 1 if position < len(heads) else len(lines), len(lines)):
            if lines[number].lstrip().startswith("["):
                break
            found = VALUE.match(lines[number])
            if found and wanted[found["name"]] != was[found["name"]]:
                lines[number] = found["before"] + _toml(wanted[found["name"]]) + found["after"]
        return self._as(document, "\n".join(lines), key)

    def added(self, points: float, text: str, cell: str) -> tuple[RubricFile, str]:
        """With one item more at its end, for a question, and the key that it has got. Raises CourseError."""
        item = Item(_key(text, self.items), points, text.strip(), cell)
        document = tomllib.loads(self.text)
        if not isinstance(entries := document.setdefault("item", []), list):
            raise self._left(item.key)
        entries.append(vars(item))
        rubric.items_in(document, self.path)
        start = self.text if not self.text or self.text.endswith("\n") else f"{self.text}\n"
        return self._as(document, start + "\n" * bool(start) + _block(item), item.key), item.key

    def without(self, key: str) -> RubricFile:
        """Without an item. Raises CourseError where there is none, or where its lines are not known."""
        position, document = self._place(key), tomllib.loads(self.text)
        parts = self._parts(key)
        document["item"].pop(position)
        if not document["item"]:
            del document["item"]
        del parts.blocks[position]
        del parts.gaps[max(0, position - 1) if position == len(parts.blocks) else position]
        return self._as(document, parts.text, key)

    def moved(self, key: str, place: str) -> RubricFile:
        """With an item at the place of another one, which makes room. Raises CourseError."""
        old, new, document = self._place(key), self._place(place), tomllib.loads(self.text)
        parts = self._parts(key)
        for things in (document["item"], parts.blocks):
            things.insert(new, things.pop(old))
        return self._as(document, parts.text, key)

    def _place(self, key: str) -> int:
        self.item(key)
        return list(self.items).index(key)

    def _parts(self, key: str) -> _Parts:
        """Raises CourseError where the items are not written one below the other."""
        end_of_line = "\r\n" if "\r\n" in self.text else "\n"
        lines = [line.removesuffix("\r") for line in self.text.split("\n")]
        starts = [number for number, line in enumerate(lines) if HEAD.match(line)]
        if len(starts) != len(self.items):
            raise self._left(key)
        for place, start in enumerate(starts[1:], start=1):
            while lines[start - 1].lstrip().startswith("#"):
                start -= 1
            starts[place] = start
        parts = _Parts(end_of_line, lines[: starts[0]], [], [])
        for start, after in itertools.pairwise([*starts, len(lines)]):
            end = after
            while not lines[end - 1].strip():
                end -= 1
            parts.blocks.append(lines[start:end])
            parts.gaps.append(lines[end:after])
        return parts

    def write(self) -> None:
        """Take the place of the file, whole. Raises OSError."""
        if not self.text.strip():
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(exist_ok=True)
        with leftovers.whole(self.path, newline="") as file:
            file.write(self.text)

    @contextlib.contextmanager
    def in_place_of(self, old: RubricFile) -> Iterator[None]:
        """The file is this one, and after a fault inside the old one again.

        Raises OSError, and CourseError where the file has changed since the old one was read.
        """
        if RubricFile.read(self.path) != old:
            raise CourseError(f"Not saved: {self._name} was changed at the same time. Try again.")
        if self == old:
            yield
            return
        self.write()
        try:
            yield
        except BaseException:
            old.write()
            raise

    @property
    def _name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    def _as(self, document: dict, text: str, key: str) -> RubricFile:
        """The new text, where it says what ``document`` does. Raises CourseError."""
        try:
            if tomllib.loads(text) == document:
                return RubricFile(self.path, text)
        except tomllib.TOMLDecodeError:
            pass
        raise self._left(key)

    def _left(self, key: str) -> CourseError:
        return CourseError(
            f"Not saved: the item '{key}' cannot be changed here, because {self._name} is written in an unusual way. "
            f"Change the item in the file, then run: viva rubric {self.path.stem}"
        )


def _toml(value: float | str) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(int(value)) if value == int(value) else repr(value)


def _block(item: Item) -> str:
    values = ("key", item.key), ("points", item.points), ("text", item.text), ("cell", item.cell)
    return "".join(["[[item]]\n", *(f"{name} = {_toml(value)}\n" for name, value in values)])


def _key(text: str, taken: Collection[str]) -> str:
    """A key that no item has, made of the first words of a text."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    key = ""
    for word in words or ["item"]:
        if key and len(key) + 1 + len(word) > LONGEST_KEY - 4:
            break
        key = f"{key}-{word}".strip("-")[: LONGEST_KEY - 4]
    numbers = itertools.count(2)
    wanted = key
    while key in taken:
        key = f"{wanted}-{next(numbers)}"
    return key
