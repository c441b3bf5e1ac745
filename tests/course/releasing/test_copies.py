"""Each student's copy: the release, but for the seed; written whole, and the same every time."""

from __future__ import annotations

import contextlib
import json
import re
import shutil

import nbformat
import pytest

from tests.conftest import load
from tests.course.releasing.test_variants import DATA, NAME, STUDENTS, before, seed_of, write_source  # noqa: F401
from viva.course.releasing.release import release
from viva.course.releasing.variants import KEY, write_copies
from viva.verdict import CourseError

pytestmark = [pytest.mark.xdist_group("variants"), pytest.mark.usefixtures("processes")]


@pytest.fixture
def course(before, tmp_path):  # noqa: F811
    return shutil.copytree(before, tmp_path / "course")


def files(root) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_copy_is_the_release_but_for_the_seed_its_checksum_and_its_digest(course):
    released = files(course / "release" / NAME)
    for student in STUDENTS:
        copy = files(course / "variants" / NAME / student)
        assert copy.keys() == released.keys() == {"first.ipynb", "second.ipynb", "third.ipynb", "table.csv"}
        assert [name for name in sorted(copy) if copy[name] != released[name]] == ["first.ipynb", "second.ipynb"]
        one, other = (text["first.ipynb"].decode().splitlines() for text in (released, copy))
        changed = [(old, new) for old, new in zip(one, other, strict=True) if old != new]
        (checksum, seed, digest) = [new.strip() for _, new in changed]
        assert checksum.startswith('"checksum": ') and digest.startswith('"data": ')
        assert seed.startswith(f'"viva_seed = {seed_of(course, student)}  # everybody')


def test_the_same_again_writes_nothing_and_who_came_later_is_written_alone(course):
    opened, _ = load(course)
    place = course / "variants" / NAME
    first, times = files(place), {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    again = write_copies(opened, NAME)
    assert (again.new, again.changed, sorted(again.unchanged)) == ([], [], sorted(STUDENTS))
    with opened.gradebook() as gradebook:
        gradebook.update_or_create_student("zoe")
    assert write_copies(opened, NAME, dry_run=True).new == ["zoe"] and files(place) == first
    assert write_copies(opened, NAME).new == ["zoe"]
    now = files(place)
    assert {name: now[name] for name in first} == first and len(now) == len(first) + 4
    assert all(path.stat().st_mtime_ns == when for path, when in times.items() if path != place)
    shutil.rmtree(place)
    assert sorted(write_copies(opened, NAME).new) == sorted([*STUDENTS, "zoe"])
    assert files(place) == now


def test_another_release_changes_the_copies_and_what_lay_in_them_goes(course):
    write_source(course, DATA.replace("size=4", "size=5"))
    opened, config = load(course)
    with contextlib.chdir(course):
        release(opened, NAME, config=config)
    (course / "variants" / NAME / "bo" / "old.txt").write_text("old")
    assert sorted(write_copies(opened, NAME).changed) == sorted(STUDENTS)
    text = (course / "variants" / NAME / "bo" / "first.ipynb").read_text()
    assert "size=5" in text and f"viva_seed = {seed_of(course, 'bo')}" in text
    assert not (course / "variants" / NAME / "bo" / "old.txt").exists()
    assert [path.name for path in (course / "variants" / NAME).iterdir() if path.name.startswith(".")] == []


def test_what_a_killed_command_left_is_finished_by_the_next(course):
    opened, _ = load(course)
    place = course / "variants" / NAME
    before_it = files(place)
    (place / ".viva-x" / "old").mkdir(parents=True)
    (place / ".viva-x" / "new").mkdir()
    (place / "bo").rename(place / ".viva-x" / "old" / "bo")  # killed between the two renames
    assert write_copies(opened, NAME).new == []
    assert files(place) == before_it


def test_where_something_is_refused_nothing_is_written(course):
    opened, _ = load(course)
    shutil.rmtree(course / "variants")
    (course / KEY).unlink()
    before_it = files(course)
    with opened.gradebook() as gradebook:
        gradebook.update_or_create_student("a/../../b")
    with pytest.raises(
        CourseError, match=r"the student's id 'a/\.\./\.\./b' in the gradebook is not a valid " r"folder name"
    ):
        write_copies(opened, NAME)
    assert files(course).keys() == before_it.keys()


def test_without_anybody_in_the_gradebook_there_is_a_sentence(course):
    opened, _ = load(course)
    with opened.gradebook() as gradebook:
        for student in STUDENTS:
            gradebook.remove_student(student)
    with pytest.raises(CourseError, match="The gradebook has no students, so no variant of drawn was written"):
        write_copies(opened, NAME)


def test_a_release_of_another_source_is_not_copied(course):
    opened, _ = load(course)
    path = course / "release" / NAME / "first.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace("viva_seed = 11", "viva_seed = 13")
    nbformat.write(notebook, path)
    with pytest.raises(CourseError, match=r"first\.ipynb was not made from the present .*source/drawn/first\.ipynb"):
        write_copies(opened, NAME)
    path.unlink()
    with pytest.raises(CourseError, match=r"first\.ipynb was not made from the present"):
        write_copies(opened, NAME)


def test_the_command_releases_and_writes_and_says_so(course, viva):
    shutil.rmtree(course / "variants")
    (course / KEY).unlink()
    tried = viva("release", NAME, "--variants", "--dry-run")
    assert (tried.status, tried.err) == (0, "")
    assert re.search(rf"│ {NAME} +│ +8 │ +0 │ +0 │", tried.out)
    assert "Nothing was released or written. " in tried.out and "A new key for all variants would be made." in tried.out
    assert not (course / KEY).exists() and not (course / "variants").exists()
    plain = viva("release", NAME, "--no-audit")
    assert plain.status == 0 and f"To write them, run: viva release {NAME} --variants" in plain.out
    assert not (course / KEY).exists()
    done = viva("release", "--variants", "--no-audit", "--json")
    document = json.loads(done.out)
    assert done.status == 0 and sorted(document["variants"][0]["new"]) == sorted(STUDENTS)
    assert document["released"][0]["assignment"] == NAME and (course / KEY).exists()
    assert sorted(path.name for path in (course / "variants" / NAME).iterdir()) == sorted(STUDENTS)


def test_the_command_refuses_what_is_not_switched_on_and_says_how_to(course, viva):
    config = course / "nbgrader_config.py"
    config.write_text(re.sub(r"c\.Variants.*\n", "", config.read_text()))
    before_it = files(course / "release")
    for arguments in ([NAME, "--variants"], ["--variants"], [NAME, "--variants", "--dry-run"]):
        refused = viva("release", *arguments, "--no-audit")
        assert refused.status == 2
        assert f'c.Variants.assignments = ["{NAME}"]' in " ".join(refused.err.split())
    config.write_text(config.read_text() + f'c.Variants.assignments = ["{NAME}"]\n')
    (course / KEY).rename(course / "elsewhere")
    refused = viva("release", NAME, "--variants", "--no-audit")
    assert refused.status == 2 and "has variants made with it, and a new key would make other variants." in refused.err
    refused = viva("release", NAME, "--dry-run")
    assert refused.status == 2 and "--dry-run needs --variants" in refused.err
    assert files(course / "release") == before_it
