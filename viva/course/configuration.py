"""What a course's nbgrader_config.py has to say, so that nbgrader's own commands and formgrader keep Viva's rules."""

from __future__ import annotations

from dataclasses import dataclass

from traitlets.config import Config


@dataclass(frozen=True)
class Line:
    """A setting that a course needs: the text to write, what must stand in it, and what happens without it."""

    setting: str
    text: str
    holds: str
    """A name that the setting has to mention; empty when any value will do."""
    without: str

    def stands(self, config: Config) -> bool:
        """Whether a configuration says so."""
        section, _, name = self.setting.partition(".")
        if section not in config or name not in config[section]:
            return False
        value = config[section][name]
        names = map(_name, value if isinstance(value, list | tuple) else [value])
        return not self.holds or self.holds in names


LINES = (
    Line(
        "Autograde.autograde_preprocessors",
        """c.Autograde.autograde_preprocessors = [
    "viva.course.autograde.Examine",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "viva.course.autograde.SaveScores",
    "viva.course.autograde.NoResponse",
    "viva.submission.blind.Blind",
    "viva.submission.sanitize.Sanitize",
    "viva.course.autograde.RecordResults",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]""",
        "viva.course.autograde.Examine",
        "'nbgrader autograde' and formgrader's button run student code and tests in one process, without a wall",
    ),
    Line(
        "Autograde.exporter_class",
        'c.Autograde.exporter_class = "viva.course.exporter.RepairingExporter"',
        "viva.course.exporter.RepairingExporter",
        "'nbgrader autograde' and formgrader's button do not repair what was handed in",
    ),
    Line(
        "HTMLExporter.preprocessors",
        """c.HTMLExporter.preprocessors = [
    "viva.submission.blind.Blind", "viva.submission.sanitize.Sanitize", "viva.pages.formgrade.AnswerFirst",
]
c.HTMLExporter.exclude_anchor_links = True""",
        "viva.submission.sanitize.Sanitize",
        "what a student handed in can run in a grader's browser",
    ),
    Line(
        "HTMLExporter.template_name",
        """from viva.pages import formgrade
c.HTMLExporter.template_name = formgrade.TEMPLATE
c.HTMLExporter.extra_template_basedirs = formgrade.FOLDERS
c.HTMLExporter.extra_template_paths = [formgrade.THEIRS]
c.HTMLExporter.filters = formgrade.FILTERS""",
        "",
        "formgrader shows answers far from their scores, and needs a network for formulas",
    ),
    Line(
        "GenerateFeedback.exporter_class",
        """c.GenerateFeedback.exporter_class = "viva.pages.feedback.PageExporter"
c.GenerateFeedback.preprocessors = []""",
        "viva.pages.feedback.PageExporter",
        "'nbgrader generate_feedback' shows hidden tests to students",
    ),
    Line(
        "Lateness.followed",
        """from viva.course.gradebook import lateness
lateness.follow(c, __file__)""",
        "",
        "points that are given by hand in formgrader escape the late penalty",
    ),
    Line(
        "AssignLatePenalties.plugin_class",
        'c.AssignLatePenalties.plugin_class = "viva.course.gradebook.lateness.DailyPenalty"',
        "",
        "lateness costs nothing",
    ),
)
"""The settings that a course needs; a test holds the project's own nbgrader_config.py to them."""


def missing(config: Config) -> list[Line]:
    """The lines that a course's configuration lacks, in order."""
    return [line for line in LINES if not line.stands(config)]


def warning(config: Config) -> str:
    """What every command says of a course that has other rules; empty when it has Viva's."""
    without = [line.without for line in missing(config)]
    if not without:
        return ""
    return (
        f"This course has other rules: its nbgrader_config.py lacks {len(without)} of {len(LINES)} lines, "
        f"so {without[0]}{', and ' + without[-1] if len(without) > 1 else ''}. 'viva doctor' prints the lines."
    )


def _name(value: object) -> str:
    """A class by its dotted name, as it can be given as a name too."""
    return f"{value.__module__}.{value.__qualname__}" if isinstance(value, type) else str(value)
