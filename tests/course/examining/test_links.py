"""What is linked into a submission is not graded: a folder or file of the course's, or of another student."""

from __future__ import annotations

import os
import zipfile

import pytest

from tests.conftest import SHORT, hand_in, load
from tests.mangling import zipped
from viva.course.examining.links import Links
from viva.course.grading.batch import autograde
from viva.course.grading.inbox import Inbox
from viva.submission.files.handin import find
from viva.submission.submission import Submission
from viva.wording import sentences

BOOK = "scaled_attention"
SOURCE = f"source/{SHORT}/{BOOK}.ipynb"


@pytest.fixture
def opened(course):
    """Open the submission of a student."""

    def opened(student: str = "ada"):
        inbox = Inbox.of(load(course)[0], [SHORT])
        (submission,) = inbox.course.submissions([SHORT], student)
        return inbox.open(submission)

    return opened


@pytest.mark.slow
def test_a_folder_that_is_a_link_is_refused_and_the_rest_of_the_batch_is_graded(course, viva):
    hand_in(course, "bo", answer="right/einsum")
    (course / "submitted/ada").mkdir()
    (course / "submitted/ada" / SHORT).symlink_to(course / "source" / SHORT)
    (course / "submitted/cleo").symlink_to("bo")
    (course / "submitted/dan").mkdir()
    (course / "submitted/dan" / SHORT).symlink_to("nowhere")
    result = viva("grade", SHORT)
    assert result.status == 0
    assert (
        f"the folder '{SHORT}' is a link, and links are not followed; replace it by the files themselves"
    ) in result.text
    assert "the folder 'cleo' is a link" in result.text
    with load(course)[0].gradebook() as gradebook:
        assert gradebook.find_submission(SHORT, "bo").score == 20
        assert {one.student_id for one in gradebook.assignment_submissions(SHORT)} == {"bo"}


def test_a_folder_that_becomes_a_link_when_the_batch_has_begun_is_refused_too(course, monkeypatch):
    for student in ("ada", "bo", "cleo"):
        hand_in(course, student)
    hand_in(course, "dan", answer="right/einsum")
    submitted = course / "submitted"

    def found(submission, notebooks):
        finding = find(submission, notebooks)
        if submission.student == "dan":  # the last one
            (submitted / "ada" / SHORT).rename(submitted / "ada/away")
            (submitted / "ada" / SHORT).symlink_to(course / "source" / SHORT)
            (submitted / "bo").rename(course / "away")
            (submitted / "bo").symlink_to("dan")
            os.link(course / "gradebook.db", submitted / "cleo" / SHORT / "data.txt")
        return finding

    monkeypatch.setattr("viva.course.grading.batch.find", found)
    opened, config = load(course)
    endings = autograde(opened, opened.submissions([SHORT]), config=config, workers=1)
    told = {ending.submission.student: ending.reason for ending in endings}
    assert told.keys() == {"ada", "bo", "cleo", "dan"} and not told["dan"]
    assert f"the folder '{SHORT}' is a link" in told["ada"] and "the folder 'bo' is a link" in told["bo"]
    assert "the file 'data.txt' is a hard link to gradebook.db of this course" in told["cleo"]
    assert [path.name for path in (course / "autograded").iterdir() if list(path.iterdir())] == ["dan"]


def test_submitted_itself_may_be_the_instructors_link(course, opened, tmp_path):
    hand_in(course, "ada", answer="right/einsum")
    (course / "submitted").rename(tmp_path / "share")
    (course / "submitted").symlink_to(tmp_path / "share")
    assert opened().problem == ""


def test_a_hard_link_to_a_file_of_the_course_is_refused(course, opened):
    folder = hand_in(course, "ada").parent
    for target in (SOURCE, "gradebook.db", "nbgrader_config.py"):
        for name in (f"{BOOK}.ipynb", "deep/data.txt", ".git/hooks", "timestamp.txt"):
            path = folder / name
            path.unlink(missing_ok=True)
            path.parent.mkdir(exist_ok=True)
            os.link(course / target, path)
            told = f"the file '{name}' is a hard link to {target} of this course"
            assert opened().problem.startswith(told)
            path.unlink()
    namesake = hand_in(course, "source")  # a student who is called as a folder of the course is
    namesake.unlink()
    os.link(course / SOURCE, namesake)
    assert f"a hard link to {SOURCE}" in opened("source").problem


@pytest.fixture
def linked(course):
    """The file of ada, and bo's folder in which it is linked a day later."""
    path = hand_in(course, "ada", answer="right/einsum")
    mine = hand_in(course, "bo")
    mine.unlink()
    os.link(path, mine)
    os.utime(path.parent, (1_800_000_000,) * 2)
    os.utime(mine.parent, (1_800_086_400,) * 2)
    return path.parent, mine.parent


def test_a_hard_link_to_another_students_submission_costs_the_newer_one_alone_and_both_are_named(linked, opened):
    assert opened("ada").problem == ""
    told = f"the file '{BOOK}.ipynb' is a hard link to submitted/ada/{SHORT}/{BOOK}.ipynb, a file of 'ada'"
    assert told in opened("bo").problem


def test_the_time_of_submission_tells_more_than_the_folder(linked, opened):
    for folder, day in zip(linked, (9, 8), strict=True):
        (folder / "timestamp.txt").write_text(f"2026-10-0{day} 10:00:00 UTC")
    assert "a file of 'bo'" in opened("ada").problem and opened("bo").problem == ""


def test_where_nothing_tells_who_had_a_linked_file_first_both_wait(linked, opened):
    for folder in linked:
        os.utime(folder, (1_800_000_000,) * 2)
    for student in ("ada", "bo"):
        assert "it is unknown whose file it is" in opened(student).problem


def test_a_page_for_a_student_names_no_other_one(course, linked):
    inbox = Inbox.of(load(course)[0], [SHORT], nameless=True)
    (submission,) = inbox.course.submissions([SHORT], "bo")
    assert "a hard link to another student's file" in inbox.open(submission).problem


def test_a_hard_link_that_is_made_after_the_first_look_is_refused_and_honest_ones_cost_one_look(course, monkeypatch):
    ada, bo, looks = hand_in(course, "ada"), hand_in(course, "bo"), []
    os.link(ada, ada.with_name("again.ipynb"))
    links = Links(load(course)[0])
    monkeypatch.setattr(links, "_files", lambda files=links._files: looks.append(1) or files())
    mine, other = (Submission(SHORT, path.parent.parent.name, path.parent) for path in (ada, bo))
    assert [links.problem(mine), links.problem(other), links.problem(mine)] == [""] * 3 and len(looks) == 1
    os.link(course / "gradebook.db", bo.with_name("data.txt"))
    assert "'data.txt' is a hard link to gradebook.db of this course" in links.problem(other)
    assert len(looks) == 2


def test_hard_links_of_backups_of_released_files_and_among_a_students_own_are_honest(course, opened, tmp_path):
    path = hand_in(course, "ada", answer="right/einsum")
    os.link(path, tmp_path / "backup.ipynb")
    os.link(path, path.with_name("again.ipynb"))
    other = course / "submitted/ada/ps1_general_attention/draft.ipynb"
    other.parent.mkdir()
    os.link(path, other)
    for step in ("source", "release"):  # as a program leaves them that stores equal files once
        (course / step / SHORT / "data.txt").write_text("1, 2")
    (course / "source" / SHORT / "data.txt").unlink()
    os.link(course / "release" / SHORT / "data.txt", course / "source" / SHORT / "data.txt")
    os.link(course / "release" / SHORT / "data.txt", path.with_name("data.txt"))
    assert (opened().problem, opened().repairs) == ("", {BOOK: []})


def test_a_link_in_a_zip_is_none_of_its_notebooks(course, opened):
    path = hand_in(course, "ada")
    path.unlink()
    with zipfile.ZipFile(path.with_name("all.zip"), "w") as archive:
        link = zipfile.ZipInfo(f"{BOOK}.ipynb")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, f"../../../{SOURCE}")
    assert f"'{BOOK}.ipynb' (a link, not followed)" in opened().problem


@pytest.mark.parametrize("link", ["folder", "hard", "soft", "loop", "endless", "pipe"])
def test_nbgraders_own_command_refuses_them_too(course, link):
    import subprocess

    from tests.conftest import BIN

    path = hand_in(course, "ada", answer="right/einsum")
    if link == "folder":
        path.parent.rename(path.parent.with_name("away"))
        path.parent.symlink_to("away")
    elif link == "hard":
        os.link(course / SOURCE, path.with_name("data.txt"))
    elif link == "pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        path.with_name("data.txt").symlink_to(
            {"soft": course / SOURCE, "loop": "data.txt", "endless": "/dev/zero"}[link]
        )
    command = [BIN / "nbgrader", "autograde", SHORT, "--student=ada"]
    result = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=60)
    assert result.returncode and ("not a regular file" if link in ("loop", "pipe") else "link") in result.stderr
    assert "Copying" not in result.stderr
    assert not list((course / "autograded").rglob("data.txt"))


def test_what_was_shipped_with_an_assignment_is_nobodys_answer(course, opened):
    path = hand_in(course, "ada")
    solved = hand_in(course, "bo", answer="right/einsum").read_bytes()
    archive = zipped(**{f"{BOOK}__ipynb": solved, "data__csv": b"1"})
    for folder in (course / "release" / SHORT, path.parent):
        (folder / "notebooks.zip").write_bytes(archive)
        (folder / "example.ipynb").write_bytes(solved)
    path.with_name("unzipped.ipynb").write_bytes(solved)
    path.with_name("again.ipynb").write_bytes(solved.replace(b'"outputs": []', b'"outputs": [ ]'))
    result = opened()
    assert (result.problem, result.notes, result.repairs) == ("", [], {BOOK: []})
    assert "NotImplementedError" in str(result.notebooks[BOOK])
    path.unlink()
    assert "the file 'example.ipynb' is a file of the released assignment, not an answer" in opened().problem


def test_an_answer_beside_what_was_shipped_counts(course, opened):
    path = hand_in(course, "ada", answer="right/einsum")
    (course / "release" / SHORT / "example.ipynb").write_bytes(hand_in(course, "bo").read_bytes())
    path.rename(path.with_name("mine.ipynb"))
    assert sentences(opened().repairs[BOOK]) == [f"the file 'mine.ipynb' was graded as {BOOK}.ipynb"]
