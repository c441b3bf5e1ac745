"""A person's rows in files that hold other people too: a table, a file of JSON lines, a log, a JSON document.

A file is a sequence of records, and each keeps its bytes: where one is taken out, the others stay as they were.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Mapping
from io import StringIO
from typing import Any

import msgspec

from viva.course.table import DELIMITERS, delimiter_of
from viva_term.privacy.person import Person

TABLES, LINES, LOGS, DOCUMENTS = (".csv", ".tsv"), (".jsonl",), (".log",), (".json",)
SHARED = (*TABLES, *LINES, *LOGS, *DOCUMENTS)
"""How the names of such files end."""
NAMES = ("student", "student_id")
"""The fields of a JSON object that say whose it is."""
KEYS = ("id", "student_id", "assignment", "attempt", "sender", "folder")
"""The columns of Viva's own tables that no two rows have the same of."""
GONE = object()


class Cut(msgspec.Struct, frozen=True):
    """A record that was taken out of its place in a file, or shortened to ``rest``."""

    index: int
    text: str
    rest: str = ""


class Cuts(msgspec.Struct):
    """What was taken out of a file; ``header`` is the first line of a table."""

    encoding: str
    header: str = ""
    cuts: list[Cut] = []


def cut(
    name: str, data: bytes, person: Person, owners: Mapping[str, frozenset[str]] | None = None
) -> tuple[bytes, Cuts]:
    """A file's bytes without the person's records, and these. A file that is not in its form keeps all.

    ``owners`` says of rows of a table whose they are, by the cell in the column ``folder``.
    """
    encoding, text = _decoded(data)
    try:
        records, header = _records(name, text)
        cuts = Cuts(encoding, records[header[0]] if header else "")
        for index, record in enumerate(records):
            if (rest := _rest(name, record, header, index, person, owners or {})) is not None:
                cuts.cuts.append(Cut(index, record, rest))
    except (ValueError, csv.Error, RecursionError):
        return data, Cuts(encoding)
    if not cuts.cuts:
        return data, cuts
    for removed in cuts.cuts:
        records[removed.index] = removed.rest
    return "".join(records).encode(encoding), cuts


def without(name: str, data: bytes, taken: Cuts) -> bytes:
    """A file's bytes without records that were found in it; where it changed meanwhile, those that are still there."""
    records, _ = _records(name, data.decode(taken.encoding, "surrogateescape"))
    for removed in taken.cuts:
        if removed.index < len(records) and records[removed.index] == removed.text:
            records[removed.index] = removed.rest
    return "".join(records).encode(taken.encoding, "surrogateescape")


def mended(name: str, data: bytes, taken: Cuts, person: Person) -> tuple[bytes, int]:
    """A file's bytes with the records in their places again, and how many have none any more."""
    text, lost = data.decode(taken.encoding), 0
    records, header = _records(name, text)
    if taken.header and not text.strip():
        records = [taken.header]
    elif taken.header and (not header or records[header[0]] != taken.header):
        return data, len(taken.cuts)
    keys = {_key(record, header) for record in records} - {()}
    for removed in taken.cuts:
        if removed.index < len(records) and records[removed.index] == removed.text:
            continue
        if not removed.rest:
            if _key(removed.text, header) in keys:  # a newer row of the same: that one stays
                lost += 1
                continue
            _insert(records, removed)
        elif removed.rest in records:
            records[records.index(removed.rest)] = removed.text
        elif name.endswith(DOCUMENTS):
            document = json.loads(text)
            _merge(document, json.loads(removed.text), person)
            records = [_document(document)]
        else:
            lost += 1
    return "".join(records).encode(taken.encoding), lost


def _key(record: str, header: tuple[int, str, list[str]] | None) -> tuple[str, ...]:
    """What only one row of a table may have; empty for a record of another file."""
    if header is None:
        return ()
    row = next(csv.reader(StringIO(record, newline=""), delimiter=header[1]), [])
    return tuple(cell for column, cell in zip(header[2], row, strict=False) if column in KEYS)


def _insert(records: list[str], removed: Cut) -> None:
    index = min(removed.index, len(records))
    if index and not records[index - 1].endswith(("\n", "\r")):
        records[index - 1] += "\n"
    ended = index == len(records) or removed.text.endswith(("\n", "\r"))
    records.insert(index, removed.text if ended else removed.text + "\n")


def _decoded(data: bytes) -> tuple[str, str]:
    """The encoding and the text, of which the same bytes can be made."""
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16-le" if data[:2] == codecs.BOM_UTF16_LE else "utf-16-be",) if wide else ("utf-8", "cp1252"):
        try:
            return encoding, data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return "latin-1", data.decode("latin-1")


def _records(name: str, text: str) -> tuple[list[str], tuple[int, str, list[str]] | None]:
    """The records of a file; of a table also the place of the first line, the separator, and its cells."""
    if name.endswith(DOCUMENTS):
        return [text], None
    if not name.endswith(TABLES):
        return re.findall(r"[^\n]*\n|[^\n]+", text), None
    lines = list(StringIO(text, newline=""))
    begin = 1 if lines and lines[0].lstrip("\ufeff").lower().startswith("sep=") else 0
    delimiter = lines[0].strip()[-1] if begin and lines[0].strip()[-1] in DELIMITERS else delimiter_of(text)
    reader, records, header, end = csv.reader(lines[begin:], delimiter=delimiter), lines[:begin], None, begin
    for cells in reader:
        if header is None and any(cells):
            header = (len(records), delimiter, [cell.lstrip("\ufeff") for cell in cells])
        records.append("".join(lines[end : begin + reader.line_num]))
        end = begin + reader.line_num
    return records, header


def _rest(
    name: str, record: str, header: tuple[int, str, list[str]] | None, index: int, person: Person,
    owners: Mapping[str, frozenset[str]],
) -> str | None:  # fmt: skip
    """What remains of a record: None where nothing is taken out of it."""
    if name.endswith(LOGS):
        return "" if person.is_mentioned(record) else None
    if name.endswith(TABLES):
        if header is None or index <= header[0]:
            return None
        row = next(csv.reader(StringIO(record, newline=""), delimiter=header[1]), [])
        known = owners.get(dict(zip(header[2], row, strict=False)).get("folder", ""))
        return "" if (person.owns(header[2], row) if known is None else known <= person.ids) else None
    if not record.strip():
        return None
    try:
        value = json.loads(record)
    except ValueError:  # the last line may be cut off
        return "" if name.endswith(LINES) and person.is_mentioned(record) else None
    rest = _pruned(value, person)
    if rest is GONE:
        return ""
    if rest == value:
        return None
    return _document(rest) if name.endswith(DOCUMENTS) else json.dumps(rest, ensure_ascii=False) + "\n"


def _document(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode() + "\n"


def _pruned(value: Any, person: Person) -> Any:
    """A JSON value without what is the person's; GONE where nothing remains."""
    if isinstance(value, dict):
        if _is_theirs(value, person):
            return GONE
        parts = {key: _pruned(part, person) for key, part in value.items() if not person.has_key(key)}
        return {key: part for key, part in parts.items() if part is not GONE}
    if isinstance(value, list):
        return [part for part in (_pruned(part, person) for part in value) if part is not GONE]
    return value


def _is_theirs(value: dict, person: Person) -> bool:
    return any(isinstance(value.get(name), str) and value[name] in person.ids for name in NAMES)


def personal_part(removed: Cut, person: Person) -> str:
    """What a record has of the person: of one that was shortened, only what was taken out of it."""
    if not removed.rest:
        return removed.text
    return json.dumps(_parts(json.loads(removed.text), person), ensure_ascii=False) + "\n"


def _parts(value: Any, person: Person) -> Any:
    """A JSON value with nothing but what is the person's."""
    if isinstance(value, dict):
        if _is_theirs(value, person):
            return value
        parts = {key: part if person.has_key(key) else _parts(part, person) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part not in ({}, [], None)}
    if isinstance(value, list):
        return [part for part in (_parts(part, person) for part in value) if part not in ({}, [], None)]
    return None


def _merge(now: Any, old: Any, person: Person) -> None:
    """Put the person's parts of an older JSON value into a newer one, which keeps all that it has."""
    if isinstance(now, dict) and isinstance(old, dict):
        for key, part in old.items():
            if key in now:
                _merge(now[key], part, person)
            elif person.has_key(key) or (isinstance(part, dict) and _pruned(part, person) != part):
                now[key] = part
    elif isinstance(now, list) and isinstance(old, list):
        now[:0] = [part for part in old if isinstance(part, dict) and _is_theirs(part, person) and part not in now]


def cells(name: str, taken: Cuts, column: str) -> list[str]:
    """What the rows that were taken out of a table have in a column."""
    records, header = _records(name, taken.header + "".join(removed.text for removed in taken.cuts))
    if not header or column not in header[2]:
        return []
    index = header[2].index(column)
    rows = csv.reader(StringIO("".join(records[1:]), newline=""), delimiter=header[1])
    return [row[index] for row in rows if len(row) > index]
