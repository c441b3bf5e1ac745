"""What is recorded of a class:

results     the result of every check, as JSON lines
health      whether the gradebook can be used, and bringing it up to date
releases    which assignments and notebooks are in the gradebook
agreement   whether gradebook, results and graded notebooks speak of the same work
advisory    being alone with a gradebook that lies on a server
recording   many workers draft, one writer records in the gradebook
lateness    what a late submission costs, whoever changes its score
classbook   what the gradebook knows of a class, in a few queries
identities  the numbers by which learning systems know students, each with its system
joined      students who were entered twice and are one
journal     changes of several files and the gradebook: written down, done step by step, finished after a kill
rubric      comments that repeat, and the scores that they make
rubricfile  the file of a rubric with one item changed, added, moved or deleted, and nothing else

Public, for plug-ins: agreement, health, identities, joined, journal, lateness, recording, releases, results.
"""
