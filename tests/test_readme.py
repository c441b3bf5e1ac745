"""README and docs are held to the code: tables are complete, links lead somewhere, the session runs."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict

import nbformat
import pytest
from traitlets.utils.importstring import import_item

from tests.conftest import PROJECT
from viva.commands.command import VivaCommand
from viva.course.grades.export import COLUMNS
from viva.engine.blueprint import read_blueprint
from viva.engine.checks import split_checks
from viva.submission.variant import seed_in
from viva.wording import READERS, WORDS
from viva_audit.answers import read_answer

README = (PROJECT / "README.md").read_text(encoding="utf-8")
PAGES = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    PROJECT / "CHANGELOG.md",
    *PROJECT.glob("docs/*.md"),
    *sorted(PROJECT.glob("viva/**/README.md")),
]

FILES, SESSION = ((PROJECT / "docs" / name).read_text(encoding="utf-8") for name in ("reference.md", "start.md"))
USUAL = {*VivaCommand.aliases, *VivaCommand.flags}
"""Options that every command takes."""

NOT_RUN = (
    "git clone ",  # the address is not known
    "make demo",  # too long; what it does is run step by step
    "make test",
    "make setup",
    "source .venv/bin/activate",
    "jupyter lab ",  # these open a browser; tests/flow/test_formgrader.py does
    "make formgrader",
    "nbgrader release_assignment ",  # tests/flow/test_exchange.py runs these
    "nbgrader collect ",
)
SAME_EACH_TIME = ("viva release", "viva demo ")
"""What these print is compared word for word; of other output only the shape is, as scores are no part of it."""


@pytest.fixture(scope="module")
def reference():
    """The module that generates pages of the documentation site."""
    spec = importlib.util.spec_from_file_location("generate", PROJECT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def session(page: str = SESSION) -> list[tuple[str, str]]:
    """Each command in a page's console blocks, with the output shown under it."""
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    steps = [step.partition("\n") for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    return [(command, output) for command, _, output in steps if command]


def rows(*header: str, page: str = README) -> list[list[str]]:
    """The rows of a page's table with this header, as texts without their backquotes."""
    lines = page.splitlines()
    (start,) = [number for number, line in enumerate(lines) if cells(line) == list(header)]
    table = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        table.append(cells(line))
    return table


def cells(line: str) -> list[str]:
    return [cell.strip().replace("`", "") for cell in line.strip("|").split("|")] if line.startswith("|") else []


def shape(output: str) -> str:
    """An output with every number between spaces, every path and every width of a table made the same."""
    output = re.sub(r"(?<=\s)/\S*/(?=[\w.]+)", "/", output)
    output = re.sub(r"(?<!\S)\(?\d[\d.]*\)?\*?(?!\S)", "#", output)
    return re.sub(r" +", " ", re.sub(r"[━─]+", "─", output)).strip()


def agree(shown: str, printed: str) -> bool:
    """Whether a command printed what is shown, where a line ``...`` stands for any lines."""
    shown, printed = (re.sub(r"[ ]+$", "", text, flags=re.MULTILINE) for text in (shown, printed))  # nobody sees those
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^\.\.\.$", shown.strip("\n"), flags=re.MULTILINE)]
    return re.fullmatch(r"[\s\S]*".join(parts), printed.strip("\n")) is not None


def test_the_assignments_table_says_what_the_notebooks_say():
    truth = []
    for path in sorted(PROJECT.glob("source/*/*.ipynb"), key=lambda path: int(re.findall(r"\d+", path.parent.name)[0])):
        blueprint = read_blueprint(path)
        text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
        (minutes,) = re.findall(r"Estimated time: (\d+) minutes", text)
        points = blueprint.automatic_points, blueprint.manual_points, blueprint.points
        truth.append([path.parent.name, *(f"{number:g}" for number in points), f"{minutes} min"])
    table = rows("assignment", "you build", "automatic", "by hand", "points", "time")
    assert [[name, *numbers] for name, _, *numbers in table] == truth


def test_the_readme_can_be_read_in_some_minutes():
    words = len(README.split())
    assert words <= 800, f"README.md has {words} words, limit 800: move a part of it to docs/"


@pytest.mark.parametrize(
    ("names", "most"),
    [
        (["students"], 600),
        (["students-check"], 500),
        (["students-feedback"], 400),
        (["grade", "grading", "manual", "feedback"], 1700),
        (["start", "adopting"], 2000),
    ],
)
def test_nobody_reads_more_than_their_path_needs(names, most):
    """Tables of messages are looked up, not read."""
    pages = [(PROJECT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in names]
    words = sum(len(page.partition("\n## Messages ")[0].split()) for page in pages)
    assert words <= most, f"docs/ {', '.join(names)}: {words} words, limit {most}: shorten them"


def test_every_command_and_option_is_in_the_reference(reference):
    page = reference.commands()
    for name, (place, _) in reference.commands_of_the_flow():
        command = import_item(place)
        (part,) = re.findall(rf"^### viva {name}$.*?(?=^##|\Z)", page, re.DOTALL | re.MULTILINE)
        for option in {*command.aliases, *command.flags} - USUAL:
            assert len(option) == 1 or f"- `--{option}" in part, f"{name} --{option}"
        assert "sets `" not in part, f"an option of {name} has no help"


def test_every_setting_of_ours_is_in_the_reference_with_a_sentence(reference):
    page = reference.configuration()
    settings = re.findall(r"^\| `c\.(\w+)\.(\w+)` \| `.*` \| (.*) \|$", page, re.MULTILINE)
    assert len(settings) > 30
    assert [name for *name, about in settings if not about.strip()] == []


@pytest.mark.usefixtures("processes")
def test_every_make_target_is_in_the_reference(reference):
    printed = subprocess.run(["make"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^  ([a-z-]+) ", printed, re.MULTILINE)
    assert len(targets) > 10
    assert re.findall(r"^\| `make ([a-z-]+)`", reference.targets(), re.MULTILINE) == targets


PACKAGES = sorted(
    str(path.parent.relative_to(PROJECT))
    for root in ("viva/", "student/viva_check/", "plugins/*/viva_*/")
    for path in PROJECT.glob(f"{root}**/__init__.py")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_of_a_package_is_in_its_map_and_no_other(package):
    package = PROJECT / package
    there = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    there |= {path.parent.name for path in package.glob("*/__init__.py")}
    told = re.findall(
        r"^ *(\w+)/?  +\S", ast.get_docstring(ast.parse((package / "__init__.py").read_text())), re.MULTILINE
    )
    page = package.relative_to(PROJECT) / "__init__.py"
    assert set(told) == there, f"the map in {page} lists other modules than there are: add or delete their lines"
    assert len(told) == len(there), f"the map in {page} lists a module twice"


NEVER_CLEANED = {
    ".forgotten",
    "*-data.zip",
    "submitted",
    "attempts",
    "unmatched",
    "gradebook.db",
    "gradebook.db.lock",
    "regrades.jsonl",
    "roster.csv",
    "excused.csv",
    "extensions.csv",
    ".contracts",
    "watch.json",
    "watch.lock",
    "sending.lock",
    "identities.csv",
    ".journal",
    "lti",
    "lti.json",
    "canvas.json",
}
"""What students handed in, graders wrote, or nothing can make again."""
KEPT = ("submitted", "attempts", "unmatched", "lti")
"""The folders among these."""


def test_what_is_said_to_be_made_by_the_flow_is_ignored_by_git_and_make_clean_removes_what_can_be_made_again():
    made = [name.rstrip("/") for name, _ in rows("made by the flow, not committed", "", page=FILES)]
    ignored = (PROJECT / ".gitignore").read_text().splitlines()
    for name in made:
        inside = PROJECT / name / ".gitignore"
        kept = inside.is_file() and "*" in inside.read_text().splitlines()
        assert kept or {name, f"{name}/", f"/{name}/", f"{name}*"}.intersection(ignored), name


@pytest.mark.usefixtures("processes")
def test_make_clean_removes_what_can_be_made_again_and_leaves_the_folders_that_are_committed(tmp_path):
    made = [name.rstrip("/") for name, _ in rows("made by the flow, not committed", "", page=FILES)]
    shutil.copy(PROJECT / "Makefile", tmp_path)
    for name in made:
        if "." in name:
            (tmp_path / name).touch()
        else:
            (tmp_path / name / "student").mkdir(parents=True)
            (tmp_path / name / "student" / "notebook.ipynb").touch()
            (tmp_path / name / ".gitignore").touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} - {"Makefile"}
    folders = {f"{name}/{file}" for name in KEPT for file in (".gitignore", "student/notebook.ipynb")}
    assert left == (NEVER_CLEANED - set(KEPT)) | folders | {"autograded/.gitignore"}


def test_what_is_said_to_be_committed_is_there():
    for names, _ in rows("committed", "", page=FILES):
        for name in names.split(", "):
            assert (PROJECT / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(PROJECT)) for page in PAGES])
def test_every_relative_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        if not re.match(r"[a-z]+:", link):
            there = (page.parent / link.partition("#")[0]).exists()
            assert there, f"{page.relative_to(PROJECT)} links to {link}, which does not exist"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_session_runs_and_prints_what_is_shown(tmp_path):
    for name in ("source", "answers", "nbgrader_config.py", "Makefile"):
        (shutil.copytree if (PROJECT / name).is_dir() else shutil.copy)(PROJECT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    env = os.environ | {"COLUMNS": "80"}  # the audit's table needs 88
    ran = []
    for command, shown in session():
        if command.startswith(NOT_RUN):
            assert not shown, f"'{command}' is not run here, so its output may be wrong"
            continue
        line = re.sub(r"^make ", "make --old-file=setup ", command)
        result = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=900, check=False
        )
        assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
        same = (lambda text: text) if command.startswith(SAME_EACH_TIME) else shape
        assert agree(same(shown), same(result.stdout)), f"{command} printed:\n{result.stdout}"
        ran.append(command.split()[1])
    assert {"audit", "release", "demo", "validate", "grade", "feedback", "export"} <= set(ran)


def test_the_examples_of_how_to_write_an_assignment_are_read_as_they_are_described(tmp_path):
    text = (PROJECT / "docs" / "authoring.md").read_text(encoding="utf-8")
    tests, answer, *_, given = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    prelude, checks = split_checks(tests, "test_cell", 3, "docs/authoring.md")
    assert prelude.startswith("expected =")
    assert [(check.title, check.hidden) for check in checks] == [
        ("each column sums to one", False),
        ("new random numbers", True),
    ]
    path = tmp_path / "wrong" / "example.py"
    path.parent.mkdir()
    path.write_text(answer)
    example = read_answer(path)
    assert example.loses == ("test_softmax_cols: each column sums to one", "test_self_attention: *")
    assert example.keeps == ("everything else",)
    assert [section.type for section in example.sections.values()] == ["code", "markdown", "solution"]
    assert seed_in(given) == 20261 and given.count("viva_seed") == 2


def test_the_messages_and_columns_explained_in_the_docs_are_those_in_the_code():
    pages = ("grading", "feedback", "variants", "export")
    text = "\n".join((PROJECT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in pages)
    code = "".join(path.read_text(encoding="utf-8") for path in PROJECT.glob("viva/**/*.py"))
    code += " ".join(words.format_map(defaultdict(str, READERS["grader"])) for words in WORDS.values())
    sentences = re.findall(r"^\| \*(.+?)\* \|", text, re.MULTILINE)
    assert len(sentences) >= 25  # messages that say what to do themselves are not there
    for sentence in sentences:
        for piece in re.split(r"scaled_attention\.ipynb|\.\.\.|\d+|[():]", sentence):
            assert piece.strip() in code, piece
    columns = re.findall(r"^\| (`[a-z_`, ]+) \|", text, re.MULTILINE)
    assert {name for cell in columns for name in re.findall(r"\w+", cell)} <= set(COLUMNS)
