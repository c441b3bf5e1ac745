"""A notebook's cells find their places in the assignment:

texts      what can be told of a text without running it: its names, whether it is code
handout    what was handed out, code, words and whole notebooks, which is nobody's work
places     the cells of an assignment, and those of a submission
cellmatching  which cell is which: by what it says it is, by its lines, by its content
doubts     what of a repaired submission a human should look at, where its tests do not pass
repair     the assignment's cells in the assignment's order, and a note of each repair
"""
