"""Candidate and examiner: what one asks and the other answers:

arguments     the arguments of an operation, which come back changed
exceptions    exceptions on their way between candidate and examiner
shell         the IPython of the student's code
objects       the candidate's objects, by number; what can be done with them; callbacks
integrity     facts about what a notebook did to the process that ran it
sameness      whether a test looks at which values are one object, observed in the rehearsal
expected      paths and expected types: what each answer of the solution was, and what a student's may be
looks         what a test looks at, and whether there was anything to see
proxies       the examiner's objects for what lives in the candidate
references    how each side names what lives in the other
namecache     what names were told to mean, kept until student code runs
asker         puts the examiner's questions, and reads the answers
sourcecode    the source and the signature of an answer, for tests that look at them
guard         what the examiner refuses to run, and to load, since it came of an answer
namespace     the names that test code sees

Public, for plug-ins: expected, looks, proxies.
"""
