"""What students submitted: found, opened, graded by workers, and filed.

batch        many submissions: planned, graded, recorded
material     all that grading an assignment depends on beside a submission
marking      one submission, graded by a worker
pipeline     what a submission goes through, as a list; from bytes to bytes
filing       the result of a submission, put into autograded/
remote       graders on other machines: what they have to be, and which are selected
inbox        a course's submissions, opened
exporter     how nbgrader's own autograder reads a submission: opened as in a batch
overrides    what is changed in nbgrader itself, with reasons
exchange     submissions from nbgrader's exchange, where anybody can write
seen         which submissions were looked at, and what became of each
overview     the state of a course and the next command, as `viva` alone prints them
busy         who works with a course for long without its lock
groupshared  files that graders of one group share

Public, for plug-ins: batch, busy, exchange, filing, marking, material, pipeline, remote.
"""
