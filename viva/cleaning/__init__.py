"""A stranger's text, pictures, formulas and markup, made harmless:

plaintext    a stranger's text, made fit to be shown
picture      whether a browser can show a student's picture without harm
address      where a student's link may lead
mathematics  formulas that do more than typeset are shown as they were typed
htmlpolicy   the elements, attributes and styles of HTML that may stay, in two profiles
markup       HTML and Markdown from a student, made harmless

Public, for plug-ins: plaintext.
"""
