"""The course's key pair. Whoever has the private half can read the class and write its grades.

It lies in the user's folder of settings, never in the course folder, which is copied, shared and kept in git. One key
serves all courses in one learning system.
"""

from __future__ import annotations

import json
import re
import stat
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from viva.cleaning import plaintext
from viva.course.processes import leftovers
from viva.verdict import CourseError

BITS = 2048
PRIVATE = 0o600


def folder() -> Path:
    """Where keys are, if no setting says otherwise."""
    return platformdirs.user_config_path("viva") / "lti"


@dataclass(frozen=True)
class Key:
    """A private key, which no message and no log may show."""

    path: Path
    rsa: RSAKey

    def __repr__(self) -> str:
        return f"Key({self.path})"

    @property
    def number(self) -> str:
        """The key's id: its thumbprint by RFC 7638."""
        return self.rsa.thumbprint()

    def public(self, form: str) -> str:
        """The public half as ``pem``, as one ``jwk``, or as ``jwks``, a set of keys."""
        if form == "pem":
            return self.rsa.as_pem(private=False).decode().strip()
        jwk = self.rsa.as_dict(private=False) | {"kid": self.number, "alg": "RS256", "use": "sig"}
        return json.dumps(jwk if form == "jwk" else {"keys": [jwk]}, indent=2)


def path_of(url: str, keys: Path, root: Path, ending: str = ".pem") -> Path:
    """The file of the key, or the token, for a learning system. Raises CourseError for a folder in the course."""
    keys = keys.expanduser().resolve()
    if keys.is_relative_to(root.resolve()):
        raise CourseError(
            f"The folder of keys {keys} is in the course folder, which is copied and shared. Name a folder outside "
            "with --keys=FOLDER, or in c.Lti.keys or c.Canvas.keys."
        )
    host = re.sub(r"[^\w.-]+", "-", url.partition("://")[2]).strip("-.")
    return keys / f"{host}{ending}"


def made(path: Path) -> Key:
    """The key of a file, which is made if there is none. Raises CourseError and OSError."""
    if not path.exists():
        write(path, RSAKey.generate_key(BITS).as_pem(private=True).decode())
    return read(path)


def write(path: Path, text: str) -> None:
    """Write a secret into a file for its owner alone. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    leftovers.write(path, text, PRIVATE)


def require_private(path: Path) -> None:
    """Raises CourseError where others can read a file."""
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise CourseError(f"Other users can read {path}. Run: chmod 600 {plaintext.line(str(path))}")


def read(path: Path) -> Key:
    """The key in a file. Raises CourseError where there is none, others may read it, or it is not a key."""
    if not path.exists():
        raise CourseError(
            f"The key {path} does not exist. It is on the machine where 'viva lti register' was run. Copy it from "
            "there, or run 'viva lti register' again and replace the public key in the learning system."
        )
    require_private(path)
    try:
        return Key(path, RSAKey.import_key(path.read_bytes()))
    except (JoseError, ValueError):
        problem = f"{path} is not a private key in PEM form. Restore it, or move it away and run 'viva lti register'."
    raise CourseError(problem)  # outside, so that no error is chained that may show the file
