"""What is collected from an exchange into which a student puts what they like, as formgrader's button collects it."""

from __future__ import annotations

import datetime
import os
import pwd
import shutil
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.utils import get_username

from tests.conftest import SHORT, load
from tests.conftest import lacking as missing
from viva import wording
from viva.course.grading.exchange import take
from viva.submission.files import claim
from viva.verdict import SubmissionError

ME = get_username()
NOTEBOOK = "scaled_attention.ipynb"


@pytest.fixture
def inbound(course, tmp_path) -> Path:
    """The folder of a released assignment's exchange into which students put what they hand in."""
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\n")
    (tmp_path / "exchange").mkdir()
    _, config = load(course)
    assert api(course).release_assignment(SHORT)["success"]
    return tmp_path / "exchange" / config.CourseDirectory.course_id / "inbound"


def api(course: Path, **options: bool) -> NbGraderAPI:
    directory, config = load(course)
    config.ExchangeCollect.update(options)
    return NbGraderAPI(directory.directory, config=config)


def collect(course: Path, **options: bool) -> str:
    """What is said of it; ``options`` are those of nbgrader's ExchangeCollect."""
    done = api(course, **options).collect(SHORT, update=options.get("update", True))
    assert done["success"], done
    return done["log"]


def hand_in(course: Path, inbound: Path, student: str, day: int = 1, text: str = "") -> Path:
    """A folder as nbgrader submits it, on a day of January; ``text`` is added to its notebook."""
    time = datetime.datetime(2026, 1, day).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    folder = inbound / f"{student}+{SHORT}+{time}+x{day}"
    folder.mkdir()
    notebook = (course / "release" / SHORT / NOTEBOOK).read_text()
    (folder / NOTEBOOK).write_text(notebook + text)
    (folder / "timestamp.txt").write_text(time)
    return folder


def collected(course: Path, student: str = ME) -> Path:
    return course / "submitted" / student / SHORT


def test_the_newest_hand_in_is_collected_with_all_its_files(course, inbound):
    hand_in(course, inbound, ME, 1)
    newest = hand_in(course, inbound, ME, 2, "\n")
    (newest / "pictures").mkdir()
    (newest / "pictures" / "one.png").write_bytes(b"picture")
    collect(course)
    assert (collected(course) / NOTEBOOK).read_bytes() == (newest / NOTEBOOK).read_bytes()
    assert (collected(course) / "pictures" / "one.png").read_bytes() == b"picture"


@pytest.mark.parametrize("link", ["notebook", "folder", "hand-in"])
def test_a_link_to_the_solution_is_not_collected_and_what_was_there_stays(course, inbound, link):
    hand_in(course, inbound, ME, 1)
    collect(course)
    before = (collected(course) / NOTEBOOK).read_bytes()
    folder, source = hand_in(course, inbound, ME, 2), course / "source" / SHORT
    if link == "notebook":
        (folder / NOTEBOOK).unlink()
        (folder / NOTEBOOK).symlink_to(source / NOTEBOOK)
    elif link == "folder":
        (folder / "data").symlink_to(source)
    else:
        shutil.rmtree(folder)
        folder.symlink_to(source)
    said = collect(course)
    assert "was not collected" in said
    assert (collected(course) / NOTEBOOK).read_bytes() == before
    assert not (collected(course) / "data").exists()


@pytest.mark.parametrize(("own", "forged", "due"), [(1, 2, None), (3, 1, "2026-01-02 12:00:00 UTC")])
def test_a_hand_in_in_anothers_name_is_not_collected_and_theirs_is(course, inbound, own, forged, due):
    if os.geteuid():
        missing("Only root can put a folder into an exchange that another user owns: sudo make test")
    victim = pwd.getpwnam("nobody")
    with load(course)[0].gradebook() as gradebook:
        gradebook.update_or_create_assignment(SHORT, duedate=due)
    theirs = hand_in(course, inbound, "nobody", own)
    for path in (theirs, *theirs.iterdir()):
        os.chown(path, victim.pw_uid, victim.pw_gid)
    hand_in(course, inbound, "nobody", forged, "\n\n")
    hand_in(course, inbound, "daemon", 3)
    said = collect(course, before_duedate=due is not None)
    assert "it has the name of 'nobody'" in said and "it has the name of 'daemon'" in said
    assert (collected(course, "nobody") / NOTEBOOK).read_bytes() == (theirs / NOTEBOOK).read_bytes()
    assert not collected(course, "daemon").exists()


def test_a_file_of_anothers_in_ones_own_folder_is_not_collected(course, inbound):
    if os.geteuid():
        missing("Only root can put a file into an exchange that another user owns: sudo make test")
    folder = hand_in(course, inbound, ME)
    os.chown(folder / NOTEBOOK, pwd.getpwnam("nobody").pw_uid, -1)
    assert f"'{NOTEBOOK}' in it is not owned by the student" in collect(course)
    assert not collected(course).exists()


def test_a_name_that_nbgrader_does_not_give_stops_nobody_elses_collecting(course, inbound):
    hand_in(course, inbound, ME)
    for name in (f"{ME}+{SHORT}+yesterday", f"x+{SHORT}+a+b+c+d", f"..+{SHORT}+2026-01-09 10:00:00 UTC+r"):
        (inbound / name).mkdir()
    said = collect(course)
    assert f"'{ME}+{SHORT}+yesterday' in the exchange was not collected" in said
    assert f"'x+{SHORT}+a+b+c+d' in the exchange was not collected" in said
    assert collected(course).is_dir()
    assert sorted(path.name for path in (course / "submitted").iterdir() if path.is_dir()) == [ME]


def test_a_course_whose_students_share_an_account_collects_what_it_does_not_own(course, inbound):
    if os.geteuid():
        missing("Only root can put a folder into an exchange that another user owns: sudo make test")
    folder = hand_in(course, inbound, "ada")
    collect(course, check_owner=False)
    assert (collected(course, "ada") / NOTEBOOK).read_bytes() == (folder / NOTEBOOK).read_bytes()


@pytest.mark.parametrize("secret", [None, b"\xff", b""])
def test_a_hand_in_without_what_nbgrader_adds_gets_it_so_that_feedback_can_be_released(course, inbound, secret):
    folder = hand_in(course, inbound, ME, 5)
    (folder / "timestamp.txt").unlink()
    if secret is not None:
        (folder / "submission_secret.txt").write_bytes(secret)
    collect(course)
    assert (collected(course) / "timestamp.txt").read_text() == "2026-01-05 00:00:00.000000 UTC"
    assert len((collected(course) / "submission_secret.txt").read_text()) == 128


def test_the_secret_by_which_a_student_fetches_feedback_is_collected_as_it_is(course, inbound):
    (hand_in(course, inbound, ME) / "submission_secret.txt").write_text("0f" * 64)
    collect(course)
    assert (collected(course) / "submission_secret.txt").read_text() == "0f" * 64


def test_a_pipe_a_flood_and_a_cellar_are_refused_before_they_are_read(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    with pytest.raises(SubmissionError, match="'pipe' in it is not a file"):
        take(folder, tmp_path / "first", None, 1000)
    (folder / "pipe").unlink()
    with (folder / "flood").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(SubmissionError, match="larger than this course allows"):
        take(folder, tmp_path / "second", None, 1000)
    (folder / "flood").unlink()
    folder.joinpath(*"x" * 30).mkdir(parents=True)
    with pytest.raises(SubmissionError, match="20 levels of folders"):
        take(folder, tmp_path / "third", None, 1000)


def test_the_exchanges_own_time_zone_makes_nobody_late_and_the_newest_counts(course, inbound):
    with (course / "nbgrader_config.py").open("a") as config:
        config.write('\nc.Exchange.timezone = "Asia/Kolkata"\n')
    old, new = (hand_in(course, inbound, ME, day, "\n" * day) for day in (1, 2))
    for folder, time in ((old, "2026-10-24 23:57:00.000000 IST"), (new, "2026-10-24 23:58:00.000000 IST")):
        (folder / "timestamp.txt").write_text(time)
        folder.rename(folder.with_name(f"{ME}+{SHORT}+{time}+x"))
    collect(course)
    assert (collected(course) / "timestamp.txt").read_text() == "2026-10-24 18:28:00.000000 UTC"


def test_a_hand_in_of_an_uncertain_time_is_refused_and_said_and_takes_nothings_place(course, inbound):
    hand_in(course, inbound, ME, 1)
    collect(course)
    (collected(course) / "timestamp.txt").write_text("2026-10-24 23:58 CST")
    hand_in(course, inbound, ME, 2, "\n")
    assert "has no clear time zone" in collect(course)
    assert (collected(course) / "timestamp.txt").read_text() == "2026-10-24 23:58 CST"


def test_what_is_empty_or_half_copied_hides_no_complete_submission(course, inbound):
    whole = hand_in(course, inbound, ME, 1)
    (inbound / f"{ME}+{SHORT}+2099-01-01 00:00:00 UTC").mkdir()
    half = hand_in(course, inbound, ME, 2)
    (half / "timestamp.txt").unlink()
    (half / NOTEBOOK).write_text((half / NOTEBOOK).read_text()[:500])
    linked = hand_in(course, inbound, ME, 3)
    (linked / "data.csv").symlink_to("/etc/passwd")
    said = collect(course)
    assert "it is empty, so the student's upload was interrupted" in said and "it is still being copied" in said
    assert (collected(course) / NOTEBOOK).read_bytes() == (whole / NOTEBOOK).read_bytes()


def test_a_time_that_the_file_system_contradicts_is_told_and_a_students_own_word_on_it_is_not_taken(course, inbound):
    for day, claimed in ((1, datetime.datetime(2026, 1, 1)), (2, datetime.datetime.now(datetime.UTC))):
        folder = hand_in(course, inbound, ME, day, "\n" * day)
        time = claimed.strftime("%Y-%m-%d %H:%M:%S.%f UTC")
        folder = folder.rename(inbound / f"{ME}+{SHORT}+{time}+x")
        (folder / claim.NAME).write_text('{"claimed": "2020-01-01T00:00:00Z", "absent": "2020-01-01T00:00:00Z"}')
        said, told = collect(course), wording.sentences(claim.facts(collected(course)))
        assert ("the claimed time counts until a grader changes it" in said) is (day == 1)
        assert len(told) == (day == 1) and "2020" not in str(told)
        assert (collected(course) / "timestamp.txt").read_text() == time, "the claimed time counts"
