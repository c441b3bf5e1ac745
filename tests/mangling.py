"""What programs and students do to a notebook: each function changes one that is plain JSON, at random.

``KEEPING`` are those after which every answer is still there, so that no point may be lost without a doubt; ``LOSING``
may lose answers, and repairing must still give a whole notebook. The functions of ``WRITING`` make bytes of it.
"""

from __future__ import annotations

import ast
import io
import itertools
import json
import random
import re
import zipfile

import nbformat

KEEPING, LOSING, WRITING = {}, {}, {}
OF_CODE = ("bullets", "marked_from_the_first_word", "marks_of_direction", "other_ends_of_lines")
"""What makes code no Python; another such thing done to it leaves nobody sure of what was typed."""
ALONE = ("merge_answers", "delete_texts", "split_answer", "merge_text", *OF_CODE)
"""Of ``KEEPING``, those after which nobody is sure where an answer stands when something else was done too."""


def _into(registry):
    return lambda function: registry.setdefault(function.__name__, function)


def half(*lists) -> list[tuple]:
    """Every other case of all that three lists allow: still each two of any two lists together."""
    every = itertools.product(*map(enumerate, lists))
    return [tuple(one for _, one in case) for case in every if sum(place for place, _ in case) % 2 == 0]


def plain(notebook) -> dict:
    """A notebook as JSON has it, with texts in one piece."""
    return json.loads(json.dumps(notebook))


def _nbgrader(cell: dict) -> dict:
    found = cell["metadata"].get("nbgrader")
    return found if isinstance(found, dict) else {}


def _answers(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if _nbgrader(cell).get("solution") and cell["cell_type"] == "code"]


def _locked(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if _nbgrader(cell).get("locked")]


def _code(source: str, **metadata) -> dict:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


@_into(KEEPING)
def strip_nbgrader(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["metadata"].pop("nbgrader", None)


@_into(KEEPING)
def strip_ids(notebook: dict, dice: random.Random) -> None:
    notebook["nbformat_minor"] = dice.choice([0, 2, 4])
    for cell in notebook["cells"]:
        cell.pop("id", None)


@_into(KEEPING)
def same_ids(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["id"] = "same"


@_into(KEEPING)
def colab(notebook: dict, dice: random.Random) -> None:
    notebook["nbformat_minor"] = 0
    notebook["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3", "display_name": "Python 3"}}
    for cell in notebook["cells"]:
        cell["metadata"] = {"id": cell.pop("id", "x"), "outputId": "0-1", "colab": {"height": 34}} | cell["metadata"]
        if not _nbgrader(cell).get("solution"):
            cell["source"] = "\n".join(line.rstrip() for line in cell["source"].split("\n"))
    mount = "from google.colab import drive\ndrive.mount('/content/drive')"
    notebook["cells"].insert(0, _code(mount, id="mount"))
    notebook["cells"].append(_code("", id="last"))


@_into(KEEPING)
def vscode(notebook: dict, dice: random.Random) -> None:
    notebook["metadata"] = {"language_info": {"name": "python", "version": "3.12.3"}}
    for cell in notebook["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell["metadata"].pop("deletable", None)
    notebook["cells"].insert(dice.randrange(len(notebook["cells"])), _code("%pip install numpy -q"))


@_into(KEEPING)
def kaggle(notebook: dict, dice: random.Random) -> None:
    strip_nbgrader(notebook, dice)
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {"_uuid": f"{number:040x}", "_cell_guid": f"{number}", "trusted": True}
    notebook["cells"].insert(0, _code("import os\nfor name in os.listdir('.'):\n    print(name)"))


@_into(KEEPING)
def deepnote(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] |= {"cell_id": cell.get("id", ""), "deepnote_cell_type": cell["cell_type"]}
        cell.pop("id", None)
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": "<a>Created in Deepnote</a>"})


def _chunks(source: str) -> list[str]:
    """The paragraphs of a code cell that stand alone: cut at empty lines at the left margin."""
    parts = re.split(r"\n\s*\n(?=\S)", source)
    whole, begun = [], ""
    for part in parts:
        begun = f"{begun}\n\n{part}" if begun else part
        try:
            ast.parse(begun)
        except SyntaxError:
            continue
        whole.append(begun)
        begun = ""
    return [*whole, begun] if begun else whole


@_into(KEEPING)
def drive(notebook: dict, dice: random.Random) -> None:
    """Colab, saved to GitHub or copied in Drive: a badge on top, and other ids in the metadata."""
    colab(notebook, dice)
    for cell in notebook["cells"]:
        cell["metadata"]["id"] = "".join(dice.choices("abcdefghijklmnopqrstuvwxyzABCDEFG0123456789_-", k=12))
        cell["metadata"]["executionInfo"] = {"status": "ok", "timestamp": 1700000000000, "user": {}, "user_tz": 0}
    link = '<a href="https://colab.research.google.com/github/a/b/blob/main/c.ipynb"><img src="badge.svg"/></a>'
    badge = {"id": "view-in-github", "colab_type": "text"}
    notebook["cells"].insert(0, {"cell_type": "markdown", "metadata": badge, "source": link})


@_into(KEEPING)
def jupytext(notebook: dict, dice: random.Random) -> None:
    """To py:percent and back: metadata stay, ids are new, no text ends in white space, outputs are gone."""
    notebook["metadata"] = {"jupytext": {"cell_metadata_filter": "-all"}, "kernelspec": {"name": "python3"}}
    for cell in notebook["cells"]:
        cell["id"] = f"{dice.randrange(16**8):08x}"
        cell["source"] = "\n".join(line.rstrip() for line in cell["source"].strip("\n").split("\n"))
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}


@_into(KEEPING)
def jupytext_without_markers(notebook: dict, dice: random.Random) -> None:
    """To py:nomarker and back: no metadata, code is cut where empty lines are, texts that touch become one."""
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cells += [_code(part) for part in _chunks(cell["source"]) if part.strip()]
        else:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": cell["source"]})
    notebook |= {"cells": cells, "metadata": {"jupytext": {"text_representation": {"format_name": "nomarker"}}}}
    join_texts(notebook, dice)


@_into(KEEPING)
def join_texts(notebook: dict, dice: random.Random) -> None:
    """Quarto, R Markdown and pandoc know no border between two texts: they come back as one cell."""
    cells = []
    for cell in notebook["cells"]:
        if cells and cell["cell_type"] == cells[-1]["cell_type"] == "markdown":
            cells[-1]["source"] += "\n\n" + cell["source"]
        else:
            cells.append(cell)
    notebook["cells"] = cells


@_into(KEEPING)
def quarto(notebook: dict, dice: random.Random) -> None:
    """To qmd and back: a raw cell with the title on top, texts joined, no metadata."""
    strip_nbgrader(notebook, dice)
    strip_ids(notebook, dice)
    join_texts(notebook, dice)
    front = "---\ntitle: Untitled\njupyter: python3\n---"
    notebook["cells"].insert(0, {"cell_type": "raw", "metadata": {}, "source": front})


@_into(KEEPING)
def marimo(notebook: dict, dice: random.Random) -> None:
    """Exported from marimo: ids of four letters, its own metadata, `import marimo as mo` at the top."""
    notebook["metadata"] = {"marimo": {"marimo_version": "0.17.0"}, "language_info": {"name": "python"}}
    for cell in notebook["cells"]:
        cell["id"] = "".join(dice.choices("abcdefghijklmnopqrstuvwxyzABCDEFG", k=4))
        cell["metadata"] = {"marimo": {"config": {"hide_code": True}}} if cell["cell_type"] == "markdown" else {}
    notebook["cells"].append(_code("import marimo as mo"))


@_into(KEEPING)
def pycharm(notebook: dict, dice: random.Random) -> None:
    notebook["nbformat_minor"] = 0
    for cell in notebook["cells"]:
        cell.pop("id", None)
        cell["metadata"] |= {"collapsed": False, "pycharm": {"name": "#%%\n", "is_executing": False}}


@_into(KEEPING)
def databricks(notebook: dict, dice: random.Random) -> None:
    notebook |= {"nbformat_minor": 0, "metadata": {"application/vnd.databricks.v1+notebook": {"language": "python"}}}
    for number, cell in enumerate(notebook["cells"]):
        cell.pop("id", None)
        own = {"cellMetadata": {}, "inputWidgets": {}, "nuid": f"{number:08x}-0000", "showTitle": False, "title": ""}
        cell["metadata"] = {"application/vnd.databricks.v1+cell": own}


@_into(KEEPING)
def large_outputs(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * 20_000}}
            cell["outputs"] = [picture, {"output_type": "stream", "name": "stdout", "text": ["x\n"] * 50}]
            cell["execution_count"] = dice.randrange(90)


@_into(KEEPING)
def nonsense_metadata(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        if not _nbgrader(cell):
            cell["metadata"] = dice.choice([None, [], "x", 3, {"nbgrader": None}, {"nbgrader": {"grade_id": 7}}])
        if cell["cell_type"] == "code":
            cell["outputs"] = dice.choice([None, "x", {}, [None], [3], [{"output_type": "?"}]])
            cell["execution_count"] = dice.choice(["1", None, -3, [1]])
    notebook["metadata"] = dice.choice([None, [], {"kernelspec": None}, {"kernelspec": {"name": 3}}])
    for cell in notebook["cells"]:
        cell["metadata"] = cell["metadata"] or {}
        if not isinstance(cell["metadata"], dict):
            cell["metadata"] = {}


@_into(KEEPING)
def lists_for_texts(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        if isinstance(cell["source"], str):
            lines = cell["source"].splitlines(keepends=True)
            cell["source"] = [lines[:2], *lines[2:]] if dice.random() < 0.3 else lines
    for cell in notebook["cells"]:
        cell["source"] = "".join("".join(part) for part in cell["source"])


@_into(KEEPING)
def unknown_types(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["cell_type"] = dice.choice(["code", "Code", "python"])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "python":
            cell["cell_type"] = "code"


@_into(KEEPING)
def delete_locked(notebook: dict, dice: random.Random) -> None:
    gone = dice.sample(_locked(notebook), k=min(3, len(_locked(notebook))))
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in gone]


@_into(KEEPING)
def edit_locked(notebook: dict, dice: random.Random) -> None:
    for cell in dice.sample(_locked(notebook), k=min(3, len(_locked(notebook)))):
        cell["source"] = dice.choice(
            [cell["source"].replace("=", "= "), cell["source"][: len(cell["source"]) * 3 // 4], "\n" + cell["source"]]
        )


@_into(KEEPING)
def insert(notebook: dict, dice: random.Random) -> None:
    for number in range(dice.randrange(1, 6)):
        extra = dice.choice(["", "print(1)", "# mine", f"own_{number} = {number}", "!pip install numpy"])
        notebook["cells"].insert(dice.randrange(len(notebook["cells"]) + 1), _code(extra))


@_into(KEEPING)
def shuffle(notebook: dict, dice: random.Random) -> None:
    one, other = sorted(dice.sample(range(len(notebook["cells"])), 2))
    notebook["cells"].insert(one, notebook["cells"].pop(other))


@_into(KEEPING)
def copy_answer(notebook: dict, dice: random.Random) -> None:
    """As JupyterLab copies: nbgrader's metadata goes along, the id does not."""
    answer = dice.choice(_answers(notebook) or notebook["cells"])
    again = json.loads(json.dumps(answer))
    again.pop("id", None)
    notebook["cells"].insert(notebook["cells"].index(answer) + 1, again)


@_into(KEEPING)
def copy_test(notebook: dict, dice: random.Random) -> None:
    cell = dice.choice(_locked(notebook) or notebook["cells"])
    notebook["cells"].insert(dice.randrange(len(notebook["cells"])), json.loads(json.dumps(cell)))


@_into(KEEPING)
def split_answer(notebook: dict, dice: random.Random) -> None:
    answer = dice.choice(_answers(notebook) or [None])
    lines = answer["source"].split("\n") if answer else []
    places = [place for place in range(1, len(lines)) if lines[place].strip() and lines[place - 1].strip()]
    if places:
        place = dice.choice(places)
        keep = dice.random() < 0.5
        second = _code("\n".join(lines[place:]), **(json.loads(json.dumps(answer["metadata"])) if keep else {}))
        answer["source"] = "\n".join(lines[:place])
        notebook["cells"].insert(notebook["cells"].index(answer) + 1, second)


def _merge(notebook: dict, dice: random.Random, above: list[dict], below: list[dict]) -> None:
    """One of some cells with the one below it: the first one's metadata stays."""
    pairs = [(a, b) for a, b in itertools.pairwise(notebook["cells"]) if a in above and b in below]
    if pairs:
        first, second = dice.choice(pairs)
        first["source"] += "\n\n" + second["source"]
        notebook["cells"].remove(second)


@_into(KEEPING)
def merge(notebook: dict, dice: random.Random) -> None:
    """An answer with the locked cell below it, as JupyterLab merges."""
    _merge(notebook, dice, _answers(notebook), _locked(notebook))


@_into(KEEPING)
def merge_answers(notebook: dict, dice: random.Random) -> None:
    """Everything from an answer to the next one, in one cell."""
    cells, answers = notebook["cells"], _answers(notebook)
    if len(answers) > 1:
        place = dice.randrange(len(answers) - 1)
        start, end = cells.index(answers[place]), cells.index(answers[place + 1])
        code = [cell for cell in cells[start : end + 1] if cell["cell_type"] == "code"]
        texts = [cell for cell in cells[start : end + 1] if cell["cell_type"] != "code"]
        code[0]["source"] = "\n\n".join(cell["source"] for cell in code)
        cells[start : end + 1] = [*texts, code[0]]


@_into(KEEPING)
def gather_answers(notebook: dict, dice: random.Random) -> None:
    """The next answer, written into the cell of the one before; its own cell is deleted."""
    answers = _answers(notebook)
    if len(answers) > 1:
        place = dice.randrange(len(answers) - 1)
        answers[place]["source"] += "\n\n" + answers[place + 1]["source"]
        notebook["cells"].remove(answers[place + 1])


@_into(KEEPING)
def merge_below(notebook: dict, dice: random.Random) -> None:
    """A locked cell with the answer below it."""
    locked = [cell for cell in _locked(notebook) if cell["cell_type"] == "code"]
    _merge(notebook, dice, locked, _answers(notebook))


@_into(KEEPING)
def split_in_paragraphs(notebook: dict, dice: random.Random) -> None:
    """An answer in as many cells as it has paragraphs; the last one keeps the metadata, as when one splits upwards."""
    if answers := _answers(notebook):
        answer = dice.choice(answers)
        *parts, last = _chunks(answer["source"])
        place = notebook["cells"].index(answer)
        answer["source"] = last
        notebook["cells"][place:place] = [_code(part) for part in parts]


@_into(KEEPING)
def split_locked(notebook: dict, dice: random.Random) -> None:
    """A given or test cell, cut in two."""
    cells = [cell for cell in _locked(notebook) if cell["cell_type"] == "code" and cell["source"].count("\n") > 2]
    if cells:
        cell = dice.choice(cells)
        lines = cell["source"].split("\n")
        place = dice.randrange(1, len(lines))
        cell["source"] = "\n".join(lines[:place])
        notebook["cells"].insert(notebook["cells"].index(cell) + 1, _code("\n".join(lines[place:])))


@_into(KEEPING)
def merge_text(notebook: dict, dice: random.Random) -> None:
    """A text with the answer below it, which is text then."""
    texts = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    _merge(notebook, dice, texts, _answers(notebook))


@_into(KEEPING)
def fence(notebook: dict, dice: random.Random) -> None:
    if answers := _answers(notebook):
        answer = dice.choice(answers)
        answer |= {"cell_type": "markdown", "source": f"```python\n{answer['source']}\n```"}


@_into(KEEPING)
def delete_texts(notebook: dict, dice: random.Random) -> None:
    texts = [cell for cell in notebook["cells"][:-1] if cell["cell_type"] == "markdown" and not _nbgrader(cell)]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in texts or dice.random() < 0.5]


@_into(KEEPING)
def retype(notebook: dict, dice: random.Random) -> None:
    cell = dice.choice(notebook["cells"])
    cell["cell_type"] = "markdown" if cell["cell_type"] == "code" else "code"


@_into(KEEPING)
def tests_commented_out(notebook: dict, dice: random.Random) -> None:
    for cell in _locked(notebook):
        if cell["cell_type"] == "code":
            cell["source"] = "\n".join(f"# {line}" for line in cell["source"].split("\n"))


def _unless_python(cell: dict, source: str) -> None:
    """What happened to code counts where it is no Python any more; else nobody can tell it from what was typed."""
    try:
        ast.parse(source)
    except SyntaxError:
        cell["source"] = source


@_into(KEEPING)
def other_ends_of_lines(notebook: dict, dice: random.Random) -> None:
    """As a word processor, a page or a mainframe ends the lines of a paragraph."""
    for cell in _answers(notebook):
        _unless_python(cell, cell["source"].replace("\n", dice.choice("\x0b\x85\u2028\u2029")))


@_into(KEEPING)
def doubled_returns(notebook: dict, dice: random.Random) -> None:
    """Ends of lines of Windows that were written as ends of lines of Windows once more."""
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\r\n")


@_into(KEEPING)
def marks_of_direction(notebook: dict, dice: random.Random) -> None:
    """As pages and chats of scripts that run from right to left put them around brackets, and soft hyphens."""
    for cell in _answers(notebook):
        source = cell["source"].replace("(", "\u202a(\u202c").replace("=", "\u2066=\u2069")
        _unless_python(cell, re.sub(r"(\w{4})(\w{4})", "\\1\u00ad\\2", source))


@_into(KEEPING)
def marked_from_the_first_word(notebook: dict, dice: random.Random) -> None:
    """Copied out of a block, from its first word on."""
    for cell in _answers(notebook):
        first, _, rest = cell["source"].strip("\n").partition("\n")
        _unless_python(cell, "\n".join([first, *(f"    {line}" for line in rest.split("\n"))]))


@_into(KEEPING)
def bullets(notebook: dict, dice: random.Random) -> None:
    for cell in _answers(notebook):
        _unless_python(cell, "\n".join(f"\u2022 {line}" for line in cell["source"].split("\n")))


@_into(KEEPING)
def rename(notebook: dict, dice: random.Random) -> None:
    if answers := [cell for cell in _answers(notebook) if _nbgrader(cell)]:
        dice.choice(answers)["metadata"]["nbgrader"]["grade_id"] = "my-solution"


@_into(KEEPING)
def forge(notebook: dict, dice: random.Random) -> None:
    bonus = {"grade": True, "solution": False, "locked": True, "points": 100, "grade_id": "bonus", "schema_version": 3}
    notebook["cells"].append(_code("pass", nbgrader=bonus))


@_into(KEEPING)
def other_kernel(notebook: dict, dice: random.Random) -> None:
    notebook["metadata"] = {"kernelspec": {"name": "myenv", "display_name": "My env", "language": "python"}}


def answer_below_stub(notebook: dict, dice: random.Random, release, further: int = 1) -> None:
    """The student left the stub alone and wrote into a new cell below it, or so many cells further down."""
    stubs = {cell.metadata.nbgrader.grade_id: cell.source for cell in release.cells if "nbgrader" in cell.metadata}
    answer = dice.choice(_answers(notebook))
    below = _code(answer["source"])
    answer["source"] = stubs[_nbgrader(answer)["grade_id"]]
    notebook["cells"].insert(notebook["cells"].index(answer) + further, below)


def spread_answers(notebook: dict) -> None:
    """Every answer in as many cells as it has statements, without identity."""
    for answer in _answers(notebook):
        lines, (_, *tops) = answer["source"].split("\n"), ast.parse(answer["source"]).body or [None]
        starts = [min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]) - 1 for node in tops]
        place = notebook["cells"].index(answer)
        parts = ["\n".join(lines[start:end]) for start, end in itertools.pairwise([0, *starts, len(lines)])]
        notebook["cells"][place : place + 1] = map(_code, parts)


@_into(LOSING)
def delete_cells(notebook: dict, dice: random.Random) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if dice.random() < 0.8] or notebook["cells"][:1]


@_into(LOSING)
def swap_identities(notebook: dict, dice: random.Random) -> None:
    metadata = [cell["metadata"] for cell in notebook["cells"]]
    dice.shuffle(metadata)
    for cell, other in zip(notebook["cells"], metadata, strict=True):
        cell["metadata"] = other


@_into(LOSING)
def odd_cells(notebook: dict, dice: random.Random) -> None:
    odd = [None, 3, "x", [], {}, {"cell_type": 4}, {"cell_type": "code", "source": {"a": 1}}, {"source": [[["x"], 1]]}]
    for cell in dice.sample(odd, 3):
        notebook["cells"].insert(dice.randrange(len(notebook["cells"]) + 1), cell)
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and dice.random() < 0.2:
            cell[dice.choice(["metadata", "source", "cell_type", "id", "attachments"])] = dice.choice([None, 1, [], {}])


@_into(LOSING)
def control_characters(notebook: dict, dice: random.Random) -> None:
    for cell in notebook["cells"]:
        if isinstance(cell.get("source"), str):
            place = dice.randrange(len(cell["source"]) + 1)
            cell["source"] = cell["source"][:place] + dice.choice("\0\1\x1b\ufeff\ud800") + cell["source"][place:]


def text_of(notebook: dict) -> str:
    return json.dumps(notebook, indent=1)


@_into(WRITING)
def as_utf8(notebook: dict) -> bytes:
    return text_of(notebook).encode()


WRITING |= {
    "with_bom": lambda notebook: b"\xef\xbb\xbf" + text_of(notebook).encode(),
    "as_utf16": lambda notebook: text_of(notebook).encode("utf-16"),
    "as_utf16_without_mark": lambda notebook: text_of(notebook).encode("utf-16-be"),
    "with_crlf": lambda notebook: text_of(notebook).replace("\n", "\r\n").replace("\\n", "\\r\\n").encode(),
    "with_commas": lambda notebook: text_of(notebook).replace("\n ]", ",\n ]").replace("\n  }", ",\n  }").encode(),
    "with_more_behind": lambda notebook: text_of(notebook).encode() + b"\n<<< saved by MyNotebook 1.2",
    "without_a_comma": lambda notebook: text_of(notebook).replace("},\n  {", "}\n  {", 1).encode(),
    # as a chat or a mail shows a file
    "with_words_around": lambda notebook: f"Here it is:\n\n```json\n{text_of(notebook)}\n```\n".encode(),
    "with_a_number_that_is_none": lambda notebook: text_of(
        notebook | {"metadata": {"score": float("nan"), "most": float("inf")}}
    ).encode(),
    "with_the_format_as_text": lambda notebook: text_of(notebook | {"nbformat": "4", "nbformat_minor": "5"}).encode(),
}


@_into(WRITING)
def without_the_end(notebook: dict) -> bytes:
    """The last brackets are missing, every cell is there."""
    text = text_of(notebook | {"cells": notebook.get("cells")})
    return text[: text.rindex("}\n ]") + 1].encode()


@_into(WRITING)
def in_two_sheets(notebook: dict) -> bytes:
    """Format 3, in which a notebook could have more than one."""
    whole = json.loads(as_format_3(notebook))
    cells = whole["worksheets"][0]["cells"]
    whole["worksheets"] = [{"cells": cells[:2]}, {"metadata": {}, "cells": cells[2:]}]
    return text_of(whole).encode()


@_into(WRITING)
def as_format_3(notebook: dict) -> bytes:
    node = nbformat.from_dict(json.loads(json.dumps(notebook | {"metadata": {}})))
    return nbformat.v3.writes_json(nbformat.convert(node, 3)).encode()


def zipped(**files: bytes) -> bytes:
    """A zip; in the names of its members __ stands for a dot and ___ for a slash."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("___", "/").replace("__", "."), content)
    return buffer.getvalue()
