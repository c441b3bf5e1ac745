"""What the instructor's page tells, as plain data:

itemanalysis  how hard each check is, whether it tells good work from bad, what goes wrong
similarity    whose answers share what hardly anybody else wrote
codefiles     a class's answers as files of code, for Dolos and JPlag
pseudonyms    names of students that tell nobody who they are
findings      all that the report tells, gathered as plain data

Public, for plug-ins: findings.
"""
