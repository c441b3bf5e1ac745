"""Grading follows the release: header, footer, the course's own steps, helper notebooks, and no later source."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from tests import handmade
from tests.conftest import BIN, PROJECT
from tests.handmade import write_notebook as write
from viva.course.grading.overview import overview
from viva.course.releasing import contract
from viva.editions import Facts
from viva.verdict import CourseError

pytestmark = pytest.mark.usefixtures("processes")

SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
TESTS = "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(0) == 0 and double(3) == 6\n### END HIDDEN TESTS"


@pytest.fixture
def course(tmp_path) -> Path:
    """An empty course with the project's configuration."""
    root = tmp_path / "course"
    (root / "source" / "a1").mkdir(parents=True)
    (root / "answers").mkdir()
    text = (PROJECT / "nbgrader_config.py").read_text()
    (root / "nbgrader_config.py").write_text(text.replace("c.IncludeHeaderFooter.header", "header"))
    return root


def cell(name: str, source: str):
    return new_code_cell(source, id=name)


def answer(source: str = SOLUTION, name: str = "double"):
    return handmade.answer(name, source)


def graded(source: str = TESTS, name: str = "test_double", points: float = 2):
    return handmade.graded(name, source, points)


def configure(course: Path, *lines: str) -> None:
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\n".join(["", *lines, ""]))


def submit(course: Path, student: str, **answers: str) -> None:
    handmade.submit(course, student, "a1", **answers)


def scores(course: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {submission.student_id: submission.score for submission in book.assignment_submissions("a1")}


RIGHT, WRONG = "def double(x):\n    return x + x", "def double(x):\n    return 3 * x"

STEP = """
import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor


class SetUp(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        for cell in nb.cells:
            cell.source = cell.source.replace("@N@", "2")
        nb.cells.insert(0, nbformat.v4.new_code_cell("OWN = 1"))
        return nb, resources


class OwnSolutions(NbGraderPreprocessor):
    def preprocess_cell(self, cell, resources, index):
        cell.source = cell.source.replace("return 2 * x  # SOLUTION", "...")
        return cell, resources
"""
STEPS = """
import sys; sys.path.insert(0, {root!r})
import coursesteps
from nbgrader.converters import GenerateAssignment
c.GenerateAssignment.preprocessors = [coursesteps.SetUp, *GenerateAssignment().preprocessors[:{at}], {more}
    *GenerateAssignment().preprocessors[{at}:]]
"""


def with_header(course: Path) -> None:
    """Imports, a helper, and a graded cell in header and footer."""
    write(course / "source" / "header.ipynb", new_code_cell("import math\n\ndef twice(x):\n    return 2 * x", id="h1"))
    write(course / "source" / "footer.ipynb", answer("s = 1", "s"), graded("assert s == 1", "test_s", 1))
    configure(course, 'c.IncludeHeaderFooter.header = "source/header.ipynb"')
    configure(course, 'c.IncludeHeaderFooter.footer = "source/footer.ipynb"')
    solution = SOLUTION.replace("return 2 * x", "return twice(x) + math.floor(0.5)")
    write(course / "source" / "a1" / "a1.ipynb", answer(solution), graded())


def with_steps(course: Path) -> None:
    """A set-up cell that a step inserts, texts that it fills in, and a tag that removes a cell."""
    (course / "coursesteps.py").write_text(STEP)
    configure(course, STEPS.format(root=str(course), at=1, more=""))
    configure(course, "c.TagRemovePreprocessor.enabled = True", "c.TagRemovePreprocessor.remove_cell_tags = {'gone'}")
    removed = new_code_cell("raise RuntimeError", id="gone", metadata={"tags": ["gone"]})
    solution = SOLUTION.replace("return 2 * x", "return @N@ * x * OWN")
    write(course / "source" / "a1" / "a1.ipynb", removed, answer(solution), graded(TESTS.replace("== 2", "== @N@")))


def with_own_solutions(course: Path) -> None:
    """A step of the course's own that clears solutions, which nbgrader does not mark."""
    (course / "coursesteps.py").write_text(STEP)
    configure(course, STEPS.format(root=str(course), at=2, more="coursesteps.OwnSolutions,"))
    configure(course, "c.ClearSolutions.enforce_metadata = False", "c.ClearSolutions.enabled = False")
    solution = "def double(x):\n    return 2 * x  # SOLUTION"
    write(course / "source" / "a1" / "a1.ipynb", answer(solution), graded())


def without_time_limit(course: Path) -> None:
    """nbclient's words for no time limit; a cell takes a while."""
    configure(course, "c.Execute.timeout = -1")
    solution = SOLUTION.replace("return 2 * x", "import time; time.sleep(0.1); return 2 * x")
    write(course / "source" / "a1" / "a1.ipynb", answer(solution), graded())


def with_helper(course: Path) -> None:
    """Notebooks without a graded cell, which another one runs and reads."""
    write(course / "source" / "a1" / "aa_helpers.ipynb", new_code_cell("scale = 2", id="scale"))
    read = "import nbformat\nlength = len(nbformat.read('aa_helpers.ipynb', as_version=4).cells)"
    solution = SOLUTION.replace("return 2 * x", "return scale * x * length")
    cells = cell("run", "%run aa_helpers.ipynb"), cell("read", read), answer(solution), graded()
    write(course / "source" / "a1" / "a1.ipynb", *cells)


@pytest.mark.parametrize(
    ("build", "full"),
    [(with_header, 3), (with_steps, 2), (with_own_solutions, 2), (with_helper, 2), (without_time_limit, 2)],
)
def test_what_the_course_adds_to_its_notebooks_is_released_and_graded(course, viva, build, full):
    build(course)
    said = viva("release", "a1", "--no-audit")
    assert said.status == 0 and "does not pass" not in said.text and "no data for" not in said.text, said.text
    submit(course, "right", double=RIGHT, s="s = 1")
    submit(course, "wrong", double=WRONG, s="s = 2")
    graded_now = viva("grade")
    assert graded_now.status == 0, graded_now.text
    assert scores(course) == {"right": full, "wrong": 0}


@pytest.mark.parametrize("way", ["editable", "PYTHONPATH", "user"])
def test_packages_folders_and_variables_of_the_course_are_there_in_grading(course, viva, tmp_path, monkeypatch, way):
    """As after `pip install -e`, with PYTHONPATH, and after `pip install --user`; one package needs another."""
    lib, shared = tmp_path / "lib", tmp_path / "shared"
    for path, text in {
        lib / "vivaprivate" / "__init__.py": "from vivaother import TWO\nfrom .part import three",
        lib
        / "vivaprivate"
        / "part.py": "from pathlib import Path\nthree = len(Path(__file__).with_name('n').read_text())",
        lib / "vivaprivate" / "n": "nnn",
        lib / "vivaother.py": "TWO = 2",
        lib / "unrelated" / "secret.py": "no",
        shared / "d.csv": "2",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(lib))
    if way == "PYTHONPATH":
        monkeypatch.setenv("PYTHONPATH", str(lib))
    if way == "user":
        monkeypatch.setattr("site.getusersitepackages", lambda: str(lib))
    monkeypatch.setenv("COURSE_DATA", str(shared))
    configure(course, f"c.Machine.folders = [{str(shared)!r}]", 'c.Machine.variables = ["COURSE_DATA"]')
    given = cell("imports", "import os, vivaprivate\ndata = os.environ['COURSE_DATA'] + '/d.csv'")
    solution = SOLUTION.replace("2 * x", "vivaprivate.TWO * x + vivaprivate.three - 3")
    tests = f"assert not __import__('os').path.exists({str(lib / 'unrelated')!r})"
    write(course / "source" / "a1" / "a1.ipynb", given, answer(solution), graded(), graded(tests, "closed", 1))
    said = viva("release", "a1", "--no-audit")
    assert said.status == 0 and "does not pass" not in said.text and "Install" not in said.text, said.text
    submit(course, "right", double="def double(x):\n    return vivaprivate.TWO * x + 0 * int(open(data).read())")
    submit(course, "wrong", double=WRONG)
    assert viva("grade").status == 0
    assert scores(course) == {"right": 3, "wrong": 1}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('c.Machine.folders = ["/shared/not-there"]', "/shared/not-there, but there is no such absolute path"),
        ('c.Machine.variables = ["NOT_SET_HERE"]', "NOT_SET_HERE, which is not set here"),
        ('c.Machine.variables = ["PYTHONPATH"]', "changes how Viva itself runs"),
    ],
)
def test_what_the_machine_lacks_is_said_before_anything_runs(course, viva, line, sentence):
    configure(course, line)
    write(course / "source" / "a1" / "a1.ipynb", answer(), graded())
    said = viva("release", "a1", "--no-audit")
    assert said.status == 2 and sentence in said.text.replace("\n", " ")


def zipped(name: str, text: str | bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return data.getvalue()


MORE = "def triple(x):\n    return 3 * x if x > 0 else x"
"""An answer without a marker, which nbgrader clears as a whole."""
LEAKS = {
    "a1.py": "# + [markdown]\n" + SOLUTION,
    "a1.md": SOLUTION,
    "a1.Rmd": SOLUTION,
    "a1.html": f"<pre>{SOLUTION}</pre>",
    "a1.tex": TESTS.replace("#", "\\#"),
    "a1.ipynb.orig": TESTS,
    "a1.ipynb~": SOLUTION,
    "a1.ipynb.bak": SOLUTION,
    ".a1.ipynb.swp": "b0VIM\0\0" + SOLUTION,
    "a1.txt": SOLUTION.encode("utf-16"),
    "sub/notes.txt": TESTS,
    "a1.zip": zipped("a1.ipynb", "{}"),
    "texts.zip": zipped("a.txt", SOLUTION),
    "a1.ipynb.gz": gzip.compress(SOLUTION.encode()),
    ".git/config": "[core]",
    "a1.qmd": "```{python}\n" + MORE + "\n```",
    "a1_export.html": "<pre><span>def</span> triple(x):\n    <span>return</span> 3 * x if x &gt; 0 else x</pre>",
    "again.json": nbformat.writes(new_notebook(cells=[new_code_cell("pass", id="a")])),
    "__pycache__/reference.cpython-311.pyc": b"\xa7\r\r\n",
    "two.zip": zipped("inner.zip", zipped("a.txt", SOLUTION)),
    "a1.zst": b"\x28\xb5\x2f\xfd\x00",
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_file_with_a_solution_in_it_is_not_released(course, viva, name):
    configure(course, "c.CourseDirectory.ignore = ['.ipynb_checkpoints']")
    write(course / "source" / "a1" / "a1.ipynb", answer(), graded(), answer(MORE, "more"))
    path = course / "source" / "a1" / name
    path.parent.mkdir(exist_ok=True)
    content = LEAKS[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = viva("release", "a1", "--no-audit")
    assert said.status == 2 and f"{name} would be released" in said.text.replace("\n", " "), said.text
    assert not (course / "release" / "a1").exists()


def test_harmless_files_are_released_and_listed(course, viva):
    write(course / "source" / "a1" / "a1.ipynb", answer(), graded())
    (course / "source" / "a1" / "data.zip").write_bytes(zipped("data.csv", "1,2"))
    (course / "source" / "a1" / "solution.txt").write_text("A solution of salt.")
    said = viva("release", "a1", "--no-audit")
    assert said.status == 0 and "also released: data.zip, solution.txt" in said.text


def test_a_helper_notebook_in_a_folder_is_said_not_to_be_released(course, viva):
    scaled = SOLUTION.replace("2 * x", "scale * x")
    write(course / "source" / "a1" / "a1.ipynb", cell("run", "%run lib/helpers.ipynb"), answer(scaled), graded())
    (course / "source" / "a1" / "lib").mkdir()
    write(course / "source" / "a1" / "lib" / "helpers.ipynb", new_code_cell("scale = 2", id="scale"))
    said = viva("release", "a1", "--no-audit")
    assert said.status == 1 and "lib/helpers.ipynb was not released, because nbgrader does not release" in said.text


def test_a_known_answer_for_a_cell_that_no_notebook_has_is_an_error_of_the_audit(course, viva):
    write(course / "source" / "a1" / "a1.ipynb", answer(), graded())
    folder = course / "answers" / "a1" / "right"
    folder.mkdir(parents=True)
    (folder / "sum.py").write_text('"""By a sum."""\n\n# %% duoble\n' + RIGHT + "\n")
    said = viva("audit", "a1")
    assert said.status == 1 and "no notebook of the assignment has a cell 'duoble'" in said.text.replace("\n", " ")
    assert "Did you mean 'double'?" in said.text.replace("\n", " ")


def test_feedback_of_a_student_who_was_removed_from_the_gradebook_says_so(course, viva):
    write(course / "source" / "a1" / "a1.ipynb", answer(), graded())
    assert viva("release", "a1", "--no-audit").status == 0
    submit(course, "ada", double=RIGHT)
    submit(course, "ben", double=RIGHT)
    assert viva("grade").status == 0
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.remove_student("ada")
    assert "2 submissions, 1 to grade" in overview(course), "as the other commands say"
    said = viva("feedback")
    assert "MissingEntry" not in said.text
    assert "viva grade a1 --student=ada" in said.text.replace("\n", " ")
    assert (course / "feedback" / "ben" / "a1" / "a1.html").is_file()


def test_the_audit_judges_what_will_be_released(course, viva):
    with_header(course)
    said = viva("audit", "a1")
    assert "does not pass" not in said.text and "NameError" not in said.text
    checks = json.loads((course / "report" / "audit" / "a1.json").read_text())
    assert "test_s" in json.dumps(checks)


def test_submissions_are_graded_as_released_until_the_next_release(course, viva):
    source = course / "source" / "a1" / "a1.ipynb"
    (course / "source" / "a1" / "table.csv").write_text("2")
    reads = SOLUTION.replace("2 * x", "int(open('table.csv').read()) * x")
    write(source, answer(reads), graded())
    assert viva("release", "a1", "--no-audit").status == 0
    kept = [path for path in (course / ".contracts").rglob("*") if path.name != ".gitignore"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600, 0o700}
    submit(course, "ada", double=reads)
    write(source, answer("def double(x):\n    return 5 * x"), graded(TESTS.replace("6", "15")))
    (course / "source" / "a1" / "table.csv").write_text("5")
    said = viva("grade")
    assert scores(course) == {"ada": 2} and "graded as released on" in said.text, said.text
    shutil.rmtree(course / "source" / "a1")
    (course / "source" / "a1").mkdir()
    write(source, answer(reads), graded())
    assert viva("grade", "--force").status == 0
    assert scores(course) == {"ada": 2}


def test_solutions_are_those_of_the_release_with_all_that_the_course_adds(course, viva):
    with_header(course)
    assert viva("release", "a1", "--no-audit").status == 0
    assert "changed" not in viva("release", "a1", "--solutions").text
    footer = course / "source" / "footer.ipynb"
    write(footer, answer("s = 2", "s"), graded("assert s == 2", "test_s", 1))
    write(course / "source" / "a1" / "a1.ipynb", answer("def double(x):\n    return 5 * x"), graded())
    said = viva("release", "a1", "--solutions")
    assert said.status == 0 and "source/ was changed since" in said.text, said.text
    solved = nbformat.read(course / "solutions" / "a1" / "a1.ipynb", as_version=4)
    texts = {each.id: each.source for each in solved.cells}
    assert texts["double"] == "def double(x):\n    return twice(x) + math.floor(0.5)"
    assert texts["test_double"] == "assert double(1) == 2" and texts["s"] == "s = 1" and "h1" in texts


def test_a_course_without_a_contract_gets_one_and_is_told(course, viva):
    with_header(course)
    assert viva("release", "a1", "--no-audit").status == 0
    submit(course, "ada", double=RIGHT, s="s = 1")
    shutil.rmtree(course / ".contracts")
    said = viva("grade")
    assert "made the contract again from source/, release/ and the gradebook" in said.text and scores(course) == {
        "ada": 3
    }
    said = viva("grade", "--force")
    assert "made anew" not in said.text and scores(course) == {"ada": 3}


def test_a_file_for_tests_reaches_no_student_and_no_students_code(course, viva):
    """Expected results lie beside the notebook: a submission that reads them fails, and the tests still find them."""
    configure(course, 'c.TestFiles.names = ["expected*.csv", "reference.py"]')
    folder = course / "source" / "a1"
    (folder / "data").mkdir()
    for name, content in (("expected.csv", "2,6"), ("data/expected_0.csv", "0"), ("data/given.csv", "1,3")):
        (folder / name).write_text(content)
    (folder / "reference.py").write_text("def right(x):\n    return 2 * x\n")
    tests = (
        "given = open('data/given.csv').read().split(',')\nassert len(given) == 2\n### BEGIN HIDDEN TESTS\n"
        "from reference import right\nwanted = open('expected.csv').read().split(',')\n"
        "assert [double(int(x)) for x in given] == [int(x) for x in wanted] == [right(1), right(3)]\n"
        "assert open('data/expected_0.csv').read() == str(double(0))\n### END HIDDEN TESTS"
    )
    write(folder / "book.ipynb", answer(), graded(tests))
    done = viva("release", "a1", "--no-audit")
    assert done.status == 0, done.text
    names = {path.name for path in (course / "release" / "a1").rglob("*") if path.is_file()}
    assert names == {"book.ipynb", "given.csv"} and "expected" not in done.text
    thief = "def double(x):\n    return "
    submit(course, "right", double=RIGHT)
    submit(course, "thief", double=thief + "int(open('expected.csv').read().split(',')[x // 3]) if x else 0")
    submit(course, "forger", double=WRONG)
    (course / "submitted" / "forger" / "a1" / "expected.csv").write_text("3,9")
    forged = course / "submitted" / "forger" / "a1" / ".viva-tests"
    forged.mkdir()
    (forged / "expected.csv").write_text("3,9")
    assert viva("grade").status == 0
    assert scores(course) == {"right": 2, "thief": 0, "forger": 0}
    kept = [path.name for path in (course / "autograded").rglob("*") if "expected" in path.name]
    assert kept == ["expected.csv"], "only the file that was submitted"
    (folder / "expected.csv").write_text("2,7")
    assert "a file is different now" in viva("grade").out
    converter = viva("release", "a1", "--no-audit", "--TestFiles.names=expcted.csv")
    assert converter.status and "no file in" in converter.err


def test_nbgraders_own_command_releases_no_file_for_tests(course):
    configure(course, 'c.TestFiles.names = ["expected.csv"]')
    write(course / "source" / "a1" / "book.ipynb", answer(), graded())
    (course / "source" / "a1" / "expected.csv").write_text("2")
    command = [f"{BIN}/nbgrader", "generate_assignment", "a1"]
    subprocess.run(command, cwd=course, capture_output=True, check=True)
    assert [path.name for path in (course / "release" / "a1").iterdir()] == ["book.ipynb"]


def test_doctor_lists_what_the_release_needs_of_this_machine(course, viva, tmp_path, monkeypatch):
    lib, shared = tmp_path / "lib", tmp_path / "shared"
    lib.mkdir()
    shared.mkdir()
    (lib / "vivaprivate.py").write_text("TWO = 2")
    (course / "source" / "a1" / "beside.py").write_text("import json")
    optional = "try:\n    import vivaoptional\nexcept ImportError:\n    pass"
    given = cell("imports", f"import os, numpy.linalg, nbformat, vivaprivate, beside\n{optional}")
    write(course / "source" / "a1" / "a1.ipynb", given, answer(), graded())
    configure(course, f"c.Machine.folders = [{str(shared)!r}]", 'c.Machine.variables = ["COURSE_DATA"]')
    monkeypatch.setenv("COURSE_DATA", "x")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(lib))
        assert viva("release", "a1", "--no-audit").status == 0
        said = " ".join(viva("doctor", "--run-config").out.split())
        assert "released assignments import: nbformat, numpy, vivaprivate" in said
        assert f"{shared}, which notebooks may read" in said and "MISSING" not in said
    released = nbformat.read(course / "release" / "a1" / "a1.ipynb", as_version=4)
    assert released.metadata.viva.check.packages == {"nbformat": "nbformat"}, "what students may be told to install"
    monkeypatch.delenv("COURSE_DATA")
    shared.rmdir()
    done = viva("doctor", "--run-config")
    said = " ".join(done.out.split())
    assert done.status == 1 and said.count("MISSING") == 3
    assert "vivaprivate, which a1 imports" in said and f"found it in {lib / 'vivaprivate.py'}: install it for" in said
    assert "create the folder, let every user read it" in said and "export COURSE_DATA=VALUE" in said


def test_other_limits_than_those_of_the_release_are_said(course, viva):
    write(course / "source" / "a1" / "a1.ipynb", answer(), graded())
    viva("release", "a1", "--no-audit")
    submit(course, "right", double=RIGHT)
    assert "limit" not in viva("grade").out
    sentence = "a1: released with a limit of 30 s for a cell, and graded with 40 s for a cell."
    assert sentence in viva("grade", "--Execute.timeout=40").out
    assert viva("release", "a1", "--no-audit", "--Execute.timeout=40").status == 0
    assert "limit" not in viva("grade", "--Execute.timeout=40").out


def test_a_graded_notebook_that_another_one_runs_is_the_students_own(course, viva):
    """In stock it is, too, with the hidden tests in it."""
    write(course / "source" / "a1" / "part1.ipynb", answer(), graded())
    four = answer("def four(x):\n    ### BEGIN SOLUTION\n    return double(double(x))\n    ### END SOLUTION", "four")
    write(
        course / "source" / "a1" / "part2.ipynb",
        cell("run", "%run part1.ipynb"),
        four,
        graded("assert four(1) == 4", "t4"),
    )
    said = viva("release", "a1", "--no-audit")
    assert said.status == 0, said.text
    right = "def four(x):\n    return double(double(x))"
    submit(course, "right", double=RIGHT, four=right)
    submit(course, "wrong", double=WRONG, four=right)
    spying = "text = open('part1.ipynb').read()\ndef four(x):\n    return 4 if {} in text else 0"
    submit(course, "spy", double=WRONG, four=spying.format("'double(3) == 6'"))
    submit(course, "copier", double=WRONG, four=spying.format("'return 2 * x'"))
    graded_now = viva("grade")
    assert graded_now.status == 0 and "does not pass" not in graded_now.text, graded_now.text
    assert scores(course) == {"right": 4, "wrong": 0, "spy": 0, "copier": 0}
    (kept,) = (course / "autograded" / "right" / "a1").glob("part1.ipynb")
    assert "double(3) == 6" in kept.read_text(), "what graders see"


def test_nbgraders_own_autograder_reads_what_was_released(course, viva):
    """The notebooks that others run, the files of the release, and none for tests; source/ is another one by now."""
    configure(course, 'c.TestFiles.names = ["expected.csv"]')
    source = course / "source" / "a1"
    (source / "table.csv").write_text("2")
    (source / "expected.csv").write_text("6")
    write(source / "helpers.ipynb", new_code_cell("scale = int(open('table.csv').read())", id="scale"))
    write(source / "part1.ipynb", answer(), graded())
    four = "def four(x):\n    ### BEGIN SOLUTION\n    return double(double(x))\n    ### END SOLUTION"
    hidden = "### BEGIN HIDDEN TESTS\nassert four(1.5) == int(open('expected.csv').read())\n### END HIDDEN TESTS"
    runs = cell("run", "%run part1.ipynb"), cell("help", "%run helpers.ipynb")
    write(source / "a_part2.ipynb", *runs, answer(four, "four"), graded(f"assert four(1) == 2 * scale\n{hidden}", "t4"))
    said = viva("release", "a1", "--no-audit")
    assert said.status == 0, said.text
    right = "def four(x):\n    return double(double(x))"
    submit(course, "right", double=RIGHT, four=right)
    submit(course, "wrong", double=WRONG, four=right)
    submit(course, "thief", double=WRONG, four="def four(x):\n    return int(open('expected.csv').read()) // (2 - x)")
    spying = "text = open('part1.ipynb').read()\ndef four(x):\n    return 4 * x if 'double(3) == 6' in text else 0"
    submit(course, "spy", double=WRONG, four=spying)
    (source / "table.csv").write_text("3")
    (source / "later.csv").write_text("3")
    done = subprocess.run([f"{BIN}/nbgrader", "autograde", "a1"], cwd=course, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert scores(course) == {"right": 4, "wrong": 0, "thief": 0, "spy": 0}
    names = {path.name for path in (course / "autograded" / "right" / "a1").rglob("*")}
    assert names == {"a_part2.ipynb", "helpers.ipynb", "part1.ipynb", "table.csv"}


STUBBED = """
from nbgrader.preprocessors import NbGraderPreprocessor


class GradeStubs(NbGraderPreprocessor):
    def preprocess_cell(self, cell, resources, index):
        if "NotImplementedError" in cell.source:
            cell.metadata.nbgrader.update(grade=True, points=3)
        return cell, resources
"""


def test_points_that_only_the_students_version_has_are_refused_before_anything_is_written(course, viva):
    """A step behind ClearSolutions makes each stub a manually graded cell."""
    (course / "stubsteps.py").write_text(STUBBED)  # Python has loaded the other tests' module
    steps = STEPS.replace("coursesteps", "stubsteps").replace("SetUp", "GradeStubs")
    configure(course, steps.format(root=str(course), at=3, more=""))
    configure(
        course,
        "steps = c.GenerateAssignment.preprocessors",
        "c.GenerateAssignment.preprocessors = [*steps[1:6], steps[0], *steps[6:]]",
    )
    write(course / "source" / "a1" / "a1.ipynb", answer(), graded())
    said = viva("release", "a1", "--no-audit")
    assert said.status == 2 and "'double': its 3 points cannot be graded" in said.err, said.text
    assert "Put that step before ClearSolutions." in said.err and not (course / "release" / "a1").exists()


def test_tests_that_were_released_for_a_second_kernel_are_not_run_in_the_students():
    facts = Facts("ps1", "edition", "2026-11-28T10:00:00+00:00", "cells", "source", apart=["julia"])
    with pytest.raises(CourseError, match="ps1: its tests in julia must run in a second kernel"):
        contract.require_kernels(facts)
