"""Workers, Ctrl-C, and what a killed command leaves behind:

stopping   Ctrl-C: a command stops with one sentence, never in the middle of something
leftovers  what a killed command leaves behind, and one command at a time on a course
workers    a pool of processes that survives the death of any of them
slow       a line on the terminal for what takes long

Public, for plug-ins: leftovers, slow, stopping, workers.
"""
