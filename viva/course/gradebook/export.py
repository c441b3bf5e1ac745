"""The old address of the exporters in ``viva.course.grades.export``, for configurations and commands that name it.

They load when they are asked for: the new modules read this package, so it does not import them.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(import_module("viva.course.grades.export"), name)
