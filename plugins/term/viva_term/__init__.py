"""A course's term with other systems: learning management systems, nbgrader's exchange and Gradescope.

Nothing in the core (course, submission, engine and what they use) imports this package: a submission is graded
without it. Its commands are found by name.

archives/      submissions from a learning system's archive, collected into submitted/
lms/           the roster: the students in a learning system's list, and what a newer list changes
joining        two ids that are one student
sheets/        grades out: files that learning systems and spreadsheets import
people         what roster and archives know about the students, for the report
exchange       submissions from nbgrader's exchange, where anybody can write
gradescope/    the zip with which Gradescope's autograder grades as Viva does
"""
