"""Everyday work of students, tried in the sandbox before anybody's work is graded there.

The layers of the sandbox are proven by attempts to break them (``viva.sandbox.attempts``). This proves the other half,
with this machine's own paths: what students need works. Behind a link, say, a library may not find its own files.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from viva.cleaning import plaintext
from viva.engine.dialogue.exceptions import safe
from viva.engine.session import Died, Pair, Session
from viva.verdict import SandboxError

SECONDS = 60.0
FILE = "numbers.csv"
FIGURE = "draw a figure"
CELLS = {
    "read a data file": f"assert open({FILE!r}).read() == '1,2'",
    "import a module late": "import colorsys, wave, latex2mathml.converter\nimport importlib.metadata\n"
    "importlib.metadata.version('numpy')",
    "ask who and where they are": "import getpass, os, pathlib, tempfile\n"
    "getpass.getuser(), os.cpu_count(), pathlib.Path.home().iterdir()\n"
    "tempfile.TemporaryFile().write(b'x')",
    FIGURE: "import io\nimport matplotlib.font_manager\nimport matplotlib.pyplot as plt\n"
    "figure, axes = plt.subplots()\naxes.plot([1, 2], label='text')\naxes.legend()\n"
    "figure.savefig(io.BytesIO(), format='png')\nplt.close(figure)",
}
"""Cells by the work that they do; none may raise anything."""


def failures(pair: Pair) -> dict[str, str]:
    """The work that fails for the candidates of a pair of fork servers, each with its error."""
    cells = dict(CELLS)
    if "matplotlib.pyplot" not in pair.libraries:
        del cells[FIGURE]
    errors: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="viva-everyday-") as folder:
        Path(folder, FILE).write_text("1,2")
        try:
            with Session(pair.candidates, pair.examiners, Path(folder)) as session:
                for action, source in cells.items():
                    errors[action] = _error(session, source)
        except (Died, SandboxError) as error:
            errors["run a cell"] = str(error)
    return {action: error for action, error in errors.items() if error}


def _error(session: Session, source: str) -> str:
    raised = session.candidate(SECONDS, do="run", source=source)["raised"]
    if not isinstance(raised, dict):
        return ""
    with contextlib.suppress(Exception):
        return plaintext.line(f"{safe(str, raised.get('name'))}: {safe(str, raised.get('message'))}")
    return "an exception"
