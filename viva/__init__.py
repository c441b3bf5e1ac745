"""Viva: an autograded course kit on nbgrader. The modules, in reading order; a folder's own map heads it:

verdict      the vocabulary of results, and the exception tree
configuration  what a course has to say so that nbgrader keeps the same rules
course       a course on disk: assignments, students, submissions, gradebook
folder       a stranger's folder: walked, measured and removed
taint        which cells and names of a notebook depend on the student
blueprint    what an assignment expects: cells, points, checks
answers      known right and wrong answers, and the submissions made from them
skeleton     a new assignment to start from
release      source/ -> release/
visible      what a released notebook says about its own checks

values/      what may cross between the processes, as bytes
wire         plain values to bytes and back, and messages over a pipe
layers/      what the wall is made of, by Linux's own means
wall         how a process gives up everything but its own work
protection   which layers of the wall this machine gives
trial        attempts to break each layer of the wall
claims       slots of the wall, each claimed by one grader on the machine
dialogue/    candidate and examiner: what one asks and the other answers
candidate    inside the wall: runs the student's cells and answers questions about them
examiner     runs the tests and asks the candidate
libraries    which libraries are loaded before the first submission comes
parent       warm parents: the libraries are loaded once, a fork serves each submission
patience     how long a submission is waited for
session      a candidate and an examiner, connected
outcome      what a notebook came to
undone       answers that are not done yet, and the checks that this explains
examination  what the examiner knows about a notebook, and how a grade cell is examined
passage      one pass over a submission, and a new one after each death
grading      one notebook -> verdicts
solo         the instructor's own solution, run in one process
rehearsal    what the grader learns from the instructor's own solution
practice     a student's own check: the visible checks, graded where the student works

intake/      the files of a submission become notebooks, whatever is broken or moved
submission   what a student handed in -> notebooks, or why there are none
links        links by which a submission holds what is not its student's
inbox        a course's submissions, opened
cleaning/    a stranger's text, pictures, formulas and markup, made harmless
blind        the step that empties the cells which ask for a name
sanitize     the step that cleans what was handed in before a browser shows it
autograde    the engine as steps inside nbgrader's autograder
exporter     how nbgrader's own autograder reads a submission: repaired
gradebook/   what is recorded of a class, and read out again
processes/   workers, Ctrl-C, and what a killed command leaves behind
marking      one submission through nbgrader's steps, in a worker
batch        many submissions: planned, graded, recorded
edition      an assignment as it is out, and what the next release changes
shadow       a copy of a course to try a regrade in
regrade      a corrected assignment over graded submissions: who changes, and why

pages/       the page that a student gets back, and what must not stand in it
feedback     the pages of many submissions, through nbgrader's converter
reporting/   what the instructor's page tells, as plain data
report       the instructor's page
formgrade    the page on which a grader reads a notebook in formgrader

proving/     mutants, and the other parts of the audit
audit        an assignment is proven before it is released
prove        audits of several assignments at the terminal
adoption     an existing nbgrader notebook -> one of this course

demo         the demo class
paraphrase   a right answer in other words, so that honest demo students are not alike
doctor       what this machine lacks
commands     the commands, by the part of the flow
cli          the `viva` command; __main__ starts it
"""

__version__ = "0.1.0"

ENGINE = 15
"""Raised by every change that can change a verdict, so that what was graded before is graded again."""
