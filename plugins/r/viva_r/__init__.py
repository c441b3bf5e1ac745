"""Hidden tests that stay hidden in R: a second kernel runs the tests, and asks the student's.

Theory of operation. The *candidate* is the kernel that runs the student's notebook, the *examiner* another one, in
bubblewrap too, that runs the test cells and those read-only cells that depend on no student. In the examiner each name
of the student's is an active binding that asks for its value, and each function a proxy that asks for a call. Questions
and answers are lines of JSON in named pipes; between the kernels stands Python, which reads each, keeps what a tree of
plain values can say, and writes it anew. So the candidate has no test, and can say nothing but values; classes of a
student's own do not cross, and decide no comparison.

A test that the solution passes in one kernel only is a single-process cell: it runs in the candidate.

trees     what may cross: trees of plain values, checked
talk.R    the two ends in R
pipes     lines of JSON in named pipes
dialogue  the two kernels of a submission: who asks, who answers, and for how long
text      which tests are single-process cells, by their words; what testthat's ``test_that`` says
mistakes.R  wrong versions of a solution, for the audit
"""
