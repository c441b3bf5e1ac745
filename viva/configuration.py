"""The settings that a course's nbgrader_config.py needs, so that nbgrader's commands and formgrader keep Viva's rules.

Two lines of that file say all of it, and what stands below them says otherwise where a course wants that:

    from viva import configuration
    configuration.apply(c, __file__)
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from traitlets.config import Config

from viva.course.examining.steps import STEPS
from viva.course.gradebook import lateness
from viva.course.grading import overrides  # noqa: F401  (what it changes in nbgrader holds wherever a course is configured)
from viva.pages import formgrade

POLICY = "viva.course.deadlines.policy.LatePolicy"
HANDLERS = "nbgrader.server_extensions.formgrader.handlers"
"""The table in which formgrader lists its pages."""
LINES = "from viva import configuration\nconfiguration.apply(c, __file__)"
"""The settings that a course's nbgrader_config.py needs."""
SHOWN = ["viva.submission.blind.Blind", "viva.submission.sanitize.Sanitize", "viva.pages.formgrade.AnswerFirst"]
"""The same once more where formgrader shows a notebook, for one that was graded in another way; written answers stand
beside their questions."""


def apply(config: Config, file: str) -> None:
    """Let a course keep Viva's rules; ``file`` is its nbgrader_config.py."""
    config.Autograde.autograde_preprocessors = STEPS
    config.Autograde.exporter_class = "viva.course.grading.exporter.RepairingExporter"
    config.HTMLExporter.preprocessors = SHOWN
    config.HTMLExporter.exclude_anchor_links = True  # a student could give a heading the id of a score field
    config.HTMLExporter.template_name = formgrade.TEMPLATE
    config.HTMLExporter.extra_template_basedirs = formgrade.FOLDERS
    config.HTMLExporter.extra_template_paths = [formgrade.THEIRS]
    config.HTMLExporter.filters = formgrade.FILTERS
    config.GenerateFeedback.exporter_class = "viva.pages.feedback.PageExporter"
    config.GenerateFeedback.preprocessors = []
    config.ExchangeFactory.collect = "viva.course.grading.exchange.Collect"
    config.AssignLatePenalties.setdefault("plugin_class", POLICY)  # a course's own plugin stays
    lateness.follow(config, file)
    if formgrader := sys.modules.get(HANDLERS):  # its server, which reads the configuration before it takes the list
        from viva.pages import livelists, submittedfiles  # they load the server

        submittedfiles.replace_in(formgrader.default_handlers)  # first: the list's pages are subclasses after that
        livelists.add_to(formgrader.default_handlers)


@dataclass(frozen=True)
class Rule:
    """A setting that a course needs, a name that it has to mention, if any, and what happens without it."""

    setting: str
    holds: str
    without: str

    def stands(self, config: Config) -> bool:
        """Whether a configuration says so."""
        section, _, name = self.setting.partition(".")
        if section not in config or name not in config[section]:
            return False
        value = config[section][name]
        names = map(_name, value if isinstance(value, list | tuple) else [value])
        return not self.holds or self.holds in names


RULES = (
    Rule(
        "Autograde.autograde_preprocessors",
        "viva.course.examining.autograde.Examine",
        "'nbgrader autograde' and formgrader's button run student code and tests in one process, without a sandbox",
    ),
    Rule(
        "Autograde.exporter_class",
        "viva.course.grading.exporter.RepairingExporter",
        "'nbgrader autograde' and formgrader's button do not repair damaged submissions",
    ),
    Rule(
        "HTMLExporter.preprocessors",
        "viva.submission.sanitize.Sanitize",
        "code in a submission can run in a grader's browser",
    ),
    Rule(
        "HTMLExporter.template_name",
        "",
        "formgrader shows answers far away from their scores, and needs the network to show formulas",
    ),
    Rule(
        "GenerateFeedback.exporter_class",
        "viva.pages.feedback.PageExporter",
        "'nbgrader generate_feedback' shows hidden tests to students",
    ),
    Rule(
        "ExchangeFactory.collect",
        "",
        "'nbgrader collect' accepts submissions under the name of another student, and follows links to files "
        "of the course",
    ),
    Rule("Lateness.followed", "", "manual grades in formgrader have no late penalty"),
    Rule("AssignLatePenalties.plugin_class", "", "the rules of c.LatePolicy have no effect"),
)
"""The settings that a course needs; a test holds the project's own nbgrader_config.py to them."""


def missing(config: Config) -> list[Rule]:
    """The rules that a course's configuration lacks, in order."""
    return [rule for rule in RULES if not rule.stands(config)]


def warning(config: Config) -> str:
    """The warning of every command about a course that has other rules; empty if it has Viva's."""
    without = [rule.without for rule in missing(config)]
    if not without:
        return ""
    return (
        f"The nbgrader_config.py of this course lacks {len(without)} of Viva's {len(RULES)} settings, "
        f"so {without[0]}{', and ' + without[-1] if len(without) > 1 else ''}. 'viva init --write' adds two lines with "
        "all of them."
    )


NO_KERNEL = "only c.Execute.timeout and c.Execute.enabled are used"
NO_HOOK = "'viva grade' does not use it"
IGNORED = {
    "ClearSolutions.begin_solution_delimeter": "'viva audit' finds solutions by 'BEGIN SOLUTION' only",
    "Autograde.create_student": "'viva grade' adds each student with a submission to the gradebook",
    **{
        f"{section}.{name}": NO_HOOK
        for section in ("Autograde", "BaseConverter")
        for name in ("pre_convert_hook", "post_convert_hook")
    },
    "CourseDirectory.student_id_exclude": "'viva grade' grades all students; name one with --student",
    "CourseDirectory.include": "only c.CourseDirectory.ignore and the limits of size are used",
    "OverwriteCells.add_missing_cells": "missing cells are always restored",
    "OverwriteCells.missing_cell_notification": "missing cells are restored, and the list of repairs says so",
}
"""Settings of nbgrader's that Viva does not read, and what holds instead."""
USUAL = {
    "ClearSolutions.begin_solution_delimeter": "BEGIN SOLUTION",
    "Autograde.create_student": True,
    "CourseDirectory.include": ["*"],
    "OverwriteCells.add_missing_cells": True,
}
"""The values that are allowed all the same, because Viva does that."""
KERNELS = ("Execute", "ExecutePreprocessor", "NotebookClient")
OF_KERNELS = ("timeout", "enabled")
"""The settings of these that count."""


def ignored(config: Config) -> list[str]:
    """A sentence for each setting of nbgrader's that a course makes, and that has no effect on Viva."""
    settings = {f"{section}.{name}": value for section in config for name, value in config[section].items()}
    sentences = [
        f"c.{setting} has no effect: {instead}."
        for setting, instead in IGNORED.items()
        if settings.get(setting) not in (None, "", USUAL.get(setting))
        and not _holds(settings[setting], USUAL.get(setting))
    ]
    if kernels := [f"c.{setting}" for setting in settings if _of_kernel(*setting.split(".", 1))]:
        sentences.append(f"{' and '.join(kernels)} {'have' if kernels[1:] else 'has'} no effect: {NO_KERNEL}.")
    return sentences


def _holds(value: object, usual: object) -> bool:
    """Whether a marker is the usual one with signs around it."""
    return isinstance(value, str) and isinstance(usual, str) and usual in value


def _of_kernel(section: str, name: str) -> bool:
    return section in KERNELS and name not in OF_KERNELS


MOVED = {
    "viva.course.autograde.": "viva.course.examining.autograde.",
    "viva.course.exchange.": "viva.course.grading.exchange.",
    "viva.course.exporter.": "viva.course.grading.exporter.",
    "viva.term.exchange.": "viva.course.grading.exchange.",
    "viva.term.gradescope.": "viva_gradescope.",
    "viva.term.": "viva_term.",
    "viva.scale.": "viva_scale.",
    "viva.watch.": "viva_watch.",
}
"""The old beginnings of class names that moved, each with the new one."""


def moved(config: Config) -> list[str]:
    """Let settings that name a moved class name it where it is now; a sentence for each."""
    sentences = []
    for section, values in config.items():
        for name, old in values.items() if isinstance(values, Config) else ():
            start = next((start for start in MOVED if isinstance(old, str) and old.startswith(start)), "")
            if start:
                values[name] = new = MOVED[start] + old.removeprefix(start)
                sentences.append(
                    f"c.{section}.{name} is '{old}'. This is now called '{new}'. Viva's commands already use the new "
                    "name. For nbgrader's commands, correct it in nbgrader_config.py."
                )
    return sentences


def _name(value: object) -> str:
    """A class by its dotted name, as it can be given as a name too."""
    return f"{value.__module__}.{value.__qualname__}" if isinstance(value, type) else str(value)
