"""What people read: a student's page, the instructor's report, formgrader's pages.

Nothing of a stranger's runs or loads in any of them, and no hidden line reaches a student: ``hidden`` looks at each
finished page, and one that holds such a line is withheld.

hidden       the hidden lines of an assignment, and where a page holds one
explanation  what a student reads of a check that did not pass
typeset      Markdown, formulas and outputs as HTML that can do nothing
exercise     the exercises of a page and their checks
additions    what other packages add to pages: sentences about a test cell
page         the page that a student gets back
feedback     the pages of many submissions, through nbgrader's converter; each has a seal
reporting/   what the instructor's page tells, as plain data
report       the instructor's page, with its plot and its tables
livelists    the report's lists as they are now, in formgrader's server
submittedfiles  pictures and downloads of students' files, in formgrader's server
formgrade    the page on which a grader reads a notebook in formgrader
groupcomment  a comment that goes to all answers that are alike
rubricedit  a rubric item that is edited on a grader's page, with the scores that it gave
gradingapi   what formgrader's server answers to that page: saving, and what waits next
sentvalues   the points and texts that a browser sends, checked in one place
waitinglist  the submissions of a notebook that wait for a grader
openanswers  which answers graders have open

Public, for plug-ins: additions, exercise, feedback, hidden, page, report.
"""
