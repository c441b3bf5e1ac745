"""The configuration of this course; nbgrader, formgrader and viva all read this file."""

import os

from jupyter_core.paths import jupyter_data_dir

from viva import configuration

c = get_config()  # noqa: F821  (traitlets provides it)

c.CourseDirectory.course_id = "viva"

# The cells that ask for a name stand once, in the header that every assignment includes.
c.IncludeHeaderFooter.header = "source/header.ipynb"

# Editor and system litter in source/ is never released.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback",
    ".DS_Store", "Thumbs.db", ".git*", ".*.sw?", "*~",
]

# The exchange lies in a folder of the user's own, which is made when it is needed. On a shared machine name the common
# one here.
c.Exchange.root = os.path.join(jupyter_data_dir(), "nbgrader_exchange")

# A test cell that a student deleted is put back before grading.
c.OverwriteCells.add_missing_cells = True

# A cell may run this many seconds, a whole notebook six times as many; c.Examine.budget = 300 would say otherwise.
c.Execute.timeout = 30

# Viva's rules: student code and tests in two processes, submissions that are repaired as they are read, what a student
# submitted made harmless, pages without hidden lines, and late penalties that follow every score.
configuration.apply(c, __file__)

# A mistake costs the points of its own exercise; those that use its answer are graded with the right one.
c.Examine.carry_forward = ["*"]

# Graders do not read what students wrote into the cells that ask for names.
c.Blind.show_names = False

# A late submission loses a tenth of its score for each day that has begun; also of what is given by hand later.
# c.LatePolicy.zone and c.LatePolicy.assignments say when each is due; docs/deadlines.md has the other rules.
c.LatePolicy.per_day = 0.1

# Marking schemes are hidden from students too.
c.PageExporter.show_marking_scheme = False
