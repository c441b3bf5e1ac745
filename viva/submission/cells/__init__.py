"""A notebook's cells find their places in the assignment:

texts      what can be told of a text without running it: its names, whether it is code
copied     code without what a page, a mail, a chat or a shell added to it
handout    what was handed out, code and words, which is nobody's work
places     the cells of an assignment and of a submission, and how much one looks like another
joins      where cells were merged or split: found, joined and cut
fragments  a submission taken apart and put together before its cells are matched
matching   which cell of a submission is which cell of the assignment
misplaced  answers that stand elsewhere: in a given cell, beside their stub, in two cells, twice
neverrun   why an answer as it stands never ran
doubts     what of a repaired submission a human should look at, where its tests do not pass
repair     the assignment's cells in the assignment's order, and a sentence for each repair
"""
