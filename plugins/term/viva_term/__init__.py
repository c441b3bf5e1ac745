"""A course's term with learning systems: rosters, archives of submissions, sheets of grades.

The core grades without this package. Its commands and formats come in through the doors of ``viva.doors``.

archives/      submissions from a learning system's archive, collected into submitted/
lms/           the roster: the students in a learning system's list, and what a newer list changes
joining        two ids that are one student
privacy/       one person's data: given out, taken away, brought back
sheets/        grades out: files that learning systems and spreadsheets import
people         what roster and archives know about the students, for the report
commands/      viva roster, viva collect
"""
