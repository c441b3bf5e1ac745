"""The packages that a student may be told to install, by the names that code imports.

That code imports a name says nothing about an index of packages: a course's own module, or a slip such as ``nupmy``,
may be there as a stranger's package, which runs code when it is installed. So only these are named: libraries that
everybody knows, what the course's release says, and what a line with pip in the notebook itself installs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from nbformat import NotebookNode

from viva.engine.libraries import FAMILIAR

OTHERWISE = {
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "PIL": "pillow",
    "cv2": "opencv-python",
    "IPython": "ipython",
}
"""The names under which libraries are installed, where these are others."""


class Packages(dict[str, str]):
    """By the name that code imports, the package that a student may install."""

    own: Collection[str] = ()
    """The names whose packages the notebook's own lines install, which the check does not run."""


KNOWN = Packages({name: OTHERWISE.get(name, name) for name in FAMILIAR})
PIP = re.compile(r"^\s*[%!]\s*(?:\S*python[\d.]*\s+-m\s+)?pip[\d.]*\s+install\s+(.+)$", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
"""What can be a package's name."""


def known_to(notebook: NotebookNode) -> Packages:
    """What a student of this notebook may install."""
    about = notebook.metadata.get("viva", {}).get("check")
    said = about.get("packages") if isinstance(about, dict) else None
    course = {
        str(name): package
        for name, package in (said.items() if isinstance(said, dict) else ())
        if isinstance(package, str) and NAME.fullmatch(package)
    }
    own = {name.replace("-", "_"): name for name in _installed_by(notebook)}
    own |= {name: package for name, package in OTHERWISE.items() if package in own.values()}
    known = Packages(own | KNOWN | course)
    known.own = {name for name, package in own.items() if known[name] == package}
    return known


def _installed_by(notebook: NotebookNode) -> Iterator[str]:
    """The packages that the notebook's own lines install."""
    for cell in notebook.cells:
        for line in PIP.findall(cell.source) if cell.cell_type == "code" else ():
            for word in line.split():
                if match := re.match(rf"({NAME.pattern})(?:\[|[=<>!~]=?|$)", word):
                    yield match[1]
