"""The configuration of the example in PyTorch; nbgrader and viva read this file."""

from viva import configuration

c = get_config()  # noqa: F821  (traitlets provides it)

c.CourseDirectory.course_id = "pytorch"
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".DS_Store", ".git*", "*~"]
c.OverwriteCells.add_missing_cells = True
c.Execute.timeout = 60
configuration.apply(c, __file__)
