from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nbformat
import nbgrader
import pytest

from tests.conftest import PROJECT, load
from viva.engine.blueprint import read_blueprint, read_notebook
from viva.verdict import CourseError
from viva_audit.adoption import adopt

NBGRADER = Path(nbgrader.__file__).parent
EXAMPLE = NBGRADER / "docs" / "source" / "user_guide" / "source" / "ps1"
OLD = NBGRADER / "tests" / "apps" / "files"


@pytest.fixture
def course(tmp_path):
    root = tmp_path / "course"
    (root / "source").mkdir(parents=True)
    shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    return root


@pytest.fixture
def found(tmp_path):
    """A folder with one notebook, changed, and nothing else."""

    def make(name="test-v1.ipynb", change=lambda notebook: None):
        folder = tmp_path / "squares"
        folder.mkdir()
        notebook = json.loads((OLD / name).read_text(encoding="utf-8"))
        change(notebook)
        (folder / "squares.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        return folder / "squares.ipynb"

    return make


def sources(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


@pytest.mark.slow
def test_nbgraders_own_example_is_adopted_with_its_picture_and_its_points(course, viva):
    said = viva("adopt", str(EXAMPLE / "problem1.ipynb"))
    assert said.status == 0, said.err
    path = course / "source" / "ps1" / "problem1.ipynb"
    assert f"written: {path}\nwritten: {path.parent / 'jupyter.png'}\n" in said.out
    assert "Adopt the other notebooks in its folder one by one: problem2.ipynb." in said.out
    assert re.search(r"- Cells 'correct_squares' and '\w+': students see the id of these cells", said.out)
    assert "- Cell 'cell-938593c4a215c6cc': this id says nothing about the cell" in said.out
    assert "- Cell 'jupyter': the picture 'jupyter.png' has no text for blind readers (alt text)." in said.out
    assert "- The audit has no right answer for 'squares', 'sum_of_squares'. Write" in said.out
    assert "- The audit has no wrong answer for 'squares', 'sum_of_squares'. Write" in said.out
    assert said.out.endswith("Then run: viva audit ps1\n")

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.read_text(encoding="utf-8").endswith("}\n")
    assert sources(path) == sources(EXAMPLE / "problem1.ipynb")
    for cell in notebook.cells:
        assert cell.id == cell.metadata.get("nbgrader", {}).get("grade_id", cell.id)
    assert [cell.id for cell in notebook.cells][:4] == ["jupyter", "part_a", "squares", "text_4"]
    assert read_blueprint(path).points == 10

    said = viva("adopt", str(EXAMPLE / "problem2.ipynb"))
    assert said.status == 0
    assert said.out.count("written: ") == 1

    said = viva("release", "--no-audit", "ps1")
    assert said.status == 0, said.text
    assert (course / "release" / "ps1" / "jupyter.png").is_file()


@pytest.mark.parametrize("name", ["test-v0.ipynb", "test-v1.ipynb", "test-v2.ipynb"])
def test_an_old_schema_becomes_todays(course, found, name):
    adopted = adopt(load(course)[0], found(name))
    notebook = nbformat.read(adopted.written[0], as_version=4)
    versions = {cell.metadata.nbgrader.schema_version for cell in notebook.cells if "nbgrader" in cell.metadata}
    assert (notebook.nbformat_minor, versions) == (5, {3})
    assert read_blueprint(adopted.written[0]).points == 6
    assert {cell.id for cell in read_blueprint(adopted.written[0]).cells if cell.purpose == "answer"} == {
        "squares",
        "sum_of_squares",
    }


@pytest.mark.parametrize(("text", "points"), [("1", 1), (" 2.0", 2), ("2.5", 2.5)])
def test_points_that_are_a_text_become_a_number(course, found, text, points):
    def change(notebook):
        notebook["cells"][5]["metadata"]["nbgrader"]["points"] = text

    adopted = adopt(load(course)[0], found("test-v2.ipynb", change))
    cell = read_notebook(adopted.written[0]).cells[5]
    assert cell.metadata.nbgrader.points == points and type(cell.metadata.nbgrader.points) is type(points)
    (said,) = (sentence for sentence in adopted.changes if "points" in sentence)
    assert said == f"The points of '{cell.id}' were the text \"{text}\". They are a number now."


@pytest.mark.parametrize("text", ["", "two", "nan", "inf"])
def test_points_that_no_number_can_be_read_from_are_refused(course, found, text):
    def change(notebook):
        notebook["cells"][5]["metadata"]["nbgrader"]["points"] = text

    with pytest.raises(CourseError, match=r"adopted: cell '\w+': points: '\w*' is not of type 'number'"):
        adopt(load(course)[0], found("test-v2.ipynb", change))


def test_adopting_twice_gives_the_same_bytes(course, found):
    path, loaded = found(), load(course)[0]
    one, two = adopt(loaded, path, "one"), adopt(loaded, path, "two")
    assert one.written[0].read_bytes() == two.written[0].read_bytes()


def test_outputs_and_traces_of_other_programs_go_and_autotest_lines_stay(course, found):
    def change(notebook):
        notebook["metadata"]["widgets"] = {"state": {}}
        notebook["metadata"]["viva"] = {"seconds": 5}
        notebook["cells"][2]["metadata"]["ExecuteTime"] = {"start_time": "now"}
        notebook["cells"][2]["metadata"]["nbgrader"]["checksum"] = "0123"
        notebook["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "old"}]
        notebook["cells"][5]["source"] += ["\n", "### AUTOTEST squares(3)"]

    adopted = adopt(load(course)[0], found(change=change))
    text = adopted.written[0].read_text(encoding="utf-8")
    for trace in ("widgets", "ExecuteTime", "checksum", '"old"', "collapsed"):
        assert trace not in text
    assert "### AUTOTEST squares(3)" in text
    assert nbformat.read(adopted.written[0], as_version=4).metadata.viva == {"seconds": 5}
    assert "The outputs of earlier runs were cleared." in adopted.changes
    assert any("autotests.yml" in sentence for sentence in adopted.missing)


def test_cells_that_the_course_puts_around_a_notebook_are_left_out(course, found):
    header = json.loads((PROJECT / "source" / "header.ipynb").read_text(encoding="utf-8"))["cells"]

    def change(notebook):
        notebook["cells"] = [{**header[1], "id": "name"}, *notebook["cells"]]
        notebook["nbformat_minor"] = 5
        for place, cell in enumerate(notebook["cells"]):
            cell["id"] = ("name", "before_you_start")[place] if place < 2 else f"{place:08x}"

    adopted = adopt(load(course)[0], found(change=change))
    assert "Cells that are also in the course's header were removed." in adopted.changes
    notebook = nbformat.read(adopted.written[0], as_version=4)
    assert notebook.cells[0].id == "jupyter"
    assert not {cell.id for cell in notebook.cells} & {cell["id"] for cell in header}


def test_grade_ids_that_cannot_be_ids_of_cells_are_changed_and_named(course, found):
    def change(notebook):
        notebook["cells"][2]["metadata"]["nbgrader"]["grade_id"] = "squares of numbers"
        notebook["cells"][6]["metadata"]["nbgrader"]["grade_id"] = "correct_squares"

    adopted = adopt(load(course)[0], found(change=change))
    assert "The grade id 'squares of numbers' was changed to 'squares_of_numbers', because" in adopted.changes[0]
    assert adopted.changes[0].endswith("because an id can have letters, digits, _ and -.")
    assert "The grade id 'correct_squares' was changed to 'correct_squares_2', because" in adopted.changes[1]
    assert adopted.changes[1].endswith("because two cells had this id.")


def test_that_an_assignment_has_a_notebook_more_now_is_said(course, found):
    path = found()
    adopt(load(course)[0], path)
    second = adopt(load(course)[0], path.rename(path.with_name("second.ipynb")))
    assert any(
        "The notebook was added to the assignment squares, which also has squares.ipynb." in change
        for change in second.changes
    )


def test_a_students_version_is_recognised(course, found):
    def change(notebook):
        notebook["cells"][2]["source"] = [
            "def squares(n):\n",
            "    # YOUR CODE HERE\n",
            "    raise NotImplementedError()",
        ]
        notebook["cells"][8]["source"] = ["def sum_of_squares(n):\n", "    return 1"]

    adopted = adopt(load(course)[0], found(change=change))
    missing = [adopted.missing[0], *adopted.advice]
    assert missing[0].startswith("Cell 'squares' has no solution. If this is the student version, adopt")
    assert missing[1].startswith("Cell 'sum_of_squares' has no line '### BEGIN SOLUTION'")


def test_links_become_copies_and_what_is_the_instructors_own_stays_away(course, found, tmp_path):
    path = found()
    (path.parent / "data").mkdir()
    (path.parent / "first.csv").write_text("1,2\n")
    (path.parent / "data" / "table.csv").symlink_to(path.parent / "first.csv")
    (path.parent / "data" / "round").symlink_to(path.parent)
    (path.parent / "gone.csv").symlink_to(tmp_path / "nothing")
    for name in ("gradebook.db", ".secret", "nbgrader_config.py", "other.ipynb"):
        (path.parent / name).write_text("mine")

    adopted = adopt(load(course)[0], path)
    copy = course / "source" / "squares" / "data" / "table.csv"
    assert adopted.written[1:] == [copy, course / "source" / "squares" / "first.csv"]
    assert copy.read_text() == "1,2\n" and not copy.is_symlink()
    assert f"data/table.csv was a link to {path.parent / 'first.csv'}; it was replaced by a copy." in adopted.changes
    assert "gone.csv is a broken link and was skipped." in adopted.changes


@pytest.mark.parametrize("name", ["data.csv", "data", "deep/data"])
def test_a_link_out_of_the_notebooks_folder_is_refused_as_it_would_be_released(course, found, tmp_path, name):
    path = found()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("private")
    link = path.parent / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "home" / ("letter" if name == "data.csv" else ""))
    with pytest.raises(CourseError, match=r"is a link to .*home.*. That file is outside the notebook's folder"):
        adopt(load(course)[0], path)
    assert not (course / "source" / "squares").exists()


@pytest.mark.parametrize("place", [".", ".."])
def test_a_notebook_that_lies_beside_the_course_comes_without_the_courses_own_files(course, found, place):
    path = found().rename(course / place / "squares.ipynb")
    (course / "answers" / "squares" / "right").mkdir(parents=True)
    (course / "answers" / "squares" / "right" / "loops.py").write_text("a solution\n")
    adopted = adopt(load(course)[0], path, "squares")
    folder = course / "source" / "squares"
    assert adopted.written == [folder / "squares.ipynb"]
    assert list(folder.iterdir()) == adopted.written
    said = (
        "Only the notebook was copied, because its folder contains this course. Copy the other files that it needs "
        f"into {folder}."
    )
    assert said in adopted.changes


def test_the_folder_of_a_notebook_one_level_up_gives_the_name(course, found, monkeypatch):
    notebook = found()
    (notebook.parent / "inner").mkdir()
    monkeypatch.chdir(notebook.parent / "inner")
    assert adopt(load(course)[0], Path("..", notebook.name)).assignment == notebook.parent.name


def test_nothing_is_overwritten(course, found, viva):
    path = found()
    assert viva("adopt", str(path)).status == 0
    said = viva("adopt", str(path))
    assert said.status == 2 and "squares.ipynb exists already; nothing was written" in said.err
    path.rename(path.with_name("more.ipynb"))
    path.with_name("data.txt").write_text("new")
    (course / "source" / "squares" / "data.txt").write_text("old")
    said = viva("adopt", str(path.with_name("more.ipynb")))
    assert said.status == 2 and "data.txt exists already; nothing was written" in said.err
    assert not (course / "source" / "squares" / "more.ipynb").exists()
    assert viva("adopt", "--as=ps9_more", str(path.with_name("more.ipynb"))).status == 0
    assert (course / "source" / "ps9_more" / "data.txt").read_text() == "new"


@pytest.mark.usefixtures("processes")
def test_a_notebook_of_the_course_is_corrected_in_place_and_the_old_one_is_kept_each_time(course, found, viva):
    path = course / "source" / "squares" / "squares.ipynb"
    path.parent.mkdir()
    shutil.copy(found("test.ipynb"), path)
    before = path.read_text().replace('"points": 1.0', '"points": "1.0"')
    path.write_text(before)
    said = viva("release", "squares")
    assert said.status and f"viva adopt --in-place {path}" in said.out + said.err
    assert "Traceback" not in said.out + said.err
    assert f"viva adopt --in-place {path}" in viva("adopt", str(path)).err
    for backup, old in (("squares.ipynb", before), ("squares.ipynb", before), ("squares1.ipynb", f"{before}\n")):
        path.write_text(old)
        said = viva("adopt", "--in-place", str(path))
        assert said.status == 0 and "were the text" in said.out
        assert (course / "backup" / "squares" / backup).read_text() == old
    path.write_text(before)
    assert viva("adopt", "--in-place", str(path)).status == 0
    said = viva("adopt", "--in-place", str(path))
    assert "No change was needed." in said.out
    assert not (course / "backup" / "squares" / "squares3.ipynb").exists()


def test_a_notebook_outside_of_the_course_is_not_corrected_in_place(course, found, viva):
    path = found()
    before = path.read_text()
    said = viva("adopt", "--in-place", str(path))
    assert said.status == 2 and "is not in the course's source folder" in said.err
    assert path.read_text() == before


def in_r(notebook):
    kernel = {"name": "ir", "display_name": "R", "language": "R"}
    language = {"name": "R", "file_extension": ".r", "codemirror_mode": "r"}
    notebook["metadata"] |= {"kernelspec": kernel, "language_info": language}


def test_a_notebook_in_another_language_of_an_old_nbgrader_keeps_its_kernel(course, found):
    adopted = adopt(load(course)[0], found("test-v1.ipynb", in_r))
    notebook = nbformat.read(adopted.written[0], as_version=4)
    assert notebook.metadata.kernelspec.name == "ir" and notebook.metadata.language_info.name == "R"
    assert any(sentence.endswith("/right/<name>.r.") for sentence in adopted.advice)
    kinds = {cell.metadata.nbgrader.schema_version for cell in notebook.cells if "nbgrader" in cell.metadata}
    assert kinds == {3}


def without_cells(notebook):
    notebook["cells"] = [{"cell_type": "markdown", "metadata": {}, "source": []}]


def without_points(notebook):
    del notebook["cells"][5]["metadata"]["nbgrader"]["points"]


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("test-v1.ipynb", without_cells, "is not an nbgrader source notebook: it has no answer, test or task."),
        ("test-v1.ipynb", without_points, "does not have points"),
        ("too-new.ipynb", lambda notebook: None, "Schema version is too new"),
    ],
)
def test_what_cannot_be_adopted_is_refused_in_a_sentence(course, found, name, change, sentence):
    with pytest.raises(CourseError, match=sentence):
        adopt(load(course)[0], found(name, change))
    assert not (course / "source" / "squares").exists()


def test_a_request_that_cannot_be_met_is_answered_in_a_sentence(course, found, viva, tmp_path):
    broken = tmp_path / "broken.ipynb"
    broken.write_text("{")
    path = found()
    for arguments, sentence in (
        ([], "Name one notebook"),
        ([str(tmp_path / "none.ipynb")], "does not exist"),
        ([str(broken), "--as=ps99"], "is not a notebook"),
        ([str(path), "--as=a b"], "is not a valid assignment name"),
    ):
        said = viva("adopt", *arguments)
        assert said.status == 2 and sentence in said.err and "Traceback" not in said.text
    for number in range(101):
        (path.parent / f"{number}.csv").touch()
    said = viva("adopt", str(path))
    assert said.status == 2 and "Move the notebook and the files that it needs into a new folder" in said.err
