"""Commands where the machine is odd: streams that are closed or full, disks that are read-only or full, a home that is
none, a lock that somebody holds, graders who share a course as a group."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from plugins.term.tests.archives.given import folder
from tests.conftest import BIN, PROJECT, SHORT, lacking
from tests.faults import (
    TINY,
    grade_here,
    hand_in_tiny,
    in_private_mounts,
    make_course,
    recorded,
    require_sound,
    scores,
)
from tests.flow import machine
from viva.commands.terminal import zone_problem
from viva.course.course import require_plain
from viva.verdict import CourseError

pytestmark = pytest.mark.usefixtures("processes")

VIVA = BIN / "viva"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A released course with three graded submissions."""
    root = make_course(tmp_path_factory.mktemp("surroundings") / "course")
    hand_in_tiny(root, 3)
    grade_here(root)
    return root


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


def shell(course: Path, script: str, within: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess:
    command = [*within, "bash", "-o", "pipefail", "-c", script]
    environment = os.environ | {"VIVA": str(VIVA), "COLUMNS": "200"} | variables
    done = subprocess.run(
        command, cwd=course, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


def test_help_that_nobody_reads_or_that_cannot_be_written_has_no_traceback(course):
    assert shell(course, "$VIVA --help | true").stderr == ""
    done = shell(course, "$VIVA --help > /dev/full")
    assert (done.returncode, done.stderr) == (2, "Cannot write to standard output: No space left on device.\n")


@pytest.mark.slow
@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_who_reads_no_further_is_told_nothing_and_a_full_output_is_named(course, buffered):
    checked = f"$VIVA check {next((PROJECT / 'release' / SHORT).glob('*.ipynb'))} --json"
    read = "$VIVA --help | true", "$VIVA grade --help-all | head -1", "$VIVA export | true", f"{checked} | true"
    for script in read:
        done = shell(course, script, PYTHONUNBUFFERED=buffered)
        assert (done.returncode in (0, 141), done.stderr) == (True, ""), script
    for script in ("$VIVA --help", "$VIVA export --json", "$VIVA report", checked):
        done = shell(course, f"{script} > /dev/full", PYTHONUNBUFFERED=buffered)
        assert done.returncode == 2 and "Cannot write to standard output: No space left on device." in done.stderr
        assert str(course) not in done.stderr.splitlines()[-1]  # which blames the output, and not the folder


@pytest.mark.slow
def test_a_home_that_is_none_stops_nothing_and_the_exchange_is_made_when_it_is_needed(course, tmp_path):
    for command in ("export", "grade", "report"):
        done = shell(course, f"$VIVA {command}", HOME="/proc/nonexistent")
        assert done.returncode == 0 and "matplotlib" not in done.stderr
    home = tmp_path / "home"
    home.mkdir()
    assert shell(course, "$VIVA doctor --run-config", HOME=str(home)).stdout.count("created when it is needed") == 1
    assert not list(home.rglob("nbgrader_exchange"))
    done = shell(course, f"{BIN}/nbgrader release_assignment {TINY}", HOME=str(home))
    (root,) = home.rglob("nbgrader_exchange")
    assert done.returncode == 0 and stat.S_IMODE(root.stat().st_mode) == 0o777
    assert (root / "viva" / "outbound" / TINY / "tiny.ipynb").is_file()


@pytest.mark.slow
def test_a_path_with_the_name_of_a_variable_is_refused(tmp_path, monkeypatch, course, viva):
    monkeypatch.setenv("TERM_NAME", "x")
    for name in ("$HOME z", "${TERM_NAME}", "a$TERM_NAME"):
        with pytest.raises(CourseError, match="Rename the folder"):
            require_plain(tmp_path / name)
    require_plain(tmp_path / "$5 and $nothing_of_that_name")
    place = tmp_path / "$HOME z"
    shutil.copytree(course, place)
    for command in ("grade", "export", "release"):
        done = shell(place, f"$VIVA {command}")
        assert done.returncode == 2 and "Rename the folder" in done.stderr
    assert "Rename the folder" in shell(place, "$VIVA doctor").stdout


def test_a_time_zone_that_is_none_is_noticed(course, viva, monkeypatch):
    for zone in ("Europe/Berlin", "UTC", "CET-1CEST,M3.5.0,M10.5.0/3", ":America/New_York", ""):
        monkeypatch.setenv("TZ", zone)
        assert zone_problem() == ""
    for zone in ("Europe/Berlim", "CET1CEST nonsense", "Nowhere/City"):
        monkeypatch.setenv("TZ", zone)
        assert zone_problem().startswith(f"The variable TZ is '{zone}', which is not a time zone")
    done = viva("export")
    assert done.status == 0 and zone_problem() in done.err
    assert "which is not a time zone" in viva("doctor").out


READS = {
    "export --to={out}/grades.csv": "grades.csv",
    "deadlines": "",
    "deadlines --what-if --per-day=0.5": "",
    "report --to={out}/report": "report/index.html",
    "report --to={out}/report --anonymous": "report/anonymous.html",
    "export --dry-run": "",
    "watch --status": "",
    f"regrade {TINY} --what-if": "",
    f"package gradescope {TINY} --dry-run": "",
    f"collect --assignment={TINY} {{out}}/hw --no-times --dry-run": "",
    "roster {out}/list.csv --dry-run": "",
    f"extend student0000 {TINY} --until='2030-01-01 10:00' --dry-run": "",
}


@pytest.mark.slow
def test_on_a_read_only_disk_all_works_that_writes_nothing_there(course, tmp_path):
    out = tmp_path / "out"
    folder(out / "hw", {"student0001/tiny.ipynb": "{}"})
    (out / "list.csv").write_text("id,last_name,first_name,email,lms_user_id\nstudent0000,A,B,,\n")
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"c.LatePolicy.assignments = {{'{TINY}': {{'due': '2026-10-05 23:59'}}}}\n")
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    read_only = in_private_mounts(course, f"mount --bind {course} {course} && mount -o remount,ro,bind {course}")
    for command, written in READS.items():
        done = shell(course, f"$VIVA {command.format(out=out)}", within=read_only)
        assert done.returncode == 0, (command, done.stderr)
        assert not written or (out / written).is_file()
    for command in ("export", "report", "grade", "export --to=grades2.csv"):
        done = shell(course, f"$VIVA {command}", within=read_only)
        assert done.returncode == 2 and "is read-only; nothing was done" in done.stderr
    assert {path: path.read_bytes() for path in course.rglob("*") if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 8, 32])
def test_collecting_on_a_full_disk_loses_nothing_and_the_same_command_finishes_it(course, tmp_path, room):
    """The course lies on a small disk of its own, which is full but for ``room`` kB."""
    names = [f"student{number:04}" for number in range(3)]
    hw = folder(tmp_path / "hw", {f"{name}/tiny.ipynb": f'"{name}"' + " " * 20_000 for name in names})
    kept, disk = tmp_path / "kept", tmp_path / "disk"
    disk.mkdir()
    collect = f"$VIVA collect {hw} --assignment={TINY} --no-times"
    script = f"""
        mount -t tmpfs -o size=8m none {disk} && cp -r {course} {disk}/course && cd {disk}/course || exit 99
        dd if=/dev/zero of={disk}/ballast bs=1k 2>/dev/null; truncate -s -{room}k {disk}/ballast
        {collect}; echo "first $?" >&2; rm -r submitted/.viva-* 2>/dev/null
        cp -r {disk}/course {kept}-1; rm {disk}/ballast
        {collect}; status=$?; cp -r {disk}/course {kept}-2; exit $status
        """
    done = shell(course, script, within=in_private_mounts(course, "true"))
    assert done.returncode == 0 and "first 2" in done.stderr, done.stderr
    assert "No space left on device" in done.stderr
    for name in names:
        old, new = course / "submitted" / name / TINY / "tiny.ipynb", hw / name / "tiny.ipynb"
        there = (tmp_path / "kept-1" / "submitted" / name / TINY / "tiny.ipynb").read_bytes()
        assert there in (old.read_bytes(), new.read_bytes()), "the old one or the new one, and never a part"
        assert (tmp_path / "kept-2" / "submitted" / name / TINY / "tiny.ipynb").read_bytes() == new.read_bytes()
        (earlier,) = (tmp_path / "kept-2" / "attempts" / TINY / name).glob("*/tiny.ipynb")
        assert earlier.read_bytes() == old.read_bytes()


FILLS = (
    "release --no-audit",
    "feedback --force",
    "export",
    "export --to=grades.xlsx",
    "report",
    "roster list.csv",
    f"regrade {TINY} --no-audit",
    f"extend student0000 {TINY} --until='2030-01-01 10:00'",
    "new ps9",
    "adopt {mine}/tiny.ipynb --as=ps7",
    "audit",
    "init ../founded",
    "demo",
    "deadlines",
    f"package gradescope {TINY}",
)
FILLING = """
import contextlib, io, json, os, shlex, shutil, sys
from pathlib import Path
from traitlets import import_item
from viva import cli

course, disk, room, found = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), []

def run(command):
    name, *words = shlex.split(command)
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        try:
            step = import_item(cli.subcommands()[name][0])()
            step.initialize(words)
            step.start()
            return 0, said.getvalue()
        except SystemExit as stop:
            return stop.code or 0, said.getvalue()

for number, command in enumerate(sys.argv[4:]):
    os.chdir(disk)
    shutil.rmtree("course", ignore_errors=True)
    shutil.copytree(course, "course")
    os.chdir("course")
    with open(disk / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(1024))
    os.truncate(disk / "ballast", os.path.getsize(disk / "ballast") - 1024 * room)
    first = run(command)
    shutil.copytree(disk / "course", f"{disk}-{number}")
    os.remove(disk / "ballast")
    found.append((*first, *run(command)))
print(json.dumps(found))
"""
"""Runs each command on a disk that is full but for some kB, keeps what is there then, and runs it again with room."""


@pytest.mark.parametrize(("room", "fills"), [(0, FILLS[::2]), (24, FILLS[1::2])])
def test_every_command_on_a_full_disk_ends_with_a_sentence_and_loses_nothing(course, tmp_path, room, fills):
    """The same command then goes on. A failed release once removed the released notebooks, and printed hidden tests."""
    (course / "list.csv").write_text(HEAD + "".join(f"student{number:04},A,B,,\n" for number in range(300)))
    source = course / "source" / TINY / "tiny.ipynb"  # as one corrects a test, which regrade then has to release
    source.write_text(source.read_text().replace("double(1) == 2", "double(2) == 4"))
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"c.LatePolicy.assignments = {{'{TINY}': {{'due': '2026-10-05 23:59'}}}}\n")
    plus = '"""A sum."""\n\n# %% double\ndef double(x):\n    return x + x\n'
    folder(course / "answers" / TINY / "right", {"plus.py": plus})
    mine = folder(tmp_path / "mine", {"words.csv": "word\n" * 20_000})
    shutil.copy(source, mine)
    files = {path.relative_to(course) for path in course.rglob("*") if path.is_file()}
    before = {path for path in files if path.suffix != ".lock"}
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = in_private_mounts(course, f"mount -t tmpfs -o size=12m none {disk}")
    words = [sys.executable, "-c", FILLING, course, disk, room, *(command.format(mine=mine) for command in fills)]
    done = shell(course, shlex.join(map(str, words)), within=mounted)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    for number, (command, (first, said, again, then)) in enumerate(zip(fills, results, strict=True)):
        full = "No space left on device" in said or "its disk is full" in said
        assert full == (first != 0), (command, first, said)
        assert not re.search("Traceback|Errno|sqlite3|HIDDEN", said), (command, said)
        assert again == 0 or first == 0, (command, then)  # what was done may say that it is there already
        for path in before:
            assert Path(f"{disk}-{number}", path).stat().st_size, (command, path)
        for path in Path(f"{disk}-{number}", "submitted").glob("*/*/*.ipynb"):  # the demo class has whole notebooks
            assert path.read_bytes().endswith((b"}\n", b"%%EOF\n")), (command, path)
        if command.startswith("init"):  # a part of a course was "a complete course"
            assert "ps1.ipynb" in (then if first else said), then
        require_sound(Path(f"{disk}-{number}"))


def text(book: Path) -> None:
    book.write_text("Dear students,\n" * 500)


def truncated(book: Path) -> None:
    book.write_bytes(book.read_bytes()[: book.stat().st_size // 2])


def overwritten(book: Path) -> None:
    data = bytearray(book.read_bytes())
    data[20_000:90_000] = bytes(range(256)) * 273 + bytes(112)
    book.write_bytes(data)


def emptied(book: Path) -> None:
    book.write_bytes(b"")


def another_programs(book: Path) -> None:
    book.unlink()
    with contextlib.closing(sqlite3.connect(book)) as other:
        other.execute("CREATE TABLE places (id INTEGER)")


def a_folder(book: Path) -> None:
    book.unlink()
    book.mkdir()


def of_an_older_nbgrader(book: Path) -> None:
    with contextlib.closing(sqlite3.connect(book)) as other:
        other.execute("ALTER TABLE student DROP COLUMN lms_user_id")
        other.execute("UPDATE alembic_version SET version_num = '167914646830'")
        other.commit()


HEAD = "id,last_name,first_name,email,lms_user_id\n"
ASK = (
    "grade",
    "grade --force",
    "feedback --force",
    "report",
    "export",
    "deadlines",
    f"extend student0000 {TINY} --until='2030-01-01 10:00'",
    "roster list.csv",
    "roster --same student0000 student0002",
    "demo",
    "release --no-audit",
    f"regrade {TINY} --no-audit",
    f"regrade {TINY} --what-if",
    f"rubric {TINY}",
    f"package gradescope {TINY}",
    f"collect hw --assignment={TINY} --no-times",
)
"""What asks the gradebook, or writes into it."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (text, "is damaged"),
        (truncated, "is damaged"),
        (overwritten, "is damaged"),
        (emptied, "has no submission of tiny"),
        (another_programs, "has no submission of tiny"),
        (a_folder, "unable to open"),
        (of_an_older_nbgrader, "nbgrader db upgrade"),
    ],
)
def test_every_command_names_a_gradebook_that_it_cannot_use_and_changes_nothing(course, viva, spoil, said):
    """A roster that went into an emptied gradebook would be lost when a copy of the old one is restored."""
    folder(course / "hw", {"student0001/tiny.ipynb": "{}"})
    (course / "list.csv").write_text(f"{HEAD}student0000,A,B,,\n")
    (course / "rubrics").mkdir()
    (course / "rubrics" / f"{TINY}.toml").write_text('[[item]]\nkey = "a"\npoints = -1\ntext = "No."\n')
    book = course / "gradebook.db"
    spoil(book)
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file() and path.parent != course}
    whole = book.read_bytes() if book.is_file() and spoil not in (emptied, another_programs) else None
    for command in ASK:
        if spoil is of_an_older_nbgrader and command.startswith("package"):
            continue  # it reads nothing that an older gradebook lacks
        done = viva(*shlex.split(command))
        assert done.status == 2 and said in done.err, (command, done)
        assert "Traceback" not in done.out + done.err, done
    for path, data in before.items():
        assert path.read_bytes() == data, path
    assert whole is None or book.read_bytes() == whole
    assert not (course / "roster.csv").exists()


@pytest.mark.slow
def test_every_command_waits_as_long_for_a_gradebook_that_somebody_has_locked(course):
    commands = ("grade", "feedback", "report", "export", "deadlines", f"extend student0000 {TINY} --remove --dry-run")
    with contextlib.closing(sqlite3.connect(course / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        running = [
            subprocess.Popen(
                [VIVA, *command.split()], cwd=course, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            for command in commands
        ]
        for one in running[1:]:  # a crowded machine may take long to start them; what grade says goes to the output
            assert "is locked by another program. Trying again for 20 seconds" in one.stderr.readline()
        threading.Event().wait(5)
        assert [one.poll() for one in running] == [None] * len(running)
        other.execute("ROLLBACK")
        for one, command in zip(running, commands, strict=True):
            said = one.communicate(timeout=120)[1]
            assert one.returncode == 0 or "--remove" in command, (command, said)


@pytest.mark.slow
def test_files_of_a_course_that_graders_share_are_the_groups_too(tmp_path):
    root = tmp_path / "course"
    (root / "source" / TINY).mkdir(parents=True)
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("c.CourseDirectory.groupshared = True\nc.IncludeHeaderFooter.header = ''\n")
    donor = make_course(tmp_path / "donor")
    shutil.copy(donor / "source" / TINY / "tiny.ipynb", root / "source" / TINY)
    for umask in ("007", "077"):
        assert shell(root, f"umask {umask}; $VIVA release --no-audit").returncode == 0
        hand_in_tiny(root, 1) if umask == "007" else None
        for command in ("grade --force", "feedback --force", "report", "export"):
            done = shell(root, f"umask {umask}; $VIVA {command}")
            assert done.returncode == 0 and "umask" not in done.stdout
        for path in (root / "gradebook.db", root / "results.jsonl", root / "gradebook.db.lock", root / "grades.csv"):
            assert path.stat().st_mode & 0o060 == 0o060, path
        for step in ("release", "autograded", "feedback", "report"):
            for path in (root / step, *(root / step).rglob("*")):
                wanted = 0o2070 if path.is_dir() else 0o060
                assert path.stat().st_mode & wanted == wanted, path


LONG = "Übung für Höhere Größen " * 7 + "Ä"
STEPS = ("release --no-audit", "grade", "feedback", "report", "export", "export --to=punkte.xlsx", "deadlines")


@pytest.mark.slow
def test_a_user_without_root_and_home_with_a_closed_umask_grades_in_a_long_path_with_blanks_and_umlauts(
    course, tmp_path
):
    if os.geteuid():
        lacking("Only root can make a machine with users of its own.")
    needed = [Path(sys.prefix), Path(sys.base_prefix), PROJECT / "viva", PROJECT / "student", PROJECT / "plugins"]
    with machine.running(tmp_path / "machine", needed, [PROJECT], f"{BIN}:/usr/sbin:/usr/bin:/sbin:/bin") as made:
        made.run("useradd", "--no-create-home", "lena")
        place = f"/srv/{LONG}/Kurs 1"
        inside = made.folder / place.removeprefix("/")
        for name in ("source", "submitted", "nbgrader_config.py"):
            copy = shutil.copytree if (course / name).is_dir() else shutil.copy
            (inside / name).parent.mkdir(parents=True, exist_ok=True)
            copy(course / name, inside / name)
        made.run("chown", "-R", "lena", f"/srv/{LONG}")
        assert len(f"{place}/source/{TINY}/tiny.ipynb") > 200
        for step in STEPS:
            said = made.run("env", "-u", "HOME", "bash", "-c", f"umask 077; viva {step}", user="lena", cwd=place)
            assert "Traceback" not in said
        assert scores(inside) == scores(course)
        for path in ("report", "grades.csv", "punkte.xlsx", f"feedback/student0000/{TINY}"):
            assert stat.S_IMODE((inside / path).stat().st_mode) & 0o077 == 0, path
        again = made.run("env", "-u", "HOME", "bash", "-c", "umask 077; viva grade", user="lena", cwd=place)
        assert "unchanged" in again


@pytest.mark.slow
def test_pages_that_nobody_else_could_reach_are_said_to_be_so(course):
    done = shell(course, "umask 077; $VIVA feedback")
    assert done.returncode == 0 and "The umask is 077, so other users cannot open the folders" in done.stdout
    assert "umask" not in shell(course, "umask 022; $VIVA feedback --force").stdout


@pytest.mark.parametrize("name", ["hw (1)", "hw[1]*?"])
def test_a_release_warns_of_a_name_that_nbgrader_takes_for_a_pattern(course, viva, name):
    shutil.copytree(course / "source" / TINY, course / "source" / name)
    done = viva("release", name, "--no-audit")
    assert "as a pattern" in done.out and "Rename the assignment" in done.out


def test_students_whose_names_are_patterns_get_their_pages(course, viva):
    names = ("a(1)", "b[1]", "c*", "d?", "e+f", "i^$")
    for name in names:
        shutil.copytree(course / "submitted" / "student0000", course / "submitted" / name)
    assert viva("grade").status == 0 and viva("feedback").status == 0
    assert all((course / "feedback" / name / TINY / "tiny.html").is_file() for name in names)
    assert set(names) < set(recorded(course))
