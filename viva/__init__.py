"""Viva: an autograded course kit on nbgrader. The modules, in reading order:

verdict      the exception tree
course       a course on disk: assignments, students, submissions, gradebook
blueprint    what an assignment expects: cells, points, checks
answers      known right and wrong answers, and the submissions made from them
submission   what a student handed in: whether it can be graded, and if not, why
release      source/ -> release/
autograde    steps inside nbgrader's autograder, to grade fairly
lateness     what a late submission costs
feedback     what may stand in the page that a student gets back
batch        many submissions through nbgrader, several at a time
export       the gradebook as rows and as CSV
demo         the demo class
doctor       what this machine lacks
cli          the `viva` command
"""

__version__ = "0.1.0"

ENGINE = 1
"""Raised by every change that can change a verdict, so that what was graded before is graded again."""
