"""The trial of a bundle before its upload: it rehearses the solution and grades the released notebook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

from viva.course.grading.material import Material
from viva.folder import fill
from viva.verdict import CourseError
from viva_gradescope.bundle import MATERIAL, Bundle
from viva_gradescope.container import VARIABLE


@dataclass(frozen=True)
class Trial:
    """Its result: Gradescope's document, and what an instructor would read beside it."""

    results: dict
    told: str

    @property
    def score(self) -> float | None:
        """None where it was not graded."""
        return self.results.get("score")


def try_out(bundle: Bundle) -> Trial:
    """Grade the notebooks as they were released, in an imitation of the container. Raises CourseError."""
    with tempfile.TemporaryDirectory(prefix="viva-gradescope-") as folder:
        root = Path(folder)
        fill(root / "source", bundle.files)
        (root / "submission").mkdir()
        for name, released in Material.from_bytes(bundle.files[MATERIAL]).released.items():
            notebook = new_notebook(cells=[slot.cell for slot in released.slots], metadata=released.metadata)
            nbformat.write(notebook, root / "submission" / f"{name}.ipynb")
        command = [sys.executable, "-I", "-m", "viva_gradescope.container", "grade"]
        environment = os.environ | {VARIABLE: str(root)}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
            raise CourseError(f"The zip was not written, because its test failed: {reason}")
        return Trial(json.loads((root / "results" / "results.json").read_bytes()), done.stdout)
