"""From source/ to release/: what students get, and the contract by which it is graded.

compiler      nbgrader's steps and the course's own: a notebook for students, and the complete one
contract      what was released, kept beside the gradebook: what is graded, audited and packaged
proof         who proves an assignment before its release
release       source/ -> release/: nothing of a solution stays, AUTOTEST runs in the sandbox
releasecheck  whether release/ is what source/ compiles to, tried in a copy of the course
solutions     the students' version with the instructor's answers, to give out after the deadline
variants      a seed for each student, by HMAC from the course's key, and a copy of the notebook with it

Public, for plug-ins: compiler, contract, release, variants.
"""
