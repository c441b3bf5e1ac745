"""The configuration of this course; nbgrader, formgrader and viva all read this file."""

import os

from jupyter_core.paths import jupyter_data_dir

from viva.pages import formgrade
from viva.course.gradebook import lateness

c = get_config()  # noqa: F821  (traitlets provides it)

c.CourseDirectory.course_id = "viva"

# The cells that ask for a name stand once, in the header that every assignment includes.
c.IncludeHeaderFooter.header = "source/header.ipynb"

# Editor and system litter in source/ is never released.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback",
    ".DS_Store", "Thumbs.db", ".git*", ".*.sw?", "*~",
]

# The exchange lies in a folder of the user's own. On a shared machine name the common one here.
exchange = os.path.join(jupyter_data_dir(), "nbgrader_exchange")
os.makedirs(exchange, exist_ok=True)
os.chmod(exchange, 0o777)  # as nbgrader asks of an exchange
c.Exchange.root = exchange

# A test cell that a student deleted is put back before grading.
c.OverwriteCells.add_missing_cells = True

# A cell may run this many seconds, a whole notebook six times as many; c.Examine.budget = 300 would say otherwise.
c.Execute.timeout = 30

# nbgrader's own steps, but for five: student code and tests run in two processes of their own
# instead of a kernel, scores come from there, an empty written answer waits for nobody, the cells that ask
# for a name are blank again, and nothing that a student handed in runs in a grader's browser.
c.Autograde.autograde_preprocessors = [
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
]

# Graders do not read what students wrote into the cells that ask for names.
c.Blind.show_names = False

# A submission is repaired as it is read, as `viva grade` does it.
c.Autograde.exporter_class = "viva.course.exporter.RepairingExporter"

# The same once more where formgrader shows a notebook, for one that was graded in another way; and
# no headings with ids, which a student could give the name of a score field.
c.HTMLExporter.preprocessors = ["viva.submission.blind.Blind", "viva.submission.sanitize.Sanitize", "viva.pages.formgrade.AnswerFirst"]
c.HTMLExporter.exclude_anchor_links = True

# Formgrader shows a written answer beside its question, and formulas without a network.
c.HTMLExporter.template_name = formgrade.TEMPLATE
c.HTMLExporter.extra_template_basedirs = formgrade.FOLDERS
c.HTMLExporter.extra_template_paths = [formgrade.THEIRS]
c.HTMLExporter.filters = formgrade.FILTERS

# A late submission loses a tenth of its score for each day that has begun; also of what is given by hand later.
c.AssignLatePenalties.plugin_class = "viva.course.gradebook.lateness.DailyPenalty"
c.DailyPenalty.per_day = 0.1
lateness.follow(c, __file__)

# What students get back: a page of results by check, without hidden lines. Marking schemes are hidden too.
c.GenerateFeedback.exporter_class = "viva.pages.feedback.PageExporter"
c.GenerateFeedback.preprocessors = []
c.PageExporter.show_marking_scheme = False
