"""A notebook becomes verdicts: one process runs it, another asks it questions.

Theory of operation. The *candidate* runs the notebook that a student saw, with their answers in it. The *examiner* has
the instructor's test cells and asks the candidate what a name means, or what a function returns; only plain values
cross, so nothing in the student's interpreter can read a test or decide a verdict. Both are forks of fork servers that
have the libraries loaded, and both are in sandboxes. What each answer has to be is learnt once, in a rehearsal of the
instructor's own solution.

values/       what may cross between the processes
wire          plain values to bytes and back
pipe          messages over a pipe
dialogue/     what the examiner asks and the candidate answers
checks        the checks of a grade cell: titles, points, lines, hidden ones
blueprint     what an assignment expects: cells, points, checks
ownership     which cells and names of a notebook are the student's
singleprocess  test cells that run in the student's process, told by their text
candidate     in the sandbox: runs the student's cells and answers questions about them
examiner      runs the tests and asks the candidate
libraries     which libraries are loaded before the first submission comes
parent        fork servers, as the grading process starts and ends them, and asks them for forks
forkserver    a fork server itself: the libraries are loaded once, a fork serves each submission
timebudget    how long a submission is waited for: its time budget
plaincode     code of other languages, read by its words
kernelsession  the kernel of another language in the sandbox, in place of candidate and examiner
kerneldialogue  two kernels, one of which runs the tests; a package brings what they say to each other
kernelrehearsal  the rehearsal of a notebook in another language
session       a candidate and an examiner, connected; the two fork servers that they come from
outcome       what checks and notebooks came to
examination   what the examiner knows about a notebook, and how a grade cell is examined
credit        the last value of a test cell: partial credit
explaining/   why a check was not passed: one walk through a graded notebook
disguise      answers that may run other code than the source that a test looks at
secondlook    checks that a refusal cost, looked at once more in one process
carried       answers that are right once wrong ones above them are the solution's
everyday      what is to work in the sandbox, tried before anything is graded there
grading       one notebook -> verdicts
rehearsal     what the grader learns from the instructor's own solution

Public, for plug-ins: blueprint, checks, credit, examination, grading, kerneldialogue, kernelsession, libraries,
outcome, plaincode, rehearsal, session, timebudget, wire.
"""
