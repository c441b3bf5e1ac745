"""What the commands say and return; each runs on a real course."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from traitlets.utils.importstring import import_item

from tests.conftest import BIN, PATHS, PROJECT, SHORT, hand_in
from viva import cli
from viva_term.archives.layouts import LAYOUTS
from viva_term.lms.systems import SYSTEMS

pytestmark = pytest.mark.usefixtures("processes")


@pytest.mark.slow
def test_what_needs_the_grader_makes_the_status_non_zero(course, viva):
    source = course / "source" / SHORT / "scaled_attention.ipynb"
    magic = "today = !date\\nassert today\\n### BEGIN HIDDEN TESTS"
    source.write_text(source.read_text().replace("### BEGIN HIDDEN TESTS", magic, 1))
    released = viva("release", "--no-audit", SHORT)
    assert released.status == 1 and "will be ungraded for all students" in released.text
    hand_in(course, "anna", answer="right/einsum")
    result = viva("grade", SHORT)
    assert result.status == 1
    assert "anna: the check" in result.out
    assert "is ungraded: the test cell uses !date, which the grader cannot run" in result.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade", "ps99"], "There is no assignment 'ps99'"),
        (["grade", "--assignment=ps99"], "There is no assignment 'ps99'"),
        (["grade", "--student=nobody"], "by a student 'nobody'"),
        (
            ["release", "ps"],
            "'ps' is the beginning of several assignments: ps1_general_attention, ps2_self_attention, ",
        ),
        (["release", "ps3_skaled"], "Did you mean 'ps3_scaled_attention'?"),
        (["export", "ps99"], "There is no assignment 'ps99'"),
        (
            ["export", "--student=nobody"],
            "There is no student 'nobody' in the gradebook, and no submission of a student with this id.",
        ),
        (["grade", "--course-dir=/nonexistent"], "The folder /nonexistent does not exist"),
        (["grade", "--studnet=demo-01"], "no option '--studnet=demo-01'. Did you mean '--student'?"),
        (["export", "-x"], "There is no option '-x'. 'viva export --help' lists the options."),
        (["export", "--to", "--json"], "The option '--to' needs a value, as in: --to=TO"),
        (["grade", "--workers=two"], "expected an int, not the str 'two'"),
        (["completion", "--json", "bash"], "There is no option '--json'"),
        (["check", "--jsn", "x.ipynb"], "Did you mean '--json'?"),
        (["adopt", "nothing.ipynb"], "The notebook nothing.ipynb does not exist"),
        (["export", "--db=nonsense"], "'c.CourseDirectory.db_url' is not a usable gradebook address"),
        (["export", "--db=firebird://here/grades"], "'firebird://here/grades' is not a usable gradebook address"),
    ],
)
def test_a_request_that_cannot_be_met_is_answered_in_a_sentence(course, viva, arguments, sentence):
    result = viva(*arguments)
    assert result.status == 2
    assert sentence in result.err
    assert "Traceback" not in result.text


def test_grading_before_release_says_to_release(course, viva):
    (course / "gradebook.db").unlink()
    hand_in(course, "anna")
    result = viva("grade", SHORT)
    assert result.status == 2
    assert f"Run 'viva release {SHORT}' first" in result.err


@pytest.mark.slow
def test_the_beginning_of_a_name_will_do_for_an_assignment(course, viva):
    hand_in(course, "anna", answer="right/einsum")
    assert SHORT in viva("grade", "ps3").out
    assert viva("export", "ps3", "ps1_").status == 0


@pytest.mark.slow
def test_a_folder_below_the_course_finds_it(course, viva, monkeypatch):
    hand_in(course, "anna", answer="right/einsum")
    below = course / "submitted" / "anna"
    result = shell(f"{BIN}/viva", "grade", "ps3", cwd=below)
    assert (result.returncode, result.stderr) == (0, "")
    assert (course / "results.jsonl").is_file()
    assert list(below.iterdir()) == [below / SHORT]


@pytest.mark.slow
def test_a_release_that_was_refused_prints_no_table(course, viva):
    assert viva("new", "ps9_mine").status == 0
    wrong = course / "answers" / "ps9_mine" / "wrong" / "untouched.py"
    wrong.write_text('"""Said to be all right.\n\nLoses:\n    nothing\n"""\n')
    result = viva("release", "ps9_mine")
    assert result.status == 1
    assert "Not released: ps9_mine" in result.out
    assert "by hand" not in result.out


def test_assignments_to_come_are_one_line_of_the_report_and_miss_nobody(course, viva):
    for name in ("ps8_later", "ps9_later"):
        shutil.copytree(course / "source" / SHORT, course / "source" / name)
    assert viva("demo", "--students=3", SHORT).status == 0
    result = viva("report")
    assert result.status == 0 and "Left out, because not released yet: ps8_later, ps9_later." in result.out
    page = (course / "report" / "index.html").read_text()
    assert page.count("ps9_later") == 1 and "Left out, because not released yet: ps8_later, ps9_later." in page
    early = course / "submitted" / "demo-01" / "ps8_later"
    shutil.copytree(course / "submitted" / "demo-01" / SHORT, early)
    assert "Left out, because not released yet: ps9_later." in viva("report").out, (
        "what somebody submitted is not hidden"
    )


@pytest.mark.parametrize("command", ["grade", "feedback"])
def test_nothing_handed_in_is_no_error(course, viva, command):
    result = viva(command)
    assert result.status == 0
    assert "There are no submissions" in result.out


def test_an_assignment_that_is_still_written_on_does_not_stop_the_export_of_the_others(course, viva):
    shutil.copytree(course / "source" / SHORT, course / "source" / "ps9_draft")
    result = viva("export")
    assert result.status == 0
    assert "Left out, because not released yet: ps9_draft." in result.out
    assert viva("export", "ps9_draft").status == 2


def test_the_students_to_export_may_be_named_by_a_pattern(course, viva):
    assert viva("demo", "--students=12", SHORT).status == 0
    result = viva("export", "--student=demo-0*", SHORT, "--to=some.csv")
    assert result.status == 0
    assert "9 rows are in" in result.out


def test_a_folder_without_source_is_no_course_and_nothing_is_written_into_it(course, viva):
    """The demo class left a gradebook and its lock there."""
    shutil.rmtree(course / "source")
    (course / "nbgrader_config.py").unlink()
    before = sorted(course.rglob("*"))
    for words in (["audit"], ["release"], ["grade"], ["demo"], ["demo", "--remove"], ["export"], ["feedback"]):
        result = viva(*words)
        assert result.status == 2 and sorted(course.rglob("*")) == before
        assert "is not a course" in result.err and "other rules" not in result.err
    found = viva("doctor")
    assert "is not a course" in found.out and "rules" not in found.out


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("nbgrader_config.py", "c = get_config()\ndef (", "nbgrader_config.py, line 2: SyntaxError: "),
        ("nbgrader_config.py", "c = get_config()\n\n1 / 0", "nbgrader_config.py, line 3: ZeroDivisionError: "),
        ("nbgrader_config.py", "exit()", "nbgrader_config.py, line 1: SystemExit"),
        ("nbgrader_config.json", "{", "nbgrader_config.json: JSONDecodeError: "),
    ],
)
def test_a_configuration_that_cannot_be_read_ends_the_command_before_it_does_anything(course, viva, name, text, said):
    hand_in(course, "anna")
    (course / name).write_text(text)
    for command in (("grade",), ("deadlines",), ("doctor", "--run-config")):
        result = viva(*command)
        assert result.status == 2
        assert f"{course / name}"[: -len(name)] + said in result.err
        assert "Nothing was done" in result.err and "Traceback" not in result.out + result.err
    assert not (course / "autograded" / "anna").exists()


def shell(*command, cwd, **options):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False, **options)


def test_the_command_groups_its_subcommands_along_the_flow_and_refuses_an_unknown_one(course):
    result = shell(f"{BIN}/viva", "--help", cwd=course)
    assert result.returncode == 0
    assert "Exit status: 0" in result.stdout
    places = [result.stdout.index(f"\n  {name} ") for name in cli.subcommands()]
    assert places == sorted(places)
    assert [line for line in result.stdout.splitlines() if line in cli.FLOW] == list(cli.FLOW)
    for typed, meant in {"grad": "grade", "exprot": "export"}.items():
        result = shell(sys.executable, "-m", "viva", typed, cwd=course)
        assert result.returncode == 2
        assert f"There is no command '{typed}'. Did you mean 'viva {meant}'?" in result.stderr


def test_each_command_has_a_path_that_make_test_goes():
    assert PATHS["commands"].keys() == cli.subcommands().keys()
    for place in [*PATHS["commands"].values(), *PATHS["landings"]]:
        file, _, name = place.partition("[")[0].partition("::")
        assert f"\ndef {name}(" in (PROJECT / file).read_text(encoding="utf-8"), place


@pytest.mark.parametrize("name", cli.subcommands())
def test_every_command_explains_itself_on_one_screen_with_an_example(course, viva, name):
    result = viva(name, "--help")
    assert result.status == 0
    assert f"Usage: viva {name} " in result.out
    assert result.out.count(f"viva {name}") >= 3, f"'viva {name} --help' needs an example: add it to `examples`"
    lines = len(result.out.splitlines())
    assert lines <= 32, f"'viva {name} --help' has {lines} lines, limit 32: shorten a text, or hide an option"
    place, description = cli.subcommands()[name]
    says = f"{place} and FLOW in viva/cli.py describe '{name}' in other words: use the same sentence"
    assert import_item(place).description == description, says
    assert "Undefined" not in result.out + viva(name, "--help-all").out
    without = ("new", "adopt", "init", "completion", "check", "audit")  # these read no submission
    assert ("--student=" in result.out) is (name not in without)
    for line in result.out.splitlines():
        if line.lstrip().startswith("--from="):
            assert all(system in line for system in {"collect": LAYOUTS, "roster": SYSTEMS, "adopt": ["otter"]}[name])


JSON = {
    "new": (["ps9_new"], {"written"}),
    "adopt": (
        ["source/ps9_new/ps9_new.ipynb", "--as=ps9_adopted"],
        {"assignment", "written", "changes", "missing", "style", "advice"},
    ),
    "demo": (["--students=2", SHORT], {"students", "submissions"}),
    "release": (["--no-audit", SHORT], {"released", "refused", "failures"}),
    "grade": ([SHORT], {"submissions"}),
    "regrade": (
        ["--what-if", SHORT],
        {"assignment", "applied", "remarks", "submissions", "changes", "look_again", "suspects", "csv"},
    ),
    "package": (
        ["gradescope", SHORT, "--dry-run"],
        {"assignment", "file", "dry_run", "bytes", "files", "trial", "hidden_checks", "no_sandbox"}
        | {"automatic_points", "manual_points"},
    ),
    "feedback": ([SHORT], {"submissions"}),
    "export": ([SHORT], {"file", "dry_run", "scores"}),
    "report": ([SHORT], {"course", "server", "until", "without_sandbox", "assignments", "unreleased"}),
    "doctor": ([], {"diagnoses"}),
}


@pytest.mark.slow
def test_json_is_one_document_on_stdout_and_all_else_is_on_stderr(course, viva):
    for name, (arguments, keys) in JSON.items():
        result = viva(name, "--json", *arguments)
        assert json.loads(result.out).keys() == keys, name
        assert result.err or name == "new", name
    graded = json.loads(viva("grade", "--json", "--force", SHORT).out)["submissions"]
    assert {(one["student"], one["status"]) for one in graded} == {("demo-01", "done"), ("demo-02", "done")}
    assert sum(sum(one["verdicts"].values()) for one in graded) == 36
    refused = viva("grade", "--json", "ps0")
    assert (refused.status, refused.out) == (2, "")


def test_grading_ends_with_a_table_of_verdicts(course, viva):
    hand_in(course, "anna", answer="right/einsum")
    hand_in(course, "bo")
    text = re.sub(r"[^\w\n]+", " ", viva("grade", SHORT).out)
    assert " checks passed error" in text
    assert f" {SHORT} 18 18" in text
    assert "checks" not in viva("grade", SHORT).out, "nothing was graded, so no check came to anything"


@pytest.mark.slow
@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}, None])
def test_without_a_terminal_or_with_no_color_there_is_no_escape_code(course, variables):
    viva_export = f"{BIN}/viva export {SHORT}"
    if variables is None:
        printed = shell("sh", "-c", viva_export, cwd=course, env=os.environ | {"TERM": "xterm-256color"}).stdout
    else:
        env = os.environ | {"TERM": "xterm-256color"} | variables
        printed = shell("script", "-qec", viva_export, "/dev/null", cwd=course, env=env).stdout
    assert "student" in printed
    assert "\x1b" not in printed


def test_help_is_said_before_anything_large_is_loaded():
    program = "import sys, viva.cli; print([name for name in ('nbgrader', 'nbformat', 'numpy') if name in sys.modules])"
    assert shell(sys.executable, "-c", program, cwd="/").stdout.strip() == "[]"
