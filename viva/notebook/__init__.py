"""A notebook's cells as everybody reads them: what a cell is called, what it is for, and its code as a syntax tree.

cell         the name and the purpose of a cell, from nbgrader's metadata
programming  the language of a notebook's code, and its kernel
syntax       the syntax tree of a cell, its imports, and the name at the beginning of an expression

Public, for plug-ins: cell, programming, syntax.
"""
