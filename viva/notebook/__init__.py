"""A notebook's cells as everybody reads them: what a cell is called, what it is for, and what its code says.

cell         the name and the purpose of a cell, from nbgrader's metadata
programming  the language of a notebook's code, and its kernel
syntax       the syntax tree of a cell, its imports, and the name at the beginning of an expression
names        the names in a cell's text: given, used, mentioned
assertions   what a test asserts, and what it says when a check fails
statements   what a cell's statements do, as far as their form tells
stubs        how far an answer is, and which functions of it are not done

Public, for plug-ins: assertions, cell, names, programming, statements, syntax.
"""
