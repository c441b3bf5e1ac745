"""The commands of `viva`, by the part of the flow they belong to:

command     what every command has in common
configfile  a configuration that cannot be read
terminal    what a command says and where: plain text, one JSON document, a short --help
author      new, release
deadlines   deadlines
extend      extend
grade       grade
regrade     regrade
applyrubric  rubric
hand_back   feedback, report
exportgrades  export, and the scores of a class as tables
plantable   the plan of an export as tables
setup       init, doctor
founding    what init writes, or finds lacking
doctor      what doctor looks at
completion  completion

Public, for plug-ins: command, founding, plantable, terminal.
"""
