"""The page that a student gets back, and what must not stand in it:

hidden       the hidden lines of an assignment, and where a page holds one
explanation  what a student reads of a check that did not pass
typeset      Markdown, formulas and outputs as HTML that can do nothing
exercise     the exercises of a page and their checks
repairs      what of the repairs of a file its student reads
page         the page that a student gets back
seal         the last line of a page, by which one that would come out the same is left
refusal      that of a submission that could not be graded
"""
