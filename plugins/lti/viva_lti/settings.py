"""The settings of this package."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from traitlets import Dict, Unicode
from traitlets.config import Configurable

from viva_lti import key


class LmsSettings(Configurable):
    """A course's learning system, whichever way it is asked."""

    called: ClassVar[str]
    """The way's name: what comes behind --from=, and the folder of what was sent."""
    title: ClassVar[str]

    keys = Unicode(help="The folder of private keys and tokens; by default in the user's folder of settings.").tag(
        config=True
    )
    pages = Unicode(
        help="The address of a feedback page, which scores then link to, as in "
        "'https://example.edu/feedback/{student}/{assignment}/{notebook}.html'."
    ).tag(config=True)

    @property
    def folder(self) -> Path:
        return Path(self.keys) if self.keys else key.folder()


class Lti(LmsSettings):
    """A course's learning system, asked over LTI 1.3."""

    called, title = "lti", "LTI"

    username_key = Unicode(
        "email",
        help="What new students are called by, as in ltiauthenticator: email, sub, name or lis_person_sourcedid.",
    ).tag(config=True)


class Canvas(LmsSettings):
    """A course's Canvas, asked with an access token."""

    called, title, username_key = "canvas", "Canvas", "login"

    assignments = Dict(
        help="By assignment, the number of Canvas's, where the two have different names, as in {'ps1': 4711}."
    ).tag(config=True)
