"""A course's configuration file that cannot be read ends the command: traitlets would go on with other rules.

It is Python, and every command runs it. ``said_in`` reads one without running it, for ``viva init`` in a course that
somebody else may have written.
"""

from __future__ import annotations

import ast
import traceback
from pathlib import Path

from traitlets.config.loader import (
    Config,
    ConfigFileNotFound,
    FileConfigLoader,
    JSONFileConfigLoader,
    PyFileConfigLoader,
)

from viva import configuration
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
                f"{_place(error, self.full_filename)}: {what}. Nothing was done, because the course would have "
                "other rules "
                "without this file. Fix it, then run the same command again."
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


class Read(_Told, PyFileConfigLoader):
    """The same, read and not run."""

    def _read_file_as_dict(self) -> None:
        self.config = said_in(Path(self.full_filename))


def said_in(path: Path) -> Config:
    """What the lines of a configuration file say, read and not run; empty where there is none.

    A value that is no constant, name or list of such is kept as its text. What is said in a loop, by a function or in
    another file is not known. Raises CourseError where the file is no Python.
    """
    config = Config()
    try:
        tree = ast.parse(path.read_bytes())
    except FileNotFoundError:
        return config
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{path} cannot be read: {error} ({type(error).__name__}). Fix it first.") from error
    for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Attribute(value=ast.Name(), attr=section), attr=name)]):
                config[section][name] = _value(node.value)
            case ast.Call(func=function) if ast.unparse(function) in (
                "configuration.apply",
                "viva.configuration.apply",
            ):
                configuration.apply(config, str(path))
    return config


def _value(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return [_value(part) for part in node.elts] if isinstance(node, ast.List | ast.Tuple) else ast.unparse(node)
