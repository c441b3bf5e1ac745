"""A rubric's file as a page edits it: one item is changed or added, and every other character stays.

Comments, order and layout are the instructor's. So the two values are put into the lines where they stand, and the
result is read again: where it is not the same file with these two values, as when items are written inline, nothing is
changed and a sentence says so.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import tomllib
import unicodedata
from collections.abc import Collection
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
        """Without the last item, as before it was ``added``. Raises CourseError where it is another one."""
        block = _block(self.item(key))
        if not self.text.endswith(block):
            raise self._left(key)
        before = self.text.removesuffix(block)
        return RubricFile(self.path, before.removesuffix("\n") if before.endswith("\n\n") else before)

    def write(self) -> None:
        """Take the place of the file, whole. Raises OSError."""
        if not self.text:
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(exist_ok=True)
        with leftovers.whole(self.path, newline="") as file:
            file.write(self.text)

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
            f"Not saved: the item '{key}' cannot be changed here, as {self._name} is written in another way than "
            f"usual. Change it in the file, then run: viva rubric {self.path.stem}"
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
