"""A notebook of otter-grader becomes the cells of an nbgrader source notebook, with a list of the rest.

Otter's sources ("otter assign") mark blocks by raw cells: a question with its text, its solution, and a cell for each
test. A test is an expression whose saved output is expected, or a function. Older and generated notebooks have the
tests in files beside them, and call for them with ``grader.check("q1")``. Here each question becomes answer cells and
one test cell, in which each test is a check with its points.

Nothing of a notebook or of a test file is run: files are read as literals, tests as syntax. What has no counterpart is
told in a sentence, with its text.
"""

from __future__ import annotations

import ast
import doctest
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from viva.cleaning import plaintext
from viva.folder import read_utf8
from viva.verdict import CourseError
from viva_audit.adoption import Origin

BESIDE = ("tests", "dist", "otter_config.json", "*.otter", "requirements.txt", "*config.yml", "*config.yaml", "*.zip")
"""Files beside a notebook that are otter's, and hold tests and solutions: they are not the assignment's data."""
MARK = re.compile(r"\A\s*(?:```otter\s*\n)?#\s*(BEGIN|END|ASSIGNMENT)\s+(\w+)", re.IGNORECASE)
CHECKS = re.compile(r"""^\s*(?:_\s*=\s*)?\w+\.(?:check|grade)\(\s*["']([\w .-]+)["']""", re.MULTILINE)
MACHINERY = re.compile(
    r"""
    ^\s* (?:
        import[ ]otter\b | from[ ]otter\b | \w+\s*=\s*otter\.Notebook\(
        | \w+\.(?:check_all|export|run_plugin)\(
        | from[ ]client\.api | \w+\s*=\s*Notebook\(
        | [^\#]*\bok\.(?:grade|auth|submit|backup)\(
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
CONFIG = re.compile(
    r"""
    \A\s* (?:\w+\s*=\s*)? ["]{1,3}\s*
    \#\s*BEGIN\s+TEST\s+CONFIG\s*\n
    (.*?) \n
    ["]{1,3}\s* \#\s*END\s+TEST\s+CONFIG .*? (?:\n|\Z)
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
HIDDEN = re.compile(r"\A[ \t]*#[^\n]*\bhidden\b[^\n]*\n?", re.IGNORECASE)
IGNORED = re.compile(r"\A[ \t]*(?:#|<!--)\s*IGNORE\b", re.IGNORECASE)
LINE = re.compile(r"^(.*?)\s*#\s*(SOLUTION(?: NO PROMPT)?|SEED)\s*$", re.IGNORECASE)
NUMPYS = re.compile(
    r"""
    \bnp\. (?:
        (True|False)_ |
        (?:float|int|uint|str) \d* _? \( ([^()]*) \)
    )
    """,
    re.VERBOSE,
)
"""A number, truth or text as NumPy 2 shows it."""
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
UNKNOWN = object()
SHOWN = 200
"""Characters of a text in a sentence."""


@dataclass(frozen=True)
class Case:
    """One test: its code, and the text that its last expression has to show, or None where that is not known."""

    code: str
    output: str | None = ""
    hidden: bool = False
    points: float | None = None
    title: str = ""
    message: str = ""


@dataclass
class Question:
    """A question as otter configures it, and its cells."""

    name: str
    points: Any = None
    manual: bool = False
    whole: bool = False
    """Whether its tests earn all points or none."""
    answers: list[NotebookNode] = field(default_factory=list)
    prompts: list[NotebookNode] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    """Code that all tests use."""


def converted(notebook: NotebookNode, folder: Path, changes: list[str]) -> NotebookNode:
    """The notebook with nbgrader's metadata; ``changes`` gets a sentence for each thing that an author has to look at.

    ``folder`` is the notebook's, where otter's test files lie in ``tests/``. Raises CourseError for a notebook that is
    not otter's, and for marks that do not match.
    """
    cells = _Conversion(notebook, folder, changes).run()
    fields = {key: value for key, value in notebook.metadata.items() if key != "otter"}
    return nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": fields, "cells": cells})


class _Conversion:
    def __init__(self, notebook: NotebookNode, folder: Path, changes: list[str]) -> None:
        self.notebook, self.folder, self.changes = notebook, folder, changes
        self.cells: list[NotebookNode] = []
        self.question: Question | None = None
        self.block = ""
        self.count = 0
        self.marked: list[NotebookNode] = []
        """The cells that otter marked as answers."""
        self.plain = True
        """Whether tests are expressions with outputs; else they are functions."""

    def run(self) -> list[NotebookNode]:
        for number, cell in enumerate(self.notebook.cells, 1):
            if match := _mark(cell):
                self._mark(match[1].upper(), match[2].upper(), cell, number)
            elif self.question:
                self._in_question(cell, number)
            else:
                self._outside(cell, number)
        if self.question:
            raise CourseError(f"The question '{self.question.name}' has no cell '# END QUESTION'. Nothing was written.")
        if not self.count:
            raise CourseError(
                "This is not a notebook of otter-grader: it has no cell '# BEGIN QUESTION' and no "
                'grader.check("q1"). Nothing was written.'
            )
        return self.cells

    def _mark(self, word: str, block: str, cell: NotebookNode, number: int) -> None:
        settings = _settings(cell.source, number)
        if word == "ASSIGNMENT":
            tests = settings.get("tests")
            self.plain = not (isinstance(tests, dict) and tests.get("ok_format") is False)
            if rest := {name: value for name, value in settings.items() if name not in ("tests", "config_file")}:
                text = yaml.safe_dump(rest, default_flow_style=True, width=10_000, sort_keys=False)
                self.changes.append(f"Otter's settings of the assignment have no effect on Viva: {_short(text)}")
            self._configured(settings)
        elif word == "BEGIN" and block == "QUESTION":
            if self.question:
                raise CourseError(
                    f"Cell {number} begins a question inside of '{self.question.name}'. Nothing was written."
                )
            name = str(settings.get("name") or f"q{self.count + 1}")
            self.question = Question(
                name, settings.get("points"), bool(settings.get("manual")), bool(settings.get("all_or_nothing"))
            )
        elif word == "END" and block == "QUESTION" and self.question:
            self._finish(self.question)
            self.question, self.block = None, ""
        elif self.question and block in ("SOLUTION", "TESTS", "PROMPT"):
            self.block = block if word == "BEGIN" else ""
        else:
            self.changes.append(
                f"Cell {number} was left out, because its otter mark is in the wrong place: {_short(cell.source)}"
            )

    def _configured(self, settings: dict) -> None:
        """What a file of settings says of the tests: it is the only setting that changes how they are read."""
        name = settings.get("config_file")
        path = self.folder / str(name) if name else None
        if path and path.is_file() and path.resolve().is_relative_to(self.folder.resolve()):
            self._mark("ASSIGNMENT", "CONFIG", new_markdown_cell(f"# ASSIGNMENT CONFIG\n{read_utf8(path)}"), 0)

    def _in_question(self, cell: NotebookNode, number: int) -> None:
        question = self.question
        assert question is not None
        if IGNORED.match(cell.source):
            self.changes.append(f"Cell {number} is marked IGNORE and was left out: {_short(cell.source)}")
        elif self.block == "TESTS":
            if cell.cell_type == "code":
                question.cases.append(self._case(cell, number))
            elif cell.source.strip():
                self.changes.append(f"Cell {number}, a text between tests, was left out: {_short(cell.source)}")
        elif self.block == "SOLUTION":
            question.answers.append(cell)
        elif self.block == "PROMPT":
            question.prompts.append(cell)
        else:
            self.cells.append(_plain(cell))

    def _case(self, cell: NotebookNode, number: int) -> Case:
        source, hidden = cell.source, False
        if match := HIDDEN.match(source):
            source, hidden = source[match.end() :], True
        settings: dict = {}
        if match := CONFIG.match(source):
            settings, source = _settings(match[1], number), source[match.end() :]
            hidden = bool(settings.get("hidden", hidden))
        points = settings.get("points")
        case = Case(source.strip("\n"), _output(cell) if self.plain else "", hidden)
        message, title = (str(settings.get(name) or "") for name in ("failure_message", "name"))
        return replace(case, points=points if isinstance(points, int | float) else None, title=title, message=message)

    def _outside(self, cell: NotebookNode, number: int) -> None:
        """A cell that is in no question; of a generated notebook the call for a question's tests is one."""
        if IGNORED.match(cell.source):
            self.changes.append(f"Cell {number} is marked IGNORE and was left out: {_short(cell.source)}")
        elif cell.cell_type == "code" and (match := CHECKS.search(cell.source)):
            rest = CHECKS.sub("", cell.source).strip().strip(")").strip()
            if rest:
                self.changes.append(
                    f"Cell {number} calls otter's check. The rest of the cell was left out: {_short(rest)}"
                )
            self._checked(match[1], number)
        elif cell.cell_type == "code" and MACHINERY.search(cell.source):
            lines = [line for line in cell.source.splitlines() if MACHINERY.match(line)]
            rest = "\n".join(line for line in cell.source.splitlines() if line not in lines)
            self.changes.append(f"Cell {number}: otter's own lines were left out: {_short(' '.join(lines))}")
            if any(line.strip() and not line.lstrip().startswith("#") for line in rest.splitlines()):
                self.cells.append(new_code_cell(rest.strip("\n")))
        elif cell.cell_type == "raw":
            self.changes.append(f"Cell {number}, a raw cell, was left out: {_short(cell.source)}")
        elif re.fullmatch(r"\s*(<!--\s*(BEGIN|END) QUESTION\s*-->\s*)+", cell.source):
            pass  # how otter marks what it exports as PDF
        else:
            self.cells.append(_plain(cell))
            if "otter_answer_cell" in cell.metadata.get("tags", ()):
                self.marked.append(self.cells[-1])

    def _checked(self, name: str, number: int) -> None:
        """``grader.check("q1")`` in a notebook without marked questions: the code cell before it is the answer."""
        question = Question(name)
        path = self.folder / "tests" / f"{name}.py"
        inside = (self.notebook.metadata.get("otter") or {}).get("tests") or {}
        if path.is_file():
            question = _file(path, question, self.changes)
        elif isinstance(inside, dict) and isinstance(inside.get(name), dict):
            question = _suites(inside[name], question, self.changes)
        else:
            self.changes.append(f"The tests of '{name}' were not found: there is no file {path}. Write its test cell.")
        last = self.cells[-1] if self.cells else None
        if last is not None and last.cell_type == "code" and "nbgrader" not in last.metadata:
            question.answers = [self.cells.pop()]
            if last not in self.marked:
                self.changes.append(
                    f"The cell before the check of '{name}' was used as its answer. The whole cell is a solution "
                    f"now, so students do not see it: {_short(last.source)}"
                )
            if re.search(r"(?m)^\s*\.\.\.\s*$|=\s*\.\.\.", last.source):
                self.changes.append(
                    f"The answer to '{name}' still has '...', as in the student version. Write the solution."
                )
        else:
            self.changes.append(
                f"Cell {number} checks '{name}', but there is no code cell before it. Mark the answer cell."
            )
        self._finish(question)

    def _finish(self, question: Question) -> None:
        """Write a question's answer cells and its test cell."""
        self.count += 1
        name = re.sub(r"[^\w-]+", "_", question.name, flags=re.ASCII).strip("_") or f"q{self.count}"
        manual = question.manual or not question.cases
        prompts = question.prompts
        if prompts and not (manual and not question.answers):
            self.changes.append(
                f"Question '{name}': its prompt is now a text above the answer: {_short(prompts[0].source)}"
            )
            self.cells += [_plain(cell) for cell in prompts]
        answers = question.answers
        if not answers and manual:
            text = prompts[0].source if prompts else "_Type your answer here, replacing this text._"
            answers = [new_markdown_cell(f"{text}\n\n{BEGIN}\n(The notebook has no solution.)\n{END}")]
            self.cells += [_plain(cell) for cell in prompts[1:]]
            self.changes.append(f"Question '{name}' has no solution. Write one into its answer cell.")
        if not question.manual and not question.cases and answers:
            self.changes.append(f"Question '{name}' has no tests, so a grader gives its points.")
        if not manual:
            for cell in (cell for cell in answers if cell.cell_type != "code" and cell.source.strip()):
                self.changes.append(
                    f"Question '{name}': a text cell of its solution was left out: {_short(cell.source)}"
                )
            answers = [cell for cell in answers if cell.cell_type == "code"]
        for number, cell in enumerate(answers, 1):
            last = number == len(answers)
            fields = {"grade_id": name if len(answers) == 1 else f"{name}_{number}", "solution": True, "locked": False}
            graded = manual and (last or cell.cell_type != "code")
            fields |= {"grade": graded, "task": False, "schema_version": 3}
            if graded:
                fields["points"] = _total(question) if last else 0
            self.cells.append(_answer(cell, fields, name, self.changes))
        if question.cases and question.manual:
            self.changes.append(
                f"Question '{name}' is graded manually and has tests. The points of the tests are "
                "added to the manual points."
            )
        if question.cases:
            self.cells.append(_tests(question, name, self.changes))


def _mark(cell: NotebookNode) -> re.Match[str] | None:
    """The mark of a block that a cell is; in a text cell it stands in a block of code."""
    match = MARK.match(cell.source)
    return match if match and (cell.cell_type == "raw" or "```otter" in match[0]) else None


def _settings(source: str, number: int) -> dict:
    text = re.sub(r"```(?:otter)?", "", source)
    try:
        settings = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise CourseError(f"The settings in cell {number} are not YAML: {str(error).splitlines()[0]}.") from error
    return settings if isinstance(settings, dict) else {}


def _plain(cell: NotebookNode) -> NotebookNode:
    """A cell without otter's metadata; of a generated notebook that of the deleted and the locked too."""
    if cell.cell_type == "raw":
        return new_markdown_cell(cell.source)
    plain = new_markdown_cell(cell.source) if cell.cell_type == "markdown" else new_code_cell(cell.source)
    if tags := [tag for tag in cell.metadata.get("tags", []) if not tag.startswith("otter")]:
        plain.metadata["tags"] = tags
    if cell.get("attachments"):
        plain.attachments = cell.attachments
    return plain


# --- answers


def _answer(cell: NotebookNode, fields: dict, name: str, changes: list[str]) -> NotebookNode:
    """An answer cell: what otter takes away from students stands in nbgrader's solution region."""
    if cell.cell_type != "code":
        text = cell.source if BEGIN in cell.source else f"{BEGIN}\n{cell.source}\n{END}"
        fresh = new_markdown_cell(text)
    else:
        fresh = new_code_cell(_regions(cell.source, name, changes))
    fresh.metadata = nbformat.from_dict({"nbgrader": fields})
    return fresh


def _regions(source: str, name: str, changes: list[str]) -> str:
    """A solution with otter's marks -> one with nbgrader's, in which neighbouring lines share a region."""
    parts: list[tuple[bool, str]] = []
    inside = ignored = prompt = False
    for line in source.splitlines():
        bare = line.strip()
        if re.match(r"#\s*BEGIN SOLUTION", bare, re.IGNORECASE) or bare == BEGIN:
            inside = True
        elif re.match(r"#\s*END SOLUTION", bare, re.IGNORECASE) or bare == END:
            inside = False
        elif re.match(r"#\s*BEGIN IGNORE", bare, re.IGNORECASE):
            ignored = True
        elif re.match(r"#\s*END IGNORE", bare, re.IGNORECASE):
            ignored = False
        elif re.match(r"""(?:"{3}|'{3})\s*#\s*BEGIN PROMPT""", bare, re.IGNORECASE):
            prompt = True
        elif re.match(r"""(?:"{3}|'{3});?\s*#\s*END PROMPT""", bare, re.IGNORECASE):
            prompt = False
        elif ignored or re.search(r"#\s*IGNORE\s*$", bare):
            changes.append(f"Question '{name}': a line marked IGNORE was left out: {_short(bare)}")
        elif prompt:
            indent = line[: len(line) - len(line.lstrip())]
            parts.append((False, line if bare.startswith("#") or not bare else f"{indent}# {bare}"))
        elif match := LINE.match(line):
            parts.append((True, match[1]))
        else:
            parts.append((inside, line))
    if not any(solution for solution, _ in parts):
        parts = [(True, line) for _, line in parts]
    return _marked(parts)


def _marked(parts: list[tuple[bool, str]]) -> str:
    lines: list[str] = []
    before, region = False, ""
    for number, (solution, line) in enumerate(parts):
        if solution != before:
            if solution:
                first = next((text for _, text in parts[number:] if text.strip()), "")
                region = first[: len(first) - len(first.lstrip())]
            lines.append(region + (BEGIN if solution else END))
        lines.append(line)
        before = solution
    if before:
        lines.append(region + END)
    return "\n".join(lines)


# --- tests


def _output(cell: NotebookNode) -> str | None:
    """The text below a cell; None where all outputs of an expression were cleared."""
    texts = []
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain") or ""
        texts.append(text if isinstance(text, str) else "".join(text))
    return "".join(texts) if texts or cell.get("execution_count") else None


def _file(path: Path, question: Question, changes: list[str]) -> Question:
    """The tests in a file of otter's or OK's, which is read and never run."""
    try:
        tree = ast.parse(read_utf8(path))
    except SyntaxError as error:
        changes.append(
            f"{path} cannot be read: {error.msg} in line {error.lineno}. Write the test cell of '{question.name}'."
        )
        return question
    for node in tree.body:
        named = (
            [target.id for target in node.targets if isinstance(target, ast.Name)]
            if isinstance(node, ast.Assign)
            else []
        )
        try:
            value = ast.literal_eval(node.value) if named else None  # type: ignore[attr-defined]  # an ast.Assign
        except ValueError:
            text = _short(ast.unparse(node))
            changes.append(
                f"{path}, line {node.lineno}, was left out, because its value must be computed first: {text}"
            )
            continue
        if named == ["test"] and isinstance(value, dict):
            question = _suites(value, question, changes)
        elif named == ["points"]:
            question.points = value
        elif named == ["all_or_nothing"]:
            question.whole = bool(value)
        elif isinstance(node, ast.FunctionDef) and node.decorator_list:
            question.cases.append(_function(node))
        elif named and named[0] in ("OK_FORMAT", "name"):
            continue
        elif not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("otter")):
            question.shared.append(ast.unparse(node))
    return question


def _function(node: ast.FunctionDef) -> Case:
    options: dict[str, Any] = {}
    for decorator in node.decorator_list:
        for keyword in getattr(decorator, "keywords", []):
            if isinstance(keyword.value, ast.Constant):
                options[keyword.arg] = keyword.value.value
    node.decorator_list = []
    message = str(options.get("failure_message") or "")
    return Case(ast.unparse(node), "", bool(options.get("hidden")), options.get("points"), node.name, message)


def _suites(test: dict, question: Question, changes: list[str]) -> Question:
    """A test as OK writes it: suites of cases, each a text of a session."""
    question.points = test.get("points", question.points)
    question.whole = bool(test.get("all_or_nothing", question.whole))
    for suite in test.get("suites", []):
        for kind in ("setup", "teardown"):
            if str(suite.get(kind) or "").strip():
                changes.append(f"'{question.name}': its {kind} was left out: {_short(str(suite[kind]))}")
        if suite.get("type", "doctest") != "doctest":
            changes.append(
                f"'{question.name}': a suite of the type {suite.get('type')} was left out: {_short(str(suite))}"
            )
            continue
        for case in suite.get("cases", []):
            question.cases.append(_session(case, question.name, changes))
    return question


def _session(case: dict, name: str, changes: list[str]) -> Case:
    """The text of a session -> code in which each expected text is an assertion."""
    points = case.get("points")
    result = Case("", "", bool(case.get("hidden")), points if isinstance(points, int | float) else None)
    result = replace(result, message=str(case.get("failure_message") or ""), title=str(case.get("name") or ""))
    text = str(case.get("code", ""))
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError as error:
        changes.append(f"'{name}': a test is not a doctest ({error}). It was left out: {_short(text)}")
        return replace(result, code="pass", points=result.points or 0)
    parts = []
    for example in examples:
        if example.exc_msg is not None:
            changes.append(f"'{name}': a test expects an error. Write this test yourself: {_short(example.source)}")
            parts.append("\n".join(f"# {line}" for line in (example.source + example.want).splitlines()))
        else:
            parts.append(_asserted(Case(example.source.rstrip("\n"), example.want), name, result.message, changes))
    return replace(result, code="\n".join(parts), output="", message="")


def _tests(question: Question, name: str, changes: list[str]) -> NotebookNode:
    """One test cell with a check for each test; lines that only import are shared by all."""
    cases = [replace(case, code=_asserted(case, name, case.message, changes)) for case in question.cases]
    points = _shares(question, changes)
    imports = list(question.shared)
    blocks: list[str] = []
    for number, (case, share) in enumerate(zip(cases, points, strict=True), 1):
        code, imported = _without_imports(case.code)
        imports += [line for line in imported if line not in imports]
        if share is None:  # this one's points are the first one's
            blocks.append(_hidden(code) if case.hidden else code)
            continue
        title = plaintext.line(case.title) or (f"{name}" if question.whole else f"{name}, test {number}")
        blocks.append(f"### CHECK {share:g}: {title}\n{_hidden(code) if case.hidden else code}")
    cell = new_code_cell("\n".join([*imports, *blocks]))
    total = float(sum(share for share in points if share is not None))
    fields = {"grade_id": f"test_{name}", "grade": True, "solution": False, "locked": True, "task": False}
    fields |= {"schema_version": 3, "points": int(total) if total.is_integer() else total}
    cell.metadata = nbformat.from_dict({"nbgrader": fields})
    return cell


def _hidden(code: str) -> str:
    return f"### BEGIN HIDDEN TESTS\n{code}\n### END HIDDEN TESTS"


def _without_imports(code: str) -> tuple[str, list[str]]:
    """Code without the imports at its left margin, and these."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return code, []
    lines = code.splitlines()
    imported: list[str] = []
    for node in reversed(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported.insert(0, ast.unparse(node))
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines) or "pass", imported


def _asserted(case: Case, name: str, message: str, changes: list[str]) -> str:
    """A test's code, in which the last expression is compared with the text that otter expects of it."""
    try:
        tree = ast.parse(case.code)
    except SyntaxError as error:
        changes.append(f"'{name}': a test has a syntax error ({error.msg}). It is a comment now: {_short(case.code)}")
        return "\n".join(f"# {line}" for line in case.code.splitlines()) + "\npass"
    if not tree.body:
        return case.code or "pass"
    last = tree.body[-1]
    message_part = f", {message!r}" if message else ""
    if isinstance(first := tree.body[0], ast.FunctionDef) and _is_only_called(tree.body[1:]):
        # Otter takes the function and calls it itself: whatever the cell calls is for the author.
        arguments = [parameter.arg for parameter in first.args.args]
        if "env" in arguments:
            changes.append(
                f"'{name}': the test '{first.name}' reads otter's 'env'. Write the names that it uses instead."
            )
        lines = case.code.splitlines()
        return "\n".join([*lines[: first.end_lineno], "", f"{first.name}({', '.join(arguments)})"])
    if not isinstance(last, ast.Expr):
        if (case.output or "").strip():
            changes.append(
                f"'{name}': the otter test compares printed text, and Viva does not. Write an assert instead of: "
                f"{_short(str(case.output))}"
            )
        return case.code
    lines = case.code.splitlines()
    before, text = "\n".join(lines[: last.lineno - 1]), ast.unparse(last.value)
    want = _without_numpy((case.output or "").strip("\n"))
    called = isinstance(last.value, ast.Call) and getattr(last.value.func, "id", "") == "print"
    if case.output is None and _is_truth(last.value):
        changes.append(f"'{name}': a test has no expected output any more. The new check expects True: {_short(text)}")
        want = "True"
    if not want:
        return case.code
    if called:
        changes.append(
            f"'{name}': a test compares printed text. Compare the value instead: {_short(text)} shows {_short(want)}"
        )
        return f"{case.code}\n# otter expected: {' '.join(want.split())}"
    value = _literal(want)
    if value is UNKNOWN and (printed := want.splitlines()[:-1]):  # what it prints stands above what it shows
        value = _literal(want.splitlines()[-1])
        if value is not UNKNOWN:
            changes.append(
                f"'{name}': a test prints a text. The new check does not compare this text: {_short(' '.join(printed))}"
            )
            want = want.splitlines()[-1]
    whole = text if isinstance(last.value, ast.Name | ast.Call | ast.Attribute | ast.Subscript) else f"({text})"
    if value is UNKNOWN:
        changes.append(
            f"The otter test of '{name}' compares how a value is printed. Compare the value itself: {_short(text)} "
            f"shows {_short(want)}"
        )
        check = f"assert repr({text}) == {want!r}"
    elif value is True:
        check = f"assert {text}"
    elif value is False or value is None:
        check = f"assert not {whole}" if value is False else f"assert {whole} is None"
    else:
        check = f"assert {whole} == {want.strip()}"
    return f"{before}\n{check}{message_part}" if before else f"{check}{message_part}"


def _without_numpy(text: str) -> str:
    """The output as Python shows the same value: a number of NumPy 2 shows as ``np.float64(1.5)`` or ``np.True_``."""
    return NUMPYS.sub(r"\1\2", text)


def _literal(text: str) -> Any:
    """The plain value that a text means; UNKNOWN for another one."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN


def _is_only_called(rest: list[ast.stmt]) -> bool:
    """Whether nothing is behind a function but a call of one."""
    return not rest or (len(rest) == 1 and isinstance(rest[0], ast.Expr) and isinstance(rest[0].value, ast.Call))


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression is true or false: a comparison, or a call that asks."""
    if isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return True
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else name
    return name in ("isinstance", "callable", "hasattr", "all", "any", "bool", "isclose", "allclose", "array_equal")


# --- points


def _total(question: Question) -> float:
    points = question.points
    return points if isinstance(points, int | float) and not isinstance(points, bool) else 1


def _shares(question: Question, changes: list[str]) -> list[float | None]:
    """The points of each test, as otter computes them, in hundredths that add up; None for one without its own."""
    cases, points = question.cases, question.points
    if isinstance(points, dict):
        points = points.get("each", 1) * len(cases)
    declared: list[float | None] = [case.points for case in cases]
    if isinstance(points, list):
        declared, points = [*points, *[0] * len(cases)][: len(cases)], None
    rest, assigned = declared.count(None), sum(share for share in declared if share is not None)
    if points is not None:
        each = Fraction(max(0, points - assigned)).limit_denominator(1000) / max(rest, 1)
    else:
        each = Fraction(1, max(rest, 1)) if assigned == 0 else Fraction(0)
    exact = [each if share is None else Fraction(share).limit_denominator(1000) for share in declared]
    if question.whole:
        changes.append(f"'{question.name}' earns all points or none, so its tests are one check.")
        return [float(sum(exact)), *[None] * (len(cases) - 1)]
    rounded = [Fraction(round(share * 100), 100) for share in exact]
    if cases:
        rounded[-1] += round((sum(exact) - sum(rounded)) * 100) / Fraction(100)
    if rounded != exact:
        changes.append(f"'{question.name}': its points were divided among its tests, with two decimals.")
    return [float(share) for share in rounded]


def _short(text: str) -> str:
    return plaintext.quoted(" ".join(text.split()), SHOWN)


OTTER = Origin(converted, BESIDE)
