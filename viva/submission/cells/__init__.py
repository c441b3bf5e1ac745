"""A notebook's cells find their places in the assignment:

texts      what can be told of a text without running it: its names, whether it is code
copied     code without what a page, a mail, a chat or a shell added to it
handout    what was handed out, code and words, which is nobody's work
places     the cells of an assignment, and those of a submission
evidence   how much one looks like another
joins      where cells were merged or split: found, joined and cut
match      what was found for the cells of an assignment so far
matching   the steps that find it, as a list:
fragments    code in texts, texts merged with others, code split in the middle
certain      exact texts, and what cells say they are
likely       what cells say, and where they stand
misplaced    answers that stand in a given cell, beside their stub, in two cells, twice
neverrun   why an answer as it stands never ran
foreign      answers that fit to another place than the grader's
doubts     what of a repaired submission a human should look at, where its tests do not pass
repair     the assignment's cells in the assignment's order, and a note of each repair
"""
