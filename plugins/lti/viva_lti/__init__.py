"""Rosters in and scores out, over LTI 1.3 or with Canvas by token: a course asks its learning system.

platforms      the learning systems: where their services are, and what is entered there
settings       what a configuration can say
key            the course's key pair, outside the course folder
registration   what a course knows about its place in a learning system: lti.json
transport      how requests travel: limits on time, size and attempts
connection     requests with a token, with limits on time, size and attempts
members        who is in the course (names and roles)
grades         columns, results and scores (assignments and grades)
matching       which member is which student
sent           the scores that were sent: lti/<assignment>.jsonl
scoreplan      what each student's score becomes: sent, unchanged, or left
scores         what every way of sending scores has: columns, results, scores
exporting      sending scores, as a command
lticommand     viva lti
canvascourse   Canvas's members, groups and times of submission, with an access token
drafts         scores into Canvas's gradebook, which students do not see yet
canvascommand  viva canvas
"""
