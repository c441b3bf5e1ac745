"""Whatever a student submitted becomes the assignment's notebooks, cell by cell, or a sentence that says why not.

Theory of operation. Files are judged by their names and read with limits on size, time and memory (``files/``). The
cells of what was read are matched with the cells of the assignment by identity, then by text (``cells/``); locked cells
are the instructor's again, and nothing that was released is ever taken for an answer. Each repair is noted;
what stays doubtful waits for a grader where its tests do not pass.

files/      a file -> a notebook, whatever is broken
cells/      a notebook's cells find their places
submission  what one student submitted for one assignment, and what became of it
packing     the same as bytes, so that another machine can grade it
work        one notebook on its way through the steps of grading, and as text at their end
variant     the seed that makes a variant of an assignment, and whose variant a notebook is
reading     what a student submitted -> notebooks, or why there are none
studentcopy  what a released notebook says about its own checks
blind       the step that empties the cells which ask for a name
sanitize    the step that cleans what was submitted before a browser shows it

Public, for plug-ins: packing, submission, variant.
"""
