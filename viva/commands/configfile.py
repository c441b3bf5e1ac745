"""A course's configuration file that cannot be read ends the command: traitlets would go on with other rules."""

from __future__ import annotations

import traceback

from traitlets.config.loader import (
    Config,
    ConfigFileNotFound,
    FileConfigLoader,
    JSONFileConfigLoader,
    PyFileConfigLoader,
)

from viva.verdict import CourseError


class _Told(FileConfigLoader):
    """Says in a sentence what is wrong with the file."""

    def load_config(self) -> Config:
        """Raises ConfigFileNotFound, and CourseError."""
        try:
            return super().load_config()
        except ConfigFileNotFound:
            raise
        except (Exception, SystemExit) as error:
            what = error.msg if isinstance(error, SyntaxError) else str(error)
            what = ": ".join([type(error).__name__, *what.splitlines()[:1]])
            raise CourseError(
                f"{_place(error, self.full_filename)}: {what}. Nothing was done, as the course would have other rules "
                "without this file. Mend it, then run the same command again."
            ) from error


class PyFile(_Told, PyFileConfigLoader):
    """nbgrader_config.py and the like."""


class JSONFile(_Told, JSONFileConfigLoader):
    """The same, as JSON."""


def _place(error: BaseException, name: str) -> str:
    """The file, and the line of it that was read or ran last."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == name]
    if isinstance(error, SyntaxError) and error.filename == name:
        lines.append(error.lineno)
    return f"{name}, line {lines[-1]}" if lines else name
