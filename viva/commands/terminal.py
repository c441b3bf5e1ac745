"""The output of commands: plain text where there is no terminal, one JSON document, a short --help."""

from __future__ import annotations

import difflib
import json
import logging
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from traitlets import TraitError, Undefined
from traitlets.config import Application, Config

from viva.cleaning import plaintext
from viva.cli import BAD_REQUEST

ALWAYS = ("help", "help-all", "h", "version", "V")
"""What every command understands."""
OPTIONS = {
    "student": "only this student; * means any letters",
    "assignment": "only this assignment",
    "notebook": "only this notebook of an assignment",
    "db": "the address of the gradebook, instead of gradebook.db in the course",
    "course-dir": "the course folder, instead of the current one",
    "log-level": "nbgrader's log level: DEBUG, INFO, WARN or ERROR",
    "debug": "show all of nbgrader's log",
    "quiet": "show nothing of nbgrader's log",
}
"""Short descriptions of nbgrader's own options."""
SHOWN = 20
"""The number of students in a sentence, and of sentences of a kind."""


class CleanConsole(Console):
    """A console that prints no control characters of strangers: names, reasons and outputs come from students.

    Control characters, and characters that reorder or hide others, are replaced. What rich tells the terminal stays.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(plaintext.lines(segment.text), segment.style)


def cleaned(record: logging.LogRecord) -> bool:
    """A filter for a log handler: messages hold words of strangers too.

    What nbformat says of a notebook that does not follow its format is left out, except with --debug. Whoever reads
    the notebook goes on, and the audit has a sentence about it (``viva_audit.hygiene``).
    """
    if str(record.msg).startswith("Notebook JSON is invalid"):
        return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
    record.msg, record.args = plaintext.lines(record.getMessage()), None
    return True


def console(errors: bool = False, **options: Any) -> Console:
    """A console without any escape code when it leads to no terminal, or when NO_COLOR is set.

    Texts are shown as they are: what stands in brackets is not markup.
    """
    plain = bool(os.environ.get("NO_COLOR")) or not (sys.stderr if errors else sys.stdout).isatty()
    # Without colours alone, rich would still print bold text and move the cursor.
    defaults: dict[str, Any] = {
        "force_terminal": False if plain else None,
        "soft_wrap": plain,
        "markup": False,
        "highlight": False,
    }
    return CleanConsole(stderr=errors, **(defaults | options))


def figures(*headers: str) -> list[Column]:
    """Columns of numbers, for a table."""
    return [Column(header, justify="right") for header in headers]


def whole(header: str) -> Column:
    """A column of names that are never cut off, as two may begin alike."""
    return Column(header, overflow="fold")


def explained(meanings: str, *columns: str | Column) -> Table:
    """A table with what its heads mean below it, where a head does not say it."""
    return Table(*columns, caption=meanings, caption_justify="left")


def shortened(sentences: list[str]) -> list[str]:
    """The first of many sentences or names, and how many more there are."""
    remaining = len(sentences) - SHOWN
    return [*sentences[:SHOWN], f"and {remaining} more (--json has all)"] if remaining > 0 else sentences


_POSIX_ZONE = re.compile(r"(<[\w+-]{3,}>|[A-Za-z]{3,})[+-]?\d{1,2}(:\d\d){0,2}\S*")
"""As in CET-1CEST: a zone that is told and not named."""


def zone_problem() -> str:
    """A sentence for a variable TZ that names no time zone; the system takes UTC for it, without a word."""
    zone = os.environ.get("TZ", "").removeprefix(":")
    if not zone or _POSIX_ZONE.fullmatch(zone) or (zone.startswith("/") and os.path.isfile(zone)):
        return ""
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, KeyError):
        return (
            f"The variable TZ is {plaintext.quoted(zone)}, which is not a time zone, so UTC is used. "
            "Set it to a time zone such as Europe/Berlin, or unset it."
        )
    return ""


def print_document(document: object) -> None:
    """The one JSON document of a command with --json; control characters and the like are escaped in it."""
    text = json.dumps(document, indent=1, ensure_ascii=False, default=str)
    print(plaintext.escaped(text))


_END = re.compile(r"\.(?=\s|$)")
"""The end of a sentence, which the point in 0.05 is not."""
OF_SUBMISSIONS = ("student", "assignment", "notebook", "db")
"""nbgrader's options that have no effect on a command that only writes an assignment or a course."""


class ShortHelp(Application):
    """Has ``--help`` fit on a screen; ``--help-all`` shows all that traitlets knows.

    An option that does not exist is refused: traitlets would leave it out, and grade all where one was meant.
    """

    arguments = ""
    """The arguments behind the command's name."""
    completes = ""
    """The kind of these arguments for a shell's completion: one of ``completion.KINDS``, or empty."""
    without: tuple[str, ...] = ()
    """nbgrader's options that have no effect here; ``--help`` leaves them out."""

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        words = sys.argv[1:] if argv is None else argv
        words = words[: words.index("--")] if "--" in words else words
        for word, following in pairwise([*words, "-"]):
            name, equals, _ = word.lstrip("-").partition("=")
            if not word.startswith("-") or "." in name or name in {*self.flags, *ALWAYS}:
                continue
            if name not in self.aliases:
                from viva.course.grading.remote import GRADERS  # it loads nbgrader, which takes seconds

                if needed := GRADERS.lacking(name):
                    self.refuse(f"There is no option '{word}'. {needed}")
                near = difflib.get_close_matches(name, [*self.flags, *self.aliases], 1)
                meant = f" Did you mean '--{near[0]}'?" if near else ""
                self.refuse(f"There is no option '{word}'.{meant} '{self._called()} --help' lists the options.")
            if not equals and following.startswith("-"):
                self.refuse(f"The option '{word}' needs a value, as in: {word}={name.upper()}")
        super().parse_command_line(argv)

    def update_config(self, config: Config) -> None:
        try:
            super().update_config(config)
        except TraitError as error:
            self.refuse(f"{str(error).rstrip('.')}. See '{self._called()} --help'.")

    def refuse(self, sentence: str) -> NoReturn:
        """End the command with a sentence, as the request is at fault."""
        self._say_error(sentence)
        self.exit(BAD_REQUEST)
        raise SystemExit(BAD_REQUEST)  # as ``exit`` did, which traitlets does not declare

    def _say_error(self, sentence: str) -> None:
        console(errors=True, soft_wrap=True).print(sentence, style="bold red")

    def _called(self) -> str:
        return self.name.replace("-", " ", 1)

    def print_help(self, classes: bool = False) -> None:
        if classes:
            super().print_help(classes)
            return
        name = self._called()
        print(f"Usage: {name} {self.arguments + ' ' if self.arguments else ''}[OPTIONS]\n\n{self.description}\n")
        options = [*self._options()]
        width = max((len(option) for option, _ in options), default=0)
        print("Options" if options else "This command has no options.")
        for option, text in options:
            print(f"  {option:{width}}  {text}")
        print(f"\nExamples\n{textwrap.indent(textwrap.dedent(self.examples).strip(), '  ')}")
        print(f"\n'{name} --help-all' lists all settings.")

    def _options(self) -> Iterator[tuple[str, str]]:
        traits = {cls.__name__: cls.class_traits(config=True) for cls in self._classes_inc_parents()}
        for name, (_, text) in self.flags.items():
            if len(name) > 1:
                yield f"--{name}", OPTIONS.get(name, _first_sentence(text))
        for name, target in self.aliases.items():
            if name in self.without:
                continue
            class_name, _, trait = target.partition(".")
            trait_object = traits.get(class_name, {}).get(trait)
            text = OPTIONS.get(name) or _first_sentence(trait_object.help if trait_object else "")
            default = trait_object.default_value if trait_object and name not in OPTIONS else None
            yield f"--{name}={name.upper()}", f"{text} ({default})" if default and default is not Undefined else text


def _first_sentence(text: str) -> str:
    sentence = _END.split(text.strip(), maxsplit=1)[0]
    return sentence[:1].lower() + sentence[1:]
