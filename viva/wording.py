"""Notes as sentences, for those who read them; the words are in ``words.toml``.

Whoever prints, logs or sets a page asks here, and only then. Nothing is ever found again in a sentence: what a
program has to know is in the note.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from viva.cleaning import plaintext
from viva.record import CheckResult, Note

GRADER, STUDENT = "grader", "student"
"""The readers."""
CELLS, NUMBERS = 6, 8
"""How many cells of the assignment, and of a file, a sentence names."""
FEWEST, NAMED = 3, 20
"""Sentences that differ in names or numbers are folded from so many on; so many of the other names are listed."""
_PARTICULAR = re.compile(
    r"""
    (?<!\w) ' [^']* ' (?!\w)                  # a quoted name
    | ^ (?: [^\s:]+ [ ] ){0,4} [^\s:]+ (?=:[ ])  # a label
    | \d+ (?: [.:-] \d+ )*                     # a number
    """,
    re.VERBOSE,
)
"""The parts that differ between sentences about the same problem: a label before a colon, a quoted name, a number."""

_FILE = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
READERS: dict[str, dict[str, str]] = _FILE.pop("readers")
TO_STUDENTS: dict[str, str] = _FILE.pop("to_students")
WORDS: dict[str, str] = {kind: words for part in _FILE.values() for kind, words in part.items()}


def sentence(note: Note, reader: str = GRADER) -> str:
    """The sentence for a note to a reader; empty where it means nothing to them."""
    words = WORDS.get(note.kind, f"{note.kind}: {{names}}")
    words = TO_STUDENTS.get(note.kind, words) if reader == STUDENT else words
    return words.format_map(_Particulars(note, reader))


def sentences(notes: Iterable[Note], reader: str = GRADER) -> list[str]:
    """The sentences for several notes, each once."""
    return list(dict.fromkeys(filter(None, (sentence(note, reader) for note in notes))))


def shape(sentence: str) -> str:
    """The sentence without its label, quoted names and numbers: equal for the same problem in other places."""
    return _PARTICULAR.sub("*", sentence)


def folded(sentences: Iterable[str], differing: int = 1) -> list[str]:
    """Sentences in their order, with repeated ones folded: "4 times: ...".

    Equal sentences are folded, and ``FEWEST`` or more that differ only in one label, quoted name or number, as that of
    the cell; where more say nothing new, in so many ``differing`` ones. The first sentence is shown, and the others'
    first names follow it.
    """
    groups: dict[str, list[str]] = {}
    for sentence in sentences:
        groups.setdefault(shape(sentence), []).append(sentence)
    lines: list[str] = []
    for group in groups.values():
        for same, names in _of_one_place(group, differing):
            counts = Counter(same)
            if len(counts) < FEWEST:
                lines += [f"{times} times: {sentence}" if times > 1 else sentence for sentence, times in counts.items()]
            else:
                also = f"{'' if same[0].endswith(('.', '!', '?')) else '.'} Also: {plaintext.some(names, NAMED)}."
                lines.append(f"{len(same)} times: {same[0]}{also if names else ''}")
    return lines


def _of_one_place(group: list[str], most: int) -> Iterable[tuple[list[str], list[str]]]:
    """Parts of sentences of one shape that differ in at most so many names, the first ones that differ at all; with
    each the first of these names of the other sentences."""
    rows = [_PARTICULAR.findall(sentence) for sentence in group]
    differing = [column for column, values in enumerate(zip(*rows, strict=True)) if len({*values}) > 1]
    parts: dict[tuple, list[int]] = {}
    for number, row in enumerate(rows):
        parts.setdefault(tuple(row[column] for column in differing[most:]), []).append(number)
    for numbers in parts.values():
        names = list(dict.fromkeys(rows[number][differing[0]] for number in numbers)) if differing else []
        yield [group[number] for number in numbers], names[1:]


def standing_alone(sentence: str) -> str:
    """A sentence of a note where nothing stands before it: with a capital letter and a full stop."""
    return f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith('.') else '.'}"


def reason(result: CheckResult) -> str:
    """Why a check came to what it did: what the grader has to say, else what its exception said."""
    return sentence(result.cause) if result.cause else result.reason


class _Particulars(dict):
    """The values for the fields of a sentence, each made when it is asked for."""

    def __init__(self, note: Note, reader: str) -> None:
        super().__init__(READERS[reader])
        self.note, self.reader = note, reader

    def __missing__(self, name: str) -> str:
        field, index = (name[:-1], int(name[-1]) - 1) if name[-1].isdigit() else (name, 0)
        if field in _ONE:
            values = _ONE[field](self.note)
            return str(values[index]) if index < len(values) else ""
        if name == "because":
            return sentence(self.note.because, self.reader) if self.note.because else ""
        return _ALL[name](self.note)


def counted(number: float, noun: str) -> str:
    """A number with its noun: 1 row, 2 rows."""
    return f"{number if isinstance(number, int) else format(number, 'g')} {noun}{'' if number == 1 else 's'}"


def spoken(seconds: float) -> str:
    """A time as people say it."""
    return counted(math.ceil(seconds) if seconds > 0.5 else round(seconds, 1), "second")  # a little was used before


def span(seconds: float) -> str:
    """A long time as people say it, in days, hours and minutes."""
    parts = [(int(seconds // 86400), "day"), (int(seconds // 3600 % 24), "hour"), (int(seconds // 60 % 60), "minute")]
    phrases = [counted(number, word) for number, word in parts if number]
    return " ".join(phrases) or ("less than a minute" if seconds > 0 else "nothing")


def listed(names: Iterable[str]) -> str:
    """The names of cells as the subject of a sentence."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > CELLS:
        return f"{', '.join(quoted[:CELLS])} and {len(quoted) - CELLS} more"
    return " and ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))


def _numbered(numbers: tuple[int, ...]) -> str:
    """Cells by their place in the file, from 1 on, as the subject of a sentence in the singular."""
    if len(numbers) == 1:
        return f"cell {numbers[0]}"
    shown = ", ".join(map(str, numbers[:NUMBERS]))
    return f"each of the cells {shown}" + (f" and {len(numbers) - NUMBERS} more" if len(numbers) > NUMBERS else "")


_ONE: dict[str, Callable[[Note], list]] = {
    "cell": lambda note: [f"'{cell}'" for cell in note.cells],
    "number": lambda note: list(note.numbers),
    "name": lambda note: list(note.names),
    "quoted": lambda note: [plaintext.quoted(name) for name in note.names],
    "points": lambda note: [f"{name} point{'s' * (name != '1')}" for name in note.names],
}
_ALL: dict[str, Callable[[Note], str]] = {
    "cells": lambda note: listed(note.cells),
    "cells_bare": lambda note: " and ".join(note.cells),
    "numbers": lambda note: _numbered(note.numbers),
    "names": lambda note: ", ".join(note.names),
    "amount": lambda note: f"{note.amount:.15g}",
    "seconds": lambda note: spoken(note.amount),
    "span": lambda note: span(note.amount),
    "s": lambda note: "" if note.amount == 1 else "s",
    "was": lambda note: "was" if note.amount == 1 else "were",
    "were": lambda note: "was" if len(note.cells) == 1 else "were",
    "have": lambda note: "has" if len(note.cells) == 1 else "have",
}
