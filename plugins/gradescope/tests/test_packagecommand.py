"""`viva package gradescope` on a real course: what it says, writes and refuses."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest

from tests.course.regrade.test_regrading import TINY

pytestmark = pytest.mark.xdist_group("gradescope")


@pytest.fixture
def course(founded, tmp_path):
    return shutil.copytree(founded, tmp_path / "course", ignore=shutil.ignore_patterns("submitted", "autograded"))


def names(course) -> set[str]:
    return {path.name for path in course.iterdir()} - {"gradebook.db.lock"}


@pytest.mark.slow
def test_it_is_tried_said_and_written(course, viva):
    before = names(course)
    tried = viva("package", "gradescope", TINY, "--dry-run")
    assert (tried.status, names(course)) == (0, before)
    assert "The zip was tested: the released notebook earns 0 of 6 points." in tried.out
    assert "Nothing was written. Run the same command without --dry-run to write it." in tried.out
    done = viva("package", "gradescope", "ti", "--visibility=after_published", "--json")
    document = json.loads(done.out)
    path = course / "tiny-gradescope.zip"
    assert (done.status, names(course)) == (0, before | {path.name})
    assert path.stat().st_mode & 0o777 == 0o600 and path.stat().st_size == document["bytes"]
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == document["files"]
    assert (document["automatic_points"], document["manual_points"], document["dry_run"]) == (6, 2, False)
    assert document["trial"]["score"] == 0
    assert [test["visibility"] for test in document["trial"]["tests"]][1:3] == ["after_published"] * 2
    assert "It contains solutions and hidden tests. Upload it, and do not share it" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name the system and one assignment, as in: viva package gradescope"),
        ([TINY], "Name the system and one assignment"),
        (["gradescop", TINY], "Name the system and one assignment"),
        (["gradescope", "other"], "There is no assignment 'other'"),
        (["gradescope", TINY, "--visibility=never"], "not one of Gradescope's visibilities"),
        (["gradescope", TINY, "--to=source"], "is a folder. Nothing was written"),
        (["gradescope", TINY, "--to=no/where.zip"], "is in a folder that does not exist"),
    ],
)
def test_what_cannot_be_packed_is_refused_in_a_sentence(course, viva, arguments, said):
    before = names(course)
    result = viva("package", *arguments)
    assert (result.status, result.out, said in result.err, names(course)) == (2, "", True, before)
    assert "Traceback" not in result.err


def test_a_bundle_that_cannot_grade_is_not_written(course, viva):
    (path,) = course.glob(f".contracts/{TINY}/*/notebooks/tiny.ipynb")
    path.write_text(
        path.read_text().replace("return 2 * x", "return 2 * x\\n    ### END SOLUTION\\nimport os; os._exit(3)\\n#")
    )
    result = viva("package", "gradescope", TINY)
    assert result.status == 2 and not (course / "tiny-gradescope.zip").exists()
    assert (
        "The zip was not written, because it could not grade the released" in result.err
        and "Traceback" not in result.err
    )
    assert "the instructor's own notebook cannot be run" in result.err
