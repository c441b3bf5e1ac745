"""What learning systems give, collected into submitted/:

archive        an archive or a folder, unpacked into files of our own names, within limits
listing        the members of a zip, a tar or a folder, and what is too much
membername     the names of its members: decoded, and made fit for any file system
layouts        how each system names what it gives: by whom, which attempt, when
companion      the file that tells times and people, where the archive does not
moments        times as systems write them, and their zone
sendermatching  who of the class a sender is
senders        the senders who are one student alone
attempt        one attempt of a sender
intake         all that came, understood
times          when it was submitted, or what has to be asked for
ledger         every attempt that ever came, which counts, and who are groups
collected      what collecting does to each student's submission
unmatched      submissions without a student
"""
