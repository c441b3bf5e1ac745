"""For who writes assignments: an assignment is proven before it is released.

Theory of operation. Known right answers must earn every point, known wrong ones must lose the check that they name, and
mutants of the solution must be caught; all are graded in the real engine. A mutant that no check notices is compared
with the solution, while a witness watches what its functions do: it is equal, survived, or unproven.

checkname     how checks are told apart, and what a trial says of one
answers       known right and wrong answers, and the submissions made from them
adoption      an existing nbgrader notebook -> one of this course
operators     the mistakes that people make in Python, as changes of a syntax tree
fieldmistakes  those of a course's own field: answers/slips.py
mutants       wrong solutions derived from the right one
trimming      which cells a trial needs
patterntexts  texts that match a pattern of the solution, and that nearly do
structures    other shapes of what functions are called with: longer, deeper, with other keys
drawing       random calls of a function, like those that were noted
likeness      whether two values are the same, or cannot be compared
changedplaces  which places a mutant changes, and whether a compared call ran them
witness       runs beside a mutant and finds out whether it is equal to the solution
checkline     finds small calls that tell a mutant from the solution, and writes them as lines of a check
degenerate    functions that are right where students can see it, and return nothing of use elsewhere
store         results of trials, kept by what they depend on
trials        what a worker process does with one notebook of an audit
auditresult   what an audit came to, as plain data; excuses
kernelaudit   mutants in other languages, by the packages that bring them
judgement     what the trials say, as plain data: proofs, fates, scores
hygiene       what a notebook should be before it is released
audit         an assignment is proven
auditpage     the audit as an HTML page, and the record that it passed
proposals     check lines for mutants that no visible line notices, measured before they are shown
certificate   what an audit has proven, as a page to print and as JSON
audits        audits of several assignments at the terminal
demo          the demo class, and solutions in other words
auditcommand  viva audit
adoptcommand  viva adopt
democommand   viva demo
auditproof    what a release asks

Other plug-ins use: adoption, answers, fieldmistakes, mutants, trials, trimming.
"""
