"""Why a check was not passed: one walk through a graded notebook, and a table of sources that know a reason.

Theory of operation. The walk goes over the cells in order, once. Each source looks at every cell, and remembers which
names are not what they should be from there on; and it is asked at every check, in the order of the table, for its
reason. Verdicts and points stay as they are. What is found stands beside them, as notes in the check's result and in
the outcome, and as doubts for a grader.

To add a reason: a class with a docstring in a module here, its place in ``_sources`` of ``walk``, its words in
``viva/words.toml``.

walk           the walk, and the table of sources
place          a cell on the way: its text, names, errors; the exceptions that several sources know
notdone        answers that are not done yet
lacking        libraries that are not installed
refused        what the sandbox refused
shellcommands  commands for the shell, which are not run
noreturn       functions whose text gives no value
stopped        cells that did not run to their end, and those below that use what they were to give
"""
