"""results.json, made of what came of a submission."""

from __future__ import annotations

import json

import msgspec
import nbformat
import pytest

from plugins.gradescope.tests.conftest import RIGHT, TESTS
from tests.conftest import load
from tests.course.regrade.test_regrading import TINY
from viva.course.examining.rehearsals import Rehearsals
from viva.course.gradebook import releases
from viva.course.grading.pipeline import Passed, grade
from viva.submission.packing import pack
from viva.submission.submission import Submission
from viva.verdict import Verdict
from viva_gradescope.bundle import SOURCE, read_material
from viva_gradescope.resultsjson import AGAIN, LONGEST, WITHHELD, results

pytestmark = pytest.mark.xdist_group("gradescope")


@pytest.fixture(scope="module")
def source(tiny):
    return tiny.place / "source" / SOURCE


@pytest.fixture(scope="module")
def material(tiny, source, grader):
    material = read_material(tiny.place / "source")
    material.rehearse(source, grader, Rehearsals())
    return material


@pytest.fixture
def graded(tiny, material, grader, tmp_path, without):
    def graded(**cells: str) -> Passed:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        nbformat.write(tiny.notebook(**cells), folder / "tiny.ipynb")
        package = pack(Submission(TINY, "student", folder))
        shown, passed = (
            msgspec.msgpack.decode(grade(package, known, grader), type=Passed)
            for known in (material.without_hidden_lines(), material)
        )
        without[id(passed)] = shown
        return passed

    return graded


@pytest.fixture
def without():
    """By id of what came of a submission: what came of it without hidden lines."""
    return {}


@pytest.fixture
def told(tiny, material, source, without):
    def told(passed: Passed, **settings: object) -> dict:
        known = msgspec.structs.replace(tiny.bundle.settings, **settings)
        return results(passed, without[id(passed)], material, source, known, "Protection: all of it.")

    return told


def test_a_check_that_is_ungraded_costs_nothing_as_there_is_no_score_at_all(graded, told):
    passed = graded(double=RIGHT)
    assert told(passed)["score"] == 6
    passed.record.notebooks["tiny"].checks["test_double"][1].verdict = Verdict.UNGRADED
    document = told(passed)
    assert document.keys() == {"output", "visibility", "stdout_visibility"}
    assert document["output"] == AGAIN


@pytest.mark.parametrize(
    "answer",
    [
        "def double(x):\n    raise ValueError(f'no {x}') if x != 2 else None",
        "def double(x):\n    print(x)\n    return x",
        "seen = []\n\n\ndef double(x):\n    seen.append(x)\n    return str(seen)",
        "def double(x):\n    return 4",
        "def double(x):\n    import os\n    os._exit(0)",
    ],
    ids=["raises", "prints", "remembers", "wrong", "dies"],
)
def test_no_hidden_line_and_no_hidden_number_reaches_a_student(tiny, graded, told, answer):
    document = told(graded(double=answer))
    for hidden in ("4711", "9422", "unexpected", "double(-1)", "== -2", "HIDDEN"):
        assert hidden not in json.dumps(document)
    assert "9422" in (tiny.place / "source" / SOURCE / f"{TINY}.ipynb").read_text(), "so there was one to find"


KEEPS = """kept = []


def double(x):
    kept.append(int(4 * x))
    {}
    return 2 * x"""


@pytest.mark.parametrize(
    "carried",
    [
        "if x == 3:\n        raise ValueError(' '.join(map(hex, kept)))",
        "print(' '.join(map(hex, kept)))",
        "assert x != 3, ' '.join(map(hex, kept))",
        "if x == 3:\n        raise type('_'.join(map(hex, kept)), (ValueError,), {})",
        "if x == 4711.25:\n        raise ValueError(' '.join(map(hex, kept)))",
    ],
    ids=["raises", "prints", "asserts", "names its exception", "raises in the hidden check"],
)
def test_what_a_hidden_check_called_a_function_with_is_not_told_by_a_visible_check_below(graded, told, carried):
    passed, kept = graded(double=KEEPS.format(carried)), hex(4 * 4711 + 1)
    assert kept in str(passed.record), "so there was something to tell"
    document = told(passed)
    assert kept not in json.dumps(document)
    assert len(document["tests"]) == 5 and 4 <= document["score"] <= 6, "the score is that of all checks"


def test_the_message_of_a_visible_check_below_hidden_ones_is_told_as_without_them(graded, told):
    wrong = "def double(x):\n    if x == 0:\n        raise ValueError(f'no {x}')\n    return 2 * x"
    (*_, below, _) = told(graded(double=wrong))["tests"]
    assert "ValueError: no 0" in below["output"] and "line 3" in below["output"]
    (*_, below, _) = told(graded(double="def double(x):\n    return 4"))["tests"]
    assert "Twice three is six." in below["output"]


def test_of_what_only_hidden_lines_show_nothing_is_told_that_the_students_code_chose(graded, told):
    words = "def double(x):\n    if x == -1:\n        raise KeyError('a string of my own')\n    return 2 * x"
    (hidden,) = [one for one in told(graded(double=words))["tests"] if one["name"].endswith("minus one")]
    assert hidden["output"] == "error: the code raised an error\nYour code stopped with an exception."


def test_hidden_checks_are_shown_when_the_instructor_says(graded, told):
    tests = told(graded(double=RIGHT), hidden_checks="after_published")["tests"]
    assert [test["visibility"] for test in tests] == [
        *("visible", "after_published", "after_published", "visible"),
        "visible",
    ]


def test_where_a_hidden_line_stands_in_what_is_told_all_of_it_is_left_out_but_the_score(graded, told):
    passed = graded(double="def double(x):\n    return 4")
    (result,) = [one for one in passed.record.notebooks["tiny"].checks["test_double"] if one.title == "minus one"]
    result.title = "minus one: unexpected = double(4711.25)"
    result.reason, result.verdict, result.raised_by = "unexpected = double(4711.25)", Verdict.FAILED, "test"
    assert "4711" not in str([test["output"] for test in told(passed)["tests"]])
    result = passed.record.notebooks["tiny"].checks["test_double"][0]
    line = "unexpected = double(4711.25)"
    assert line in TESTS
    result.undone = [line]
    document = told(passed)
    assert {test["output"] for test in document["tests"]} == {WITHHELD}
    assert document["score"] == 1


def test_what_a_student_prints_and_names_is_plain_text_of_limited_length(graded, told):
    noisy = "def double(x):\n    print('\\x1b[31m' + 'e' * 100_000)\n    return 5"
    document = told(graded(double=noisy))
    (first, *_) = document["tests"]
    assert "\x1b" not in first["output"] and "Your code printed:" in first["output"]
    assert len(first["output"]) <= LONGEST


def test_a_notebook_that_was_not_handed_in_scores_nothing(graded, told, material):
    passed = graded(double=RIGHT)
    both = {"tiny": material.expected.notebooks["tiny"], "second": material.expected.notebooks["tiny"]}
    material.expected.notebooks = both
    try:
        document = told(passed)
    finally:
        material.expected.notebooks = {"tiny": both["tiny"]}
    (missing,) = [test for test in document["tests"] if test["name"] == "second.ipynb"]
    assert (missing["score"], missing["max_score"], missing["status"]) == (0, 8, "failed")
    assert document["score"] == 6 and [test["number"] for test in document["tests"][:2]] == ["1", "2.1.1"]


def test_what_was_repaired_is_told_to_the_student(tiny, graded, told):
    notebook = tiny.notebook(double=RIGHT)
    assert notebook.cells
    passed = graded(test_double="assert True", double=RIGHT)
    assert "The test cell 'test_double' was edited; the released text was restored" in told(passed)["output"]


def test_the_material_of_a_bundle_is_that_of_the_course(tiny, material):
    course, config = load(tiny.root)
    assert material.files == {"table.csv": b"1,2\n"}
    assert set(material.expected.notebooks) == releases.notebooks(course, TINY)
    assert material.config.Execute.timeout == config.Execute.timeout == 30
    assert material.forms.codes.keys() == {"NAME", "COLLABORATORS"}
