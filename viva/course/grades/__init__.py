"""A course's grades, read out again:

standing    graded, refused, left out, not submitted or excused, and why
export      the gradebook as rows and as CSV
sheetplan   the sheet of one assignment's scores, and the formats that packages add
questions   points by question and check, as a table

Public, for plug-ins: export, sheetplan, standing.
"""
