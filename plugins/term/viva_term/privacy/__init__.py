"""One person's data in a course: listed, given out, taken away, and brought back:

person        who is meant, and where a text mentions this person
records       the person's rows in files that others are in too
bookrows      the person's rows in a gradebook
traces        everything of a person in a course folder
forgetting    the traces, moved into a folder of their own; back from there, or erased
dossier       the traces as a zip, for the person
"""
