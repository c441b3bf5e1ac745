"""The programming language of a notebook, and the kernel that runs it: what its metadata say.

Python has a candidate, an examiner and readers of its own. A notebook in any other language runs in its kernel
(``viva.engine.kernelsession``); of its text only words are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PYTHON = "python"
_PYTHON = re.compile(r"i?python[ -]?(3(\.\d+)*)?", re.IGNORECASE)
"""The name of the language in kernels."""
RESTARTED = {"bash": "Restarting Bash\n"}
"""By language, in small letters, the last line that a kernel shows which has lost its process and started another. It
replies that all went well: without this a function that ends the shell would pass each test."""
ASSERTED = re.compile(
    r"""
    \ are\ not\ all\ TRUE | \ is\ not\ TRUE | \ are\ not\ TRUE   # stopifnot
    | \bnot\ (?:equal|identical|equivalent)\ to\b                # testthat
    | \bTest\ failed\b | ^\s*AssertionError | \bassert(?:ion)?\b.*\bfail
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""What the error of a test says, and hardly another one, in R and other languages."""


def language_of(metadata: Mapping) -> str:
    """The language that a notebook's metadata says it is written in, ``python`` when it says nothing, or a version."""
    kernel, language = (metadata.get(key) or {} for key in ("kernelspec", "language_info"))
    name = str(kernel.get("language") or language.get("name") or PYTHON)
    return PYTHON if _PYTHON.fullmatch(name.strip()) else name


def says_language(metadata: Mapping) -> bool:
    """Whether a notebook's metadata say in which language it is written."""
    kernel, language = (metadata.get(key) or {} for key in ("kernelspec", "language_info"))
    return bool(kernel.get("language") or language.get("name"))


def is_python(metadata: Mapping) -> bool:
    """Whether a notebook is written in Python."""
    return language_of(metadata) == PYTHON


def kernel_name(metadata: Mapping) -> str:
    """The name of the kernel that a notebook asks for; empty where it names none."""
    return str((metadata.get("kernelspec") or {}).get("name") or "")
