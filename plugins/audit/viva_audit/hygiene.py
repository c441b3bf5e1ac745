"""Hygiene: what a notebook should be before it is released, found without running it. A sentence for each finding.

An error breaks the assignment: a right answer would lose points, or nbgrader could not read it. All else is a warning:
style, and what a reader should look at. Only grading itself shows that a wrong answer passes (see ``audit``).
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from viva.course.releasing.release import without_answers
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import CHECK, HIDDEN, visible_and_hidden
from viva.notebook.assertions import messages
from viva.notebook.cell import ANSWERS, Purpose, name_of
from viva.notebook.names import Names, names_of
from viva.notebook.syntax import imports_of_text, nodes_in, statements_of
from viva.pages.hidden import Veil, hidden_of
from viva.submission.cells.texts import squeezed
from viva.submission.variant import SEED, default_of
from viva.verdict import BlueprintError
from viva.wording import counted, listed

MACHINE_MADE = re.compile(r"^(cell|test|answer|untitled|solution)?[-_ ]?[0-9a-f]*$", re.IGNORECASE)
ABSOLUTE_PATH = re.compile(
    r"""
    (?<![\w.:/]) (
        / (?:home|Users|tmp|root|mnt|media|var|content|kaggle) / [\w./-]*
        | ~/[\w./-]+
        | \b[A-Z]:\\\w[\w\\.-]*
    )
    """,
    re.VERBOSE,
)
NETWORK = {"requests", "urllib", "http", "httpx", "socket", "ftplib", "aiohttp", "urllib3", "gdown"}
COMMAND = re.compile(r"^\s*[!%]\s*(?:pip|conda|wget|curl|git)\b.*$", re.MULTILINE)
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<target>[^)\s]*)")
TAG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
VALUE = re.compile(r"(?<![\w.])-?\d+\.\d{2,}")
CODE = re.compile(
    r"""
    \b (?:np|numpy|plt|scipy|math) \.\w+         # a function of a library
    | \w+ \( \w+ (?:,\ ?\w+)* \) \s* [@/*+-]     # a call that is reckoned with
    | \w\ @\ \w | \.T\b | \w\[[\w:,\ ]+\]
    """,
    re.VERBOSE,
)
LONG = 24
"""A statement of a solution with so many characters gives the answer away when it can be read elsewhere."""


def errors(blueprint: Blueprint) -> list[str]:
    """What must be corrected before an assignment is released."""
    if not blueprint.is_python:
        return [*_same_ids(blueprint)]
    return [*_same_ids(blueprint), *_missing(blueprint), *_no_seed(blueprint)]


def warnings(notebook: NotebookNode, release: NotebookNode, blueprint: Blueprint) -> list[str]:
    """What an author should look at in a notebook and in the student version made of it."""
    return [
        *(f"{sentence}." for sentence in [without_answers(blueprint)] if sentence),
        *_machine_made_ids(blueprint),
        *_titles(blueprint),
        *_messages(blueprint),
        *(_of_python(blueprint) if blueprint.is_python else ()),
        *_revealed(release, blueprint),
        *_format(release),
        *_cells(notebook),
        *_pictures(notebook),
        *_table(notebook, blueprint),
    ]


def _of_python(blueprint: Blueprint) -> Iterator[str]:
    """What only a reader of Python finds."""
    yield from stale(blueprint)
    yield from _copies(blueprint)
    yield from _randomness(blueprint)
    yield from _same_variants(blueprint)


def readme_findings(readme: Path, assignment: str, points: float) -> list[str]:
    """Whether the README's table gives an assignment the points that its notebooks have together."""
    for line in readme.read_text(encoding="utf-8", errors="replace").splitlines() if readme.is_file() else []:
        if line.lstrip().startswith("|") and re.search(rf"\b{re.escape(assignment)}\b", line):
            numbers = {float(number) for number in re.findall(r"(?<=\|)\s*(\d+(?:\.\d+)?)\s*(?=\|)", line)}
            if numbers and points not in numbers:
                return [
                    f"{readme.name} and the notebook have different points for {assignment}. The notebook has "
                    f"{points:g}."
                ]
    return []


def untold(notebook: NotebookNode) -> list[str]:
    """The hidden lines that no scan of a student's page can look for, each with the reason."""
    return sorted(hidden_of([notebook], Veil()).untold.values())


def _same_ids(blueprint: Blueprint) -> Iterator[str]:
    for name, count in Counter(cell.id for cell in blueprint.cells).items():
        if name and count > 1:
            yield f"Cell '{name}': {count} cells have this id. Give each cell a different id."


def _machine_made_ids(blueprint: Blueprint) -> Iterator[str]:
    """One sentence, as a course that was written with nbgrader's form has such ids in all cells."""
    purposes = (Purpose.ANSWER, Purpose.TESTS, Purpose.MANUAL, Purpose.TASK)
    names = [cell.id for cell in blueprint.cells if cell.purpose in purposes and MACHINE_MADE.match(cell.id)]
    if len(names) > 1:
        yield (
            f"Cells {listed(names)}: these ids say nothing about the cells. Name each cell after its question or check."
        )
    elif names:
        yield f"Cell '{names[0]}': this id says nothing about the cell. Name the cell after its question or check."


def _titles(blueprint: Blueprint) -> Iterator[str]:
    cells = [cell for cell in blueprint.cells if cell.purpose == Purpose.TESTS]
    bare: dict[float, list[str]] = {}
    for cell in cells:
        if not any(CHECK.match(line) for line in cell.source.splitlines()):
            bare.setdefault(cell.points, []).append(cell.id)
    for points, names in bare.items():
        title, several = f"'### CHECK ({counted(points, 'point')}): ...'", len(names) > 1
        which, them = (f"Cells {listed(names)}", "these cells") if several else (f"Cell '{names[0]}'", "this cell")
        yield f"{which}: students see the id of {them}. Add a title, as in {title}."


def _messages(blueprint: Blueprint) -> Iterator[str]:
    """Titles, and messages of hidden lines, are what a student reads of a hidden check."""
    for cell, check in blueprint.checks():
        where = f"Cell '{cell.id}', check '{check.title}'"
        yield from _given_away(check.title, f"{where}: the title")
        for hidden in HIDDEN.findall(check.source):
            for message in messages(hidden):
                yield from _given_away(message.words, f"{where}: a hidden message")
                for name in sorted(name for name in message.values if "expect" in name or "solution" in name):
                    yield f"{where}: the message of a hidden test shows students the value of '{name}'."


def _copies(blueprint: Blueprint) -> Iterator[str]:
    """Hidden functions that another test cell has word for word; one that runs in the candidate needs its own."""
    first: dict[str, str] = {}
    for cell in blueprint.cells:
        if cell.purpose == Purpose.TESTS and not cell.inside:
            for function in _hidden_functions(cell):
                if (solutions := first.setdefault(ast.unparse(function), cell.id)) != cell.id:
                    yield (
                        f"Cell '{cell.id}': it defines the hidden function '{function.name}' a second time; "
                        f"'{solutions}' defines it first. Define it once, above the first check of that cell, and "
                        "use it here."
                    )


def _missing(blueprint: Blueprint) -> Iterator[str]:
    """Names that lines of a test cell use which students see, and that hidden lines alone bind."""
    hidden, shown = set(), set()
    for cell in blueprint.cells:
        if not cell.code:
            continue
        lines, secret = visible_and_hidden(cell.source) if cell.purpose == Purpose.TESTS else (cell.source, "")
        names, beyond = names_of(lines) or Names(), names_of(secret) or Names()
        hidden |= beyond.bound
        shown |= names.bound
        if cell.purpose == Purpose.TESTS:
            for name in sorted(names.needed & hidden - shown):
                yield f"Cell '{cell.id}': its visible lines use '{name}', which only hidden lines define."


def _hidden_functions(cell: Cell) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes that the hidden lines of a test cell define."""
    for lines in HIDDEN.findall(cell.source):
        for node in statements_of(lines):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node


def _given_away(text: str, label: str) -> Iterator[str]:
    if lines := VALUE.search(text):
        yield f"{label} shows students the value {lines[0]} of a hidden test."
    elif lines := CODE.search(text):
        yield f"{label} shows students the code '{lines[0]}' of a hidden test."


def _revealed(release: NotebookNode, blueprint: Blueprint) -> Iterator[str]:
    """Solutions and hidden functions that can be read in what students get."""
    code = {cell.get("id", ""): cell.source for cell in release.cells if cell.cell_type == "code"}
    text = "\n".join(cell.source for cell in release.cells)
    shown = {name: squeezed(source) for name, source in code.items()}
    for cell in blueprint.cells:
        if cell.purpose == Purpose.ANSWER:
            for line in _own_lines(cell):
                places = [name for name, source in shown.items() if len(line) >= LONG and line in source]
                for name in places[:1]:
                    yield f"Cell '{name}': this cell shows students the answer to '{cell.id}': {line[:60]}"
        if cell.purpose == Purpose.TESTS:
            for name in sorted({function.name for function in _hidden_functions(cell)}):
                if re.search(rf"\b{re.escape(name)}\b", text):
                    yield f"Cell '{cell.id}': the students' files contain the name of the hidden function '{name}'."


def _own_lines(cell: Cell) -> list[str]:
    parts = re.findall(r"BEGIN SOLUTION[^\n]*\n(.*?)END SOLUTION", cell.source, flags=re.DOTALL)
    lines = [line.partition("#")[0] for part in parts for line in part.splitlines()]
    return list(filter(None, map(squeezed, lines)))


def _format(release: NotebookNode) -> Iterator[str]:
    """Whether Jupyter tells every student who opens the notebook that it is not valid."""
    try:
        nbformat.validate(copy.deepcopy(release))
    except nbformat.ValidationError as error:
        yield (
            f"Jupyter will tell students that the notebook is not valid: {str(error).splitlines()[0]}. "
            "Correct it with 'viva adopt --in-place', or open the source in Jupyter and save it."
        )


def _cells(notebook: NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        where = f"Cell '{name_of(cell)}'"
        if cell.get("outputs") or cell.get("execution_count"):
            yield f"{where}: the cell has outputs of an earlier run. Clear them."
        if path := ABSOLUTE_PATH.search(cell.source):
            yield f"{where}: the path '{path[0]}' exists only on one machine. Put the file next to the notebook."
        if cell.cell_type == "code":
            imported = {one.module.partition(".")[0] for one in imports_of_text(cell.source)} & NETWORK
            command = COMMAND.search(cell.source)
            if imported or command:
                access = sorted(imported)[0] if imported else command[0].strip() if command else ""
                yield f"{where}: '{access}' needs the network. In grading there is no network."


def _randomness(blueprint: Blueprint) -> Iterator[str]:
    """Random numbers that are drawn before any seed was set, or by a generator without one; and those that a test draws
    from the generator which student code has left behind: it can choose them."""
    seeded = answered = False
    for cell in blueprint.cells:
        if not cell.code:
            continue
        answered = answered or cell.purpose in ANSWERS
        chosen = cell.purpose == Purpose.TESTS and answered
        calls = [node for node in nodes_in(cell.source) if isinstance(node, ast.Call)]
        for node in sorted(calls, key=lambda node: node.lineno):
            name = ast.unparse(node.func)
            if name.endswith(("random.seed", "set_state")):
                seeded, chosen = True, False
            elif name.endswith(("default_rng", "RandomState", "random.Random")):
                if not node.args and not node.keywords:
                    yield f"Cell '{cell.id}': {name}() has no seed, so each run gives other numbers."
            elif re.match(r"(np\.|numpy\.)?random\.\w+$", name) and not seeded:
                yield f"Cell '{cell.id}': {name}() draws random numbers, but no seed was set above it."
            elif re.match(r"(np\.|numpy\.)?random\.\w+$", name) and chosen:
                yield (
                    f"Cell '{cell.id}': the test sets no seed, so student code can choose the numbers of {name}(). "
                    "Use np.random.default_rng(SEED)."
                )


def _no_seed(blueprint: Blueprint) -> Iterator[str]:
    """Whether a student's seed cannot be put in, where the notebook names one."""
    try:
        default = default_of(blueprint)
    except BlueprintError as error:
        yield str(error)
        return
    if default is None and (used := _using_the_seed(blueprint)):
        yield f"Cell '{used[0].id}': it uses {SEED}, which no read-only cell defines."


def _same_variants(blueprint: Blueprint) -> Iterator[str]:
    try:
        default = default_of(blueprint)
    except BlueprintError:  # an error, see _no_seed
        return
    if default is not None and not _using_the_seed(blueprint):
        yield f"{blueprint.name}: no cell uses {SEED}, so all variants are the same."


def _using_the_seed(blueprint: Blueprint) -> list[Cell]:
    return [cell for cell in blueprint.cells if cell.code and SEED in (names_of(cell.source) or Names()).needed]


def _pictures(notebook: NotebookNode) -> Iterator[str]:
    """Every picture has words for those who cannot see it: an alt text, or a text above the cell that draws it."""
    before = ""
    for cell in notebook.cells:
        where = f"Cell '{name_of(cell)}'"
        if cell.cell_type == "markdown":
            for image in IMAGE.finditer(cell.source):
                if len(image["alt"].split()) < 3:
                    yield f"{where}: the picture '{image['target']}' has no text for blind readers (alt text)."
            for tag in TAG.findall(cell.source):
                if not re.search(r"""\balt\s*=\s*["'](\S+\s+){2}""", tag):
                    yield f"{where}: a picture has no text for blind readers (alt text)."
            before = cell.source
        elif re.search(r"plt\.show\(|\bdisplay\(\s*fig", cell.source) and len(before.split()) < 15:
            yield f"{where}: the code draws a picture, but no text above it says what the picture shows."


def _table(notebook: NotebookNode, blueprint: Blueprint) -> Iterator[str]:
    """Whether the last line of the notebook's table of exercises gives its points."""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for line in cell.source.splitlines():
            if re.match(r"\|(?:[^|]*\b|\s*\|\s*\**)(total|together|sum)\b", line, flags=re.IGNORECASE):
                numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", line)]
                if numbers and blueprint.points not in numbers:
                    yield (
                        f"Cell '{cell.get('id', '')}': the table has {counted(numbers[-1], 'point')}, "
                        f"but the notebook is worth {blueprint.points:g}."
                    )


# Expected results in a test that are computed from what a student's function had before, and may have changed.


def stale(blueprint: Blueprint) -> Iterator[str]:
    """A sentence for each name from which something is expected though the student's function may have changed it."""
    theirs = set().union(*(_functions(cell.source) for cell in blueprint.cells if cell.purpose == Purpose.ANSWER))
    ours: set[str] = set()
    for cell, check in blueprint.checks():
        ours |= _functions(cell.source)  # test cells below use them too
        for name in dict.fromkeys(_stale(statements_of(check.source), theirs, ours, set())):
            yield (
                f"Cell '{cell.id}', check '{check.title}': the student's function gets '{name}' and can change it "
                "before the expected result is computed from it. Compute the expected result first, or pass a copy."
            )


def _stale(body: list[ast.stmt], theirs: set[str], ours: set[str], had: set[str]) -> Iterator[str]:
    """The names from which something is expected after a function of ``theirs`` had them as they are."""
    for statement in body:
        blocks = [getattr(statement, block) for block in ("body", "orelse") if getattr(statement, block, [])]
        shown = {id(node) for node in ast.walk(getattr(statement, "msg", None) or ast.Pass())}
        nodes = [node for node in ast.walk(statement) if not blocks and id(node) not in shown]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        of_theirs = [call for call in calls if getattr(call.func, "id", "") in theirs]
        passing = {node.id for part in nodes if isinstance(part, ast.comprehension) for node in ast.walk(part.target)
                   if isinstance(node, ast.Name)}  # fmt: skip
        passed = {name for call in of_theirs for name in map(_bare, call.args) if name} - passing
        inside = {id(node) for call in of_theirs for node in ast.walk(call)} | {
            id(node.value)
            for node in nodes
            if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim")
        }
        read = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        outside = {node.id for node in read if id(node) not in inside}
        ours_use = {node.id for call in calls if getattr(call.func, "id", "") in ours for node in ast.walk(call)
                    if isinstance(node, ast.Name)}  # fmt: skip
        bound = {
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        expecting = any("expect" in name for name in bound) and not blocks
        yield from sorted((passed & outside) | (had & (ours_use | (outside if expecting else set()))))
        had = (had | passed) - bound
        for block in blocks:
            yield from _stale(block, theirs, ours, set(had))


def _bare(argument: ast.expr) -> str:
    """The name that is handed over as it is, also behind a star; empty for anything else."""
    argument = argument.value if isinstance(argument, ast.Starred) else argument
    return argument.id if isinstance(argument, ast.Name) else ""


def _functions(source: str) -> set[str]:
    return {node.name for node in statements_of(source) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
