"""A notebook becomes verdicts: one process runs it, another asks it questions.

Theory of operation. The *candidate* runs the notebook that a student saw, with their answers in it. The *examiner* has
the instructor's test cells and asks the candidate what a name means, or what a function returns; only plain values
cross, so nothing in the student's interpreter can read a test or decide a verdict. Both are forks of warm parents that
have the libraries loaded, and both are behind the wall. What may be asked, and of what kind an answer has to be, is
learnt once, in a rehearsal of the instructor's own solution.

values/       what may cross between the processes, as bytes
wire          plain values to bytes and back
pipe          messages over a pipe
dialogue/     what the examiner asks and the candidate answers
names         the names in a cell's text: given, used, mentioned
assigned      what a student's cell may give another value
ownership     which cells and names of a notebook are the student's
imported      which answers the solution only imports
checks        the checks of a grade cell: titles, points, lines, hidden ones
blueprint     what an assignment expects: cells, points, checks
seedline      the line by which a notebook offers variants
studentcopy   what a released notebook says about its own checks
candidate     inside the wall: runs the student's cells and answers questions about them
credit        the last value of a test cell: partial credit
checkreport   what came of one check, and why
examiner      runs the tests and asks the candidate
libraries     which libraries are loaded before the first submission comes
parent        warm parents, as the grading process starts and ends them
forkserver    a warm parent itself: the libraries are loaded once, a fork serves each submission
patience      how long a submission is waited for
channel       what a process that has forks made asks of a warm parent
session       a candidate and an examiner, connected
outcome       what a notebook came to
undone        answers that are not done yet, and the checks that this explains
lacking       libraries that a notebook imports and that are not installed
refusals      what the sandbox refused to a notebook, so that checks were lost
examination   what the examiner knows about a notebook, and how a grade cell is examined
passage       one pass over a submission, and a new one after each death
pair          the two warm parents of a process that grades
grading       one notebook -> verdicts
solo          the instructor's solution in one process, as it would run in a kernel
indivisible   tests that run in the student's process, because they look into it
evaluated     tests that run a text of the student's as code
rehearsal     what the grader learns from the instructor's own solution
"""
