"""What derives from a plain type and cannot cross by its value is an object like others."""

from __future__ import annotations

from tests.oral import Exam

MATRIX = """
--- given
import numpy as np
from fractions import Fraction
--- answer
class Matrix:
    def __init__(self, rows): self.rows = rows
    def at(self, row, column): return self.rows[row][column]
--- test
matrix = Matrix([[Fraction(1, 2), 1]])
assert matrix.at(0, 0) == Fraction(1, 2)
--- right
class Matrix(np.ndarray):
    def __new__(cls, rows): return np.array(rows, dtype=object).view(cls)
    def at(self, row, column): return self[row, column]
--- wrong
class Matrix(np.ndarray):
    def __new__(cls, rows): return np.array(rows, dtype=object).view(cls)
    def at(self, row, column): return self[row, -1]
"""


def test_a_class_may_derive_from_an_array_of_objects(grader, tmp_path):
    Exam(MATRIX, grader, tmp_path).prove()
