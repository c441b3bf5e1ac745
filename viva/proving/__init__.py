"""Mutants, and the other parts of the audit:

operators  the mistakes that people make in Python, as changes of a syntax tree
slips      those that they make with attention, and when they train
mutants    wrong solutions derived from the right one
witness    runs beside a mutant and finds out whether it is equivalent to the solution
probe      what a worker process does with one notebook of an audit
judgement  what the trials of an audit say
proof      what an audit came to, as plain data; excuses
hygiene    what a notebook should be before it is released
auditpage  the audit as an HTML page, and the record that it passed
"""
