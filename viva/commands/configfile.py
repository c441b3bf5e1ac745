"""A course's configuration file that cannot be read ends the command: traitlets would go on with other rules.

It is Python, and nearly every command runs it. ``said_in`` reads one without running it, for ``viva init`` and ``viva
doctor`` in a course that somebody else may have written.
"""

from __future__ import annotations

import ast
import contextlib
import traceback
from pathlib import Path

from traitlets.config.loader import (
    Config,
    ConfigFileNotFound,
    FileConfigLoader,
    JSONFileConfigLoader,
    PyFileConfigLoader,
    filefind,
)
from traitlets.utils.importstring import import_item

from viva import configuration
from viva.location import course_of_students_files
from viva.verdict import CourseError

APPLIES = ("configuration.apply", "viva.configuration.apply")
"""How a configuration file says Viva's rules."""
PLUGINS = ("Authenticator", "ExchangeFactory")
"""The sections of plugins that nbgrader loads for every command."""


def require_no_students_file(folder: Path) -> None:
    """Raises CourseError for a folder to which students' files come, of which nothing is read or imported."""
    if course := course_of_students_files(folder):
        raise CourseError(
            f"The folder {folder} contains students' files of the course {course}, so its configuration was not "
            "read. Name a course folder with --course-dir."
        )


class _Told(FileConfigLoader):
    """Reports an error in the file in one sentence."""

    def load_config(self) -> Config:
        """Raises ConfigFileNotFound, and CourseError; for one that lies among students' files too."""
        with contextlib.suppress(OSError):  # a missing file: the loader reports it
            require_no_students_file(Path(filefind(self.filename, self.path)).parent)
        try:
            return super().load_config()
        except ConfigFileNotFound:
            raise
        except (Exception, SystemExit) as problem:
            error = (problem.__cause__ or problem) if isinstance(problem, CourseError) else problem
            message = error.msg if isinstance(error, SyntaxError) else str(error)
            message = ": ".join([type(error).__name__, *message.splitlines()[:1]])
            raise CourseError(
                f"{_place(error, self.full_filename)}: {message}. Nothing was done, because the course needs the "
                "settings in this file. Correct it, then run the same command again."
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


class ReadPlain(_Told, PyFileConfigLoader):
    """The same, without the values that only running the file would show."""

    left_out: dict[str, list[str]] = {}
    """By file, the settings that were left out; callers empty it before they read files."""

    def _read_file_as_dict(self) -> None:
        path = Path(self.full_filename)
        self.config, computed = said_in(path), computed_in(path)
        for section, _, name in (setting.partition(".") for setting in computed if "." in setting):
            self.config[section].pop(name, None)
        if computed:
            self.left_out[self.full_filename] = computed


def without_unknown_plugins(config: Config) -> list[str]:
    """Take out the plugins that are not installed, as only the course's own folder may hold them; their settings."""
    names = []
    for section in set(PLUGINS) & set(config):
        for name, plugin in list(config[section].items()):
            if not isinstance(plugin, str):
                continue
            try:
                import_item(plugin)
            except Exception:  # whatever an installed package raises
                names.append(f"{section}.{name}")
                del config[section][name]
    return names


def computed_in(path: Path) -> list[str]:
    """The settings that a configuration file computes, such as ``Exchange.root``, or ``line 7``."""
    names: dict[str, None] = {}
    for node in ast.parse(path.read_bytes()).body:
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Attribute(value=ast.Name(), attr=section), attr=name)], value=value
            ):
                if not _is_literal(value):
                    names[f"{section}.{name}"] = None
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name("get_config"))):
                pass
            case ast.Expr(value=ast.Call(func=function)) if ast.unparse(function) in APPLIES:
                pass
            case _:
                names[f"line {node.lineno}"] = None
    return list(names)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def said_in(path: Path) -> Config:
    """The settings in a configuration file's lines, which are read and not run; empty where there is no file.

    A value that is not a constant, name or list of such is kept as its text. What a loop, a function or another file
    sets is not known. Raises CourseError for a syntax error.
    """
    config = Config()
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except FileNotFoundError:
        return config
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{path} cannot be read: {error} ({type(error).__name__}). Fix it first.") from error
    for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Attribute(value=ast.Name(), attr=section), attr=name)]):
                config[section][name] = _value(node.value)
            case ast.Call(func=function) if ast.unparse(function) in APPLIES:
                configuration.apply(config, str(path))
    return config


def _value(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return [_value(part) for part in node.elts] if isinstance(node, ast.List | ast.Tuple) else ast.unparse(node)
