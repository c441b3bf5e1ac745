"""Viva's engine as steps inside nbgrader's autograder.

steps           those and nbgrader's own, in their order
autograde       the engine as steps inside nbgrader's autograder
writtenanswers  a written answer that is graded again keeps its manual grade, if it is the same
graders         the graders of this process, and what they know about a notebook
rehearsals      what rehearsing a solution showed, kept beside the course
fingerprint     what has not changed since it was graded
links           links by which a submission holds what is not its student's

Public, for plug-ins: autograde, fingerprint, graders, rehearsals, writtenanswers.
"""
