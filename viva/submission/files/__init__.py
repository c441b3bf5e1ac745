"""A file that was submitted -> a notebook, whatever a program, a mail or a merge made of it:

contents    the bytes of a file that was submitted, and no more
handin      the files of a submission: which may be which notebook
beside      the files beside a notebook: which of them are shown to people
timestamp   when it was submitted, as nbgrader writes it
claim       the time that a submission claims, where something else is known
sizes       how large a notebook may be, and how long its reading may take
wrapping    what a notebook came in: a page, another document, a letter, a conflict of two versions
brokenjson  the text of a file -> JSON, or as much of it as there is
salvage     the bytes of a file -> a notebook, whatever is broken

Public, for plug-ins: claim, handin, timestamp.
"""
