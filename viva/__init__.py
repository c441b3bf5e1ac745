"""Viva: an autograded course kit on nbgrader. The modules, in reading order:

verdict      the vocabulary of results, and the exception tree
course       a course on disk: assignments, students, submissions, gradebook
blueprint    what an assignment expects: cells, points, checks
answers      known right and wrong answers, and the submissions made from them
legible      a stranger's text, made fit to be shown
handin       the files of a submission: which may be which notebook
rawcell      one cell of a damaged notebook -> a cell
salvage      the bytes of a file -> a notebook, whatever is broken
brokenjson   the text of a file -> JSON, or as much of it as there is
texts        what can be told of a text without running it: its names, whether it is code
slots        the cells of an assignment and of a submission, and how much one looks like another
seams        where cells were merged or split: found, joined and cut
pieces       the pieces of a submission: taken apart and put together before they are matched
matching     which cell of a submission is which cell of the assignment
strays       answers that stand elsewhere: in a given cell, beside their stub, in two cells, twice
doubts       what of a repaired submission a human should look at, where its tests do not pass
repair       the assignment's cells in the assignment's order, and a sentence for each repair
submission   the four together: what a student handed in -> notebooks, or why there are none
skeleton     a new assignment to start from
release      source/ -> release/

taint        which cells and names of a notebook depend on the student
plain        what may cross between the processes, kind by kind; arrays and frames are NumPy's and pandas' part of it
shared       lists and arrays that both processes hold
wire         plain values to bytes and back, and messages over a pipe
wall         how a process gives up everything but its own work
privileges   root, capabilities and namespaces
landlock     which files can still be reached
syscalls     which system calls are still answered
trial        attempts to break each layer of the wall
randomness   the global random state, as plain values
shell        the IPython of the student's code
integrity    facts about what a notebook did to the process that ran it
operations   what can be asked of one of its objects
candidate    inside the wall: runs the student's cells and answers questions about them
raised       exceptions on their way between candidate and examiner
standin      the examiner's objects for what lives in the candidate
asker        puts the examiner's questions, and judges the answers
namespace    the names that test code sees
testcode     the code of a test, compiled so that it can ask
examiner     runs the tests and asks the candidate
parent       warm parents: the libraries are loaded once, a fork serves each submission
session      a candidate and an examiner, connected
outcome      what a notebook came to
claims       slots of the wall, each claimed by one grader on the machine
grading      one notebook -> verdicts
rehearsal    what the grader learns from the instructor's own solution

visible      what a released notebook says about its own checks
practice     a student's own check: the visible checks, graded where the student works
picture      whether a browser can show a student's picture without harm
address      where a student's link may lead
mathematics  formulas that do more than typeset are shown as they were typed
markup       HTML and Markdown from a student, made harmless
sanitize     the step that cleans what was handed in before a browser shows it
autograde    the engine as steps inside nbgrader's autograder
exporter     how nbgrader's own autograder reads a submission: repaired
lateness     what a late submission costs
results      what every check came to, as JSON lines
record       many workers draft, one writer records in the gradebook
stopping     Ctrl-C: a command stops with one sentence, never in the middle of something
leftovers    what a killed command leaves behind, and one command at a time on a course
workers      a pool of processes that survives the death of any of them
marking      one submission through nbgrader's steps, in a worker
batch        many submissions: planned, graded, recorded
shadow       a copy of a course to try a regrade in
regrade      a corrected assignment over graded submissions: who changes, and why
hidden       the hidden lines of an assignment, and where a page holds one
explanation  what a student reads of a check that did not pass
typeset      Markdown, formulas and outputs as HTML that can do nothing
page         the page that a student gets back
feedback     the pages of many submissions, through nbgrader's converter
export       the gradebook as rows and as CSV
itemanalysis how hard each check is, whether it tells good work from bad, what goes wrong
similarity   whose answers share what hardly anybody else wrote
pseudonyms   names of students that tell nobody who they are
classbook    what the gradebook knows of a class, in a few queries
findings     all that the report tells, gathered as plain data
plot         plots as SVG in a page's colours
report       the instructor's page
operators    the mistakes that people make, as changes of a syntax tree
mutants      wrong solutions derived from the right one
witness      runs beside a mutant and finds out whether it is equivalent to the solution
probe        what a worker process does with one notebook of an audit
proof        what an audit came to, as plain data; excuses
hygiene      what a notebook should be before it is released
audit        an assignment is proven before it is released
adoption     an existing nbgrader notebook -> one of this course
auditpage    the audit as an HTML page, and the record that it passed
prove        audits of several assignments at the terminal
demo         the demo class
doctor       what this machine lacks
commands     the commands, by the part of the flow
cli          the `viva` command; __main__ starts it
"""

__version__ = "0.1.0"

ENGINE = 6
"""Raised by every change that can change a verdict, so that what was graded before is graded again."""
