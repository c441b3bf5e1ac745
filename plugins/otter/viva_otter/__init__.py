"""Notebooks of otter-grader become assignments: ``viva adopt --from=otter`` (the door ``viva.origins``).

conversion   otter's blocks and test files -> nbgrader's cells
"""
