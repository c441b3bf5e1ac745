"""Nothing that a stranger wrote tells a terminal anything, whichever way a command prints it."""

from __future__ import annotations

import ast
import io
import json
import logging
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from traitlets.log import get_logger

from tests.conftest import PROJECT
from viva.commands.terminal import cleaned, console, print_document

HOSTILE = {
    "colours": "\x1b[31mred\x1b[0m",
    "a title": "\x1b]0;owned\x07",
    "one byte": "\x9b2J",
    "cursor": "a\r\x1b[1A\x1b[2Kpassed",
    "backspaces": "failed\b\b\b\b\b\bpassed",
    "another order": "a\u202egpj.exe",
    "a link": "\x1b]8;;http://a.example\x1b\\\\text\x1b]8;;\x1b\\\\",
}
OURS = re.compile(r"\x1b\[[\d;]*m")
"""How rich colours and emboldens."""


def printable(text: str) -> bool:
    return all(line.isprintable() for line in OURS.sub("", text).splitlines())


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("terminal", [False, True])
def test_whatever_a_console_prints_holds_nothing_that_moves_the_cursor(name, terminal):
    text = HOSTILE[name]
    table = Table(text, title=text, caption=text)
    table.add_row(text)
    own = console(force_terminal=terminal, file=io.StringIO(), width=200)
    for what in (text, table, Panel(text), Syntax(text, "diff")):
        own.print(what, style="bold")
    own.print(f"{text}.", soft_wrap=True)
    said = own.file.getvalue()
    assert printable(said)
    assert "\x1b[31mred" not in said
    assert terminal == ("\x1b[1m" in said)
    assert said.count(text.splitlines()[0][0] if text[0].isprintable() else "\N{REPLACEMENT CHARACTER}") >= 5


def test_a_spinner_and_words_in_other_scripts_are_shown_as_they_are():
    own = console(force_terminal=True, file=io.StringIO(), width=80)
    own.print("Zoë 李 Ωμέγα ✓ →")
    assert "Zoë 李 Ωμέγα ✓ →" in own.file.getvalue()
    with own.status("checking"):
        pass
    assert "\x1b[?25h" in own.file.getvalue()  # the cursor is back


@pytest.mark.parametrize("name", HOSTILE)
def test_a_document_holds_the_same_texts_and_no_control_character(name, capsys):
    document = {"reason": HOSTILE[name], "students": ["Zoë", "\U000e0041"]}
    print_document(document)
    said = capsys.readouterr().out
    assert json.loads(said) == document and "Zoë" in said
    assert all(line.isprintable() for line in said.splitlines())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_log_holds_no_control_character(name):
    record = logging.LogRecord("viva", logging.ERROR, "", 0, "%s was left out", (HOSTILE[name],), None)
    assert cleaned(record)
    assert printable(record.getMessage()) and record.getMessage().endswith("was left out")


OWN_WORDS = {
    "cli.py",
    "commands/completion.py",
    "commands/terminal.py",
    "course/processes/leftovers.py",
    "doors.py",
    "sandbox/attempts.py",
}
"""What prints words of its own alone, or documents."""
ELSEWHERE = {"course/processes/slow.py"}
"""What prints into a notebook's outputs; and where no console is, and the words are cleaned in their place."""


def test_nothing_is_printed_past_the_console():
    package = PROJECT / "viva"
    found = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name in ("print", "Console"):
                found.add(path.relative_to(package).as_posix())
    assert {name for name in found if not name.startswith("engine/")} <= OWN_WORDS | ELSEWHERE


@pytest.mark.parametrize(("level", "shown"), [(logging.WARNING, False), (logging.DEBUG, True)])
def test_what_nbformat_says_of_an_invalid_notebook_is_shown_with_debug_only(level, shown, caplog, tmp_path):
    """A stock course had a notebook of format 4.4 with cell ids: the audit printed nbformat's words three times."""
    notebook = new_notebook(cells=[new_code_cell("1")], nbformat_minor=5)
    path = tmp_path / "old.ipynb"
    path.write_text(nbformat.writes(notebook).replace('"nbformat_minor": 5', '"nbformat_minor": 4'))
    log = get_logger()
    before = log.level
    caplog.handler.addFilter(cleaned)
    log.addHandler(caplog.handler)
    log.setLevel(level)
    try:
        nbformat.read(path, as_version=4)
    finally:
        log.setLevel(before)
        log.removeHandler(caplog.handler)
        caplog.handler.removeFilter(cleaned)
    assert ("Notebook JSON is invalid" in caplog.text) is shown


WORDS = """assignment attempts cell change changed check checks files folder gone granted item key late list name new
old parts points question reason section student students system text unchanged unmatched variants what where why"""
PLAIN = {*WORDS.split(), "", "data of this student", "left out", "nearest in the class", "score now", "score then"}
PLAIN |= {"stays packed", "archive"}
"""Heads that say what they mean."""


def test_a_head_of_a_table_says_what_it_means_or_the_line_below_the_table_does():
    unclear = []
    for path in [*PROJECT.glob("viva/commands/*.py"), *PROJECT.glob("plugins/*/viva_*/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "rich.table" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Table":
                parts = [part for argument in node.args for part in ast.walk(argument)]
                heads = [part.value for part in parts if isinstance(part, ast.Constant)]
                unclear += [(path.name, head) for head in heads if head not in PLAIN]
    assert unclear == []
