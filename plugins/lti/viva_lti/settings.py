"""The settings of this package."""

from __future__ import annotations

from pathlib import Path

from traitlets import Unicode
from traitlets.config import Configurable

from viva_lti import key


class Lti(Configurable):
    """A course's learning system, asked over LTI 1.3."""

    keys = Unicode(help="The folder of private keys. Default: in the user's folder of settings.").tag(config=True)
    username_key = Unicode(
        "email",
        help="What new students are called by, as in ltiauthenticator: email, sub, name or lis_person_sourcedid.",
    ).tag(config=True)
    pages = Unicode(
        help="The address of a feedback page; each score links to it, as in "
        "'https://example.edu/feedback/{student}/{assignment}/{notebook}.html'."
    ).tag(config=True)

    @property
    def folder(self) -> Path:
        return Path(self.keys) if self.keys else key.folder()
