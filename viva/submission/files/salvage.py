"""Bytes become a notebook: the cells are read from any damaged file, or the reason says why there are none.

Theory of operation. The bytes are decoded, parsed as JSON (``brokenjson``), and every cell is built anew
from what can be trusted in it: its type, its text, its pictures, and what identifies it. Outputs are left
out; they come from the student's machine and are made again. Nothing is executed, and the time is linear in
the size of the file.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from collections import defaultdict
from typing import Any

from nbformat import NotebookNode, from_dict

from viva.cleaning import plaintext
from viva.record import Note, note
from viva.submission.files.brokenjson import SHOWN, Damaged, parsed
from viva.submission.files.sizes import limit_sizes
from viva.submission.files.wrapping import in_page
from viva.wording import refusal

# One cell of a damaged notebook, as JSON gave it -> a cell that nbformat takes.

Odd = dict[tuple[str, ...], list[int]]
"""By what was put right (the kind of a note, and its names), the numbers of the cells that it was put right in."""
TYPES = ("code", "markdown", "raw")
REFUSALS = ("SyntaxError", "IndentationError", "TabError")
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_LINE_END = re.compile("\r*\n|\r|\x0b")
"""As programs of several systems write it one after the other, and as word processors do within a paragraph."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_cell(raw: dict, number: int, odd: Odd) -> NotebookNode:
    """A cell without outputs."""
    cell_type = _cell_type(raw, number, odd)
    source = _text(raw, number, odd)
    cleaned = _SURROGATE.sub("\ufffd", _CONTROL.sub("", source))
    if cleaned != source:
        odd["control_characters",].append(number)
    cleaned = _LINE_END.sub("\n", cleaned)
    if raw.get("cell_type") == "heading":
        level: Any = raw.get("level")
        cleaned = f"{'#' * (int(level) if level in range(1, 7) else 1)} {cleaned}"
    cell = NotebookNode(
        cell_type=cell_type, id=_word(raw.get("id")), metadata=_metadata(raw, number, odd), source=cleaned
    )
    if cell_type == "code":
        if not isinstance(raw.get("outputs", []), list):
            odd["outputs_no_list",].append(number)
        elif any(isinstance(output, dict) and output.get("ename") in REFUSALS for output in raw.get("outputs", [])):
            cell.metadata.refused = True
        cell.update(outputs=[], execution_count=None)
    elif pictures := _attachments(raw.get("attachments")):
        cell.attachments = pictures
    return cell


def _cell_type(raw: dict, number: int, odd: Odd) -> str:
    cell_type = raw.get("cell_type")
    if cell_type in TYPES:
        return cell_type
    if cell_type in ("heading", "html"):
        return "markdown"
    if isinstance(cell_type, str) and cell_type.strip().lower() in TYPES:
        return cell_type.strip().lower()
    guess = "code" if any(key in raw for key in ("outputs", "execution_count", "input")) else "markdown"
    odd["unknown_type", guess].append(number)
    return guess


def _text(raw: dict, number: int, odd: Odd) -> str:
    source = raw.get("source", raw.get("input"))
    if isinstance(source, str):
        return source
    if not isinstance(source, list):
        odd["without_text",].append(number)
        return ""
    lines: list[str] = []
    rest: list[object] = [source]
    bad = False
    while rest:  # lists in lists, without recursion
        item = rest.pop()
        if isinstance(item, list):
            bad |= item is not source
            rest.extend(reversed(item))
        elif isinstance(item, str):
            lines.append(item)
        else:
            bad = True
    if bad:
        odd["nested_text",].append(number)
    if len(lines) > 1 and not any("\n" in line for line in lines):
        odd["lines_without_ends",].append(number)
        return "\n".join(lines)
    return "".join(lines)


def _metadata(raw: dict, number: int, odd: Odd) -> NotebookNode:
    metadata = raw.get("metadata", {})
    cleaned = NotebookNode()
    if not isinstance(metadata, dict):
        odd["odd_metadata",].append(number)
        return cleaned
    nbgrader = metadata.get("nbgrader", {})
    if not isinstance(nbgrader, dict) or not isinstance(nbgrader.get("grade_id", ""), str):
        odd["odd_nbgrader",].append(number)
    elif nbgrader.get("grade_id"):
        cleaned.nbgrader = NotebookNode(grade_id=nbgrader["grade_id"])
        if isinstance(nbgrader.get("checksum"), str):
            cleaned.nbgrader.checksum = nbgrader["checksum"]
    if name := _word(metadata.get("id")) or _word(metadata.get("cell_id")):
        cleaned.id = name
    return cleaned


def _word(value: object) -> str:
    return value if isinstance(value, str) and ID.fullmatch(value) else ""


def _attachments(value: object) -> NotebookNode:
    """Pictures in a written answer, by name and type, where they are what they should be."""
    pictures = NotebookNode()
    for name, bundle in value.items() if isinstance(value, dict) else ():
        if isinstance(bundle, dict):
            texts = {key: text for key, text in bundle.items() if isinstance(text, str) and not _SURROGATE.search(text)}
            if texts and not _SURROGATE.search(name):
                pictures[name] = NotebookNode(texts)
    return pictures


MOST_CELLS = 2000

PICTURE = "is_picture"
_OTHER_FILES = (
    (b"%PDF", "is_pdf"),
    (b"PK\x03\x04", "is_zip"),
    (b"\x89PNG", PICTURE),
    (b"\xff\xd8\xff", PICTURE),
    (b"\x1f\x8b", "is_archive"),
    (b"\xfd7zXZ", "is_archive"),
    (b"7z\xbc\xaf", "is_7z"),
    (b"Rar!", "is_rar"),
    (b"BZh", "is_archive"),
    (b"\0\5\x16\7", "is_macos_metadata"),
    (b"bplist", "is_placeholder"),
    (b"version https://git-lfs", "is_git_lfs"),
    (b"{\\rtf", "is_rtf"),
)
"""How other files begin, and the kind of note that says what they are."""
_HTML = re.compile("<!doctype html|<html|<head|<body|<!--", re.IGNORECASE)
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)*\s*<(?:!|\?xml|html)", re.IGNORECASE)


def read(data: bytes, trusting: bool = False) -> tuple[NotebookNode, list[Note]]:
    """The notebook in a file, of format 4.5 with no outputs, and what had to be repaired.

    A cell's metadata holds what identifies it and nothing else: ``nbgrader`` with ``grade_id`` and
    ``checksum``, and ``id`` as Colab and Deepnote write it; and ``refused``, where its output says that it is not
    Python. With ``trusting``, for a file that nobody gains from forging, what nbgrader and Viva wrote is kept as it
    is. The notebook's metadata say ``damaged`` where a part of the file could not be read. Raises SubmissionError.
    """
    repairs: list[Note] = []
    text = _decoded(data, repairs)
    if _PAGE.match(text[:64].encode(errors="replace")):
        inside = in_page(text)
        if not inside:
            raise refusal("is_html" if _HTML.search(text) else "is_xml")
        text = inside
        repairs.append(Note("in_page"))
    if not text.strip("\0 \t\r\n"):
        raise refusal("empty_file")
    content = parsed(text, repairs)
    cells = _cells(content, repairs)
    if not any(isinstance(cell, dict) for cell in cells):
        raise refusal("without_cells")
    if len(cells) > MOST_CELLS:
        raise refusal("too_many_cells", str(len(cells)), str(MOST_CELLS))
    notebook = _notebook(cells, repairs)
    limit_sizes(notebook)
    if isinstance(content, Damaged) or any(repair.kind == "without_text" for repair in repairs):
        notebook.metadata.damaged = True
    if language := _language(content):
        notebook.metadata.kernelspec = NotebookNode(language=language)
    if trusting:
        _keep(notebook.metadata, content)
        for cell, raw in zip(notebook.cells, (raw for raw in cells if isinstance(raw, dict)), strict=True):
            _keep(cell.metadata, raw)
    return notebook, repairs


def _keep(metadata: NotebookNode, raw: object) -> None:
    original = raw.get("metadata") if isinstance(raw, dict) else None
    for name in ("nbgrader", "viva"):
        if isinstance(original, dict) and isinstance(original.get(name), dict):
            metadata[name] = from_dict(original[name])


def other_file(data: bytes) -> str:
    """The kind of note about a file that is not text, judged by its first bytes; empty if they tell nothing."""
    start = data[:64].lstrip()
    return next((kind for mark, kind in _OTHER_FILES if start.startswith(mark)), "")


def _decoded(data: bytes, repairs: list[Note]) -> str:
    if kind := other_file(data):
        raise refusal(kind)
    if encoding := _wide(data):
        repairs.append(note("encoded", encoding.upper()))
        return data.decode(encoding, errors="replace").removeprefix("\ufeff")
    if data.startswith(codecs.BOM_UTF8):
        repairs.append(Note("byte_order_mark"))
        data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"cell_type" not in data and not _PAGE.match(data[:64].lstrip()):
            raise refusal("not_text") from error
    text = data.decode("utf-8", errors="replace")
    lost = text.count("\ufffd")
    whole = len(text) - len(text.encode("ascii", errors="ignore")) - lost  # other letters than those of ASCII
    if whole < lost:
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode("cp1252")
            repairs.append(Note("windows_1252"))
            return text
    repairs.append(Note("no_text", doubt=True))
    return text


def _wide(data: bytes) -> str:
    """The encoding, if its characters have two or four bytes."""
    head = data[:400]
    encoding = json.detect_encoding(head)
    if encoding in ("utf-16", "utf-32"):  # a mark says so
        return encoding
    zeros = head[:4].strip(b"\0") and 3 * head.count(0) > len(head)  # a damaged disk leaves them in a row
    return encoding if zeros and not encoding.startswith("utf-8") else ""


def _cells(content: object, repairs: list[Note]) -> list:
    if isinstance(content, list) and any(isinstance(cell, dict) and "cell_type" in cell for cell in content):
        repairs.append(Note("list_of_cells"))
        return content
    if isinstance(content, dict):
        sheets = content.get("worksheets")
        if isinstance(sheets, list) and not isinstance(content.get("cells"), list):
            repairs.append(Note("format_3"))
            lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
            return [cell for cells in lists if isinstance(cells, list) for cell in cells]
        cells = content.get("cells")
        if isinstance(cells, list | dict):
            if content.get("nbformat") not in (4, "4"):
                repairs.append(note("format_other", plaintext.line(str(content.get("nbformat")), 20)))
            return cells if isinstance(cells, list) else list(cells.values())
    keys = ", ".join(list(content)[:SHOWN]) if isinstance(content, dict) else ""
    raise refusal("json_with_keys", plaintext.line(keys, SHOWN)) if keys else refusal("json_without_cells")


def _language(content: object) -> str:
    """The language that the notebook says it is written in."""
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        level = content
        for step in ("metadata", key, name):
            level = level.get(step) if isinstance(level, dict) else None
        if isinstance(level, str) and ID.fullmatch(level):
            return level.lower()
    return ""


def _notebook(raw_cells: list, repairs: list[Note]) -> NotebookNode:
    odd: Odd = defaultdict(list)
    cells, ids = [], set()
    for number, raw in enumerate(raw_cells, 1):
        if not isinstance(raw, dict):
            odd["no_cell",].append(number)
            continue
        cell = read_cell(raw, number, odd)
        if cell.id in ids:
            odd["id_of_another",].append(number)
        if cell.id in ids or not cell.id:
            cell.id = f"handed-in-{number}"
            while cell.id in ids:
                cell.id += "x"
        ids.add(cell.id)
        cells.append(cell)
    repairs += [note(*kind, numbers=tuple(numbers)) for kind, numbers in odd.items()]
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=NotebookNode(), cells=cells)
