"""A notebook's cells find their places in the assignment:

texts      what is known about a text without running it: its names, whether it is code
handout    what was released, code, words and whole notebooks, which no student wrote
places     the cells of an assignment, and those of a submission
cellmatching  which cell is which: by what it says it is, by its lines, by its content
doubts     which cells of a repaired submission a grader should check, where its tests do not pass
repair     the assignment's cells in the assignment's order, and a note of each repair

Public, for plug-ins: texts.
"""
