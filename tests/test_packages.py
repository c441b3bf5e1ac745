"""What the modules of the package look like."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from importlib.metadata import packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import PROJECT
from viva.notebook.names import names_of

PLUGINS = {path.name: path for path in PROJECT.glob("plugins/*/viva_*")}
ROOTS = [PROJECT / "viva", PROJECT / "student" / "viva_check", *PLUGINS.values()]
MODULES = sorted(path for root in ROOTS for path in root.rglob("*.py"))
PAGES = sorted(path for root in ROOTS for path in root.rglob("README.md"))


def test_no_two_modules_have_the_same_file_name():
    old_addresses = [PROJECT / "viva" / "course" / "gradebook" / "export.py"]  # named in configurations of courses
    modules = [path for path in MODULES if path not in old_addresses]
    names = [path.name for path in modules if path.stem not in ("__init__", "__main__")]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert twice == [], "two modules have the same file name: give one of them a noun of its own"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_page_of_a_package_is_read_in_three_minutes(page):
    text = "\n".join(line for line in page.read_text(encoding="utf-8").splitlines() if not line.startswith("|"))
    words, limit = len(text.split()), 900 if page.parent.name == "engine" else 600
    assert words <= limit, f"{page} has {words} words, limit {limit} (tables are free): shorten it"


def test_each_function_that_the_page_of_the_engine_names_exists():
    text = (PROJECT / "viva" / "engine" / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:course|engine)(?:\.\w+)+)`", text.partition("## One check")[2])
    assert len(named) > 15
    for name in named:
        module, parts = f"viva.{name}", []
        while not (PROJECT / f"{module.replace('.', '/')}.py").is_file():
            module, _, part = module.rpartition(".")
            assert module, name
            parts.insert(0, part)
        found = importlib.import_module(module)
        for part in parts:
            found = getattr(found, part)


def test_each_file_that_says_how_to_change_one_thing_exists():
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Changing one thing")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `") or line.startswith("| beside")]
    assert len(rows) > 20
    lacking = []
    for row in rows:
        name = row[1].strip().strip("`")
        package = PLUGINS.get(name, PROJECT / "viva" / name)
        root = package if package.is_dir() else PROJECT / "viva"
        for name in re.findall(r"`([\w/]+\.(?:py|md|toml|html|txt|json))`", "|".join(row[2:])):
            if not (PROJECT / name).is_file() and not list(root.glob(f"**/{name}")):
                lacking.append(f"{row[1].strip()}: {name}")
    assert lacking == [], "rows of CONTRIBUTING.md name files that do not exist: name those that took their place"


def test_contributing_names_only_targets_files_and_names_that_exist():
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = re.sub(r"## House style.*?(?=\n## )", "", text, flags=re.DOTALL)  # where other projects are named
    targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    sources = [path.read_text(encoding="utf-8") for path in [*MODULES, *(PROJECT / "tests").rglob("*.py")]]
    words = set(re.findall(r"\w+", "\n".join(sources)))
    lacking = []
    for name in dict.fromkeys(re.findall(r"`([^`\n]+)`", text)):
        if name.startswith("make "):
            exists = name.split()[1] in targets
        elif re.fullmatch(r"[A-Z]\w+|\w+(?:\.\w+)+", name) and not (PROJECT / name).is_file():
            ending = name.rpartition(".")[2]
            exists = ending in words or any(True for root in ROOTS for _ in root.glob(f"**/{name}"))
        elif re.fullmatch(r"\.?\w[\w.*-]*/[\w.*/-]+", name) and not name.startswith(".venv/"):
            exists = any(PROJECT.glob(name)) or any(True for root in ROOTS for _ in root.glob(f"**/{name}"))
        else:
            continue
        lacking += [] if exists else [name]
    assert lacking == [], "CONTRIBUTING.md names what does not exist: correct or delete the sentence"


SOURCE_READERS = {
    "course/releasing/contract.py": "compiles what is released, and a contract for what was released without one",
    "course/releasing/compiler.py": "compiles",
    "course/releasing/release.py": "looks at what it is about to release",
    "course/source/skeleton.py": "writes it",
    "course/source/machine.py": "opens packages for a release and an audit, which come before the contract",
    "course/regrade/edition.py": "compiles the present source, to name the cells that a release would change",
    "course/course.py": "lists the assignments, and the notebooks that there are to compile",
    "location.py": "recognises a course by that folder",
    "course/grading/overrides.py": "has nbgrader read the contract in its place",
    "course/releasing/variants.py": "names the notebook in a sentence",
    "course/gradebook/lateness.py": "lists the assignments",
    "editions.py": "names the folder where there is no contract yet",
    "commands/doctor.py": "looks for the kernels that a release needs",
    "auditcommand.py": "names the notebook in a sentence",
    "audit.py": "names the notebook that a draft of the contract is compiled from",
    "audits.py": "lists the notebooks to audit",
    "auditpage.py": "tells whether an audit is of the present source",
    "certificate.py": "certifies the file that was released, and refuses another one",
    "adoption.py": "writes it",
    "proposals.py": "writes it",
}
"""The modules that may name the folder of sources, and why; all others read the contract of what was released."""


def test_only_these_modules_read_the_source_of_an_assignment():
    reads = re.compile(r"""path\("source"|source_notebooks\(|of_sources\(|source_directory\b""")
    roots = [PROJECT / "viva", *PLUGINS.values()]
    found = {
        str(path.relative_to(root))
        for root in roots
        for path in root.rglob("*.py")
        if any(
            reads.search(line) and 'path("source", ".").is_dir()' not in line for line in path.read_text().splitlines()
        )
    }
    assert found - {*SOURCE_READERS} == set(), "read the contract (viva.course.releasing.contract) instead of source/"
    assert {*SOURCE_READERS} - found == set(), "take these off the list"


def test_what_a_test_takes_from_a_module_of_helpers_is_there():
    """A helper that only a proof of a later turn uses was deleted once: nothing that ran used it."""
    tests = [path for root in ("tests", "plugins/*/tests") for path in PROJECT.glob(f"{root}/**/*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in tests}
    missing = []
    for path, text in texts.items():
        for module, name, alias in re.findall(
            r"^\s*from (tests[\w.]*) import (\w+)(?: as (\w+))?$", text, re.MULTILINE
        ):
            if helper := texts.get(PROJECT.joinpath(*module.split("."), f"{name}.py")):
                bound = names_of(helper).bound
                taken = set(re.findall(rf"(?<![\w.]){alias or name}\.([a-z_]\w*)", text, re.IGNORECASE))
                missing += [
                    f"{path.name}: {name}.{one}" for one in sorted(taken - bound) if one != "py" and one[:2] != "__"
                ]
    assert missing == []


def test_the_core_imports_only_what_its_wheel_brings():
    """A course that installs nbviva alone has no package that only a plug-in or a test asks for."""
    brought = packages_distributions()
    used = set()
    for path in PROJECT.glob("viva/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                used.add((node.module or "").partition(".")[0])
    assert len(used) > 60
    wheel = _with_all_it_brings("nbviva")
    assert "openpyxl" not in wheel, "it is asked for by a plug-in"
    others = used - sys.stdlib_module_names
    assert [name for name in others if not {*map(canonicalize_name, brought.get(name, []))} & wheel] == []


def _with_all_it_brings(name: str) -> set[str]:
    found, asked = set(), [name]
    while asked:
        one = canonicalize_name(asked.pop())
        if one not in found:
            found.add(one)
            needs = map(Requirement, requires(one) or [])
            asked += [need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]
    return found
