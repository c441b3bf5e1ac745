"""A corrected assignment over graded submissions: who changes, and why.

regrading   the regrade of a course: graded again in a copy, compared, then recorded
trialcopy   a copy of a course in which a regrade is tried
changes     what a regrade changed: check by check, each with the reason
edition     an assignment as it is out, and what the next release changes
snapshot    a copy of the gradebook of a course that cannot be written to

Public, for plug-ins: trialcopy.
"""
