"""What students get of a notebook: nothing of a solution in any part of the file, and nothing computed outside the
sandbox."""

from __future__ import annotations

import json
import logging
import re
import shutil
from pathlib import Path

import nbformat
import nbgrader
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell
from nbgrader.preprocessors import InstantiateTests, instantiatetests

from tests.conftest import load
from tests.handmade import empty_course, marks, write_notebook
from viva.course.releasing.compiler import SandboxedTests, compiled
from viva.course.releasing.release import release
from viva.verdict import CourseError

CANARY = "SECRET42"
TEMPLATES = Path(nbgrader.__file__).parent / "tests" / "apps" / "files" / "autotests.yml"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
PICTURE = {"image/png": "aGVsbG8="}


def answer(source: str, **metadata) -> nbformat.NotebookNode:
    return new_code_cell(source, id="answer", metadata=marks("answer", solution=True) | metadata)


def graded(source: str, **metadata) -> nbformat.NotebookNode:
    about = marks("check", grade=True, locked=True, points=1)
    return new_code_cell(source, id="check", metadata=about | metadata)


@pytest.fixture
def course(tmp_path):
    return empty_course(tmp_path / "course")


def write(root: Path, cells: list, name: str = "ps", **metadata) -> Path:
    return write_notebook(root / "source" / name / "nb.ipynb", *cells, **metadata)


def released(root: Path, name: str = "ps") -> Path:
    opened, config = load(root)
    release(opened, name, config=config)
    return root / "release" / name / "nb.ipynb"


def everywhere(shown: str) -> list:
    """Cells with a canary in every field that is not for students; ``shown`` stands in those that are."""
    odd = {
        "solution": CANARY,
        "widgets": {CANARY: 1},
        "ExecuteTime": {"start": CANARY},
        "jupyter": {"source_hidden": True, CANARY: 1},
        "slideshow": {"slide_type": "slide", "notes": CANARY},
        "viva": {"seconds": 9, "note": CANARY},
        "tags": [shown],
    }
    secret = {f"{CANARY}.png": PICTURE, "kept.png": PICTURE}
    task = f"![task](attachment:kept.png) do\n### BEGIN MARK SCHEME\n<img src='attachment:{CANARY}.png'>\n"
    code = f"### BEGIN SOLUTION\nn = '{CANARY}'\n### END SOLUTION"
    tests = f"assert n\n### BEGIN HIDDEN TESTS\nassert n == '{CANARY}'\n### END HIDDEN TESTS"
    output = new_output("display_data", {"text/plain": CANARY}, metadata={"note": CANARY})
    written = marks("why", grade=True, solution=True, points=1) | odd
    cells = [
        new_markdown_cell("![given](attachment:kept.png)", id="given", metadata=odd, attachments=secret),
        new_raw_cell(shown, id="raw", metadata={"format": "text/html"} | odd, attachments=secret),
        answer(code, **odd),
        graded(tests, **odd),
        new_markdown_cell(f"![x](attachment:{CANARY}.png)", id="why", metadata=written, attachments=secret),
        new_markdown_cell(
            f"{task}### END MARK SCHEME",
            id="task",
            metadata=marks("task", task=True, points=1, locked=True) | odd,
            attachments=secret,
        ),
    ]
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [output], 42
    return cells


@pytest.mark.usefixtures("processes")
def test_nothing_of_a_solution_is_in_any_part_of_the_file(course):
    about = {
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {CANARY: {"value": CANARY}}}},
        "solution": CANARY,
        "kernelspec": KERNEL | {"env": CANARY},
        "language_info": {"name": "python", "note": CANARY},
        "viva": {"seconds": 20, "note": CANARY, "kinds": {CANARY: "any"}},
        "celltoolbar": CANARY,
        "title": CANARY,
    }
    path = write(course, everywhere("for students"), **about)
    assert path.read_text().count(CANARY) > 40
    text = released(course).read_text()
    assert CANARY not in text
    notebook = nbformat.reads(text, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    assert {name for name, cell in cells.items() if cell.get("attachments")} == {"given", "task"}
    assert list(cells["given"].attachments) == list(cells["task"].attachments) == ["kept.png"]
    assert cells["raw"].source == "for students" and cells["raw"].metadata.format == "text/html"
    assert cells["answer"].metadata.tags == ["for students"] and cells["answer"].metadata.jupyter.source_hidden
    assert notebook.metadata.kernelspec == KERNEL and notebook.metadata.viva.seconds == 20
    assert not nbformat.validate(notebook)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("![a](attachment:a%20picture.png)", True),
        ('<img src="attachment:a picture.png" width=20>', True),
        ("[a]: attachment:a%20picture.png", True),
        ("a picture.png", False),
        ("attachment:a%20picture.png2", False),
    ],
)
def test_a_picture_that_the_text_shows_is_kept_however_it_is_written(course, text, kept):
    cell = new_markdown_cell(text, id="text", attachments={"a picture.png": PICTURE})
    write(course, [cell, answer("n = 1"), graded("assert n == 1")])
    notebook = compiled(load(course)[0], "ps", "nb")
    assert bool(next(cell for cell in notebook.cells if cell.id == "text").get("attachments")) == kept


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            [
                new_markdown_cell(
                    "do\n### BEGIN MARK SCHEME\n![m](attachment:m.png)\n### END MARK SCHEME",
                    id="task",
                    metadata=marks("task", task=True, points=1, locked=True),
                    attachments={"m.png": PICTURE},
                )
            ],
            "nb.ipynb, cell 'task': Encountered an attachment in a marking scheme. This can leak",
        ),
        ([new_code_cell("### BEGIN SOLUTION\n1\n### END SOLUTION", id="odd")], "nb.ipynb, cell 'odd': Solution region"),
        ([answer("### BEGIN SOLUTION\n1")], "nb.ipynb, cell 'answer': no end solution statement found"),
        (
            [graded("### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS")],
            "cell 'check': Encountered nested begin hidden tests",
        ),
        (
            [answer("n = 1"), graded("### AUTOTEST n")],
            "nb.ipynb: cannot read or write autotests.yml: No such file or directory",
        ),
    ],
    ids=["a picture in a scheme", "no answer", "no end", "nested", "no templates"],
)
def test_what_a_step_refuses_is_told_with_the_cell_and_the_reason(course, cells, said):
    write(course, cells)
    opened, config = load(course)
    for way in (lambda: release(opened, "ps", config=config), lambda: compiled(opened, "ps", "nb")):
        with pytest.raises(CourseError) as refused:
            way()
        assert said in str(refused.value) and "above traceback" not in str(refused.value)


# AUTOTEST

TESTED = [
    answer("import numpy as np\nn = 3\ntext = 'ab'\nnumbers = [1.5, 2]\narray = np.ones(2)\nmade = {'a': (1, 2)}"),
    graded(
        "import math\n### AUTOTEST n; text\n### HASHED AUTOTEST numbers\n### AUTOTEST made\n"
        "### AUTOTEST array.sum(); round(math.pi, 3)"
    ),
]


@pytest.mark.slow
def test_autotest_lines_become_what_nbgrader_makes_of_them(course, monkeypatch):
    """Its own step, which starts a kernel and leaves its sockets open, on the same notebook."""
    kernels, start = [], instantiatetests.start_new_kernel
    monkeypatch.setattr(
        instantiatetests, "start_new_kernel", lambda **known: kernels.append(start(**known)) or kernels[-1]
    )
    path = write(course, TESTED)
    shutil.copy(TEMPLATES, path.parent)
    resources = {"metadata": {"path": str(path.parent)}}
    made = []
    for step in (InstantiateTests, SandboxedTests):
        notebook = nbformat.read(path, as_version=4)
        made.append(step(log=logging.getLogger("test")).preprocess(notebook, dict(resources))[0].cells[1].source)
    ((manager, client),) = kernels
    client.stop_channels()
    manager.cleanup_resources()
    assert made[0] == made[1] and made[0].count("assert") > 5


REACH = """
import os, socket
from pathlib import Path
reached = []
def look():
    attempts = {{
        "a file": lambda: Path({secret!r}).read_text(),
        "the course": lambda: Path({course!r}, "nbgrader_config.py").read_text(),
        "writing": lambda: Path({course!r}, "planted").write_text("x"),
        "the environment": lambda: os.environ["VIVA_TEST_TOKEN"],
        "the network": lambda: socket.create_connection(("127.0.0.1", {port}), 1).close(),
        "a program": lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {{}}), 0),
    }}
    for what, attempt in attempts.items():
        try:
            attempt()
            reached.append(what)
        except (OSError, KeyError):
            pass
look()
"""


@pytest.fixture
def hostile(course, tmp_path, monkeypatch):
    """A stranger's notebook, whose code looks around wherever it runs, and whose test is that nothing is in reach."""
    import socket

    monkeypatch.setenv("VIVA_TEST_TOKEN", "x")
    secret = tmp_path / "secret"
    secret.write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        look = REACH.format(port=server.getsockname()[1], secret=str(secret), course=str(course))
        given = new_code_cell(look, id="given", metadata=marks("given", locked=True))
        solution = answer("### BEGIN SOLUTION\nlook()\nfound = list(reached)\n### END SOLUTION")
        test = graded("### CHECK 1: nothing is in reach\nlook()\nassert found + reached == []")
        folder = tmp_path / "stranger" / "ps"
        write(tmp_path / "stranger", [given, solution, test])
        (tmp_path / "stranger" / "source" / "ps").rename(folder)
        yield folder / "nb.ipynb"


@pytest.mark.slow
def test_what_a_strangers_notebook_runs_when_it_is_adopted_runs_in_the_sandbox(course, hostile, viva):
    notebook = nbformat.read(hostile, as_version=4)
    notebook.cells[-1].source = "### AUTOTEST sorted(found + reached)"
    nbformat.write(notebook, hostile)
    shutil.copy(TEMPLATES, hostile.parent)
    said = viva("adopt", str(hostile))
    assert said.status == 0, said.text
    locked: dict[str, str] = {}
    compiled(load(course)[0], "ps", "nb", locked)
    assert "[]" in locked["check"] and "a file" not in locked["check"]
    assert not (course / "planted").exists()


@pytest.mark.usefixtures("processes")
def test_what_a_strangers_notebook_runs_when_it_is_released_or_audited_runs_in_the_sandbox(course, hostile, viva):
    assert viva("adopt", str(hostile)).status == 0
    said = viva("release", "--no-audit", "ps")
    assert said.status == 0, said.text
    said = viva("audit", "ps")
    assert "ps  " in said.out and "the solution fails checks" not in said.out, said.text
    assert not (course / "planted").exists()


@pytest.mark.slow
def test_without_the_sandbox_it_reaches_all_that(course, hostile, viva):
    """So that the test above can fail; what it plants lies in the test's own folder."""
    assert viva("adopt", str(hostile)).status == 0
    said = viva("release", "--no-audit", "--no-sandbox", "ps")
    assert said.status == 1 and "ps/nb.ipynb: the solution does not pass the cell 'check'" in said.err
    assert (course / "planted").exists()


@pytest.mark.slow
def test_a_strangers_template_runs_nothing_in_the_command_itself(course):
    path = write(course, [answer("n = 3"), graded("### AUTOTEST n")])
    escape = "{{ snippet.__class__.__mro__[1].__subclasses__() }}"
    text = TEMPLATES.read_text().replace('dispatch: "type({{snippet}})"', f'dispatch: "{escape}"')
    assert escape in text
    (path.parent / "autotests.yml").write_text(text)
    with pytest.raises(CourseError, match="cell 'check': access to attribute '__class__' of 'str' object is unsafe"):
        compiled(load(course)[0], "ps", "nb")


@pytest.mark.slow
def test_autotest_lines_that_cannot_be_computed_are_told_with_their_cell(course):
    path = write(course, [answer("n = 3"), graded("### AUTOTEST missing")])
    shutil.copy(TEMPLATES, path.parent)
    with pytest.raises(CourseError, match="cell 'check': the code above that cell raises NameError: name 'missing'"):
        compiled(load(course)[0], "ps", "nb")


def test_a_link_in_the_source_that_leads_out_of_it_is_not_released(course, tmp_path):
    path = write(course, [answer("n = 3"), graded("assert n == 3")])
    (tmp_path / "letter").write_text("private")
    (path.parent / "data.csv").symlink_to(tmp_path / "letter")
    opened, config = load(course)
    with pytest.raises(CourseError, match=r"data\.csv is a link to .*letter. That file is outside"):
        release(opened, "ps", config=config)
    assert not (course / "release" / "ps").exists()


@pytest.mark.usefixtures("processes")
def test_what_the_solution_does_not_pass_is_told_at_release_with_the_reason_and_status_1(course, viva):
    tests = "### CHECK 1: three\nassert n == 3\n### CHECK 1: four\nassert n == 4, 'n is not four'"
    cells = [answer("### BEGIN SOLUTION\nn = 3\n### END SOLUTION"), graded(tests)]
    cells[1].metadata.nbgrader["points"] = 2
    write(course, cells)
    said = viva("release", "--no-audit", "ps")
    assert said.status == 1
    assert "ps/nb.ipynb: the solution does not pass the cell 'check', check 'four': n is not four" in said.err
    assert "'three'" not in said.err
    document = json.loads(viva("release", "--no-audit", "--json", "ps").out)
    assert len(document["released"][0]["not_passed"]) == 1


FAILING = {
    "another notebook writes the file": (
        [answer("text = open('out.csv').read()"), graded("assert text == 'x'")],
        "in the cell 'answer', the file 'out\\.csv' does not exist\\. first\\.ipynb uses this file too\\. "
        "But each notebook is graded in its own folder, without the files that another notebook "
        "wrote\\. Put it into /.*/ps, unless",
    ),
    "nobody writes the file, and NumPy says so": (
        [answer("n = 1"), graded("import numpy as np\nassert np.loadtxt('data/x.txt') == n")],
        r"the file 'data/x\.txt' does not exist\. Put it into /.*/ps, unless students submit it",
    ),
    "an answer fails, and a cell below it on purpose": (
        [
            answer("model = missing + 1"),
            new_code_cell("1 / 0\nmodel = None", id="lesson"),
            graded("assert model == 2"),
        ],
        "in the cell 'answer', NameError: name 'missing' is not defined",
    ),
    "a mock does not find a file": (
        [
            answer("def text(read): return read('x.csv')"),
            graded(
                "from unittest import mock\ntext(mock.Mock(side_effect=FileNotFoundError(2, 'no such file', 'x.csv')))"
            ),
        ],
        r"FileNotFoundError: \[Errno 2\] no such file: 'x\.csv'$",
    ),
    "an error in one process": (
        [answer("class A:\n  def __enter__(self): raise KeyError('own')\n  __exit__ = 1"), graded("with A(): pass")],
        r"KeyError: 'own'",
    ),
    "a wrong answer whose source cannot be read in two": (
        [answer("def f(): return 2"), graded("import inspect\nassert '3' in inspect.getsource(f), 'not three'")],
        r"not three",
    ),
}


@pytest.mark.parametrize("why", FAILING)
@pytest.mark.usefixtures("processes")
def test_the_reason_why_the_solution_does_not_pass_is_the_one_in_one_process(course, why):
    cells, said = FAILING[why]
    first = write(course, [answer("open('out.csv', 'w').write('x')\nn = 1"), graded("assert n == 1")])
    first.rename(first.with_name("first.ipynb"))
    write(course, cells)
    opened, config = load(course)
    (sentence,) = release(opened, "ps", config=config, unproven=True).not_passed
    assert re.fullmatch(rf"nb\.ipynb: the solution does not pass the cell 'check': {said}.*", sentence)


@pytest.mark.usefixtures("processes")
def test_only_of_cells_with_hidden_lines_it_is_said_that_students_can_read_these(course):
    hidden = "\n### BEGIN HIDDEN TESTS\nassert n == 1\n### END HIDDEN TESTS"
    tests = "import mine\nassert mine.n == n"
    for name, more in (("bare", ""), ("full", hidden)):
        write(course, [answer("n = 1"), graded(tests + more)], name)
        opened, config = load(course)
        said = " ".join(release(opened, name, config=config, unproven=True).remarks)
        assert "single-process cell: the module 'mine' is not installed, and no file of that name lies beside" in said
        assert ("Student code can read its hidden lines and change its result" in said) == bool(more)


@pytest.mark.usefixtures("processes")
def test_a_kernel_whose_language_is_called_python3_is_python_and_tests_without_an_answer_cell_are_named(course, viva):
    cells = [new_code_cell("n = 1", id="open"), graded("assert n == 1")]
    write(course, cells, kernelspec=KERNEL | {"language": "python3"})
    said = viva("release", "--no-audit", "ps")
    assert said.status == 0, said.text
    assert "ps: nb.ipynb has test cells but no answer cell. Make the cells that students write answer cells" in said.out
    notebook = nbformat.read(course / "release" / "ps" / "nb.ipynb", as_version=4)
    assert notebook.metadata.kernelspec.language == "python" and notebook.metadata.viva.check.cells
    write(course, [answer("n = 1"), graded("assert n == 1")])
    assert "no answer cell" not in viva("release", "--no-audit", "ps").out
