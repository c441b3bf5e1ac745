from __future__ import annotations

import io
from pathlib import Path

from viva.commands import plantable
from viva.commands.terminal import console
from viva.course.grades.sheetplan import Plan


def test_in_eighty_columns_the_heads_of_an_export_are_whole_and_explained_below():
    plan = Plan(Path("grades.csv"), title="canvas", assignment="ps3", column="ps3_scaled_attention (12345)")
    console(file=(text := io.StringIO()), width=80, soft_wrap=False).print(plantable.counts(plan))
    said = " ".join(text.getvalue().split())
    for head in plantable.PARTS.values():
        assert head in text.getvalue().splitlines()[1], head
    assert "left: scores that are not changed" in said and "unclear: rows of that list" in said
