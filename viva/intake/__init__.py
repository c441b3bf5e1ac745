"""The files of a submission become notebooks, whatever is broken or moved:

contents    the bytes of a file that was handed in, and no more
handin      the files of a submission: which may be which notebook
rawcell     one cell of a damaged notebook -> a cell
wrapping    what a notebook came in: a page, another document, a letter
brokenjson  the text of a file -> JSON, or as much of it as there is
conflict    what a merge left unresolved, in a file or a cell, has two sides
sizes       how large a notebook may be, and how long its reading may take
salvage     the bytes of a file -> a notebook, whatever is broken
texts       what can be told of a text without running it: its names, whether it is code
copied      code without what a page, a mail, a chat or a shell added to it
handout     what was handed out, code and words, which is nobody's work
shipped     the notebooks that came beside the assignment's own, which are nobody's either
slots       the cells of an assignment and of a submission, and how much one looks like another
seams       where cells were merged or split: found, joined and cut
pieces      the pieces of a submission: taken apart and put together before they are matched
matching    which cell of a submission is which cell of the assignment
strays      answers that stand elsewhere: in a given cell, beside their stub, in two cells, twice
unrun       why an answer as it stands never ran
doubts      what of a repaired submission a human should look at, where its tests do not pass
repair      the assignment's cells in the assignment's order, and a sentence for each repair
"""
