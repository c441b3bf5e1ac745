"""A course on disk: its releases, its submissions and their results.

Theory of operation. Folders and gradebook are nbgrader's own. A batch plans what is new, workers mark submissions in
processes of their own, through nbgrader's steps with a draft in place of the gradebook, and one writer records each in
a transaction. A command that was killed leaves nothing that the next one does not clear away.

course         a course on disk: its folder, assignments, submissions and gradebook
database       what the gradebook's database says, waiting for it, and the indexes that it lacks
processes/     workers, Ctrl-C, and what a killed command leaves behind
gradebook/     what is recorded of a class
grades/        a course's grades, read out again
deadlines/     until when something may be submitted, and what it costs to be late
table          a list in a file, as a learning system or a spreadsheet writes it
links          links by which a submission holds what is not its student's
inbox          a course's submissions, opened
pipeline       what a submission goes through, as a list; from bytes to bytes
rehearsals     what rehearsing a solution showed, kept beside the course
location       where a course lies, seen from a folder in it
seen           which submissions were looked at, and what became of each
overview       the state of a course and the next command, as `viva` alone prints them
material       all that grading an assignment depends on beside a submission
remote         graders on other machines: what they have to be, and which are selected
exchange       submissions from nbgrader's exchange, where anybody can write
graders        the graders of this process, and what they know about a notebook
autograde      the engine as steps inside nbgrader's autograder
steps          those and nbgrader's own, in their order
overrides      what is changed in nbgrader itself, with reasons
exporter       how nbgrader's own autograder reads a submission: opened as in a batch
marking        one submission, graded by a worker
writtenanswers  a written answer that is graded again keeps its manual grade, if it is the same
filing         the result of a submission, put into autograded/
fingerprint    what has not changed since it was graded
batch          many submissions: planned, graded, recorded
markers        where a solution and hidden tests begin and end; lines with a slip in them
compiler       nbgrader's steps and the course's own: a notebook for students, and the complete one
contract       what was released, kept beside the gradebook: what is graded, audited and packaged
leaving        files beside the notebooks that would show a solution to students
machine        packages in odd places, folders and variables that notebooks need
timelimit      the seconds of a cell, in nbclient's words
release        source/ -> release/: nothing of a solution stays, AUTOTEST runs in the sandbox
releasecheck   whether release/ is what source/ compiles to, tried in a copy of the course
joined         students who were entered twice and are one
identities     the numbers by which learning systems know students, each with its system
journal        changes of several files and the gradebook: written down, done step by step, finished after a kill
busy           who works with a course for long without its lock
solutions      the students' version with the instructor's answers, to give out after the deadline
rubric         comments that repeat, and the scores that they make
variants       a seed for each student, by HMAC from the course's key, and a copy of the notebook with it
snapshot       a copy of the gradebook of a course that cannot be written to
groupshared    files that graders of one group share
regrade/       a corrected assignment over graded submissions: who changes, and why

Public, for plug-ins: autograde, batch, busy, contract, course, database, exchange, filing, fingerprint, graders,
identities, joined, journal, machine, marking, material, pipeline, rehearsals, remote, table, timelimit, variants,
writtenanswers.
"""
