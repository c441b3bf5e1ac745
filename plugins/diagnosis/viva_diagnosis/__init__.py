"""The known mistake that a wrong answer behaves like, for students, graders and the report.

The core grades without this package. It comes in through the doors ``viva.commands`` and ``viva.pages``. How it works
stands in README.md beside this file.

askedvalues      what the examiner does: it notes calls, repeats them, and tells what came back
behaviour        outcomes at probes, and when two are equal
probing          the examination that asks for behaviour
fingerprints     what each known wrong answer and each mutant does at the probes
recognition      which of them a submission behaves like
writtengroups    written answers that read alike
diagnoses        what was recognised in a class, in a file
diagnosing       a class, by several workers
diagnosecommand  viva diagnose
pageparts        what pages show of it
"""
