"""The settings of this package."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from traitlets import Dict, Unicode
from traitlets.config import Configurable

from viva_lti import key


class LmsSettings(Configurable):
    """A course's learning system, whichever way it is asked."""

    title: ClassVar[str]
    sent: ClassVar[str]
    """The folder of what was sent, within the course."""
    username_key: str

    keys = Unicode(help="The folder of private keys and tokens. Default: in the user's folder of settings.").tag(
        config=True
    )
    pages = Unicode(
        help="The address of a feedback page; each score links to it, as in "
        "'https://example.edu/feedback/{student}/{assignment}/{notebook}.html'."
    ).tag(config=True)

    @property
    def folder(self) -> Path:
        return Path(self.keys) if self.keys else key.folder()


class Lti(LmsSettings):
    """A course's learning system, asked over LTI 1.3."""

    title, sent = "LTI", "lti"

    username_key = Unicode(
        "email",
        help="What new students get as id, as in ltiauthenticator: email, sub, name or lis_person_sourcedid.",
    ).tag(config=True)


class Canvas(LmsSettings):
    """A course's Canvas, asked with an access token."""

    title, sent, username_key = "Canvas", "lti/canvas", "login"

    assignments = Dict(
        help="By assignment: its number in Canvas, if it has another name there, as in {'ps1': 4711}."
    ).tag(config=True)
    group_set = Unicode(help="If Canvas has several group sets: the number of the set to use.").tag(config=True)
