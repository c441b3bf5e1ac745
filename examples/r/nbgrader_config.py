"""The configuration of the example in R; nbgrader and viva read this file."""

from viva import configuration

c = get_config()  # noqa: F821  (traitlets provides it)

c.CourseDirectory.course_id = "r"
c.CourseDirectory.ignore = [".ipynb_checkpoints", "__pycache__", "feedback", ".DS_Store", ".git*", "*~"]
c.OverwriteCells.add_missing_cells = True
c.Execute.timeout = 30
configuration.apply(c, __file__)
