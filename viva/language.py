"""The languages in which students are spoken to: the sentences, plurals, numbers and times of each.

``words.toml`` holds the English sentences, ``words.<tag>.toml`` those of another language, by the same keys; a package
adds a language by the door ``viva.languages``. Whatever a language lacks, and whatever does not fit the English
sentence of its key, is said in English. Sentences for instructors and graders are English in every course.
"""

from __future__ import annotations

import functools
import hashlib
import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from viva import doors
from viva.verdict import CourseError

LANGUAGES = doors.Door(
    "viva.languages",
    adds="a language for students' pages",
    entry="the text of a file such as `viva/words.de.toml`, or its `Path`; its name is the tag",
)
Words = str | dict[str, str]
"""A sentence; or one for 1 of something (``one``) and one for any other number (``other``)."""
BUILTIN = ("de", "en", "es", "fr", "zh")
OF_INSTRUCTORS = {"links", "single_process", "fact"}
"""The parts of words.toml whose notes no student reads."""
STUDENT, GRADER = "student", "grader"
"""The readers."""
COUNTED = {"count", "amount"}
"""The fields that hold the number which chooses the form of a sentence; "once" needs none."""
_AGREEMENT = {"s", "was", "were", "have"}
"""Fields of English sentences in place of two forms."""
_SINGULAR = {"one": lambda number: number == 1, "below two": lambda number: 0 <= number < 2, "never": lambda _: False}
"""By what a language says of itself, which numbers take the form ``one``."""
_TAG = re.compile(r"<[^<>]*>")
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)( %)?")
LOCAL = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, eq=False)
class Language:
    """The sentences of a language by their keys, without those that are said in English."""

    tag: str
    notes: dict[str, Words] = field(default_factory=dict)
    """By kind of a note."""
    to_students: dict[str, Words] = field(default_factory=dict)
    """By kind, where students read something else than graders."""
    readers: dict[str, dict[str, str]] = field(default_factory=dict)
    pages: dict[str, Words] = field(default_factory=dict)
    """Sentences of pages and of the check, by part and key: ``feedback.skip``."""
    html: str = "en"
    """The language as HTML and babel name it."""
    singular: str = "one"
    digest: str = ""
    """A hash of its file; empty for English, whose file counts for all."""

    @property
    def is_english(self) -> bool:
        return self.tag == "en"

    def note(self, kind: str, reader: str) -> Words | None:
        """The words for a kind of note; empty where it means nothing to the reader, None for an unknown kind."""
        if reader != STUDENT:
            return ENGLISH.notes.get(kind)
        if kind in ENGLISH.to_students:
            return ENGLISH.to_students[kind] and self.to_students.get(kind, ENGLISH.to_students[kind])
        return self.notes.get(kind, ENGLISH.notes.get(kind))

    def text(self, key: str, count: float | None = None, **fields: Any) -> str:
        """A sentence of a page or of the check. Numbers are written as the language writes them.

        ``count`` chooses between the forms of the sentence, and is a field of it.
        """
        return self._chosen(key, count).format_map(self._fields(count, fields))

    def _chosen(self, key: str, count: float | None) -> str:
        language = self if key in self.pages else ENGLISH
        return language.form(language.pages[key], count)

    def _fields(self, count: float | None, fields: dict[str, Any]) -> dict[str, Any]:
        fields = fields if count is None else fields | {"count": count}
        return {name: self.number(value) if isinstance(value, int | float) else value for name, value in fields.items()}

    def template(self, key: str, count: float | None, fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The sentence of a key as HTML, and its fields, which are not HTML."""
        return self._chosen(key, count), self._fields(count, fields)

    def form(self, words: Words, number: float | None) -> str:
        """The form of a sentence for a number of something."""
        if isinstance(words, str):
            return words
        return words["one" if number is not None and _SINGULAR[self.singular](number) else "other"]

    def number(self, value: float) -> str:
        """A number of at most three decimals."""
        plain = str(value) if isinstance(value, int) else f"{round(value, 3):g}"
        if locale := self._locale:
            from babel import numbers

            return numbers.format_decimal(plain, locale=locale)
        return plain

    def value(self, text: str) -> str:
        """A number or a percentage that was written down in English."""
        match = _NUMBER.fullmatch(text)
        if not match or self.is_english:
            return text
        return self.number(float(match[1])) + (match[2] or "")

    def time(self, when: datetime) -> str:
        """A moment as its zone's clocks show it, without the zone. Without babel, and in English, as ISO 8601."""
        if locale := self._locale:
            from babel import dates

            time = dates.format_time(when.time(), "medium" if when.second else "short", locale=locale)
            pattern = str(dates.get_datetime_format("medium", locale))
            return pattern.replace("{0}", time).replace("{1}", dates.format_date(when.date(), "long", locale=locale))
        return when.strftime(f"{LOCAL}:%S" if when.second else LOCAL)

    def moment(self, text: str) -> str:
        """A moment that was written down as ISO 8601."""
        try:
            return self.time(datetime.fromisoformat(text))
        except ValueError:
            return text

    @functools.cached_property
    def _locale(self) -> Any:
        """babel's; None for English, where there is no babel, and where it does not know the language."""
        if self.is_english:
            return None
        try:
            from babel import Locale, UnknownLocaleError
        except ModuleNotFoundError:  # the small distribution for students has none
            return None
        try:
            return Locale.parse(self.html, sep="-")
        except (ValueError, UnknownLocaleError):
            return None


def _flat(file: Mapping[str, Any]) -> dict[str, Words]:
    """The sentences of a file by section and key, without what the language says of itself."""
    flat: dict[str, Words] = {}
    for section, content in file.items():
        tables = content.items() if section in ("readers", "pages") else [("", content)]
        for part, table in tables if section != "language" else ():
            prefix = ".".join(filter(None, (section, part)))
            flat |= {f"{prefix}.{key}": words for key, words in table.items()}
    return flat


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _tags(text: str) -> list[str]:
    return sorted(_TAG.findall(text))


def _other(words: Words) -> str:
    return words if isinstance(words, str) else words["other"]


def _misfit(words: object, english: Words) -> str:
    """Why a sentence cannot stand in place of the English one; empty where it can."""
    if not (isinstance(words, str) or (isinstance(words, dict) and {*words} == {"one", "other"})):
        return "it is neither a text nor a table of 'one' and 'other'"
    wanted, tags = _fields(_other(english)) - _AGREEMENT, _tags(_other(english))
    for form, text in {"other": words}.items() if isinstance(words, str) else words.items():
        try:
            fields = _fields(text)
        except (ValueError, TypeError) as error:
            return f"it cannot be read: {error}"
        fewest = wanted - COUNTED if form == "one" else wanted
        if not fewest <= fields <= wanted:
            return f"it has the fields {sorted(fields)}, but the English sentence has {sorted(wanted)}"
        if _tags(text) != tags:
            return f"it has the elements {_tags(text)}, but the English sentence has {tags}"
        if '"' in text:
            return 'it has the quote ", which is not allowed in HTML attributes'
    return ""


def required() -> dict[str, Words]:
    """The English sentences that a language translates, by section and key: those that students read."""
    return {
        key: words
        for key, words in _flat(_ENGLISH).items()
        if key.partition(".")[0] not in OF_INSTRUCTORS
        and not key.startswith("readers.grader")
        and words
        and not (key.partition(".")[0] not in ("to_students", "pages", "readers") and _last(key) in ENGLISH.to_students)
    }


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def problems(text: str) -> list[str]:
    """What is wrong with a language's file, given as its text: a sentence for each key; none if all is translated."""
    file = tomllib.loads(text)
    wanted, flat, found = required(), _flat(file), []
    about = file.get("language", {})
    if about.get("singular", "one") not in _SINGULAR:
        found.append(f"language.singular is not one of {', '.join(_SINGULAR)}")
    found += [f"{key} is missing" for key in wanted if key not in flat]
    for key, words in flat.items():
        if key not in wanted:
            found.append(f"{key} is not a key of the English sentences for students")
        elif why := _misfit(words, wanted[key]):
            found.append(f"{key}: {why}")
    return found


def read(tag: str, text: str) -> Language:
    """A language by the text of its file. Raises ValueError for what is not TOML."""
    file = tomllib.loads(text)
    about, wanted = file.get("language", {}), required()
    fitting = {key: words for key, words in _flat(file).items() if key in wanted and not _misfit(words, wanted[key])}
    singular = about.get("singular", "one")
    return _built(
        tag,
        fitting,
        html=str(about.get("html", tag)),
        singular=singular if singular in _SINGULAR else "one",
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )


def _built(tag: str, flat: Mapping[str, Words], **about: Any) -> Language:
    language = Language(tag, **about)
    for key, words in flat.items():
        section, _, name = key.partition(".")
        if section == "to_students":
            language.to_students[name] = words
        elif section == "readers":
            reader, _, name = name.partition(".")
            language.readers.setdefault(reader, {})[name] = _other(words)
        elif section == "pages":
            language.pages[name] = words
        else:
            language.notes[name] = words
    return language


_FOLDER = Path(__file__).parent
_ENGLISH = tomllib.loads((_FOLDER / "words.toml").read_text(encoding="utf-8"))
ENGLISH = _built("en", _flat(_ENGLISH))


def names() -> Iterator[str]:
    """The tags of all languages, those of other packages too."""
    yield from sorted({*BUILTIN, *LANGUAGES.entries(BUILTIN)})


@functools.lru_cache
def named(tag: str) -> Language:
    """A language by its tag. Raises CourseError for a tag that no package has, and for a file that cannot be read."""
    if tag == ENGLISH.tag:
        return ENGLISH
    if tag in BUILTIN:
        return read(tag, (_FOLDER / f"words.{tag}.toml").read_text(encoding="utf-8"))
    if tag not in LANGUAGES.entries(BUILTIN):
        raise CourseError(f"There is no language '{tag}'. The languages are: {', '.join(names())}.")
    source = LANGUAGES.load(tag)
    try:
        return read(tag, source.read_text(encoding="utf-8") if isinstance(source, Path) else source)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CourseError(
            f"The sentences of the language '{tag}' cannot be read: {error}. Correct or uninstall its package."
        ) from error


def of_course(config: Mapping[str, Any]) -> Language:
    """The language of a course's students, as its configuration says. Raises CourseError for an unknown one."""
    tag = config["PageExporter"].get("language", "en") if "PageExporter" in config else "en"
    try:
        return named(str(tag))
    except CourseError as error:
        raise CourseError(f"c.PageExporter.language is '{tag}'. {error}") from error
