"""Grades out: files that learning systems and spreadsheets take in.

sheet        a system's own exported sheet: each cell can be changed, and all else stays as it is, byte for byte
number       a score as a system writes it, and reads it
marks        what each student has of an assignment, or why that is not to be written
identity     which student a row of a sheet is about
sheetexport  what all of the systems have in common: a plan of what is written, and nbgrader's plugin
canvas       its gradebook
moodle       its grading worksheet
brightspace  its list of grades
gradescope   a list as it writes one itself
workbook     all scores as a workbook, and as JSON
feedbackzip  pages as the zip that Moodle and Canvas take back
"""
