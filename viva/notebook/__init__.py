"""A notebook's cells as everybody reads them: one place says what a cell is called and what it is for.

cell  the name and the purpose of a cell, from nbgrader's metadata
programming  the language of a notebook's code, and its kernel

Public, for plug-ins: cell, programming.
"""
