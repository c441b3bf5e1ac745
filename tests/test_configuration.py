from __future__ import annotations

import pytest
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader
from traitlets.utils.importstring import import_item

from tests.conftest import PROJECT, SHORT
from viva.configuration import IGNORED, KERNELS, LINES, RULES, ignored, missing, moved, warning
from viva.course.examining.autograde import Autograde, Examine
from viva.course.examining.steps import STEPS


def read(folder) -> Config:
    return Config(PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config())


def test_the_projects_own_configuration_lacks_nothing():
    assert missing(read(PROJECT)) == []
    assert warning(read(PROJECT)) == ""


def test_two_lines_are_all_that_a_course_needs(tmp_path):
    assert missing(Config()) == list(RULES)
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{LINES}\n")
    assert missing(read(tmp_path)) == []


def test_what_stands_below_them_says_otherwise(tmp_path):
    late = 'c.AssignLatePenalties.plugin_class = "nbgrader.plugins.latesubmission.LateSubmissionPlugin"'
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{LINES}\n{late}\n")
    assert read(tmp_path).AssignLatePenalties.plugin_class.startswith("nbgrader")


def test_a_late_policy_that_the_course_named_above_them_stays(tmp_path):
    late = 'c.AssignLatePenalties.plugin_class = "mycourse.Halved"'
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{late}\n{LINES}\n")
    assert read(tmp_path).AssignLatePenalties.plugin_class == "mycourse.Halved"
    assert missing(read(tmp_path)) == []


def test_the_steps_are_those_of_a_batch():
    assert Autograde().autograde_preprocessors == STEPS
    assert all(map(import_item, STEPS))


def test_a_step_may_be_given_as_a_class_and_another_late_policy_is_the_courses_choice():
    from viva.submission.sanitize import Sanitize

    config = Config()
    config.Autograde.autograde_preprocessors = [Examine]
    config.HTMLExporter.preprocessors = [Sanitize]
    config.AssignLatePenalties.plugin_class = "nbgrader.plugins.latesubmission.LateSubmissionPlugin"
    lacking = {rule.setting for rule in missing(config)}
    assert lacking == {rule.setting for rule in RULES} - {
        "Autograde.autograde_preprocessors",
        "HTMLExporter.preprocessors",
        "AssignLatePenalties.plugin_class",
    }


@pytest.mark.slow
@pytest.mark.parametrize("command", [["release", "--no-audit", SHORT], ["grade"], ["export"], ["feedback"], ["report"]])
def test_in_a_course_with_other_rules_each_command_says_so_in_a_line(course, viva, command):
    (course / "nbgrader_config.py").unlink()
    result = viva(*command)
    lines = [line for line in result.err.splitlines() if line.startswith("The nbgrader_config.py of this course lacks")]
    assert len(lines) == 1
    assert "the rules of c.LatePolicy have no effect" in lines[0]
    assert "'viva init --write' adds two lines" in lines[0]


def test_the_doctor_fails_on_a_course_with_other_rules_and_prints_what_mends_it(course, viva):
    own = course / "nbgrader_config.py"
    text = own.read_text()
    text = text.replace("configuration.apply(c, __file__)", "")
    own.write_text(f"{text}\nc.ClearHiddenTests.end_test_delimeter = '### OVER'\n")
    result = viva("doctor")
    assert result.status == 1
    assert "the rules of c.LatePolicy have no effect" in result.out
    assert "Viva finds hidden tests only by 'END HIDDEN TESTS'" in " ".join(result.out.split())
    assert result.out.count(LINES) == 1
    own.write_text(f"{text}\n{LINES}\n")
    assert viva("doctor").status == 0


def test_settings_of_nbgraders_without_an_effect_are_named_by_init_doctor_and_release(course, viva):
    path = course / "nbgrader_config.py"
    assert ignored(read(course)) == []
    usual = "c.ClearSolutions.begin_solution_delimeter = '### BEGIN SOLUTION'\nc.Execute.timeout = 30\n"
    own = "c.Autograde.create_student = False\nc.ExecutePreprocessor.extra_arguments = ['-c']\n"
    path.write_text(f"{path.read_text()}\n{usual}{own}")
    first, second = ignored(read(course))
    assert first.startswith("c.Autograde.create_student has no effect: 'viva grade' adds each student with a sub")
    assert second.startswith("c.ExecutePreprocessor.extra_arguments has no effect: only c.Execute.timeout and ")
    for command in (("init",), ("doctor",), ("release", "--no-audit", SHORT)):
        said = " ".join(viva(*command).text.split())
        assert "c.Autograde.create_student has no effect" in said and "c.ExecutePreprocessor.extra_arg" in said, command


def test_the_settings_without_an_effect_are_nbgraders():
    from nbgrader import converters, preprocessors
    from nbgrader.converters.base import BaseConverter
    from nbgrader.coursedir import CourseDirectory

    places = {"BaseConverter": BaseConverter, "CourseDirectory": CourseDirectory}
    for setting in IGNORED:
        section, name = setting.split(".")
        cls = places.get(section) or getattr(converters, section, None) or getattr(preprocessors, section)
        assert name in cls.class_traits(config=True), setting
    assert KERNELS[0] in vars(preprocessors)


def test_a_setting_that_names_a_moved_class_works_and_is_named():
    config = Config()
    config.ExchangeFactory.collect = "viva.term.exchange.Collect"
    config.ExportApp.plugin_class = "viva.term.sheets.canvas.CanvasExport"
    config.CourseDirectory.course_id = "viva.terminology"
    assert len(moved(config)) == 2 and moved(config) == []
    for name in (config.ExchangeFactory.collect, config.ExportApp.plugin_class):
        assert isinstance(import_item(name), type)
