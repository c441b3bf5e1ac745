"""What is recorded of a class, and read out again:

results     the result of every check, as JSON lines
agreement   whether gradebook, results and graded notebooks speak of the same work
database    what the gradebook's database says, waiting for it, and the indexes that it lacks
advisory    being alone with a gradebook that lies on a server
recording   many workers draft, one writer records in the gradebook
lateness    what a late submission costs, whoever changes its score
standing    graded, refused, left out, not submitted or excused, and why
export      the gradebook as rows and as CSV
sheetplan   the sheet of one assignment's scores, and the formats that packages add
questions   points by question and check, as a table
classbook   what the gradebook knows of a class, in a few queries

Public, for plug-ins: agreement, database, export, lateness, recording, results, sheetplan,
standing.
"""
