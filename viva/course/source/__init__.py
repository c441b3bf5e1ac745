"""What stands in the folder of an assignment: lines of a solution, files, limits, and what the machine has to provide.

markers    where a solution and hidden tests begin and end; lines with a slip in them
leaving    files beside the notebooks that would show a solution to students
timelimit  the seconds of a cell, in nbclient's words
skeleton   a new assignment to start from
machine    packages in odd places, folders and variables that notebooks need

Public, for plug-ins: machine, skeleton, timelimit.
"""
