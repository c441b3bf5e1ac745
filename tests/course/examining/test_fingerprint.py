"""What verdicts depend on has every submission graded again when it changes, and nothing else has."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests import handmade
from viva.course.examining.fingerprint import ground
from viva.course.gradebook.recording import Expected


def write(folder: Path, title="", given="x = 1", answer="f = 1", free="y = 1", test="assert f", points=1.0) -> None:
    handmade.write_notebook(
        folder / "nb.ipynb",
        new_markdown_cell(title, id="title"),
        handmade.code("given", given, locked=True),
        handmade.answer("f", answer),
        new_code_cell(free, id="free"),
        handmade.graded("test_f", test, points),
    )


def hashed(root: Path, source=(), release=(), rows=(), settings: str = "", data: str = "1,2") -> bytes:
    """The hash of a course in which some texts are others: in its source, in its release, in its gradebook."""
    write(root / "source", **dict(source))
    write(root / "release", **dict(release))
    (root / "files").mkdir(exist_ok=True)
    (root / "files" / "data.csv").write_text(data)
    texts = {"given": "x = 1", "test_f": "assert f"} | dict(rows)
    cells = [SimpleNamespace(name=name, source=text, cell_type="code", locked=True, max_score=1.0)
             for name, text in texts.items()]  # fmt: skip
    book = SimpleNamespace(name="nb", source_cells=cells, grade_cells=cells[1:], solution_cells=[], task_cells=[])
    return ground(root / "source", root / "files", root / "release", settings, Expected({"nb": book}))


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        *(({"source": {part: "z = 2"}}, True) for part in ("answer", "free")),
        *(({"source": {part: "z = 2"}}, False) for part in ("given", "test", "title")),
        *(({"release": {part: "z = 2"}}, True) for part in ("given", "answer", "free", "test", "title")),
        *(({step: {"points": 2.0}}, False) for step in ("source", "release")),
        *(({"rows": {part: "z = 2"}}, True) for part in ("given", "test_f")),
        *(({name: "another"}, True) for name in ("settings", "data")),
    ],
    ids=str,
)
def test_what_decides_about_a_verdict_counts_and_a_text_that_nobody_grades_by_does_not(tmp_path, change, counts):
    assert (hashed(tmp_path, **change) != hashed(tmp_path)) == counts
