"""Candidate and examiner: what one asks and the other answers:

exceptions    exceptions on their way between candidate and examiner
likeness      exceptions of a library's class that hold only what may be told
parts         what is in a value, and how one is changed in place
sharedvalues  lists and arrays that both processes hold
shell         the IPython of the student's code
interrupts    when an interrupt is let through to student code
callback      a function of the examiner's in the candidate
integrity     facts about what a notebook did to the process that ran it
facts         what is told of it, put together by who can be trusted
operations    what can be asked of one of its objects
objects       those that stay in the candidate, by number
told          what names were told to mean, kept until student code runs
standin       the examiner's objects for what lives in the candidate
instances     isinstance, type and id as test code sees them
kinds         of what kind each answer of the solution was, and of what kind it has to be
decided       what comes of an object and plain data without an operator of a student's
misfit        what a call gave that is of another kind, and that nobody may look at
references    how each side names what lives in the other
doubt         how what a candidate answers is read
changes       what student code has changed in place
calledback    a function of the examiner's that student code calls
asker         puts the examiner's questions, and reads the answers
guard         what the examiner refuses to run, and to load, since it came of an answer
namespace     the names that test code sees
testcode      the code of a test, compiled so that it can ask
"""
