"""A course on disk: its releases, its submissions and their results.

Theory of operation. Folders and gradebook are nbgrader's own. A batch plans what is new, workers mark submissions in
processes of their own, through nbgrader's steps with a draft in place of the gradebook, and one writer records each in
a transaction. A command that was killed leaves nothing that the next one does not clear away.

course         a course on disk: its folder, assignments, submissions and gradebook
database       what the gradebook's database says, waiting for it, and the indexes that it lacks
source/        what stands in an assignment's folder, and what it means
examining/     the engine inside nbgrader's autograder
releasing/     from source/ to release/, and the contract of what was released
grading/       submissions, from the folder to the gradebook
processes/     workers, Ctrl-C, and what a killed command leaves behind
gradebook/     what is recorded of a class
grades/        a course's grades, read out again
deadlines/     until when something may be submitted, and what it costs to be late
table          a list in a file, as a learning system or a spreadsheet writes it
regrade/       a corrected assignment over graded submissions: who changes, and why

Public, for plug-ins: course, database, table.
"""
