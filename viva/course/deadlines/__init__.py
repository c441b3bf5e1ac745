"""Deadlines and late penalties:

moment       times and durations as people write them; days that begin at a time of day
rule         the late penalty: days, hours or steps, of what, down to what; and the penalty by it
policy       the course's rules, and those of each assignment, as nbgrader's plugin for late submissions
concessions  whom the instructor grants more time, or excuses

Public, for plug-ins: concessions, moment, policy.
"""
