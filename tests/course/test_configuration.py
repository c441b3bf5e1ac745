from __future__ import annotations

import pytest
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from tests.conftest import PROJECT, SHORT
from viva.course.configuration import LINES, missing, warning


def read(folder) -> Config:
    return Config(PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config())


def test_the_projects_own_configuration_lacks_nothing():
    assert missing(read(PROJECT)) == []
    assert warning(read(PROJECT)) == ""


def test_the_lines_that_are_told_are_all_that_a_course_needs(tmp_path):
    assert missing(Config()) == list(LINES)
    text = "\n".join(["c = get_config()", *(line.text for line in LINES)])
    (tmp_path / "nbgrader_config.py").write_text(text)
    assert missing(read(tmp_path)) == []


def test_the_lines_say_what_the_projects_own_configuration_says(tmp_path):
    text = "\n".join(["c = get_config()", *(line.text for line in LINES)])
    (tmp_path / "nbgrader_config.py").write_text(text)
    told, own = read(tmp_path), read(PROJECT)
    for line in LINES:
        section, _, name = line.setting.partition(".")
        assert told[section][name] == own[section][name], line.setting


def test_a_step_may_be_given_as_a_class_and_another_late_policy_is_the_courses_choice():
    from viva.course.autograde import Examine
    from viva.submission.sanitize import Sanitize

    config = Config()
    config.Autograde.autograde_preprocessors = [Examine]
    config.HTMLExporter.preprocessors = [Sanitize]
    config.AssignLatePenalties.plugin_class = "nbgrader.plugins.latesubmission.LateSubmissionPlugin"
    lacking = {line.setting for line in missing(config)}
    assert lacking == {line.setting for line in LINES} - {
        "Autograde.autograde_preprocessors",
        "HTMLExporter.preprocessors",
        "AssignLatePenalties.plugin_class",
    }


@pytest.mark.slow
@pytest.mark.parametrize("command", [["release", "--no-audit", SHORT], ["grade"], ["export"], ["feedback"], ["report"]])
def test_in_a_course_with_other_rules_each_command_says_so_in_a_line(course, viva, command):
    (course / "nbgrader_config.py").unlink()
    result = viva(*command)
    lines = [line for line in result.err.splitlines() if line.startswith("This course has other rules")]
    assert len(lines) == 1
    assert "lateness costs nothing" in lines[0]
    assert "'viva doctor' prints the lines" in lines[0]


def test_the_doctor_fails_on_a_course_with_other_rules_and_prints_what_mends_it(course, viva):
    own = course / "nbgrader_config.py"
    own.write_text(
        own.read_text().replace("viva.course.gradebook.lateness.DailyPenalty", "", 1).replace("c.AssignLate", "# ")
    )
    result = viva("doctor")
    assert result.status == 1
    (line,) = [line for line in LINES if line.setting == "AssignLatePenalties.plugin_class"]
    assert "lateness costs nothing" in result.out
    assert line.text in result.out
    own.write_text(own.read_text() + "\n" + line.text + "\n")
    assert viva("doctor").status == 0
