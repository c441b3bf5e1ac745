"""A course on disk: what is released, what is handed in, what it came to.

Theory of operation. Folders and gradebook are nbgrader's own. A batch plans what is new, workers mark submissions in
processes of their own, through nbgrader's steps with a draft in place of the gradebook, and one writer records each in
a transaction. A command that was killed leaves nothing that the next one does not clear away.

configuration  what a course has to say so that nbgrader keeps the same rules
course         a course on disk: assignments, students, submissions, gradebook
processes/     workers, Ctrl-C, and what a killed command leaves behind
gradebook/     what is recorded of a class, and read out again
links          links by which a submission holds what is not its student's
inbox          a course's submissions, opened
autograde      the engine as steps inside nbgrader's autograder
exporter       how nbgrader's own autograder reads a submission: repaired
marking        one submission through nbgrader's steps, in a worker
batch          many submissions: planned, graded, recorded
release        source/ -> release/
edition        an assignment as it is out, and what the next release changes
trialcopy      a copy of a course in which a regrade is tried
regrade        a corrected assignment over graded submissions: who changes, and why
"""
