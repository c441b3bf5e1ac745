"""A page is made anew when something that has a say in it changed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import viva
from viva.pages import seal

ROOT = Path(viva.__file__).parent
SEALED = {path for pattern in seal.MADE_BY for path in ROOT.glob(pattern)}


@pytest.mark.parametrize("maker", ["page", "exercise", "explanation", "hidden", "typeset"])
def test_whatever_a_maker_of_pages_imports_is_in_the_seal(maker):
    imported = set()
    for node in ast.walk(ast.parse((ROOT / "pages" / f"{maker}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "viva":
            place = ROOT.joinpath(*node.module.split(".")[1:])
            modules = [place.with_suffix(".py"), *(place / f"{alias.name}.py" for alias in node.names)]
            imported |= {path for path in modules if path.is_file()}
    assert imported <= SEALED


def test_whatever_a_page_is_laid_out_with_is_in_the_seal():
    others = {"report.html", "audit.html", "refusal.html"}
    templates = {path for path in (ROOT / "pages" / "templates").iterdir() if path.is_file()}
    assert {path for path in templates if path.name not in others} <= SEALED
