"""The page that a student gets back, and what must not stand in it:

hidden       the hidden lines of an assignment, and where a page holds one
explanation  what a student reads of a check that did not pass
typeset      Markdown, formulas and outputs as HTML that can do nothing
page         the page that a student gets back
refusal      that of a submission that could not be graded
"""
