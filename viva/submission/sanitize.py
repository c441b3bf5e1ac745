"""A submission made harmless before a grader's browser shows it.

Theory of operation. This is the last of nbgrader's steps that touches a notebook, so that ``autograded/``, and with
it formgrader, feedback and report, hold nothing that runs, loads or covers anything. Outputs are rebuilt from
the formats that are known and harmless; texts in Markdown are cleaned where their page would not be harmless
(see ``markup``); the source of code cells is never touched, as every page escapes it. A Markdown cell that reads
as in the instructor's notebook is the instructor's, and stays. What was taken out is noted for each cell.

``nbgrader_config.py`` names the step a second time, for nbconvert's HTML exporter, with which formgrader shows a
notebook: so one that came into ``autograded/`` on another way is cleaned when it is shown.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from nbformat import NotebookNode, from_dict
from nbformat.corpus.words import generate_corpus_id
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from viva import editions
from viva.cleaning import markup, mathematics, picture
from viva.engine.blueprint import read_notebook
from viva.record import Note, note
from viva.submission.work import Work

ESCAPES = 5000
"""Changes of colour that are shown in one text; a page with more takes minutes to write."""
LONGEST_PART = 300
"""Characters of a picture's description."""

SHORT = 10_000
"""Characters of a text that may come with every submission, as that of the header does."""

_ORDERS = re.compile("\x1b(?:[\\]PX^_][^\x07\x1b]{0,4000}(?:\x07|\x1b\\\\)?|[^\\[])|\x1b$|\x9b|\x9d")
"""Orders to a terminal for more than a colour: links, titles, the clipboard."""
_CONTROLS = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that show a text in another order than it has."""
_ANSI = re.compile("\x1b\\[[^@-~\n]*[@-~]?")
_SHOWN = re.compile(r"(?:^|>)[^<]*[^<\s]|<(?:img|audio|hr|input|td)\b")
"""The visible part of a cleaned page: text, or an element that shows itself."""
_NAME = re.compile(r"[\w.:-]+")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
WRITTEN, _TEXTS = "viva_written", ("answer", "graded", "since")
"""In a graded cell's metadata: the texts that ``viva.course.examining.writtenanswers`` leaves there."""
_KNOWN = ("cell_type", "id", "metadata", "source", "outputs", "execution_count", "attachments")


class Sanitize(NbGraderPreprocessor):
    """Clean a submission's notebook, and note what was taken out."""

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        work = Work.of(resources)
        texts = given_texts(self, resources) if work.instructor_texts is None else work.instructor_texts
        work.record.sanitized = sanitize(notebook, texts)
        return notebook, resources


def given_texts(step: NbGraderPreprocessor, resources: dict) -> frozenset[str]:
    """The Markdown texts of the instructor's notebook as it was released; none where it cannot be found."""
    nbgrader = resources.get("nbgrader", {})
    assignment = nbgrader.get("assignment") or resources.get("assignment_id")
    name = nbgrader.get("notebook") or resources.get("notebook_id")
    if not assignment or not name:
        return frozenset()
    directory = CourseDirectory(parent=step.parent)
    path = editions.folder_of(directory, assignment) / f"{name}.ipynb"
    return markdown_of(path, path.stat().st_mtime_ns) if path.is_file() else frozenset()


@functools.lru_cache(maxsize=64)
def markdown_of(path: Path, changed: int) -> frozenset[str]:
    """The texts of an instructor's notebook that was ``changed`` then. Raises BlueprintError."""
    return frozenset(cell.source for cell in read_notebook(path).cells if cell.cell_type == "markdown")


def sanitize(notebook: NotebookNode, texts: frozenset[str] = frozenset()) -> list[Note]:
    """Clean a notebook in place; a note of each cell that something was taken from.

    Texts in ``given`` are the instructor's.
    """
    notes = []
    taken = mathematics.commands_in(" ".join(texts))
    names: set[str] = set()
    notebook.metadata = _notebook_metadata(notebook.metadata)
    for number, cell in enumerate(notebook.cells, start=1):
        removed = _clean_cell(cell, texts, taken, names)
        if removed:
            notes.append(note("shown_without", *dict.fromkeys(removed), numbers=(number,)))
    return notes


def _notebook_metadata(metadata: dict) -> NotebookNode:
    """The metadata that nbgrader and the templates need: the kernel and the language, each if it is a name."""
    cleaned = NotebookNode()
    for part, keys in (("kernelspec", ("name", "display_name", "language")), ("language_info", ("name",))):
        entry = metadata.get(part)
        if isinstance(entry, dict):
            names = NotebookNode({key: entry[key] for key in keys if _is_name(entry.get(key))})
            cleaned |= {part: names} if "name" in names and (part != "kernelspec" or "display_name" in names) else {}
    return NotebookNode(cleaned)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) < 80 and value.isprintable() and not re.search("[<>&\"']", value)


def _clean_cell(cell: NotebookNode, texts: frozenset[str], taken: frozenset[str], names: set[str]) -> list[str]:
    """Clean a cell in place; what was taken out. ``names`` are the grade ids before it."""
    removed: list[str] = []
    for key in [key for key in cell if key not in _KNOWN]:
        del cell[key]
    if not _ID.fullmatch(str(cell.get("id", "x"))):
        cell.id = generate_corpus_id()
    _clean_metadata(cell, names, removed)
    if cell.cell_type == "code":
        cell.pop("attachments", None)
        count = cell.get("execution_count")
        cell.execution_count = count if type(count) is int else None
        cell.outputs = [done for output in cell.get("outputs", []) if (done := clean_output(output, taken, removed))]
        return removed
    cell.pop("outputs", None)
    if cell.source in texts:
        return removed
    if "attachments" in cell:
        cell.attachments = _attachments(cell.attachments, removed)
    if cell.cell_type == "raw":
        clean = markup.clean_html(cell.source, taken)  # the templates write a raw cell into the page as it is
        cell.source = clean.text if clean.removed else cell.source
    else:
        clean = _clean_markdown(cell.source, cell.get("attachments"), taken)
        cell.source = clean.text
    return removed + list(clean.removed)


def _clean_markdown(source: str, attachments: dict | None, taken: frozenset[str]) -> markup.Cleaned:
    cached = len(source) <= SHORT and not attachments
    return _clean_short(source, taken=taken) if cached else markup.clean_markdown(source, attachments, taken)


_clean_short = functools.lru_cache(maxsize=64)(markup.clean_markdown)


def _clean_metadata(cell: NotebookNode, names: set[str], removed: list[str]) -> None:
    """Keep what nbgrader knows about a cell, if it is its own: what else is there only moves or hides the cell."""
    marks = cell.metadata.get("nbgrader")
    cleaned = NotebookNode()
    if isinstance(marks, dict):
        name = marks.get("grade_id", "")
        if isinstance(name, str) and _NAME.fullmatch(name) and name not in names:
            names.add(name)
            plain = {key: value for key, value in marks.items() if isinstance(value, bool | int | float | None)}
            words = {key: value for key, value in marks.items() if isinstance(value, str) and _NAME.fullmatch(value)}
            cleaned.nbgrader = NotebookNode({key: marks[key] for key in marks if key in plain or key in words})
        else:
            removed.append("nbgrader's metadata of another cell")
    if "nbgrader" in cleaned and isinstance(texts := cell.metadata.get(WRITTEN), dict):
        cleaned[WRITTEN] = NotebookNode({key: texts[key] for key in _TEXTS if isinstance(texts.get(key), str)})
    cell.metadata = cleaned


def _attachments(attachments: dict, removed: list[str]) -> NotebookNode:
    cleaned = NotebookNode()
    for name, bundle in attachments.items():
        for mime, text in bundle.items():
            problem = picture.problem(mime, text)
            if problem:
                removed.append(problem)
            else:
                cleaned.setdefault(name, NotebookNode())[mime] = text
    return cleaned


def clean_output(output: NotebookNode, taken: frozenset[str], removed: list[str]) -> NotebookNode | None:
    """An output from what is known to be harmless in it; None when nothing is left. Adds to ``removed``."""
    output_type = output.get("output_type")
    if output_type == "stream":
        name = output.get("name") if output.get("name") in ("stdout", "stderr") else "stdout"
        return made_output("stream", name=name, text=clean_text(output.get("text"), removed))
    if output_type == "error":
        traceback = output.get("traceback")
        lines = traceback if isinstance(traceback, list) else []
        fields = {key: clean_text(output.get(key), removed) for key in ("ename", "evalue")}
        return made_output("error", **fields, traceback=[clean_text(line, removed) for line in lines])
    if output_type not in ("display_data", "execute_result"):
        return None
    data, lost = _clean_data(output.get("data") or {}, taken)
    removed += lost
    if not data:
        if not lost:
            return None
        left_out = ", ".join(dict.fromkeys(lost))
        data = {"text/plain": f"[This output is not shown, because it could run code or load content: {left_out}]"}
    count = output.get("execution_count")
    count_field = {"execution_count": count if type(count) is int else None} if output_type == "execute_result" else {}
    return made_output(output_type, data=data, metadata=_sizes(output.get("metadata") or {}), **count_field)


def _clean_data(data: dict, taken: frozenset[str]) -> tuple[dict, list[str]]:
    """The formats of an output that are shown, cleaned; and what was taken out."""
    cleaned: dict = {}
    lost: list[str] = []
    for mime, value in data.items():
        value = "".join(map(str, value)) if isinstance(value, list) and mime != "application/json" else value
        if mime == "text/plain":
            cleaned[mime] = clean_text(value, lost)
        elif mime == "application/json":
            cleaned[mime] = value
        elif mime in ("text/html", "text/markdown"):
            clean = markup.clean_html if mime == "text/html" else markup.clean_markdown
            done = clean(str(value), taken=taken)
            lost += done.removed
            if _SHOWN.search(done.text) or not done.removed:
                cleaned[mime] = done.text
        elif mime == "text/latex":
            commands = mathematics.unwelcome(str(value), taken)
            lost += commands
            plain = cleaned.get("text/plain", str(value)) if commands else str(value)
            cleaned["text/plain" if commands else mime] = plain
        elif mime == picture.SVG or mime in picture.FORMATS:
            problem = picture.svg_problem(value) if mime == picture.SVG else picture.problem(mime, value)
            lost += [problem] if problem else []
            cleaned |= {} if problem else {mime: value}
        else:
            lost.append(mime if re.fullmatch(r"[\w/.+-]{1,60}", mime) else "an output of an unknown kind")
    return cleaned, lost


def _sizes(metadata: dict) -> NotebookNode:
    """The size and the description of a picture, from the metadata of an output."""
    pictures = NotebookNode()
    for mime in picture.FORMATS:
        entry = metadata.get(mime)
        if isinstance(entry, dict):
            sizes = {key: entry[key] for key in ("width", "height") if type(entry.get(key)) is int}
            pictures[mime] = NotebookNode({key: size for key, size in sizes.items() if 0 < size <= 2000})
            if isinstance(entry.get("alt"), str):
                pictures[mime].alt = entry["alt"][:LONGEST_PART]
    return pictures


def clean_text(text: object, removed: list[str]) -> str:
    """A text that was printed, without orders to a terminal, control characters and changes of direction.

    Colours stay, and so do ends of lines and backspaces. Adds to ``removed``.
    """
    text = "".join(map(str, text)) if isinstance(text, list) else str(text or "")
    for kind, pattern in (("terminal control sequences", _ORDERS), ("control characters", _CONTROLS)):
        if pattern.search(text):
            removed.append(kind)
            text = pattern.sub("", text)
    if _DIRECTIONS.search(text):
        removed.append("characters that change the text direction")
        text = _DIRECTIONS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    if text.count("\x1b") > ESCAPES:
        removed.append("colours")
        text = _ANSI.sub("", text).replace("\x1b", "")
    return text


# An output of a cell, made from parts that are known to be fit.


def made_output(output_type: str, **fields: object) -> NotebookNode:
    """As ``nbformat.v4.new_output``, with all its ``fields`` given and not validated.

    For a part of the schema nbformat validates in plain Python, which takes a millisecond; whole notebooks are
    validated when they are written.
    """
    return from_dict({"output_type": output_type, **fields})
