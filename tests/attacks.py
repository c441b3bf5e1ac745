"""Attacks: what a student's answer cell may hold, by name.

Each is Python source that takes the place of the answer. ``CHEATS`` want points, ``READERS`` want to see
what is hidden (they print FOUND when they do), ``VANDALS`` want to break or outlive the grading. Vandals
run in the sandbox only.
"""

from pathlib import Path

from tests.oral import read_tables

TABLES = read_tables(Path(__file__).with_suffix(".txt"))
FORGE = TABLES[""]["forge"]
"""Gives a submission the means to answer before it is asked; in an attack it stands in the place of a line FORGE."""
CHEATS, READERS, VANDALS = (
    {name: source.replace("\nFORGE\n", FORGE) for name, source in TABLES[kind].items()}
    for kind in ("cheats", "readers", "vandals")
)

BY_NBGRADER = {
    "an AST transformer that drops asserts": 10,
    "an input transformer that empties cells": 10,
    "patched builtins": None,
    "an object that equals everything": 6,
    "a float that equals everything": 6,
    "an array that equals everything": 3,
    "a string and a list that equal everything": 3,
    "a class that claims to be numpy's": 6,
    "an object whose class is changed": 3,
    "a metaclass that everything is an instance of": 3,
    "a class registered as a number": 6,
    "an array of objects that equal everything": 3,
    "arrays of pandas' own, which compare to what is true": 6,
    "frames and series that lie": 6,
    "memory of the interpreter, where one number becomes another": None,
}
"""The points that stock nbgrader gives a cheat, of ten for four grade cells; none for those that are not listed. With
None its kernel hears nothing more, and the whole submission is not graded."""

FOUND_BY_NBGRADER = {
    "the course's files",
    "its own memory",
    "its memory as a file",
    "frames and callers",
    "other processes",
    "the descriptors it was given",
    "audit events",
    "the folder around its own",
    "a socket",
}
"""The readers that find something in stock nbgrader."""
