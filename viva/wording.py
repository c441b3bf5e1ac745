"""Notes as sentences, for those who read them; the words are in ``words.toml``, and in a file for each other language.

Whoever prints, logs or sets a page asks here, and only then. Nothing is ever found again in a sentence: what a
program has to know is in the note.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from viva.cleaning import plaintext
from viva.language import ENGLISH, GRADER, STUDENT, Language
from viva.record import CheckResult, Note, note
from viva.verdict import SubmissionError

__all__ = ["GRADER", "STUDENT", "counted", "folded", "listed", "sentence", "sentences"]
CELLS, NUMBERS, FILES = 6, 8, 5
"""How many cells of the assignment and of a file, and how many files, a sentence names."""
FEWEST, NAMED = 3, 20
"""Sentences that differ in names or numbers are folded from so many on; so many of the other names are listed."""
ASKING = re.compile(r"\W? ?\{look(_all)?\}")
"""What a note says that asks for a grader. One that is about no points says it to nobody."""
_PARTICULAR = re.compile(
    r"""
    (?<!\w) ' [^']* ' (?!\w)                  # a quoted name
    | ^ (?: [^\s:]+ [ ] ){0,4} [^\s:]+ (?=:[ ])  # a label
    | \d+ (?: [.:-] \d+ )*                     # a number
    """,
    re.VERBOSE,
)
"""The parts that differ between sentences about the same problem: a label before a colon, a quoted name, a number."""

INNER = "has a mismatch in its core dimension"
"""Words in NumPy's message about a matrix product of sizes that do not fit."""
READERS, TO_STUDENTS, WORDS = ENGLISH.readers, ENGLISH.to_students, ENGLISH.notes
"""The English sentences."""


def sentence(note: Note, reader: str = GRADER, language: Language = ENGLISH) -> str:
    """The sentence for a note to a reader; empty where it means nothing to them. Graders read English."""
    words = language.note(note.kind, reader)
    words = f"{note.kind}: {{names}}" if words is None else language.form(words, note.amount or len(note.cells))
    words = words if note.doubt else ASKING.sub("", words)
    return words.format_map(_Particulars(note, reader, language))


def sentences(notes: Iterable[Note], reader: str = GRADER, language: Language = ENGLISH) -> list[str]:
    """The sentences for several notes, each once."""
    return list(dict.fromkeys(filter(None, (sentence(note, reader, language) for note in notes))))


def shape(sentence: str) -> str:
    """The sentence without its label, quoted names and numbers: equal for the same problem in other places."""
    return _PARTICULAR.sub("*", sentence)


def folded(sentences: Iterable[str], differing: int = 1, language: Language = ENGLISH) -> list[str]:
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
                lines += [_repeated(sentence, times, language) for sentence, times in counts.items()]
            else:
                line = _repeated(same[0], len(same), language)
                if names:
                    end = language.text("forms.end")
                    end = "" if line.endswith((".", "!", "?", end)) else end
                    also = language.text("forms.also", names=some(names, NAMED, language))
                    line = f"{line}{end}{language.text('forms.between')}{also}"
                lines.append(line)
    return lines


def _repeated(sentence: str, times: int, language: Language) -> str:
    return language.text("forms.times", times, sentence=sentence) if times > 1 else sentence


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


def standing_alone(sentence: str, language: Language = ENGLISH) -> str:
    """A sentence of a note where nothing stands before it: with a capital letter and a full stop."""
    end = language.text("forms.end")
    return f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith(('.', end)) else end}"


def refusal(kind: str, *names: str, **particulars: Any) -> SubmissionError:
    """What to raise for a file that cannot be read, by a note whose sentence follows the file's name."""
    reason = note(kind, *names, **particulars)
    return SubmissionError(sentence(reason), reason)


def joined(notes: Iterable[Note], reader: str = GRADER, language: Language = ENGLISH) -> str:
    """The sentences for several notes as one, each once."""
    return language.text("forms.semicolon").join(sentences(notes, reader, language))


def reason(result: CheckResult, reader: str = GRADER, language: Language = ENGLISH) -> str:
    """Why a check came to what it did: what the grader has to say, else what its exception said."""
    return sentence(result.cause, reader, language) if result.cause else result.reason


def meaning(result: CheckResult, language: Language = ENGLISH) -> str:
    """What a message of NumPy's means whose own words no student knows; empty for another."""
    sizes = result.exception == "ValueError" and INNER in result.reason
    return language.text("explanation.inner_sizes") if sizes else ""


class _Particulars(dict):
    """The values for the fields of a sentence, each made when it is asked for."""

    def __init__(self, note: Note, reader: str, language: Language) -> None:
        super().__init__(ENGLISH.readers[reader] | (language.readers.get(reader) or {}))
        self.note, self.reader, self.language = note, reader, language

    def __missing__(self, name: str) -> str:
        field, index = (name[:-1], int(name[-1]) - 1) if name[-1].isdigit() else (name, 0)
        if field in _ONE:
            values = _ONE[field](self.note, self.language)
            return str(values[index]) if index < len(values) else ""
        if name == "because":
            return sentence(self.note.because, self.reader, self.language) if self.note.because else ""
        return _ALL[name](self.note, self.language)


def counted(number: float, noun: str) -> str:
    """A number with its noun: 1 row, 2 rows."""
    return f"{number if isinstance(number, int) else format(number, 'g')} {noun}{'' if number == 1 else 's'}"


def spoken(seconds: float, language: Language = ENGLISH) -> str:
    """A time as people say it."""
    number = math.ceil(seconds) if seconds > 0.5 else round(seconds, 1)  # a little was used before
    return language.text("forms.second", number)


def span(seconds: float, language: Language = ENGLISH) -> str:
    """A long time as people say it, in days, hours and minutes."""
    parts = [(int(seconds // 86400), "day"), (int(seconds // 3600 % 24), "hour"), (int(seconds // 60 % 60), "minute")]
    phrases = [language.text(f"forms.{unit}", number) for number, unit in parts if number]
    return " ".join(phrases) or language.text("forms.moment" if seconds > 0 else "forms.nothing")


def listed(names: Iterable[str], language: Language = ENGLISH) -> str:
    """The names of cells as the subject of a sentence."""
    quoted = [f"'{name}'" for name in names]
    comma = language.text("forms.comma")
    if len(quoted) > CELLS:
        return language.text("forms.more", len(quoted) - CELLS, names=comma.join(quoted[:CELLS]))
    if len(quoted) < 2:
        return "".join(quoted)
    return language.text("forms.last", names=comma.join(quoted[:-1]), name=quoted[-1])


def some(texts: list[str], most: int, language: Language = ENGLISH) -> str:
    """The first of some texts in a sentence, and how many more there are."""
    shown, rest = language.text("forms.comma").join(texts[:most]), len(texts) - most
    return language.text("forms.more", rest, names=shown) if rest > 0 else shown


def _numbered(numbers: tuple[int, ...], language: Language) -> str:
    """Cells by their place in the file, from 1 on, as the subject of a sentence in the singular."""
    if len(numbers) == 1:
        return language.text("forms.cell", number=str(numbers[0]))
    return language.text("forms.each_cell", numbers=some([*map(str, numbers)], NUMBERS, language))


def _subject(note: Note, language: Language) -> str:
    """The first cell as the subject of a sentence; one without a name by its place, the last number."""
    if note.cells:
        return language.text("forms.the_cell", cell=f"'{note.cells[0]}'")
    return language.text("forms.own_cell", number=str(note.numbers[-1] if note.numbers else ""))


def _any(names: Sequence[str], language: Language) -> str:
    """One of several."""
    if len(names) < 2:
        return "".join(names)
    return language.text("forms.either", names=language.text("forms.comma").join(names[:-1]), name=names[-1])


def _files(note: Note, language: Language) -> str:
    """Files by their names, in quotes since a student may have called one by a sentence; the note's numbers say which
    of them are links (1) or no files (2)."""
    files = [plaintext.quoted(name) for name in note.names]
    for position, kind in enumerate(note.numbers):
        if kind:
            files[position] = language.text("forms.link" if kind == 1 else "forms.irregular", file=files[position])
    return some(files, FILES, language) if files else language.text("forms.nothing")


def _points(number: str, language: Language) -> str:
    try:
        return language.text("forms.point", float(number))
    except ValueError:
        return number


_ONE: dict[str, Callable[[Note, Language], list]] = {
    "cell": lambda note, _: [f"'{cell}'" for cell in note.cells],
    "number": lambda note, _: list(note.numbers),
    "name": lambda note, _: list(note.names),
    "purpose": lambda note, language: [_purpose(name, language) for name in note.names],
    "when": lambda note, language: [language.moment(name) for name in note.names],
    "value": lambda note, language: [language.value(name) for name in note.names],
    "quoted": lambda note, _: [plaintext.quoted(name) for name in note.names],
    "files": lambda note, language: [_files(note, language)],
    "any": lambda note, language: [_any(note.cells, language)],
    "points": lambda note, language: [_points(name, language) for name in note.names],
}
_ALL: dict[str, Callable[[Note, Language], str]] = {
    "cells": lambda note, language: listed(note.cells, language),
    "the_cell": lambda note, language: _subject(note, language),
    "numbers": lambda note, language: _numbered(note.numbers, language),
    "names": lambda note, language: language.text("forms.comma").join(note.names),
    "amount": lambda note, language: language.value(f"{note.amount:.15g}"),
    "seconds": lambda note, language: spoken(note.amount, language),
    "span": lambda note, language: span(note.amount, language),
    "s": lambda note, _: "" if note.amount == 1 else "s",
    "was": lambda note, _: "was" if note.amount == 1 else "were",
    "were": lambda note, _: "was" if len(note.cells) == 1 else "were",
    "have": lambda note, _: "has" if len(note.cells) == 1 else "have",
}


def _purpose(name: str, language: Language) -> str:
    """What a locked cell is called, which a note has in English."""
    key = f"cells.{name.replace(' ', '_').replace('-', '_')}"
    return language.text(key) if key in ENGLISH.pages else name
